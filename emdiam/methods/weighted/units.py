"""Lengths of paths as whole numbers, so that sums of them are exact and bounds are proved.

Integer weights count in units of 1, or of 10^-k if the store says that they have k decimals. Floats are multiples of a
power of two, 2^e, the largest that divides all of them. A sum of them is exact in float64 as long as it is below 2^53
of these units, since no bit is rounded away. A label for which a search rounds is above every distance below that
limit: rounding never passes a float64 number. So if the largest label is below the limit, all labels are distances.

Otherwise, e.g. for float64 with random last bits, weights are rounded down to multiples of a larger power of two, so
that sums are exact again. With n vertices a path has at most n - 1 edges, and each has lost less than a unit. So a
distance is at least the one found, and less than n - 1 units above it: a proved interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import frexp
from typing import Any

import numpy as np

from ...decimals import in_units, number, numbers
from ...errors import InputError
from ...paths.arcs import Arcs
from ...paths.rows import unreached

_PIECE = 1 << 20
FRACTION_BITS = 53
# For integers: a number below 2^61, or the sum of two, fits int64.
_MOST_BITS = 61
# The sum of two distances below this is below 2^32.
_NARROW = 1 << 31
_LEAST_EXPONENT, _LARGEST_EXPONENT = -1074, 1023
# Labels of a search that rounds are too small by at most this factor, with less than 2^32 sums.
_ROUNDED = 1 + 2.0**-20


class SumsTooLongError(InputError):
    """Sums of weights that are floats need more bits than float64 has."""


@dataclass(frozen=True)
class Units:
    """exponent : a unit is 2^exponent. whole : whether weights are integers. decimals : k, if the unit is 10^-k
    instead. rounded : whether weights were rounded down to units."""

    exponent: int = 0
    whole: bool = True
    decimals: int = 0
    rounded: bool = False

    @property
    def most(self) -> int:
        """An upper limit: distances are less than this number of units."""
        return 1 << (_MOST_BITS if self.whole else FRACTION_BITS)

    @property
    def said(self) -> tuple[int, int] | None:
        """(base, exponent) of a unit that a certificate must state: for decimals, and for weights that were rounded."""
        return (10, -self.decimals) if self.decimals else (2, self.exponent) if self.rounded else None

    def claimed(self, length: Any) -> Any:
        """A length, in the form of `length`, as a certificate states it: in the units that it states, if it does."""
        if self.said is None:
            return length
        return in_units(length, self.decimals) if self.whole else int(np.ldexp(length, -self.exponent))

    def counted(self, distances: np.ndarray) -> np.ndarray:
        """Distances of a search in units: uint32[n], or uint64[n] if they are long; the largest value without a
        path. Raises SumsTooLongError if sums are not exact."""
        reached = distances != unreached(distances.dtype)
        largest = distances.max(initial=0, where=reached).item()
        if largest >= self.most if self.whole else largest and frexp(largest)[1] - self.exponent > FRACTION_BITS:
            raise SumsTooLongError(
                f"sums of these weights need more than {self.most.bit_length() - 1} bits, so they would not be exact",
                remedy="round the weights to a few decimals, and convert again")
        scaled = distances if self.whole else np.ldexp(distances, -self.exponent)
        most = largest if self.whole else np.ldexp(largest, -self.exponent)
        dtype = np.dtype(np.uint32 if most < _NARROW else np.uint64)
        if scaled.dtype.kind == "u" and scaled.itemsize >= dtype.itemsize:
            return scaled.astype(dtype)  # the last bits of the largest value are the largest value
        units = np.full(len(distances), unreached(dtype), dtype)
        units[reached] = scaled[reached]
        return units

    def of_weight(self, weight: int | float) -> int:
        """A weight in units, of any size."""
        return int(weight if self.whole else Fraction(weight) / Fraction(2) ** self.exponent)

    def lengths(self, units: np.ndarray) -> np.ndarray:
        """Lengths in units (integers[k]) as the numbers shown to users: int64 or float64[k]. For decimals, the nearest
        float64. Bounds that are no float64, which are above all distances, are rounded up."""
        if self.whole:
            return numbers(units, self.decimals)
        found = units.astype(np.float64)
        return np.ldexp(np.where(found < units, np.nextafter(found, np.inf), found), self.exponent)

    def length(self, units: int) -> Any:
        """A length in units as the number shown to users: an int, a float, or a Decimal if no float is as exact. Bounds
        in powers of two as in `lengths`."""
        if self.whole:
            return number(units, self.decimals)
        found = float(units)
        return float(np.ldexp(np.nextafter(found, np.inf) if found < units else found, self.exponent))


def scaled(weights: np.ndarray, units: Units) -> np.ndarray:
    """Weights that are floats, in units, float64[k]; infinite if they are too long."""
    with np.errstate(over="ignore"):
        return np.ldexp(weights.astype(np.float64), -units.exponent)


def stated(length: Any, unit: tuple[int, int] | None) -> Any:
    """A length from a certificate, in a unit as in Units.said, as the number shown to users."""
    if unit is None:
        return length
    base, exponent = unit
    return Units(decimals=-exponent).length(length) if base == 10 else Units(exponent, False).length(length)


def units_of(arcs: Arcs, decimals: int = 0) -> Units:
    """The units of these weights, which have `decimals` decimals; for floats this takes a pass. Raises InputError for
    weights below 0, for which an edge, there and back, is a cycle of negative length."""
    if arcs.least_weight < 0:
        raise InputError("there are weights below 0: an edge without direction is then a cycle of negative weight, and"
                         " no path is the shortest")
    if arcs.distance_dtype.kind != "f":
        return Units(decimals=decimals)
    exponents = [least for piece in arcs.pieces() for first in range(piece.offsets[0], piece.offsets[-1], _PIECE)
                 if (least := _least_exponent(piece.costs[first : min(first + _PIECE, piece.offsets[-1])])) is not None]
    return Units(min(exponents, default=0), False)


def exact_exponent(arcs: Arcs, roots: np.ndarray) -> int:
    """The smallest exponent such that all sums of weights rounded down to multiples of 2^exponent are exact.
    roots : int64[k], a vertex of each component. Takes a search."""
    found, _ = arcs.nearest(roots)
    # The distance of two vertices is at most twice the largest distance from the root of their component.
    far = found[found != unreached(found.dtype)].max(initial=0).item()
    return frexp(far * _ROUNDED)[1] + 1 - FRACTION_BITS


def round_down(arcs: Arcs, exponent: int) -> Units:
    """Round the weights (floats) down to multiples of 2^exponent."""
    exponent = min(max(exponent, _LEAST_EXPONENT), _LARGEST_EXPONENT)
    arcs.round_down(exponent)
    return Units(exponent, False, rounded=True)


def _least_exponent(weights: np.ndarray) -> int | None:
    """The largest e such that all weights are multiples of 2^e; None if all are 0."""
    fractions, exponents = np.frexp(weights[weights != 0].astype(np.float64))
    if not len(fractions):
        return None
    bits = np.ldexp(fractions, FRACTION_BITS).astype(np.int64)
    lowest = np.frexp((bits & -bits).astype(np.float64))[1] - 1
    return int((exponents - FRACTION_BITS + lowest).min())
