"""Rooted forests as one array of parents: peeled from XORs of neighbours, measured, hung elsewhere.

parents : id[n]; a root, and so an isolated vertex, is its own parent. Every pass walks from each
vertex up to the first finished one and comes back down the same way, so that it stores neither an order of
the vertices nor children: O(n) steps in all, in RAM.
Peeling: a vertex of degree 1 in a tree has one neighbour, which is the XOR of its neighbours. When it is removed, it
is taken out of the XOR of its parent. The last vertex of a tree, which never peels, is the root.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..traverse.rows import has_bit

_SLICE = 1 << 22
ROUND = 256  # degrees are counted modulo this
UNKNOWN = np.uint32(0xFFFFFFFF)  # a height not yet known


def in_slices(
    n_vertices: int, kernel: Callable[..., object], arguments: tuple[object, ...], tick: Tick
) -> None:
    """Run kernel(*arguments, start, stop) over 0..n_vertices-1 in slices, with `tick` in between."""
    for start in range(0, n_vertices, _SLICE):
        kernel(*arguments, start, min(start + _SLICE, n_vertices))
        tick()


class ForestDegrees:
    """Degrees in a forest of n vertices that only grows, one byte each.

    counts : (uint8[n], degrees modulo ROUND; id[k], a vertex for each time that its degree wrapped; int64[1], the
    number of wraps), in the form that kernels take. A forest has fewer than 2 n ends of edges, and so at most n / 128
    wraps."""

    def __init__(self, n_vertices: int, dtype: np.dtype[Any]) -> None:
        self.counts = (np.zeros(n_vertices, np.uint8), np.empty(2 * n_vertices // ROUND + 1, dtype),
                       np.zeros(1, np.int64))

    def above(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices whose degree wrapped, ascending, and how often, int64[k] each."""
        _, rounds, n_rounds = self.counts
        vertices, often = np.unique(rounds[: n_rounds[0]], return_counts=True)
        return vertices.astype(np.int64), often.astype(np.int64)


def peel_forest(roots: np.ndarray, degrees: ForestDegrees, near: np.ndarray, tick: Tick = no_tick) -> np.ndarray:
    """The parents of a forest, id[n], written over `near`.

    roots : union-find, id[n], whose roots become those of the trees. degrees, and near, id[n] : number and XOR of
    the neighbours in the forest; degrees are overwritten."""
    in_slices(len(near), peel, (roots, degrees.counts[0], *degrees.above(), near), tick)
    own_parents(roots, near)
    return near


def fall_heights(parents: np.ndarray, heights: np.ndarray, done: np.ndarray, fell: np.ndarray,
                 tick: Tick = no_tick) -> tuple[int, int]:
    """Write the distance of every vertex to its root in the tree to `heights` (uint32[n]), if the present value is not
    smaller (UNKNOWN: none yet). Returns (number of vertices whose height fell, largest height).

    done, fell : bitmaps, with any content before. fell : vertices whose height fell.
    Raises OverflowError for a height that does not fit."""
    done[:] = 0
    fell[:] = 0
    tally = np.zeros(2, np.int64)
    in_slices(len(parents), _climb, (parents, heights, done, fell, tally), tick)
    return int(tally[0]), int(tally[1])


def _climb(*arguments: Any) -> None:
    if not climb_heights(*arguments):
        raise OverflowError("a height does not fit 32 bits")


@inlined
def count_neighbour(low, rounds, n_rounds, v):
    """Increment the degree of v; see ForestDegrees."""
    if low[v] == ROUND - 1:
        low[v] = 0
        rounds[n_rounds[0]] = v
        n_rounds[0] += 1
    else:
        low[v] += np.uint8(1)


@inlined
def _place_of(vertices, v):
    """Index of v in `vertices` (ascending); -1 if it is not there."""
    i = np.searchsorted(vertices, v)
    return i if i < len(vertices) and vertices[i] == v else -1


