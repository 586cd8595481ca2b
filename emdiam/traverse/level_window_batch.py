"""Windows of levels of many sources at once: traversals of several sources that share the blocks they load.

Each source has labels and waiting vertices of its own (level_windows.py); all go through the same windows of
levels, and a block that is loaded serves every source that waits in it. So k thin traversals read
one or two stores a window together, where bit-parallel levels (multi.py) would touch every block in every level.
Work: that of k traversals, on all threads. Bytes a vertex: k (itemsize of the columns + 1/8), 0.44 for queues.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from ..stream.pager import Tick
from .columns import Column
from .core import Core
from .level_growth import NOTHING, grow, place_groups, waiting_keys
from .level_windows import Rounds, first_width, new_places, next_width
from .workspace import set_bits, thin_capacity

MAX_WINDOW_SOURCES = 32
# Of an entry of a queue: in two queues and among the seeds, and while those are put in order.
_ENTRY_BYTES = 3 * 8 + 16


def window_batch_bytes(n_vertices: int, n_blocks: int, k: int) -> int:
    """Bytes of a batch of k sources beside their columns, at most."""
    return k * (n_vertices // 8 + 8 + 8 * n_blocks) + _ENTRY_BYTES * thin_capacity(n_vertices)


class LevelWindowBatch:
    """A batch in slices: call `step` until it is True; then every column holds distances.

    Parameters
    ----------
    core : the engine's core. sources : at most MAX_WINDOW_SOURCES vertices. columns : one unreached Column
    a source. Raises OverflowError (from step) if a distance does not fit.
    """

    def __init__(self, core: Core, sources: Sequence[int], columns: Sequence[Column]) -> None:
        self._core, self._columns = core, columns
        n_words = len(core.work.visited)
        self._active = np.zeros((len(sources), n_words), np.uint64)
        self._keys = np.full((len(sources), core.table.n_blocks), NOTHING, np.int64)
        for i, source in enumerate(sources):
            columns[i].put([source], 0)
            if not core.table.isolated[source >> 6] >> np.uint64(source & 63) & np.uint64(1):
                set_bits(self._active[i], np.array([source]), 1)
                waiting_keys(self._active[i], columns[i].raw(), core.table.shift, *core.offsets, self._keys[i])
        capacity = min(core.work.capacity, thin_capacity(core.table.n_vertices))
        self._capacity = capacity = max(1, capacity // core.threads.compute)
        self._room = [(np.empty((2, capacity), core.work.queues.dtype), np.empty(capacity, core.work.queues.dtype))
                      for _ in range(core.threads.compute)]
        self._width, self._window, self.level = first_width(core, 0), 0, 0
        self._limit = columns[0].unreached - 1
        self._rounds, self._places = Rounds(core, self._grow_all, beside=False), new_places(core)

    def step(self, tick: Tick | None = None) -> bool:
        """One round of blocks for all sources; True when nothing waits."""
        core = self._core
        keys = self._keys.min(axis=0)
        lowest = int(keys.min())
        if lowest == NOTHING:
            core.counters.add(levels=self.level)
            return True
        if lowest >= self._window:
            if lowest >= self._limit:
                raise OverflowError(f"a distance of {lowest} or more does not fit a column of"
                                    f" {self._columns[0].dtype}")
            self.level = lowest
            self._window = min(self._limit, lowest + self._width)
            self._width = next_width(self._width)
        self._rounds.step(keys, self._window, tick)
        return False

    def _grow_all(self, blocks: np.ndarray) -> int:
        core, lock = self._core, threading.Lock()
        left, rooms = list(range(len(self._columns))), list(self._room)
        bounds, (place, placed) = np.array([self._window, self._capacity]), self._places
        place_groups(core.pager.arena.slot_of, core.layout, place, placed)

        def run() -> int:
            arcs = 0
            with lock:
                queues, seeds = rooms.pop()
            while True:
                with lock:
                    if not left:
                        break
                    i = left.pop()
                mine = blocks[self._keys[i, blocks] < self._window]
                if len(mine):
                    arcs += int(grow(core.paging, core.layout, place, self._columns[i].raw(), self._active[i],
                                     self._keys[i], mine, queues, seeds, bounds))
            core.counters.add(edges_scanned=arcs)
            return arcs

        return sum(core.everywhere(run))
