"""Bytes of one input, decompressed: files, pipes and standard input behind one small interface.

Compression is undone by pyarrow (gzip, Zstandard) and by Python's bz2 and lzma, all without the GIL. Several members or
frames in a row are one stream, and a stream that ends early or goes on with something else is a fault. Working memory
is that of the decompressor: under 10 MB, up to its window (64 MiB for xz -9, at most 128 MiB for zstd --long).

Text in blocks that never cut a line (or a word): what the parsing kernels run over.

One buffer is filled, handed out up to the last place where it may be cut, and filled again behind what was left over.
It grows only when a single line does not fit. RAM: one block, at most MAX_LINE_BYTES.
"""

from __future__ import annotations

import bz2
import codecs
import lzma
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
import pyarrow as pa

from ..errors import InputError

BOM = b"\xef\xbb\xbf"
MAGICS = ((b"\x1f\x8b\x08", "gzip"), (b"BZh", "bz2"), (b"\xfd7zXZ\x00", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"))
MAGIC_BYTES = 6
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Of more bytes at once a regular file is asked whether it has them.
_LARGE = 1 << 26
_SKIP_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 16


def compression_of(first_bytes: bytes) -> str | None:
    """Compression whose magic number `first_bytes` start with, or None."""
    return next((name for magic, name in MAGICS if first_bytes.startswith(magic)), None)


def encoding_of(first_bytes: bytes) -> str:
    """Encoding whose byte order mark `first_bytes` start with, but for UTF-8; "" for none."""
    return "utf-16" if first_bytes.startswith(_UTF_16) else ""


class _LookAhead(ABC):
    """A stream that can be looked into before it is read."""

    def __init__(self) -> None:
        # What was looked at and not yet read: the bytes from place _at on.
        self._ahead, self._at = b"", 0

    @abstractmethod
    def _fetch(self, size: int) -> bytes:
        """At most `size` bytes behind those looked at; empty only at the end."""

    def peek(self, size: int) -> bytes:
        """The next `size` bytes without consuming them; fewer only at the end."""
        pieces, have = [self._ahead[self._at :]], len(self._ahead) - self._at
        while have < size and (more := self._fetch(size - have)):
            pieces.append(more)
            have += len(more)
        self._ahead, self._at = b"".join(pieces), 0
        return self._ahead[:size]

    def read(self, size: int) -> bytes:
        """At most `size` bytes; empty only at the end."""
        if not self._ahead:
            return self._fetch(size)
        at = self._at
        return self._ahead[at : at + self._drop(size)]

    def _drop(self, size: int) -> int:
        """Consumes at most `size` of the bytes looked at; returns how many there were."""
        size = min(size, len(self._ahead) - self._at)
        self._at += size
        if self._at == len(self._ahead):
            self._ahead, self._at = b"", 0
        return size


class RawStream(_LookAhead):
    """Counts the bytes read from a binary file and gives back bytes that were only looked at.

    `consumed` is the number of bytes handed out; a failure of the operating system becomes an
    InputError, also held in `fault` because it may have to pass through foreign code.
    """

    def __init__(self, file: BinaryIO, name: str, *, owned: bool = True) -> None:
        super().__init__()
        self._file, self.name, self._owned = file, name, owned
        self.consumed = 0
        self.fault: InputError | None = None
        self.closed = False

    def _fetch(self, size: int) -> bytes:
        try:
            return self._file.read(size if size <= _LARGE else self._at_most(size)) or b""
        except OSError as error:
            self.fault = InputError(f"reading fails ({error.strerror or error})", path=self.name, byte=self.consumed,
                                    remedy="check the disk and the file")
            raise self.fault from error

    def read(self, size: int) -> bytes:
        """At most `size` bytes; empty only at the end."""
        data = super().read(size)
        self.consumed += len(data)
        return data

    def _at_most(self, size: int) -> int:
        """`size`, or the bytes that a regular file still has: a buffer for more than there is may have no room."""
        if not self.seekable():
            return size
        return min(size, max(0, os.fstat(self._file.fileno()).st_size - self._file.tell()) + 1)

    def skip(self, size: int) -> int:
        """Moves `size` bytes ahead in a regular file, at most to its end; returns how far it got."""
        ahead = self._drop(size)
        here = self._file.tell()
        target = min(here + size - ahead, max(here, os.fstat(self._file.fileno()).st_size))
        self._file.seek(target)
        self.consumed += ahead + target - here
        return ahead + target - here

    def seekable(self) -> bool:
        """Whether skip() works."""
        return self._owned and self._file.seekable()

    def close(self) -> None:
        """Closes the file underneath, unless it belongs to someone else (standard input)."""
        self.closed = True
        if self._owned:
            self._file.close()


class MemberReader:
    """Decompresses the members of a bzip2 or xz file one after another.

    The file classes of Python's bz2 and lzma take whatever follows a member for garbage to be
    ignored, and with it a member whose head is damaged; here it is a fault. Zero bytes between
    members are padding. Raises EOFError when a member is cut short, OSError or LZMAError for damage.
    """

    def __init__(self, raw: RawStream, new: Callable[[], Any]) -> None:
        self._raw, self._new = raw, new
        self._member: Any = None

    def read(self, size: int) -> bytes:
        """At most `size` bytes; empty only at the end."""
        while True:
            if self._member is None or self._member.eof:
                data = self._next_member()
                if not data:
                    return b""
                self._member = self._new()
            else:
                data = self._raw.read(_CHUNK_BYTES) if self._member.needs_input else b""
                if self._member.needs_input and not data:
                    raise EOFError
            out = self._member.decompress(data, size)
            if out:
                return out

    def _next_member(self) -> bytes:
        """The first bytes behind the member read last and its padding; empty at the end."""
        data = b"" if self._member is None else self._member.unused_data
        while not (data := data.lstrip(b"\0")):
            data = self._raw.read(_CHUNK_BYTES)
            if not data:
                return b""
        return data

    def close(self) -> None:
        """Drops the decompressor."""
        self._member = None


def _decompressor(raw: RawStream, compression: str | None) -> Any:
    if compression is None:
        return raw
    if compression == "bz2":
        return MemberReader(raw, bz2.BZ2Decompressor)
    if compression == "xz":
        return MemberReader(raw, lzma.LZMADecompressor)
    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), compression)


