"""Links to files that are written: only links of this user and of root are followed.

In a folder where any user may make files, such as /tmp, another user can put a link in the place of a file that is
about to be written, so that the link's target is overwritten. The kernel forbids that only if fs.protected_symlinks is
on; and it does not see links that a program follows itself.
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
    """Whether the file belongs to a user other than this one and root."""
    return status.st_uid not in (os.geteuid(), 0)


def open_to_all(folder: Path) -> bool:
    """Whether any user may make files in the folder. Raises OSError."""
    return bool(os.stat(folder).st_mode & stat.S_IWOTH)


def followed(path: str | Path) -> Path:
    """The place that a path leads to: links in its last part are followed, if they belong to this user or to root.

    A link of the kernel, such as the target of /dev/stdout, is returned itself, since its target may have no name.

    Parameters
    ----------
    path : of a file or folder, which need not exist.

    Returns
    -------
    Path : not a link, or one of the kernel.

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
    """Raise PermissionError if a parent folder is another user's link in a place where any user may make one."""
    for folder in place.absolute().parents:
        status = status_of(folder)
        if status is not None and stat.S_ISLNK(status.st_mode) and of_another(status) and open_to_all(folder.parent):
            raise PermissionError(errno.EACCES, _LINK, str(folder))


def status_of(place: Path) -> os.stat_result | None:
    """The status of the place itself, even if it is a link; None if it does not exist. Raises OSError."""
    try:
        return os.lstat(place)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _kernel_device() -> int:
    """The device of the kernel's links for open files; -1 if there are none."""
    try:
        return os.stat(_OPEN_FILES).st_dev
    except OSError:  # no /proc
        return -1
