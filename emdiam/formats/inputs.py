"""The user's inputs: files, globs and "-", each checked before reading; and the lines and header in their first bytes.

This module is separate from the readers, so that checking an input loads no compiled kernel. No pattern in it may
repeat a part that can be empty, or match the same blanks in two ways, because that takes forever on a file of blank
lines.
"""

from __future__ import annotations

import codecs
import glob
import re
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..errors import InputError, is_url
from ..unchanged import Watched
from .archives import MEMBER, Member, find_member, is_archive_by_name, split_member
from .marks import TAR, ZIP, find_mark
from .registry import compression_suffix, format_of_file
from .streams import (
    MAGIC_BYTES,
    ByteStream,
    RawStream,
    TranscodedStream,
    compression_of,
    encoding_of,
    open_raw,
)

if TYPE_CHECKING:
    from .remote_files import RemoteFile

STDIN = "-"


class EmptyInputError(InputError):
    """Raised for an input without a record; accepted for a part of a folder."""


_ARCHIVE_HEAD = 512
_OWN_ARCHIVE = "npz"  # a zip archive that is a format


def expand(inputs: Sequence[str | Path]) -> list[str]:
    """The paths in the order of `inputs`, with each glob replaced by its sorted matches (without folders).

    A name that exists is used literally even if it looks like a glob. Raises InputError for no input, a glob without a
    match, or "-" twice.
    """
    names: list[str] = []
    for item in inputs:
        text = str(item)
        is_glob = text != STDIN and not is_url(text) and glob.has_magic(text)
        if is_glob and not Path(text).exists() and split_member(text) is None:
            matches = sorted(m for m in glob.glob(text, recursive=True) if not Path(m).is_dir())
            if not matches:
                raise InputError("no file matches this pattern", path=text, remedy="check it")
            names.extend(matches)
        else:
            names.append(text)
    if not names:
        raise InputError("no input is given", remedy="name at least one file, or - for standard input")
    if names.count(STDIN) > 1:
        raise InputError("standard input is given twice", remedy="name - once")
    return names


def _checked_stat(path: Path) -> tuple[int | None, bool]:
    """(size in bytes or None, whether it is a regular file); raises InputError."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise InputError("there is no such file", path=path, remedy="check the name") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", path=path) from error
    if stat.S_ISDIR(status.st_mode):
        raise InputError("this is a folder", path=path, remedy="name a file, or the files in it by a glob")
    regular = stat.S_ISREG(status.st_mode)
    if regular and status.st_size == 0:
        raise InputError("the file is empty", path=path, remedy="fetch or write it again")
    return (status.st_size if regular else None), regular


def _other_than_utf_8(encoding: str) -> str:
    """Python's name of the encoding, "" for UTF-8. Raises InputError for an unknown one."""
    try:
        name = codecs.lookup(encoding).name if encoding else ""
    except LookupError:
        raise InputError("there is no such encoding", text=encoding, remedy="name one, such as latin-1") from None
    return "" if name in ("utf-8", "ascii") else name


