"""Bit-parallel BFS of many sources over all ranks: the levels of traverse/multi.py, with masks in messages.

Every rank has the masks of its own vertices only. Sparse level: masks for neighbours in other ranges go to their
owners, once for each piece of the frontier that fits the given memory. Dense level: every rank sends its frontier with
its masks to all, in pieces that fit the memory of the receivers, which pull from it; so a level may take several rounds
and sweeps. All ranks take the same decisions, from the same sums.
Bytes sent: ceil(k / 8) for a mask of k sources, and the bytes of its vertex (frontier_codec.py).
Sources: Then et al., PVLDB 2014 (MS-BFS); Buluc and Madduri 2011, 1D partitioning; Beamer et al. 2012, directions.
"""

from __future__ import annotations

import numpy as np

from .frontier import RankFrontier
from .frontier_codec import add_to_words, encode_words
from .masks import ACTIVE, Masks, row_bytes
from .plan import virtual_zeros
from .rank import Rank

# A pushed arc costs as much as PUSH_COST pulled ones on one thread; all threads pull.
PUSH_COST = 2
# Facts of a round: whether more follows; of a dense level: words of the piece, its vertices.
_MORE, _FROM, _TO, _VERTICES = 0, 1, 2, 3
# Facts of a finished level; then the mask of active sources.
_NEW, _ARCS, _OPEN, _MET, _ALIVE = 0, 1, 2, 3, 4
_NO_BITS = np.empty(0, np.uint64)


