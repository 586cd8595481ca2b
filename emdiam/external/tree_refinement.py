"""Refinement of trees on disk until they are BFS trees; for the algorithm see trees/refinement.py.

Every vertex whose height fell in the previous iteration sends its height and rank along its arcs; the least word that
arrives at a vertex decides whether its height falls, and which parent it gets. The previous heights are also used to
number the new trees, parents before children (tree_diameter.py), since every new parent had a smaller height; so
heights are passed down range by range. I/O of an iteration, with m arcs of vertices that fell and b the bytes of an id:
b + 8 bytes per arc written and read, if they do not fit the buffer; the cost of numbering n vertices
(tree_diameter.py), and 80 n. Bytes: the room of queues, six times; 24 per vertex of a range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..jit import kernel
from ..progress import Tick, no_tick
from ..traverse.columns import Column
from ..traverse.labels import UNREACHED, WIDE_BITS
from ..trees.refinement import EXACT
from ..trees.rooted import UNKNOWN
from ..trees.spanning import HALF, LOW
from .buckets import Buckets, Done, smallest
from .columns import DiskColumn, WordFile
from .disk import NaturalRanks
from .growth import DiskGrowth, new_labels
from .queues import RangeQueues, Space
from .rows import Rows, pieces
from .tree_diameter import by_depth, numbered
from .tree_rows import TreeRows

_NOTHING = (1 << 64) - 1


class DiskRefinement:
    """See TreeRefinement. roots : of all trees with an edge, int64[k]."""

    def __init__(self, rows: Rows, forest: TreeRows, space: Space, ranks: NaturalRanks, roots: np.ndarray,
                 tick: Tick = no_tick) -> None:
        self._rows, self._space, self._ranks, self._tick = rows, space, ranks, tick
        n = space.ranges.n
        self._column = DiskColumn(space.scratch, n, np.uint32, 0, space.page)
        self._parents = WordFile(space.scratch, n, space.key, 0, space.page)
        self._fell = WordFile(space.scratch, n, np.uint8, 1, space.page)
        self.iterations, self.known, self.exact, self._highest = 0, 0, False, 0
        self._hang(forest, roots)
        self._note(1 if rows.table.n_arcs else int(EXACT))

    @property
    def heights(self) -> Column:
        """See TreeRefinement."""
        return self._column

    def _hang(self, forest: TreeRows, roots: np.ndarray) -> None:
        """Compute heights and parents in the forest."""
        words = new_labels(self._space)
        growth = DiskGrowth(forest, self._space, words, len(roots))
        growth.grow(roots, 0, None, self._tick)
        growth.close()
        for _, first, stop in self._space.ranges.each():
            labels = words[first:stop]
            heights = np.where(labels == UNREACHED, 0, labels >> np.uint64(WIDE_BITS))
            self._column.set_part(first, heights.astype(np.uint32))
            self._highest = max(self._highest, int(heights.max()))

        def hang(first: int, least: np.ndarray) -> None:
            # In a tree exactly one neighbour is lower; a root has none.
            heights = self._column.part(first, first + len(least)).astype(np.uint64)
            here = np.arange(first, first + len(least), dtype=np.uint64)
            self._parents[first : first + len(least)] = np.where(
                least >> HALF < heights, least & LOW, here).astype(self._space.key)

        buckets = self._smallest(hang)
        forest.send(self._lowered(lambda start, stop: np.arange(start, stop)), buckets)
        buckets.finish()

    def _smallest(self, done: Done) -> Buckets:
        """Buckets that keep the least word received by every vertex."""
        return self._space.buckets(smallest(done, np.uint64, _NOTHING))

    def _lowered(self, names: Callable[[int, int], np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The vertices whose height fell, with words (height, name)."""
        for start, stop in pieces(self._space.ranges.n):
            fell = np.flatnonzero(self._fell[start:stop])
            if len(fell):
                heights = self._column.part(start, stop)[fell].astype(np.uint64)
                yield fell + start, (heights << HALF) | names(start, stop)[fell].astype(np.uint64)

    def _note(self, known: int) -> None:
        self.exact = self._highest <= known
        self.known = int(EXACT) if self.exact else known

    def step(self) -> int:
        """See TreeRefinement."""
        lowest = self._choose()
        self.iterations += 1
        fallen = self._measure()
        self._note(lowest + 1 if lowest < int(UNKNOWN) else int(EXACT))
        return fallen

    def _choose(self) -> int:
        """Choose the parents of the next trees; returns the least height that a vertex gets through an edge."""
        shift, lowest = self._space.ranges.shift, [int(UNKNOWN)]
        wanted = self._space.queues(2)  # (rank of a parent, child), by ranges of the rank

        def done(first: int, least: np.ndarray) -> None:
            heights = self._column.part(first, first + len(least)).astype(np.uint64)
            falls = np.flatnonzero((least != np.uint64(_NOTHING)) & ((least >> HALF) + np.uint64(1) < heights))
            if len(falls):
                words = least[falls]
                lowest.append(int(words.min() >> HALF) + 1)
                parents = words & LOW
                wanted.put(parents.astype(np.int64) >> shift,
                           np.column_stack((parents, (falls + first).astype(np.uint64))))

        buckets = self._smallest(done)
        arcs = self._rows.send(self._lowered(self._ranks.part), buckets, tick=self._tick)
        buckets.finish()
        self._rows.counters.add(passes=int(arcs > 0))
        self._rehang(wanted)
        return min(lowest)

    def _rehang(self, wanted: RangeQueues) -> None:
        """Write the chosen parents, which are named by rank."""
        ranges, changes = self._space.ranges, self._space.queues(2)
        for number, first, stop in ranges.each(wanted.filled()):
            vertices = self._ranks.vertices(first, stop).astype(np.uint64)
            for rows in wanted.read(number):
                parents = vertices[rows[:, 0].astype(np.int64) - first]
                changes.put(rows[:, 1].astype(np.int64) >> ranges.shift, np.column_stack((rows[:, 1], parents)))
        self._space.write(changes, self._parents)

    def _measure(self) -> int:
        """Compute heights from the parents; returns the number of vertices whose height fell."""
        ranges, lower = self._space.ranges, self._space.queues(2)
        children, below = numbered(self._space, by_depth(self._space, self._edges(), self._highest), self._tick)
        replies = self._space.queues(2)
        for number, first, stop in ranges.each():
            above, heights = np.full(stop - first, -1, np.int64), np.zeros(stop - first, np.int64)
            names = np.zeros(stop - first, np.uint64)
            for rows in children.read(number):
                at = rows[:, 0].astype(np.int64) - first
                above[at], names[at] = rows[:, 1].astype(np.int64), rows[:, 2]
            for rows in replies.read(number):
                heights[rows[:, 0].astype(np.int64) - first] = rows[:, 1].astype(np.int64)
            go_down(above, heights, first)
            for rows in below.read(number):
                answers = heights[rows[:, 0].astype(np.int64) - first].astype(np.uint64) + np.uint64(1)
                replies.put(rows[:, 1].astype(np.int64) >> ranges.shift, np.column_stack((rows[:, 1], answers)))
            hung = above >= 0
            lower.put(names[hung].astype(np.int64) >> ranges.shift,
                      np.column_stack((names[hung], heights[hung].astype(np.uint64))))
        for queues in (children, below, replies):
            queues.close()
        return self._take_over(lower)

    def _edges(self) -> Iterator[np.ndarray]:
        """Rows (vertex, parent, height) of all vertices except roots."""
        for start, stop in pieces(self._space.ranges.n):
            here, parents = np.arange(start, stop, dtype=np.uint64), self._parents[start:stop].astype(np.uint64)
            rows = np.column_stack((here, parents, self._column.part(start, stop).astype(np.uint64)))
            yield rows[rows[:, 2] > 0]

    def _take_over(self, lower: RangeQueues) -> int:
        """Write the new heights to the column; returns the number of smaller ones."""
        fallen = self._highest = 0
        for number, first, stop in self._space.ranges.each():
            before = self._column.part(first, stop)
            heights = before.copy()
            for rows in lower.read(number):
                heights[rows[:, 0].astype(np.int64) - first] = rows[:, 1]
            fell = heights < before
            self._fell[first:stop] = fell.astype(np.uint8)
            self._column.set_part(first, heights)
            fallen, self._highest = fallen + int(fell.sum()), max(self._highest, int(heights.max()))
        lower.close()
        return fallen

    def take_labels(self) -> Column:
        """See TreeRefinement."""
        for _, first, stop in self._space.ranges.each(() if self.exact else None):
            self._column.set_part(first, np.minimum(self._column.part(first, stop), np.uint32(self.known)))
        return self._column


@kernel
def go_down(above, heights, first):
    """heights[i] = heights[above[i] - first] + 1 for vertices whose parent above[i] is in the same range, which starts
    at `first`."""
    for i in range(len(above)):
        p = above[i] - first
        if p >= 0:
            heights[i] = heights[p] + 1
