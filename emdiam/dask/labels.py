"""Labels of clusters on workers, 8 bytes a vertex in ranges: verbs of a rank, and the client's interface.

Label growth over all ranks computes the fixpoint of traverse/labels.py, with a range on each rank.

A round takes the waiting vertices of the lowest distances, offers their labels along their rows, and sends the smallest
offer for each vertex of another range to its owner (alltoall.py); then all ranks learn the lowest waiting distance. A
round is one level: labels are final when their row is read, so a message has only owners (4 bytes). On graphs with many
small levels a round is a window of WIDEST levels, in which a rank continues within its own range before it sends (8
bytes). The final labels are the same.
A vertex of another range that got an offer in a round of one level is settled: later offers of this rank would be
larger, so it gets none (bits in work.visited; the bits in work.frontier are the vertices that get an offer in this
round).
Bytes sent: 1 to 5 and 4 for each vertex of another range, once a rank; in wide windows and restarts 1 to 5 and 8, at
most once a round. Bytes a vertex of the range: 8; a vertex of another range 2/8; pending offers, 48 bytes each, fit the
given memory, except the offers of one block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ..traverse.clusters import (
    RamLabels,
    check_number,
    count_distances,
    mark_reached,
    place_by_distance,
    replace_labels,
    restart_labels,
    take_distances,
)
from ..traverse.columns import Column
from ..traverse.labels import (
    FOREVER,
    LONGEST,
    SLOTS,
    UNREACHED,
    WIDE_BITS,
    WIDEST,
    LabelVector,
    grow_labels,
    lowest_waiting,
    take_offers,
    take_waiting,
)
from ..traverse.rows import ALL
from ..traverse.workspace import set_bits
from .alltoall import least_of_each, range_ranks, ranks_of, slab_size
from .columns import Columns
from .components import smallest_of_components, united
from .plan import virtual_zeros
from .rank import Rank
from .scans import condense_some, end_condensing

_PIECE = 1 << 20
# Packed arcs that a worker returns at a time.
_PACKED_ARCS = 1 << 20


def seed_labels(rank: Rank, key: int, masters: np.ndarray, first: int) -> None:
    """Give the masters the distance 0 and the groups first, first + 1, ..., and make them wait."""
    labels, waiting = rank.values[key], rank.core.work.before
    here = np.flatnonzero((masters >= rank.first) & (masters < rank.stop))
    new = masters[here]
    labels[new] = (here + first).astype(np.uint64)
    waiting[rank.words] = 0
    set_bits(waiting, new, len(new))


def restart_range(rank: Rank, key: int, base: np.ndarray, parts: np.ndarray, sources: np.ndarray) -> None:
    """Set labels to (base[group] + distance, parts[group]), and labels of sources to 0 and their number; all wait."""
    labels, waiting = rank.values[key], rank.core.work.before
    restart_labels(labels[rank.span], WIDE_BITS, WIDE_BITS, base.astype(np.uint64), parts.astype(np.uint64))
    here = np.flatnonzero((sources >= rank.first) & (sources < rank.stop))
    labels[sources[here]] = here.astype(np.uint64)
    waiting[rank.words] = ~rank.core.table.isolated[rank.words]


def grow(rank: Rank, key: int, width: int, limits: tuple[int | None, int | None], room: int) -> tuple[str, int, int]:
    """A complete growth on all ranks (width, limits = (most_rounds, most_blocks), room : see RankGrowth): the way it
    ended, the next distance or -1, the number of rounds."""
    growth = rank.under_way = RankGrowth(rank, rank.values[key], width, *limits, room)
    end = growth.run()
    return end, growth.level if growth.level not in (None, FOREVER) else -1, growth.rounds


def any_lonely(rank: Rank, key: int) -> bool:
    """Whether a vertex of this range with an edge has no label."""
    return bool((_reached(rank, key) != ALL).any())


def _reached(rank: Rank, key: int) -> np.ndarray:
    """Bitmap of this range: vertices that are reached, or without an edge."""
    bits = np.zeros(rank.words.stop - rank.words.start, np.uint64)
    mark_reached(rank.values[key][rank.span], bits)
    bits |= rank.core.table.isolated[rank.words]
    return bits


def lonely_roots(rank: Rank, key: int) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of this range with the smallest rank in a component without a label, and their ranks."""
    seen = _reached(rank, key)
    return smallest_of_components(rank, united(rank, seen, 0), seen)


def ask_labels(rank: Rank, key: int, method: str, n_groups: int) -> Any:
    """Call a method of Labels that needs no ranks on this range."""
    return getattr(_range_labels(rank, key, n_groups, np.empty(0, rank.store.id_dtype)), method)()


