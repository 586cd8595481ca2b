"""BFS over all ranks: the same levels as on one machine, and one or two exchanges of messages a level.

Sparse level: neighbours owned by others go to their owners, with what is known of the new frontier; if that leaves
open what comes next, its exact size is summed. Dense level: the frontier goes to all, then the sizes. Every rank draws
the same conclusions from the same sums (direction, end, dtype of distances). After THIN_AFTER sparse levels in a row a
search goes on without levels (async_bfs.py), until a level is no longer thin.
Bytes sent: sparse, at most 5 for a vertex and an other rank over a whole search (it is sent at most once by each), at
most 2 where a range has less than 2^14 times as many vertices as are sent; dense, at most (ranks - 1) n / 8.
Sources: Buluc and Madduri, Parallel breadth-first search on distributed memory systems (2011), 1D partitioning;
Beamer, Asanovic, Patterson, Direction-optimizing BFS (2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..traverse.core import Core
from ..traverse.direction import Front
from ..traverse.profile import BINS, count_labels, count_level
from .alltoall import Mail
from .async_bfs import Cut, Thin
from .frontier import Frontier
from .frontier_codec import add_to_words, decode_ids, encode_ids, mark
from .ranges import virtual_column, virtual_zeros

if TYPE_CHECKING:
    from .rank import Part

# Sparse levels in a row after which a search becomes a thin one, and the multiple of the average degree that vertices
# sent to others are taken to have, where their degrees are not waited for.
THIN_AFTER, _LIKELY_DEGREES = 16, 4
_FOREVER = 1 << 62
_NONE, _NO_TARGETS = np.empty(0, np.uint64), np.empty(0, np.int64)
_NO_FACTS = np.empty(0, np.int64)
# Facts of a sparse level: vertices and arcs of the new frontier and targets met, without what comes in; vertices sent;
# vertices and arcs that came in on the level before, where that was not told.
_VERTICES, _ARCS, _MET, _SENT, _LATE, _LATE_ARCS = 0, 1, 2, 3, 4, 5


@dataclass
class Work:
    """What a search on one rank works on. ranges : int64[ranks + 1]."""

    core: Core
    mail: Mail
    frontier: Frontier
    ranges: np.ndarray

    @property
    def rank(self) -> int:
        """This rank."""
        return self.mail.rank


class Search:
    """A BFS: every rank calls `run`.

    source, radius, targets : as of Engine.bfs; targets int64[k], distinct, or None. distances : unsigned[n],
    unreached in this range, to write to; None: a column of the smallest dtype that fits, widened as needed. profile :
    count vertices a level.
    """

    def __init__(
        self, work: Work, source: int, *, radius: int | None = None, targets: np.ndarray | None = None,
        distances: np.ndarray | None = None, profile: bool = False,
    ) -> None:
        self._work, self._frontier, self._core = work, work.frontier, work.core
        self._radius = _FOREVER if radius is None else radius
        self._profiled, self.level_counts = profile, [1]
        n, frontier = work.core.table.n_vertices, work.frontier
        self._fixed = distances is not None
        self.distances = distances if distances is not None else virtual_column(
            n, np.uint8, frontier.first, frontier.stop, 255)
        self.level = self.reached = self.dense_levels = 0
        self.complete: bool | None = None
        self.bins = np.zeros(1 + BINS, np.int64)
        self._set_targets(targets, source)
        frontier.restart()
        self._everywhere = 1
        if frontier.first <= source < frontier.stop:
            frontier.vertices = np.array([source], np.int64)
            mark(frontier.vertices, 0, self._core.work.visited)
            self._settle(frontier.vertices, 0)
        self._front = Front(1, 0, 0)
        self._core.bias = 1.0 + (self._core.bias - 1.0) * 0.9
        self._dense, self._sparse_run = False, 0
        self._thin: Thin | None = None
        self._late = self._late_arcs = 0

    def _set_targets(self, targets: np.ndarray | None, source: int) -> None:
        frontier = self._frontier
        self._own_targets, self._targets, self._left, self._n_targets = _NO_TARGETS, _NONE, _FOREVER, 0
        if targets is not None:
            self._n_targets = self._left = len(targets)
            self._own_targets = targets[(targets >= frontier.first) & (targets < frontier.stop)]
            self._targets = virtual_zeros(len(self._core.work.visited), np.uint64)
            mark(self._own_targets, 0, self._targets)
            if np.isin(source, targets).any():
                self._left -= 1
                self.complete = None if self._left else False

    def run(self) -> None:
        """All levels."""
        while self.complete is None:
            if self._thin is not None:
                self._thin_round(self._thin)
            elif self.level >= self._level_limit():
                self._at_limit()
            elif self._dense:
                self._dense_level()
            elif self._sparse_run >= THIN_AFTER and 2 * self._front.arcs <= self._core.dense_arcs:
                self._thin = Thin(self._work, self.distances, self.level, self._own_targets, self._core.dense_arcs)
            else:
                self._sparse_level()

    # -- levels ---------------------------------------------------------------------------------
    def _sparse_level(self) -> None:
        """One level top-down."""
        frontier, work = self._frontier, self._work
        new, others, scanned = frontier.expand()
        facts = np.array([len(new), self._sum_degrees(new), self._met(new), len(others), self._late, self._late_arcs])
        incoming, table = work.mail.swap(self._letters(others), facts)
        sums = table.sum(axis=0)
        self._join_late(int(sums[_LATE]), int(sums[_LATE_ARCS]))
        found = [frontier.visit(decode_ids(message, frontier.first)) for message in incoming.values() if len(message)]
        self._core.counters.add(levels=int(work.rank == 0), edges_scanned=scanned)
        came = np.concatenate(found) if found else _NO_TARGETS
        if len(came):
            new = np.concatenate((new, came))
        self._settle(new, self.level + 1)
        frontier.vertices = new
        self._sparse_run += 1
        if sums[_SENT] == 0:
            self._next_level(int(sums[_VERTICES]), int(sums[_ARCS]), int(sums[_MET]))
        elif self._stays_sparse(sums):
            self._late, self._late_arcs = len(came), self._sum_degrees(came)
            self._count_level(int(sums[_VERTICES]), int(sums[_ARCS]))
        else:
            self._end_level(len(new), self._sum_degrees(new), self._met(new), scanned)

    def _stays_sparse(self, sums: np.ndarray) -> bool:
        """Whether the next level is there and sparse, whatever came in."""
        table = self._core.table
        likely = int(sums[_ARCS]) + int(sums[_SENT]) * _LIKELY_DEGREES * (1 + table.n_arcs // table.n_vertices)
        return bool(sums[_VERTICES] > 0 and len(self._targets) == 0 and 4 * likely <= self._core.dense_arcs)

    def _join_late(self, vertices: int, arcs: int) -> None:
        """What came in on the level before."""
        self._late = self._late_arcs = 0
        self._everywhere += vertices
        self._front.visited_arcs += arcs
        self.level_counts[-1] += vertices

    def _dense_level(self) -> None:
        """One level bottom-up."""
        frontier, work, words = self._frontier, self._work, self._core.work.frontier
        others = work.mail.others
        incoming, _ = work.mail.swap(dict.fromkeys(others, frontier.message()) if others else {}, _NO_FACTS)
        for rank, theirs in incoming.items():
            part = words[(work.ranges[rank] + 63) >> 6 : (work.ranges[rank + 1] + 63) >> 6]
            part[:] = 0
            add_to_words(theirs, part)
        vertices, arcs, met, scanned = frontier.look_back(self.distances, self.level + 1, self._targets)
        self.dense_levels += 1
        self.reached += vertices
        count_level(self.bins, 0, self.level + 1, vertices)
        first = int(work.rank == 0)
        self._core.counters.add(levels=first, passes=first, dense_levels=first, edges_scanned=scanned)
        self._sparse_run = 0
        self._end_level(vertices, arcs, met, scanned)

    def _letters(self, others: np.ndarray) -> dict[int, np.ndarray]:
        """Messages to the owners of `others`, ascending."""
        if len(others) == 0:
            return {}
        ranges = self._work.ranges
        cuts = np.searchsorted(others, ranges)
        return {rank: encode_ids(others[cuts[rank] : cuts[rank + 1]], int(ranges[rank]), int(ranges[rank + 1]))
                for rank in self._work.mail.others if cuts[rank] < cuts[rank + 1]}

    def _end_level(self, *facts: int) -> None:
        """From the sums of vertices, arcs, targets met and arcs scanned: what comes next."""
        vertices, arcs, met, scanned = self._work.mail.total(np.array(facts)).tolist()
        if self._dense:
            self._front.learn(self._core, scanned)
        self._next_level(vertices, arcs, met)

    def _next_level(self, vertices: int, arcs: int, met: int) -> None:
        """A level has ended with these, over all ranks."""
        if vertices == 0:
            self.complete = True
            return
        self._count_level(vertices, arcs)
        self._left -= met
        self._choose_direction(vertices, arcs)
        if self._left <= 0:
            self.complete = False

    def _count_level(self, vertices: int, arcs: int) -> None:
        self.level += 1
        self.level_counts.append(vertices)
        self._everywhere += vertices
        self._front.vertices, self._front.arcs = vertices, arcs
        self._front.visited_arcs += arcs

    def _choose_direction(self, vertices: int, arcs: int) -> None:
        """Bottom-up where a frontier has enough arcs to be worth bitmaps and the rule of level.py says so, or where
        it is too long for a list."""
        few = self._core.dense_arcs // 2 if self._dense else self._core.dense_arcs
        up = self._front.turn(self._core, self._everywhere)
        dense = arcs > few and (up or vertices > self._core.work.capacity)
        self._front.bottom_up = dense
        if dense and not self._dense:
            self._frontier.to_words()
        elif self._dense and not dense:
            self._frontier.to_list()
        self._dense = dense

    # -- without levels -------------------------------------------------------------------------
    def _thin_round(self, thin: Thin) -> None:
        """One round of a thin search."""
        limit = self._level_limit()
        thin.round(limit)
        self._core.counters.add(levels=int(self._work.rank == 0) * (thin.low - self.level))
        self.level = thin.low
        at_limit = thin.low >= limit and thin.quiet
        if thin.over or (self._n_targets and thin.met) or 0 <= thin.stop_at <= thin.low:
            self._leave(thin)
        elif at_limit and limit == self._radius:
            self._leave(thin)
        elif at_limit:
            self._at_limit()
            thin.distances = self.distances

    def _leave(self, thin: Thin) -> None:
        """End a thin search: the whole search has, or goes on level by level."""
        stopped, longest = self._met_last(thin), _FOREVER
        if stopped:
            longest = self._largest(self.distances[self._own_targets])
        elif thin.stop_at >= 0 and not thin.over:
            longest = thin.stop_at
        before, level = self.level, self._take_cut(thin.cut(longest))
        self._core.counters.add(levels=int(self._work.rank == 0) * (level - before))
        if stopped:
            self.complete = False
        elif thin.over or level < min(longest, self._radius):
            self.complete = True
        elif level >= self._radius:
            self.complete = False
        else:
            self._back_to_levels()

    def _take_cut(self, cut: Cut) -> int:
        """Everything that is counted, from distances that are final; the largest of all ranks."""
        unmet = int(np.count_nonzero(self.distances[self._own_targets] == np.iinfo(self.distances.dtype).max))
        facts = np.array([cut.longest + 1, cut.reached, cut.arcs, len(self._own_targets) - unmet])
        table = self._work.mail.share(facts)
        self.level, self.reached, self._thin = int(table[:, 0].max()) - 1, cut.reached, None
        _, self._everywhere, self._front.visited_arcs, met = (int(total) for total in table.sum(axis=0))
        self._left = self._n_targets - met if self._n_targets else _FOREVER
        self._sparse_run = self._late = self._late_arcs = 0
        self._count_again()
        return self.level

    def _met_last(self, thin: Thin) -> bool:
        """Whether a thin search has come to all targets."""
        if not self._n_targets:
            return False
        found = self.distances[self._own_targets]
        far = found == np.iinfo(found.dtype).max if thin.over else found > thin.low
        return not self._work.mail.total(np.array([np.count_nonzero(far)])).any()

    def _largest(self, values: np.ndarray) -> int:
        """The largest of all ranks' values."""
        return int(self._work.mail.share(np.array([int(values.max(initial=0))])).max())

    def _back_to_levels(self) -> None:
        """The frontier from the distances."""
        frontier, level = self._frontier, self.level
        frontier.vertices = np.flatnonzero(self.distances[frontier.first : frontier.stop] == level) + frontier.first
        vertices, arcs = self._work.mail.total(
            np.array([len(frontier.vertices), self._sum_degrees(frontier.vertices)])).tolist()
        self._front.vertices, self._front.arcs = vertices, arcs
        self._choose_direction(vertices, arcs)

    def _count_again(self) -> None:
        """The profile, from the distances."""
        own = self.distances[self._frontier.first : self._frontier.stop]
        unreached = int(np.iinfo(own.dtype).max)
        count_labels(own, unreached, self.level, self.bins, 0)
        if self._profiled:
            counts = np.bincount(own[own != unreached], minlength=self.level + 1)
            self.level_counts = self._work.mail.total(counts).tolist()

    # -- this rank's vertices -------------------------------------------------------------------
    def _settle(self, new: np.ndarray, level: int) -> None:
        if len(new) == 0:
            return
        self.distances[new] = level
        self.reached += len(new)
        count_level(self.bins, 0, level, len(new))

    def _sum_degrees(self, vertices: np.ndarray) -> int:
        return int(self._core.degrees(vertices).sum()) if len(vertices) else 0

    def _met(self, new: np.ndarray) -> int:
        if len(self._targets) == 0 or len(new) == 0:
            return 0
        return int(np.count_nonzero((self._targets[new >> 6] >> (new & 63).astype(np.uint64)) & np.uint64(1)))

    def _level_limit(self) -> int:
        return min(self._radius, int(np.iinfo(self.distances.dtype).max) - 1)

    def _at_limit(self) -> None:
        if self.level >= self._radius:
            self.complete = False
        elif self._fixed:
            raise OverflowError(f"distance {self.level + 1} does not fit a column of {self.distances.dtype}")
        else:
            self.distances = widened(self.distances, self._frontier.first, self._frontier.stop)


