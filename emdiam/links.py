"""Which links are followed to a place that is written: those of this user and of root.

In a folder where any user may make files, as /tmp, another user can put a link in the place of a file that is about to
be written, so that the file that it leads to is overwritten. The kernel forbids that where fs.protected_symlinks is on,
which it is not everywhere; and a link that a program follows by itself is not seen by the kernel.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_MOST_LINKS = 40
_LINK = "a link of another user is in the way"
_OPEN_FILES = "/proc/self/fd"


def of_another(status: os.stat_result) -> bool:
    """Whether it belongs to a user other than this one and root."""
    return status.st_uid not in (os.geteuid(), 0)


def open_to_all(folder: Path) -> bool:
    """Whether any user may make files in it. Raises OSError."""
    return bool(os.stat(folder).st_mode & stat.S_IWOTH)


def followed(path: str | Path) -> Path:
    """The place that a path leads to: links in its last part are followed, if they belong to this user or to root.

    A link of the kernel, as /dev/stdout leads to one, is the place itself: what it leads to may have no name.

    Parameters
    ----------
    path : to a file or folder, which need not exist.

    Returns
    -------
    Path : no link, or one of the kernel.

    Raises
    ------
    OSError : PermissionError for a link of another user; also for one above the last part, if any user may make files
        beside it.
    """
    place = Path(path)
    for _ in range(_MOST_LINKS):
        _check_above(place)
        status = status_of(place)
        if status is None or not stat.S_ISLNK(status.st_mode) or status.st_dev == _kernel_device():
            return place
        if of_another(status):
            raise PermissionError(errno.EACCES, _LINK, str(place))
        place = place.parent / os.readlink(place)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _check_above(place: Path) -> None:
    """Raises PermissionError for a folder of the path that is a link of another user where any user may make one."""
    for folder in place.absolute().parents:
        status = status_of(folder)
        if status is not None and stat.S_ISLNK(status.st_mode) and of_another(status) and open_to_all(folder.parent):
            raise PermissionError(errno.EACCES, _LINK, str(folder))


def status_of(place: Path) -> os.stat_result | None:
    """Of the place itself, if it is a link; None if nothing is there. Raises OSError."""
    try:
        return os.lstat(place)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _kernel_device() -> int:
    """The device of links that the kernel makes for open files; -1 where there are none."""
    try:
        return os.stat(_OPEN_FILES).st_dev
    except OSError:  # no /proc
        return -1
