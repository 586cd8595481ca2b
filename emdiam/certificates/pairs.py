"""Proof that all pairs of a set of points are near: products of sets of rows, cut by means of the bound.

A point is a vertex's row of k label columns: d(x, y) <= x_i + y_i for every column i. A *product* represents all pairs
of a set of rows with itself, or of two disjoint sets of rows. There are three steps; the first two replace a product by
smaller ones. L is the bound:

1. S with itself. N are the rows of S with x_i <= L / 2, for one column i; any two of them have a sum of at most L. The
pairs of N with the rest R, and of R with itself, remain.
2. A with B. For one column i and one value t, A' are the rows of A with x_i <= t, B' the rows of B with y_i <= L - t; a
row of A' and one of B' have a sum of at most L. The pairs of the rest of A with all of B, and of A' with the rest of B,
remain.
3. Few pairs: each is examined separately.

At any time each pair x != y of rows is certified or in a waiting product, so all are certified when no product waits.
This holds for any i and t; they are chosen for the most certified pairs between samples of the sets. If no i and t
certify a pair of sampled rows, no column certifies these rows, and they are the answer. So each step certifies at least
one pair, and the proof ends.

A set is a range of one permutation of the rows. The sets of a waiting product are only changed as wholes, since the
sets cut in the meantime are parts of one of them or disjoint from it.
Bytes: 4 per point (8 from 2^31 points on), and 32 per waiting product.

Also vertices with open bounds, proved through pairs: ecc(v) <= L(v) if every w is within L(v) of v. L(v) is the lower
bound proved by distances to sources. A source w is within it, since its distance is one of these. Any other w is near
if some source p has U(v, w) = d(v, p) + d(p, w) <= L(v). If every path from v to w meets a source, that is, if they are
in different *parts*, the components of the graph without the sources, then the smallest U(v, w) is their distance, and
L(v) is raised to it. With the source s of the smallest d(v, s) + ecc(s), only vertices w farther than L(v) - d(v, s)
from s matter: these are examined from the farthest on.
Bytes: the distances of all vertices of the component to all its sources, and 8 per vertex and thread.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from ..distinct import distinct
from ..errors import MoreMemoryError
from ..jit import inlined, kernel
from ..progress import Tick
from ..units import format_size

# Rows sampled from each set to choose a cut.
_SAMPLE = 16
# Pairs of a product are examined one by one if there are at most this number per row.
_FEW = 16
# Rows and pairs that a kernel examines in one call.
_SLICE = 1 << 24
_WAITING = 1 << 10
# Reasons for which a kernel returns.
_DONE, _UNPROVED, _MORE = 0, 1, 2


# Bytes per row of a proof, and of the waiting products.
ROW_BYTES, WAITING_BYTES = 8, 1 << 20


@dataclass(frozen=True)
class PairProof:
    """unproved : rows of a pair that is not certified; None if all pairs are. looked_at : number of products and single
    pairs examined."""

    unproved: tuple[int, int] | None
    looked_at: int


def prove_pairs(points: np.ndarray, limit: int, room: int = 1 << 62) -> PairProof:
    """Prove min_i points[x, i] + points[y, i] <= limit for all rows x != y of unsigned[m, k].

    room : bytes that the proof may take. Raises BudgetError if they are too few.
    """
    m, k = points.shape
    if m < 2:
        return PairProof(None, 0)
    if k == 0:
        return PairProof((0, 1), 1)
    number = np.dtype(np.int32 if m < 1 << 31 else np.int64)
    waiting = np.empty((_WAITING, 4), np.int64)
    check_room(m * number.itemsize + waiting.nbytes, room)
    order = np.arange(m, dtype=number)
    waiting[0] = 0, m, 0, m
    # Waiting products, products and pairs examined so far, and the rows of an uncertified pair.
    state = np.array([1, 0, -1, -1], np.int64)
    while (why := cut_products(points, limit, order, waiting, state, _SLICE)) == _MORE:
        if state[0] + 2 > len(waiting):  # otherwise the return only allows Ctrl-C
            check_room(m * number.itemsize + 3 * waiting.nbytes, room)
            waiting = np.concatenate([waiting, np.empty_like(waiting)])
    unproved = (int(state[2]), int(state[3])) if why == _UNPROVED else None
    return PairProof(unproved, int(state[1]))


def check_room(size: int, room: int, what: str = "the pairs need") -> None:
    """Raise MoreMemoryError if `size` bytes do not fit; `what` begins the message."""
    if size > room:
        raise MoreMemoryError(f"{what} {format_size(size)} beside the data already in memory, and only "
                              f"{format_size(max(0, room))} of --memory are free", size - room)


@kernel
def cut_products(points, limit, order, waiting, state, slice_rows):
    """Cut products, the newest first, until none waits, a pair is not certified, `waiting` has no room for two more, or
    slice_rows rows were examined. waiting : int64[*, 4], first row and end of both sets in `order`; state : see
    prove_pairs."""
    first = np.empty(_SAMPLE, np.int64)
    second = np.empty(_SAMPLE, np.int64)
    values = np.empty((2, _SAMPLE), np.int64)
    rows = 0
    while state[0] > 0:
        if state[0] + 2 > len(waiting) or rows >= slice_rows:
            return _MORE
        state[0] -= 1
        a, a_end, b, b_end = waiting[state[0]]
        if a_end - a == 0 or b_end - b == 0 or (a == b and a_end - a == 1):
            continue
        state[1] += 1
        size_a = a_end - a
        size_b = b_end - b
        rows += size_a + size_b
        if size_a * size_b <= _FEW * (size_a + size_b):
            rows += size_a * size_b
            if not compare(points, limit, order, a, a_end, b, b_end, state):
                return _UNPROVED
            continue
        n_first = sample(order, a, a_end, first)
        n_second = sample(order, b, b_end, second)
        if a == b:
            i = choose_ball(points, limit, first[:n_first])
            t = limit // 2
        else:
            i, t = choose_cut(points, limit, first[:n_first], second[:n_second], values)
        if i < 0:
            state[2] = first[0]
            state[3] = second[1] if a == b else second[0]
            return _UNPROVED
        a_cut = part(points, order, a, a_end, i, t)
        if a == b:
            put(waiting, state, a_cut, a_end, a_cut, a_end)
            put(waiting, state, a, a_cut, a_cut, a_end)
        else:
            b_cut = part(points, order, b, b_end, i, limit - t)
            put(waiting, state, a_cut, a_end, b, b_end)
            put(waiting, state, a, a_cut, b_cut, b_end)
    return _DONE


@inlined
def put(waiting, state, a, a_end, b, b_end):
    """Add a waiting product."""
    waiting[state[0], 0] = a
    waiting[state[0], 1] = a_end
    waiting[state[0], 2] = b
    waiting[state[0], 3] = b_end
    state[0] += 1


@inlined
def sample(order, begin, end, rows):
    """Distinct rows of order[begin:end] at equal steps; returns their number."""
    count = min(len(rows), end - begin)
    for j in range(count):
        rows[j] = order[begin + (end - begin) * j // count]
    return count


@kernel
def choose_ball(points, limit, rows):
    """The column in which most of `rows` are at most half the limit; -1 if there are none in any column."""
    best = 0
    column = -1
    for i in range(points.shape[1]):
        count = 0
        for j in range(len(rows)):
            count += 2 * np.int64(points[rows[j], i]) <= limit
        if count > best:
            best = count
            column = i
    return column


@kernel
def choose_cut(points, limit, first, second, values):
    """The column and value that certify most pairs of `first` with `second`; (-1, 0) if none certifies any."""
    best = 0
    column = -1
    threshold = 0
    for i in range(points.shape[1]):
        sort_values(points, i, first, values[0])
        sort_values(points, i, second, values[1])
        count = len(second)
        for j in range(len(first)):
            while count > 0 and values[0, j] + values[1, count - 1] > limit:
                count -= 1
            if (j + 1) * count > best:
                best = (j + 1) * count
                column = i
                # The middle of the values that divide the samples in this way.
                threshold = (values[0, j] + limit - values[1, count - 1]) // 2
    return column, threshold


@inlined
def sort_values(points, i, rows, values):
    """values[:len(rows)] = column i of the rows, ascending."""
    for j in range(len(rows)):
        value = np.int64(points[rows[j], i])
        at = j
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value


@kernel
def part(points, order, begin, end, i, threshold):
    """Move the rows of order[begin:end] with at most the threshold in column i to the front; returns the start of the
    others."""
    for at in range(begin, end):
        row = order[at]
        if np.int64(points[row, i]) <= threshold:
            order[at] = order[begin]
            order[begin] = row
            begin += 1
    return begin


@kernel
def compare(points, limit, order, a, a_end, b, b_end, state):
    """Examine each pair of a product separately; returns False, with its rows in `state`, if one is not certified."""
    hint = 0
    for p in range(a, a_end):
        x = order[p]
        for q in range(p + 1 if a == b else b, b_end):
            y = order[q]
            state[1] += 1
            if np.int64(points[x, hint]) + np.int64(points[y, hint]) <= limit:
                continue
            near = False
            for i in range(points.shape[1]):
                if np.int64(points[x, i]) + np.int64(points[y, i]) <= limit:
                    hint = i
                    near = True
                    break
            if not near:
                state[2] = x
                state[3] = y
                return False
    return True


# Vertices that one thread processes together.
_TOGETHER = 1 << 9


@dataclass(frozen=True)
class Labelled:
    """The m vertices of a component. points : unsigned[m, k], distances to the k sources. lower : unsigned[m] of the
    same dtype, L. parts : integers[m]. is_open, is_source : bool[m]; only open vertices need a proof."""

    points: np.ndarray
    lower: np.ndarray
    parts: np.ndarray
    is_open: np.ndarray
    is_source: np.ndarray


def unproved_pair(
    component: Labelled, most: int, threads: int, tick: Tick
) -> tuple[tuple[int, int] | None, int]:
    """Two vertices that are not proved near, or are more than `most` apart, or None; and the number of pairs examined.
    Raises the component's lower bounds. most : less than the largest value of their dtype."""
    reach = component.points.max(axis=0).astype(np.int64)
    order = np.argsort(reach, kind="stable")  # central sources prove most
    component, reach = replace(component, points=np.ascontiguousarray(component.points[:, order])), reach[order]
    vertices = np.flatnonzero(component.is_open)
    best = _best_columns(component.points, reach, vertices)
    looked_at = 0
    with ThreadPoolExecutor(threads) as pool:
        for column in distinct(best).tolist():
            some = vertices[best == column]
            far = np.argsort(component.points[:, column], kind="stable")[::-1]
            far = far[~component.is_source[far]]
            tasks = [pool.submit(_look, component, some[start : start + _TOGETHER], far, column, most)
                     for start in range(0, len(some), _TOGETHER)]
            for task in tasks:
                pair, pairs = task.result()
                looked_at += pairs
                tick()
                if pair is not None:
                    return pair, looked_at
    return None, looked_at


