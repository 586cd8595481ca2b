"""The sorted keys of all arcs, of pairs that come in any order; nothing is sorted of a source that lists every edge in
both directions, in rows that ascend, as CSR files and sorted lists do.

There a pair becomes the key of the arc that it lists alone. These ascend, so that sorting threads find one long piece,
and runs follow each other, which the merge hands on as they are. Where a source proves to be another, the keys of the
other direction are made of those that are there, and from then on every pair becomes both keys:

- at a row that does not ascend;
- after the first pairs, where an edge between two vertices whose rows have come is listed in one direction;
- at the end, where a sum is not 0: every pair {v, w} with its weight has a 64-bit hash, added for a pair up, from the
  smaller vertex to the larger one, and taken off for a pair down. The hash has a random number in it, so that nobody
  can choose pairs whose sum is 0 by design; by chance it is 0 with a probability of 2^-64.

Of a sorted source with one direction both keys go into one buffer, where a sort finds the long pieces of both: keeping
the ascending half out of it saves a seventh of the sort, and costs more than that to read it again.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from ..checkpoint.records import State
from ..sorting.runs import Entries, Keys, mix64
from ..sorting.sort import KeySorter, RunSet, SortContext, fewer_runs
from .keys import BLOCK, of_the_other_direction, put_both_directions, put_one_direction

# Pairs after which a source is looked at.
_LOOK = 1 << 18


class ArcKeys:
    """Takes pairs, and later has the runs of the keys of their arcs.

    context : plan, scratch space, threads. shift : bits of a vertex. on_run : see KeySorter. resumed : what `state`
    was, to go on from there. runs : after `finish`. symmetric : after it, whether every pair came in both directions,
    and so no key says in which one.
    """

    def __init__(self, context: SortContext, shift: int, *, on_run: Callable[[Entries], None] | None = None,
                 resumed: State | None = None) -> None:
        self._context, self._shift = context, shift
        self.runs: RunSet | None = None
        figures = resumed["figures"] if resumed is not None else [
            0 if context.directed else 1, 0, 0, int.from_bytes(os.urandom(8)), 0]
        self._ascends, self._last, self._balance = bool(figures[0]), figures[1], figures[2]
        self._salt, self.symmetric = figures[3], bool(figures[4])
        # The first pairs << 1 | whether they are up, until they are looked at; of work that was resumed none.
        self._first: list[Keys] | None = [] if self._ascends and resumed is None else None
        if resumed is not None and resumed["runs"] is not None:
            self.runs = RunSet.restored(resumed["runs"], context)
        self._sorter = KeySorter(context, on_run=on_run, followed=context.weighted,
                                 resumed=resumed and resumed["sorter"])

    def state(self) -> State:
        """All pairs taken so far as a state, before `finish`, in it and after."""
        sorter = self._sorter.state() if self.runs is None else None
        return {"figures": [int(self._ascends), self._last, self._balance, self._salt, int(self.symmetric)],
                "sorter": sorter, "runs": self.runs and self.runs.state()}

    def add(self, src: Keys, dst: Keys, numbers: Keys | None = None) -> None:
        """Add pairs. src, dst : uint64[k], below 2^shift, no loops. numbers : of their weights, uint64[k]."""
        for start in range(0, len(src), BLOCK):
            here = slice(start, start + BLOCK)
            self._add(src[here], dst[here], None if numbers is None else numbers[here])

    def _add(self, src: Keys, dst: Keys, numbers: Keys | None) -> None:
        """The same of a block."""
        if self._ascends and (int(src[0]) < self._last or bool((src[1:] < src[:-1]).any())):
            self._put_back()
        if not self._ascends:
            put_both_directions(self._sorter, src, dst, self._shift, self._context.directed, numbers)
            return
        self._last = int(src[-1])
        put_one_direction(self._sorter, src, dst, self._shift, numbers)
        ups = src < dst
        pairs = np.minimum(src, dst) << np.uint64(self._shift) | np.maximum(src, dst)
        hashes = mix64(pairs ^ np.uint64(self._salt))
        if numbers is not None:
            hashes = mix64(hashes ^ numbers)
        self._balance = (self._balance + int(np.where(ups, hashes, np.uint64(0) - hashes).sum())) % (1 << 64)
        if self._first is not None:
            self._first.append(pairs << np.uint64(1) | ups)
            if sum(map(len, self._first)) >= _LOOK and self._is_one_way():
                self._put_back()

    def _is_one_way(self) -> bool:
        """Whether the first pairs have an edge in one direction, though the rows of both its vertices have come."""
        assert self._first is not None
        pairs, self._first = np.concatenate(self._first), None
        larger = pairs >> np.uint64(1) & np.uint64((1 << self._shift) - 1)
        pairs = np.unique(pairs[larger < np.uint64(self._last)])
        ups = (pairs & np.uint64(1)).astype(bool)
        return not np.array_equal(pairs[ups] >> np.uint64(1), pairs[~ups] >> np.uint64(1))

    def _put_back(self) -> None:
        """Add the keys of the other direction of all pairs that have one key so far."""
        self._ascends, self._first = False, None
        self._sorter.add_made(lambda entries: of_the_other_direction(entries, self._shift))

    def finish(self) -> RunSet:
        """No more pairs: wait until the runs are sorted, and as few as one merge takes."""
        if self.runs is None:
            self.symmetric = self._ascends and not self._balance
            if self._ascends and not self.symmetric:
                self._put_back()
            self.runs = self._sorter.finish()
        self.runs = fewer_runs(self.runs, self._context, self._passed)
        return self.runs

    def _passed(self, runs: RunSet) -> None:
        """A pass has made these of the runs."""
        self.runs = runs
        self._context.safe.reached()

    def on_disk(self) -> RunSet:
        """The runs of the keys of both directions so far, all on disk. Takes no more pairs."""
        if self._ascends:
            self._put_back()
        return self._sorter.finish(on_disk=True)

    def abort(self) -> None:
        """Stop: wait for the sorts under way and drop everything."""
        self._sorter.abort()
