"""Files that are written: whether they can be, asked before the work; whole or not there at all; and lasting
through a power failure."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .errors import InputError

_PARTIAL = ".partial"
_PIECE_BYTES = 1 << 20
# How often a removal begins again while others write, and seconds in between.
_REMOVALS, _BETWEEN = 40, 0.05


def sync_path(path: Path) -> None:
    """Wait until the content of a file, or the new, renamed and removed names in a folder, is on disk. Raises
    OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lock_folder(folder: Path, complaint: str, remedy: str) -> int:
    """Lock a folder for this process: the descriptor that holds the lock (close it to let go); the lock ends with the
    process, however that ends. Raises InputError, in these words, if another process (or another holder in this one)
    has it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if not isinstance(error, BlockingIOError):
            raise
        raise InputError(complaint, path=folder, remedy=remedy) from None
    return handle


def remove_folder(folder: Path, last: str) -> None:
    """Remove a folder and what is in it: the file `last` after all else, so that what is left of a removal that was
    interrupted is known for what it was. What other threads still write goes too. Raises OSError if something stays."""
    for turn in range(_REMOVALS):
        try:
            for entry in folder.iterdir():
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                elif entry.name != last:
                    entry.unlink(missing_ok=True)
            (folder / last).unlink(missing_ok=True)
            folder.rmdir()
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.ENOENT) or turn == _REMOVALS - 1:
                raise
        time.sleep(_BETWEEN)


@contextmanager
def locked(folder: Path, complaint: str, remedy: str) -> Iterator[None]:
    """The folder, made if it is missing, is locked inside; see lock_folder. Raises InputError, OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = lock_folder(folder, complaint, remedy)
    try:
        yield
    finally:
        os.close(handle)


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to that is at `path` when the block ends well, whole, even if the machine stops; until then
    it is PATH.partial, which an error removes. A file of that name is replaced. A link, pipe or device (/dev/stdout)
    is written to as it is. Raises OSError."""
    target = Path(path)
    if _as_it_is(target):
        with open(target, "wb") as file:
            yield file
        return
    partial = target.with_name(target.name + _PARTIAL)
    try:
        with open(partial, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_path(target.parent)


def read_at_most(path: str | Path, limit: int) -> bytes | None:
    """The content of a file of at most `limit` bytes; None of a larger one. Memory is taken for what there is. Raises
    OSError."""
    data = bytearray()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE_BYTES):
            data += piece
            if len(data) > limit:
                return None
    return bytes(data)


def write_all(write: Callable[[memoryview], int | None], data: bytes) -> None:
    """Call `write`, which may take a part alone and returns how much, until it has taken all. Raises what it does:
    where there is no room left, the next call says so."""
    left = memoryview(data)
    while left:
        left = left[write(left) or 0 :]


def write_whole(path: str | Path, data: str | bytes) -> None:
    """Write a file as whole_file does. Raises OSError."""
    with whole_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextmanager
def _refusing(target: str | Path) -> Iterator[None]:
    """What the system says against writing `target` becomes an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(f"this cannot be written ({error.strerror})", path=target,
                         remedy="choose a place that you may write to") from None


def check_file(path: str | Path) -> None:
    """Raise InputError unless whole_file could write `path` now; nothing is left of the attempt."""
    target = Path(path)
    with _refusing(target):
        if target.is_dir():
            raise InputError("this is a folder, not a file to write", path=target, remedy="name a file")
        if not _as_it_is(target):
            check_name(target)
        elif not os.access(target, os.W_OK):
            raise InputError("this cannot be written to", path=target, remedy="name a file that you may write to")


def check_name(path: str | Path) -> None:
    """Raise InputError unless something of this name, and of PATH.partial, could be made in its folder now, which
    has to exist. Nothing is left of the attempt."""
    target = Path(path)
    parent = target.absolute().parent
    with _refusing(target):
        if not parent.is_dir():
            what = "is no folder" if parent.exists() else "does not exist"
            raise InputError(f"its folder {what}", path=target, remedy="make that first, or choose another place")
        _kind(target.with_name(target.name + _PARTIAL))  # raises for a name that is too long
        _try_in(parent)


def check_folder(path: str | Path) -> None:
    """Raise InputError unless files could be made in the folder `path` now, or the folder be made with all that is
    missing above it. Nothing is left of the attempt."""
    target = Path(path).absolute()
    with _refusing(target):
        there = next(folder for folder in (target, *target.parents) if os.path.lexists(folder))
        if not there.is_dir():
            what = "this" if there == target else str(there)
            raise InputError(f"{what} is no folder", path=path, remedy="choose another place")
        _try_in(there)


def check_above(path: str | Path) -> None:
    """Raise InputError unless the folder of `path` passes check_folder, whatever `path` is to be."""
    check_folder(Path(path).absolute().parent)


def check_scratch(path: str | Path) -> None:
    """Raise InputError unless `path` is a folder in which files can be made now."""
    if not Path(path).is_dir():
        raise InputError("the scratch folder does not exist", path=path, remedy="make it first")
    check_folder(path)


def _as_it_is(target: Path) -> bool:
    """Whether it is there and no plain file."""
    kind = _kind(target)
    return kind is not None and kind != stat.S_IFREG


def _kind(target: Path) -> int | None:
    """What it is, as in stat.S_IFMT; None if it is not there. Raises OSError."""
    try:
        return stat.S_IFMT(os.lstat(target).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _try_in(folder: Path) -> None:
    """Make a file in the folder; it has no name, or loses it at once. Raises OSError."""
    with tempfile.TemporaryFile(dir=folder):
        pass