def _best_columns(points: np.ndarray, reach: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """The column with the smallest upper bound for each of `vertices`."""
    best = np.empty(len(vertices), np.int64)
    for start in range(0, len(vertices), _TOGETHER):
        best[start : start + _TOGETHER] = (points[vertices[start : start + _TOGETHER]] + reach).argmin(axis=1)
    return best


def _look(
    component: Labelled, vertices: np.ndarray, far: np.ndarray, column: int, most: int
) -> tuple[tuple[int, int] | None, int]:
    pair = np.full(2, -1, np.int64)
    looked_at = int(find_far(component.points, component.lower, vertices, far, column, component.parts, most, pair))
    return (None if pair[0] < 0 else (int(pair[0]), int(pair[1]))), looked_at


@kernel
def find_far(points, lower, vertices, far, column, parts, most, pair):
    """Find pair = (v, w), with v in `vertices` and w in `far`, that no source proves near, or that are more than `most`
    apart. `far` is sorted by the distance to the source of `column`, farthest first. Raises `lower` to distances
    between parts. Returns the number of pairs examined."""
    columns = points.shape[1]
    looked_at = 0
    below = np.empty(columns, points.dtype)
    for v in vertices:
        limit = np.int64(lower[v])
        longest, end = np.int64(-1), np.int64(-1)  # within v's part
        _set_below(points[v], limit, below)
        for w in far:
            if np.int64(points[w, column]) <= limit - np.int64(points[v, column]):
                break
            looked_at += 1
            row = points[w]
            is_near = w == v
            for start in range(0, columns, 32):
                if is_near:
                    break
                hits = 0
                for j in range(start, min(start + 32, columns)):
                    hits += row[j] < below[j]
                is_near = hits > 0
            if is_near:
                continue
            through = _shortest_way(points[v], row)
            if parts[w] == parts[v]:
                if through > longest:
                    longest, end = through, w
            elif through > most:
                pair[0], pair[1] = v, w
                return looked_at
            else:
                limit = through
                _set_below(points[v], limit, below)
        if longest > limit:
            pair[0], pair[1] = v, end
            return looked_at
        lower[v] = limit
    return looked_at


@inlined
def _set_below(row, limit, below):
    """A vertex with a distance less than below[j] for any source j is within the limit."""
    for j in range(len(row)):
        below[j] = max(0, limit - np.int64(row[j]) + 1)


@inlined
def _shortest_way(first, second):
    """The length of the shortest path through a source."""
    least = np.int64(first[0]) + np.int64(second[0])
    for j in range(1, len(first)):
        least = min(least, np.int64(first[j]) + np.int64(second[j]))
    return least
