"""Single passes over all arcs that compare what both ends have: values go along arcs, by ranges of heads.

I/O: every block once, and every arc (half of them, where both directions say the same) through buckets.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..jit import kernel
from ..stream.pager import Tick
from ..traverse.columns import Column
from .buckets import Taker
from .disk import Disk
from .rows import PIECE


def all_values(disk: Disk, column: Column) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All vertices with their values (uint32), as Rows.send takes them."""
    for start in range(0, disk.n, PIECE):
        values = column.part(start, start + PIECE).astype(np.uint32)
        yield np.arange(start, start + len(values)), values


class _Steep(Taker):
    """Counts values that are more than 1 from that of the vertex that they came to."""

    def __init__(self, column: Column) -> None:
        self.count = 0
        self._column, self._first, self._part = column, 0, np.empty(0, np.uint32)

    def begin(self, first: int, stop: int) -> None:
        """See Taker."""
        self._first, self._part = first, self._column.part(first, stop).astype(np.uint32)

    def take(self, keys: np.ndarray, values: np.ndarray) -> None:
        """See Taker."""
        self.count += int(count_steep(self._part, self._first, keys, values))

    def end(self) -> None:
        """See Taker."""


def steep_arcs(disk: Disk, column: Column, tick: Tick | None = None) -> int:
    """Arcs whose ends differ by more than 1 in `column` (both unreached is level)."""
    steep = _Steep(column)
    buckets = disk.buckets(steep, 4, np.uint32)
    disk.rows.send(all_values(disk, column), buckets, up=True, tick=tick)
    buckets.finish()
    disk.rows.counters.add(passes=1)
    return 2 * steep.count


@kernel
def count_steep(part, first, keys, values):  # type: ignore[no-untyped-def]
    """How many values[i] differ by more than 1 from part[keys[i] - first]."""
    count = 0
    for i in range(len(keys)):
        if abs(np.int64(values[i]) - np.int64(part[np.int64(keys[i]) - first])) > 1:
            count += 1
    return count
