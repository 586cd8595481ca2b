"""How many masters: what a user writes, and what that is for a graph.

An item is a count ("2^20", "1e6", 1048576), a share of the vertices ("10%") or "auto", which leaves
the choice to the method.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from ...errors import InputError
from ...units import parse_count

AUTO = "auto"
MOST_MASTERS = (1 << 63) - 1
_PERCENTAGE = re.compile(r"^(\d+(?:\.\d+)?)\s*%$")
_REMEDY = "write it like 2^20, 10% or auto, and several with commas between them"


def parse_masters(text: str) -> list[int | str]:
    """The items of a list with commas: an int for a count, "10%" for a share, "auto".

    Raises InputError for an empty item, a text that is none of these, a count below 1 or of 2^63 and
    more, and a share that is not above 0 % and at most 100 %.
    """
    return [_item(item.strip(), text) for item in text.split(",")]


def one_item(text: str) -> int | str:
    """The item of a list of one. Raises InputError as parse_masters, and for more of them."""
    items = parse_masters(text)
    if len(items) != 1:
        raise InputError("there can only be one number of masters here", text=text, remedy="write it without commas")
    return items[0]


def resolve_masters(item: int | str, n: int) -> int:
    """The number of masters that an item (as parse_masters takes or gives it) means for `n` >= 1
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
