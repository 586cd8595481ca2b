"""Vertices of rooted trees numbered so that parents come before their children: by depth, or by whatever is so.

Edges are sorted by depth digit by digit; the place in that order is the number. Then passes over ranges of numbers go
from children to parents or the other way, and what leaves a range goes to one that is read later.
I/O for r edges, where they do not fit the room: 24 r written and read for each 8 bits of the largest depth, and 88 r to
number them. Bytes: the room of queues, six times; 16 a vertex of a range.
Source: Chiang et al., External-memory graph algorithms (1995), trees by time-forward processing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..progress import Tick, no_tick
from .queues import RangeQueues, Space

_DIGIT_BITS = 8


def by_depth(space: Space, edges: Iterator[np.ndarray], deepest: int) -> Iterator[np.ndarray]:
    """Rows uint64[k, 3] by their last word, which is at most `deepest`; those that are alike as they came."""
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
    """Number the vertices of trees: by ranges of numbers of children, rows (number, that of the parent, name); and by
    those of parents, rows (number of the parent, that of the child) for children in another range.

    edges : rows (name of a child, that of its parent, depth), every parent that is a child itself before its children.
    A number is the place of a child here, from 1 on; roots, which are no children, all have 0. Names and numbers are
    below the number of vertices."""
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
