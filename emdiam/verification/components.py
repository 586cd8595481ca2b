"""Which vertices belong together: union-find over all arcs, in one pass.

Bytes a vertex: twice the id dtype, and at the end once that and the smallest dtype for the number of those mentioned.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..store.arc_runs import ArcRun
from .report import Refused


@dataclass(frozen=True)
class Membership:
    """of : unsigned[n], i + 1 for the vertices of the component with the i-th mentioned vertex, 0 in
    all others. sizes : of the mentioned ones. largest, largest_other : vertices in the largest
    component, and in the largest that is not mentioned (0 if there is none)."""

    of: np.ndarray
    sizes: list[int]
    n_components: int
    largest: int
    largest_other: int


class Labelling:
    """The components while the arcs pass by: `add` every run, from any thread, then `members`."""

    def __init__(self, n_vertices: int, dtype: np.dtype[Any]) -> None:
        self._parent = np.arange(n_vertices, dtype=dtype)
        self._lock = threading.Lock()

    def add(self, run: ArcRun, ids: np.ndarray) -> None:
        """Unite the ends of all arcs of a run; ids as in scan_arcs."""
        with self._lock:
            unite(run.rows, run.starts, ids, self._parent)

    def add_others(self, run: ArcRun, ids: np.ndarray, left_out: np.ndarray) -> None:
        """The same for the arcs of a run that have no end in `left_out`, bool[n]."""
        owners = np.repeat(run.rows, np.diff(run.starts))
        skipped = left_out[owners] | left_out[ids]
        self.add(run, np.where(skipped, owners, ids))

    def flat(self) -> tuple[np.ndarray, np.ndarray, int]:
        """The root of every vertex's component, which is its smallest vertex; the size of the component at its root;
        and how many there are. Call it once, after all runs."""
        sizes = np.zeros(len(self._parent), self._parent.dtype)
        return self._parent, sizes, int(flatten(self._parent, sizes))

    def members(self, mentioned: np.ndarray) -> Membership:
        """The components of these vertices (int64[k]). Call it once, after all runs.

        Raises Refused with the positions of two vertices of one component.
        """
        parent, sizes, n_components = self.flat()
        roots = parent[mentioned].astype(np.int64)
        distinct, at = np.unique(roots, return_inverse=True)
        if len(distinct) < len(roots):
            first, second = np.flatnonzero(at == np.flatnonzero(np.bincount(at) > 1)[0])[:2]
            raise Refused(f"its components {first + 1} and {second + 1} are one and the same")
        of_mentioned = [int(sizes[root]) for root in roots]
        largest = int(sizes.max())
        sizes[roots] = 0
        other = int(sizes.max())
        del sizes
        numbers = np.empty(len(parent), np.min_scalar_type(len(roots)))
        order = np.argsort(roots)
        number_by_root(parent, roots[order], order + 1, numbers)
        return Membership(numbers, of_mentioned, n_components, largest, other)


@inlined
def _root(parent, v):
    """The root of v, halving the way to it. Parents are never larger than their children."""
    while True:
        up = np.int64(parent[v])
        if up == v:
            return v
        top = parent[up]
        parent[v] = top
        v = np.int64(top)


@kernel
def unite(rows, starts, ids, parent):
    """Unite row rows[i] with ids[starts[i]:starts[i+1]], the smaller root on top."""
    for i in range(len(rows)):
        root = _root(parent, np.int64(rows[i]))
        for p in range(starts[i], starts[i + 1]):
            w = np.int64(ids[p])
            if np.int64(parent[w]) == root:
                continue
            other = _root(parent, w)
            if root < other:
                parent[other] = root
            elif other < root:
                parent[root] = other
                root = other


@kernel
def flatten(parent, sizes):
    """Point every vertex to its root and count each root's vertices; returns how many roots."""
    roots = 0
    for v in range(len(parent)):
        top = parent[parent[v]]
        parent[v] = top
        sizes[top] += 1
        if np.int64(top) == v:
            roots += 1
    return roots


@kernel
def number_by_root(parent, roots, numbers, out):
    """out[v] = numbers[i] where parent[v] is roots[i], else 0. roots : int64[k] ascending."""
    root = np.int64(-1)
    number = np.int64(0)
    for v in range(len(parent)):
        if np.int64(parent[v]) != root:
            root = np.int64(parent[v])
            i = np.searchsorted(roots, root)
            number = numbers[i] if i < len(roots) and roots[i] == root else 0
        out[v] = number
