"""Label growth over all ranks: the fixpoint of traverse/labels.py, each rank its own range.

A round takes the waiting vertices of the lowest distances, offers their labels along their rows, and tells the owners
of others' vertices the smallest offer for each (exchange.py); then all ranks learn the lowest distance that waits.
A round is one level, in which labels are final when their row is read, so a message names only owners (4 bytes); on
graphs of many thin levels it is a window of WIDEST levels, in which a rank goes on by itself as far as its own range
lets it before it tells the others (8 bytes). The labels at the end are the same.
Who was told in a round of one level is settled: what this rank could offer it later is larger, and it is not told again
(the bits of others' vertices in work.visited say so, those in work.frontier who is told in this round).
Bytes sent: 1 to 5 and 4 a vertex of others, once a rank; in wide windows and in restarts 1 to 5 and 8, once a round at
most. Bytes a vertex of the range: 8; of all others 2/8; offers on their way fit the stated room, 48 bytes each, but for
those of one block.
"""

from __future__ import annotations

import numpy as np

from ..traverse.labels import (
    FOREVER,
    LONGEST,
    SLOTS,
    WIDE_BITS,
    WIDEST,
    grow_labels,
    lowest_waiting,
    take_offers,
    take_waiting,
)
from ..traverse.workspace import set_bits
from .exchange import least_of_each
from .rank import Rank

_OFFER_BYTES = 48
# Rounds of one level after which a thin one (few arcs, so that messages cost more) makes windows wide.
_PATIENCE = 32
_DISTANCE = np.uint64(WIDE_BITS)
_OWNER = np.uint64(0xFFFFFFFF)
WHOLE, STOPPED, TOO_LONG = "whole", "stopped", "too long"


class RankGrowth:
    """A growth: all ranks call `run`, which gives one of the words.

    values : uint64[n], right in this range. What waits is in work.before. width : levels of a window; 1 may become
    wider by itself; FOREVER takes all that waits. most_rounds : STOPPED where a vertex at this distance waits.
    most_blocks : STOPPED where more blocks have been looked at, on all ranks together, and a vertex waits. room :
    bytes for offers on their way. The words beside it: WHOLE, and TOO_LONG for a distance that does not fit a label.
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
        self._scanned = self._looked = 0
        self.rounds = self.blocks = 0
        self.level: int | None = None

    @property
    def _outside(self) -> tuple[slice, slice]:
        """The words of a bitmap that are of other ranges."""
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
        """One window, told to the others in as many messages as the room asks for."""
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
        """Whoever was told in this round is told nothing any more."""
        work = self._rank.core.work
        for outside in self._outside:
            work.visited[outside] |= work.frontier[outside]
            work.frontier[outside] = 0

    def _take(self, limit: int) -> np.ndarray:
        """Take what waits below `limit`; the blocks with its rows, int64[k]."""
        rank, core, work = self._rank, self._rank.core, self._rank.core.work
        take_waiting(work.before[rank.words], work.frontier[rank.words], self._values[rank.span], WIDE_BITS, limit)
        return core.blocks_with(work.frontier)

    def _sweep(self, blocks: np.ndarray, limit: int) -> int:
        """Offer labels along the rows of what is taken, in these blocks; offers listed for others."""
        core = self._rank.core
        words = (core.work.frontier, core.work.before, core.work.visited)
        bounds, room = np.array([*core.span, limit, WIDE_BITS]), (1 << core.table.shift) + SLOTS
        listed: list[np.ndarray] = []
        self._scanned += core.gather(blocks, grow_labels, self._values, words, bounds,
                                     new_buffer=lambda: np.empty((room, 2), np.uint64),
                                     take=lambda offers: listed.append(offers.copy()))
        self._looked += len(blocks)
        self._offers += listed
        return sum(len(offers) for offers in listed)

    def _tell(self, lowest: int, narrow: bool, left: int) -> bool:
        """Tell the others the smallest offer for each vertex, and take theirs; whether a rank has more to say."""
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
        """Learn the lowest distance that waits on any rank, and how much the round took."""
        rank, core = self._rank, self._rank.core
        lowest = int(lowest_waiting(core.work.before[rank.words], self._values[rank.span], WIDE_BITS))
        table = rank.alltoall.share(np.array([lowest, self._scanned, self._looked], np.int64))
        core.counters.add(edges_scanned=self._scanned)
        if self.level is not None:
            self.rounds += 1
            core.counters.add(levels=int(rank.number == 0), passes=int(rank.number == 0))
        self._scanned = self._looked = 0
        self.level = int(table[:, 0].min())
        arcs = int(table[:, 1].sum())
        self.blocks += int(table[:, 2].sum())
        if self._adapts:
            self._width = WIDEST if self.rounds > _PATIENCE and arcs < core.dense_arcs else 1
