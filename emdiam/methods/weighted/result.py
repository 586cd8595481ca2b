"""The result of an exact run on a weighted graph: the names of Result, with lengths of the weights' kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..result import Result


@dataclass(repr=False)
class WeightedResult(Result):
    """As Result, but diameter, diameter_largest_component, diameter_max_component, lower, upper and the length of the
    witness are sums of weights: whole numbers, or floats where weights are. traversals.bfs : searches of shortest
    paths. edges_scanned : arcs along which a distance was tried. weights : dtype of the weights in the store; None of
    a store without, whose edges have the length 1. weight : the name of the column or attribute that they came from;
    None where there is none."""

    shown: ClassVar[tuple[str, ...]] = (*Result.shown, "weight", "weights")

    weighted: bool = True
    weights: str | None = None
    weight: str | None = None
