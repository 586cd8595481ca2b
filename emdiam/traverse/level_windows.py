"""Windows of levels: several levels of a BFS at once, block by block, when the frontier outgrows the arena.

On a graph of high diameter whose ids are local, a frontier is thin but crosses more blocks than the
arena holds, so that level by level every block would be read again for each level that passes
through it. In a window of levels [L, W) blocks are taken in order of the smallest label
that waits in them, a part of the arena at a time, and inside resident ones labels grow up to W at once. A
label may be too large at first and is corrected when a shorter way comes in through another block
(label-correcting, as in Delta-stepping). When nothing below W waits any more, every label up to W
is a distance: each is the length of a path, and along a shortest path every vertex was expanded
with its final label. So a block is read about once a window, not once a level.
Work: rows whose label was corrected are scanned again. Bytes a vertex: none beside the traversal's;
8 a block. Source: Meyer and Sanders, Delta-stepping (2003), over blocks in place of vertices.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from ..jit import inlined, kernel
from ..stream.offsets import row_length, row_span
from ..stream.pager import Tick
from .atomics import count_trailing_zeros
from .core import Core
from .rows import range_mask

NOTHING = np.int64(1) << 62
# Levels of a window: the first of a BFS, and up to which windows double, while nobody knows how many levels there are;
# and the share of all levels, once a BFS has counted them or this one has gone through as many.
NARROWEST, WIDEST, SHARE = 4, 64, 4
# A round brings a part of the arena, and at least so many ids, since a round costs about 0.1 ms whatever it brings.
_PART, _LEAST_IDS = 4, 1 << 17


class LevelWindows:
    """Waiting vertices are the set bits of core.work.frontier; call `step` until it is True, then
    look at `finished` (nothing waits) or `level` (all waiting vertices have it).

    Parameters
    ----------
    core : the engine's core. dist : unsigned[n], labels. level : smallest label that waits.
    """

    def __init__(self, core: Core, dist: np.ndarray, level: int) -> None:
        self._core, self._dist, self.level = core, dist, level
        self.finished = self._open = False
        self.arcs = 0
        self._width, self._window = first_width(core, level), level
        self._rounds = Rounds(core, self._grow)
        self._keys = np.full(core.table.n_blocks, NOTHING, np.int64)
        waiting_keys(core.work.frontier, dist, core.table.shift, *core.offsets, self._keys)

    @staticmethod
    def possible(core: Core) -> bool:
        """Whether the longest row leaves room for others in the arena."""
        return (core.longest_row >> core.table.shift) + 2 <= core.pager.arena.n_slots // 2

    def step(self, limit: int, tick: Tick | None = None) -> bool:
        """Take one round of blocks; True when a window is done, or nothing below `limit` waits. No
        label above `limit` is given."""
        keys = self._keys
        lowest = int(keys.min()) if len(keys) else int(NOTHING)
        if lowest == NOTHING:
            self.finished = True
            return True
        if lowest >= self._window:
            self.level = lowest
            if self._open or lowest >= limit:
                self._open = False
                return True
            self._open = True
            self._window = min(limit, lowest + self._width)
            self._width = next_width(self._width)
        self._rounds.step(keys, self._window, tick)
        return False

    def _grow(self, blocks: np.ndarray) -> int:
        core, work = self._core, self._core.work
        ids, slot_of, shift = core.paging
        begin = time.thread_time()
        bounds = np.array([self._window, work.capacity])
        arcs = int(grow(ids, slot_of, shift, *core.offsets, core.table.first_vertex, self._dist,
                        work.frontier, self._keys, blocks, work.queues, work.missed_v, bounds))
        self.arcs += arcs
        core.counters.add(edges_scanned=arcs, kernel_cpu_seconds=time.thread_time() - begin)
        return arcs


def share_of(levels: int) -> int:
    """Levels of a window where a BFS has so many."""
    return max(NARROWEST, levels // SHARE)


def first_width(core: Core, level: int) -> int:
    """Levels of the first window, which begins at `level`."""
    return share_of(max(core.thin, level))


def next_width(width: int) -> int:
    """Levels of the window after one of so many."""
    return max(width, min(WIDEST, 2 * width))


def windows_for(levels: int) -> int:
    """How many windows so many levels take, after a BFS of as many."""
    return -(-levels // share_of(levels))


def lowest(keys: np.ndarray, blocks: np.ndarray, most: int) -> np.ndarray:
    """At most so many of `blocks` (int64[k], ascending), those with the lowest keys, ascending."""
    return np.sort(blocks[np.argsort(keys[blocks], kind="stable")[:most]])


class Rounds:
    """Rounds of blocks in windows: what waits in resident blocks is expanded, and the others with the lowest labels are
    brought, at the same time where they are enough.

    grow(blocks) expands what waits in resident blocks, int64[k] ascending, and returns arcs scanned. beside : whether
    it may run while blocks come.
    """

    def __init__(self, core: Core, grow: Callable[[np.ndarray], int], beside: bool = True) -> None:
        self._core, self._grow_in, self._may_overlap = core, grow, beside
        self._arcs, self._stuck = 0, False

    def _grow(self, blocks: np.ndarray) -> None:
        self._arcs = self._grow_in(blocks)

    def step(self, keys: np.ndarray, window: int, tick: Tick | None) -> None:
        """One round. keys : int64[n_blocks], the lowest label that waits in each block; some are below `window`."""
        pager, shift = self._core.pager, self._core.table.shift
        n_slots, due = pager.arena.n_slots, np.flatnonzero(keys < window)
        if self._stuck:
            # Rows lie in several blocks, not all of them here. Those of the lowest label fit together.
            self._grow(pager.load(lowest(keys, due, n_slots), tick))
            self._stuck = False
            return
        part, least = n_slots // _PART, -(-_LEAST_IDS >> shift)
        here = pager.arena.resident(due)
        ahead = lowest(keys, due[~here], max(1, part, min(least, n_slots // 2)))
        now = lowest(keys, due[here], n_slots - len(ahead))
        if self._may_overlap and part >= least:
            pager.load(ahead, tick, partial(self._grow, now), now)
            self._stuck = self._arcs == 0 and len(now) > 0
        else:
            self._grow(pager.load(np.sort(np.concatenate([now, ahead])), tick))
            self._stuck = self._arcs == 0


@inlined
def _row_is_here(slot_of, start, end, shift):  # type: ignore[no-untyped-def]
    for block in range(start >> shift, ((end - 1) >> shift) + 1):
        if slot_of[block] < 0:
            return False
    return True


@inlined
def _wait(v, start, end, label, active, keys, shift):  # type: ignore[no-untyped-def]
    """Vertex v waits with `label` in every block of its row."""
    active[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    for block in range(start >> shift, ((end - 1) >> shift) + 1):
        keys[block] = min(keys[block], label)


@kernel
def waiting_keys(active, dist, shift, group, row, hub, keys):  # type: ignore[no-untyped-def]
    """keys[c] = smallest label of a waiting vertex with an arc in block c."""
    for word in range(len(active)):
        bits = active[word]
        while bits:
            v = (word << 6) + count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            start, end = row_span(group, row, hub, v)
            _wait(v, start, end, np.int64(dist[v]), active, keys, shift)


@kernel
def grow(ids, slot_of, shift, group, row, hub, first_vertex, dist, active, keys, blocks, queues, seeds,
         bounds):  # type: ignore[no-untyped-def]
    """Expand what waits in `blocks` (resident) below bounds[0], level by level, as far as rows are
    resident and queues (of bounds[1] entries) have room; the rest waits. Returns arcs scanned."""
    window = bounds[0]
    capacity = bounds[1]
    n_last = first_vertex[len(first_vertex) - 1] - 1
    count = 0
    for block in blocks:
        first = first_vertex[block]
        last = min(first_vertex[block + 1], n_last)
        lowest = NOTHING
        for word in range(first >> 6, (last >> 6) + 1):
            bits = active[word] & range_mask(word, first, last)
            while bits:
                v = (word << 6) + count_trailing_zeros(bits)
                bits &= bits - np.uint64(1)
                start, end = row_span(group, row, hub, v)
                label = np.int64(dist[v])
                if label < window and count < capacity and _row_is_here(slot_of, start, end, shift):
                    active[word] &= ~(np.uint64(1) << np.uint64(v & 63))
                    seeds[count] = v
                    count += 1
                elif start >> shift <= block <= (end - 1) >> shift:
                    lowest = min(lowest, label)
        keys[block] = lowest
    labels = np.empty(count, np.int64)
    for i in range(count):
        labels[i] = dist[seeds[i]]
    order = np.argsort(labels)
    taken = 0
    here = 0
    n_here = 0
    arcs = 0
    while taken < count or n_here:
        if n_here == 0:
            level = labels[order[taken]]
        there = 1 - here
        n_there = 0
        i = 0
        while i < n_here or (taken < count and labels[order[taken]] == level):
            if i < n_here:
                v = np.int64(queues[here, i])
                i += 1
            else:
                v = np.int64(seeds[order[taken]])
                taken += 1
            if np.int64(dist[v]) != level:
                continue
            start, end = row_span(group, row, hub, v)
            arcs += end - start
            while start < end:
                block = start >> shift
                stop = min(end, (block + 1) << shift)
                base = (np.int64(slot_of[block]) << shift) - (block << shift)
                for p in range(base + start, base + stop):
                    u = np.int64(ids[p])
                    if np.int64(dist[u]) <= level + 1:
                        continue
                    dist[u] = level + 1
                    begin, finish = row_span(group, row, hub, u)
                    if level + 1 < window and n_there < capacity and _row_is_here(slot_of, begin, finish, shift):
                        # It may have waited with a larger label, which its blocks' keys know.
                        active[u >> 6] &= ~(np.uint64(1) << np.uint64(u & 63))
                        queues[there, n_there] = u
                        n_there += 1
                    else:
                        _wait(u, begin, finish, level + 1, active, keys, shift)
                start = stop
        here = there
        n_here = n_there
        level += 1
    return arcs


@kernel
def waiting_arcs(active, group, row, hub):  # type: ignore[no-untyped-def]
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
def labelled(dist, visited):  # type: ignore[no-untyped-def]
    """Add the vertices with a label to the bitmap `visited`; (how many, largest label, smallest vertex
    that has it)."""
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
