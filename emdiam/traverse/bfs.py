"""Level-synchronous breadth-first search: sparse levels on queues, dense ones on bitmaps.

Definition: level k holds the vertices at distance k from the source; the eccentricity is the last
non-empty level. Work: each row is scanned at most once top-down; bottom-up rows stop at the first
frontier neighbour. Bytes a vertex: see workspace.py, plus the distance column if wanted (smallest
unsigned dtype, widened when a level does not fit). I/O: a level reads a block at most once, and
only if it holds a frontier row (top-down) or an unvisited one (bottom-up).
Sources: F-Diam, Algorithm 2; Beamer, Asanovic, Patterson 2012.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..stream.pager import Tick
from .columns import Column
from .core import Core, Sweep
from .direction import Front, commit, level_sweep
from .left_rows import MOST_LEVELS, LeftRows, Lent
from .level_windows import LevelWindows, labelled, next_share, waiting_arcs
from .profile import count_labels, count_level, thinned
from .ram_column import RamColumn, widen
from .shared_levels import THIN, share_levels
from .sparse import (
    ARCS,
    COUNT,
    CURRENT,
    DENSE,
    DONE,
    FARTHEST,
    HEAD,
    LEVEL,
    LIMIT,
    MET,
    MISSED,
    MISSING,
    NEXT,
    NEXT_ARCS,
    PROFILE,
    REACHED,
    SLICE,
    TARGETS,
    sparse_bfs,
)
from .workspace import clear_bits, list_bits, set_bits

_NO_DIST = np.empty(0, np.uint8)
_NO_TARGETS = np.empty(0, np.uint64)
_FOREVER = 1 << 62
# Levels of a BFS by which it is seen whether sharing them pays; seconds of one thread from which a level is worth it.
_TRIED, _WORTH_SHARING = 16, 1e-4
# Others are read ahead where a level misses at most so many, and of all ids brought one in so many was looked at.
_FEW, _USED = 4, 2


@dataclass
class Traversal:
    """A finished or stopped BFS.

    eccentricity : int, or None if stopped by radius or targets before the last level.
    levels : largest distance reached. n_reached : vertices reached, source included.
    farthest : smallest vertex at the largest distance. distances : Column or None.
    level_counts : vertices per level (only with profile=True). reached : what was reached, for
    Column.recode(within=...), until the next traversal; vertices without an edge may count as reached.
    """

    source: int
    eccentricity: int | None
    levels: int
    n_reached: int
    farthest: int
    distances: Column | None = None
    level_counts: list[int] = field(default_factory=list)
    reached: Any = None


class BfsRun:
    """A BFS in slices: call `step` until it returns True, then `result`.

    Parameters
    ----------
    core : the engine's core; only one run at a time may use its workspace.
    source : vertex. radius : stop after this many levels. targets : stop when all are reached.
    distances : keep a distance column. profile : count vertices per level.
    Arcs are followed from the vertex in whose row of `core` they are.
    """

    def __init__(
        self, core: Core, source: int, *, radius: int | None = None,
        targets: Iterable[int] | None = None, distances: bool = True, profile: bool = False, lent: Lent | None = None,
    ) -> None:
        n = core.table.n_vertices
        if not 0 <= source < n:
            raise ValueError(f"source {source} is not a vertex (0 to {n - 1})")
        self._core, self._source = core, source
        self._radius = _FOREVER if radius is None else radius
        self._profile, self.level_counts = profile, [1]
        self._dist, self._fixed = _NO_DIST, False
        if distances:
            self._dist = np.full(n, np.iinfo(np.uint8).max, np.uint8)
            self._dist[source] = 0
        work = core.work
        np.copyto(work.visited, core.reverse.table.isolated)  # to which no arc leads
        state = work.state
        state[:] = 0
        self._set_targets(targets)
        set_bits(work.visited, np.array([source]), 1)
        work.queues[0, 0] = source
        state[COUNT] = state[REACHED] = state[PROFILE + 1] = 1
        state[FARTHEST] = source
        self._front = Front(1, 0, 0)
        core.bias = 1.0 + (core.bias - 1.0) * 0.9
        self._dense = self._windowed = self._swept = self._bounded = False
        self._alone = profile or len(self._targets) > 0
        self._most_alone, self._thick, self._pace = core.dense_arcs, 0, 1.0
        if core.shares and not self._alone:
            known = core.alone_arcs
            self._most_alone, self._thick = (core.shared_arcs, 0) if known is None else (known, _TRIED)
        self._windows: LevelWindows | None = None
        self._was_read, self._read_again = np.zeros(core.table.n_blocks, bool), 0
        self._brought = 0  # blocks by sparse levels, those read ahead among them
        self._stops, self._shared = 0, False  # for missing blocks; whether several threads took a level
        self._left: LeftRows | None = None
        self._lent, core.left_rows = lent or Lent(core.reverse.pager.arena), None
        self._rows, self._looked = core, 0  # those of the last sweep; arcs that it has looked at among rows put aside
        self._complete: bool | None = None
        if len(self._targets) and state[TARGETS] <= 0:
            self._complete = False

    def _set_targets(self, targets: Iterable[int] | None) -> None:
        self._targets = _NO_TARGETS
        if targets is None:
            return
        wanted = np.unique(np.fromiter(targets, np.int64))
        self._targets = np.zeros(len(self._core.work.visited), np.uint64)
        set_bits(self._targets, wanted, len(wanted))
        self._core.work.state[TARGETS] = len(wanted) - int(np.isin(self._source, wanted))

    def stay_within(self, vertices: np.ndarray) -> None:
        """Reach no vertex but those of this bitmap, which has the source; before the first step."""
        self._core.work.visited |= ~vertices
        self._bounded = True

    def use_distances(self, values: np.ndarray) -> None:
        """Keep distances in `values` (unsigned[n], all unreached) instead; before the first step.
        The vector stays the caller's: a distance that does not fit is an OverflowError."""
        values[self._source] = 0
        self._dist, self._fixed = values, True

    @property
    def level(self) -> int:
        """Largest distance reached so far."""
        return int(self._core.work.state[LEVEL])

    def step(self, tick: Tick | None = None) -> bool:
        """Run one dense level or one slice of sparse levels; True when finished."""
        if self._complete is None:
            if self._windows is not None:
                self._window_step(tick)
            elif self._dense:
                self._dense_step(tick)
            else:
                self._sparse_step()
        return self._complete is not None

    def _level_limit(self) -> int:
        """Levels to run to before the radius, or the dtype of the distances, says stop."""
        if len(self._dist):
            return min(self._radius, int(np.iinfo(self._dist.dtype).max) - 1)
        return self._radius

    def _at_limit(self) -> None:
        if self.level >= self._radius:
            self._complete = False
        elif self._fixed:
            raise OverflowError(f"distance {self.level + 1} does not fit a column of {self._dist.dtype}")
        else:
            self._drop_left()  # the arena may have to give up what it has lent
            self._core.widen(2 * self._dist.itemsize)
            self._dist = widen(self._dist)

    def _sparse_step(self) -> None:
        core, work = self._core, self._core.work
        state = work.state
        before_arcs, before_level = int(state[ARCS]), self.level
        limit = min(self._level_limit(), self.level + 1) if self._profile else self._level_limit()
        limits = np.array([limit, core.slice_arcs, self._most_alone], np.int64)
        begin = time.thread_time()
        reason = sparse_bfs(core.paging, core.offsets, work.visited, self._dist, self._targets, work.queues,
                            work.missed, state, limits)
        seconds = time.thread_time() - begin
        core.counters.add(kernel_cpu_seconds=seconds)
        if reason == DENSE and state[NEXT_ARCS] and not (state[HEAD] or state[NEXT] or state[MISSED]):
            reason = self._share(limit, seconds / max(1, int(state[ARCS]) - before_arcs))
        arcs = int(state[ARCS]) - before_arcs
        self._front.visited_arcs += arcs
        core.counters.add(levels=self.level - before_level + (reason == DONE), edges_scanned=arcs)
        if self._profile and self.level > before_level:
            self.level_counts.append(int(state[COUNT]))
        if reason == DONE:
            self._complete = True
        elif reason == MET:
            self._complete = False
        elif reason == MISSING:
            self._load_missed(int(state[MISSED]))
        elif reason == LIMIT:
            if self.level >= self._level_limit():
                self._at_limit()
        elif reason == DENSE:
            self._to_dense()
        elif reason != SLICE:
            raise RuntimeError(f"unknown reason {reason}")

    def _share(self, limit: int, pace: float) -> int:
        """Go on with sparse levels on all threads, if the next one has not so many arcs that it is dense; why those
        stopped then. The first levels show whether that pays. pace : CPU seconds an arc of one thread just now."""
        core, work, state = self._core, self._core.work, self._core.work.state
        arcs, most, reason = int(state[NEXT_ARCS]), min(core.dense_arcs, work.capacity), SLICE
        self._thick, self._pace = self._thick + 1, min(self._pace, max(pace, 1e-12))
        if core.shares and not self._alone and self._thick >= _TRIED:
            self._most_alone = max(core.shared_arcs, int(_WORTH_SHARING / self._pace))
            if self._most_alone >= most:
                self._most_alone = core.dense_arcs
            core.alone_arcs = self._most_alone
            if self._most_alone < arcs <= most:
                limits = np.array([limit, core.slice_arcs, most, self._most_alone // 2, arcs])
                reason, self._shared = share_levels(core, self._dist, limits), True
                if reason == MISSING:  # before the end of a level
                    return reason
                arcs = int(state[NEXT_ARCS])
        state[NEXT_ARCS] = 0
        if reason in (THIN, DENSE, SLICE):
            return DENSE if arcs > core.dense_arcs else SLICE
        return reason

    def _to_dense(self) -> None:
        """Bitmaps from queues. The queue may be half expanded: its rest is the frontier, and what
        the level has found so far counts as not visited before it, so that commit sees it."""
        work, state = self._core.work, self._core.work.state
        head, count, found = int(state[HEAD]), int(state[COUNT]), int(state[NEXT])
        current, missed = int(state[CURRENT]), int(state[MISSED])
        state[FARTHEST] = work.queues[current, :count].min()
        work.frontier[:] = 0
        set_bits(work.frontier, work.queues[current, head:], count - head)
        set_bits(work.frontier, work.missed_v, missed)
        np.copyto(work.before, work.visited)
        clear_bits(work.before, work.queues[1 - current], found)
        if len(self._targets):  # commit counts the targets of this level again
            again = work.visited & ~work.before & self._targets
            state[TARGETS] += int(np.bitwise_count(again).sum())
        self._front.vertices, self._front.arcs = count, self._core.sum_degrees(work.queues[current, :count])
        self._front.visited_arcs += self._front.arcs
        state[HEAD] = state[NEXT] = state[MISSED] = state[NEXT_ARCS] = 0
        self._dense = True

    def _load_missed(self, count: int) -> None:
        """Bring the blocks of so many rows that were put aside. A window of levels comes next if level by level the
        same blocks are read again and again, or if there are too many of them at once; where it cannot be one, a sweep.
        """
        core = self._core
        blocks = core.missed_blocks(count)
        self._stops += 1
        self._read_again += int(np.count_nonzero(self._was_read[blocks]))
        self._was_read[blocks] = True
        n_slots = core.pager.arena.n_slots
        bearable = min(n_slots, core.table.n_blocks - n_slots) // 2
        if (core.thin or self._read_again > bearable) and self._to_windows():
            return
        if not core.load_blocks(blocks):
            if not self._to_windows():
                self._to_dense()
        elif len(blocks) <= _FEW:
            # Those that come next are read while the kernel is in these, if most of what was brought was looked at.
            self._brought += len(blocks)
            if _USED * int(core.work.state[ARCS]) >= self._brought << core.table.shift:
                self._brought += core.pager.read_ahead(blocks)

    def _to_windows(self) -> bool:
        """Go on with windows of levels, if the frontier is thin and they are possible: they go by labels, and so reach
        all vertices."""
        core, work, state = self._core, self._core.work, self._core.work.state
        head, count, current = int(state[HEAD]), int(state[COUNT]), int(state[CURRENT])
        if len(self._dist) == 0 or len(self._targets) > 0 or self._profile or self._bounded:
            return False
        if not LevelWindows.possible(core):
            return False
        if core.sum_degrees(work.queues[current, :count]) > core.table.n_arcs * core.thin_share:
            return False
        work.frontier[:] = 0
        set_bits(work.frontier, work.queues[current, head:], count - head)
        set_bits(work.frontier, work.missed_v, int(state[MISSED]))
        set_bits(work.frontier, work.queues[1 - current], int(state[NEXT]))
        state[HEAD] = state[NEXT] = state[MISSED] = state[NEXT_ARCS] = 0
        self._windows, self._windowed = LevelWindows(core, self._dist, self.level), True
        return True

    def _window_step(self, tick: Tick | None) -> None:
        windows, state = self._windows, self._core.work.state
        assert windows is not None
        if not windows.step(self._level_limit(), tick):
            return
        begin = self.level
        state[LEVEL] = windows.level
        if windows.finished:
            self._leave_windows(windows)
            self._core.counters.add(levels=self.level - begin + 1)
            self._complete = True
        elif self.level >= self._level_limit():
            self._leave_windows(windows)
            self._core.counters.add(levels=self.level - begin)
            self._at_limit()
            if self._complete is None:
                self._windows = LevelWindows(self._core, self._dist, self.level)
        else:
            self._core.counters.add(levels=self.level - begin)
            vertices, arcs = waiting_arcs(self._core.work.frontier, *self._core.offsets)
            if arcs > self._core.table.n_arcs * self._core.thin_share:
                self._leave_windows(windows)
                np.copyto(self._core.work.before, self._core.work.visited)
                self._front.vertices, self._front.arcs = vertices, arcs
                self._front.visited_arcs += arcs

    def _leave_windows(self, windows: LevelWindows) -> None:
        """The state of a dense level from the labels."""
        state = self._core.work.state
        reached, level, farthest = labelled(self._dist, self._core.work.visited)
        state[REACHED], state[LEVEL], state[FARTHEST] = reached, level, farthest
        state[ARCS] += windows.arcs
        count_labels(self._dist, np.iinfo(self._dist.dtype).max, level, state, PROFILE)
        self._front.visited_arcs += windows.arcs
        self._dense, self._windows = True, None

    def _dense_step(self, tick: Tick | None) -> None:
        if self.level >= self._level_limit():
            self._at_limit()
            if self._complete is not None:
                return
        if self._left is not None and self._left.whole:
            arcs = self._left.look()
            self._core.counters.add(levels=1, edges_scanned=arcs)
            self._end_level(arcs)
            return
        sweep = self.begin_sweep()
        arcs = self._rows.take(sweep, tick)
        self._core.count_sweep(len(sweep.blocks), arcs)
        self.end_sweep(arcs)

    def _end_level(self, scanned: int) -> None:
        """Go on with what was marked in work.visited. scanned : arcs that it took."""
        core, work, front = self._core, self._core.work, self._front
        state = work.state
        self._swept = True
        state[ARCS] += scanned
        level = self.level + 1
        vertices, arcs, met, smallest = commit(core, self._dist, level, self._targets)
        if vertices == 0:
            self._complete = True
            return
        if self._profile:
            self.level_counts.append(vertices)
        front.vertices, front.arcs = vertices, arcs
        front.visited_arcs += arcs
        state[LEVEL], state[FARTHEST] = level, smallest
        state[REACHED] += vertices
        count_level(state, PROFILE, level, vertices)
        state[TARGETS] -= met
        if len(self._targets) and state[TARGETS] <= 0:
            self._complete = False
        elif arcs < core.dense_arcs // 2 and vertices <= work.capacity and not self._left_is_better():
            self._drop_left()
            state[CURRENT] = state[HEAD] = 0
            state[COUNT] = list_bits(work.frontier, work.queues[0])
            front.visited_arcs -= arcs  # counted again when their rows are expanded
            self._dense = False

    @property
    def finished(self) -> bool:
        """Whether no step is left."""
        return self._complete is not None

    @property
    def at_sweep(self) -> bool:
        """Whether the next step is a sweep over blocks, begin_sweep and end_sweep, which others may share."""
        dense = self._dense and (self._left is None or not self._left.whole) and self._windows is None
        return dense and not self.finished and self.level < self._level_limit()

    def begin_sweep(self) -> Sweep:
        """What marks in work.visited what the frontier reaches; it gives arcs scanned."""
        core, front = self._core, self._front
        up = front.turn(core, int(core.work.state[REACHED]))
        if self._left is None and up:
            self._left = LeftRows.hoped_for(core.reverse, front, self._lent)
        elif self._left is not None and not up:
            up = front.bottom_up = front.reads_less(core, self._left.missing())
        self._rows = core.reverse if up else core
        if self._left is None or not up:
            return level_sweep(core, up)
        self._looked, sweep = self._left.level()
        core.counters.add(edges_scanned=self._looked)
        return sweep

    def end_sweep(self, scanned: int) -> None:
        """The sweep is done; scanned : what it gave."""
        if self._left is not None:
            self._left.close()
            scanned += self._looked
        self._looked = 0
        self._front.learn(self._core, scanned)
        self._end_level(scanned)

    def _left_is_better(self) -> bool:
        """Whether all rows that are left were put aside, and a few levels look at them."""
        return self._left is not None and self._left.whole and self._left.levels < MOST_LEVELS

    def _drop_left(self) -> None:
        """Rows that were put aside are not needed any more, so that blocks may lie in their place."""
        if self._left is not None:
            self._left = None
            self._lent.give_back()

    def frontier_profile(self) -> Callable[[], list[list[int]]]:
        """What gives [[first level, vertices], ...], thinned (profile.py), also after the next run."""
        return partial(thinned, self._core.work.state.copy(), PROFILE, self.level)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Scalars and arrays from which `restore` goes on, between two steps."""
        work = self._core.work
        scalars = {"front": asdict(self._front), "dense": self._dense, "windowed": self._windowed,
                   "swept": self._swept, "windows": self._windows is not None, "level_counts": self.level_counts}
        return scalars, {"visited": work.visited, "before": work.before, "frontier": work.frontier,
                         "queues": work.queues.reshape(-1), "missed_v": work.missed_v, "missed_p": work.missed_p,
                         "state": work.state, "distances": self._dist}

    def restore(self, scalars: dict[str, Any], read: Callable[..., np.ndarray]) -> None:
        """Go on, in place of the first step, from what `state` of a run with the same arguments gave.
        read(name, out=None) gives an array, into `out` if given."""
        work = self._core.work
        for name in ("visited", "before", "frontier", "missed_v", "missed_p", "state"):
            read(name, getattr(work, name))
        read("queues", work.queues.reshape(-1))
        if self._fixed:
            read("distances", self._dist)
        else:
            self._dist = read("distances")
            self._core.widen(self._dist.itemsize)
        self._front, self.level_counts = Front(**scalars["front"]), list(scalars["level_counts"])
        self._dense, self._windowed, self._swept = scalars["dense"], scalars["windowed"], scalars["swept"]
        if scalars["windows"]:  # what waits in which block follows from labels and frontier
            self._windows = LevelWindows(self._core, self._dist, self.level)

    def _learn_of_windows(self) -> None:
        """Tell the next BFS whether it is to go in windows, as this one did or should have, since one thread waited
        for the blocks one after another, and how wide they are to be."""
        core, windowed = self._core, self._windowed and not self._swept
        waited = 2 * self._stops > core.table.n_blocks and not (self._swept or self._shared)
        if windowed and core.thin:
            again = int(core.work.state[ARCS]) / core.table.n_arcs - 1
            core.window_share = next_share(core.window_share, again)
        core.thin = self.level if windowed or waited else 0

    def result(self) -> Traversal:
        """The traversal; call it after `step` has returned True."""
        state = self._core.work.state
        self._core.counters.add(traversals=1)
        self._lent.give_back()
        self._core.left_rows, self._left = self._left, None
        if self._complete:
            self._learn_of_windows()
            if self._core.alone_arcs is None and self._thick < _TRIED and 2 * int(state[REACHED]) > len(self._dist):
                self._core.alone_arcs = self._core.dense_arcs
        level = self.level
        farthest = int(state[FARTHEST])
        if not self._complete and not self._dense:
            current = self._core.work.queues[int(state[CURRENT]), : int(state[COUNT])]
            farthest = int(current.min())
        column = RamColumn(self._dist) if len(self._dist) else None
        return Traversal(
            self._source, level if self._complete else None, level, int(state[REACHED]), farthest, column,
            self.level_counts if self._profile else [],
        )