@kernel
def peel(roots, low, hubs, rounds, near, start, stop):
    """From every leaf in [start, stop), remove leaves upwards; near[v] of a removed one is its parent.

    low : degrees modulo ROUND. hubs, rounds : vertices of larger degrees, ascending, and the remaining number of their
    wraps, int64[k] each."""
    for leaf in range(start, stop):
        v = np.int64(leaf)
        while low[v] == 1 and np.int64(roots[v]) != v:
            if len(hubs):
                i = _place_of(hubs, v)
                if i >= 0 and rounds[i] > 0:
                    break
            p = np.int64(near[v])
            low[v] = 0
            if low[p] == 0:
                rounds[_place_of(hubs, p)] -= 1
                low[p] = ROUND - 1
            else:
                low[p] -= np.uint8(1)
            near[p] ^= np.uint64(v)
            v = p


@kernel
def own_parents(roots, near):
    """near[v] = v for the roots."""
    for v in range(len(near)):
        if np.int64(roots[v]) == v:
            near[v] = v


@kernel
def climb_heights(parents, heights, done, fell, tally, start, stop):
    """Heights in the tree of the vertices in [start, stop) and of all above them; False if one does
    not fit. See fall_heights. tally : int64[2], its result for the vertices done so far."""
    for bottom in range(start, stop):
        v = np.int64(bottom)
        steps = np.int64(0)
        while not has_bit(done, v):
            p = np.int64(parents[v])
            if p == v:
                _put_height(heights, done, fell, tally, v, np.int64(0))
            else:
                v = p
                steps += 1
        steps += np.int64(heights[v])
        if steps >= np.int64(UNKNOWN):
            return False
        v = np.int64(bottom)
        while not has_bit(done, v):
            _put_height(heights, done, fell, tally, v, steps)
            steps -= 1
            v = np.int64(parents[v])
    return True


@inlined
def _put_height(heights, done, fell, tally, v, height):
    done[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    if height < np.int64(heights[v]):
        fell[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
        tally[0] += 1
        heights[v] = height
    tally[1] = max(tally[1], height)


@kernel
def number_roots(parents, isolated, labels, most):
    """labels[root] = 0, 1, ... for the roots of trees with an edge, by number; all other labels are
    the largest of the dtype. Returns the number of roots, or most + 1 if there are more than `most`."""
    count = 0
    for v in range(len(parents)):
        labels[v] = np.iinfo(labels.dtype).max
        if np.int64(parents[v]) == v and not (isolated[v >> 6] >> np.uint64(v & 63)) & np.uint64(1):
            if count >= most:
                return most + 1
            labels[v] = count
            count += 1
    return count


@kernel
def isolated_in_tree(parents, isolated):
    """A vertex with a parent where one of the two has no edge; -1 if there is none."""
    for v in range(len(parents)):
        p = np.int64(parents[v])
        if p != v and (has_bit(isolated, v) or has_bit(isolated, p)):
            return np.int64(v)
    return np.int64(-1)


@kernel
def climb_labels(parents, labels, start, stop):
    """Copy the labels of roots to the vertices in [start, stop) and to all above them."""
    unknown = np.int64(np.iinfo(labels.dtype).max)
    for bottom in range(start, stop):
        v = np.int64(bottom)
        while np.int64(labels[v]) == unknown and np.int64(parents[v]) != v:
            v = np.int64(parents[v])
        label = labels[v]
        v = np.int64(bottom)
        while labels[v] != label:
            labels[v] = label
            v = np.int64(parents[v])


@kernel
def hang_from(parents, vertices):
    """Make each of `vertices` the root of its tree: the path from it to the root is reversed."""
    for i in range(len(vertices)):
        below = np.int64(vertices[i])
        v = np.int64(parents[below])
        parents[below] = below
        while v != below:
            above = np.int64(parents[v])
            parents[v] = below
            below = v
            v = above
