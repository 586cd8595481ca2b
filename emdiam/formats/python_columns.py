"""Ids and weights in sequences of Python objects, as arrays.

NumPy makes texts of numbers among texts, floats of large integers, and numbers of True; it drops NULs, and values under
a mask become values. So the kinds of the objects are looked at first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from .arrays import EXACT_FLOAT, whole_numbers

_BOOL, _WHOLE = (bool, np.bool_), (int, np.integer)
_MANY_IDS = 1 << 64
_ONE_KIND = "give integers in both arrays or strings in both"


def refuse_masked(values: Any) -> None:
    """Raise InputError for an array with masked values, which would otherwise be read as values."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError("the array has masked values", remedy="fill them, as in array.filled(0) for a matrix, or drop"
                         " their rows, as in numpy.ma.compress_rows(array)")


def id_column(values: Any, name: str) -> np.ndarray:
    """The ids in a sequence as an array of integers, or of strings (as objects, or as the array has them). name : of
    the sequence, for errors. Raises InputError for another kind, and for floats that are no ids."""
    array = _array_of(values, name, _ids_of_objects)
    if array.ndim != 1:
        raise InputError(f"{name} has {array.ndim} dimensions",
                         remedy="give one-dimensional arrays, as in (edges[:, 0], edges[:, 1])")
    if array.dtype.kind == "f":
        return whole_numbers(array, lambda what, place, **more: InputError(f"{what}, at position {place} of {name}",
                                                                           **more))
    if len(array) and array.dtype.kind not in "iuUOT":
        raise InputError(f"{name} holds {array.dtype}, not ids", remedy="give integers or strings")
    return array if len(array) else array.astype(np.int64)


def weight_column(values: Any) -> np.ndarray:
    """The weights in a sequence as an array. Raises InputError for a number that NumPy would round or take for another:
    a large integer among floats, True, a masked one."""
    return _array_of(values, "weights", _weights_of_objects)


def _array_of(values: Any, name: str, of_objects: Any) -> np.ndarray:
    """The values as an array; those of a list, a tuple or an array of objects by `of_objects`."""
    refuse_masked(values)
    if not isinstance(values, list | tuple):
        values = np.asarray(values)
        if values.dtype != object or values.ndim != 1:
            return values
        values = values.tolist()
    for value in values if _any_of(values, np.ndarray) else ():
        refuse_masked(value)
    try:
        array: np.ndarray = of_objects(values, name)
    except (ValueError, OverflowError) as error:  # of NumPy: parts of several lengths, numbers that are too large
        raise InputError(f"{name} cannot be an array ({error})", text=repr(values)[:80],
                         remedy="give one-dimensional arrays") from error
    return array


def _any_of(values: Sequence[Any], *kinds: type) -> bool:
    return any(issubclass(kind, kinds) for kind in set(map(type, values)))


def _all_of(values: Sequence[Any], *kinds: type) -> bool:
    return all(issubclass(kind, kinds) and kind is not bool for kind in set(map(type, values)))


def _first(values: Sequence[Any], *kinds: type) -> int:
    """The place of the first value of one of these kinds."""
    return next(place for place, value in enumerate(values) if isinstance(value, kinds))


def _ids_of_objects(values: Sequence[Any], name: str) -> np.ndarray:
    if values and _all_of(values, str):
        array = np.empty(len(values), object)
        array[:] = values
        return array
    if _all_of(values, *_WHOLE):
        large = next((place for place, value in enumerate(values) if not -_MANY_IDS < value < _MANY_IDS), None)
        if large is not None:
            raise InputError(f"the id at position {large} of {name} is outside 0..2^64 - 1", text=str(values[large]),
                             remedy="give the ids as strings")
        signed = min(values, default=0) < 0 or max(values, default=0) < 1 << 63
        return np.array(values, np.int64 if signed else np.uint64)
    if _any_of(values, str):
        place = next(place for place, value in enumerate(values) if not isinstance(value, str))
        raise InputError(f"the id at position {place} is no string", text=repr(values[place]), remedy=_ONE_KIND)
    array = np.asarray(values)
    if array.dtype.kind != "b" and _any_of(values, *_BOOL):
        place = _first(values, *_BOOL)
        raise InputError(f"the id at position {place} of {name} is {values[place]}, not a number",
                         remedy="give integers or strings")
    return array


def _weights_of_objects(values: Sequence[Any], name: str) -> np.ndarray:
    if _any_of(values, *_BOOL):
        place = _first(values, *_BOOL)
        raise InputError(f"the weight at position {place} is {values[place]}, not a number",
                         remedy="give integers or floats")
    narrow = _any_of(values, np.float16, np.float32) and len(set(map(type, values))) > 1
    array = np.array(list(map(as_float, values)) if narrow else values)
    if array.dtype.kind == "f":  # NumPy has rounded integers that no float represents
        for place, value in enumerate(values):
            if isinstance(value, _WHOLE) and abs(int(value)) > EXACT_FLOAT and int(float(value)) != value:
                raise InputError(f"the weight at position {place} is an integer that no float is, among floats",
                                 text=str(value), remedy="give it as a float, or all weights as integers")
    return array


def as_float(value: Any) -> float:
    """The number as a float (float16 and float32 through their decimals); infinite if it is too large."""
    if isinstance(value, np.floating) and value.dtype.itemsize < 8:
        return float(str(value))
    try:
        return float(value)
    except OverflowError:
        return math.inf
