"""Windows of levels: several levels of a BFS at once, block by block, if the frontier outgrows the arena.

On a graph of high diameter whose ids are local, a frontier is thin but crosses more blocks than the
arena holds. Level by level, every block would be read again for each level that passes through it.
In a window of levels [L, W), blocks are taken in the order of the smallest label that waits in them,
a part of the arena at a time; inside resident blocks labels grow up to W at once. A label may be too
large at first; it is corrected when a shorter path arrives through another block (label-correcting,
as in Delta-stepping). When no label below W waits, every label up to W is a distance: each is the
length of a path, and along a shortest path every vertex was expanded with its final label. So a
block is read about once a window, not once a level.
Work: rows whose label was corrected are scanned again. Bytes a vertex: none beside the traversal's;
12 a block. Source: Meyer and Sanders, Delta-stepping (2003), over blocks in place of vertices.

Many sources at once (LevelWindowBatch): each has its labels and waiting vertices. All go through the same windows of
levels, and a loaded block serves every source that waits in it. So k thin traversals read the store once or twice a
window together, while bit-parallel levels (multi.py) would touch every block in every level.
Work: that of k traversals, on all threads. Bytes a vertex: k (itemsize of the columns + 1/8), 0.44 for queues.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..jit import kernel
from ..progress import Tick, no_tick
from ..stream.offsets import row_length
from .atomics import count_trailing_zeros
from .columns import Column
from .core import Core
from .level_growth import NOTHING, grow, place_and_grow, place_groups, waiting_keys
from .workspace import (
    ARCS,
    COUNT,
    CURRENT,
    FARTHEST,
    LEVEL,
    NEXT,
    PROFILE,
    REACHED,
    count_labels,
    set_bits,
    thin_capacity,
)

if TYPE_CHECKING:
    from .bfs import BfsRun, Learned, Mode

# Levels of a window. While the number of levels is unknown, the first window of a BFS has NARROWEST, and windows double
# up to WIDEST. Once a BFS has counted its levels, or this one has passed that number, a window has a share of them: 1 /
# SHARE at first, twice that after a BFS that has scanned few arcs again, half after one that has scanned many
# (_FEW, _MANY: as shares of all arcs).
NARROWEST, WIDEST, SHARE = 4, 64, 4
_FEW, _MANY = 1 / 8, 1 / 4
# A round loads a part of the arena, and at least _LEAST_IDS ids, since a round costs about 0.1 ms in any case.
_PART, _LEAST_IDS = 4, 1 << 17
_NONE = np.empty(0, np.int64)


class LevelWindows:
    """Levels of few arcs in more blocks than the arena holds: by labels, one round of blocks a step. See BfsRun. It
    reaches all vertices; waiting vertices are the set bits of core.work.frontier."""

    def __init__(self, run: BfsRun) -> None:
        self._run = run

    @staticmethod
    def possible(core: Core) -> bool:
        """Whether the arena has room for other rows beside the longest."""
        return (core.longest_row >> core.table.shift) + 2 <= core.pager.arena.n_slots // 2

    def enter(self) -> bool:
        """Continue here from queues, if windows are possible and the frontier is thin; returns whether it does."""
        run, core, work = self._run, self._run.core, self._run.core.work
        state = work.state
        queue, found = work.queues[state[CURRENT], : state[COUNT]], int(state[NEXT])
        if len(run.distances) == 0 or len(run.targets) or run.profile or run.bounded or not self.possible(core):
            return False
        if core.sum_degrees(queue) > core.table.n_arcs * core.thin_share:
            return False
        work.frontier_from_queue()
        set_bits(work.frontier, work.queues[1 - state[CURRENT]], found)
        run.used.add(LevelWindows)
        self.begin()
        return True

    def begin(self) -> Mode:
        """Continue from labels and waiting vertices, all of the last level or above."""
        run, core = self._run, self._run.core
        self._arcs, self._is_open, self._window = 0, False, run.level
        self._width = first_width(run.learned, run.level)
        self._rounds, self._places = Rounds(core, self._grow), new_places(core)
        self._keys = np.full(core.table.n_blocks, NOTHING, np.int64)
        waiting_keys(core.work.frontier, run.distances, core.table.shift, *core.offsets, self._keys)
        return self

    def step(self, tick: Tick = no_tick) -> Mode | None:
        """Do a round of blocks, or end a window."""
        limit = self._run.level_limit
        lowest = int(self._keys.min(initial=NOTHING))
        if self._window <= lowest < limit and not self._is_open:
            self._is_open, self._window = True, min(limit, lowest + self._width)
            self._width = next_width(self._width)
        if lowest >= self._window:
            self._is_open = False
            return self._end_window(lowest, limit)
        self._rounds.step(self._keys, self._window, tick)
        return self

    def _end_window(self, lowest: int, limit: int) -> Mode | None:
        """End a window: no label below it waits. lowest : the smallest label that waits, or NOTHING."""
        run, core, level = self._run, self._run.core, self._run.level
        if lowest >= limit:
            self._leave()
            core.counters.add(levels=run.level - level + int(lowest == NOTHING))
            if lowest == NOTHING:
                return run.end(True)
            return run.end(False) if run.at_limit() else self.begin()
        core.work.state[LEVEL] = lowest
        core.counters.add(levels=lowest - level)
        vertices, arcs = waiting_arcs(core.work.frontier, *core.offsets)
        if arcs <= core.table.n_arcs * core.thin_share:
            return self
        self._leave()
        np.copyto(core.work.before, core.work.visited)
        run.front.vertices, run.front.arcs = vertices, arcs
        run.front.visited_arcs += arcs
        return run.dense

    def _leave(self) -> None:
        """Set the state of the BFS from the labels."""
        run, state = self._run, self._run.core.work.state
        reached, level, farthest = labelled(run.distances, run.core.work.visited)
        state[REACHED], state[LEVEL], state[FARTHEST] = reached, level, farthest
        state[ARCS] += self._arcs
        count_labels(run.distances, np.iinfo(run.distances.dtype).max, level, state, PROFILE)
        run.front.visited_arcs += self._arcs

    def _grow(self, blocks: np.ndarray) -> int:
        core, work = self._run.core, self._run.core.work
        begin = time.thread_time()
        bounds = np.array([self._window, work.capacity])
        arcs = int(place_and_grow(core.paging, core.layout, self._places, self._run.distances, work.frontier,
                                  self._keys, blocks, work.queues, work.missed_v, bounds))
        self._arcs += arcs
        core.counters.add(edges_scanned=arcs, kernel_cpu_seconds=time.thread_time() - begin)
        return arcs

def share_of(levels: int, share: int = SHARE) -> int:
    """Levels of a window for a BFS of `levels` levels."""
    return max(NARROWEST, levels // share)


def next_share(share: int, again: float) -> int:
    """The share of the next BFS (a window has 1 / share of all levels) after a BFS in windows of 1 / `share`. again :
    arcs that this BFS has scanned again, divided by all arcs."""
    return max(1, share // 2) if again <= _FEW else min(SHARE, 2 * share) if again > _MANY else share


def first_width(learned: Learned, level: int) -> int:
    """Levels of the first window, which begins at `level`."""
    return share_of(max(learned.window_levels, level), learned.window_share)


def next_width(width: int) -> int:
    """Levels of the window after one of `width` levels."""
    return max(width, min(WIDEST, 2 * width))


def windows_for(levels: int) -> int:
    """Number of windows for `levels` levels, after a BFS with the same number of levels."""
    return -(-levels // share_of(levels))


def lowest(keys: np.ndarray, blocks: np.ndarray, most: int) -> np.ndarray:
    """The at most `most` of `blocks` (int64[k], ascending) with the lowest keys, ascending."""
    return np.sort(blocks[np.argsort(keys[blocks], kind="stable")[:most]])


def new_places(core: Core) -> tuple[np.ndarray, np.ndarray]:
    """Empty (place, placed) for place_groups. place uses memory of the workspace."""
    place = core.work.before.view(np.int64)
    place.fill(-1)
    return place, np.full(core.table.n_blocks, -1, np.int32)


class Rounds:
    """Rounds of blocks in windows: waiting vertices in resident blocks are expanded, and the other blocks with the
    lowest labels are loaded, at the same time if there are enough.

    grow(blocks) expands waiting vertices in resident blocks, int64[k] ascending, and returns arcs scanned. beside :
    whether it may run while blocks are loaded.
    """

    def __init__(self, core: Core, grow: Callable[[np.ndarray], int], beside: bool = True) -> None:
        self._core, self._grow, self._may_overlap = core, grow, beside
        self._idle = 0  # successive rounds without an arc

    def step(self, keys: np.ndarray, window: int, tick: Tick) -> None:
        """Do a round. keys : int64[n_blocks], the lowest label that waits in each block; some are below `window`."""
        pager, shift = self._core.pager, self._core.table.shift
        n_slots, due = pager.arena.n_slots, np.flatnonzero(keys < window)
        part, least = n_slots // _PART, -(-_LEAST_IDS >> shift)
        if self._idle > 1:
            # Rows span several blocks, not all of which are resident. The blocks of the lowest label fit together.
            pager.settle(tick)
            self._idle = 0
            self._grow(pager.load(lowest(keys, due, n_slots), tick))
        elif self._may_overlap and part >= least:
            self._grow_beside(keys, due, max(part // 2, least), tick)
        else:
            here = pager.arena.resident(due)
            ahead = lowest(keys, due[~here], max(1, part, min(least, n_slots // 2)))
            now = lowest(keys, due[here], n_slots - len(ahead))
            arcs = self._grow(pager.load(np.sort(np.concatenate([now, ahead])), tick))
            self._idle = 0 if arcs else 2

    def _grow_beside(self, keys: np.ndarray, due: np.ndarray, part: int, tick: Tick) -> None:
        """A round that begins to load `part` blocks at its start, and waits at its end for those of the last round."""
        pager = self._core.pager
        coming = np.concatenate([_NONE, *(loading.blocks for loading in pager.on_way)])
        here = pager.arena.resident(due)
        ahead = lowest(keys, np.setdiff1d(due[~here], coming, assume_unique=True), part)
        now = lowest(keys, due[here], pager.arena.n_slots - len(ahead) - len(coming))
        pager.arena.touch(now)
        if len(ahead):
            pager.begin_load(ahead, now)
        arcs = self._grow(now)
        if len(coming) or (arcs == 0 and len(ahead)):
            pager.on_way[0].wait(tick)
        self._idle = 0 if arcs or not len(now) else self._idle + 1


@kernel
def waiting_arcs(active, group, row, hub):
    """(vertices, arcs of their rows) of a bitmap."""
    count = 0
    arcs = 0
    for word in range(len(active)):
        bits = active[word]
        while bits:
            v = (word << 6) + count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            count += 1
            arcs += row_length((group, row, hub), v)
    return count, arcs


@kernel
def labelled(dist, visited):
    """Add the vertices with a label to the bitmap `visited`; returns (their number, largest label, smallest vertex with
    the largest label)."""
    none = np.int64(np.iinfo(dist.dtype).max)
    count = 0
    level = np.int64(-1)
    farthest = np.int64(-1)
    for v in range(len(dist)):
        label = np.int64(dist[v])
        if label != none:
            visited[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
            count += 1
            if label > level:
                level = label
                farthest = v
    return count, level, farthest


MAX_WINDOW_SOURCES = 32
# Bytes of a queue entry: in two queues and among the seeds, and while these are sorted.
_ENTRY_BYTES = 3 * 8 + 16


def window_batch_bytes(n_vertices: int, n_blocks: int, k: int) -> int:
    """Bytes of a batch of k sources beside their columns, at most."""
    return k * (n_vertices // 8 + 8 + 8 * n_blocks) + _ENTRY_BYTES * thin_capacity(n_vertices)


class LevelWindowBatch:
    """A batch in slices: call `step` until it is True; then every column has distances.

    Parameters
    ----------
    core : the engine's core. sources : at most MAX_WINDOW_SOURCES vertices. columns : one unreached Column
    a source. learned : from single BFS. Raises OverflowError (from step) if a distance does not fit.
    """

    def __init__(self, core: Core, sources: Sequence[int], columns: Sequence[Column],
                 learned: Learned) -> None:
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
        self._width, self._window, self.level = first_width(learned, 0), 0, 0
        self._limit = columns[0].unreached - 1
        self._rounds, self._places = Rounds(core, self._grow_all, beside=False), new_places(core)

    def step(self, tick: Tick = no_tick) -> bool:
        """Do one round of blocks for all sources; True when no vertex waits."""
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
