"""Boxes over pivot distances: they prove pairs of vertices near, or find the worst pair.

A vertex is a point of k pivot distances; every pair has d(x, y) <= U(x, y) = min_i d_i(x) + d_i(y). A tree of boxes,
each with its maximum in every dimension, certifies all pairs of two boxes at once if min_i (max_a,i + max_b,i) <= L;
otherwise the larger box is opened. The search takes the pair of boxes with the largest bound first, and prunes with
the worst pair so far: it ends with the pair of largest U, or with the proof that no pair exceeds L.
Kernels that may run for minutes return after _SLICE looks and continue where they stopped, so that
progress and Ctrl-C need not wait long (`tick` is called in between). The result does not depend on it.
Passes: none. Bytes a point: 1.5 k x itemsize (sorted copy, maxima of boxes, at most one for two points), 8 for the
order, and 8 for the boxes while they are made. Sums are int64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...jit import inlined, kernel
from ...progress import Tick, no_tick

LEAF_POINTS = 8
# Boxes are cut while there are at least this many points for each box, which usual distances reach. So memory is
# bounded even for distances that would make one box of nearly every point.
_LEAST_POINTS_A_BOX = 2
_STACK = 4096
# Looks at a pair (or at a point, when boxes are cut) before a kernel returns: some 0.1 s.
_SLICE = 1 << 22
# Every _SAMPLED th of at least _LEAST_SAMPLED points is a sample; the share of it that counts as most.
_SAMPLED, _LEAST_SAMPLED, _MOST = 16, 1024, 0.5
# Reasons for find_worst to return.
LIMITED, FINISHED, PAUSED = 0, 1, 2



@dataclass
class Boxes:
    """A tree over points. points : unsigned[m, k], in tree order. order : int64[m], the caller's number of the point in
    each row. begin, end : int32[nodes], rows of a box. child : int32[nodes],
    its first child (the second follows it), 0 for a leaf. maxima : unsigned[nodes, k]."""

    points: np.ndarray
    order: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    child: np.ndarray
    maxima: np.ndarray


@dataclass(frozen=True)
class WorstPair:
    """The outcome of a search. bound : largest U found (the threshold if no pair exceeds it).
    first, second : that pair (-1 if none). finished : False if the work limit came first; the bound is then only that
    of the pair. looked_at : pairs of boxes and of points."""

    bound: int
    first: int
    second: int
    finished: bool
    looked_at: int


def build_boxes(points: np.ndarray, tick: Tick = no_tick) -> Boxes:
    """The tree over `points` (unsigned[m, k], m >= 1)."""
    m = len(points)
    order = np.arange(m, dtype=np.int64)
    capacity = max(1, m // _LEAST_POINTS_A_BOX)
    begin, end, child = (np.zeros(capacity, np.int32) for _ in range(3))
    state, extent = np.array([0, 1], np.int64), np.empty((2, points.shape[1]), np.int64)
    end[0] = m
    while split_boxes(points, order, begin, end, child, extent, state, max(1, _SLICE // points.shape[1])):
        tick()
    n_nodes = int(state[1])
    begin = begin[:n_nodes].copy()  # one after the other, so that only one exists twice at a time
    end = end[:n_nodes].copy()
    child = child[:n_nodes].copy()
    arranged = points[order]
    maxima = np.zeros((n_nodes, points.shape[1]), points.dtype)
    box_maxima(arranged, begin, end, child, maxima)
    return Boxes(arranged, order, begin, end, child, maxima)


def worst_pair(
    boxes: Boxes, threshold: int, work_limit: int = 1 << 62, enough: int = 1 << 62, tick: Tick = no_tick
) -> WorstPair:
    """The pair x != y with the largest U above `threshold`. The search stops at a pair with a U of at least
    `enough`."""
    out, hint = np.array([threshold, -1, -1, 0, -1], np.int64), np.zeros(1, np.int64)
    stack = np.empty((_STACK, 3), np.int64)
    limits = np.array([work_limit, enough, 0], np.int64)
    why = PAUSED
    while why == PAUSED:
        limits[2] = out[3] + _SLICE
        why = find_worst(boxes.points, boxes.begin, boxes.end, boxes.child, boxes.maxima, limits, stack, hint, out)
        tick()
    first, second = (int(boxes.order[out[i]]) if out[1] >= 0 else -1 for i in (1, 2))
    return WorstPair(int(out[0]), first, second, why == FINISHED, int(out[3]))


def open_points(boxes: Boxes, threshold: int, tick: Tick = no_tick, sample: bool = False) -> np.ndarray:
    """bool[m], in the caller's numbering: points with at least one partner at U > threshold. sample : all points if
    most of a sample have one."""
    flags, nobody = np.zeros(len(boxes.points), np.uint8), np.zeros(0, np.uint8)
    stack, state = np.empty(_STACK, np.int64), np.zeros(2, np.int64)
    for step in (_SAMPLED, 1) if sample and len(flags) >= _LEAST_SAMPLED else (1,):
        row = 0
        while row < len(flags):
            row = mark_open(boxes.points, boxes.begin, boxes.end, boxes.child, boxes.maxima, threshold, flags, nobody,
                            row, step, _SLICE, stack, state)
            tick()
        if step > 1 and flags[::step].mean() > _MOST:
            return np.ones(len(flags), bool)
    result = np.zeros(len(flags), bool)
    result[boxes.order] = flags.astype(bool)
    return result


def disjoint_pairs(boxes: Boxes, threshold: int, order: np.ndarray, n_pairs: int, tick: Tick = no_tick) -> np.ndarray:
    """At most `n_pairs` pairs with U > `threshold`, without a common point, int64[k, 2] in the caller's
    numbering. order : int64[m], the order in which rows look for a partner."""
    pairs = np.empty((n_pairs, 2), np.int64)
    used, stack, state = np.zeros(len(boxes.points), np.uint8), np.empty(_STACK, np.int64), np.zeros(2, np.int64)
    count = at = 0
    while at < len(order) and count < n_pairs:
        at, count = match_open(boxes.points, boxes.begin, boxes.end, boxes.child, boxes.maxima, threshold, order, pairs,
                               used, at, count, _SLICE, stack, state)
        tick()
    return boxes.order[pairs[:count]]


@kernel
def match_open(points, begin, end, child, maxima, threshold, order, pairs, used, at, count, work_limit, stack, state):
    """Greedy matching in the graph of open pairs, from order[at] on, with `count` pairs (of rows) so far
    and their rows `used` (uint8[m]); returns the new `at` and `count`. stack, state : see _partner."""
    state[1] = 0
    while at < len(order) and count < len(pairs) and state[1] < work_limit:
        r = order[at]
        at += 1
        if not used[r]:
            s = _partner(points, begin, end, child, maxima, threshold, r, used, stack, state)
            if s >= 0:
                used[r] = 1
                used[s] = 1
                pairs[count, 0] = r
                pairs[count, 1] = s
                count += 1
    return at, count


@kernel(uncompiled=True)
def split_boxes(points, order, begin, end, child, extent, state, most_points):
    """Arrange `order` so that every box is a range of it. A box is cut in the middle of its widest dimension, which
    never leaves a side empty, as long as there is room for two more. state : int64[2], number of finished boxes and
    of all boxes; box 0 has all points. extent : int64[2, k], work space. True if it stopped after
    `most_points` points."""
    k = points.shape[1]
    low, high = extent[0], extent[1]
    node = state[0]
    n_nodes = state[1]
    looked_at = 0
    while node < n_nodes and looked_at < most_points:
        first = begin[node]
        last = end[node]
        looked_at += last - first
        if last - first > LEAF_POINTS:
            for i in range(k):
                low[i] = points[order[first], i]
                high[i] = low[i]
            for r in range(first + 1, last):
                x = order[r]
                for i in range(k):
                    value = np.int64(points[x, i])
                    low[i] = min(low[i], value)
                    high[i] = max(high[i], value)
            widest = 0
            for i in range(1, k):
                if high[i] - low[i] > high[widest] - low[widest]:
                    widest = i
            if high[widest] > low[widest] and n_nodes + 2 <= len(begin):
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


@kernel(uncompiled=True)
def box_maxima(points, begin, end, child, maxima):
    """maxima[node, i] = largest value of the box's points in dimension i."""
    k = points.shape[1]
    for node in range(len(begin) - 1, -1, -1):
        if child[node]:
            for i in range(k):
                maxima[node, i] = max(maxima[child[node], i], maxima[child[node] + 1, i])
        else:
            for r in range(begin[node], end[node]):
                for i in range(k):
                    maxima[node, i] = max(maxima[node, i], points[r, i])


