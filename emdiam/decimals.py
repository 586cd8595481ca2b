"""Floats as the decimals that people write: 0.1 is 1 in units of 10^-1, not the nearest binary fraction.

The decimal of a float is the shortest one that rounds to it, as Python prints it; of several equally short ones it is
the nearest. With k places it is an integer in units of 10^-k, and sums of such numbers are exact. Decimals have at most
MOST_PLACES places here, and integers in units of 10^-k at most 62 bits. decimal_kernels.py has kernels for many
decimals.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from decimal import Context, Decimal

    import numpy.typing as npt

MOST_PLACES = 9
_EXACT = 1 << 53

# Most numbers are ints, so the module `decimal` is only imported when needed.
Number: TypeAlias = "int | float | Decimal"


@cache
def _context() -> Context:
    """A context for sums of integers, which have more digits than the default context of `decimal` keeps; floats have
    up to 1,100."""
    from decimal import Context

    return Context(prec=1200)


def in_units(value: Number, places: int) -> int | None:
    """A finite number of any size (floats through their decimals) in units of 10^-places, exactly; None if it is not an
    integer in these units."""
    from decimal import Decimal

    exact = Decimal(repr(value) if isinstance(value, float) else value).scaleb(places, _context())
    return int(exact) if exact == exact.to_integral_value() else None


def number(units: int, places: int) -> Number:
    """units * 10^-places as a number for people: an int without places, else the float64 with that decimal, or a
    Decimal if there is none."""
    if not places:
        return units
    from decimal import Decimal

    exact = Decimal(units).scaleb(-places, _context())
    near = units / 10**places
    return near if Decimal(repr(near)) == exact else exact


def numbers(units: npt.NDArray[Any], places: int) -> npt.NDArray[Any]:
    """units * 10^-places, integers[k], as int64, or with places as the nearest float64."""
    if not places:
        return units.astype("int64")
    found = units.astype("float64") / float(10**places)
    # Units too large for float64 are divided one by one, so that they are rounded only once.
    large = (units >= _EXACT) | (units.astype("int64") <= -_EXACT)
    found[large] = [one / 10**places for one in units[large].tolist()]
    return found


def agreed(lower: Number, upper: Number) -> str:
    """The common leading digits of the ends of an interval, and "..."; "" if the integer parts differ."""
    from decimal import Decimal

    ends = [f"{Decimal(str(one)):f}" for one in (lower, upper)]
    wholes, fractions = zip(*(one.partition(".")[::2] for one in ends), strict=True)
    if wholes[0] != wholes[1]:
        return ""
    places = max(map(len, fractions))
    pairs = zip(*(one.ljust(places, "0") for one in fractions), strict=True)
    same = next((i for i, (one, other) in enumerate(pairs) if one != other), places)
    point = "." if same else ""
    return f"{int(wholes[0]):,}{point}{fractions[0].ljust(places, '0')[:same]}..."
