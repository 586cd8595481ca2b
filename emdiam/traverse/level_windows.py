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
12 a block. Source: Meyer and Sanders, Delta-stepping (2003), over blocks in place of vertices.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_length
from ..stream.pager import Tick
from .atomics import count_trailing_zeros
from .core import Core
from .level_growth import NOTHING, place_and_grow, waiting_keys

# Levels of a window: the first of a BFS, and up to which windows double, while nobody knows how many levels there are;
# and the share of all levels, once a BFS has counted them or this one has gone through as many: one of SHARE at first,
# twice as many after a BFS that has scanned few arcs again, half after one that has scanned many (in all arcs).
NARROWEST, WIDEST, SHARE = 4, 64, 4
_FEW, _MANY = 1 / 8, 1 / 4
# A round brings a part of the arena, and at least so many ids, since a round costs about 0.1 ms whatever it brings.
_PART, _LEAST_IDS = 4, 1 << 17
_NONE = np.empty(0, np.int64)


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
        self._rounds, self._places = Rounds(core, self._grow), new_places(core)
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
        begin = time.thread_time()
        bounds = np.array([self._window, work.capacity])
        arcs = int(place_and_grow(core.paging, core.layout, self._places, self._dist, work.frontier, self._keys, blocks,
                                  work.queues, work.missed_v, bounds))
        self.arcs += arcs
        core.counters.add(edges_scanned=arcs, kernel_cpu_seconds=time.thread_time() - begin)
        return arcs


def share_of(levels: int, share: int = SHARE) -> int:
    """Levels of a window where a BFS has so many."""
    return max(NARROWEST, levels // share)


def next_share(share: int, again: float) -> int:
    """Of all levels, the share of a window, 1 / what this gives, after a BFS in windows of one of `share` that has
    scanned arcs again; again : how many, in all arcs."""
    return max(1, share // 2) if again <= _FEW else min(SHARE, 2 * share) if again > _MANY else share


def first_width(core: Core, level: int) -> int:
    """Levels of the first window, which begins at `level`."""
    return share_of(max(core.thin, level), core.window_share)


def next_width(width: int) -> int:
    """Levels of the window after one of so many."""
    return max(width, min(WIDEST, 2 * width))


def windows_for(levels: int) -> int:
    """How many windows so many levels take, after a BFS of as many."""
    return -(-levels // share_of(levels))


def lowest(keys: np.ndarray, blocks: np.ndarray, most: int) -> np.ndarray:
    """At most so many of `blocks` (int64[k], ascending), those with the lowest keys, ascending."""
    return np.sort(blocks[np.argsort(keys[blocks], kind="stable")[:most]])


def new_places(core: Core) -> tuple[np.ndarray, np.ndarray]:
    """(place, placed) of place_groups, of which nothing is known yet. place is in memory of the workspace."""
    place = core.work.before.view(np.int64)
    place.fill(-1)
    return place, np.full(core.table.n_blocks, -1, np.int32)


class Rounds:
    """Rounds of blocks in windows: what waits in resident blocks is expanded, and the others with the lowest labels are
    brought, at the same time where they are enough.

    grow(blocks) expands what waits in resident blocks, int64[k] ascending, and returns arcs scanned. beside : whether
    it may run while blocks come.
    """

    def __init__(self, core: Core, grow: Callable[[np.ndarray], int], beside: bool = True) -> None:
        self._core, self._grow, self._may_overlap = core, grow, beside
        self._idle = 0  # rounds without an arc, one after another

    def step(self, keys: np.ndarray, window: int, tick: Tick | None) -> None:
        """One round. keys : int64[n_blocks], the lowest label that waits in each block; some are below `window`."""
        pager, shift = self._core.pager, self._core.table.shift
        n_slots, due = pager.arena.n_slots, np.flatnonzero(keys < window)
        part, least = n_slots // _PART, -(-_LEAST_IDS >> shift)
        if self._idle > 1:
            # Rows lie in several blocks, not all of them here. Those of the lowest label fit together.
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

    def _grow_beside(self, keys: np.ndarray, due: np.ndarray, part: int, tick: Tick | None) -> None:
        """A round at whose begin so many blocks begin to come, and at whose end those of the round before are there."""
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
