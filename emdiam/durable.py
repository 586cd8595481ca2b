"""Output files: check before the work that they can be written, write them whole or not at all, and make them survive a
power failure."""

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
# Unfinished files: the bytes that their names add to the target's, the longest name, the number of names to try, and
# the flags to open them.
_MORE_BYTES, _NAME_BYTES, _ATTEMPTS = 9 + len(_PARTIAL), 255, 100
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE_BYTES = 1 << 20
# Attempts to remove a folder while others write to it, and seconds between attempts.
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
    """Lock a folder for this process and return the descriptor that owns the lock. Close it to release the lock; the
    lock also ends when the process ends, however that happens.

    flags : flags to open the folder with, in addition to the usual ones. Raises InputError, with this complaint and
    remedy, if another process, or another descriptor of this one, has the lock.
    """
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
    """Remove a folder and its contents. The file `last` is removed last, so that an interrupted removal can be
    recognised. Files that other threads write meanwhile are removed too. Raises OSError if something cannot be
    removed."""
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
    """Lock a folder, made if missing, for the duration of the block; see lock_folder. Raises InputError, OSError."""
    followed(folder)
    folder.mkdir(parents=True, exist_ok=True)
    handle = lock_folder(folder, complaint, remedy)
    try:
        yield
    finally:
        os.close(handle)


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file that appears at `path`, whole, when the block ends without an error, even if the machine fails.

    Until then it has a new, unique name in that folder, PATH.01234567.partial. An error removes it, and the next writer
    of `path` removes the file of a writer that was killed. So each of several simultaneous writers writes a whole file,
    and the last one wins. The file has the mode of a new file; an existing file is replaced, not changed.
    links.followed says which links are followed; a pipe or device (/dev/stdout) is written to directly.

    Parameters
    ----------
    path : the file, in a folder that exists.

    Raises
    ------
    OSError : the system's error; PermissionError for a link of another user, and for another user's pipe in a folder
    where any user may make files.
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
    """Return a descriptor to append to the file, made if missing, and to read it; close it at the end. Raises OSError;
    PermissionError as whole_file does, and for another user's file in a folder where any user may make files."""
    target = followed(path)
    _check_not_planted(target)
    here = 0 if target.is_symlink() else os.O_NOFOLLOW  # 0 for a link of the kernel
    return os.open(target, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | here, 0o666)


def _stem(target: Path) -> str:
    """The beginning of the names of unfinished files: the target's name, if it is short enough."""
    return target.name if len(os.fsencode(target.name)) + _MORE_BYTES <= _NAME_BYTES else "emdiam"


def _fresh(target: Path) -> tuple[Path, int]:
    """A new, empty file beside `target`: its path, and a descriptor that owns its lock. Raises OSError."""
    for _ in range(_ATTEMPTS):
        fresh = target.with_name(f"{_stem(target)}.{os.urandom(4).hex()}{_PARTIAL}")
        try:
            handle = os.open(fresh, _NEW, 0o666)
        except FileExistsError:
            continue
        # Before it was locked, another writer may have taken it for abandoned and removed it.
        if _lock_of_file(handle) and os.fstat(handle).st_nlink:
            return fresh, handle
        os.close(handle)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))


