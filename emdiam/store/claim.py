"""Claiming NAME.partial: one writer at a time, stale leftovers removed, live ones never.

The claim is a lock on the folder itself, held by an open file descriptor: it ends with the
process, however that ends, so that what a killed conversion leaves can be told from one at work.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from ..durable import lock_folder
from ..errors import InputError


def is_unfinished_store(partial: Path) -> bool:
    """Whether the folder is a store under way: it is empty, or has the metadata of one."""
    return (partial / "zarr.json").is_file() or not any(partial.iterdir())


def remove_stale(partial: Path, ours: Callable[[Path], bool] = is_unfinished_store) -> None:
    """Remove what a killed conversion has left under this name, and nothing else. ours : whether a folder is that.

    Raises InputError if another process is writing it, or if it is something else.
    """
    if not partial.exists() and not partial.is_symlink():
        return
    if partial.is_symlink() or not partial.is_dir() or not ours(partial):
        raise InputError("this is in the way and is not an unfinished store", path=partial,
                         remedy="move it away or choose another name for the store")
    handle = claim(partial)
    try:
        shutil.rmtree(partial)
    finally:
        os.close(handle)


def claim(partial: Path) -> int:
    """Lock the folder of a store for this process, see lock_folder. Raises InputError if another one has it."""
    return lock_folder(partial, "another conversion is writing this store now", "wait for it or choose another name")
