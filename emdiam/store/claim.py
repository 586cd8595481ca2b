"""Claiming NAME.partial: one writer at a time, stale leftovers removed, live ones never.

The claim is a lock on the folder itself, held by an open file descriptor: it ends with the
process, however that ends, so that what a killed conversion leaves can be told from one at work.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

from ..errors import InputError


def remove_stale(partial: Path) -> None:
    """Remove what a killed conversion has left under this name, and nothing else.

    Raises InputError if another process is writing it, or if it is something else.
    """
    if not partial.exists() and not partial.is_symlink():
        return
    ours = partial.is_dir() and not partial.is_symlink()
    if not ours or not ((partial / "zarr.json").is_file() or not any(partial.iterdir())):
        raise InputError("this is in the way and is not an unfinished store", path=partial,
                         remedy="move it away or choose another name for the store")
    handle = claim(partial)
    try:
        shutil.rmtree(partial)
    finally:
        os.close(handle)


def claim(partial: Path) -> int:
    """Lock the folder for this process; the descriptor that holds the lock (close it to let go).

    Raises InputError if another process (or writer of this one) has it.
    """
    handle = os.open(partial, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if not isinstance(error, BlockingIOError):
            raise
        raise InputError("another conversion is writing this store now", path=partial,
                         remedy="wait for it or choose another name") from None
    return handle
