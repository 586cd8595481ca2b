"""Files that are written: whether they can be, asked before the work; whole or not there at all; and lasting
through a power failure."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import InputError
from .links import followed, of_another, open_to_all, status_of

_PARTIAL = ".partial"
# Of a file that is not finished: what its name adds to that of the target, how long names may be, how often a name is
# looked for, and how it is opened.
_MORE_BYTES, _NAME_BYTES, _ATTEMPTS = 9 + len(_PARTIAL), 255, 100
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
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


def lock_folder(folder: Path, complaint: str, remedy: str, flags: int = 0) -> int:
    """Lock a folder for this process: the descriptor that holds the lock (close it to let go); the lock ends with the
    process, however that ends. flags : with which it is opened, beside the usual ones. Raises InputError, in these
    words, if another process (or another holder in this one) has it."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | flags)
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
                    import shutil

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
    followed(folder)
    folder.mkdir(parents=True, exist_ok=True)
    handle = lock_folder(folder, complaint, remedy)
    try:
        yield
    finally:
        os.close(handle)


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to that is at `path` when the block ends well, whole, even if the machine stops.

    Until then it has a name of its own in that folder, PATH.01234567.partial, which nothing had before; an error
    removes it, and the next writer of `path` removes what a killed one has left. So of several writers at once each
    writes a whole file, and the last one stays. The file has the mode of a new one; one that is there is replaced, not
    changed.
    Links are followed as links.followed says; a pipe or device (/dev/stdout) is written to as it is.

    Parameters
    ----------
    path : of the file, in a folder that exists.

    Raises
    ------
    OSError : what the system says; PermissionError for a link of another user, and for a pipe of one in a folder where
        any user may make files.
    """
    target = followed(path)
    if _as_it_is(target):
        with open(_open_as_it_is(target), "wb") as file:
            yield file
        return
    _remove_abandoned(target)
    fresh, handle = _fresh(target)
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(fresh, target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    sync_path(target.parent)


def open_to_append(path: str | Path) -> int:
    """A descriptor to append to the file, which is made if it is missing, and to read it; close it at the end. Raises
    OSError, PermissionError as whole_file does, and for a file of another user in a folder where any user may make
    files."""
    target = followed(path)
    _check_not_planted(target)
    here = 0 if target.is_symlink() else os.O_NOFOLLOW  # one of the kernel
    return os.open(target, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | here, 0o666)


def _stem(target: Path) -> str:
    """With what the names of unfinished files begin: that of the target, if there is room for it."""
    return target.name if len(os.fsencode(target.name)) + _MORE_BYTES <= _NAME_BYTES else "emdiam"


def _fresh(target: Path) -> tuple[Path, int]:
    """A new, empty file beside `target`: its name, and a descriptor that holds its lock. Raises OSError."""
    for _ in range(_ATTEMPTS):
        fresh = target.with_name(f"{_stem(target)}.{os.urandom(4).hex()}{_PARTIAL}")
        try:
            handle = os.open(fresh, _NEW, 0o666)
        except FileExistsError:
            continue
        # Another writer may have taken it for abandoned before it was locked.
        if _lock_of_file(handle) and os.fstat(handle).st_nlink:
            return fresh, handle
        os.close(handle)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))


def _lock_of_file(handle: int) -> bool:
    """Lock a file that was just made; whether no other process has. Where the file system has no locks nobody can."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return not isinstance(error, BlockingIOError)
    return True


def _remove_abandoned(target: Path) -> None:
    """Remove files of this user that killed writers of `target` have left: nobody has their lock. What cannot be
    removed stays: it is in nobody's way."""
    name = re.compile(re.escape(_stem(target)) + r"\.[0-9a-f]{8}" + re.escape(_PARTIAL))
    for left in [one for one in os.listdir(target.parent) if name.fullmatch(one)]:
        with suppress(OSError):
            _remove_unless_locked(target.with_name(left))


def _remove_unless_locked(file: Path) -> None:
    """Remove a plain file of this user, unless a process has its lock. Raises OSError, where there are no locks too."""
    handle = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink(missing_ok=True)
    except BlockingIOError:
        pass  # a writer is at work
    finally:
        os.close(handle)


def _open_as_it_is(target: Path) -> int:
    """A descriptor to write to a pipe, a device, or what a link of the kernel leads to. Raises OSError."""
    _check_not_planted(target)
    here = 0 if target.is_symlink() else os.O_NOFOLLOW  # one of the kernel
    return os.open(target, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | here)


def _check_not_planted(target: Path) -> None:
    """Raises PermissionError for a pipe or file of another user in a folder where any user may make one: whoever made
    it may wait for what is written there. Devices only root can make."""
    status = status_of(target)
    if status is not None and (stat.S_ISFIFO(status.st_mode) or stat.S_ISREG(status.st_mode)) and of_another(
            status) and open_to_all(target.parent):
        raise PermissionError(errno.EACCES, "this is of another user, in a folder that is open to all", str(target))


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
    with _refusing(path):
        target = followed(path)
        if target.is_dir():
            raise InputError("this is a folder, not a file to write", path=path, remedy="name a file")
        if not _as_it_is(target):
            _check_parent(target)
            _check_replaceable(target)
            return
        _check_not_planted(target)
        if not os.access(target, os.W_OK):
            raise InputError("this cannot be written to", path=path, remedy="name a file that you may write to")


def check_name(path: str | Path) -> None:
    """Raise InputError unless something of this name, and of PATH.partial, could be made in its folder now, which
    has to exist. A link of that name is not followed. Nothing is left of the attempt."""
    target = Path(path)
    with _refusing(target):
        followed(target.parent)
        _check_parent(target)
        status_of(target.with_name(target.name + _PARTIAL))  # raises for a name that is too long
        _check_replaceable(target)


def _check_parent(target: Path) -> None:
    """Raise InputError, OSError unless files could be made in the folder of `target`."""
    parent = target.absolute().parent
    if not parent.is_dir():
        what = "is no folder" if parent.exists() else "does not exist"
        raise InputError(f"its folder {what}", path=target, remedy="make that first, or choose another place")
    _try_in(parent)


def _check_replaceable(target: Path) -> None:
    """Raise InputError, OSError for what is there and cannot be replaced: in a folder with the sticky bit, as /tmp,
    what belongs to another user."""
    status, folder = status_of(target), os.stat(target.absolute().parent)
    user = os.geteuid()
    if status is not None and folder.st_mode & stat.S_ISVTX and user not in (0, status.st_uid, folder.st_uid):
        raise InputError("this belongs to another user, and its folder does not let you replace it", path=target,
                         remedy="choose another place")


def check_folder(path: str | Path) -> None:
    """Raise InputError unless files could be made in the folder `path` now, or the folder be made with all that is
    missing above it. Nothing is left of the attempt."""
    with _refusing(path):
        followed(path)
        target = Path(path).absolute()
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
    status = status_of(target)
    return status is not None and not stat.S_ISREG(status.st_mode)


def user_of(folder: Path) -> int:
    """The user to whom a file belongs that this process makes in the folder: a file system may call users of another
    machine, or root, by another number. Raises OSError."""
    import tempfile

    with tempfile.TemporaryFile(dir=folder) as file:
        return os.fstat(file.fileno()).st_uid


def _try_in(folder: Path) -> None:
    """Make a file in the folder; it has no name, or loses it at once. Raises OSError."""
    user_of(folder)
