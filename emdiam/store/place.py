"""The place where a store is made: NAME.partial, with one writer at a time, and its renaming to NAME.

A writer claims the folder by a lock on it through an open file descriptor. The lock ends when the process ends, however
that happens; so an abandoned conversion is distinguished from a running one. A link, or another user's folder, is never
taken for NAME.partial, nor for a store that NAME has replaced.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from itertools import count
from pathlib import Path

from ..durable import check_name, lock_folder, remove_folder, sync_path, user_of
from ..errors import InputError
from ..links import status_of
from .layout import PARTIAL_SUFFIX

_DELETING = ".deleting"
# Removed last: a folder that contains it is recognised as a store.
_LAST = "zarr.json"
# Suffixes of edge files, which suggest a mistake when a new store has them.
_FILES = frozenset((".csv", ".tsv", ".txt", ".gz", ".bz2", ".xz", ".zst", ".parquet", ".mtx", ".npz", ".json"))


def check_target(target: Path, force: bool | None) -> None:
    """Raise InputError if `target` exists and may not be replaced, or if nothing can be made in its folder. force :
    None: never replace it, as by a command without --force."""
    target = Path(target)
    if target.name.endswith(PARTIAL_SUFFIX):
        raise InputError(f"names that end in {PARTIAL_SUFFIX} are those of unfinished stores", path=target,
                         remedy="choose another name")
    check_name(target)
    status = status_of(target)
    if status is None:
        if target.suffix.lower() in _FILES:
            raise InputError(f"a store is a folder, and {target.suffix} is the ending of a file", path=target,
                             remedy=f"name the store to write last, such as {target.stem}.zarr")
        return
    if not (target / _LAST).is_file():
        raise InputError("the target exists and is not a zarr store, so it is not replaced",
                         path=target, remedy="name the store to write, such as g.zarr")
    if not force:
        raise InputError("the target exists", path=target,
                         remedy="choose another name" + ("" if force is None else " or use --force"))
    if os.geteuid() != 0 and status.st_uid != user_of(target.absolute().parent):
        raise InputError("the target belongs to another user, so it is not replaced", path=target,
                         remedy="choose another name")


def is_unfinished_store(partial: Path) -> bool:
    """Whether the folder is an unfinished store: it has a store's metadata, or only files that zarr writes first."""
    return (partial / _LAST).is_file() or all(path.name.startswith("zarr.") for path in partial.iterdir())


def remove_stale(partial: Path, ours: Callable[[Path], bool] = is_unfinished_store) -> None:
    """Remove the leftover of a killed conversion with this name, and nothing else.

    ours : decides whether a folder is such a leftover. Raises InputError if another process is writing it, if it is
    something else, or if it belongs to another user.
    """
    status = status_of(partial)
    if status is None:
        return
    if status.st_uid != user_of(partial.absolute().parent):
        raise InputError("this is in the way and belongs to another user", path=partial,
                         remedy="choose another name for the store, or another folder")
    if not stat.S_ISDIR(status.st_mode) or not ours(partial):
        raise InputError("this is in the way and is not an unfinished store", path=partial,
                         remedy="move it away or choose another name for the store")
    handle = claim(partial)
    try:
        remove_folder(partial, _LAST)
    finally:
        os.close(handle)


def claim(partial: Path) -> int:
    """Lock the folder of a store for this process, see lock_folder. Raises InputError if another process has the lock,
    or if the folder was exchanged or belongs to another user."""
    handle = lock_folder(partial, "another conversion is writing this store now", "wait for it or choose another name",
                         os.O_NOFOLLOW)
    opened, named = os.fstat(handle), status_of(partial)
    if named is None or not os.path.samestat(opened, named) or opened.st_uid != user_of(partial.absolute().parent):
        os.close(handle)
        raise InputError("this is not the folder that was made here, or it belongs to another user", path=partial,
                         remedy="choose another name for the store, or another folder")
    return handle


def make_partial(partial: Path, ours: Callable[[Path], bool] = is_unfinished_store) -> int:
    """Remove a stale NAME.partial, make an empty one and claim it; see `remove_stale` and `claim`. Raises InputError,
    OSError."""
    remove_stale(partial, ours)
    partial.mkdir()
    return claim(partial)


def put_in_place(partial: Path, target: Path, force: bool) -> None:
    """Rename NAME.partial, whose content is synced, to its target. A store that it replaces gets another name, for
    `remove_replaced`. Raises InputError, OSError."""
    # The target may have been created meanwhile; only `force` allows to replace it.
    check_target(target, force)
    if os.path.lexists(target):
        names = (target.with_name(f"{target.name}.{number}{_DELETING}") for number in count(os.getpid()))
        os.rename(target, next(name for name in names if not os.path.lexists(name)))
    os.rename(partial, target)
    sync_path(target.absolute().parent)


def remove_replaced(target: Path) -> None:
    """Remove the stores that this one, and killed predecessors, have replaced: this user's folders that are stores, and
    links. Raises OSError."""
    replaced = re.compile(re.escape(target.name) + r"\.\d+" + re.escape(_DELETING))
    parent = target.absolute().parent
    for path in [one for one in parent.iterdir() if replaced.fullmatch(one.name)]:
        status = status_of(path)
        if status is None or (status.st_uid != user_of(parent) and os.geteuid() != 0):
            continue
        if stat.S_ISLNK(status.st_mode):
            path.unlink()
        elif stat.S_ISDIR(status.st_mode) and is_unfinished_store(path):
            remove_folder(path, _LAST)
