"""Rooted forests as one array of parents: peeled from XORs of neighbours, measured, hung elsewhere.

parents : id[n]; a root, and so an isolated vertex, is its own parent. Every pass walks from each
vertex up to the first one that is done and comes back down the same way, so that no order of the
vertices and no children are kept: O(n) steps in all, in RAM.
Peeling: a vertex of degree 1 in a tree has one neighbour, the XOR of its neighbours; taken away, it
leaves the XOR of its parent without itself. What never peels is the root.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..stream.pager import Tick
from .rows import has_bit

_SLICE = 1 << 22
UNKNOWN = np.uint32(0xFFFFFFFF)  # a height that is not known yet


def in_slices(
    n_vertices: int, kernel: Callable[..., object], arguments: tuple[object, ...], tick: Tick | None
) -> None:
    """Run kernel(*arguments, start, stop) over 0..n_vertices-1 in slices, with `tick` in between."""
    for start in range(0, n_vertices, _SLICE):
        kernel(*arguments, start, min(start + _SLICE, n_vertices))
        if tick is not None:
            tick()


def peel_forest(roots: np.ndarray, degree: np.ndarray, near: np.ndarray, tick: Tick | None = None) -> np.ndarray:
    """The parents of a forest, id[n], in the place of `near`.

    roots : union-find, id[n], whose roots are to be those of the trees. degree, near : id[n], number
    and XOR of the neighbours in the forest; degree is used up."""
    in_slices(len(near), peel, (roots, degree, near), tick)
    own_parents(roots, near)
    return near


def fall_heights(parents: np.ndarray, heights: np.ndarray, done: np.ndarray, fell: np.ndarray,
                 tick: Tick | None = None) -> tuple[int, int]:
    """Put the distance of every vertex to its root in the tree into `heights` (uint32[n]), in place of
    larger or equal ones (UNKNOWN: none yet). (How many are smaller now, the largest.)

    done, fell : bitmaps; their bits before do not matter. fell : those whose height is smaller now.
    Raises OverflowError for a height that does not fit."""
    done[:] = 0
    fell[:] = 0
    tally = np.zeros(2, np.int64)
    in_slices(len(parents), _climb, (parents, heights, done, fell, tally), tick)
    return int(tally[0]), int(tally[1])


def _climb(*arguments: Any) -> None:
    if not climb_heights(*arguments):
        raise OverflowError("a height does not fit 32 bits")


@kernel
def peel(roots, degree, near, start, stop):  # type: ignore[no-untyped-def]
    """From every leaf in [start, stop), take leaves away upwards; near[v] of one taken is its parent."""
    for leaf in range(start, stop):
        v = np.int64(leaf)
        while degree[v] == 1 and np.int64(roots[v]) != v:
            p = np.int64(near[v])
            degree[v] = 0
            degree[p] = np.int64(degree[p]) - 1
            near[p] ^= np.uint64(v)
            v = p


@kernel
def own_parents(roots, near):  # type: ignore[no-untyped-def]
    """near[v] = v for the roots."""
    for v in range(len(near)):
        if np.int64(roots[v]) == v:
            near[v] = v


@kernel
def climb_heights(parents, heights, done, fell, tally, start, stop):  # type: ignore[no-untyped-def]
    """Heights in the tree of the vertices in [start, stop) and of all above them; False if one does
    not fit. See fall_heights; tally : int64[2], what it returns, of those done so far."""
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
def _put_height(heights, done, fell, tally, v, height):  # type: ignore[no-untyped-def]
    done[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    if height < np.int64(heights[v]):
        fell[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
        tally[0] += 1
        heights[v] = height
    tally[1] = max(tally[1], height)


@kernel
def number_roots(parents, isolated, labels):  # type: ignore[no-untyped-def]
    """labels[root] = 0, 1, ... for the roots of trees with an edge, by number; all other labels are
    the largest of the dtype. Returns how many there are."""
    count = 0
    for v in range(len(parents)):
        labels[v] = np.iinfo(labels.dtype).max
        if np.int64(parents[v]) == v and not (isolated[v >> 6] >> np.uint64(v & 63)) & np.uint64(1):
            labels[v] = count
            count += 1
    return count


@kernel
def climb_labels(parents, labels, start, stop):  # type: ignore[no-untyped-def]
    """Labels of the vertices in [start, stop), and of all above them, from those of the roots."""
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
def hang_from(parents, vertices):  # type: ignore[no-untyped-def]
    """Make each of `vertices` the root of its tree: the way from it to the root is turned round."""
    for i in range(len(vertices)):
        below = np.int64(vertices[i])
        v = np.int64(parents[below])
        parents[below] = below
        while v != below:
            above = np.int64(parents[v])
            parents[v] = below
            below = v
            v = above
