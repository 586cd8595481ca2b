"""Values that travel with ids, worker to worker: told to the owners of vertices, or asked of them.

All ranks call the same method at the same time (see mail.py). Ids are distinct and ascending, so that they travel
delta-coded or as a bitmap (id_sets.py), and the values behind them as they are: 1 to 5 bytes and an item a vertex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .alltoall import Mail
from .frontier_codec import decode_ids, encode_ids

_NO_FACTS = np.empty(0, np.int64)
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
