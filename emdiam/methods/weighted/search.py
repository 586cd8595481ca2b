"""The common part of methods along weights: searches, bounds on all eccentricities, and the components.

The component with the most vertices comes first and alone, because its diameter is reported. Then all others that may
have a longer distance are done at once: a search has one source in each open component, so that many small components
cost no more than one. A method is a subclass that closes some components.

With L the longest distance so far, a vertex is open while its upper bound, the smallest d(v, s) + ecc(s) over sources
s, exceeds L. Bytes a vertex: 28, and the data of the method.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...stream.counters import Counters
from ..result import Result, WeightedResult
from ..run import Best, MethodOptions, MethodRun
from .bounds import LengthBounds
from .metric import WeightMetric

STATE_BYTES = 28
# For each component: its root, size and number of open vertices, two flags; its starts, ends and middles; six arrays of
# a search; and the sources of three.
COMPONENT_BYTES = 26 + 24 + 48 + 36


class WeightedSearch(MethodRun):
    """One run of a method; solve() closes the graph, and bounds are valid at any time.

    heights : of vertices, see LengthBounds; None: 0. best : over all components. of_largest : its length once the
    component with the most vertices is closed. vertex_bytes : bytes that a run takes beside searches and bounds.
    least_room : further bytes that it needs to run. room : limit of these and any more bytes; None: it needs none."""

    result_type: type[Result] = WeightedResult
    vertex_bytes: ClassVar[int] = 0
    least_room: ClassVar[int] = 0
    room: int | None = None
    metric: WeightMetric

    def __init__(self, metric: WeightMetric, options: MethodOptions | None = None,
                 heights: np.ndarray | None = None) -> None:
        super().__init__(metric, options or MethodOptions())
        self.parts = metric.parts
        self.bounds = LengthBounds(self.parts, heights)
        self.of_largest = self.n_sources = 0
        self._active = np.zeros(len(self.parts.roots), np.bool_)
        self._closed = self.parts.sizes < 2
        self._searched: list[tuple[np.ndarray, ...]] = []
        metric.run = self

    def begin(self) -> None:
        """See MethodRun; also counts the work of loading."""
        super().begin()
        self._before = Counters()

    # -- to be defined by subclasses ------------------------------------------------------------
    def close(self, first: list[np.ndarray]) -> None:
        """Close the active components: no vertex stays open, except in proved pairs. first : the result of the search
        from their smallest vertices; a method frees it by emptying the list."""
        raise AssertionError("a method closes components")

    # -- for methods ----------------------------------------------------------------------------
    def search(self, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances in units from `sources`, int64[components], -1: none; and the vertex farthest from each. Folds them
        into the bounds."""
        self.tick("search")
        distances = self.metric.in_units(*self.metric.search(sources[sources >= 0]))
        self.stages.bfs += 1
        far, lengths = self.bounds.fold(distances, sources)
        searched = np.flatnonzero(sources >= 0).astype(np.int32)
        self._searched.append((searched, sources[searched], lengths[searched]))
        self.n_sources += len(searched)
        self.earlier.searched(sources)
        c = int(lengths.argmax())
        if lengths[c] > self.best.length:
            self.best = Best(int(lengths[c]), int(sources[c]), int(far[c]))
        self.count()
        return distances, far

    def sources(self) -> np.ndarray:
        """int64[n_sources]: the components in the order of their first search, each with its most central
        source first."""
        if not self._searched:
            return np.empty(0, np.int64)
        components, sources, lengths = (np.concatenate(arrays) for arrays in zip(*self._searched, strict=True))
        _, first, which = np.unique(components, return_index=True, return_inverse=True)
        return sources[np.lexsort((lengths, first[which]))]

    def count(self) -> None:
        """Count the open vertices of the active components again."""
        self.bounds.count(self.best.length, self._active)

    @property
    def n_open(self) -> np.ndarray:
        """Number of open vertices of the active components, int64[components]."""
        return self.bounds.n_open

    def starts(self) -> np.ndarray:
        """int64[components]: the smallest vertex of each component that is active and open, else -1."""
        return np.where(self.n_open > 1, self.parts.roots, -1)

    # -- the whole graph ------------------------------------------------------------------------
    def solve(self) -> None:
        """Prove the longest distance."""
        for largest in (True, False):
            if self.activate((np.arange(len(self._closed)) == self.parts.largest) == largest):
                self.close(list(self.search(self.starts())))
            self._closed |= self._active
            if largest:
                self.of_largest = self.best.length

    def activate(self, components: np.ndarray) -> bool:
        """Activate those of these components, bool[components], that are not closed; returns whether they have an open
        vertex."""
        self._active = components & ~self._closed
        self.bounds.n_open = np.where(self._active, self.parts.sizes, 0)
        return bool((self.n_open > 1).any())

    def upper(self) -> int:
        """See MethodRun."""
        return self._upper_of(np.ones(len(self._closed), np.bool_))

    def interval_largest(self) -> tuple[int, int]:
        """See MethodRun."""
        if self._closed[self.parts.largest]:
            return self.of_largest, self.of_largest
        return self.best.length, self._upper_of(np.arange(len(self._closed)) == self.parts.largest)

    def _upper_of(self, components: np.ndarray) -> int:
        """Upper bound on the longest distance within these components, in units."""
        left = components & ~self._closed
        if not left.any():
            return self.best.length
        within = self.bounds.upper[left[self.parts.component]]
        # For vertices not yet reached: a path has every vertex at most once.
        steps = int(self.parts.sizes[left].max()) - 1
        most = steps * self.metric.largest_weight + 2 * int(self.bounds.heights.max())
        return max(self.best.length, min(most, int(within.max())))

    # -- the answer -----------------------------------------------------------------------------
    def n_components(self) -> int:
        """See MethodRun."""
        return len(self.parts.roots)

    def _facts(self) -> dict[str, Any]:
        return {"searches": self.stages.bfs}

    def details(self, used: Counters) -> dict[str, Any]:
        """See MethodRun."""
        metric, n = self.metric, self.metric.n_vertices
        reachable = sum(size * (size - 1) // 2 for size in self.parts.sizes.tolist())
        return {"interval_largest_component": [metric.number(one) for one in metric.proved(*self.interval_largest())],
                "vertices_largest_component": int(self.parts.sizes.max()),
                "several_largest_components": bool((self.parts.sizes == self.parts.sizes.max()).sum() > 1),
                "unreachable_pairs": n * (n - 1) // 2 - reachable,
                **metric.facts(), **self._details()}

    def _fields(self) -> dict[str, Any]:
        return self.metric.fields()

    def stopped(self) -> Any:
        """See MethodRun; the bounds may have met."""
        result = self.result()
        self.conclude(result)
        return result
