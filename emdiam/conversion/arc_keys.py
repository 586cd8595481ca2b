"""The sorted keys of all arcs, from pairs in any order. Almost nothing is sorted if a source lists every edge in both
directions, in ascending rows, as CSR files and sorted lists do.

From such a source each pair becomes only the key of the arc that it lists. These keys ascend, so that sorting threads
find one long piece, and runs follow each other, which the merge passes on unchanged. If a source turns out to be
different, the missing keys of the other direction are made from the existing ones, and from then on every pair becomes
both keys:

- at a row that does not ascend;
- if a sum is not 0: every pair {v, w} with its weight has a 64-bit hash, added for a pair up, from the smaller vertex
to the larger one, and subtracted for a pair down. The sum is checked after the first pairs, for pairs of vertices whose
rows have come, and at the end. The hash contains a random number, so that no input can be constructed to have the sum
0; by chance it is 0 with a probability of 2^-64.

From a sorted source with one direction both keys go into one buffer, from its two ends: the ascending half is not
sorted. Leaving it out of the buffer would cost more than it saves, as it would be read again.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from ..checkpoint.records import State
from ..hashing import mix64
from ..sorting.runs import Entries, Keys
from ..sorting.sort import KeySorter, RunSet, SortContext, fewer_runs
from .keys import BLOCK, of_the_other_direction, put_both_directions, put_one_direction

# Pairs after which the source is checked.
_LOOK = 1 << 18


class ArcKeys:
    """Takes pairs, and then provides the runs of the keys of their arcs.

    context : plan, scratch space, threads. shift : bits of a vertex. on_run : see KeySorter. resumed : a `state` to
    continue from. runs : after `finish`. symmetric : after `finish`, whether every pair came in both directions, in
    which case no key records its direction.
    """

    def __init__(self, context: SortContext, shift: int, *, on_run: Callable[[Entries], None] | None = None,
                 resumed: State | None = None) -> None:
        self._context, self._shift = context, shift
        self.runs: RunSet | None = None
        figures = resumed["figures"] if resumed is not None else [
            0 if context.directed else 1, 0, 0, int.from_bytes(os.urandom(8)), 0]
        self._ascends, self._last, self._balance = bool(figures[0]), figures[1], figures[2]
        self._salt, self.symmetric = figures[3], bool(figures[4])
        # Larger vertex and signed hash of the first pairs, until they are checked; None after resuming.
        self._first: list[tuple[Keys, Keys]] | None = [] if self._ascends and resumed is None else None
        if resumed is not None and resumed["runs"] is not None:
            self.runs = RunSet.restored(resumed["runs"], context)
        self._sorter = KeySorter(context, on_run=on_run, followed=context.weighted,
                                 resumed=resumed and resumed["sorter"])

    def state(self) -> State:
        """All pairs so far as a state, before, during and after `finish`."""
        sorter = self._sorter.state() if self.runs is None else None
        return {"figures": [int(self._ascends), self._last, self._balance, self._salt, int(self.symmetric)],
                "sorter": sorter, "runs": self.runs and self.runs.state()}

    def add(self, src: Keys, dst: Keys, numbers: Keys | None = None) -> None:
        """Add pairs. src, dst : uint64[k], below 2^shift, no loops. numbers : of their weights, uint64[k]."""
        for start in range(0, len(src), BLOCK):
            here = slice(start, start + BLOCK)
            self._add(src[here], dst[here], None if numbers is None else numbers[here])

    def _add(self, src: Keys, dst: Keys, numbers: Keys | None) -> None:
        """The same for a block."""
        if self._ascends and (int(src[0]) < self._last or bool((src[1:] < src[:-1]).any())):
            self._put_back()
        if not self._ascends:
            put_both_directions(self._sorter, src, dst, self._shift, self._context.directed, numbers)
            return
        self._last = int(src[-1])
        put_one_direction(self._sorter, src, dst, self._shift, numbers)
        larger = np.maximum(src, dst)
        hashes = mix64((np.minimum(src, dst) << np.uint64(self._shift) | larger) ^ np.uint64(self._salt))
        if numbers is not None:
            hashes = mix64(hashes ^ numbers)
        np.negative(hashes, out=hashes, where=src > dst)
        self._balance = (self._balance + int(hashes.sum())) % (1 << 64)
        if self._first is not None:
            self._first.append((larger, hashes))
            if sum(len(part) for part, _ in self._first) >= _LOOK and self._is_one_way():
                self._put_back()

    def _is_one_way(self) -> bool:
        """Whether among the first pairs an edge has one direction only, though the rows of both its vertices have
        come."""
        assert self._first is not None
        first, self._first = self._first, None
        return sum(int(hashes[larger < np.uint64(self._last)].sum()) for larger, hashes in first) % (1 << 64) != 0

    def _put_back(self) -> None:
        """Add the keys of the other direction for all pairs that have only one key."""
        self._ascends, self._first = False, None
        self._sorter.add_made(lambda entries: of_the_other_direction(entries, self._shift))

    def finish(self) -> RunSet:
        """Wait, after the last pair, until the runs are sorted, and merged until one merge can take them."""
        if self.runs is None:
            self.symmetric = self._ascends and not self._balance
            if self._ascends and not self.symmetric:
                self._put_back()
            self.runs = self._sorter.finish()
        self.runs = fewer_runs(self.runs, self._context, self._passed)
        return self.runs

    def _passed(self, runs: RunSet) -> None:
        """Store the runs made by a merge pass."""
        self.runs = runs
        self._context.safe.reached()

    def on_disk(self) -> RunSet:
        """The runs of the keys of both directions so far, all on disk. No pairs may be added later."""
        if self._ascends:
            self._put_back()
        return self._sorter.finish(on_disk=True)

    def abort(self) -> None:
        """Stop: wait for running sorts and drop everything."""
        self._sorter.abort()
