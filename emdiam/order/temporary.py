"""A place for a reordered store that lasts as long as one run.

It is a folder of its own among the temporary files, with the claim of this process (store/writer.py). It is removed
whatever ends the run; what `kill -9` leaves is removed by the next run that makes one there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..durable import check_scratch
from ..errors import InputError
from ..sorting.scratch import MEMORY_FILE_SYSTEMS, disk_faults_are_said, file_system
from ..store.layout import PARTIAL_SUFFIX
from ..store.place import claim, remove_stale
from ..units import scratch_folder

_PREFIX, _STORE = "emdiam-reordered-", "graph.zarr"


def checked_folder(scratch: Path | None) -> Path:
    """The folder for temporary files, `scratch` if it is named. Raises InputError if it is missing, not writable, or in
    memory though nobody named it."""
    folder = Path(scratch_folder(scratch))
    check_scratch(folder)
    if scratch is None and file_system(folder) in MEMORY_FILE_SYSTEMS:
        raise InputError("the folder for temporary files is in memory, where a store would be beside --memory",
                         path=folder, remedy="name one on disk with --scratch DIR or TMPDIR")
    return folder


@contextmanager
def temporary_store(folder: Path) -> Iterator[Path]:
    """The path of a store to be written; it is removed at the end. Raises InputError, BudgetError."""
    _remove_left(folder)
    with disk_faults_are_said(folder, "the reordered store"):
        place = Path(tempfile.mkdtemp(PARTIAL_SUFFIX, _PREFIX, folder))
    handle = claim(place)
    try:
        yield place / _STORE
    finally:
        try:
            shutil.rmtree(place)
        finally:
            os.close(handle)


def _remove_left(folder: Path) -> None:
    """Remove what runs that were killed have left in the folder."""
    for place in folder.glob(f"{_PREFIX}*{PARTIAL_SUFFIX}"):
        try:
            remove_stale(place, _is_place)
        except (InputError, OSError):
            continue  # of a run at work, of another user, or something else of that name


def _is_place(folder: Path) -> bool:
    """Whether there is a store in it, under way or whole, and nothing else."""
    # An empty folder may be claimed any moment.
    return {path.name for path in folder.iterdir()} in ({_STORE}, {_STORE + PARTIAL_SUFFIX})
