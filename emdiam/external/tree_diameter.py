"""The diameter of a BFS tree on disk; for its definition see trees/diameter.py.

Every vertex sends its distance and natural rank along its arcs: the least word that arrives at a vertex names its
parent, since no neighbour is nearer. Vertices are numbered by distance, so that branches are folded into parents range
by range, from the last number to the first, and data sent from a range goes to one that is read later. I/O, with m
arcs, r reached vertices and b the bytes of an id: one pass over the arcs; (b + 8) m written and read if they do not fit
the buffer; for r likewise 24 r, the cost of numbering, and at most 16 r. Bytes: the room of queues, five times; 16 per
vertex of a range.
Sources: as trees/diameter.py; Chiang et al., External-memory graph algorithms (1995), trees by time-forward
processing.

Numbering gives the vertices of rooted trees numbers so that parents come before their children: by depth, or by another
key with that property. Edges are sorted by depth digit by digit; the position in that order is the number. Then passes
over ranges of numbers go from children to parents or the other way, and data sent from a range goes to one that is read
later. I/O for r edges, if they do not fit the room: 24 r written and read for each 8 bits of the largest depth, and 88
r to number them. Bytes: the room of queues, six times; 16 per vertex of a range.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..jit import kernel
from ..progress import Tick, no_tick
from ..traverse.columns import Column
from .buckets import smallest
from .disk import NaturalRanks
from .queues import RangeQueues, Space
from .rows import Rows, pieces

_DIGIT_BITS = 8


def by_depth(space: Space, edges: Iterator[np.ndarray], deepest: int) -> Iterator[np.ndarray]:
    """Rows uint64[k, 3], stably sorted by their last word, which is at most `deepest`."""
    for shift in range(0, deepest.bit_length(), _DIGIT_BITS):
        edges = _by_digit(space, edges, shift)
    return edges


def _by_digit(space: Space, pieces: Iterator[np.ndarray], shift: int) -> Iterator[np.ndarray]:
    queues = RangeQueues(space.scratch, 1 << _DIGIT_BITS, max(1, space.room // 3), 3)
    for rows in pieces:
        digits = (rows[:, 2] >> np.uint64(shift)) & np.uint64((1 << _DIGIT_BITS) - 1)
        queues.put(digits.astype(np.int64), rows)
    for digit in range(1 << _DIGIT_BITS):
        yield from queues.read(digit)
    queues.close()


def numbered(space: Space, edges: Iterator[np.ndarray], tick: Tick = no_tick) -> tuple[RangeQueues, RangeQueues]:
    """Number the vertices of trees. Returns rows (number, parent's number, name) by ranges of the children's numbers,
    and, for children in another range than their parents, rows (parent's number, child's number) by ranges of the
    parents' numbers.

    edges : rows (name of a child, name of its parent, depth); a parent that is itself a child comes before its
    children. A number is the position of a child in this order, from 1; roots, which are not children, all have 0.
    Names and numbers are below the number of vertices.
    """
    shift, done = space.ranges.shift, 1
    places, asked = space.queues(2), space.queues(3)
    children, below = space.queues(3), space.queues(2)
    for rows in edges:
        numbers = np.arange(done, done + len(rows), dtype=np.uint64)
        places.put(rows[:, 0].astype(np.int64) >> shift, np.column_stack((rows[:, 0], numbers)))
        asked.put(rows[:, 1].astype(np.int64) >> shift, np.column_stack((rows[:, 1], numbers, rows[:, 0])))
        done += len(rows)
    for number, first, stop in space.ranges.each():
        at = np.zeros(stop - first, np.uint64)
        for rows in places.read(number):
            at[rows[:, 0].astype(np.int64) - first] = rows[:, 1]
        for rows in asked.read(number):
            above, child = at[rows[:, 0].astype(np.int64) - first], rows[:, 1]
            children.put(child.astype(np.int64) >> shift, np.column_stack((child, above, rows[:, 2])))
            ranges = above.astype(np.int64) >> shift
            away = ranges != child.astype(np.int64) >> shift
            below.put(ranges[away], np.column_stack((above, child))[away])
        tick()
    places.close()
    asked.close()
    return children, below


_NOTHING = (1 << 64) - 1


def tree_diameter(
    rows: Rows, space: Space, column: Column, ranks: NaturalRanks, tick: Tick = no_tick
) -> int:
    """The number of edges on the longest path of the canonical BFS tree of the distances in `column`. Raises
    RuntimeError if they are not distances."""
    edges = _TreeEdges(space, column, ranks)
    rows.bring(edges.sources(), space.buckets(smallest(edges.hang, np.uint64, _NOTHING)), tick=tick)
    children, below = numbered(space, edges.by_depth(), tick)
    below.close()
    return _longest(space, children, tick)


class _TreeEdges:
    """Edges of the tree: rows (rank, rank of the parent, distance) by ranges of ranks."""

    def __init__(self, space: Space, column: Column, ranks: NaturalRanks) -> None:
        self._space, self._column, self._ranks = space, column, ranks
        self._bits = np.uint64(max(1, (space.ranges.n - 1).bit_length()))
        self._edges, self._deepest = space.queues(3), 0

    def sources(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The reached vertices, and words (distance, rank)."""
        for start, stop in pieces(len(self._column)):
            distances, ranks = self._column.part(start, stop), self._ranks.part(start, stop)
            reached = np.flatnonzero(distances != self._column.unreached)
            words = (distances[reached].astype(np.uint64) << self._bits) | ranks[reached].astype(np.uint64)
            yield reached + start, words

    def hang(self, first: int, least: np.ndarray) -> None:
        """Add the edges to the parents of the vertices from `first` on; `least` : the least word received by each."""
        distances = self._column.part(first, first + len(least))
        hung = np.flatnonzero((distances != self._column.unreached) & (distances != 0))
        words, depth = least[hung], distances[hung].astype(np.uint64)
        wrong = np.flatnonzero((words >> self._bits) + np.uint64(1) != depth)
        if len(wrong):
            raise RuntimeError(f"no neighbour of vertex {first + hung[wrong[0]]} is nearer to the source")
        own = self._ranks.part(first, first + len(least))[hung]
        parents = words & ((np.uint64(1) << self._bits) - np.uint64(1))
        self._edges.put(own >> self._space.ranges.shift, np.column_stack((own.astype(np.uint64), parents, depth)))
        self._deepest = max(self._deepest, int(depth.max(initial=0)))

    def by_depth(self) -> Iterator[np.ndarray]:
        """The edges sorted by the distance of the child, then by its rank."""
        return by_depth(self._space, self._by_rank(), self._deepest)

    def _by_rank(self) -> Iterator[np.ndarray]:
        for number in range(self._space.ranges.count):
            rows = np.concatenate([np.empty((0, 3), np.uint64), *self._edges.read(number)])
            yield rows[np.argsort(rows[:, 0])]
        self._edges.close()


def _longest(space: Space, parents: RangeQueues, tick: Tick) -> int:
    """The length of the tree's longest path, in edges."""
    branches, longest = space.queues(2), 0
    for number, first, stop in space.ranges.each(reversed(range(space.ranges.count))):
        above, heights = np.full(stop - first, -1, np.int64), np.zeros(stop - first, np.int64)
        for rows in parents.read(number):
            above[rows[:, 0].astype(np.int64) - first] = rows[:, 1].astype(np.int64)
        for rows in branches.read(number):
            longest = max(longest, int(fold_branches(rows.view(np.int64), heights, first)))
        out = np.empty((stop - first, 2), np.int64)
        path, count = fold_children(above, heights, first, out)
        longest = max(longest, int(path))
        branches.put(out[:count, 0] >> space.ranges.shift, out[:count].view(np.uint64))
        tick()
    parents.close()
    branches.close()
    return longest


@kernel
def fold_branches(rows, heights, first):
    """Fold branches (parent, reach), int64[k, 2], into heights[parent - first]; returns the longest path found, in
    edges."""
    longest = np.int64(0)
    for i in range(len(rows)):
        p = rows[i, 0] - first
        longest = max(longest, heights[p] + rows[i, 1])
        heights[p] = max(heights[p], rows[i, 1])
    return longest


@kernel
def fold_children(above, heights, first, out):
    """Fold the vertices of a range into their parents above[i] (-1: none), from the last to the first. Returns (longest
    path found, count), with the branches (parent, reach) that leave the range in out[:count]."""
    longest, count = np.int64(0), np.int64(0)
    for i in range(len(above) - 1, -1, -1):
        if above[i] < 0:
            continue
        reach = heights[i] + 1
        p = above[i] - first
        if p < 0:
            out[count, 0] = above[i]
            out[count, 1] = reach
            count += 1
        else:
            longest = max(longest, heights[p] + reach)
            heights[p] = max(heights[p], reach)
    return longest, count
