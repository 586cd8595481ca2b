"""The results of exact runs on graphs with directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ...shown import infinite
from ..approx.result import Approximation
from ..result import Result


@dataclass(repr=False)
class DirectedResult(Result):
    """As Result; distances go along arcs.

    n_edges : arcs. lower, upper : proved interval of the largest finite distance, over all pairs of a vertex and one
    that it reaches. largest_distance : that distance, None while not proved. diameter : the same if the graph is
    strongly connected, else None (infinite). strongly_connected, n_strong_components : None while not known. connected,
    n_components : of the graph without directions. The diameters of components are None.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "diameter", "largest_distance", "lower", "upper", "exact", "strongly_connected", "n_strong_components",
        "n_vertices", "n_edges", "witness", "method", "traversals.bfs", "seconds")

    directed: bool = True
    strongly_connected: bool | None = None
    n_strong_components: int | None = None
    largest_distance: int | None = None

    def conclude(self) -> None:
        """See Result."""
        self.exact = self.lower == self.upper
        if self.exact:
            self.largest_distance = self.lower
            self.diameter = self.lower if self.strongly_connected else None

    def _fact(self, name: str) -> Any:
        """See Shown; an infinite diameter is not a missing one."""
        if name == "diameter" and self.strongly_connected is False:
            return infinite(self.n_strong_components, "strong component")
        return super()._fact(name)


@dataclass(repr=False)
class WeightedArcResult(DirectedResult):
    """As DirectedResult, but lower, upper, largest_distance, diameter and the length of the witness are sums of
    weights: whole numbers, or floats if weights are. traversals.bfs : searches of shortest paths. weights, weight :
    as in WeightedResult."""

    shown: ClassVar[tuple[str, ...]] = (*DirectedResult.shown, "weight", "weights")

    weighted: bool = True
    weights: str | None = None
    weight: str | None = None


@dataclass(repr=False)
class DirectedApproximation(Approximation, DirectedResult):
    """As DirectedResult and Approximation: bounds on the largest finite distance, and an estimate of it."""

    shown: ClassVar[tuple[str, ...]] = ("estimate", "ratio", "known_diameter", *DirectedResult.shown)

    directed: bool = True  # if two base classes have different defaults, the field has that of the first


@dataclass(repr=False)
class WeightedArcApproximation(DirectedApproximation):
    """As DirectedApproximation, but lengths are sums of weights, as in WeightedArcResult."""

    shown: ClassVar[tuple[str, ...]] = (*DirectedApproximation.shown, "weight", "weights")

    weighted: bool = True
    weights: str | None = None
    weight: str | None = None