class MultiSearch:
    """A BFS of k sources: every rank calls `run`.

    masks : of this rank. k : number of sources. remaining : (target, source) pairs to be met, or None without targets.
    widest : largest distance that fits the columns, or None. room : bytes for incoming masks. eccentricities :
    int32[k], the same on every rank. level : largest distance so far. too_long : whether a distance that does not fit
    the columns ended the search.
    """

    def __init__(
        self, frontier: RankFrontier, masks: Masks, k: int, remaining: int | None, widest: int | None, room: int
    ) -> None:
        self._alltoall, self._frontier, self._masks, self._k = frontier.alltoall, frontier, masks, k
        self._remaining, self._widest = remaining, widest
        self._sent_bytes = -(-k // 8)
        self._rows = max(1, room // (2 * row_bytes(k) * (frontier.alltoall.size + 1)))
        self.eccentricities = np.zeros(k, np.int32)
        self.level = 0
        self.dense = self.too_long = False
        self.finished = remaining is not None and remaining <= 0
        if not self.finished:
            self._choose(self._alltoall.total(np.array([masks.row_arcs, masks.open_arcs], np.int64)).tolist())

    def run(self) -> None:
        """Run all levels."""
        while not self.finished:
            dense = self.dense
            self._frontier.count_level(1, self._dense_level() if dense else self._sparse_level(), dense)
            self._end_level()

    # -- levels ---------------------------------------------------------------------------------
    def _sparse_level(self) -> int:
        """One level top-down; return the arcs scanned."""
        masks = self._masks
        masks.begin_push()
        while True:
            vertices, rows, more = masks.push()
            incoming, table = self._alltoall.tell(vertices, self._packed(rows), np.array([more], np.int64))
            for ids, data in incoming:
                masks.receive(ids, self._unpacked(data))
            if not table[:, _MORE].any():
                return masks.scanned

    def _dense_level(self) -> int:
        """One level bottom-up; return the arcs scanned."""
        masks, first = self._masks, self._masks.range_words.start
        active = masks.marks[ACTIVE, masks.range_words]
        ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bitwise_count(active).astype(np.int64))))
        at = scanned = 0
        while True:
            # words with at most _rows vertices, but at least one word
            stop = int(np.searchsorted(ends, ends[at] + self._rows, side="right")) - 1
            stop = min(len(active), max(stop, at + 1))
            low, high = int(ends[at]), int(ends[stop])
            packed = self._packed(masks.masks[low:high]).reshape(-1)
            message = np.concatenate((encode_words(active[at:stop], 0), packed))
            facts = np.array([stop < len(active), first + at, first + stop, high - low], np.int64)
            incoming, table = self._alltoall.swap(dict.fromkeys(self._alltoall.others, message), facts)
            scanned += masks.pull(self._joined({**incoming, self._alltoall.rank: message}, table))
            at = stop
            if not table[:, _MORE].any():
                return scanned

    def _joined(self, messages: dict[int, np.ndarray], table: np.ndarray) -> np.ndarray:
        """The masks of the pieces of all ranks, with this one, unsigned[k, w]; sets the index for them."""
        masks, counts = self._masks, table[:, _VERTICES]
        joined: np.ndarray = np.empty((int(counts.sum()), masks.width), masks.dtype)
        before = np.cumsum(counts) - counts
        masks.index[0][:] = 0
        for rank, message in messages.items():
            low, high, count = table[rank, _FROM : _VERTICES + 1].tolist()
            split, begin = len(message) - count * self._sent_bytes, int(before[rank])
            words = np.zeros(high - low, np.uint64)
            add_to_words(message[:split], words)
            masks.put_index(low, words, begin)
            joined[begin : begin + count] = self._unpacked(message[split:])
        return joined

    def _end_level(self) -> None:
        """Decide the next level from the sums over all ranks."""
        masks = self._masks
        met, alive = masks.end_level(self.level + 1)
        facts = np.zeros(_ALIVE + masks.width, np.int64)
        facts[:_ALIVE] = len(masks.masks), masks.row_arcs, masks.open_arcs, met
        facts[_ALIVE:] = alive.astype(np.uint64).view(np.int64)
        table = self._alltoall.share(facts)
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
        """Choose bottom-up if the frontier has enough arcs, and more than the open rows."""
        (arcs, open_arcs), core = sums, self._frontier.core
        few = core.dense_arcs // 2 if self.dense else core.dense_arcs
        self.dense = arcs > few and open_arcs < PUSH_COST * core.threads.compute * arcs

    # -- masks as bytes -------------------------------------------------------------------------
    def _packed(self, masks: np.ndarray) -> np.ndarray:
        """The bytes of masks that have sources, uint8[k, bytes]."""
        return masks.view(np.uint8).reshape(len(masks), row_bytes(self._k))[:, : self._sent_bytes]

    def _unpacked(self, data: np.ndarray) -> np.ndarray:
        """Masks [k, w] from their bytes."""
        rows = np.zeros((len(data) // self._sent_bytes, row_bytes(self._k)), np.uint8)
        rows[:, : self._sent_bytes] = data.reshape(-1, self._sent_bytes)
        return rows.view(self._masks.dtype)


def multi_source(
    rank: Rank, sources: np.ndarray, columns: list[int] | None, targets: np.ndarray | None, remaining: int | None,
    room: int
) -> tuple[np.ndarray, int, bool]:
    """A complete batch on all ranks: (eccentricities, int32[k]; largest distance; whether it does not fit the columns).
    columns : keys of the distance columns of the sources. targets : bitmap of this range, uint64[words]. remaining :
    (target, source) pairs to be met. room : bytes for outgoing masks, and the same for incoming ones."""
    bitmap = _NO_BITS
    if targets is not None:
        bitmap = virtual_zeros(rank.store.n_vertices // 64 + 1, np.uint64)
        bitmap[rank.words] = targets
    sinks, widest = _open_columns(rank, sources, columns)
    masks = Masks(rank.core, sources, targets=bitmap, sinks=sinks, room=room, rows=rank.rows)
    search = rank.under_way = MultiSearch(rank.frontier, masks, len(sources), remaining, widest, room)
    search.run()
    return search.eccentricities, search.level, search.too_long


def _open_columns(rank: Rank, sources: np.ndarray, keys: list[int] | None) -> tuple[tuple[np.ndarray, int], int | None]:
    """(addresses of the columns and bytes of their items, largest distance that fits); sets the sources to 0."""
    if keys is None:
        return (_NO_BITS, 0), None
    columns = [rank.values[key] for key in keys]
    for column, source in zip(columns, sources.tolist(), strict=True):
        if rank.first <= source < rank.stop:
            column[source] = 0
    addresses = np.array([column.ctypes.data for column in columns], np.int64)
    return (addresses, columns[0].itemsize), int(np.iinfo(columns[0].dtype).max) - 1