class ByteStream(_LookAhead):
    """The decompressed bytes of `raw`, in order, once.

    Raises InputError (with the byte in the compressed file) when the compressed data end early or are damaged.
    """

    def __init__(self, raw: RawStream, compression: str | None) -> None:
        super().__init__()
        self.raw, self.compression = raw, compression
        self._source: Any = _decompressor(raw, compression)

    def _fetch(self, size: int) -> bytes:
        try:
            return self._source.read(size)
        except (EOFError, OSError, ValueError, SystemError, lzma.LZMAError) as error:
            if self.raw.fault is not None:
                raise self.raw.fault from error
            raise self._damage(error) from error

    def _damage(self, error: Exception) -> InputError:
        cut = isinstance(error, EOFError) or "truncated" in str(error).lower()
        what = "end before their end mark: the file is cut short" if cut else f"are damaged ({error})"
        return InputError(f"the {self.compression} data {what}", path=self.raw.name, byte=self.raw.consumed,
                          remedy="fetch or compress the file again")

    @property
    def closed(self) -> bool:
        """Whether it can be read no more; pyarrow asks."""
        return self.raw.closed

    def drop_bom(self) -> None:
        """Consumes a UTF-8 byte order mark if one comes next."""
        if self.peek(len(BOM)) == BOM:
            self.read(len(BOM))

    def readinto(self, target: memoryview) -> int:
        """Fills `target`; returns how many bytes it got, fewer than its length only at the end."""
        got = 0
        while got < len(target):
            data = self.read(len(target) - got)
            if not data:
                break
            target[got : got + len(data)] = data
            got += len(data)
        return got

    def _may_seek(self) -> bool:
        """Whether a place in this stream is one in the file."""
        return self.compression is None and self.raw.seekable()

    def skip(self, size: int | None = None) -> int:
        """Drops `size` bytes (None: all that are left); returns how many there were."""
        dropped = 0
        if size is not None and self._may_seek():
            dropped = self._drop(size)
            return dropped + self.raw.skip(size - dropped)
        while size is None or dropped < size:
            data = self.read(_SKIP_BYTES if size is None else min(_SKIP_BYTES, size - dropped))
            if not data:
                break
            dropped += len(data)
        return dropped

    def close(self) -> None:
        """Closes the decompressor and the file underneath."""
        if self._source is not self.raw:
            self._source.close()
        self.raw.close()


