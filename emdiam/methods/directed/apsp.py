"""The largest finite distance by a BFS along arcs from every vertex, in batches of many sources. With it come all
eccentricities, ecc_out along arcs or ecc_in against them.

Passes: n / 512 multi-source BFS at best. Bytes a vertex: a batch beside the shared state, 4 for the
eccentricities.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...errors import InputError
from ...histogram import histogram
from ..eccentricity.result import EccentricityResult, VertexSet, most_ids
from ..result import DirectedResult
from ..run import Best
from .method import DirectedMethod, DirectedOptions


@dataclass(repr=False)
class DirectedEccentricities(DirectedResult, EccentricityResult):
    """As DirectedResult and EccentricityResult. direction : "out" (largest distance from the vertex to one that it
    reaches) or "in" (to the vertex from one that reaches it). periphery : among all vertices, those with the largest
    eccentricity. radius, center : the smallest, and its vertices, if the graph is strongly connected, else None.
    unresolved : number of vertices with unknown eccentricity, if the run was stopped."""

    shown: ClassVar[tuple[str, ...]] = (
        "direction", "radius", "diameter", "largest_distance", "center.size", "periphery.size", "exact", "unresolved",
        "strongly_connected", "n_strong_components", "n_vertices", "n_edges", "seconds")

    direction: str = "out"


@dataclass(frozen=True)
class DirectionOptions(DirectedOptions):
    """direction : "out" or "in". out : a file for all eccentricities, see eccentricity/output.py.
    keep : whether the result has ids and bounds of all vertices."""

    direction: str = "out"
    out: Path | None = None
    keep: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.direction not in ("out", "in"):
            raise InputError("for eccentricities directed is out or in", text=str(self.direction))


class DirectedApsp(DirectedMethod):
    """One run of apsp. back : whether it goes against arcs."""

    name = "apsp"
    back = False

    def _solve(self) -> None:
        batch = self.metric.batch
        for first in range(0, self.n, batch):
            sources = np.arange(first, min(first + batch, self.n))
            self.check_time()
            self.tick("multi-source")
            found = self.metric.eccentricities(sources, back=self.back)
            self._took(first, found)
            self.stages.multi_source += 1
            self.stages.multi_source_sources += len(sources)
            at = int(found.argmax())
            if int(found[at]) > self.best.length:
                self.best = Best(int(found[at]), int(sources[at]), -1)
        self.bound, vertex = self.best.length, self.best.source
        far = self.traverse(vertex, back=self.back, distances=False, counts=False).farthest
        self.best = Best(self.best.length, *((far, vertex) if self.back else (vertex, far)))

    def _took(self, first: int, eccentricities: np.ndarray) -> None:
        """Take the eccentricities of the vertices from `first` on."""


class Eccentricities(DirectedApsp):
    """One run for all eccentricities. values : of all vertices, int32[n], -1 if unknown."""

    name = "eccentricities"

    def solve(self) -> None:
        """See DirectedMethod; without arcs all eccentricities are 0."""
        self.values = np.full(self.n, -1, np.int32)
        super().solve()
        if not self.metric.n_edges:
            self.values[:] = 0

    def _took(self, first: int, eccentricities: np.ndarray) -> None:
        self.values[first : first + len(eccentricities)] = eccentricities

    def with_eccentricities(self, result: DirectedResult, keep: bool = False) -> DirectedEccentricities:
        """The result with the known eccentricities; keep : with ids and bounds of all vertices too."""
        known, most = self.values[self.values >= 0], most_ids(keep)
        counts, width = histogram(np.bincount(known))
        more: dict[str, Any] = {"histogram": counts, "histogram_width": width,
                                "unresolved": self.n - len(known), "direction": "in" if self.back else "out",
                                "sources": len(known)}
        if keep:
            more["ids"] = list(self.metric.store.user_ids(np.arange(self.n)))
            more["lower_bounds"] = np.maximum(self.values, 0).astype(np.uint32)
            more["upper_bounds"] = np.where(self.values < 0, self.n - 1, self.values).astype(np.uint32)
        if result.exact:
            more["periphery"] = self._vertices(int(self.values.max()), most)
        if result.exact and result.strongly_connected:
            more["radius"] = int(self.values.min())
            more["center"] = self._vertices(more["radius"], most)
        figures = {one.name: getattr(result, one.name) for one in fields(DirectedResult)}
        return DirectedEccentricities(**figures, **more)

    def _vertices(self, value: int, most: int | None) -> VertexSet:
        ids = np.flatnonzero(self.values == value)
        return VertexSet(len(ids), list(self.metric.store.user_ids(ids[:most])))


class EccentricitiesIn(Eccentricities):
    """The same against arcs."""

    back = True
