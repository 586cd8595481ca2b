"""Bit-parallel BFS of many sources over all ranks: the levels of traverse/multi.py, with masks that travel.

Every rank keeps the masks of its own vertices only. Sparse level: neighbours owned by others go to their owners with
their masks, each once a level (once for every time that the table of them is full). Dense level: every rank gives its
frontier with its masks to all, as much at a time as the room of the receivers holds, and looks back at it; so a level
may take several rounds and sweeps. Every rank draws the same conclusions from the same sums.
Bytes sent: ceil(k / 8) for a mask of k sources, and what frontier_codec.py takes for its vertex.
Sources: Then et al., PVLDB 2014 (MS-BFS); Buluc and Madduri 2011, 1D partitioning; Beamer et al. 2012, directions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .frontier_codec import add_to_words, decode_ids, encode_ids, encode_words
from .mask_kernels import ACTIVE
from .masks import Masks, row_bytes
from .ranges import virtual_zeros
from .rank import Part
from .search import Work

# A pushed arc costs so many pulled ones, on one thread; all threads pull.
PUSH_COST = 2
# Facts of a round: whether more comes; of a dense level: words of the piece, its vertices.
_MORE, _FROM, _TO, _VERTICES, _PIECE = 0, 1, 2, 3, 4
# Facts of a finished level; then which sources are alive.
_NEW, _ARCS, _OPEN, _MET, _ALIVE = 0, 1, 2, 3, 4
_HEADER = 8


class MultiSearch:
    """A BFS of k sources: every rank calls `run`.

    masks : of this rank. k : number of sources. remaining : (target, source) pairs to be met, or None without targets.
    widest : largest distance that the columns hold, or None. room : bytes for what comes from others.
    eccentricities : int32[k], the same on every rank. level : largest distance reached so far. too_long : whether it
    was ended by a distance that the columns do not hold.
    """

    def __init__(
        self, work: Work, masks: Masks, k: int, *, remaining: int | None, widest: int | None, room: int
    ) -> None:
        self._work, self._masks, self._core, self._k = work, masks, work.core, k
        self._remaining, self._widest = remaining, widest
        self._wire = -(-k // 8)
        self._rows = max(1, room // (2 * row_bytes(k) * len(work.ranges)))
        self.eccentricities = np.zeros(k, np.int32)
        self.level = 0
        self.dense = self.too_long = False
        self.finished = remaining is not None and remaining <= 0
        if not self.finished:
            self._choose(work.mail.total(np.array([masks.row_arcs, masks.open_arcs], np.int64)).tolist())

    def run(self) -> None:
        """All levels."""
        while not self.finished:
            dense = self.dense
            scanned, first = self._dense_level() if dense else self._sparse_level(), int(self._work.rank == 0)
            self._core.counters.add(levels=first, passes=first * dense, dense_levels=first * dense,
                                    edges_scanned=scanned)
            self._end_level()

    # -- levels ---------------------------------------------------------------------------------
    def _sparse_level(self) -> int:
        """One level top-down; arcs scanned."""
        masks, mail, first = self._masks, self._work.mail, self._work.frontier.first
        masks.begin_push()
        while True:
            more = np.array([masks.push()], np.int64)
            incoming, table = mail.swap(self._letters(*masks.outgoing()), more)
            for message in incoming.values():
                if len(message):
                    count = int(message[:_HEADER].copy().view(np.int64)[0])
                    split = len(message) - count * self._wire
                    masks.receive(decode_ids(message[_HEADER:split], first), self._unpacked(message[split:]))
            if not table[:, _MORE].any():
                return masks.scanned

    def _letters(self, vertices: np.ndarray, masks: np.ndarray) -> dict[int, np.ndarray]:
        """Messages to the owners of `vertices`, ascending: how many, ids, masks."""
        if len(vertices) == 0:
            return {}
        ranges = self._work.ranges
        cuts = np.searchsorted(vertices, ranges).tolist()
        packed = self._packed(masks)
        return {
            rank: np.concatenate((
                np.array([high - low], np.int64).view(np.uint8),
                encode_ids(vertices[low:high], int(ranges[rank]), int(ranges[rank + 1])),
                packed[low * self._wire : high * self._wire]))
            for rank in self._work.mail.others if (low := cuts[rank]) < (high := cuts[rank + 1])}

    def _dense_level(self) -> int:
        """One level bottom-up; arcs scanned."""
        masks, work = self._masks, self._work
        own = masks.own
        counts = np.bitwise_count(masks.marks[ACTIVE, own]).astype(np.int64)
        ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        n_words, at, scanned = len(counts), 0, 0
        while True:
            stop = self._piece_end(ends, at)
            low, high = int(ends[at]), int(ends[stop])
            words, mine = masks.marks[ACTIVE, own.start + at : own.start + stop], masks.masks[low:high]
            letter = np.concatenate((encode_words(words, 0), self._packed(mine)))
            facts = np.array([stop < n_words, own.start + at, own.start + stop, high - low], np.int64)
            incoming, table = work.mail.swap(dict.fromkeys(work.mail.others, letter), facts)
            incoming[work.rank] = letter
            scanned += masks.pull(*self._joined(incoming, table))
            at = stop
            if not table[:, _MORE].any():
                return scanned

    def _piece_end(self, ends: np.ndarray, at: int) -> int:
        """The word behind the next piece of the frontier: as many words as have _rows vertices, one at least."""
        stop = int(np.searchsorted(ends, ends[at] + self._rows, side="right")) - 1
        return min(len(ends) - 1, max(stop, at + 1))

    def _joined(self, letters: dict[int, np.ndarray], table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Index and masks (see pull_masks) of the pieces of all ranks, that of this rank included."""
        index = np.zeros((self._masks.marks.shape[1], 2), np.uint64)
        counts = table[:, _VERTICES]
        gathered: np.ndarray = np.empty((int(counts.sum()), self._masks.width), self._masks.dtype)
        before = np.cumsum(counts) - counts
        for rank, letter in letters.items():
            low, high, count = table[rank, _FROM:_PIECE].tolist()
            split, begin = len(letter) - count * self._wire, int(before[rank])
            words = np.zeros(high - low, np.uint64)
            add_to_words(letter[:split], words)
            ones = np.bitwise_count(words).astype(np.int64)
            index[low:high, 0] = words
            index[low:high, 1] = begin + np.cumsum(ones) - ones
            gathered[begin : begin + count] = self._unpacked(letter[split:])
        return index, gathered

    def _end_level(self) -> None:
        """From the sums over all ranks: what comes next."""
        masks = self._masks
        met, alive = masks.end_level(self.level + 1)
        facts = np.zeros(_ALIVE + masks.width, np.int64)
        facts[:_ALIVE] = len(masks.masks), masks.row_arcs, masks.open_arcs, met
        facts[_ALIVE:] = alive.astype(np.uint64).view(np.int64)
        table = self._work.mail.share(facts)
        new, arcs, open_arcs, met = table[:, :_ALIVE].sum(axis=0).tolist()
        if new == 0:
            self.finished = True
            return
        self.level += 1
        if self._widest is not None and self.level > self._widest:
            self.too_long = self.finished = True
            return
        reached = np.bitwise_or.reduce(table[:, _ALIVE:], axis=0).view(np.uint8)
        size = np.dtype(masks.dtype).itemsize
        bits = np.unpackbits(reached.reshape(-1, 8)[:, :size].reshape(-1), bitorder="little")[: self._k]
        self.eccentricities[bits.astype(bool)] = self.level
        if self._remaining is not None:
            self._remaining -= met
            self.finished = self._remaining <= 0
        self._choose((arcs, open_arcs))

    def _choose(self, sums: tuple[int, int] | list[int]) -> None:
        """Bottom-up if the frontier has enough arcs to be worth it, and more than there are to look back."""
        arcs, open_arcs = sums
        few = self._core.dense_arcs // 2 if self.dense else self._core.dense_arcs
        self.dense = arcs > few and open_arcs < PUSH_COST * self._core.crew.threads * arcs

    # -- masks as bytes -------------------------------------------------------------------------
    def _packed(self, masks: np.ndarray) -> np.ndarray:
        """The bytes of masks that sources need, uint8[k * bytes]."""
        return masks.view(np.uint8).reshape(len(masks), row_bytes(self._k))[:, : self._wire].reshape(-1)

    def _unpacked(self, data: np.ndarray) -> np.ndarray:
        """Masks [k, w] from their bytes."""
        rows = np.zeros((len(data) // self._wire, row_bytes(self._k)), np.uint8)
        rows[:, : self._wire] = data.reshape(-1, self._wire)
        return rows.view(self._masks.dtype)


_NO_BITS = np.empty(0, np.uint64)


@dataclass(frozen=True)
class Batch:
    """What a batch looks for. sources : int64[k]. columns : keys of columns for their distances, or None. remaining :
    (target, source) pairs to be met, or None without targets. room : bytes for what goes to others, and as many for
    what comes from them."""

    sources: np.ndarray
    columns: list[int] | None
    remaining: int | None
    room: int


@dataclass(frozen=True)
class BatchFound:
    """eccentricities : int32[k]. level : largest distance. too_long : whether the columns do not hold it."""

    eccentricities: np.ndarray
    level: int
    too_long: bool


def multi_source(part: Part, batch: Batch, targets: np.ndarray | None) -> BatchFound:
    """A whole batch, on all ranks together. targets : bitmap of this range, uint64[words]."""
    bitmap = _NO_BITS
    if targets is not None:
        bitmap = virtual_zeros(part.store.n_vertices // 64 + 1, np.uint64)
        bitmap[part.own_words] = targets
    sinks, widest = _open_columns(part, batch)
    masks = Masks(part.core, batch.sources, targets=bitmap, sinks=sinks, room=batch.room)
    search = part.under_way = MultiSearch(part.work, masks, len(batch.sources), remaining=batch.remaining,
                                          widest=widest, room=batch.room)
    search.run()
    return BatchFound(search.eccentricities, search.level, search.too_long)


def _open_columns(part: Part, batch: Batch) -> tuple[tuple[np.ndarray, int], int | None]:
    """(addresses of the columns and bytes of their items, largest value that they hold); sources are at distance 0."""
    if batch.columns is None:
        return (_NO_BITS, 0), None
    columns = [part.values[key] for key in batch.columns]
    for column, source in zip(columns, batch.sources.tolist(), strict=True):
        if part.first <= source < part.stop:
            column[source] = 0
    addresses = np.array([column.ctypes.data for column in columns], np.int64)
    return (addresses, columns[0].itemsize), int(np.iinfo(columns[0].dtype).max) - 1