class Input:
    """One file, member of an archive, pipe or standard input, with a view of its first bytes before reading.

    name : its name in messages. path : None for standard input; for a member the path of its archive. rewindable :
    False for pipes. size_bytes : compressed size, None if unknown. compression : "gzip", "bz2", "xz", "zstd", None.
    encoding : encoding of its text, which is converted to UTF-8; "" for UTF-8. member : the member of an archive, or
    None. headerless : see registry.Format; or a function of the name of a file, or of a member.
    """

    def __init__(self, name: str, *, headerless: bool | Callable[[str], bool] = False, encoding: str = "") -> None:
        inside = None if is_url(name) else split_member(name)
        wanted, file = (None, name) if inside is None else (inside[1], inside[0])
        self._headerless = headerless if callable(headerless) else lambda _: headerless
        headerless = not is_archive_by_name(file) and self._headerless(file)
        self.member: Member | None = None
        self._current: ByteStream | None = None
        self.size_bytes: int | None = None
        self.rewindable = False
        self._set_file(file, headerless)
        if wanted is None and (headerless or format_of_file(name) == _OWN_ARCHIVE):
            return
        self._enter_archive(wanted)
        self.encoding = _other_than_utf_8(encoding) or encoding_of(self.peek(4))
        if self.encoding and not self.rewindable:
            assert self._current is not None
            self._current = TranscodedStream(self._current, self.encoding)

    remote: RemoteFile | None = None
    """The file, if it is behind an address."""
    watched = Watched([])
    """The files that are read, as they were before; of a pipe none. A reader of more files than one adds them."""

    def _set_file(self, name: str, headerless: bool) -> None:
        """Open and check the file or pipe `name`."""
        self.encoding = ""
        self.path = None if name == STDIN or is_url(name) else Path(name)
        self.name = "standard input" if self.path is None else name
        if is_url(name):
            from .remote_files import RemoteFile

            self.remote = RemoteFile(name)
            self.name, self.size_bytes, self.rewindable = self.remote.name, self.remote.size, True
        self._taken = False
        if self.path is not None:
            self.size_bytes, self.rewindable = _checked_stat(self.path)
            self.watched = Watched([self.path] if self.rewindable else [])
        first = self._raw()
        try:
            self.compression = self._find_compression(first.peek(MAGIC_BYTES), headerless)
        except InputError:
            first.close()
            raise
        if self.rewindable:
            first.close()
        else:
            self._current = ByteStream(first, self.compression)

    def _enter_archive(self, wanted: str | None) -> None:
        """If the file is an archive, switch to its member `wanted`, or to the member with the graph."""
        mark = find_mark(self.peek(_ARCHIVE_HEAD))
        kind = "" if mark is None else mark.format
        if kind not in (ZIP, TAR):
            if wanted is not None:
                raise InputError("this is no archive, so it has no members", path=self.path, text=wanted,
                                 remedy="leave the name of the member out")
            return
        if self.path is None or not self.rewindable:
            raise InputError(f"this is {'' if mark is None else mark.what}, which cannot be read from {self._origin}",
                             path=self.name, remedy="save it as a file first")
        self.member = find_member(self.path, kind, self.compression, wanted)
        if self.member is not None:
            self.name, self.size_bytes = f"{self.path}{MEMBER}{self.member.name}", self.member.size
            with closing(self.member.open()) as raw:
                self.compression = self._find_compression(raw.peek(MAGIC_BYTES), self._headerless(self.name))

    @property
    def _origin(self) -> str:
        return "a pipe" if self.remote is None else "an address"

    def _raw(self) -> RawStream:
        if self.remote is not None:
            return self.remote.raw()
        if self.member is not None:
            return self.member.open()
        if self.path is None:
            if sys.stdin is None:
                raise InputError("there is no standard input", remedy="name a file")
            return RawStream(sys.stdin.buffer, self.name, owned=False)
        return open_raw(self.path)

    def _find_compression(self, first_bytes: bytes, headerless: bool) -> str | None:
        by_suffix = compression_suffix(self.name) if self.path else None
        if by_suffix is None and headerless:
            return None
        by_content = compression_of(first_bytes)
        if by_suffix is not None and by_content is None:
            raise InputError(f"the name says {by_suffix} but the data are not", path=self.name, byte=0,
                             remedy="rename the file or compress it again")
        return by_content

    def _stream(self, raw: RawStream) -> ByteStream:
        stream = ByteStream(raw, self.compression)
        return TranscodedStream(stream, self.encoding) if self.encoding else stream

    def _from_start(self) -> ByteStream:
        """A new stream of a file, or the only one of a pipe. Raises InputError if the pipe's was already opened."""
        if self.rewindable:
            return self._stream(self._raw())
        if self._taken:
            raise InputError("it can only be read once", path=self.name, remedy="save it as a file first")
        assert self._current is not None
        return self._current

    def open(self) -> ByteStream:
        """A stream of the decompressed bytes from the start. Raises InputError if a pipe is opened twice."""
        if self.rewindable:
            self.close()
        self._current, self._taken = self._from_start(), True
        return self._current

    @contextmanager
    def text(self, skip: int = 0) -> Iterator[ByteStream]:
        """A context with the decompressed text after a byte order mark and `skip` more bytes."""
        stream = self.open()
        try:
            stream.drop_bom()
            stream.skip(skip)
            yield stream
        finally:
            self.close()

    def open_second(self) -> ByteStream:
        """Another, independent stream from the start. Raises InputError for a pipe."""
        self.require_places("this format is read at two places at once")
        return self._from_start()

    def peek(self, size: int, *, text: bool = False) -> bytes:
        """The first `size` decompressed bytes (after a byte order mark if `text`), fewer at the end. Does not consume
        them."""
        stream = self._from_start()
        try:
            if text:
                stream.drop_bom()
            return stream.peek(size)
        finally:
            if self.rewindable:
                stream.close()

    def require_places(self, why: str) -> None:
        """Raise InputError (`why` and the remedy) if it cannot be read at several places at once."""
        if self.remote is None:
            self.require_file(why)

    def require_file(self, why: str) -> Path:
        """The path of a regular file. Raises InputError (`why` and the remedy) for a pipe or a member of an archive."""
        if self.member is not None:
            raise InputError(f"{why}, so it cannot be read within an archive", path=self.name,
                             remedy="extract it first")
        if self.path is None or not self.rewindable:
            raise InputError(f"{why}, so it cannot come from {self._origin}", path=self.name,
                             remedy="save it as a file first")
        return self.path

    def position_bytes(self) -> int:
        """The compressed bytes read by the stream opened last."""
        return 0 if self._current is None else self._current.raw.consumed

    def close(self) -> None:
        """Close the stream opened last (standard input stays open for its owner)."""
        if self._current is not None:
            self._current.close()