def _lock_of_file(handle: int) -> bool:
    """Lock a file that was just made, and return whether no other process has locked it: always true on a file system
    without locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return not isinstance(error, BlockingIOError)
    return True


def _remove_abandoned(target: Path) -> None:
    """Remove this user's unlocked files of killed writers of `target`. A file that cannot be removed stays, and does no
    harm."""
    name = re.compile(re.escape(_stem(target)) + r"\.[0-9a-f]{8}" + re.escape(_PARTIAL))
    for left in [one for one in os.listdir(target.parent) if name.fullmatch(one)]:
        with suppress(OSError):
            _remove_unless_locked(target.with_name(left))


def _remove_unless_locked(file: Path) -> None:
    """Remove a regular file of this user unless a process has locked it. Raises OSError, also if the file system has no
    locks."""
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
    """A descriptor to write to a pipe, a device, or the target of a kernel link. Raises OSError."""
    _check_not_planted(target)
    here = 0 if target.is_symlink() else os.O_NOFOLLOW  # 0 for a link of the kernel
    return os.open(target, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | here)


def _check_not_planted(target: Path) -> None:
    """Raise PermissionError for another user's pipe or file in a folder where any user may make one: that user may wait
    to read our output. Devices need no check, as only root can make them."""
    status = status_of(target)
    if status is not None and (stat.S_ISFIFO(status.st_mode) or stat.S_ISREG(status.st_mode)) and of_another(
            status) and open_to_all(target.parent):
        raise PermissionError(errno.EACCES, "this is of another user, in a folder that is open to all", str(target))


def read_at_most(path: str | Path, limit: int) -> bytes | None:
    """Return the content of a file of at most `limit` bytes, or None if it is larger. Allocates only the file's size.
    Raises OSError."""
    data = bytearray()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE_BYTES):
            data += piece
            if len(data) > limit:
                return None
    return bytes(data)


def write_all(write: Callable[[memoryview], int | None], data: bytes) -> None:
    """Call `write`, which returns the number of bytes that it took, until it has taken all. Raises what `write` raises:
    if the disk is full, the next call does."""
    left = memoryview(data)
    while left:
        left = left[write(left) or 0 :]


def write_whole(path: str | Path, data: str | bytes) -> None:
    """Write a file as whole_file does. Raises OSError."""
    with whole_file(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextmanager
def _refusing(target: str | Path) -> Iterator[None]:
    """Turn an OSError about writing `target` into an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(f"this cannot be written ({error.strerror})", path=target,
                         remedy="choose a place that you may write to") from None


def check_file(path: str | Path) -> None:
    """Raise InputError unless whole_file could write `path` now; the check leaves nothing behind."""
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
    """Raise InputError unless a file or folder with this name, and PATH.partial, could be made now in the existing
    folder. A link with that name is not followed. The check leaves nothing behind."""
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
    """Raise InputError, OSError if an existing file cannot be replaced: another user's file in a folder with the sticky
    bit, such as /tmp."""
    status, folder = status_of(target), os.stat(target.absolute().parent)
    user = os.geteuid()
    if status is not None and folder.st_mode & stat.S_ISVTX and user not in (0, status.st_uid, folder.st_uid):
        raise InputError("this belongs to another user, and its folder does not let you replace it", path=target,
                         remedy="choose another place")


def check_folder(path: str | Path) -> None:
    """Raise InputError unless files could be made in the folder `path` now, or the folder and its missing parents could
    be made. The check leaves nothing behind."""
    with _refusing(path):
        followed(path)
        target = Path(path).absolute()
        there = next(folder for folder in (target, *target.parents) if os.path.lexists(folder))
        if not there.is_dir():
            what = "this" if there == target else str(there)
            raise InputError(f"{what} is no folder", path=path, remedy="choose another place")
        _try_in(there)


def check_above(path: str | Path) -> None:
    """Raise InputError unless the folder of `path` passes check_folder."""
    check_folder(Path(path).absolute().parent)


def check_scratch(path: str | Path) -> None:
    """Raise InputError unless `path` is a folder in which files can be made now."""
    if not Path(path).is_dir():
        raise InputError("the scratch folder does not exist", path=path, remedy="make it first")
    check_folder(path)


def _as_it_is(target: Path) -> bool:
    """Whether the target exists and is not a regular file."""
    status = status_of(target)
    return status is not None and not stat.S_ISREG(status.st_mode)


def user_of(folder: Path) -> int:
    """The owner of a file that this process makes in the folder: a file system may map users of another machine, or
    root, to other numbers. Raises OSError."""
    import tempfile

    with tempfile.TemporaryFile(dir=folder) as file:
        return os.fstat(file.fileno()).st_uid


def _try_in(folder: Path) -> None:
    """Make a file in the folder that has no name or loses it at once. Raises OSError."""
    user_of(folder)
