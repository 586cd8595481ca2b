"""The result of a run for all eccentricities of a weighted graph, and what is told of them together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...decimals import Number
from ...store.store import Store
from ..eccentricity.result import EccentricityResult, VertexSet
from ..eccentricity.summary import MOST_IDS
from .units import Units

# Entries of a histogram, at most: of more eccentricities it has ranges.
MOST_RANGES = 24


@dataclass(repr=False)
class WeightedEccentricities(EccentricityResult):
    """As EccentricityResult, but eccentricities, radius and diameters are sums of weights: whole numbers, or floats
    where weights are. lower_bounds, upper_bounds : int64 or float64[n]. traversals.bfs : searches of shortest paths.
    weights, weight : as in WeightedResult."""

    shown: ClassVar[tuple[str, ...]] = (*EccentricityResult.shown, "weight", "weights")

    weighted: bool = True
    weights: str | None = None
    weight: str | None = None


def histogram(values: np.ndarray, units: Units) -> tuple[dict[str, int], Any]:
    """Counts by eccentricity, ascending, and the width of ranges. values : int64[k], in units."""
    different, counts = np.unique(values, return_counts=True)
    if len(different) <= MOST_RANGES:
        names = [units.length(one) for one in different.tolist()]
        return {_text(name): count for name, count in zip(names, counts.tolist(), strict=True)}, None
    if units.whole:
        step = round_width(int(different[-1]) - int(different[0]), True)
        ranges, first = np.unique(different // step, return_index=True)
        sums = np.add.reduceat(counts, first).tolist()
        return {_text(units.length(one * step)): count for one, count in zip(ranges.tolist(), sums, strict=True)
                }, units.length(step)
    lengths = units.lengths(different)
    width = round_width(float(lengths[-1]) - float(lengths[0]), False)
    number = np.floor_divide(lengths, width).astype(np.int64)
    ranges, first = np.unique(number, return_index=True)
    sums = np.add.reduceat(counts, first).tolist()
    return {_text(one * width): count for one, count in zip(ranges.tolist(), sums, strict=True)}, width


def round_width(span: float, whole: bool) -> Any:
    """The smallest of 1, 2 and 5 times a power of ten of which fewer than MOST_RANGES cover the span; at least 1 where
    numbers are whole."""
    least = span / (MOST_RANGES - 1)
    power = math.floor(math.log10(least))
    if whole and power < 0:
        return 1
    step = next(step for step in (1, 2, 5, 10) if step * 10.0**power >= least)
    return step * 10**power if power >= 0 else step / 10**-power


def _text(length: Number) -> str:
    """A number as a key: whole ones without a point, floats with as many digits as are needed, 15 at most."""
    return f"{length:.15g}" if isinstance(length, float) else str(length)


def of_largest(lower: np.ndarray, upper: np.ndarray, vertices: np.ndarray, units: Units, store: Store) -> dict[
        str, Any]:
    """radius, center and periphery of the component of these vertices (int64[k], ascending), None where not proved.
    lower, upper : bounds on all eccentricities, in units."""
    lower, upper = lower[vertices], upper[vertices]
    is_open = lower < upper
    radius, diameter = int(lower.min()), int(upper.max())
    known = radius == int(upper.min())

    def those(value: int) -> VertexSet:
        here = vertices[~is_open & (lower == value)]
        return VertexSet(len(here), list(store.user_ids(here[:MOST_IDS])))

    ends = int(lower.max()) == diameter and not (is_open & (upper == diameter)).any()
    return {"radius": units.length(radius) if known else None,
            "center": those(radius) if known and not (is_open & (lower <= radius)).any() else None,
            "periphery": those(diameter) if ends else None}


def interval_of_radius(lower: np.ndarray, upper: np.ndarray, vertices: np.ndarray, units: Units) -> list[Number]:
    """What is proved of the radius of the component of these vertices; arguments as of `of_largest`."""
    return [units.length(int(lower[vertices].min())), units.length(int(upper[vertices].min()))]
