"""The frontier of a rank that has a device: levels of many arcs are done there.

Whatever a rank knows stays on its CPU, where others tell it of more; the device has the rows of the range
(gpu/range_rows.py). A level of few arcs, and searches without rounds for levels (async_bfs.py), are done by the CPU,
which takes less for them than bitmaps on their way.
"""

from __future__ import annotations

import time

import numpy as np

from ..gpu.range_rows import RangeRows
from ..traverse.core import Core
from .alltoall import OwnerExchange
from .frontier import NO_IDS, RankFrontier

# Arcs of a rank's rows from which a sparse level is worth the way to the device, and more for a word of a bitmap.
FEW_ARCS, WORD_ARCS = 1 << 16, 1


class DeviceFrontier(RankFrontier):
    """A RankFrontier with the rows of the range on a device, too."""

    def __init__(self, core: Core, alltoall: OwnerExchange, rows: RangeRows) -> None:
        self._rows = rows
        self._few_arcs = FEW_ARCS + WORD_ARCS * (core.table.n_vertices // 64)
        super().__init__(core, alltoall)

    def expand(self) -> tuple[np.ndarray, np.ndarray, int]:
        """See RankFrontier.expand."""
        if len(self.vertices) and self.sum_degrees(self.vertices) >= self._few_arcs:
            return self._sweep_down(self.vertices, NO_IDS, 0)
        return super().expand()

    def _sweep(self, up: bool) -> int:
        """See RankFrontier._sweep."""
        work, words, begin = self.core.work, self.words, time.thread_time()
        if up:
            new, arcs = self._rows.go_up(work.visited[words], work.frontier)
            work.visited[words] |= new
        else:
            arcs = self._rows.go_down(work.frontier[words], work.visited)
        self.core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
        return arcs
