"""Values of vertices that others own: halos of one pass over this rank's rows, and what owners are told or asked.

Halo: a kernel that looks at the neighbours of its rows needs a value of any vertex. Every rank gives the values of
its range to all others, a slab of consecutive vertices at a time, and scans its blocks once for each slab, heads
outside of which it leaves out. A slab is as large as the stated room allows (twice its values: as they come, and side
by side), so one pass where that holds all vertices; blocks in RAM make more of them cheap. Bytes sent: (ranks - 1) n
items in all.

OwnerExchange: values that travel with ids to the owners of vertices, or are asked of them. All ranks call the same
method at the same time (see alltoall.py). Ids are distinct and ascending, so that they travel delta-coded or as a
bitmap (frontier_codec.py), and the values behind them as they are: 1 to 5 bytes and an item a vertex.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..errors import StoreError
from ..store.array_reader import read_slice
from .alltoall import NO_FACTS, AllToAll
from .frontier_codec import decode_ids, encode_ids

if TYPE_CHECKING:
    from .rank import Rank

_COPIES = 2
_LEAST = 64
_LENGTH = 8
Answer = Callable[[np.ndarray], np.ndarray]
Pairs = tuple[np.ndarray, np.ndarray]


def slab_size(room_bytes: int, itemsize: int) -> int:
    """How many vertices a slab has whose values fit into `room_bytes`; a multiple of 64, at least 64."""
    return max(_LEAST, room_bytes // (_COPIES * itemsize) // _LEAST * _LEAST)


def halo(rank: Rank, values: np.ndarray, low: int, high: int) -> np.ndarray:
    """values[low:high] of all ranks (values : any dtype[n], right in this range), a copy. One round."""
    slab, messages = np.empty(high - low, values.dtype), dict[int, np.ndarray]()
    bounds = np.clip(rank.spec.ranges, low, high).tolist()
    begin, end = bounds[rank.number], bounds[rank.number + 1]
    if begin < end:
        slab[begin - low : end - low] = values[begin:end]
        messages = dict.fromkeys(rank.alltoall.others, values[begin:end].view(np.uint8))
    incoming, _ = rank.alltoall.swap(messages)
    for other, theirs in incoming.items():
        slab[bounds[other] - low : bounds[other + 1] - low].view(np.uint8)[:] = theirs
    return slab


def halos(rank: Rank, values: np.ndarray, size: int) -> Iterator[tuple[int, np.ndarray]]:
    """(first vertex, values) of all slabs of `size` vertices in turn; all ranks take them together. One rank alone
    has them all."""
    n = rank.core.table.n_vertices
    if not rank.alltoall.others:
        yield 0, values
        return
    for low in range(0, n, size):
        yield low, halo(rank, values, low, min(low + size, n))


def count_pass(rank: Rank, slabs: int = 1) -> None:
    """Count so many passes over all rows: passes once for all ranks, arcs by each."""
    begin, end = rank.core.table.arcs_between(rank.first, rank.stop)
    rank.core.counters.add(passes=slabs if rank.number == 0 else 0, edges_scanned=slabs * (end - begin))


def range_ranks(rank: Rank) -> np.ndarray:
    """Natural rank of every vertex of this range, id[stop - first]; length 0 where it is the vertex itself. It is read
    once and stays. Raises StoreError for one that there is not."""
    if "ranks" not in rank.objects:
        rank.objects["ranks"] = read_ranks(rank, rank.first, rank.stop)
    ranks: np.ndarray = rank.objects["ranks"]
    return ranks


def read_ranks(rank: Rank, first: int, stop: int) -> np.ndarray:
    """Natural rank of vertices first..stop-1 as range_ranks, read from the store."""
    store = rank.store
    if store.is_natural:
        return np.empty(0, store.id_dtype)
    ranks = read_slice(store.array("natural_id"), first, stop)
    if len(ranks) and int(ranks.max()) >= store.n_vertices:
        raise StoreError(f"natural_id holds {int(ranks.max())}, which is no vertex", path=store.path,
                         remedy="the store is damaged: reorder the original again")
    return ranks


def ranks_of(rank: Rank, ids: np.ndarray) -> np.ndarray:
    """Natural ranks of vertices of this range, int64[k]."""
    ranks = range_ranks(rank)
    return ids.astype(np.int64) if not len(ranks) else ranks[ids - rank.first].astype(np.int64)


class OwnerExchange(AllToAll):
    """Rounds in which ranks reach the owners of vertices, too. ranges : int64[ranks + 1]."""

    def __init__(self, rank: int, ranges: np.ndarray) -> None:
        super().__init__(rank, len(ranges) - 1)
        self.ranges, self.first = ranges, int(ranges[rank])

    def _cut(self, ids: np.ndarray) -> tuple[dict[int, tuple[slice, np.ndarray]], slice]:
        """Where the ids of each other rank stand, and their message, if there are some; and those of this rank."""
        if len(ids) == 0:
            return {}, slice(0, 0)
        cuts, ranges = np.searchsorted(ids, self.ranges).tolist(), self.ranges.tolist()
        places = [slice(*pair) for pair in itertools.pairwise(cuts)]
        return {rank: (places[rank], encode_ids(ids[places[rank]], ranges[rank], ranges[rank + 1]))
                for rank in self.others if cuts[rank] < cuts[rank + 1]}, places[self.rank]

    def name(self, ids: np.ndarray, facts: np.ndarray = NO_FACTS) -> tuple[list[np.ndarray], np.ndarray]:
        """Name `ids` (int64[k], ascending, distinct, of other ranges) to their owners. What others name to this one,
        int64[k] each, and the facts of all (int64[ranks, f]). One round."""
        incoming, table = self.swap({rank: names for rank, (_, names) in self._cut(ids)[0].items()}, facts)
        return [decode_ids(message, self.first) for message in incoming.values() if len(message)], table

    def tell(self, ids: np.ndarray, values: np.ndarray, facts: np.ndarray = NO_FACTS) -> tuple[list[Pairs], np.ndarray]:
        """Tell the owner of each of `ids` (int64[k], ascending, distinct) its value (any dtype, the same on all
        ranks). What all ranks have told this one, itself too, as (ids, values), and the facts of all (int64[ranks, f]).
        One round."""
        others, local = self._cut(ids)
        messages = {rank: np.concatenate((np.array([len(names)], np.int64).view(np.uint8), names, _bytes(values[at])))
                    for rank, (at, names) in others.items()}
        incoming, table = self.swap(messages, facts)
        pairs = [(ids[local], values[local])] if local.start < local.stop else []
        for message in incoming.values():
            if len(message):
                end = _LENGTH + int(message[:_LENGTH].copy().view(np.int64)[0])
                pairs.append((decode_ids(message[_LENGTH:end], self.first), message[end:].copy().view(values.dtype)))
        return pairs, table

    def ask(self, ids: np.ndarray, answer: Answer) -> np.ndarray:
        """What the owners answer for `ids` (int64[k], ascending, distinct): answer(their ids) is called on each rank
        that is asked, and gives one value each, of one dtype on all ranks. Two rounds."""
        others, local = self._cut(ids)
        asked, _ = self.swap({rank: names for rank, (_, names) in others.items()})
        replies = {rank: _bytes(answer(decode_ids(message, self.first)))
                   for rank, message in asked.items() if len(message)}
        answers, _ = self.swap(replies)
        here = answer(ids[local])
        values = np.empty(len(ids), here.dtype)
        values[local] = here
        for rank, (at, _) in others.items():
            values[at] = answers[rank].copy().view(here.dtype)
        return values

    def ask_any(self, ids: np.ndarray, answer: Answer) -> np.ndarray:
        """As `ask`, for ids in any order, some perhaps several times."""
        wanted, places = np.unique(ids, return_inverse=True)
        return self.ask(wanted, answer)[places]


def hand_over(rank: Rank, rows: np.ndarray, vertices: np.ndarray) -> tuple[np.ndarray, int]:
    """Give rows (int64[k, w]) to the owners of `vertices` (int64[k]), none of which are of this range: (rows that come
    here, how many move on all ranks). One round."""
    owners = np.searchsorted(rank.spec.ranges, vertices, side="right") - 1
    messages = {other: _bytes(rows[owners == other]) for other in rank.alltoall.others if (owners == other).any()}
    incoming, table = rank.alltoall.swap(messages, np.array([len(rows)], np.int64))
    come = [message.copy().view(np.int64).reshape(-1, rows.shape[1]) for message in incoming.values() if len(message)]
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
    return np.ascontiguousarray(values).view(np.uint8).reshape(-1)
