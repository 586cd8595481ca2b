"""Masters: the number that a user requests, and the choice by the method.

An item is a count ("2^20", "1e6", 1048576), a share of the vertices ("10%") or "auto", which leaves the choice to the
method. Masters are drawn at random; with a tour every k-th vertex of an Euler tour is one too. `auto` starts with the
square root of the number of entries that fit in memory, so that even the densest condensed graph fits. It multiplies
the number by GROWTH while clusters need more rounds than MOST_ROUNDS, and then halves it while the condensed graph does
not fit. It depends on the budget, and so does the result; the chosen number is reported and can be passed again.
Source: Ajwani, Beckmann, Meyer, Veith (2012), section 4, "Selecting the correct number of master vertices".
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from ...errors import InputError
from ...units import parse_count

AUTO = "auto"
# For "auto", see clusters.MasterChoice.
MOST_ROUNDS = 32
GROWTH = 8
MOST_MASTERS = (1 << 63) - 1
_PERCENTAGE = re.compile(r"^(\d+(?:\.\d+)?)\s*%$")
_REMEDY = "write it like 2^20, 10% or auto, and several with commas between them"


def most_by_itself(n_vertices: int) -> int:
    """The most masters that "auto" takes, on average: then the planned memory for clusters adds little to the
    state of the vertices, and clusters of 16 vertices have few rounds."""
    return min(max(1, n_vertices), max(1 << 12, n_vertices // 16))


def parse_masters(text: str) -> list[int | str]:
    """The items of a list with commas: an int for a count, "10%" for a share, "auto".

    Raises InputError for an empty item, a text of another kind, a count below 1 or not below 2^63,
    and a share that is not above 0 % or exceeds 100 %.
    """
    return [_item(item.strip(), text) for item in text.split(",")]


def one_item(text: str) -> int | str:
    """The only item of a list. Raises InputError as parse_masters, and for more than one."""
    items = parse_masters(text)
    if len(items) != 1:
        raise InputError("there can only be one number of masters here", text=text, remedy="write it without commas")
    return items[0]


def resolve_masters(item: int | str, n: int) -> int:
    """The number of masters that an item (an argument or result of parse_masters) means for `n` >= 1
    vertices; a share is rounded up.

    Raises InputError as parse_masters, and for more masters than vertices; ValueError for "auto".
    """
    parsed = _count(item, str(item)) if isinstance(item, int) else _item(item.strip(), item)
    if parsed == AUTO:
        raise ValueError("the method chooses the number of masters by itself")
    if isinstance(parsed, str):
        return max(1, math.ceil(_share(parsed) * n))
    if parsed > n:
        raise InputError(f"there cannot be {parsed:,} masters in a graph of {n:,} vertices",
                         remedy="ask for fewer, or for a share like 10%")
    return parsed


def _item(item: str, whole: str) -> int | str:
    if not item:
        raise InputError("a number of masters is missing", text=whole, remedy=_REMEDY)
    if item.lower() == AUTO:
        return AUTO
    if item.endswith("%"):
        if not 0 < _share(item) <= 1:
            raise InputError("a share of masters is above 0 % and at most 100 %", text=item, remedy=_REMEDY)
        return item
    try:
        return _count(parse_count(item), item)
    except InputError as error:
        if error.what.startswith("not a count"):
            raise InputError("not a number of masters", text=item, remedy=_REMEDY) from None
        raise


def _count(count: int, text: str) -> int:
    if count < 1:
        raise InputError("there must be at least one master", text=text, remedy=_REMEDY)
    if count > MOST_MASTERS:
        raise InputError("the number of masters is too large", text=text, remedy="the most is 2^63 - 1")
    return count


def _share(item: str) -> Fraction:
    """The share as an exact fraction, so that 10 % of 30 is 3."""
    match = _PERCENTAGE.match(item)
    if match is None:
        raise InputError("not a share of masters", text=item, remedy=_REMEDY)
    return Fraction(match.group(1)) / 100
