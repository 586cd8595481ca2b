"""Single passes over all arcs that compare what both ends have: values go along arcs, by ranges of heads.

I/O: every block once, and every arc (half of them, where both directions say the same) through buckets.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..jit import kernel
from ..progress import Tick, no_tick
from ..traverse.columns import Column
from .disk import Disk
from .rows import pieces
from .takers import Fold


def all_values(disk: Disk, column: Column) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All vertices with their values (uint32), as Rows.send takes them."""
    for start, stop in pieces(disk.n):
        yield np.arange(start, stop), column.part(start, stop).astype(np.uint32)


def steep_arcs(disk: Disk, column: Column, tick: Tick = no_tick) -> int:
    """Arcs whose ends differ by more than 1 in `column` (both unreached is level)."""
    steep = 0

    def count(*pairs: Any) -> None:
        nonlocal steep
        steep += int(count_steep(*pairs))

    met = Fold(lambda first, stop: column.part(first, stop).astype(np.uint32), count)
    disk.rows.bring(all_values(disk, column), disk.buckets(met, 4, np.uint32), up=True, tick=tick)
    return 2 * steep


@kernel
def count_steep(part, first, keys, values):
    """How many values[i] differ by more than 1 from part[keys[i] - first]."""
    count = 0
    for i in range(len(keys)):
        if abs(np.int64(values[i]) - np.int64(part[np.int64(keys[i]) - first])) > 1:
            count += 1
    return count
