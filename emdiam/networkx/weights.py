"""An attribute of the edges of a graph of networkx as weights in an array, with the same sums as in networkx.

networkx adds Python numbers, with 1 for an edge without the attribute. Sums of integers are integers, sums with a float
are floats, and the distance of a source from itself is the integer 0. This package adds floats in the same order, so
that sums are equal to the last bit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

# Sums below it are exact in float64.
_MOST = 1 << 53


@dataclass(frozen=True)
class ArcWeights:
    """costs : int64 or float64[m], by arcs. whole : bool[m], the floats that are integers in networkx; bool[0] if all
    are integers, in int64."""

    costs: np.ndarray
    whole: np.ndarray

    @property
    def are_whole(self) -> bool:
        """Whether all are integers."""
        return self.costs.dtype.kind == "i"

    def taken(self, arcs: np.ndarray) -> ArcWeights:
        """The weights of these arcs."""
        return ArcWeights(self.costs[arcs], self.whole if self.are_whole else self.whole[arcs])

    def numbers(self, sums: np.ndarray, whole: np.ndarray) -> list[Any]:
        """Sums of weights as Python numbers. whole : bool[k], the sums of integers only, if the costs are floats."""
        values: list[Any] = sums.tolist()
        if self.are_whole:
            return values
        return [int(value) if one else value for value, one in zip(values, whole.tolist(), strict=True)]


def unit_weights(n_arcs: int) -> ArcWeights:
    """1 for every arc."""
    return ArcWeights(np.ones(n_arcs, np.int64), np.empty(0, bool))


def weights_of(rows: Iterable[Mapping[Hashable, Any]], attribute: str, default: Any, multigraph: bool) -> ArcWeights:
    """The weights of the arcs in `rows` of adjacency, the least of parallel arcs. Raises NotImplementedError, after
    which networkx answers itself, for values other than Python numbers, and for integers whose sums may not be exact in
    float64."""
    if multigraph:
        values = [min(data.get(attribute, default) for data in edges.values())
                  for row in rows for edges in row.values()]
    else:
        values = [data.get(attribute, default) for row in rows for data in row.values()]
    kinds = set(map(type, values))
    if not kinds <= {int, float, bool}:
        raise NotImplementedError(f"the attribute {attribute!r} is not a number of Python on all edges")
    if sum(abs(value) for value in values if not isinstance(value, float)) >= _MOST:
        raise NotImplementedError(f"sums of the attribute {attribute!r} may be 2^53 or more")
    if float not in kinds:
        return ArcWeights(np.array(values, np.int64), np.empty(0, bool))
    if any(map(math.isnan, values)):
        raise NotImplementedError(f"the attribute {attribute!r} is not a number on all edges")
    whole = np.fromiter((not isinstance(value, float) for value in values), bool, len(values))
    return ArcWeights(np.array(values, np.float64), whole)


class WeightedSearches(ABC):
    """A graph with distances along weights, as Python numbers. Methods raise ValueError for weights below 0 whenever
    networkx does.

    order : number of vertices."""

    order: int

    @abstractmethod
    def search(self, source: int, cutoff: float | None = None) -> tuple[np.ndarray, list[Any]]:
        """The positions within `cutoff` of `source`, int64[r], by increasing distance, and their distances."""

    @abstractmethod
    def tree(self, source: int) -> tuple[np.ndarray, np.ndarray]:
        """The positions that `source` reaches, int64[r], by increasing distance, and their predecessors on shortest
        paths, int64[r]; -1 for the source."""

    def distance(self, source: int, target: int) -> Any:
        """The distance of two positions; None without a path."""
        reached, distances = self.search(source)
        return dict(zip(reached.tolist(), distances, strict=True)).get(target)

    def eccentricities(self, positions: Sequence[int] | None = None) -> list[Any]:
        """The largest distance from each vertex, or from each at `positions`, up to the first that does not reach all
        vertices."""
        found: list[Any] = []
        for position in range(self.order) if positions is None else positions:
            reached, distances = self.search(position)
            if len(reached) < self.order:
                break
            found.append(max(distances))
        return found

    def diameter(self) -> Any:
        """The largest distance between two vertices of a graph with vertices; None if a vertex does not reach all."""
        values = self.eccentricities()
        return max(values) if len(values) == self.order else None

    def total(self) -> Any:
        """The sum of the distances between all vertices, source by source, in the order of networkx."""
        return sum(chain.from_iterable(self.search(source)[1] for source in range(self.order)))

    def sum_of_inverses(self) -> float:
        """The sum of 1 / d over all distances d other than 0, source by source, by increasing distance."""
        total = 0.0
        for source in range(self.order):
            for distance in self.search(source)[1]:
                if distance != 0:
                    total += 1 / distance
        return total
