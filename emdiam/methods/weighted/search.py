"""What the exact methods on weighted graphs share: searches, bounds on all eccentricities, and the components.

The component with the most vertices comes first, and alone, because its diameter is told; then all others at once, as
far as they may hold a longer distance: a search has one source in each component that is still open, so that many small
ones cost no more than one. A method is a subclass that closes some components.

With L the longest distance so far, a vertex is open while its upper bound, the smallest d(v, s) + ecc(s) of the sources
s, is above L. Bytes a vertex: 28, and what the method keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ...paths.arcs import Arcs
from ...paths.components import Components, components_of
from ...paths.rows import unreached
from .heights import NEVER, count_open, farthest_of, fold_column
from .units import Units

STATE_BYTES = 28
# Of a component: its root, size and open vertices, two flags; its starts, ends and middles; six arrays of a search; and
# the sources of three.
COMPONENT_BYTES = 26 + 24 + 48 + 36


@dataclass
class Longest:
    """The longest distance so far, in units, and a pair that has it."""

    length: int = 0
    source: int = 0
    target: int = 0


@dataclass
class Work:
    """searches : each from one source in some components. relaxations : arcs along which a distance was tried.
    n_sources : vertices that were searched from."""

    searches: int = 0
    relaxations: int = 0
    n_sources: int = 0
    _found: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    def add(self, components: np.ndarray, sources: np.ndarray) -> None:
        """These components (int[k], ascending) were searched from these vertices (int64[k])."""
        self.n_sources += len(sources)
        self._found.append((components, sources))

    def sources(self) -> np.ndarray:
        """int64[n_sources]: a component after another as they were searched first, each in the order of searches."""
        if not self._found:
            return np.empty(0, np.int64)
        components, sources = (np.concatenate(arrays) for arrays in zip(*self._found, strict=True))
        _, first, which = np.unique(components, return_index=True, return_inverse=True)
        return sources[np.argsort(first[which], kind="stable")]


class WeightedSearch:
    """One run of a method; solve() closes the graph, and bounds() tells what is proved at any time.

    arcs : of at least one vertex. heights : int64 or uint32[n_vertices], in units: the distance of two
    vertices is h(x) + d(x, y) + h(y) in all that follows; None: 0. longest : over all components. upper, lower :
    int64[n_vertices], bounds on eccentricities in units, see fold_column."""

    name: ClassVar[str] = ""

    def __init__(self, arcs: Arcs, units: Units, heights: np.ndarray | None = None) -> None:
        self.arcs, self.units, self.tick = arcs, units, arcs.tick
        self.parts: Components = components_of(arcs)
        n, c = arcs.n_vertices, len(self.parts.roots)
        self.longest, self.of_largest, self.work = Longest(), Longest(), Work()
        self.upper, self.lower = np.full(n, NEVER), np.zeros(n, np.int64)
        self.n_open = self.parts.sizes.astype(np.int64)
        self._heights = np.zeros(n, np.uint32) if heights is None else heights
        self._active = np.zeros(c, np.bool_)
        self._closed = self.parts.sizes < 2

    # -- what a method is -----------------------------------------------------------------------
    def close(self) -> None:
        """Leave no vertex of the active components open but for pairs that are proved."""
        raise AssertionError("a method closes components")

    # -- what a method uses ---------------------------------------------------------------------
    def search(self, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances from `sources`, int64[components], -1: none, in units; and the vertex farthest from each. They are
        in the bounds then."""
        self.tick()
        found, relaxed = self.arcs.nearest(sources[sources >= 0])
        distances = self.units.counted(found)
        self.work.searches += 1
        self.work.relaxations += relaxed
        reach, far, value = (np.empty(len(sources), np.int64) for _ in range(3))
        shared = distances, unreached(distances.dtype), self._heights, self.parts.component, sources
        farthest_of(*shared, reach, far, value)
        fold_column(*shared, reach, self.upper, self.lower)
        searched = np.flatnonzero(sources >= 0).astype(np.int32)
        self.work.add(searched, sources[searched])
        sums = np.where(far >= 0, value + self._heights[sources], -1)
        c = int(sums.argmax())
        if sums[c] > self.longest.length:
            self.longest = Longest(int(sums[c]), int(sources[c]), int(far[c]))
        self.count()
        return distances, far

    def count(self) -> None:
        """Count the open vertices of the active components anew."""
        count_open(self.upper, self.longest.length, self.parts.component, self.n_open)
        self.n_open[~self._active] = 0

    def open_vertices(self) -> np.ndarray:
        """int64[k]: those of the active components with several."""
        return np.flatnonzero((self.upper > self.longest.length) & (self.n_open[self.parts.component] > 1))

    def starts(self) -> np.ndarray:
        """int64[components]: the smallest vertex of each that is active and open, -1 of others."""
        return np.where(self.n_open > 1, self.parts.roots, -1)

    # -- the whole graph ------------------------------------------------------------------------
    def solve(self) -> None:
        """Prove the longest distance."""
        self._close(np.arange(len(self._closed)) == self.parts.largest)
        self.of_largest = self.longest
        self._close(~self._closed)

    def _close(self, active: np.ndarray, known: bool = True) -> None:
        """Close components. known : whether they are closed then."""
        self._active = active & ~self._closed
        self.n_open = np.where(self._active, self.parts.sizes, 0)
        if (self.n_open > 1).any():
            self.close()
        if known:
            self._closed |= self._active

    @property
    def largest_weight(self) -> int:
        """Of all arcs, in units; it may be longer than any distance."""
        return min(int(NEVER), self.units.of_weight(self.arcs.largest_weight))

    def bounds(self) -> tuple[int, int]:
        """Bounds on the longest distance, in units."""
        return self.longest.length, self._upper_of(np.ones(len(self._closed), np.bool_))

    def bounds_of_largest(self) -> tuple[int, int]:
        """Bounds on the diameter of the component with the most vertices, in units."""
        mask = np.arange(len(self._closed)) == self.parts.largest
        lower = self.of_largest.length if self._closed[self.parts.largest] else self.longest.length
        return lower, lower if self._closed[self.parts.largest] else self._upper_of(mask)

    def _upper_of(self, components: np.ndarray) -> int:
        """Of the longest distance within these components, in units."""
        left = components & ~self._closed
        if not left.any():
            return self.longest.length
        within = self.upper[left[self.parts.component]]
        # Where nothing was searched, a path has every vertex at most once.
        steps = int(self.parts.sizes[left].max()) - 1
        most = steps * self.largest_weight + 2 * int(self._heights.max())
        return max(self.longest.length, min(most, int(within.max())))
