"""Values of vertices that others own: brought in groups for one pass over this rank's rows, told to owners, or asked.

Ghosts: a kernel that looks at the neighbours of its rows needs a value of any vertex. Every rank gives the values of
its range to all others, a group of consecutive vertices at a time, and scans its blocks once for each group, heads
outside of which it leaves out. A group is as large as the stated room allows (twice its values: as they come, and side
by side), so one pass where that holds all vertices; blocks in RAM make more of them cheap. Bytes sent: (ranks - 1) n
items in all.

Post: values that travel with ids to the owners of vertices, or are asked of them. All ranks call the same method at
the same time (see alltoall.py). Ids are distinct and ascending, so that they travel delta-coded or as a bitmap
(frontier_codec.py), and the values behind them as they are: 1 to 5 bytes and an item a vertex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..stream.offsets import row_starts
from .alltoall import Mail
from .frontier_codec import decode_ids, encode_ids
from .rank import Part

_COPIES = 2
_LEAST = 64
_NO_FACTS = np.empty(0, np.int64)


def group_size(room_bytes: int, itemsize: int) -> int:
    """How many vertices a group has whose values fit into `room_bytes`; a multiple of 64, at least 64."""
    return max(_LEAST, room_bytes // (_COPIES * itemsize) // _LEAST * _LEAST)


def bring(part: Part, values: np.ndarray, low: int, high: int) -> np.ndarray:
    """values[low:high] of all ranks (values : any dtype[n], right in this range), a copy. One round."""
    ghost = np.empty(high - low, values.dtype)
    ranges = part.spec.ranges.tolist()
    spans = [(max(low, a), min(high, b)) for a, b in zip(ranges, ranges[1:], strict=False)]
    begin, end = spans[part.rank]
    letters: dict[int, np.ndarray] = {}
    if begin < end:
        ghost[begin - low : end - low] = values[begin:end]
        letters = dict.fromkeys(part.mail.others, values[begin:end].view(np.uint8))
    incoming, _ = part.mail.swap(letters, _NO_FACTS)
    for rank, theirs in incoming.items():
        begin, end = spans[rank]
        if begin < end:
            ghost[begin - low : end - low].view(np.uint8)[:] = theirs
    return ghost


def ghost_groups(part: Part, values: np.ndarray, size: int) -> Iterator[tuple[int, np.ndarray]]:
    """(first vertex, values) of all groups of `size` vertices in turn; all ranks take them together. One rank alone
    has them all."""
    n = part.core.table.n_vertices
    if not part.mail.others:
        yield 0, values
        return
    for low in range(0, n, size):
        yield low, bring(part, values, low, min(low + size, n))


def own_arcs(part: Part) -> int:
    """Arcs of the rows of this range."""
    if part.first >= part.stop:
        return 0
    ends = np.empty(2, np.int64)
    row_starts(*part.core.offsets, np.array([part.first, part.stop], np.int64), ends)
    return int(ends[1] - ends[0])


def count_pass(part: Part, groups: int = 1) -> None:
    """Count so many passes over all rows: passes once for all ranks, arcs by each."""
    part.core.counters.add(passes=groups if part.rank == 0 else 0, edges_scanned=groups * own_arcs(part))


def own_ranks(part: Part) -> np.ndarray:
    """Natural rank of every vertex of this range, id[stop - first]; length 0 where it is the vertex itself. It is read
    once and kept. Raises StoreError for one that there is not."""
    kept: Any = part.objects.get("ranks")
    if kept is None:
        kept = part.objects["ranks"] = read_ranks(part, part.first, part.stop)
    ranks: np.ndarray = kept
    return ranks


def read_ranks(part: Part, first: int, stop: int) -> np.ndarray:
    """Natural rank of vertices first..stop-1 as own_ranks, read from the store."""
    from ..errors import StoreError
    from ..store.slices import read_slice

    store = part.store
    if store.is_natural:
        return np.empty(0, store.id_dtype)
    ranks = read_slice(store.array("natural_id"), first, stop)
    if len(ranks) and int(ranks.max()) >= store.n_vertices:
        raise StoreError(f"natural_id holds {int(ranks.max())}, which is no vertex", path=store.path,
                         remedy="the store is damaged: reorder the original again")
    return ranks


def ranks_of(part: Part, ids: np.ndarray) -> np.ndarray:
    """Natural ranks of vertices of this range, int64[k]."""
    ranks = own_ranks(part)
    return ids.astype(np.int64) if not len(ranks) else ranks[ids - part.first].astype(np.int64)


_LENGTH = 8
Answer = Callable[[np.ndarray], np.ndarray]
Pairs = tuple[np.ndarray, np.ndarray]


class Post:
    """Letters of one rank to the owners of vertices. ranges : int64[ranks + 1], of mail's ranks."""

    def __init__(self, mail: Mail, ranges: np.ndarray) -> None:
        self.mail, self.ranges = mail, ranges
        self.first = int(ranges[mail.rank])

    def _parts(self, ids: np.ndarray) -> tuple[np.ndarray, slice]:
        """Where the ids of each rank begin, int64[ranks + 1], and those of this rank."""
        cuts = np.searchsorted(ids, self.ranges)
        return cuts, slice(int(cuts[self.mail.rank]), int(cuts[self.mail.rank + 1]))

    def tell(
        self, ids: np.ndarray, values: np.ndarray, facts: np.ndarray = _NO_FACTS
    ) -> tuple[list[Pairs], np.ndarray]:
        """Tell the owner of each of `ids` (int64[k], ascending, distinct) its value (any dtype, the same on all
        ranks). What all ranks have told this one, itself too, as (ids, values), and the facts of all (int64[ranks, f]).
        One round."""
        cuts, own = self._parts(ids)
        letters = {rank: _pack(ids[cuts[rank] : cuts[rank + 1]], values[cuts[rank] : cuts[rank + 1]],
                               int(self.ranges[rank]), int(self.ranges[rank + 1]))
                   for rank in self.mail.others if cuts[rank] < cuts[rank + 1]}
        incoming, table = self.mail.swap(letters, facts)
        found = [(ids[own], values[own])] if own.start < own.stop else []
        found += [_unpack(letter, self.first, values.dtype) for letter in incoming.values() if len(letter)]
        return found, table

    def ask(self, ids: np.ndarray, answer: Answer) -> np.ndarray:
        """What the owners answer for `ids` (int64[k], ascending, distinct): answer(their ids) is called on each rank
        that is asked, and gives one value each, of one dtype on all ranks. Two rounds."""
        cuts, own = self._parts(ids)
        questions = {rank: encode_ids(ids[cuts[rank] : cuts[rank + 1]], int(self.ranges[rank]),
                                      int(self.ranges[rank + 1]))
                     for rank in self.mail.others if cuts[rank] < cuts[rank + 1]}
        asked, _ = self.mail.swap(questions, _NO_FACTS)
        replies = {rank: _bytes(answer(decode_ids(letter, self.first)))
                   for rank, letter in asked.items() if len(letter)}
        answers, _ = self.mail.swap(replies, _NO_FACTS)
        mine = answer(ids[own])
        found = np.empty(len(ids), mine.dtype)
        found[own] = mine
        for rank, values in answers.items():
            found[cuts[rank] : cuts[rank + 1]] = values.copy().view(mine.dtype)
        return found

    def ask_any(self, ids: np.ndarray, answer: Answer) -> np.ndarray:
        """As `ask`, for ids in any order, some perhaps several times."""
        wanted, places = np.unique(ids, return_inverse=True)
        return self.ask(wanted, answer)[places]


