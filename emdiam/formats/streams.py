"""Decompressed bytes of one input: one small interface for files, pipes and standard input; and blocks of text.

pyarrow decompresses gzip and Zstandard, Python's bz2 and lzma the others, all without the GIL. Several members or
frames in a row are one stream. A stream that ends early, or has other data after its end, is an error. Memory is that
of the decompressor: under 10 MB, or its window (64 MiB for xz -9, at most 128 MiB for zstd --long).

`text_blocks` yields text in blocks that never cut a line (or a word), for the parsing kernels. It fills one buffer,
yields it up to the last valid cut, and refills it after the remaining bytes. The buffer grows only if a single line
does not fit. RAM: one block, at most MAX_LINE_BYTES.
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
_UTF_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Before a read of more bytes the size of a regular file is checked.
_LARGE = 1 << 26
_SKIP_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 16


def compression_of(first_bytes: bytes) -> str | None:
    """The compression whose magic number `first_bytes` start with, or None."""
    return next((name for magic, name in MAGICS if first_bytes.startswith(magic)), None)


def encoding_of(first_bytes: bytes) -> str:
    """The encoding whose byte order mark `first_bytes` start with; "" for UTF-8 or no mark."""
    if first_bytes.startswith(_UTF_32):  # one of them begins as a mark of UTF-16
        return "utf-32"
    return "utf-16" if first_bytes.startswith(_UTF_16) else ""


class _LookAhead(ABC):
    """A stream with `peek`: a view of bytes before they are read."""

    def __init__(self) -> None:
        # Bytes from `peek` that are not yet read: _ahead[_at:].
        self._ahead, self._at = b"", 0

    @abstractmethod
    def _fetch(self, size: int) -> bytes:
        """At most `size` bytes after those of `peek`; empty only at the end."""

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
        """Consume at most `size` bytes of `peek`; returns their number."""
        size = min(size, len(self._ahead) - self._at)
        self._at += size
        if self._at == len(self._ahead):
            self._ahead, self._at = b"", 0
        return size


class RawStream(_LookAhead):
    """The bytes of a binary file, counted, with `peek`.

    `consumed` is the number of bytes read. A failure of the operating system becomes an InputError, which is also
    stored in `fault`, because other libraries may replace it on the way.
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
        """`size`, or the remaining bytes of a regular file if fewer: a larger buffer may not fit in memory."""
        if not self.seekable():
            return size
        return min(size, max(0, os.fstat(self._file.fileno()).st_size - self._file.tell()) + 1)

    def skip(self, size: int) -> int:
        """Move `size` bytes ahead in a regular file, at most to its end; returns the number of skipped bytes."""
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
        """Close the file, unless this stream does not own it (standard input)."""
        self.closed = True
        if self._owned:
            self._file.close()


class MemberReader:
    """Decompresses the members of a bzip2 or xz file one after another.

    The file classes of Python's bz2 and lzma ignore all data after a member, even a member with a damaged head; this
    class raises an error. Zero bytes between members are padding. Raises EOFError if a member is cut short, OSError or
    LZMAError for damage.
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
        """The first bytes after the last member and its padding; empty at the end."""
        data = b"" if self._member is None else self._member.unused_data
        while not (data := data.lstrip(b"\0")):
            data = self._raw.read(_CHUNK_BYTES)
            if not data:
                return b""
        return data

    def close(self) -> None:
        """Drop the decompressor."""
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
    """The decompressed bytes of `raw`, in order, readable once.

    Raises InputError (with the byte in the compressed file) if the compressed data end early or are damaged.
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
        """Whether the stream is closed; pyarrow needs it."""
        return self.raw.closed

    def drop_bom(self) -> None:
        """Skip a UTF-8 byte order mark if it comes next."""
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
        """Whether a position in this stream is the position in the file."""
        return self.compression is None and self.raw.seekable()

    def skip(self, size: int | None = None) -> int:
        """Skip `size` bytes (None: all remaining ones); returns the number of skipped bytes."""
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
        """Close the decompressor and the file."""
        if self._source is not self.raw:
            self._source.close()
        self.raw.close()


class TranscodedStream(ByteStream):
    """The text of `stream`, converted from another encoding to UTF-8, without its byte order mark.

    Raises InputError if the bytes are invalid in the encoding.
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
    """A RawStream of an unbuffered file. Raises InputError if it cannot be opened."""
    try:
        return RawStream(open(path, "rb", buffering=0), str(path))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", path=path,
                         remedy="check its permissions") from error


class Fillable(Protocol):
    """A source of text: a ByteStream, or a part of one."""

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
    """The size of text blocks for a batch size: a quarter of it, at most 1 MiB, at least 64 bytes."""
    return max(64, min(_BLOCK_BYTES, batch_bytes // 4))


def after_line(buffer: bytearray, filled: int) -> int:
    """Cut after the last line end. A carriage return alone is a line end only if there is no line feed, and not as the
    last byte, because a line feed may follow."""
    cut = buffer.rfind(b"\n", 0, filled) + 1
    return cut or buffer.rfind(b"\r", 0, max(filled - 1, 0)) + 1


def after_word(buffer: bytearray, filled: int) -> int:
    """Cut after the last blank or line end, for formats with lines of any length."""
    return 1 + max(buffer.rfind(blank, 0, filled) for blank in (b" ", b"\t", b"\r", b"\n"))


def count_lines(block: Any) -> int:
    """The number of line ends in uint8[k]: line feeds, or carriage returns if there are no line feeds."""
    return int(np.count_nonzero(block == _LF) or np.count_nonzero(block == _CR))


def line_text(block: Any, start: int) -> str:
    """The line of uint8[k] `block` from byte `start` on, at most 200 bytes."""
    piece = block[start : start + 200].tobytes()
    return piece.replace(b"\r", b"\n").partition(b"\n")[0].decode("utf-8", "replace").rstrip()


def text_blocks(stream: Fillable, block_bytes: int, cut: Cut = after_line) -> Iterator[Any]:
    """Blocks of the rest of `stream`.

    Yields uint8[k] views, which the next step overwrites. Adds a line end to the last block if it is missing. Raises
    InputError for a line (word, record) longer than MAX_LINE_BYTES.
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
