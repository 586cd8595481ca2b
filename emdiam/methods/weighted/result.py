"""The results of runs along weights: fields as in other results, with lengths in the type of the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..approx.result import Approximation
from ..eccentricity.result import EccentricityResult
from ..result import Result


@dataclass(repr=False)
class WeightedResult(Result):
    """As Result, but diameter, diameter_largest_component, diameter_max_component, lower, upper and the length of the
    witness are sums of weights: whole numbers, or floats if weights are. traversals.bfs : searches of shortest
    paths. edges_scanned : arcs along which a distance was tried. weights : dtype of the weights in the store; None
    for a store without weights, whose edges have length 1. weight : name of the column or attribute that they came
    from, or None."""

    shown: ClassVar[tuple[str, ...]] = (*Result.shown, "weight", "weights")

    weighted: bool = True
    weights: str | None = None
    weight: str | None = None


@dataclass(repr=False)
class WeightedEccentricities(EccentricityResult):
    """As EccentricityResult, but eccentricities, radius and diameters are sums of weights: whole numbers, or floats
    if weights are. lower_bounds, upper_bounds : int64 or float64[n]. traversals.bfs : searches of shortest paths.
    weights, weight : as in WeightedResult."""

    shown: ClassVar[tuple[str, ...]] = (*EccentricityResult.shown, "weight", "weights")

    weighted: bool = True
    weights: str | None = None
    weight: str | None = None


@dataclass(repr=False)
class WeightedApproximation(Approximation):
    """As Approximation, but lengths are sums of weights: whole numbers, or floats if weights are.

    max_master_distance : the longest stored path from a vertex to its master. max_master_gap : the longest edge
    of the graph of clusters. rounds : stages of growing. weights, weight : as in WeightedResult."""

    shown: ClassVar[tuple[str, ...]] = (*Approximation.shown, "weight", "weights")

    weighted: bool = True
    weights: str | None = None
    weight: str | None = None
