"""All pairs of a set of points proved near: a tree of boxes against itself, piece by piece.

A point is a vertex's vector of k label columns, and d(x, y) <= min_i x_i + y_i. A box keeps the
maximum of its points in every column; a pair of boxes a, b is certified if
min_i (max_a,i + max_b,i) <= L, else the wider box is replaced by its two halves. Boxes are cut until
all points of one are equal, so that a leaf is a class of equal points; it is paired with
itself only if it has two. Every pair x != y lies in some pair of boxes at any time, and a pair of
boxes is only ever dropped when certified: if none is left, all pairs are. Open pairs of boxes
are kept in arrays of bounded length, the newest first.
Bytes: k x itemsize and 8 a point; k x itemsize and 20 (40 from 2^30 points on) a box.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import BudgetError
from ..jit import kernel
from ..units import format_size

_PIECE = 1 << 12
# Coordinates that a kernel looks at in one call.
_SLICE = 1 << 24


@dataclass(frozen=True)
class PairProof:
    """unproved : rows of a pair that is not certified; None if all pairs are. looked_at : pairs of
    boxes."""

    unproved: tuple[int, int] | None
    looked_at: int


@dataclass(frozen=True)
class _Boxes:
    """order : int[m], rows box by box. begin, end : int[nodes], a box's part of it. child : int[nodes],
    the first of its halves (the other follows), 0 for a class. width : int64[nodes], its largest
    extent. most : unsigned[nodes, k]."""

    order: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    child: np.ndarray
    width: np.ndarray
    most: np.ndarray


def prove_pairs(points: np.ndarray, limit: int, room: int = 1 << 62) -> PairProof:
    """Prove min_i points[x, i] + points[y, i] <= limit for all rows x != y of unsigned[m, k].

    room : bytes that the boxes may take. Raises BudgetError if they do not fit.
    """
    if len(points) < 2:
        return PairProof(None, 0)
    if points.shape[1] == 0:
        return PairProof((0, 1), 1)
    boxes = _build(points, room)
    root = np.zeros(1, np.int64)
    stack, looked_at = [(root, root)], 0
    fault = np.full(2, -1, np.int64)
    out = np.empty((2, 3 * _PIECE), np.int64)
    while stack:
        first, second = stack.pop()
        looked_at += len(first)
        count = open_pairs(first, second, boxes.begin, boxes.end, boxes.child, boxes.width, boxes.most, limit,
                           out[0], out[1], fault)
        if fault[0] >= 0:
            a, b = (int(boxes.begin[node]) for node in fault)
            return PairProof((int(boxes.order[a]), int(boxes.order[b if a != b else a + 1])), looked_at)
        for begin in range(0, count, _PIECE):
            end = min(begin + _PIECE, count)
            stack.append((out[0, begin:end].copy(), out[1, begin:end].copy()))
    return PairProof(None, looked_at)


def _build(points: np.ndarray, room: int) -> _Boxes:
    m, k = points.shape
    number = np.dtype(np.int32 if m < 1 << 30 else np.int64)
    _fits(m * number.itemsize, room)
    order = np.arange(m, dtype=number)
    # Pages of these that no box reaches are never touched.
    begin, end, child = (np.empty(2 * m, number) for _ in range(3))
    width = np.empty(2 * m, np.int64)
    state = np.array([0, 1], np.int64)
    begin[0], end[0] = 0, m
    while split_classes(points, order, begin, end, child, width, state, max(1, _SLICE // k)):
        pass  # here Ctrl-C is heard
    n_nodes = int(state[1])
    per_node = 3 * number.itemsize + 8
    _fits(m * number.itemsize + n_nodes * (per_node + k * points.itemsize), room)
    most = np.zeros((n_nodes, k), points.dtype)
    fold_maxima(points, order, begin[:n_nodes], child[:n_nodes], most)
    return _Boxes(order, begin[:n_nodes], end[:n_nodes], child[:n_nodes], width[:n_nodes], most)


def _fits(size: int, room: int) -> None:
    if size > room:
        raise BudgetError(f"the pairs need {format_size(size)} beside what is in memory, and only "
                          f"{format_size(max(0, room))} of --memory are left", remedy="give more --memory")


@kernel
def split_classes(points, order, begin, end, child, width, state, most_points):  # type: ignore[no-untyped-def]
    """Cut boxes in the middle of their largest extent until all points of a box are equal. Box 0 holds
    all points. state : int64[2], boxes that are done with, boxes that there are. True if it stopped
    after `most_points` points."""
    k = points.shape[1]
    low = np.empty(k, np.int64)
    high = np.empty(k, np.int64)
    node = state[0]
    n_nodes = state[1]
    looked_at = 0
    while node < n_nodes and looked_at < most_points:
        first = np.int64(begin[node])
        last = np.int64(end[node])
        looked_at += last - first
        for i in range(k):
            low[i] = np.int64(points[order[first], i])
            high[i] = low[i]
        for r in range(first + 1, last):
            for i in range(k):
                value = np.int64(points[order[r], i])
                low[i] = min(low[i], value)
                high[i] = max(high[i], value)
        widest = 0
        for i in range(1, k):
            if high[i] - low[i] > high[widest] - low[widest]:
                widest = i
        child[node] = 0
        width[node] = high[widest] - low[widest]
        if width[node] > 0:
            cut = (low[widest] + high[widest]) // 2
            left = first
            right = last - 1
            while left <= right:
                if np.int64(points[order[left], widest]) <= cut:
                    left += 1
                else:
                    other = order[left]
                    order[left] = order[right]
                    order[right] = other
                    right -= 1
            child[node] = n_nodes
            begin[n_nodes] = first
            end[n_nodes] = left
            begin[n_nodes + 1] = left
            end[n_nodes + 1] = last
            n_nodes += 2
        node += 1
    state[0] = node
    state[1] = n_nodes
    return node < n_nodes


@kernel
def fold_maxima(points, order, begin, child, most):  # type: ignore[no-untyped-def]
    """most[node, i] = the largest value of the box in column i. Halves come after their box."""
    k = points.shape[1]
    for node in range(len(child) - 1, -1, -1):
        if child[node] == 0:
            for i in range(k):
                most[node, i] = points[order[begin[node]], i]
        else:
            for i in range(k):
                most[node, i] = max(most[child[node], i], most[child[node] + 1, i])


@kernel
def open_pairs(first, second, begin, end, child, width, most, limit, out_first, out_second, fault):  # type: ignore[no-untyped-def]
    """Of the pairs of boxes (first[q], second[q]) drop the certified ones and write those that
    replace the others to out; returns how many. fault : a pair of classes that nothing certifies."""
    k = most.shape[1]
    count = 0
    hint = 0
    for q in range(len(first)):
        a = first[q]
        b = second[q]
        if np.int64(most[a, hint]) + np.int64(most[b, hint]) <= limit:
            continue
        near = False
        for i in range(k):
            if np.int64(most[a, i]) + np.int64(most[b, i]) <= limit:
                hint = i
                near = True
                break
        if near:
            continue
        if a == b and child[a] != 0:
            half = np.int64(child[a])
            out_first[count] = half
            out_second[count] = half
            out_first[count + 1] = half
            out_second[count + 1] = half + 1
            out_first[count + 2] = half + 1
            out_second[count + 2] = half + 1
            count += 3
        elif a != b and (width[a] > 0 or width[b] > 0):
            if width[a] < width[b]:
                a, b = b, a
            half = np.int64(child[a])
            out_first[count] = half
            out_second[count] = b
            out_first[count + 1] = half + 1
            out_second[count + 1] = b
            count += 2
        elif a != b or end[a] - begin[a] >= 2:
            fault[0] = a
            fault[1] = b
            return count
    return count
