"""Which ids occur: a bitmap filled from sorted runs, and the rank of an id among those present.

While the ids of an input fit the bitmap, edges are sorted by raw ids; relabelling by rank keeps every order, so it
happens as the merged edges stream by. RAM: 1 bit an id up to the largest seen, and 32 bits per 64 ids for the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

import numpy as np
import numpy.typing as npt

from ..checkpoint.records import State
from .runs import Keys

_BLOCK = 1 << 15
_WORDS = 1 << 14


class Presence:
    """A set of ids in [0, n_ids). The bitmap is untouched memory where no id was added."""

    def __init__(self, n_ids: int) -> None:
        self.n_ids = n_ids
        self.words = np.zeros(n_ids // 64 + 1, np.uint64)
        self.n_used = 0  # words up to the last that is not 0: what is behind them is never looked at
        self._lock = Lock()

    def add_sources(self, keys: Keys, shift: int) -> None:
        """Add key >> shift of sorted keys. Several threads may call this."""
        for start in range(0, len(keys), _BLOCK):
            ids = keys[start : start + _BLOCK] >> np.uint64(shift)
            fresh = np.flatnonzero(ids[1:] != ids[:-1])
            self.add(np.concatenate([ids[:1], ids[fresh + 1]]))

    def add(self, ids: Keys) -> None:
        """Add increasing uint64 ids, all below n_ids."""
        if not len(ids):
            return
        words = (ids >> 6).astype(np.int64)
        bits = np.uint64(1) << (ids & 63)
        starts = np.flatnonzero(np.diff(words, prepend=-1))
        together = np.bitwise_or.reduceat(bits, starts)
        with self._lock:
            self.words[words[starts]] |= together
            self.n_used = max(self.n_used, int(words[-1]) + 1)

    def state(self) -> State:
        """The set as a state: its size, and the words up to the last that is not 0 (not copied)."""
        return {"n_ids": self.n_ids, "words": self.words[: self.n_used]}

    @classmethod
    def restored(cls, state: State) -> Presence:
        made = cls(state["n_ids"])
        made.n_used = len(state["words"])
        made.words[: made.n_used] = state["words"]
        return made

    def ids(self) -> Iterator[Keys]:
        """All ids in increasing order, uint64, some hundred thousand at a time, never empty."""
        for start in range(0, self.n_used, _WORDS):
            part = self.words[start : min(start + _WORDS, self.n_used)]
            if part.any():
                bits = np.unpackbits(part.view(np.uint8), bitorder="little")
                yield (np.flatnonzero(bits) + 64 * start).astype(np.uint64)


class Ranks:
    """The finished set with running counts.

    n : how many ids are present. first, last : the smallest and largest (0 and -1 of an empty set).
    contiguous : True if they are exactly first..last, so that no table is needed.
    """

    def __init__(self, presence: Presence) -> None:
        n_words = presence.n_used
        self._words = presence.words[:n_words]
        # Fewer than 2^32 ids fit the bitmap, so the count before a word fits 32 bits.
        self._before = np.empty(n_words, np.uint32)
        self.n, self.first, self.last = 0, 0, -1
        for start in range(0, n_words, _BLOCK):
            self._count(start, self._words[start : start + _BLOCK])
        if n_words:
            self.last = (n_words - 1) * 64 + int(self._words[-1]).bit_length() - 1
        self.contiguous = self.n == self.last - self.first + 1

    def _count(self, start: int, part: Keys) -> None:
        """Enter the running counts of the words from `start` on."""
        counts = np.bitwise_count(part).astype(np.uint64)
        if not self.n and counts.any():
            word = int(np.flatnonzero(counts)[0])
            bits = int(part[word])
            self.first = (start + word) * 64 + (bits & -bits).bit_length() - 1
        reached = np.cumsum(counts) + np.uint64(self.n)
        self._before[start : start + len(part)] = reached - counts
        self.n = int(reached[-1])

    def rank(self, ids: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.uint32]:
        """Rank of every id, which must be present: how many smaller ones are, uint32[k]."""
        out = np.empty(len(ids), np.uint32)
        for start in range(0, len(ids), _BLOCK):
            part = ids[start : start + _BLOCK].astype(np.uint64)
            words = (part >> 6).astype(np.int64)
            below = self._words[words] & ((np.uint64(1) << (part & 63)) - np.uint64(1))
            np.add(self._before[words], np.bitwise_count(below), out=out[start : start + len(part)])
        return out
