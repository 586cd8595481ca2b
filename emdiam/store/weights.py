"""Weights of edges as a store keeps them: their dtypes, what the record says of them, and their exact mean.

The weights of the arcs lie in the array `data`, in the order, chunks and shards of `indices`. Both arcs of an edge
have its weight.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

# From the narrowest on: whole numbers that are not negative take the first that holds the largest of them.
UNSIGNED: tuple[np.dtype[Any], ...] = tuple(np.dtype(kind) for kind in ("uint8", "uint16", "uint32"))
SIGNED: np.dtype[Any] = np.dtype(np.int32)
FLOATS: tuple[np.dtype[Any], ...] = (np.dtype(np.float32), np.dtype(np.float64))
DTYPES: dict[str, np.dtype[Any]] = {str(dtype): dtype for dtype in (*UNSIGNED, SIGNED, *FLOATS)}
"""dtypes of weights in a store, by name; int32 where a whole number is negative."""

# A float64 is a whole number of 2^-1074.
_LEAST_EXPONENT, _FRACTION_BITS = -1074, 53
_HALF_BITS = 27
_PIECE = 1 << 20


def whole_dtype(least: int, largest: int) -> np.dtype[Any] | None:
    """dtype of whole numbers from `least` to `largest`, None where there is none."""
    if least < 0:
        limits = np.iinfo(SIGNED)
        return SIGNED if limits.min <= least and largest <= limits.max else None
    return next((dtype for dtype in UNSIGNED if largest <= np.iinfo(dtype).max), None)


def data_fill(dtype: np.dtype[Any]) -> int | float:
    """What pads the last chunk of `data`: no number, or the largest whole one."""
    return math.nan if dtype.kind == "f" else int(np.iinfo(dtype).max)


@dataclass(frozen=True)
class WeightRecord:
    """What the record of a store says of its weights.

    dtype : name of a dtype in DTYPES. least, largest, mean : over all arcs (0 without one), the mean to the nearest
    float64. edges_with_several : edges for which the input gave several weights, of which the least was kept.
    """

    dtype: str
    least: int | float = 0
    largest: int | float = 0
    mean: float = 0.0
    edges_with_several: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for the attributes and for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Any) -> WeightRecord:
        """The record in `data`. Raises TypeError for another one."""
        if type(data) is not dict or set(data) != {field.name for field in fields(cls)}:
            raise TypeError(f"weights are {data!a:.80}")
        return cls(**data)

    def fault(self, n_edges: int) -> str | None:
        """What no finished store of so many edges says of its weights, as a clause; None if there is nothing of the
        kind."""
        if type(self.dtype) is not str or self.dtype not in DTYPES:
            return f"the dtype of its weights is {self.dtype!a:.80}"
        kind = float if DTYPES[self.dtype].kind == "f" else int
        ends = self.least, self.largest
        if not all(type(end) is kind and math.isfinite(end) for end in ends) or type(self.mean) is not float:
            return f"its weights are from {self.least!a:.80} to {self.largest!a:.80}, {self.mean!a:.80} in the mean"
        if kind is int:
            limits = np.iinfo(DTYPES[self.dtype])
            if not limits.min <= self.least <= self.largest <= limits.max:
                return f"its weights are from {self.least} to {self.largest}, in {self.dtype}"
        if not (self.least <= self.largest and self.least <= self.mean <= self.largest):
            return f"its weights are from {self.least} to {self.largest}, {self.mean} in the mean"
        if type(self.edges_with_several) is not int or not 0 <= self.edges_with_several <= n_edges:
            return f"{self.edges_with_several!a:.80} of {n_edges} edges had several weights"
        return None


class WeightSums:
    """Count, least, largest and exact sum of weights that come in pieces, however they are cut."""

    def __init__(self, dtype: np.dtype[Any], resumed: dict[str, Any] | None = None) -> None:
        self.dtype, self._n, self._sum = dtype, 0, 0
        self._least: int | float = 0
        self._largest: int | float = 0
        if resumed is not None:
            self._n, self._least, self._largest = resumed["n"], resumed["least"], resumed["largest"]
            self._sum = int(resumed["sum"], 16)

    def state(self) -> dict[str, Any]:
        """What was added so far."""
        return {"n": self._n, "least": self._least, "largest": self._largest, "sum": f"{self._sum:x}"}

    def add(self, weights: npt.NDArray[Any]) -> None:
        """Add finite weights, dtype[k]."""
        if not len(weights):
            return
        ends = weights.min().item(), weights.max().item()
        self._least = min(self._least, ends[0]) if self._n else ends[0]
        self._largest = max(self._largest, ends[1]) if self._n else ends[1]
        self._n += len(weights)
        for start in range(0, len(weights), _PIECE):
            part = weights[start : start + _PIECE]
            self._sum += _float_units(part) if self.dtype.kind == "f" else int(part.sum(dtype=np.int64))

    def record(self, edges_with_several: int) -> WeightRecord:
        """The record of all that was added."""
        unit = Fraction(2) ** _LEAST_EXPONENT if self.dtype.kind == "f" else 1
        mean = float(self._sum * unit / self._n) if self._n else 0.0
        # As whole numbers of every size are: -0.0 is 0.0, of either kind.
        ends = (0, 0) if not self._n else (self._least, self._largest)
        least, largest = (float(end) + 0.0 if self.dtype.kind == "f" else int(end) for end in ends)
        return WeightRecord(str(self.dtype), least, largest, min(max(mean, float(least)), float(largest)),
                            edges_with_several)


def _float_units(weights: npt.NDArray[Any]) -> int:
    """The exact sum of finite floats, in units of 2^-1074. At most 2^26 of them."""
    fractions, exponents = np.frexp(weights.astype(np.float64))
    whole = (fractions * 2.0**_FRACTION_BITS).astype(np.int64)
    low = int(exponents.min())
    places = exponents - low
    # Sums of 2^26 numbers of 27 bits are exact in float64.
    halves = whole >> _HALF_BITS, whole & ((1 << _HALF_BITS) - 1)
    upper, lower = (np.bincount(places, weights=half) for half in halves)
    total = 0
    for place in np.flatnonzero((upper != 0) | (lower != 0)).tolist():
        units = (int(upper[place]) << _HALF_BITS) + int(lower[place])
        shift = low + place - _FRACTION_BITS - _LEAST_EXPONENT
        total += units << shift if shift >= 0 else units >> -shift
    return total