def ask_members(rank: Rank, key: int, method: str, n_groups: int, *args: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The result of a method of Labels on this range (a vertex of each group), and the ranks; -1 without a vertex."""
    vertices = getattr(_range_labels(rank, key, n_groups, range_ranks(rank)), method)(*(arg.copy() for arg in args))
    ranks, there = np.full(len(vertices), -1, np.int64), vertices >= 0
    vertices[there] += rank.first
    ranks[there] = ranks_of(rank, vertices[there])
    return vertices, ranks


def _range_labels(rank: Rank, key: int, n_groups: int, ranks: np.ndarray) -> RamLabels:
    packed = LabelVector(rank.core, rank.values[key][rank.span])
    return RamLabels(rank.core, packed, np.empty(n_groups, np.int64), ranks)


def count_range(rank: Rank, key: int, longest: int) -> np.ndarray:
    """Numbers of vertices of this range by distance, unreached ones last, int64[longest + 2]."""
    counts = np.zeros(longest + 2, np.int64)
    count_distances(rank.values[key][rank.span], WIDE_BITS, counts)
    return counts


def places_range(rank: Rank, key: int, starts: np.ndarray) -> np.ndarray:
    """Labels.places of this range, id[stop - first]; starts : first place of each distance."""
    places = np.empty(rank.stop - rank.first, rank.store.id_dtype)
    place_by_distance(rank.values[key][rank.span], WIDE_BITS, starts.copy(), places)
    return places


def replace_range(rank: Rank, key: int, start: int, distances: np.ndarray) -> None:
    """Give reached vertices of start, start + 1, ... these distances (unsigned[k]); groups stay."""
    values = rank.values[key][start : start + len(distances)]
    replace_labels(values, WIDE_BITS, distances.astype(np.uint64), np.arange(len(distances), dtype=rank.store.id_dtype))


def make_column(rank: Rank, key: int, new: int) -> None:
    """Create the column `new` (uint32) with the distances of the labels `key`."""
    rank.values[new] = virtual_zeros(rank.core.table.n_vertices, np.uint32)
    take_distances(rank.values[key][rank.span], WIDE_BITS, rank.values[new][rank.span])


class WorkerClusters(RamLabels):
    """See Labels. columns : of the engine. masters : of the groups. room : bytes for labels and offers of other ranks
    on a worker. column : the labels, uint64; key : its key."""

    def __init__(self, columns: Columns, masters: np.ndarray, room: int) -> None:
        check_number(len(masters))
        self._columns, self.masters, self._room, self.passes = columns, masters, room, 0
        self.column = columns.make(np.uint64, int(UNREACHED))
        self.key, self._group = self.column.key, columns.group
        self.packed = LabelVector(cast(Any, None), cast(Any, self.column))  # only for looking labels up

    # -- growth -------------------------------------------------------------------------------------
    def grow_new(self, first: int, most_rounds: int | None) -> bool:
        """Grow from the masters number `first` on; False if stopped after `most_rounds`."""
        self._group.everyone(seed_labels, self.key, self.masters[first:], first)
        return self._grow(1, (most_rounds, None))

    def add_lonely(self) -> bool:
        """Add the vertex of smallest rank of each component without a master as a master; return whether there were
        any."""
        if not any(self._group.everyone(any_lonely, self.key)):
            return False
        roots, ranks = (np.concatenate(parts) for parts in zip(*self._group.everyone(lonely_roots, self.key),
                                                               strict=True))
        check_number(len(self.masters) + len(roots))
        self.masters = np.concatenate((self.masters, roots[np.argsort(ranks)]))
        return True

    def restart_from(self, base: np.ndarray, parts: np.ndarray, sources: np.ndarray, most_blocks: int | None) -> bool:
        """See Engine.restart. most_blocks : largest number of scanned blocks of all ranks together."""
        self.masters = np.asarray(sources, np.int64)
        self._group.everyone(restart_range, self.key, base, parts, self.masters)
        return self._grow(FOREVER, (None, most_blocks))

    def _grow(self, width: int, limits: tuple[int | None, int | None]) -> bool:
        """Grow from the waiting vertices; see RankGrowth."""
        how, level, rounds = self._group.everyone(grow, self.key, width, limits, self._room)[0]
        self.passes += rounds
        if how == TOO_LONG:
            raise OverflowError(f"a distance of {level} does not fit a label")
        return bool(how == WHOLE)

    def condense(self, bits: tuple[int, int], push: Callable[[np.ndarray], None]) -> None:
        """See Engine.condense."""
        n, size = len(self.column), slab_size(self._room, self.column.dtype.itemsize)
        try:
            for low in range(0, n, size):
                slab, done = (low, min(low + size, n)), dict.fromkeys(range(self._group.size), 0)
                while done:
                    some = self._group.some(condense_some, {
                        rank: (self.key, slab, blocks, bits, _PACKED_ARCS) for rank, blocks in done.items()})
                    for arcs, _ in some:
                        if len(arcs):
                            push(arcs)
                    done = {rank: blocks for rank, (_, blocks) in zip(done, some, strict=True) if blocks >= 0}
        finally:
            self._group.everyone(end_condensing)

    # -- queries ------------------------------------------------------------------------------------
    def tally(self) -> tuple[np.ndarray, np.ndarray]:
        """See Labels.tally."""
        radii, sizes = zip(*self._group.everyone(ask_labels, self.key, "tally", self.n_groups), strict=True)
        return np.max(radii, axis=0), np.sum(sizes, axis=0)

    def farthest_members(self, radii: np.ndarray) -> np.ndarray:
        """See Labels.farthest_members."""
        return self._of_smallest_rank("farthest_members", np.asarray(radii, np.int64))

    def first_members(self) -> np.ndarray:
        """See Labels.first_members."""
        return self._of_smallest_rank("first_members")

    def _of_smallest_rank(self, method: str, *args: np.ndarray) -> np.ndarray:
        """From the results of a method on all ranges, the vertex of smallest rank of each group, int64[k]."""
        pairs = self._group.everyone(ask_members, self.key, method, self.n_groups, *args)
        vertices, ranks = (np.array(each) for each in zip(*pairs, strict=True))
        ranks[ranks < 0] = np.iinfo(np.int64).max
        best: np.ndarray = vertices[ranks.argmin(axis=0), np.arange(vertices.shape[1])]
        return best

    def tally_longest(self) -> int:
        """See Labels.tally_longest."""
        return max(self._group.everyone(ask_labels, self.key, "tally_longest", 0))

    def places(self) -> np.ndarray:
        """See Labels.places; the array is in RAM of the client."""
        longest = self.tally_longest()
        counts = np.array(self._group.everyone(count_range, self.key, longest))
        begin = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts.sum(axis=0))[:-1]))
        starts = begin + np.cumsum(counts, axis=0) - counts
        parts = self._group.some(places_range, {rank: (self.key, begins) for rank, begins in enumerate(starts)})
        return np.concatenate(parts)

    def replace_distances(self, distances: np.ndarray, places: np.ndarray) -> None:
        """See Labels.replace_distances; both arrays are in RAM of the client."""
        for rank in range(self._group.size):
            first, stop = self._group.spec.span(rank)
            for start in range(first, stop, _PIECE):
                new = distances[places[start : min(start + _PIECE, stop)]]
                self._group.some(replace_range, {rank: (self.key, start, new)})

    def take_column(self) -> Column:
        """See Labels.take_column; the column is on the workers."""
        new = self._columns.new_key()
        self._group.everyone(make_column, self.key, new)
        self.release()
        return self._columns.adopt(new, np.uint32)

    def release(self) -> None:
        """See Labels.release."""
        del self.column, self.packed


def on_workers(labels: object) -> WorkerClusters:
    """The labels, if they are on workers. Raises TypeError for labels in RAM."""
    if not isinstance(labels, WorkerClusters):
        raise TypeError("these labels are in RAM of the client; those of this engine are on its workers")
    return labels


_OFFER_BYTES = 48
# After this number of rounds of one level, a round with few arcs (in which messages cost more) makes windows wide.
_PATIENCE = 32
_DISTANCE = np.uint64(WIDE_BITS)
_OWNER = np.uint64(0xFFFFFFFF)
WHOLE, STOPPED, TOO_LONG = "whole", "stopped", "too long"


class RankGrowth:
    """A growth: all ranks call `run`, which returns WHOLE, STOPPED, or TOO_LONG for a distance that does not fit a
    label.

    values : uint64[n], valid in this range. Bits of waiting vertices are in work.before. width : levels of a window; 1
    may become wider; FOREVER takes all waiting vertices. most_rounds : STOPPED when a vertex at this distance waits.
    most_blocks : STOPPED when all ranks together have scanned more blocks and a vertex waits. room : bytes for pending
    offers.
    """

    def __init__(
        self, rank: Rank, values: np.ndarray, width: int, most_rounds: int | None, most_blocks: int | None, room: int
    ) -> None:
        self._rank, self._values, self._width = rank, values, width
        self._adapts = width == 1
        self._round_limit = FOREVER if most_rounds is None else most_rounds
        self._block_limit = FOREVER if most_blocks is None else most_blocks
        self._offer_limit = max(1, room // _OFFER_BYTES)
        self._offers: list[np.ndarray] = []
        for outside in self._outside:
            rank.core.work.visited[outside] = rank.core.work.frontier[outside] = 0
        self._scanned = self._n_blocks = 0
        self.rounds = self.blocks = 0
        self.level: int | None = None

    @property
    def _outside(self) -> tuple[slice, slice]:
        """The words of a bitmap that belong to other ranges."""
        words = self._rank.words
        return slice(0, words.start), slice(words.stop, None)

    def run(self) -> str:
        """All rounds."""
        self._settle()
        while True:
            assert self.level is not None
            if self.level == FOREVER:
                return WHOLE
            if self.level >= self._round_limit or self.blocks >= self._block_limit:
                return STOPPED
            if self.level >= LONGEST:
                return TOO_LONG
            self._round(self.level)
            self._settle()

    def _round(self, lowest: int) -> None:
        """One window; its offers are sent in several messages if `room` is small."""
        limit = min(FOREVER, lowest + self._width, max(lowest + 1, self._round_limit))
        narrow = self._width == 1
        pending = self._take(limit)
        while True:
            size = 0
            while len(pending):
                some = max(1, self._offer_limit >> self._rank.core.table.shift)
                size += self._sweep(pending[:some], limit)
                pending = pending[some:]
                if size >= self._offer_limit:
                    break
                if not len(pending) and 1 < self._width < FOREVER:
                    pending = self._take(limit)
            if not self._tell(lowest, narrow, len(pending)):
                break
        if narrow:
            self._settle_told()

    def _settle_told(self) -> None:
        """Mark vertices that got an offer in this round as settled."""
        work = self._rank.core.work
        for outside in self._outside:
            work.visited[outside] |= work.frontier[outside]
            work.frontier[outside] = 0

    def _take(self, limit: int) -> np.ndarray:
        """Take the waiting vertices below `limit`; return the blocks with their rows, int64[k]."""
        rank, core, work = self._rank, self._rank.core, self._rank.core.work
        take_waiting(work.before[rank.words], work.frontier[rank.words], self._values[rank.span], WIDE_BITS, limit)
        return core.blocks_with(work.frontier)

    def _sweep(self, blocks: np.ndarray, limit: int) -> int:
        """Offer labels along the rows of the taken vertices in these blocks; return the number of offers listed for
        other ranks."""
        core = self._rank.core
        words = (core.work.frontier, core.work.before, core.work.visited)
        bounds, room = np.array([*core.span, limit, WIDE_BITS]), (1 << core.table.shift) + SLOTS
        listed: list[np.ndarray] = []
        self._scanned += core.gather(blocks, grow_labels, self._values, words, bounds,
                                     new_buffer=lambda: np.empty((room, 2), np.uint64),
                                     take=lambda offers: listed.append(offers.copy()))
        self._n_blocks += len(blocks)
        self._offers += listed
        return sum(len(offers) for offers in listed)

    def _tell(self, lowest: int, narrow: bool, left: int) -> bool:
        """Send the smallest offer for each vertex of other ranks, and receive theirs; return whether a rank has more to
        send."""
        listed = np.concatenate([np.empty((0, 2), np.uint64), *self._offers])
        self._offers = []
        ids, offers = least_of_each(listed[:, 0].astype(np.int64), listed[:, 1].copy())
        if narrow:
            set_bits(self._rank.core.work.frontier, ids, len(ids))
        sent = (offers & _OWNER).astype(np.uint32) if narrow else offers
        incoming, table = self._rank.alltoall.tell(ids, sent, np.array([left], np.int64))
        for names, values in incoming:
            if narrow:
                values = values.astype(np.uint64) | (np.uint64(lowest + 1) << _DISTANCE)
            take_offers(names, values, self._values, self._rank.core.work.before)
        return bool(table[:, 0].any())

    def _settle(self) -> None:
        """Learn the lowest waiting distance of all ranks, and the work of the round."""
        rank, core = self._rank, self._rank.core
        lowest = int(lowest_waiting(core.work.before[rank.words], self._values[rank.span], WIDE_BITS))
        table = rank.alltoall.share(np.array([lowest, self._scanned, self._n_blocks], np.int64))
        core.counters.add(edges_scanned=self._scanned)
        if self.level is not None:
            self.rounds += 1
            core.counters.add(levels=int(rank.number == 0), passes=int(rank.number == 0))
        self._scanned = self._n_blocks = 0
        self.level = int(table[:, 0].min())
        arcs = int(table[:, 1].sum())
        self.blocks += int(table[:, 2].sum())
        if self._adapts:
            self._width = WIDEST if self.rounds > _PATIENCE and arcs < core.dense_arcs else 1
