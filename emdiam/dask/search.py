"""BFS over all ranks: the same levels as on one machine, with one or two exchanges of messages a level.

Sparse level: neighbours in other ranges go to their owners, with the size of the new frontier; if any were sent,
another round sums the exact size. Dense level: the frontier goes to all, then the sizes. All ranks take the same
decisions (direction, end, dtype of distances), from the same sums. After ASYNC_AFTER sparse levels in a row the search
continues asynchronously (async_bfs.py), until a level is no longer small.
Bytes sent: sparse, at most 5 for each vertex and other rank over a whole search (each rank sends it at most once), and
at most 2 if more than one in 2^14 vertices of a range is sent; dense, at most (ranks - 1) n / 8.
Sources: Buluc and Madduri, Parallel breadth-first search on distributed memory systems (2011), 1D partitioning; Beamer,
Asanovic, Patterson, Direction-optimizing BFS (2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..traverse.direction import faded
from ..traverse.ram_column import widen
from ..traverse.spread import bounded_bits
from ..traverse.workspace import BINS, count_labels, count_level, set_bits
from .async_bfs import AsyncBfs
from .frontier import NO_IDS, RankFrontier
from .plan import virtual_column, virtual_zeros

if TYPE_CHECKING:
    from .rank import Rank

# After this number of sparse levels in a row, a search continues asynchronously.
ASYNC_AFTER = 8
_FOREVER = 1 << 62
_PIECE = 1 << 17
_NO_BITS = np.empty(0, np.uint64)


class RankBfs:
    """A BFS: every rank calls `run`.

    source, radius, targets : as in Engine.bfs; targets int64[k], distinct, or None. distances : unsigned[n] to write
    to, unreached in this range; None: a column of the smallest dtype that fits, widened as needed. profile : whether to
    count vertices by level.
    """

    def __init__(
        self, frontier: RankFrontier, source: int, *, radius: int | None = None, targets: np.ndarray | None = None,
        distances: np.ndarray | None = None, profile: bool = False,
    ) -> None:
        self._frontier, self._core, self._alltoall = frontier, frontier.core, frontier.alltoall
        self._radius = _FOREVER if radius is None else radius
        self._profiled, self.level_counts = profile, [1]
        self._fixed = distances is not None
        self.distances = distances if distances is not None else virtual_column(
            frontier.core.table.n_vertices, np.uint8, frontier.first, frontier.stop, 255)
        self.level = self.reached = 0
        self.complete: bool | None = None
        self.bins = np.zeros(1 + BINS, np.int64)
        self._set_targets(targets, source)
        frontier.restart(1)
        if frontier.first <= source < frontier.stop:
            frontier.vertices = frontier.visit(np.array([source], np.int64))
            self._settle(np.array([source]), 0)
        frontier.bias = faded(frontier.bias)
        self._sparse_run = 0
        self._async: AsyncBfs | None = None

    def _set_targets(self, targets: np.ndarray | None, source: int) -> None:
        frontier = self._frontier
        self._own_targets, self._targets, self._left, self._n_targets = NO_IDS, _NO_BITS, _FOREVER, 0
        if targets is not None:
            self._n_targets = self._left = len(targets)
            self._own_targets = targets[(targets >= frontier.first) & (targets < frontier.stop)]
            self._targets = virtual_zeros(len(self._core.work.visited), np.uint64)
            set_bits(self._targets, self._own_targets, len(self._own_targets))
            if np.isin(source, targets).any():
                self._left -= 1
                self.complete = None if self._left else False

    def run(self) -> None:
        """Run all levels."""
        frontier, few = self._frontier, self._core.dense_arcs
        while self.complete is None:
            if self._async is not None:
                self._async_round(self._async)
            elif self.level >= self._level_limit():
                self._at_limit()
            elif frontier.dense:
                self._dense_level()
            elif self._sparse_run >= ASYNC_AFTER and 2 * frontier.front.arcs <= few:
                self._async = AsyncBfs(frontier, self.distances, self.level, self._own_targets)
            else:
                self._sparse_level()

    # -- levels ---------------------------------------------------------------------------------
    def _sparse_level(self) -> None:
        """One level top-down."""
        frontier = self._frontier
        new, others, scanned = frontier.expand()
        facts = [len(new), frontier.sum_degrees(new), self._met(new), len(others)]
        came, table = frontier.tell_owners(others, np.array(facts))
        *sums, sent = table.sum(axis=0).tolist()
        frontier.count_level(1, scanned)
        if len(came):
            new = np.concatenate((new, came))
        self._settle(new, self.level + 1)
        frontier.vertices = new
        self._sparse_run += 1
        if sent:
            self._end_level(len(new), frontier.sum_degrees(new), self._met(new), scanned)
        else:
            self._next_level(*sums)

    def _dense_level(self) -> None:
        """One level bottom-up."""
        frontier = self._frontier
        frontier.join_words()
        vertices, arcs, met, scanned = frontier.look_back(self.distances, self.level + 1, self._targets)
        self.reached += vertices
        count_level(self.bins, 0, self.level + 1, vertices)
        frontier.count_level(1, scanned, dense=True)
        self._sparse_run = 0
        self._end_level(vertices, arcs, met, scanned)

    def _end_level(self, *facts: int) -> None:
        """Decide the next level from the sums of vertices, arcs, targets met and arcs scanned."""
        vertices, arcs, met, scanned = self._alltoall.total(np.array(facts)).tolist()
        if self._frontier.dense:
            frontier = self._frontier
            frontier.bias = frontier.front.learned(self._core, scanned, frontier.bias)
        self._next_level(vertices, arcs, met)

    def _next_level(self, vertices: int, arcs: int, met: int) -> None:
        """Count a level with these sums over all ranks, and choose the next direction."""
        if vertices == 0:
            self.complete = True
            return
        self.level += 1
        self.level_counts.append(vertices)
        self._frontier.count(vertices, arcs)
        self._left -= met
        self._frontier.choose_direction()
        if self._left <= 0:
            self.complete = False

    # -- asynchronously ---------------------------------------------------------------------------
    def _async_round(self, ahead: AsyncBfs) -> None:
        """One asynchronous round."""
        limit = self._level_limit()
        ahead.round(limit)
        self._frontier.count_level(ahead.low - self.level, 0)
        self.level = ahead.low
        at_limit = ahead.low >= limit and ahead.quiet
        if ahead.over or ahead.stopped or (self._n_targets and ahead.met) or (at_limit and limit == self._radius):
            self._leave(ahead)
        elif at_limit:
            self._at_limit()
            ahead.distances = self.distances

    def _leave(self, ahead: AsyncBfs) -> None:
        """End the asynchronous part: the search is over, or continues level by level."""
        met, longest = False, _FOREVER
        if ahead.stopped and not ahead.over:
            longest = ahead.stop_at
        if self._n_targets:
            values = self.distances[self._own_targets]
            far = values == self._unreached if ahead.over else values > ahead.low
            table = self._alltoall.share(np.array([np.count_nonzero(far), values.max(initial=0)]))
            met = not table[:, 0].any()
            longest = int(table[:, 1].max()) if met else longest
        before = self.level
        self._async, self._sparse_run = None, -1
        self._count_again(longest)
        self._frontier.count_level(self.level - before, 0)
        if met:
            self.complete = False
        elif ahead.over or self.level < min(longest, self._radius):
            self.complete = True
        elif self.level >= self._radius:
            self.complete = False
        else:
            self._back_to_levels()

    def _count_again(self, longest: int) -> None:
        """Drop distances above `longest`, and recount everything from the others, which are final."""
        frontier, visited, ends = self._frontier, self._core.work.visited, -1
        reached = arcs = 0
        for start in range(frontier.first, frontier.stop, _PIECE):
            values = self.distances[start : min(start + _PIECE, frontier.stop)]
            values[values > longest] = self._unreached
            ids = np.flatnonzero(values != self._unreached)
            reached, arcs = reached + len(ids), arcs + frontier.sum_degrees(ids + start)
            ends = max(ends, int(values[ids].max(initial=0)) if len(ids) else -1)
        distances = self.distances[frontier.first : frontier.stop]
        bounded_bits(distances, self._unreached - 1, visited[frontier.words])
        visited[frontier.words] |= self._core.table.isolated[frontier.words]
        met = np.count_nonzero(self.distances[self._own_targets] != self._unreached)
        table = self._alltoall.share(np.array([ends + 1, reached, arcs, met]))
        self.level, self.reached = int(table[:, 0].max()) - 1, reached
        _, frontier.reached, frontier.front.visited_arcs, met = table.sum(axis=0).tolist()
        self._left = self._n_targets - met if self._n_targets else _FOREVER
        count_labels(distances, self._unreached, self.level, self.bins, 0)
        if self._profiled:
            counts = np.bincount(distances[distances != self._unreached], minlength=self.level + 1)
            self.level_counts = self._alltoall.total(counts).tolist()

    def _back_to_levels(self) -> None:
        """Rebuild the frontier from the distances."""
        frontier = self._frontier
        at = self.distances[frontier.first : frontier.stop] == self.level
        frontier.vertices = np.flatnonzero(at) + frontier.first
        facts = np.array([len(frontier.vertices), frontier.sum_degrees(frontier.vertices)])
        frontier.front.vertices, frontier.front.arcs = self._alltoall.total(facts).tolist()
        frontier.choose_direction()

    # -- this rank's vertices -------------------------------------------------------------------
    @property
    def _unreached(self) -> int:
        return int(np.iinfo(self.distances.dtype).max)

    def _settle(self, new: np.ndarray, level: int) -> None:
        if len(new):
            self.distances[new] = level
            self.reached += len(new)
            count_level(self.bins, 0, level, len(new))

    def _met(self, new: np.ndarray) -> int:
        return int(np.isin(new, self._own_targets).sum()) if len(self._own_targets) else 0

    def _level_limit(self) -> int:
        return min(self._radius, self._unreached - 1)

    def _at_limit(self) -> None:
        if self.level >= self._radius:
            self.complete = False
        elif self._fixed:
            raise OverflowError(f"distance {self.level + 1} does not fit a column of {self.distances.dtype}")
        else:
            self.distances = widened(self.distances, self._frontier.first, self._frontier.stop)


def widened(values: np.ndarray, first: int, stop: int) -> np.ndarray:
    """The column in the next wider dtype, with sentinels converted, in first..stop-1."""
    part = widen(values[first:stop])
    wide = virtual_zeros(len(values), part.dtype)
    wide[first:stop] = part
    return wide


# -- verbs ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class RangeResult:
    """The result of a search in one range. level : the last level. complete : False if a radius or targets ended it.
    farthest : the smallest vertex on the last level, or -1. dtype : of the distances. bins : see
    traverse/workspace.py. level_counts : numbers of vertices by level in all ranges, with `profile`."""

    level: int
    complete: bool
    reached: int
    farthest: int
    dtype: str
    bins: np.ndarray
    level_counts: list[int]


def bfs(
    rank: Rank, source: int, radius: int | None, targets: np.ndarray | None, into: int | None, keep: int | None,
    profile: bool
) -> RangeResult:
    """A complete search on all ranks; source, radius, targets and profile as in Engine.bfs. into : key of an existing
    column for the distances, which is cleared first, or None. keep : key of a new column for them, or None."""
    values = None
    if into is not None:
        values = rank.values[into]
        values[rank.span] = np.iinfo(values.dtype).max
    search = rank.under_way = RankBfs(rank.frontier, source, radius=radius, targets=targets, distances=values,
                                     profile=profile)
    search.run()
    if keep is not None:
        rank.values[keep] = search.distances
    at = np.flatnonzero(search.distances[rank.span] == search.level)[:1]
    return RangeResult(search.level, bool(search.complete), search.reached,
                       int(at[0]) + rank.first if len(at) else -1, search.distances.dtype.name, search.bins,
                       search.level_counts)


def merged_profile(results: Sequence[RangeResult], level: int) -> list[list[int]]:
    """[[first level, vertices], ...] up to `level`, from the bins of all ranks (traverse/workspace.py)."""
    shift = max(int(result.bins[0]) for result in results)
    total = np.zeros(BINS, np.int64)
    for result in results:
        folded = result.bins[1:].reshape(-1, 1 << (shift - int(result.bins[0]))).sum(axis=1)
        total[: len(folded)] += folded
    return [[i << shift, count] for i, count in enumerate(total[: 1 + (level >> shift)].tolist())]