def widened(values: np.ndarray, first: int, stop: int) -> np.ndarray:
    """The column in the next wider dtype, sentinels kept sentinels, in first..stop-1."""
    from ..traverse.columns import smallest_dtype

    old = int(np.iinfo(values.dtype).max)
    dtype = smallest_dtype(old)
    wide = virtual_column(len(values), dtype, first, stop, int(np.iinfo(dtype).max))
    reached = np.flatnonzero(values[first:stop] != old) + first
    wide[reached] = values[reached]
    return wide


# -- as asked of a rank ---------------------------------------------------------------------------
@dataclass(frozen=True)
class How:
    """What a search is begun with: source, radius, targets and profile as of Engine.bfs. into : key of the column that
    takes the distances, cleared first, or None. keep : key of a new column for them, or None."""

    source: int
    radius: int | None
    targets: np.ndarray | None
    into: int | None
    keep: int | None
    profile: bool


@dataclass(frozen=True)
class Found:
    """What a search has found in one range. level : the last one. complete : whether it came to its end, and not to a
    radius or targets. farthest : the smallest vertex on the last level, or -1. dtype : of the distances. bins : see
    traverse/profile.py. level_counts : vertices of each level, of all ranges, if they were wanted."""

    level: int
    complete: bool
    reached: int
    farthest: int
    dtype: str
    bins: np.ndarray
    level_counts: list[int]


def bfs(part: Part, how: How) -> Found:
    """A whole search, on all ranks together."""
    values = None
    if how.into is not None:
        values = part.values[how.into]
        values[part.own] = np.iinfo(values.dtype).max
    search = part.under_way = Search(part.work, how.source, radius=how.radius, targets=how.targets, distances=values,
                                     profile=how.profile)
    search.run()
    if how.keep is not None:
        part.values[how.keep] = search.distances
    at = np.flatnonzero(search.distances[part.own] == search.level)[:1]
    return Found(search.level, bool(search.complete), search.reached, int(at[0]) + part.first if len(at) else -1,
                 search.distances.dtype.name, search.bins, search.level_counts)


def merged_profile(found: Sequence[Found], level: int) -> list[list[int]]:
    """[[first level, vertices], ...] up to `level`, from the bins of all ranks (traverse/profile.py)."""
    shift = max(int(part.bins[0]) for part in found)
    total = np.zeros(BINS, np.int64)
    for part in found:
        folded = part.bins[1:].reshape(-1, 1 << (shift - int(part.bins[0]))).sum(axis=1)
        total[: len(folded)] += folded
    return [[i << shift, count] for i, count in enumerate(total[: 1 + (level >> shift)].tolist())]