@inlined
def _bound(a, b, threshold, hint):
    """min_i a[i] + b[i], or any value <= threshold as soon as one is found; hint[0] is the dimension
    that certified last and is tried first."""
    best = np.int64(a[hint[0]]) + np.int64(b[hint[0]])
    if best <= threshold:
        return best
    for i in range(len(a)):
        value = np.int64(a[i]) + np.int64(b[i])
        if value < best:
            best = value
            if best <= threshold:
                hint[0] = i
                return best
    return best


@kernel(uncompiled=True)
def find_worst(points, begin, end, child, maxima, limits, stack, hint, out):
    """Branch and bound; see worst_pair. limits : int64[3] = limit of looks, a sufficient bound, looks before it
    pauses. hint : int64[1], the dimension to try first. out : int64[5] = bound, row, row, looks, pairs of boxes
    on the stack (-1: not begun). Returns LIMITED, FINISHED (to the end, or at a sufficient bound) or PAUSED."""
    work = out[3]
    depth = out[4]
    if depth < 0:
        work = 1
        depth = 1
        stack[0, 0] = 0
        stack[0, 1] = 0
        stack[0, 2] = _bound(maxima[0], maxima[0], out[0], hint)
    while depth:
        depth -= 1
        a = stack[depth, 0]
        b = stack[depth, 1]
        bound = stack[depth, 2]
        if bound <= out[0]:
            continue
        if work > limits[0] or work > limits[2]:
            out[3] = work
            out[4] = depth + 1
            return LIMITED if work > limits[0] else PAUSED
        if not child[a] and not child[b]:
            for r in range(begin[a], end[a]):
                if out[0] >= bound:  # always so for boxes of equal points, whatever their number
                    break
                for s in range(r + 1 if a == b else begin[b], end[b]):
                    work += 1
                    value = _bound(points[r], points[s], out[0], hint)
                    if value > out[0]:
                        out[0] = value
                        out[1] = r
                        out[2] = s
                        if value >= limits[1]:
                            out[3] = work
                            return FINISHED
                        if value >= bound:
                            break
            continue
        if depth + 3 > len(stack):
            raise MemoryError("the search stack is full")
        base = depth
        if a == b:
            c = np.int64(child[a])
            depth = _put(stack, depth, base, c, c, maxima, out[0], hint)
            depth = _put(stack, depth, base, c, c + 1, maxima, out[0], hint)
            depth = _put(stack, depth, base, c + 1, c + 1, maxima, out[0], hint)
            work += 3
        else:
            if not child[a] or (child[b] and end[b] - begin[b] > end[a] - begin[a]):
                other = a
                a = b
                b = other
            c = np.int64(child[a])
            depth = _put(stack, depth, base, c, b, maxima, out[0], hint)
            depth = _put(stack, depth, base, c + 1, b, maxima, out[0], hint)
            work += 2
    out[3] = work
    return FINISHED


