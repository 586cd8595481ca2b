"""Half-done traversals on disk: the newest two, each whole or not at all.

A file of frames with one record each: scalars and arrays of a run between two of its steps. A new one is
written under another name, lasts, and is renamed; only then the one before the last is removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from ..durable import sync_path
from .folder import HALF, Folder
from .frames import ForeignFrames, FrameFile
from .records import Record, RecordWriter, records

KEPT = 2


class Resumable(Protocol):
    """A run that can be put down between two steps, and be taken up by a new one of the same arguments."""

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Scalars (for JSON) and arrays, 1-D, which are views."""
        ...

    def restore(self, scalars: dict[str, Any], read: Any) -> None:
        """Take over what `state` gave. read(name, out=None) gives an array, into `out` if given."""
        ...


class Halves:
    """Half-done traversals of the run in `folder`. cut : a clause about one that was damaged, or None."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        files = folder.halves()
        self._serial = files[0][0] if files else 0
        self.cut: str | None = None

    def save(self, position: int, call: list[Any], counters: dict[str, float], run: Resumable) -> None:
        """Keep `run`, which belongs to verb number `position`, called so. counters : what it has cost so
        far. Raises OSError."""
        scalars, arrays = run.state()
        self._serial += 1
        path = self._folder.path / f"{HALF}{self._serial}"
        partial = path.with_name(path.name + ".partial")
        partial.unlink(missing_ok=True)
        file = FrameFile(partial, self._folder.owner)
        try:
            writer = RecordWriter(file)
            for name, values in arrays.items():
                writer.add(name, values)
            writer.commit({"position": position, "call": call, "scalars": scalars, "counters": counters})
        finally:
            file.close()
        os.replace(partial, path)
        sync_path(self._folder.path)
        for _, old in self._folder.halves()[KEPT:]:
            old.unlink()

    @contextmanager
    def newest(self, position: int, call: list[Any]) -> Iterator[Record | None]:
        """The newest whole one of verb number `position`, called so; None if there is none. It can be
        read inside the context."""
        for _, path in self._folder.halves():
            try:
                file = FrameFile(path, self._folder.owner)
            except ForeignFrames:
                self.cut = f"{path.name} is of another run"
                continue
            try:
                found = next(records(file), None)
                if found is None:
                    self.cut = f"{path.name} is damaged"
                elif [found.head["position"], found.head["call"]] == [position, call]:
                    yield found
                    return
            finally:
                file.close()
        yield None

    def forget(self) -> None:
        """Remove all: the verb that they belong to has ended."""
        for _, path in self._folder.halves():
            path.unlink()
