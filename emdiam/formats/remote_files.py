"""Remote inputs: https, http and s3 through obstore, other schemes through fsspec.

They are read in order through range requests, one piece ahead. A request that fails temporarily or breaks off is
repeated from that position; a response with another version than the first is an error. A server without range requests
sends the whole file once, and no part of it is requested twice. The first bytes are kept in memory, because formats are
found from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from io import SEEK_CUR, SEEK_END, SEEK_SET, RawIOBase
from typing import Any, BinaryIO, Protocol, cast
from urllib.parse import unquote

from ..errors import InputError, StoreError, redacted
from ..store.remote import NoRangesError, Objects, ServedObjects, Version, open_objects
from .streams import RawStream

# The first look at a text needs 1 MiB and a byte order mark.
_HEAD_BYTES, _PIECE_BYTES = (1 << 20) + (1 << 16), 4 << 20
_SERVED = ("http", "https", "s3")
_AGAIN = "check the address and the server, and run it again"
_RESUMES = "fetch the file by a program that continues after a stop, such as curl -C -, and name that"


class _File(Protocol):
    """The source of a RemoteStream."""

    def read(self, size: int) -> bytes:
        """At most `size` bytes; empty at the end."""
        ...

    def skip(self, size: int) -> int:
        """Skip `size` bytes, at most to the end; returns the number of skipped bytes."""
        ...

    def close(self) -> None:
        """End reading."""
        ...


class RemoteStream(RawStream):
    """A stream of a remote file."""

    def __init__(self, file: _File, name: str, *, seekable: bool) -> None:
        super().__init__(cast(BinaryIO, file), name)
        self._seekable = seekable

    def _fetch(self, size: int) -> bytes:
        try:
            return self._file.read(min(size, _PIECE_BYTES))
        except InputError as error:
            self.fault = error  # other libraries may replace it on the way
            raise

    def skip(self, size: int) -> int:
        """See RawStream."""
        ahead = self._drop(size)
        moved = ahead + cast(_File, self._file).skip(size - ahead)
        self.consumed += moved
        return moved

    def seekable(self) -> bool:
        """See RawStream."""
        return self._seekable


class RemoteFile:
    """A remote file, in its version at the first request.

    name : the address without secrets. size : in bytes, None if unknown. version : "" if unknown. Raises InputError if
    the file is missing.
    """

    def __init__(self, url: str) -> None:
        self._url = url.partition("#")[0]
        self.name = redacted(self._url)
        self.size: int | None = None
        self.version = ""
        self._first: Version | None = None
        self._head, self._ranges = b"", True
        self._objects: Objects | None = None
        if self._url.partition("://")[0] in _SERVED:
            self._look()
        else:
            file = self._foreign()
            self.size = getattr(file, "size", None)
            file.close()
        if self.size == 0:
            raise InputError("the file is empty", path=self.name, remedy="check the address")

    def _look(self) -> None:
        """Request the first bytes, the size and the version."""
        place, mark, query = self._url.partition("?")
        folder, _, key = place.rpartition("/")
        self._key = unquote(key)
        with _said(self.name):
            self._objects = open_objects(folder + mark + query)
            try:
                head, self._first = self._objects.get(self._key, (0, _HEAD_BYTES))
                self._head = bytes(head)
            except NoRangesError:
                self._ranges = False
                self._whole()  # its response has the size and version
        if self._first is not None:
            self.size = self._first.size
            self.version = f"{self._first.tag} {self._first.modified}"

    def _whole(self) -> Iterator[bytes]:
        """The whole file in one response. Raises StoreError, and InputError for another version."""
        assert isinstance(self._objects, ServedObjects)
        version, pieces = self._objects.stream(self._key, _PIECE_BYTES)
        self._check(version)
        return pieces

    def _check(self, version: Version | None) -> None:
        self._first = self._first or version
        if version is not None and self._first is not None and not version.agrees(self._first):
            raise InputError("this changed while it was read", path=self.name,
                             remedy="run the command again once nothing writes to it")

    def piece(self, begin: int, size: int | None = None) -> bytes:
        """The bytes from `begin` on, `size` or the size of a piece. Raises InputError."""
        assert self._objects is not None
        end = begin + (_PIECE_BYTES if size is None else size)
        end = end if self.size is None else min(end, self.size)
        if begin >= end:
            return b""
        with _said(self.name, begin):
            data, version = self._objects.get(self._key, (begin, end))
            self._check(version)
            return bytes(data)

    def _foreign(self) -> Any:
        """The file, opened through fsspec."""
        try:
            import fsspec
        except ImportError:
            raise InputError("reading it needs the package fsspec", path=self.name,
                             remedy="pip install 'emdiam[remote]'") from None
        with _damage(self.name, 0):
            return fsspec.open(self._url, "rb").open()

    def raw(self) -> RemoteStream:
        """A stream from the start. Raises InputError."""
        if self._objects is None:
            return RemoteStream(_Foreign(self._foreign(), self.name), self.name, seekable=True)
        if self._ranges:
            return RemoteStream(_Pieces(self, self._head), self.name, seekable=True)
        with _said(self.name):
            return RemoteStream(_Whole(self._whole(), self.name), self.name, seekable=False)


    def anywhere(self) -> Any:
        """A seekable Python file object. Raises InputError if the server has no range requests."""
        if self._objects is None:
            return self._foreign()
        if not self._ranges or self.size is None:
            raise InputError("this format is read in place, and the server answers no requests for ranges",
                             path=self.name, remedy="fetch the file, and name that")
        return _Anywhere(self, self.size)


class _Anywhere(RawIOBase):
    """A seekable file, with one request for each read."""

    def __init__(self, file: RemoteFile, size: int) -> None:
        super().__init__()
        self._file, self._size, self._at = file, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        self._at = offset + {SEEK_SET: 0, SEEK_CUR: self._at, SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        data = self._file.piece(self._at, self._size - self._at if size < 0 else size)
        self._at += len(data)
        return data


class _Pieces:
    """A file that is requested in pieces, one piece ahead."""

    def __init__(self, file: RemoteFile, head: bytes) -> None:
        self._file, self._data, self._at = file, head, 0
        self._end = len(head)  # offset in the file after the current data
        self._pool: ThreadPoolExecutor | None = None
        self._ahead: Future[bytes] | None = None

    def read(self, size: int) -> bytes:
        if self._at == len(self._data):
            self._next()
        data = self._data[self._at : self._at + size]
        self._at += len(data)
        return data

    def _next(self) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="fetch")
        ahead = self._ahead or self._pool.submit(self._file.piece, self._end)
        self._ahead, self._data, self._at = None, b"", 0
        self._data = ahead.result()
        self._end += len(self._data)
        if self._data:
            self._ahead = self._pool.submit(self._file.piece, self._end)

    def skip(self, size: int) -> int:
        here = self._end - len(self._data) + self._at
        target = here + size if self._file.size is None else min(here + size, self._file.size)
        if target > self._end:
            self._data, self._at, self._end, self._ahead = b"", 0, target, None
        else:
            self._at += target - here
        return target - here

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


class _Whole:
    """A file from a single response. pieces : its bytes."""

    def __init__(self, pieces: Iterator[bytes], name: str) -> None:
        self._pieces, self._name = pieces, name
        self._data, self._at, self._n_before = b"", 0, 0

    def read(self, size: int) -> bytes:
        if self._at == len(self._data):
            self._n_before += len(self._data)
            with _said(self._name, self._n_before, _RESUMES):
                self._data, self._at = next(self._pieces, b""), 0
        data = self._data[self._at : self._at + size]
        self._at += len(data)
        return data

    def skip(self, size: int) -> int:
        moved = 0
        while moved < size and (data := self.read(size - moved)):
            moved += len(data)
        return moved

    def close(self) -> None:
        self._pieces = iter(())


class _Foreign:
    """A file of fsspec."""

    def __init__(self, file: Any, name: str) -> None:
        self._file, self._name = file, name

    def read(self, size: int) -> bytes:
        with _damage(self._name, self._file.tell()):
            return bytes(self._file.read(size))

    def skip(self, size: int) -> int:
        here = self._file.tell()
        with _damage(self._name, here):
            moved = int(self._file.seek(here + size)) - here
        return moved

    def close(self) -> None:
        self._file.close()


@contextmanager
def _said(name: str, begin: int = 0, remedy: str = _AGAIN) -> Iterator[None]:
    """A context that turns errors about a store into errors about an input."""
    try:
        yield
    except StoreError as error:
        missing = "pip" in str(error.remedy)
        raise InputError(error.what, path=name, byte=begin or None,
                         remedy=error.remedy if missing or error.what.startswith("there are no cred") else remedy
                         ) from None


@contextmanager
def _damage(name: str, begin: int) -> Iterator[None]:
    """A context that turns all errors of an fsspec file system into an InputError."""
    try:
        yield
    except Exception as error:
        raise InputError(f"the file cannot be read ({type(error).__name__}: {redacted(str(error))[:200]})", path=name,
                         byte=begin or None, remedy=_AGAIN) from None
