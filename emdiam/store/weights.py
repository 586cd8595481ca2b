"""Weights of edges in a store: their dtypes, their record, and their exact mean.

The array `data` holds the weights of the arcs, in the order, chunks and shards of `indices`. Both arcs of an edge have
its weight. Decimal weights are stored as multiples of 10^-k, with k in the record.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..decimals import MOST_PLACES, Number, number

# From narrow to wide: nonnegative whole numbers get the first dtype that can hold the largest of them.
UNSIGNED: tuple[np.dtype[Any], ...] = tuple(np.dtype(kind) for kind in ("uint8", "uint16", "uint32"))
SIGNED: np.dtype[Any] = np.dtype(np.int32)
WIDE: np.dtype[Any] = np.dtype(np.int64)
FLOATS: tuple[np.dtype[Any], ...] = (np.dtype(np.float32), np.dtype(np.float64))
DTYPES: dict[str, np.dtype[Any]] = {str(dtype): dtype for dtype in (*UNSIGNED, SIGNED, WIDE, *FLOATS)}
"""dtypes of weights in a store, by name; int32 where a whole number is negative, int64 where 32 bits do not do."""
ROUNDED = "digits of weights that float64 has no room for"
"""What the record of a store counts of weights that were rounded, among the values that were dropped."""
# Distances along wide weights are smaller, so that two of them, and a sum of two, fit int64.
MOST_WIDE = 1 << 61

# A float64 is a multiple of 2^-1074.
_LEAST_EXPONENT, _FRACTION_BITS = -1074, 53
_HALF_BITS = 27
_PIECE = 1 << 20
_HALF_WORD = 32
_LATER = {"decimals": 0, "name": ""}


class WeightForm(NamedTuple):
    """How a store keeps weights. dtype : one of DTYPES. decimals : k, if they are multiples of 10^-k. name : the column
    or attribute that they came from, "" if it has none. counted : whether they arrive as such multiples already, not as
    floats."""

    dtype: np.dtype[Any]
    decimals: int = 0
    name: str = ""
    counted: bool = False


def whole_dtype(least: int, largest: int) -> np.dtype[Any] | None:
    """The narrowest dtype for whole numbers from `least` to `largest`, None if there is none of 32 bits."""
    if least < 0:
        limits = np.iinfo(SIGNED)
        return SIGNED if limits.min <= least and largest <= limits.max else None
    return next((dtype for dtype in UNSIGNED if largest <= np.iinfo(dtype).max), None)


def data_fill(dtype: np.dtype[Any]) -> int | float:
    """The value that pads the last chunk of `data`: NaN, or the largest integer."""
    return math.nan if dtype.kind == "f" else int(np.iinfo(dtype).max)


class WeightRecord(NamedTuple):
    """The weights' part of a store's record.

    dtype : name of a dtype in DTYPES. least, largest, mean : over all arcs (0 without arcs), the mean to the nearest
    float64; in the units of `data`, which are 10^-decimals. edges_with_several : edges with several weights in the
    input, whose least weight was kept. name : the column or attribute that the weights came from.
    """

    dtype: str
    least: int | float = 0
    largest: int | float = 0
    mean: float = 0.0
    edges_with_several: int = 0
    decimals: int = 0
    name: str = ""

    @property
    def is_late(self) -> bool:
        """Whether the weights need a format later than 3."""
        return bool(self.decimals or self.name) or self.dtype == str(WIDE)

    @property
    def form(self) -> WeightForm:
        """How the weights are stored."""
        return WeightForm(DTYPES[self.dtype], self.decimals, self.name)

    @property
    def ends(self) -> tuple[Number, Number]:
        """The least and the largest weight, as numbers for people."""
        least, largest = (end if isinstance(end, float) else number(end, self.decimals)
                          for end in (self.least, self.largest))
        return least, largest

    def to_dict(self) -> dict[str, Any]:
        """A plain dict for the attributes and for JSON; without `decimals` and `name` if they have their defaults."""
        return {name: value for name, value in self._asdict().items() if name not in _LATER or value != _LATER[name]}

    @classmethod
    def from_dict(cls, data: Any) -> WeightRecord:
        """The record in `data`. Raises TypeError if it is not one."""
        if type(data) is not dict or set(data) | set(_LATER) != set(cls._fields):
            raise TypeError(f"weights are {data!a:.80}")
        return cls(**data)

    def fault(self, n_edges: int) -> str | None:
        """A statement about the weights that a finished store with this number of edges cannot make, as a clause; None
        if there is none."""
        if type(self.dtype) is not str or self.dtype not in DTYPES:
            return f"the dtype of its weights is {self.dtype!a:.80}"
        if type(self.decimals) is not int or not 0 <= self.decimals <= MOST_PLACES or not _is_text(self.name):
            return f"its weights are named {self.name!a:.80} and have {self.decimals!a:.80} decimals"
        kind = float if DTYPES[self.dtype].kind == "f" else int
        ends = self.least, self.largest
        if not all(type(end) is kind and math.isfinite(end) for end in ends) or type(self.mean) is not float:
            return f"its weights are from {self.least!a:.80} to {self.largest!a:.80}, {self.mean!a:.80} in the mean"
        if kind is int:
            limits = np.iinfo(DTYPES[self.dtype])
            if not limits.min <= self.least <= self.largest <= limits.max:
                return f"its weights are from {self.least} to {self.largest}, in {self.dtype}"
        elif self.decimals:
            return f"its weights are floats, with {self.decimals} decimals"
        if not (self.least <= self.largest and float(self.least) <= self.mean <= float(self.largest)):
            return f"its weights are from {self.least} to {self.largest}, {self.mean} in the mean"
        if type(self.edges_with_several) is not int or not 0 <= self.edges_with_several <= n_edges:
            return f"{self.edges_with_several!a:.80} of {n_edges} edges had several weights"
        return None


def _is_text(name: Any) -> bool:
    """Whether the name is a string that can be encoded."""
    return type(name) is str and not any("\ud800" <= letter <= "\udfff" for letter in name)


class WeightSums:
    """Count, least, largest and exact sum of weights that arrive in pieces; the result does not depend on the
    pieces."""

    def __init__(self, form: WeightForm) -> None:
        self.form, self.dtype, self._n, self._sum = form, form.dtype, 0, 0
        self._least: int | float = 0
        self._largest: int | float = 0

    @classmethod
    def resumed(cls, state: dict[str, Any]) -> WeightSums:
        """The sums that `state` described."""
        sums = cls(WeightForm(np.dtype(state["dtype"]), state["decimals"], state["name"],
                              state.get("counted", False)))
        sums._n, sums._least, sums._largest = state["n"], state["least"], state["largest"]
        sums._sum = int(state["sum"], 16)
        return sums

    def state(self) -> dict[str, Any]:
        """The sums so far, for `resumed`."""
        return {"dtype": str(self.dtype), "decimals": self.form.decimals, "name": self.form.name,
                "counted": self.form.counted, "n": self._n,
                "least": self._least, "largest": self._largest, "sum": f"{self._sum:x}"}

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
            self._sum += _float_units(part) if self.dtype.kind == "f" else _whole_sum(part)

    def record(self, edges_with_several: int) -> WeightRecord:
        """The record of all weights added."""
        from fractions import Fraction

        unit = Fraction(2) ** _LEAST_EXPONENT if self.dtype.kind == "f" else 1
        mean = float(self._sum * unit / self._n) if self._n else 0.0
        # As for integers of every size, -0.0 becomes 0.0, whichever of the two came first.
        ends = (0, 0) if not self._n else (self._least, self._largest)
        least, largest = (float(end) + 0.0 if self.dtype.kind == "f" else int(end) for end in ends)
        return WeightRecord(str(self.dtype), least, largest, min(max(mean, float(least)), float(largest)),
                            edges_with_several, self.form.decimals, self.form.name)


def _whole_sum(weights: npt.NDArray[Any]) -> int:
    """The exact sum of at most 2^31 integers."""
    if weights.dtype.itemsize < 8:
        return int(weights.sum(dtype=np.int64))
    low = (weights & ((1 << _HALF_WORD) - 1)).sum(dtype=np.int64)
    return (int((weights >> _HALF_WORD).sum(dtype=np.int64)) << _HALF_WORD) + int(low)


def _float_units(weights: npt.NDArray[Any]) -> int:
    """The exact sum of at most 2^26 finite floats, in units of 2^-1074."""
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
