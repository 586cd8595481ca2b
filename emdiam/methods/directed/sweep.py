"""Bounds on the largest finite distance along arcs from a few searches: double sweeps in both directions.

Definition: L is the largest distance seen. A sweep is a round of pivots (pivots.py): searches from a vertex in the
middle of a strong component, along arcs and against them, and from the vertex with the largest bound on each side. For
the first middle these are a vertex farthest from it, and one from which it is farthest. In the component of a middle p
ecc_out(v) <= d(v, p) + ecc_out(p), and ecc_in(v) <= ecc_in(p) + d(p, v).

Vertices that no middle bounds have bounds by heads, in reverse topological order of the strong components. A component
C has a root r, and lengths of paths in C from each vertex v to it, t(v), and from it, f(v), by a few rounds along its
arcs. If these do not reach all of C, or if its arcs are too many, t(v) is (|C| - 1) times the longest arc, and f(v) is
0. Let X(a) be the largest, over the components of heads of a outside C, of the least sum of a head's bound and its arc,
or 0 without a head. A path leaves C at some a: ecc_out(v) <= t(v) + max over a in C of f(a) + X(a). Bounds on ecc_in
are the same on the reverse. The upper bound is the smaller of the largest bounds of the two sides.

Passes: four searches a sweep, and if the graph is not strongly connected all rows of both directions once. Bytes a
vertex: as pivots without stored columns, and 90 for orders, paths to roots, and bounds of components.
Source: Broder and others, Graph structure in the web, 2000, and Crescenzi, Grossi, Lanzi, Marino, On computing the
diameter of real-world directed (weighted) graphs, SEA 2012, for double sweeps along arcs; bounds: as in pivots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ...jit import kernel
from ..result import check_known
from .method import DirectedOptions, chunks
from .metric import ArcVerbs
from .pivots import DirectedPivots

_MOST_ARCS = 1 << 18
_ROUNDS = 32  # along the arcs of a component, for paths to its root and from it


@dataclass(frozen=True)
class DirectedSweepOptions(DirectedOptions):
    """iterations : the largest number of sweeps. known_diameter : the largest finite distance, if known, for the
    ratio."""

    iterations: int = 1
    known_diameter: int | float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.iterations < 1:
            raise InputError("iterations are at least 1", text=str(self.iterations))
        check_known(self.known_diameter)


class DirectedSweep(DirectedPivots):
    """One run of sweep along arcs; its bounds are valid at any time."""

    name = "sweep"
    most_kept = 0
    with_path = False
    options: DirectedSweepOptions

    def __init__(self, metric: ArcVerbs, options: DirectedSweepOptions | None = None) -> None:
        super().__init__(metric, options or DirectedSweepOptions())
        self.result_type = metric.approximation_type

    def _solve(self) -> None:
        self.begin_bounds()
        degrees = self.metric.inner_degrees(self.numbers)
        degrees[self.numbers != self.sizes.argmax()] = -1
        vertex = int(degrees.argmax())
        for _ in range(self.options.iterations):
            if self._round(vertex) and self.n_strong != 1:
                for side in (0, 1):
                    self._lower_by_heads(side)
                self.tell_bound()
            if self.satisfied():
                return
            self.metric.check_bound(self.bound)
            vertex = self._central()

    def _lower_by_heads(self, side: int) -> None:
        """Lower the bounds of a side through those of heads, component after component."""
        order = np.argsort(self.numbers if side == 0 else -self.numbers.astype(np.int64), kind="stable")
        sizes, places = np.unique(self.sizes, return_inverse=True)
        inner = np.array([self.metric.most(size - 1) for size in sizes.tolist()], np.int64)[places]
        least, leaving = self.no_bounds(self.sizes.size), np.zeros(self.sizes.size, np.int64)
        near, bounds = np.full((2, self.n), self.above, np.int64), self.bounds.values(side)
        for some, whole in self._pieces(order, side):
            self.check_time()
            arcs = self.metric.heads(some, back=bool(side))
            numbers = self.numbers[some]
            if whole:
                near[:, some[np.flatnonzero(np.diff(numbers, prepend=-1))]] = 0
                near_roots(some, *arcs, self.numbers, near, self.above)
            far = np.isin(numbers, numbers[(near[:, some] == self.above).any(axis=0)])
            near[0, some[far]], near[1, some[far]] = inner[numbers[far]], 0
            lower_by_heads(some, *arcs, bounds, self.numbers, least, leaving, near, self.above)
        within = near[0] + np.minimum(leaving[self.numbers], self.above - near[0])
        np.minimum(bounds, within, out=bounds, casting="unsafe")
        self.bounds.changed(side)

    def _pieces(self, order: np.ndarray, side: int) -> Iterator[tuple[np.ndarray, bool]]:
        """`order` in pieces of at most about _MOST_ARCS arcs and vertices, and whether each has whole components."""
        def degrees(ids: np.ndarray) -> np.ndarray:
            return self.metric.degrees(ids, back=bool(side)) + 1

        ends = np.cumsum(self.sizes if side == 0 else self.sizes[::-1])
        arcs, first, component = np.cumsum(degrees(order))[ends - 1], 0, 0
        while component < len(ends):
            before = int(arcs[component - 1]) if component else 0
            after = int(np.searchsorted(arcs, before + _MOST_ARCS, side="right"))
            whole, after = after > component, max(after, component + 1)
            some = order[first : ends[after - 1]]
            for part in (some,) if whole else chunks(some, degrees, _MOST_ARCS):
                yield part, whole
            first, component = int(ends[after - 1]), after

    # -- the answer -----------------------------------------------------------------------------
    def _details(self) -> dict[str, Any]:
        return {} if self.n_strong is None or not self.metric.n_edges else {"iterations": self.rounds}

    def _fields(self) -> dict[str, Any]:
        return {**super()._fields(), "estimate": self.metric.number(self.best.length),
                "known_diameter": self.options.known_diameter}


@kernel
def near_roots(vertices, ends, heads, lengths, numbers, near, none):
    """Lower near, int64[2, n], lengths of paths to and from roots (0 at roots, else `none` at first), within whole
    components, in a few rounds, forwards and backwards in turn. heads[ends[i] : ends[i + 1]] are those of
    vertices[i]."""
    for turn in range(_ROUNDS):
        changed = False
        for i in range(len(vertices)):
            i = i if turn % 2 == 0 else len(vertices) - 1 - i
            v = vertices[i]
            for p in range(ends[i], ends[i + 1]):
                w = np.int64(heads[p])
                if numbers[w] != numbers[v]:
                    continue
                if near[0, w] != none and near[0, w] + np.int64(lengths[p]) < near[0, v]:
                    near[0, v] = near[0, w] + np.int64(lengths[p])
                    changed = True
                if near[1, v] != none and near[1, v] + np.int64(lengths[p]) < near[1, w]:
                    near[1, w] = near[1, v] + np.int64(lengths[p])
                    changed = True
        if not changed:
            break


@kernel
def lower_by_heads(vertices, ends, heads, lengths, bounds, numbers, least, leaving, near, none):
    """Raise leaving[c], for the component c of each of `vertices`, to the bound on paths from its root through the
    vertex and its heads in other components, which have bounds. heads[ends[i] : ends[i + 1]] are those of vertices[i].
    near : int64[2, n], lengths of paths to and from roots. least : `none`, more than any bound, for every component,
    before and after."""
    for i in range(len(vertices)):
        v = vertices[i]
        c = np.int64(numbers[v])
        for p in range(ends[i], ends[i + 1]):
            w = np.int64(heads[p])
            k = np.int64(numbers[w])
            if k != c:
                bound = min(np.int64(bounds[w]), near[0, w] + min(leaving[k], none - near[0, w]))
                least[k] = min(np.int64(least[k]), bound + np.int64(lengths[p]))
        most = np.int64(0)
        for p in range(ends[i], ends[i + 1]):
            k = np.int64(numbers[heads[p]])
            if k != c:
                most = max(most, np.int64(least[k]))
        for p in range(ends[i], ends[i + 1]):
            least[numbers[heads[p]]] = none
        leaving[c] = max(leaving[c], near[1, v] + min(most, none - near[1, v]))
