"""The exact diameter of a condensed graph whose vertices have heights, by pivots along weights (pivots.py).

Searches: 3 to some tens. If these, or the memory for columns, are used up, the open pairs bound the diameter.
Bytes a vertex: 52, and 12 a pivot and candidate, within `most_bytes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import BudgetError
from ...paths.arcs import Arcs, WeightedComponents, components_of
from ...units import format_size
from .candidates import BOX_COPIES, HeightCandidates
from .metric import WeightMetric
from .pivots import SWEEPS, WeightedPivots
from .units import Units

STATE_BYTES = 52


@dataclass(frozen=True)
class HeightLimits:
    """most_traversals : limit of searches, at least 1. most_bytes : RAM beside the arcs and their search."""

    most_traversals: int = 64
    most_bytes: int = 1 << 30


@dataclass(frozen=True)
class HeightDiameter:
    """lower <= D <= upper, both proved; equal if D was found. traversals : searches. ends : a pair of length `lower`,
    (-1, -1) if no component has two vertices (then D is 0)."""

    lower: int
    upper: int
    traversals: int
    ends: tuple[int, int]


def height_diameter(
    arcs: Arcs, heights: np.ndarray, labels: np.ndarray | None = None, limits: HeightLimits | None = None,
) -> HeightDiameter:
    """D, or bounds on it if `limits` come first.

    heights : uint32[n_vertices]. labels : int64[n_vertices], the smallest vertex of each vertex's component, if
    known. Raises BudgetError if the bounds and a few columns do not fit limits.most_bytes.
    """
    limits = limits or HeightLimits()
    if limits.most_traversals < 1:
        raise ValueError("a bound takes at least one traversal")
    least = least_bytes(arcs.n_vertices)
    if least > limits.most_bytes:
        raise BudgetError(
            f"{format_size(limits.most_bytes)} of memory cannot prove the diameter of a condensed graph of"
            f" {arcs.n_vertices:,} vertices", remedy=f"give {format_size(least)}, or choose fewer masters",
        )
    run = HeightPivots(_CondensedMetric(arcs, labels), np.ascontiguousarray(heights, np.uint32), limits)
    run.solve()
    best = run.best
    return HeightDiameter(best.length, max(best.length, run.pair_bound), run.stages.bfs,
                          (best.source, best.target) if best.length else (-1, -1))


def least_bytes(n_vertices: int) -> int:
    """The least bytes that height_diameter needs for n_vertices vertices."""
    return n_vertices * (STATE_BYTES + BOX_COPIES * SWEEPS * 4)


class _CondensedMetric(WeightMetric):
    """Lengths in a condensed graph: whole numbers, whose sums always fit 64 bits."""

    def __init__(self, arcs: Arcs, labels: np.ndarray | None) -> None:
        super().__init__(arcs, Units())
        self._labels = labels

    def in_units(self, distances: np.ndarray, relaxed: int) -> np.ndarray:
        """See WeightMetric; unchanged."""
        return distances

    def components(self, start: int = 0) -> WeightedComponents:
        """See WeightMetric; from the labels, if known."""
        if self._labels is None:
            return components_of(self.arcs)
        is_root = self._labels == np.arange(self.n_vertices)
        component = (np.cumsum(is_root, dtype=np.int32) - np.int32(1))[self._labels]
        return WeightedComponents(component, np.flatnonzero(is_root), np.bincount(component))

    def tick(self, phase: str, **facts: Any) -> None:
        """See Metric."""
        self.arcs.tick()


class HeightPivots(WeightedPivots):
    """One run, which ends at its limits. pair_bound : no pair that was open at the end is longer."""

    def __init__(self, metric: WeightMetric, heights: np.ndarray, limits: HeightLimits) -> None:
        super().__init__(metric, heights=heights)
        self.room = limits.most_bytes - STATE_BYTES * metric.n_vertices
        self._most = limits.most_traversals

    def solve(self) -> None:
        """Solve all components at once."""
        if self.activate(~self._closed):
            self.close(list(self.search(self.starts())))
        self._closed |= self._active

    def tick(self, phase: str) -> None:
        """See MethodRun; bounds are not reported."""
        self.metric.tick(phase)

    def may_search(self) -> bool:
        """See WeightedPivots."""
        return self.stages.bfs < self._most

    def _take(self, candidates: HeightCandidates, columns: list[np.ndarray]) -> bool:
        """Add the columns that have room: a pivot without a column still settles vertices."""
        for column in columns:
            candidates.add(column)
        return True

    def _refine(self, candidates: HeightCandidates, ends: np.ndarray) -> bool:
        """See WeightedPivots; as far as the limit allows."""
        columns = []
        for side in (0, 1):
            if self.may_search():
                columns.append(self.search(ends[:, side].copy())[0])
                candidates.add(columns[-1])
        if self.may_search():
            middle = self.bounds.middle(columns[0], columns[1], ends)
            if (middle >= 0).any():
                candidates.add(self.search(middle)[0])
        return True
