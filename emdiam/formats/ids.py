"""Ids as columns have them: whole numbers, however they are written, are the same vertices.

1, 1.0 and 1e0 are one id; numbers beyond 2^53 that come as floats are none, since those cannot tell them from their
neighbours. Texts with leading zeros ("007") are names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..errors import InputError

EXACT_FLOAT = 2**53
"""Whole numbers up to here, and no others, are certain as floats."""

Refusal = Callable[..., InputError]
"""(what, place of the id in the array, text=..., remedy=...) -> the error that says where it is."""

_NOT_WHOLE = "give whole numbers, or keep the column as text"


def may_have_ids(data_type: pa.DataType) -> bool:
    """Whether the values of such a column may be whole numbers: integers, floats and decimals."""
    return bool(pa.types.is_integer(data_type) or pa.types.is_floating(data_type) or pa.types.is_decimal(data_type))


def whole_numbers(values: npt.NDArray[Any], refusal: Refusal) -> npt.NDArray[Any]:
    """Ids of a column of integers or floats, as int64[k], or uint64[k] where one is above 2^63 - 1.

    Parameters
    ----------
    values : integers or floats, [k], none missing.
    refusal : makes the error for a value that is no id.

    Raises
    ------
    InputError
        At the first value that is missing (NaN), negative, no whole number, or a float beyond 2^53.
    """
    if values.dtype.kind == "f":
        _refuse(np.isnan(values), values, refusal, "there is no id", "drop rows without an id")
        with np.errstate(invalid="ignore"):
            whole = np.floor(values) == values
        _refuse(~whole, values, refusal, "an id is no whole number", _NOT_WHOLE)
        _refuse(np.abs(values) > EXACT_FLOAT, values, refusal,
                "an id is a float beyond 2^53, where floats are no longer exact", "give the ids as integers or as text")
        _refuse(values < 0, values, refusal, "an id is negative", "ids are integers from 0 up, or texts")
        return values.astype(np.int64)
    if values.dtype.kind == "u":
        large = values.dtype.itemsize == 8 and len(values) and int(values.max()) >= 1 << 63
        return values.astype(np.uint64 if large else np.int64, copy=False)
    _refuse(values < 0, values, refusal, "an id is negative", "ids are integers from 0 up, or texts")
    return values.astype(np.int64, copy=False)


def arrow_ids(column: pa.Array, refusal: Refusal) -> npt.NDArray[Any]:
    """Ids of an Arrow column for which `may_have_ids` holds and in which none is missing; else as `whole_numbers`."""
    if not pa.types.is_decimal(column.type):
        return whole_numbers(column.to_numpy(zero_copy_only=False), refusal)
    for wanted in (pa.int64(), pa.uint64()):
        try:
            return whole_numbers(column.cast(wanted).to_numpy(zero_copy_only=False), refusal)
        except pa.ArrowInvalid:
            continue
    for place, value in enumerate(column.to_pylist()):
        if value != int(value):
            raise refusal("an id is no whole number", place, text=str(value), remedy=_NOT_WHOLE)
        if not 0 <= value < 1 << 64:
            raise refusal("an id is outside 0..2^64 - 1", place, text=str(value),
                          remedy="give the ids as integers of 64 bits, or as text")
    raise AssertionError("pyarrow refuses decimals that are ids")


def _refuse(wrong: npt.NDArray[np.bool_], values: npt.NDArray[Any], refusal: Refusal, what: str, remedy: str) -> None:
    if len(values) and wrong.any():
        place = int(np.argmax(wrong))
        raise refusal(what, place, text=str(values[place]), remedy=remedy)