HEAD_BYTES = 1 << 16
_HEAD_BYTES = (HEAD_BYTES, 1 << 20, 1 << 24)
_BLANKS = re.compile(rb"[ \t\r\n]*")
T = TypeVar("T")


def text_head(source: Input, parse: Callable[[bytes, bool], T | None]) -> T:
    """The result of `parse(head, complete)` for the first bytes of `source`.

    `parse` returns None if it needs more bytes; `complete` : whether `head` is the whole input. Raises InputError if
    16 MiB are not enough.
    """
    for size in _HEAD_BYTES:
        head = source.peek(size, text=True)
        complete = len(head) < size
        result = parse(head, complete)
        if result is not None:
            return result
        if complete:
            break
    raise EmptyInputError("no edge and no header is found", path=source.name,
                          remedy="check that this is a graph, or name its format with --format")


def lines_with_text(head: bytes, mark: bytes = b"\n") -> Iterator[tuple[int, int]]:
    """(offset of its first byte, 1-based number) of each line of `head` that is not blank. Lines end in `mark`; runs of
    blank lines are skipped quickly, as a whole."""
    at, number = 0, 1
    while True:
        blanks = _BLANKS.match(head, at)
        text = blanks.end() if blanks else at
        if text == len(head):
            return
        number += head.count(mark, at, text)
        yield head.rfind(mark, at, text) + 1 or at, number
        at, number = head.find(mark, text) + 1, number + 1
        if not at:
            return


@dataclass(frozen=True)
class HeaderLine:
    """The last line of a header. name : of the input. text : the line. number : its 1-based number. offset : the byte
    after it. first : the first line of the file."""

    name: str
    text: str
    number: int
    offset: int
    first: str

    def error(self, what: str, remedy: str) -> InputError:
        """An InputError about this line."""
        return InputError(what, path=self.name, line=self.number, text=self.text, remedy=remedy)

    def counts(self, words: list[str]) -> list[int]:
        """`words` as counts. Raises InputError unless they are whole numbers from 0 to 2^63 - 1."""
        counts = []
        for word in words:
            # Check the number of digits first, because Python refuses to convert thousands of digits.
            digits = word.lstrip("0") if word.isascii() and word.isdigit() else ""
            if not word.isascii() or not word.isdigit() or len(digits) > 19 or int(digits or 0) >= 2**63:
                raise self.error("the header's counts must be whole numbers", "fix the header")
            counts.append(int(digits or 0))
        return counts


def header_line(source: Input, is_comment: Callable[[bytes], bool]) -> HeaderLine:
    """The first line that is neither blank nor a comment. Raises InputError if there is none."""
    return text_head(source, lambda head, complete: find_header(source.name, head, complete, is_comment))


def find_header(name: str, head: bytes, complete: bool, is_comment: Callable[[bytes], bool]) -> HeaderLine | None:
    """The line of `header_line` in the first bytes of the input `name`, or None if these do not have it completely."""
    for start, number in lines_with_text(head):
        end = head.find(b"\n", start)
        if end < 0 and not complete:
            return None
        line = (head[start:] if end < 0 else head[start:end]).strip()
        if line and not is_comment(line):
            first = head.partition(b"\n")[0].decode("utf-8", "replace").strip()
            return HeaderLine(name, line.decode("utf-8", "replace"), number, len(head) if end < 0 else end + 1, first)
    return None
