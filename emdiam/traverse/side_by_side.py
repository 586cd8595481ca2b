"""BFS from several sources at once, one thread each, if all rows are in memory in order and distances are long.

If distances are long, levels are thin: threads that share a level wait for each other, and sources of a multi-source
BFS have few levels in common. So each thread has its own source, and a circular queue for two levels. If these do not
fit, the BFS must be done in another way.
Work: each row is scanned once. Vertices are queued without a branch, since it cannot be predicted which arc is the
first to meet a vertex. Bytes a vertex: none beside the distances; a queue for each thread, n / 128 ids.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from ..jit import kernel
from ..progress import Tick, no_tick
from . import uncompiled
from .atomics import prefetch
from .bfs_whole import WholeLevels
from .columns import Column
from .core import Core

TOO_LONG, TOO_WIDE = -1, -2  # a distance does not fit the column; two levels do not fit the queue
# Distances are long with more levels than this, or than LEVELS_APART times arcs and vertices a vertex: below, the
# sources of a multi-source BFS have more levels in common. Measured for 64 sources: a BFS on one thread takes 3 ns an
# arc and vertex, a batch 50 ns a vertex and level (from social graphs of 5 levels to meshes of 87).
LONG, LEVELS_APART = 64, 4
# Sources whose distances are kept at the same time.
MOST_APART = 16


@kernel(uncompiled=uncompiled.queued_bfs)
def queued_bfs(ids, starts, source, distances, queue, out):
    """Distances from `source`, unsigned[n], unreached at first. queue : id[power of two]. out : int64[2] = the
    eccentricity, or TOO_LONG or TOO_WIDE; arcs read."""
    none = distances.dtype.type(np.iinfo(distances.dtype).max)
    mask, level = np.int64(len(queue) - 1), np.int64(0)
    head, tail = np.int64(0), np.int64(1)
    queue[0] = source
    distances[source] = 0
    while head < tail:
        level += 1
        first, last = head, tail
        new = distances.dtype.type(level)
        v = np.int64(queue[head & mask])
        p, end = np.int64(starts[v]), np.int64(starts[v + 1])
        while head < last:
            begin, stop = p, end
            if tail - first + (stop - begin) > mask:
                out[0] = TOO_WIDE
                return
            head += 1
            if head < last:  # the next row is found before this one is visited
                v = np.int64(queue[head & mask])
                p, end = np.int64(starts[v]), np.int64(starts[v + 1])
                prefetch(ids, p)
            for q in range(begin, stop):
                w = np.int64(ids[q])
                known = distances[w]
                queue[tail & mask] = w
                tail += np.int64(known == none)
                distances[w] = min(known, new)
            out[1] += stop - begin
        if tail > last and new == none:
            out[0] = TOO_LONG
            return
        for i in range(last, tail):
            prefetch(ids, np.int64(starts[np.int64(queue[i & mask])]))
    out[0] = level - 1


def pays(levels: int, n_vertices: int, n_arcs: int) -> bool:
    """Whether sources are best traversed on one thread each, if a BFS has this number of levels."""
    return levels > min(LONG, LEVELS_APART * (n_arcs + n_vertices) // max(1, n_vertices))


class SideBySide:
    """BFS from some sources: call `run`, which returns the eccentricities.

    columns : for the distances, unreached, one a source. wide : numbers of the sources that must be done in another
    way, whose columns are unreached."""

    def __init__(self, core: Core, sources: Sequence[int], columns: Sequence[Column]) -> None:
        self._core, self._columns, self._sources = core, columns, sources
        self._left, self._lock, self._stopped = iter(range(len(sources))), threading.Lock(), False
        self._size = 1 << (core.work.capacity.bit_length() - 1)
        self._found = np.zeros((len(sources), 2), np.int64)
        self.wide: list[int] = []

    @staticmethod
    def possible(core: Core) -> bool:
        """Whether all rows are in memory in order, and edges have no directions."""
        return WholeLevels.possible(core) and core.turned is None

    def run(self, tick: Tick = no_tick) -> np.ndarray:
        """The eccentricities, int64[k], 0 for those in `wide`. Raises OverflowError when a distance does not fit the
        columns."""
        found, columns = self._found, self._columns
        self._core.everywhere(lambda: self._work(tick), len(self._sources), self._stop, helpers=True)
        if (found[:, 0] == TOO_LONG).any():
            raise OverflowError(f"a distance does not fit a column of {columns[0].dtype}")
        self.wide = np.flatnonzero(found[:, 0] == TOO_WIDE).tolist()
        for number in self.wide:
            columns[number].clear()
        done = len(columns) - len(self.wide)
        self._core.counters.add(traversals=done, levels=int(found[:, 0].sum()) + len(columns),
                                edges_scanned=int(found[:, 1].sum()))
        return np.maximum(found[:, 0], 0)

    def _work(self, tick: Tick) -> None:
        rows = self._core.plain_rows
        assert rows is not None
        queue = np.empty(self._size, self._core.work.queues.dtype)
        while (number := self._next()) is not None:
            queued_bfs(rows[0], rows[1], self._sources[number], self._columns[number].raw(), queue, self._found[number])
            if threading.current_thread() is threading.main_thread():
                tick()

    def _stop(self) -> None:
        self._stopped = True

    def _next(self) -> int | None:
        with self._lock:
            return None if self._stopped else next(self._left, None)