def hand_over(part: Part, rows: np.ndarray, vertices: np.ndarray) -> tuple[np.ndarray, int]:
    """Give rows (int64[k, w]) to the owners of `vertices` (int64[k]), none of which are of this range: (rows that come
    here, how many move on all ranks). One round."""
    owners = np.searchsorted(part.spec.ranges, vertices, side="right") - 1
    letters = {rank: np.ascontiguousarray(rows[owners == rank]).reshape(-1).view(np.uint8)
               for rank in part.mail.others if (owners == rank).any()}
    incoming, table = part.mail.swap(letters, np.array([len(rows)], np.int64))
    come = [letter.copy().view(np.int64).reshape(-1, rows.shape[1]) for letter in incoming.values() if len(letter)]
    return np.concatenate([rows[:0], *come]), int(table.sum())


def least_of_each(ids: np.ndarray, values: np.ndarray) -> Pairs:
    """The distinct ids, ascending, and the smallest value that stands beside each."""
    if len(ids) == 0:
        return ids, values
    order = np.argsort(ids)
    ids, values = ids[order], values[order]
    starts = np.flatnonzero(np.concatenate((np.ones(1, bool), ids[1:] != ids[:-1])))
    return ids[starts], np.minimum.reduceat(values, starts)


def distinct_pairs(ids: np.ndarray, others: np.ndarray) -> Pairs:
    """The distinct (id, other), sorted by id and then by other."""
    if len(ids) and int(ids.max()) < 1 << 31 and int(others.max()) < 1 << 32:
        keys = np.unique(ids << 32 | others)
        return keys >> 32, keys & 0xFFFFFFFF
    order = np.lexsort((others, ids))
    ids, others = ids[order], others[order]
    new = np.ones(len(ids), bool)
    new[1:] = (ids[1:] != ids[:-1]) | (others[1:] != others[:-1])
    return ids[new], others[new]


def _bytes(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).view(np.uint8)


def _pack(ids: np.ndarray, values: np.ndarray, first: int, stop: int) -> np.ndarray:
    names = encode_ids(ids, first, stop)
    return np.concatenate((np.array([len(names)], np.int64).view(np.uint8), names, _bytes(values)))


def _unpack(letter: np.ndarray, first: int, dtype: np.dtype[Any]) -> Pairs:
    end = _LENGTH + int(letter[:_LENGTH].copy().view(np.int64)[0])
    return decode_ids(letter[_LENGTH:end].copy(), first), letter[end:].copy().view(dtype)
