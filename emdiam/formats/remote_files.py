"""Inputs behind an address: https, http and s3 by obstore, other schemes by fsspec.

They are read front to back, a piece ahead, by requests for ranges: what fails for a passing reason, or breaks off, is
asked for again from there on, and an answer of another version than the first is an error. A server that answers no
ranges sends the whole at once, and nothing of it twice. The first bytes are kept, since formats are found by them.
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

# A look takes a MiB and a mark.
_HEAD_BYTES, _PIECE_BYTES = (1 << 20) + (1 << 16), 4 << 20
_SERVED = ("http", "https", "s3")
_AGAIN = "check the address and the server, and run it again"
_RESUMES = "fetch the file by a program that continues after a stop, such as curl -C -, and name that"


class _File(Protocol):
    """What RemoteStream reads."""

    def read(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""
        ...

    def skip(self, size: int) -> int:
        """Moves ahead, at most to the end; returns how far."""
        ...

    def close(self) -> None:
        """Nothing is read any more."""
        ...


class RemoteStream(RawStream):
    """A stream of a file that is not here."""

    def __init__(self, file: _File, name: str, *, seekable: bool) -> None:
        super().__init__(cast(BinaryIO, file), name)
        self._seekable = seekable

    def _fetch(self, size: int) -> bytes:
        try:
            return self._file.read(min(size, _PIECE_BYTES))
        except InputError as error:
            self.fault = error  # it may have to pass through foreign code
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
    """A file behind an address, as it was when it was first asked for.

    name : the address without secrets. size : in bytes, None where that is not known. version : "" where that is not
    known. Raises InputError where there is none.
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
        """The first bytes, the size and the version."""
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
                self._whole()  # which has its size and version
        if self._first is not None:
            self.size = self._first.size
            self.version = f"{self._first.tag} {self._first.modified}"

    def _whole(self) -> Iterator[bytes]:
        """All of it at once. Raises StoreError, and InputError where it is another version."""
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
        """The bytes from here on, so many, or as many as there are in a piece. Raises InputError."""
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
        """A file of fsspec."""
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
        """A file of Python that is read at any place. Raises InputError where the server has no ranges."""
        if self._objects is None:
            return self._foreign()
        if not self._ranges or self.size is None:
            raise InputError("this format is read in place, and the server answers no requests for ranges",
                             path=self.name, remedy="fetch the file, and name that")
        return _Anywhere(self, self.size)


class _Anywhere(RawIOBase):
    """A file that is read at any place, by a request a read."""

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
    """A file that is asked for piece by piece, one of them ahead."""

    def __init__(self, file: RemoteFile, head: bytes) -> None:
        self._file, self._data, self._at = file, head, 0
        self._end = len(head)  # of what is at hand, in the file
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
    """A file that comes at once. pieces : its bytes."""

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
    """A context where what is said of a store is said of an input."""
    try:
        yield
    except StoreError as error:
        missing = "pip" in str(error.remedy)
        raise InputError(error.what, path=name, byte=begin or None,
                         remedy=error.remedy if missing or error.what.startswith("there are no cred") else remedy
                         ) from None


@contextmanager
def _damage(name: str, begin: int) -> Iterator[None]:
    """A context where whatever a file system of fsspec raises becomes an InputError."""
    try:
        yield
    except Exception as error:
        raise InputError(f"the file cannot be read ({type(error).__name__}: {redacted(str(error))[:200]})", path=name,
                         byte=begin or None, remedy=_AGAIN) from None
