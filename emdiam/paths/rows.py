"""A weighted graph in RAM: compressed rows of arcs, each with its weight.

Arcs lead out of the vertex of their row; an undirected graph has both arcs of every edge. Distances are uint64 for
unsigned integer weights (and without weights: every arc has length 1), int64 for signed ones, float64 for floats. A
vertex without a path has the largest value, or infinity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..decimals import numbers
from ..distinct import distinct
from ..store.store import Store

_PIECE = 1 << 16


class Piece(NamedTuple):
    """The arcs of vertices first, first + 1, ...: the arcs of first + i are offsets[i] to offsets[i + 1] - 1 of `heads`
    and `costs`. offsets : int64[k + 1]. heads : uint32 or uint64. costs : weights; 1 without weights."""

    first: int
    offsets: np.ndarray
    heads: np.ndarray
    costs: np.ndarray


class WeightedArcs(Protocol):
    """Facts of weighted arcs. in_ram : whether they are in RAM. least_weight, largest_weight : 1 without arcs.
    distance_dtype : see above."""

    in_ram: ClassVar[bool]

    @property
    def n_vertices(self) -> int: ...
    @property
    def n_arcs(self) -> int: ...
    @property
    def least_weight(self) -> int | float: ...
    @property
    def largest_weight(self) -> int | float: ...
    @property
    def distance_dtype(self) -> np.dtype[Any]: ...


@dataclass(frozen=True)
class WeightedRows:
    """Rows in RAM. offsets : int64[n_vertices + 1], the arcs of v are offsets[v] to offsets[v + 1] - 1. heads : uint32
    or uint64[n_arcs], ascending in every row. weights : [n_arcs], integers of at most 32 bits, int64 or floats; None:
    all are 1."""

    in_ram: ClassVar[bool] = True
    decimals: ClassVar[int] = 0

    offsets: np.ndarray
    heads: np.ndarray
    weights: np.ndarray | None = None

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.offsets) - 1

    @property
    def n_arcs(self) -> int:
        """Number of arcs: two for each edge of an undirected graph."""
        return len(self.heads)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.offsets.nbytes + self.heads.nbytes + (0 if self.weights is None else self.weights.nbytes)

    @cached_property
    def costs(self) -> np.ndarray:
        """Weights for kernels: the array, or a single 1 for all arcs."""
        return np.broadcast_to(np.uint8(1), self.n_arcs) if self.weights is None else self.weights

    @cached_property
    def narrow_offsets(self) -> np.ndarray:
        """The offsets, as uint32 if the last one fits."""
        return self.offsets.astype(np.uint32) if self.n_arcs >> 32 == 0 else self.offsets

    @property
    def distance_dtype(self) -> np.dtype[Any]:
        """The dtype of distances: uint64, int64 or float64."""
        return distance_dtype(self.costs.dtype)

    @cached_property
    def least_weight(self) -> int | float:
        """The smallest weight; 1 without arcs."""
        return self.costs[:1].tolist()[0] if self.weights is None and self.n_arcs else _end(self.costs, np.min)

    @cached_property
    def largest_weight(self) -> int | float:
        """The largest weight; 1 without arcs."""
        return _end(self.costs, np.max)

    @cached_property
    def mean_weight(self) -> float:
        """The mean weight; 0 without arcs."""
        if self.costs.dtype.kind != "f":
            return float(np.sum(self.costs)) / self.n_arcs if self.n_arcs else 0.0
        with np.errstate(over="ignore"):
            total = float(np.sum(self.costs, dtype=np.float64))
        # If the sum overflows, divide each weight first.
        return total / max(1, self.n_arcs) if total < np.inf else float(np.sum(self.costs / self.n_arcs))

    @property
    def unit(self) -> bool:
        """Whether all arcs have length 1."""
        return self.weights is None

    def rows(self) -> WeightedRows:
        """All rows: this object."""
        return self

    def pieces(self, begin: int = 0, end: int | None = None) -> Iterator[Piece]:
        """The arcs out of vertices begin to end - 1 (default: all), some rows at a time."""
        end = self.n_vertices if end is None else end
        arcs = np.arange(self.offsets[begin], self.offsets[end] + _PIECE, _PIECE)
        borders = distinct(np.append(np.clip(np.searchsorted(self.offsets, arcs), begin, end), [begin, end])).tolist()
        for first, last in pairwise(borders):
            low, high = int(self.offsets[first]), int(self.offsets[last])
            yield Piece(first, self.offsets[first : last + 1] - low, self.heads[low:high], self.costs[low:high])

    def close(self) -> None:
        """No effect; blocks have a file to close."""

    @classmethod
    def from_edges(cls, n_vertices: int, tails: npt.ArrayLike, heads: npt.ArrayLike,
                   weights: npt.ArrayLike | None = None, *, directed: bool = False) -> WeightedRows:
        """The graph of edges (tails, heads: integers[k]), sorted in RAM, without loops; of parallel arcs the lightest
        one remains. directed : whether an edge is one arc, from tail to head, instead of two."""
        a, b = np.asarray(tails, np.int64).ravel(), np.asarray(heads, np.int64).ravel()
        w = np.ones(len(a), np.uint8) if weights is None else np.asarray(weights).ravel()
        if not directed:
            a, b, w = np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([w, w])
        keep = a != b
        a, b, w = a[keep], b[keep], w[keep]
        order = np.lexsort((w, b, a))
        a, b, w = a[order], b[order], w[order]
        first = np.ones(len(a), bool)
        first[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
        offsets = np.zeros(n_vertices + 1, np.int64)
        np.cumsum(np.bincount(a[first], minlength=n_vertices), out=offsets[1:])
        return cls(offsets, b[first].astype(np.uint32), None if weights is None else w[first].copy())

    @classmethod
    def from_store(cls, store: Store, threads: int = 1) -> WeightedRows:
        """All rows of a store, read into RAM, with its weights, if any. Raises StoreError for invalid rows."""
        from .blocks import load_rows

        return load_rows(store, threads)[0]


def distance_dtype(weight_dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of distances for weights of this dtype."""
    return np.dtype({"u": np.uint64, "i": np.int64, "f": np.float64}[weight_dtype.kind])


def lengths_shown(distances: np.ndarray, decimals: int) -> np.ndarray:
    """Distances (integers in units of 10^-decimals) in the user's units: unchanged without decimals, else the nearest
    float64, infinity without a path, in the same memory."""
    if not decimals:
        return distances
    shown, none = distances.view(np.float64), unreached(distances.dtype)
    for begin in range(0, len(distances), _PIECE):
        part = distances[begin : begin + _PIECE]
        without = part == none
        shown[begin : begin + _PIECE] = np.where(without, np.inf, numbers(np.where(without, 0, part), decimals))
    return shown


def to_multiples(weights: np.ndarray, exponent: int) -> None:
    """Round nonnegative floats down to multiples of 2^exponent, in place."""
    unit = 2.0**exponent
    for begin in range(0, len(weights), _PIECE):
        part = weights[begin : begin + _PIECE]
        with np.errstate(over="ignore"):
            units = np.floor(part.astype(np.float64) / unit)
        # If the quotient overflows, float64 has no bits below the unit, so the number is a multiple already.
        part[:] = np.where(np.isfinite(units), units * unit, part)


@cache
def unreached(dtype: np.dtype[Any]) -> int | float:
    """The label of a vertex without a path."""
    return np.inf if dtype.kind == "f" else int(np.iinfo(dtype).max)


def _end(costs: np.ndarray, end: Any) -> int | float:
    """The smallest or largest value; 1 without values."""
    value: int | float = end(costs).item() if len(costs) else 1
    return value