@inlined
def _put(stack, depth, base, a, b, maxima, threshold, hint):
    """Push (a, b) if it is open, and keep the pairs pushed since `base` in order of bounds."""
    value = _bound(maxima[a], maxima[b], threshold, hint)
    if value <= threshold:
        return depth
    place = depth
    while place > base and stack[place - 1, 2] > value:
        stack[place, 0] = stack[place - 1, 0]
        stack[place, 1] = stack[place - 1, 1]
        stack[place, 2] = stack[place - 1, 2]
        place -= 1
    stack[place, 0] = a
    stack[place, 1] = b
    stack[place, 2] = value
    return depth + 1


@kernel(uncompiled=True)
def mark_open(points, begin, end, child, maxima, threshold, flags, nobody, r, step, work_limit, stack, state):
    """flags[r] = 1 if row r has a partner s != r with U(r, s) > threshold; both ends are marked. Only every `step`th
    row looks for one. Returns the next row. nobody : uint8[0]. stack, state : see _partner."""
    state[1] = 0
    while r < len(points) and state[1] < work_limit:
        if not flags[r]:
            s = _partner(points, begin, end, child, maxima, threshold, r, nobody, stack, state)
            if s >= 0:
                flags[r] = 1
                flags[s] = 1
        state[1] += 1
        r += step
    return r


@inlined
def _partner(points, begin, end, child, maxima, threshold, r, used, stack, state):
    """A row s != r with U(r, s) > threshold that is not `used` (uint8[m] or length 0), or -1. state :
    int64[2], the dimension to try first, and looks so far."""
    stack[0] = 0
    depth = 1
    while depth:
        depth -= 1
        node = stack[depth]
        state[1] += 1
        if _bound(points[r], maxima[node], threshold, state) <= threshold:
            continue
        if child[node]:
            if depth + 2 > len(stack):
                raise MemoryError("the search stack is full")
            stack[depth] = child[node]
            stack[depth + 1] = child[node] + 1
            depth += 2
            continue
        state[1] += end[node] - begin[node]
        for s in range(begin[node], end[node]):
            if s != r and not (len(used) and used[s]) and _bound(points[r], points[s], threshold, state) > threshold:
                return s
    return -1