class TranscodedStream(ByteStream):
    """The text behind `stream`, which is in another encoding, as UTF-8; without a byte order mark where the encoding
    has one.

    Raises InputError where the bytes are no text in it.
    """

    def __init__(self, stream: ByteStream, encoding: str) -> None:
        _LookAhead.__init__(self)
        self.raw, self.compression, self._source = stream.raw, stream.compression, stream
        self._encoding, self._decoder = encoding, codecs.getincrementaldecoder(encoding)()
        self._text, self._ended = b"", False

    def _fetch(self, size: int) -> bytes:
        while not self._text and not self._ended:
            data = self._source.read(max(size, _CHUNK_BYTES))
            self._ended = not data
            try:
                self._text = self._decoder.decode(data, self._ended).encode()
            except UnicodeError as error:
                raise InputError(f"the text is not {self._encoding} ({error})", path=self.raw.name,
                                 byte=self.raw.consumed, remedy="name its encoding with --encoding") from error
        piece, self._text = self._text[:size], self._text[size:]
        return piece

    def _may_seek(self) -> bool:
        return False


def open_raw(path: Path) -> RawStream:
    """An unbuffered file as RawStream. Raises InputError when it cannot be opened."""
    try:
        return RawStream(open(path, "rb", buffering=0), str(path))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", path=path,
                         remedy="check its permissions") from error


class Fillable(Protocol):
    """What text comes from: a ByteStream, or a part of one."""

    raw: RawStream

    def readinto(self, target: memoryview) -> int:
        """Fills `target`; returns how many bytes it got, fewer than its length only at the end."""
        ...


MAX_LINE_BYTES = 16 << 20
_BLOCK_BYTES = 1 << 20
_LF, _CR = 10, 13

Cut = Callable[[bytearray, int], int]
"""(buffer, filled) -> length of the part that can be handed out, 0 if there is no place to cut."""


def block_bytes_for(batch_bytes: int) -> int:
    """Size of text blocks for a batch size: a quarter of it, at most 1 MiB, at least 64 bytes."""
    return max(64, min(_BLOCK_BYTES, batch_bytes // 4))


def after_line(buffer: bytearray, filled: int) -> int:
    """Cut behind the last line end. A carriage return alone counts only where no line feed is, and
    not as the last byte, where a line feed may follow."""
    cut = buffer.rfind(b"\n", 0, filled) + 1
    return cut or buffer.rfind(b"\r", 0, max(filled - 1, 0)) + 1


def after_word(buffer: bytearray, filled: int) -> int:
    """Cut behind the last blank or line end, for formats whose lines may be of any length."""
    return 1 + max(buffer.rfind(blank, 0, filled) for blank in (b" ", b"\t", b"\r", b"\n"))


def count_lines(block: Any) -> int:
    """Line ends in uint8[k]: line feeds, or carriage returns where there are none."""
    return int(np.count_nonzero(block == _LF) or np.count_nonzero(block == _CR))


def line_text(block: Any, start: int) -> str:
    """The line of uint8[k] `block` from byte `start` on, at most 200 bytes of it."""
    piece = block[start : start + 200].tobytes()
    return piece.replace(b"\r", b"\n").partition(b"\n")[0].decode("utf-8", "replace").rstrip()


def text_blocks(stream: Fillable, block_bytes: int, cut: Cut = after_line) -> Iterator[Any]:
    """Blocks of the rest of `stream`.

    Yields uint8[k] views that are overwritten by the next step. A line end is added to the last one
    if it lacks it. Raises InputError for a line (word, record) longer than MAX_LINE_BYTES.
    """
    buffer, left = bytearray(block_bytes), 0
    while True:
        got = stream.readinto(memoryview(buffer)[left:])
        filled, at_end = left + got, left + got < len(buffer)
        ready = filled if at_end else cut(buffer, filled)
        if at_end and filled and buffer[filled - 1] not in b"\r\n":
            buffer[filled] = _LF
            ready += 1
        if ready:
            yield np.frombuffer(buffer, np.uint8, ready)
        if at_end:
            return
        left = filled - ready
        if ready:
            buffer[:left] = buffer[ready:filled]
        elif len(buffer) < MAX_LINE_BYTES:
            buffer = buffer + bytearray(len(buffer))
        else:
            raise InputError(f"no line end in {MAX_LINE_BYTES:,} bytes: this is no text edge list",
                             path=stream.raw.name, byte=stream.raw.consumed, remedy="name the format with --format")
