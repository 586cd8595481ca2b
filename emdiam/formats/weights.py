"""Weights of edges in inputs: their column, their kind, and the check that they are valid.

A source passes weights as float64, which represents nearly all valid weights exactly: whole numbers from 0 to 2^32 - 1
(from -2^31 if negative ones are allowed), and finite floats. float32 values are converted through their decimals, so
that 0.1 stays 0.1. If texts have more digits, weights are whole multiples of 10^-k (digits.py). Otherwise the kind of
the weights decides their dtype in the store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError, closest
from .digits import Digits

WHOLE, FLOAT32, FLOAT64 = "int", "float32", "float64"
KINDS = (WHOLE, FLOAT32, FLOAT64)
LEAST_WHOLE, LARGEST_WHOLE = -(2**31), 2**32 - 1
NAMES = ("weight", "weights", "w", "length", "distance", "dist", "cost", "value")
"""Names of columns that are taken for weights where none is named, in lower case."""
TIMES_AND_PLACES = frozenset("date time timestamp datetime year month day hour lat lon lng latitude longitude".split())
"""Words in names of columns that are neither ends of edges nor weights."""
# Words in names of numeric columns that are no lengths.
_NO_LENGTHS = TIMES_AND_PLACES | frozenset(
    "epoch unixtime id idx index key no nr type kind label category class".split())
_WORD = re.compile(r"[a-z]+")

NEGATIVE, NO_NEGATIVE = "a weight is negative", "weights are from 0 up, or allow others with --allow-negative"
NOT_FINITE, NO_INFINITE = "a weight is not finite", "give every edge a finite weight, or drop the edge"


@dataclass(frozen=True)
class WeightChoice:
    """The weights that a conversion keeps.

    Parameters
    ----------
    column : str
        Name of the column, or its number from 1; "": the weights of the format, or the usual column.
    negative : bool
        Whether weights may be negative.
    digits : Digits
        Digits of weights that float64 cannot represent.
    """

    column: str = ""
    negative: bool = False
    digits: Digits = field(default_factory=Digits, compare=False, repr=False)


def weight_choice(given: bool | str, negative: bool = False) -> WeightChoice | None:
    """The WeightChoice for True or the name of a column; None for False."""
    return None if given is False else WeightChoice("" if given is True else given, negative)


def named_weights(weight: str | None, weighted: bool | str, negative: bool = False) -> WeightChoice | None:
    """The WeightChoice for a name in either keyword, or for the usual weights (`weighted` True); None without either.

    Raises InputError for two different names, and for an invalid one."""
    names = {name for name in (weight, weighted) if isinstance(name, str)}
    if len(names) > 1 or "" in names or not (weight is None or names) or not isinstance(weighted, bool | str):
        given = ", ".join(repr(one) for one in (weight, weighted) if one not in (None, False))
        raise InputError("weights have one name", text=given, remedy="give --weight, the name of a column or attribute")
    return weight_choice(next(iter(names), bool(weighted)), negative)


Refusal = Callable[..., InputError]
"""(what, index of the weight, text=..., remedy=...) -> the error that says where it is."""


def kind_of(dtype: np.dtype[Any]) -> str | None:
    """The kind of weights in an array of this dtype; None if they cannot be weights."""
    if dtype.kind in "iu":
        return WHOLE
    return {2: FLOAT32, 4: FLOAT32, 8: FLOAT64}.get(dtype.itemsize) if dtype.kind == "f" else None


def common_kind(kinds: Iterable[str]) -> str:
    """The common kind of weights of these kinds: float64 if they differ; "" without any."""
    found = set(kinds) - {""}
    return next(iter(found), "") if len(found) < 2 else FLOAT64


def checked_weights(values: npt.NDArray[Any], choice: WeightChoice, refusal: Refusal) -> npt.NDArray[np.float64]:
    """The weights as float64[k]. values : of a dtype with a kind, see kind_of. Raises the error from `refusal` for the
    first invalid weight."""
    if values.dtype.kind == "f":
        _refuse(~np.isfinite(values), values, refusal, NOT_FINITE, NO_INFINITE)
    if not choice.negative and values.dtype.kind != "u":
        _refuse(values < 0, values, refusal, NEGATIVE, NO_NEGATIVE)
    if values.dtype.kind != "f" and values.dtype.itemsize >= 4:
        wrong = values > LARGEST_WHOLE
        if values.dtype.kind == "i":
            wrong |= values < LEAST_WHOLE
        _refuse(wrong, values, refusal, f"a weight is outside {LEAST_WHOLE if choice.negative else 0}..{LARGEST_WHOLE}",
                "scale the weights down, or give them as floats")
    if values.dtype.kind == "f" and values.dtype.itemsize < 8:
        from ..decimal_kernels import widened

        return widened(values)
    return values.astype(np.float64)


def _refuse(wrong: npt.NDArray[np.bool_], values: npt.NDArray[Any], refusal: Refusal, what: str, remedy: str) -> None:
    if wrong.any():
        place = int(np.argmax(wrong))
        raise refusal(what, place, text=str(values[place]), remedy=remedy)


def out_of_range(negative: bool, **where: Any) -> InputError:
    """The error for a whole weight in a text that the store cannot keep as such. where : path, line or text."""
    return InputError(f"a whole weight is outside {LEAST_WHOLE if negative else 0}..{LARGEST_WHOLE}",
                      remedy="scale the weights down, or write one of them with a point to take all as floats", **where)


def name_a_column(candidates: Sequence[str], column: str, places: Sequence[int]) -> str:
    """The remedy if `column` names no candidate, or is "" and there are several: suggests the closest name, or its
    number. candidates : names of the columns beside the ids. places : their numbers from 0."""
    if not candidates:
        return "leave out --weights"
    close = closest(column, candidates) or candidates[0]
    plain = re.fullmatch(r"[\w.-]+", close) is not None and candidates.count(close) == 1
    return f"name one of them, as in --weights={close if plain else places[list(candidates).index(close)] + 1}"


def weight_column(names: Sequence[str], candidates: Sequence[int], column: str) -> int | None:
    """The place in `names` of the column of weights; None if there is no such column, or several.

    column : its name or number; "": the only column with a name in NAMES, else the only candidate, unless its name is
    that of a time, an id of the edge or the like. candidates : possible places."""
    lower = [name.strip().lower() for name in names]
    if not column:
        places = [i for i in candidates if lower[i] in NAMES] or list(candidates)
        if len(places) == 1 and _may_be_no_length(lower[places[0]]):
            return None
    elif column.isdecimal() and column not in names:
        places = [i for i in candidates if str(i + 1) == column]
    else:
        places = [i for i in candidates if names[i].strip() == column] or [
            i for i in candidates if lower[i] == column.lower()]
    return places[0] if len(places) == 1 else None


def _may_be_no_length(name: str) -> bool:
    words = _WORD.findall(name)
    return bool(words) and words[-1] in _NO_LENGTHS and not (len(words) > 1 and words[-1] == "time")
