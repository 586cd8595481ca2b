"""Level-synchronous breadth-first search, with six modes to do a level.

Definition: level k has the vertices at distance k from the source; the eccentricity is the last
non-empty level. Work: each row is scanned at most once top-down; bottom-up rows stop at the first
frontier neighbour. Bytes a vertex: see workspace.py, plus the distance column if wanted (smallest
unsigned dtype, widened when a level does not fit). I/O: a level reads a block at most once, and
only if it has a frontier row (top-down) or an unvisited one (bottom-up).

A mode is a way to do levels: all in one call if all rows are in memory (bfs_whole.py), on a queue by one thread
(sparse.py) or by all threads (shared_levels.py), on bitmaps (dense.py), among rows put aside (rows_aside.py), or by
labels in windows of levels (level_windows.py). Each file with its kernels can be read alone. `mode.step(tick)` does
some levels and returns the next mode, usually the same, or None at the end.
Sources: F-Diam, Algorithm 2; Beamer, Asanovic, Patterson 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from ..distinct import distinct
from ..progress import Tick, no_tick
from .bfs_whole import WholeLevels
from .columns import Column, smallest_dtype
from .core import Core
from .dense import DenseLevels
from .direction import Front, faded
from .level_windows import LevelWindows, next_share
from .ram_column import RamColumn, widen
from .rows_aside import LevelsAside
from .shared_levels import SharedLevels
from .sparse import SparseLevels
from .workspace import ARCS, COUNT, FARTHEST, LEVEL, PROFILE, REACHED, TARGETS, set_bits, thinned

_NO_DIST = np.empty(0, np.uint8)
_NO_TARGETS = np.empty(0, np.uint64)
_FOREVER = 1 << 62


class Mode(Protocol):
    """A way to do levels of one BFS, with a reference to its BfsRun."""

    def step(self, tick: Tick = no_tick) -> Mode | None:
        """Do one level, or a slice of levels; return the mode of the next step, None at the end. tick : called
        meanwhile."""


@dataclass(frozen=True)
class Learned:
    """Knowledge of a graph that a BFS passes to the next one.

    bias : arcs that bottom-up levels read, divided by the expected number (direction.py). window_levels : levels of
    the last full BFS, if it took windows of levels and no dense level, or should have (else 0). window_share : a window
    has 1 / window_share of these levels. alone_arcs : frontier arcs up to which one thread does a level alone, as
    measured by a BFS (None: not yet measured). It is kept because looking at every level costs time. item : bytes of
    a distance of the last full BFS, with which the next one begins."""

    bias: float = 1.0
    window_levels: int = 0
    window_share: int = 4
    alone_arcs: int | None = None
    item: int = 1


NOTHING_LEARNED = Learned()


@dataclass
class BfsResult:
    """A finished or stopped BFS.

    eccentricity : int, or None if stopped by radius or targets before the last level.
    levels : largest distance reached. n_reached : vertices reached, source included.
    farthest : smallest vertex at the largest distance. distances : Column or None.
    level_counts : vertices per level (only with profile=True). reached : the reached vertices, for
    Column.recode(within=...), valid until the next traversal; vertices without an edge may count as reached.
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
    """A BFS in steps: call `step` until it returns True, then `result`.

    Parameters
    ----------
    core : the engine's core; only one run at a time may use its workspace.
    source : vertex. learned : knowledge from the last BFS; after `result`, that from this one.
    radius : stop after this many levels. targets : stop when all are reached.
    distances : keep a distance column. profile : count vertices per level.
    Arcs go from the vertex whose row in `core` has them.

    Attributes
    ----------
    mode : of the next step; None at the end. whole, sparse, shared, dense, windows, aside : the modes.
    distances : unsigned[n], or length 0. targets : bitmap, or length 0. front : input of the direction rule.
    bounded : whether it stays among some vertices. used : classes of the modes, except the sparse one, that have done
    levels. complete : whether it has reached its last level; None before the end.
    """

    def __init__(
        self, core: Core, source: int, learned: Learned = NOTHING_LEARNED, *, radius: int | None = None,
        targets: Iterable[int] | None = None, distances: bool = True, profile: bool = False,
    ) -> None:
        n = core.table.n_vertices
        if not 0 <= source < n:
            raise ValueError(f"source {source} is not a vertex (0 to {n - 1})")
        self.core, self.source, self.learned = core, source, learned
        if learned.bias != 1.0:
            self.learned = replace(learned, bias=faded(learned.bias))
        self.radius, self.profile, self.bounded = _FOREVER if radius is None else radius, profile, False
        self.level_counts, self.front = [1], Front(1, 0, 0)
        self.used: set[type[Mode]] = set()
        self.distances, self._fixed = _NO_DIST, False
        if distances:
            core.widen(learned.item)
            self.distances = np.full(n, (1 << 8 * learned.item) - 1, f"u{learned.item}")
            self.distances[source] = 0
        work = core.work
        np.copyto(work.visited, core.reverse.table.isolated)  # vertices that no arc leads to
        work.visited[source >> 6] |= np.uint64(1 << (source & 63))
        work.queues[0, 0] = source
        state, work.rows_aside = work.state, None
        state[:] = 0
        state[COUNT] = state[REACHED] = state[PROFILE + 1] = 1
        state[FARTHEST] = source
        self.targets = self._targets(targets)
        self.complete: bool | None = None
        core.reverse.pager.arena.take_back()  # rows that the last BFS has put aside
        self.mode: Mode | None = None
        if len(self.targets) and state[TARGETS] <= 0:
            self.end(False)
        elif not len(self.targets) and WholeLevels.possible(core):
            self.mode = self.whole.begin()
        else:
            self.mode = self.sparse

    def _targets(self, targets: Iterable[int] | None) -> np.ndarray:
        """The bitmap of the targets; their number is put into the state."""
        if targets is None:
            return _NO_TARGETS
        wanted = distinct(np.fromiter(targets, np.int64))
        bitmap = np.zeros(len(self.core.work.visited), np.uint64)
        set_bits(bitmap, wanted, len(wanted))
        self.core.work.state[TARGETS] = len(wanted) - int(np.isin(self.source, wanted))
        return bitmap

    @cached_property
    def whole(self) -> WholeLevels:
        """All levels in one call."""
        return WholeLevels(self)

    @cached_property
    def aside(self) -> LevelsAside:
        """Levels among rows put aside."""
        return LevelsAside(self)

    @cached_property
    def sparse(self) -> SparseLevels:
        """Levels on a queue by one thread."""
        return SparseLevels(self)

    @cached_property
    def shared(self) -> SharedLevels:
        """Levels on a queue by all threads."""
        return SharedLevels(self)

    @cached_property
    def dense(self) -> DenseLevels:
        """Levels on bitmaps."""
        return DenseLevels(self)

    @cached_property
    def windows(self) -> LevelWindows:
        """Windows of levels."""
        return LevelWindows(self)

    def stay_within(self, vertices: np.ndarray) -> None:
        """Reach only vertices of this bitmap, which has the source. To be called before the first step."""
        self.core.work.visited |= ~vertices
        self.bounded = True

    def use_distances(self, values: np.ndarray) -> None:
        """Write distances to `values` (unsigned[n], all unreached) instead. To be called before the first step.
        The vector remains the caller's, so a distance that does not fit is an OverflowError."""
        values[self.source] = 0
        self.distances, self._fixed = values, True

    @property
    def level(self) -> int:
        """Largest distance reached so far."""
        return int(self.core.work.state[LEVEL])

    def step(self, tick: Tick = no_tick) -> bool:
        """Do one step of the current mode; True when finished."""
        if self.mode is not None:
            self.mode = self.mode.step(tick)
        return self.mode is None

    # -- for modes ------------------------------------------------------------------------------
    @property
    def level_limit(self) -> int:
        """The level at which the radius, or the dtype of the distances, stops the kernels."""
        if len(self.distances):
            return min(self.radius, (1 << 8 * self.distances.itemsize) - 2)
        return self.radius

    def at_limit(self) -> bool:
        """Whether the radius is reached. If not, distances are made wide enough for another level. Raises
        OverflowError, MoreMemoryError."""
        if self.level >= self.radius:
            return True
        if self.level >= self.level_limit:
            if self._fixed:
                raise OverflowError(f"distance {self.level + 1} does not fit a column of {self.distances.dtype}")
            self.aside.drop()  # the arena may have to give up their memory
            self.core.widen(2 * self.distances.itemsize)
            self.distances = widen(self.distances)
        return False

    def end(self, complete: bool) -> Mode | None:
        """End the BFS; returns None. complete : whether it has reached its last level."""
        self.complete = complete
        return None

    # -- between steps, and after them ----------------------------------------------------------
    @property
    def at_sweep(self) -> bool:
        """Whether the next step is a sweep over blocks (dense.begin_sweep, end_sweep) that other runs may share."""
        return self.mode is not None and self.mode is self.__dict__.get("dense") and self.level < self.level_limit

    def frontier_profile(self) -> Callable[[], list[list[int]]]:
        """A function that returns [[first level, vertices], ...], thinned (workspace.py), also after the next run."""
        return partial(thinned, self.core.work.state.copy(), PROFILE, self.level)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Scalars and arrays for `restore`, between two steps."""
        work = self.core.work
        made = self.__dict__
        on_bitmap = (self.whole.on_bitmap if isinstance(self.mode, WholeLevels)
                     else self.mode is not None and self.mode in (made.get("dense"), made.get("aside")))
        scalars = {"front": asdict(self.front), "dense": on_bitmap,
                   "windowed": LevelWindows in self.used, "swept": DenseLevels in self.used,
                   "windows": isinstance(self.mode, LevelWindows), "level_counts": self.level_counts}
        return scalars, {"visited": work.visited, "before": work.before, "frontier": work.frontier,
                         "queues": work.queues.reshape(-1), "missed_v": work.missed_v, "missed_p": work.missed_p,
                         "state": work.state, "distances": self.distances}

    def restore(self, scalars: dict[str, Any], read: Callable[..., np.ndarray]) -> None:
        """Continue from the `state` of a run with the same arguments, in place of the first step.
        read(name, out=None) returns an array, in `out` if passed."""
        work = self.core.work
        for name in ("visited", "before", "frontier", "missed_v", "missed_p", "state"):
            read(name, getattr(work, name))
        read("queues", work.queues.reshape(-1))
        if self._fixed:
            read("distances", self.distances)
        else:
            self.distances = read("distances")
            self.core.widen(self.distances.itemsize)
        self.front, self.level_counts = Front(**scalars["front"]), list(scalars["level_counts"])
        self.used = {mode for mode, name in ((LevelWindows, "windowed"), (DenseLevels, "swept")) if scalars[name]}
        if scalars["windows"]:  # the rows that wait in each block follow from labels and frontier
            self.mode = self.windows.begin()
        elif scalars["dense"]:
            self.mode = self.dense

    def _learn(self) -> None:
        """Note for the next BFS whether it should take windows and how wide, and whether to share levels. Windows are
        for a BFS that took them, or that should have, since its thread waited for blocks one after another."""
        core, learned = self.core, self.learned
        windowed = LevelWindows in self.used and DenseLevels not in self.used
        stops = self.sparse.stops if "sparse" in self.__dict__ else 0
        waited = 2 * stops > core.table.n_blocks and self.used.isdisjoint((DenseLevels, SharedLevels))
        share = learned.window_share
        if windowed and learned.window_levels:
            share = next_share(share, int(core.work.state[ARCS]) / core.table.n_arcs - 1)
        alone = learned.alone_arcs
        whole = 2 * self._n_reached > len(self.distances)
        if alone is None and whole and WholeLevels not in self.used and self.sparse.gives_up_sharing:
            alone = core.dense_arcs
        new = Learned(learned.bias, self.level if windowed or waited else 0, share, alone,
                      smallest_dtype(self.level).itemsize)
        if new != learned:
            self.learned = new

    @property
    def _n_reached(self) -> int:
        return int(self.core.work.state[REACHED])

    def result(self) -> BfsResult:
        """The traversal; to be called after `step` has returned True."""
        self.core.counters.add(traversals=1)
        self.core.work.rows_aside = self.aside.end() if "aside" in self.__dict__ else None
        if self.complete:
            self._learn()
        # Modes refer to this run: once they are removed, its memory is freed as soon as the run is.
        for mode in ("whole", "sparse", "shared", "dense", "windows", "aside"):
            self.__dict__.pop(mode, None)
        column = RamColumn(self.distances) if len(self.distances) else None
        return BfsResult(self.source, self.level if self.complete else None, self.level, self._n_reached,
                         int(self.core.work.state[FARTHEST]), column, self.level_counts if self.profile else [])
