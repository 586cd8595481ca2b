"""Bounds on the diameter of a weighted graph by sweeps: searches from a start, from the farthest vertex, and halfway.

A sweep searches in every component from a start, from the vertex farthest from it, and from the middle of a shortest
path between the two. The next sweep starts at the open vertex with the largest upper bound. The longest distance is the
lower bound. The upper bound is the largest over all v of the smallest d(v, s) + ecc(s), over the sources s: with only
the middle it would be at most twice the diameter.
Passes: three searches a sweep. Bytes a vertex: 28, and 16 for two columns.
Source: Magnien, Latapy and Habib, "Fast computation of empirically tight bounds for the diameter of massive graphs"
(2009), with lengths; bounds: Takes and Kosters (2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..result import WeightedApproximation
from ..run import MethodOptions
from .metric import WeightMetric
from .search import WeightedSearch

COLUMNS = 2


@dataclass(frozen=True)
class WeightedBoundOptions(MethodOptions):
    """masters : the number wanted, an argument of resolve_masters, or "auto" (also if None). seed : of their choice.
    iterations : number of sweeps. known_diameter : largest diameter of any component."""

    masters: int | str | None = None
    seed: int | None = None
    iterations: int | None = None
    known_diameter: int | float | None = None


class WeightedSweep(WeightedSearch):
    """One run; its bounds are valid at any time. iterations : largest number of sweeps. done : number begun."""

    name: ClassVar[str] = "sweep"
    result_type = WeightedApproximation
    vertex_bytes = 8 * COLUMNS
    with_path = False
    options: WeightedBoundOptions
    done = 0

    def __init__(self, metric: WeightMetric, options: WeightedBoundOptions | None = None) -> None:
        super().__init__(metric, options or WeightedBoundOptions())
        self.iterations = self.options.iterations or 1

    def solve(self) -> None:
        """Sweep all components from their first vertices."""
        self.sweep_from(self.parts.roots)

    def sweep_from(self, starts: np.ndarray) -> None:
        """Sweep from a vertex of every component, int64[components], until the bounds meet or `iterations` are done."""
        self._active[:] = ~self._closed
        starts = np.where(self._active, starts, -1)
        for _ in range(self.iterations):
            if (starts < 0).all():
                return
            self.done += 1
            self._sweep(starts)
            starts = self.bounds.next_open(self.best.length, False)

    def _sweep(self, starts: np.ndarray) -> None:
        """Do one sweep of the components with a start."""
        one, ends = self.search(starts)
        other, _ = self.search(ends)
        if not (self.n_open > 0).any():
            return
        middle = self.bounds.middle(one, other, np.stack((starts, ends), axis=1))
        if (middle >= 0).any():
            self.search(middle)

    # -- the answer -----------------------------------------------------------------------------
    def _details(self) -> dict[str, Any]:
        return {"iterations": self.done}

    def _estimate(self) -> int:
        """The diameter that the method reports, in units."""
        return self.best.length

    def _fields(self) -> dict[str, Any]:
        return {**super()._fields(), "estimate": self.metric.number(self._estimate()),
                "known_diameter": self.options.known_diameter}
