"""Lengths of paths as whole numbers, so that sums of them are exact and bounds are proved.

Weights that are integers count in units of 1. Floats are whole multiples of a power of two, 2^e, the largest that
divides all of them; a sum of them is exact in float64 as long as it is below 2^53 of these units, since no bit is
rounded away. A label that a search rounds is above every distance below that limit: rounding never passes a number that
float64 has. So where the largest label is below the limit, all labels are distances. Weights of which it is not,
such as float64 with random last bits, are refused: their bounds would not be proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ...sssp.arcs import Arcs
from ...sssp.rows import unreached

_PIECE = 1 << 20
_FRACTION_BITS = 53
# Of integers: two of them, and a sum of two, fit int64.
_MOST_BITS = 61
# Two distances below this are below 2^32.
_NARROW = 1 << 31


@dataclass(frozen=True)
class Units:
    """exponent : a unit is 2^exponent. whole : whether weights are integers."""

    exponent: int = 0
    whole: bool = True

    @property
    def most(self) -> int:
        """A distance is less than so many units."""
        return 1 << (_MOST_BITS if self.whole else _FRACTION_BITS)

    def counted(self, distances: np.ndarray) -> np.ndarray:
        """Distances of a search in units: uint32[n], or uint64[n] where they are long; the largest value without a
        path. Raises InputError for sums that are not exact."""
        reached = distances != unreached(distances.dtype)
        scaled = distances if self.whole else np.ldexp(distances, -self.exponent)
        largest = int(scaled[reached].max(initial=0))
        if largest >= self.most:
            raise InputError(
                f"sums of these weights need more than {self.most.bit_length() - 1} bits, so bounds would not be"
                " proved", remedy="round the weights, to float32 or to whole numbers, and convert again")
        dtype = np.dtype(np.uint32 if largest < _NARROW else np.uint64)
        units = np.full(len(distances), unreached(dtype), dtype)
        units[reached] = scaled[reached]
        return units

    def lengths(self, units: np.ndarray) -> np.ndarray:
        """So many units each (integers[k]) as numbers that users see: int64 or float64[k]. Bounds that float64
        has not, which are above all distances, are rounded up."""
        if self.whole:
            return units.astype(np.int64)
        numbers = units.astype(np.float64)
        return np.ldexp(np.where(numbers < units, np.nextafter(numbers, np.inf), numbers), self.exponent)

    def length(self, units: int) -> Any:
        """So many units as the number that users see, as `lengths`."""
        if self.whole:
            return units
        number = float(units)
        return float(np.ldexp(np.nextafter(number, np.inf) if number < units else number, self.exponent))


def units_of(arcs: Arcs) -> Units:
    """The units of these weights; those of floats take a pass. Raises InputError for weights below 0, with which an
    edge, there and back, is a cycle of negative length."""
    if arcs.least_weight < 0:
        raise InputError("there are weights below 0: an edge without direction is then a cycle of negative weight, and"
                         " no path is the shortest")
    if arcs.distance_dtype.kind != "f":
        return Units()
    exponents = [least for piece in arcs.pieces() for first in range(piece.offsets[0], piece.offsets[-1], _PIECE)
                 if (least := _least_exponent(piece.costs[first : min(first + _PIECE, piece.offsets[-1])])) is not None]
    return Units(min(exponents, default=0), False)


def _least_exponent(weights: np.ndarray) -> int | None:
    """The largest e such that all of them are multiples of 2^e; None where all are 0."""
    fractions, exponents = np.frexp(weights[weights != 0].astype(np.float64))
    if not len(fractions):
        return None
    bits = np.ldexp(fractions, _FRACTION_BITS).astype(np.int64)
    lowest = np.frexp((bits & -bits).astype(np.float64))[1] - 1
    return int((exponents - _FRACTION_BITS + lowest).min())
