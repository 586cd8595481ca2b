"""Kernels for many decimals (decimals.py): the decimal places of floats, and conversion to integers."""

from __future__ import annotations

from math import floor, frexp, ldexp
from typing import Any

import numpy as np
import numpy.typing as npt

from .decimals import MOST_PLACES
from .jit import inlined, kernel

_POWERS = np.array([10**k for k in range(MOST_PLACES + 1)], np.int64)
# Below the first limit a decimal is the only one with its number of places near a float64; from the second one on,
# floats are not treated as decimals.
_UNIQUE, _LARGEST, _MOST = 1e15, 2.0**53, 2.0**62
MANY = 1 << 62
"""The significant digits of a text that has more of them than 62 bits hold, for read_texts."""
_MANY, _TENTH = np.int64(MANY), np.int64(MANY // 10 - 1)
_FARTHEST = 10_000
_ZERO, _NINE, _POINT, _PLUS, _MINUS, _LOWER, _E = 48, 57, 46, 43, 45, 32, 101


@inlined
def _with_places(size, k):
    """(whether the decimal of `size` has k places, that decimal in units of 10^-k). size : 0 or more."""
    power = _POWERS[k]
    near = size * power
    if near < _UNIQUE:
        whole = np.rint(near)
        return whole / power == size, np.int64(whole)
    if near >= _MOST or size >= _LARGEST:
        return False, np.int64(0)
    units = floor(size)
    bits = 53 - frexp(size)[1]  # after the point, at most 33
    fraction = np.int64(ldexp(size - units, bits))
    more = fraction * power
    rest = (more + ((np.int64(1) << bits) >> 1)) >> bits
    if bits and rest & 1 and (rest << bits) - more == np.int64(1) << (bits - 1):
        rest -= 1  # of two equally near ones, the even one
    # Nearer than half the distance to the next float.
    return 2 * abs((rest << bits) - more) < power, np.int64(units) * power + rest


@inlined
def _places(size):
    """The number of places of the decimal of `size`, 0 or more; -1 if there are more than MOST_PLACES."""
    for k in range(MOST_PLACES + 1):
        if _with_places(size, k)[0]:
            return k
    return -1


@kernel
def most_places(values, places):
    """The largest number of decimal places of these finite floats, float64[k], and of `places`; -1 if one has too
    many."""
    for value in values:
        size = abs(value)
        if size * _POWERS[places] < _UNIQUE and _with_places(size, places)[0]:
            continue
        own = _places(size)
        if own < 0:
            return -1
        places = max(places, own)
    return places


@kernel
def whole_numbers(values, places, out):
    """out[i] = the decimal of values[i], float64, in units of 10^-places; `places` must be enough for it, and it must
    fit."""
    for i in range(len(values)):
        size = abs(values[i])
        own = places if size * _POWERS[places] < _UNIQUE else _places(size)
        whole = _with_places(size, own)[1] * _POWERS[places - own]
        out[i] = -whole if values[i] < 0 else whole


@inlined
def _exponent(data, pos, end):
    """(the integer at `pos`, at most _FARTHEST in size; the position after it)."""
    down, exponent = pos < end and data[pos] == _MINUS, 0
    if down or (pos < end and data[pos] == _PLUS):
        pos += 1
    while pos < end and _ZERO <= data[pos] <= _NINE:
        exponent = min(exponent * 10 + np.int64(data[pos]) - _ZERO, _FARTHEST)
        pos += 1
    return -exponent if down else exponent, pos


@kernel
def read_texts(data, offsets, digits, powers):
    """digits[i] * 10^powers[i] = the number in data[offsets[i]:offsets[i + 1]], uint8. Returns the first text that is
    not an ASCII number, or -1.

    digits : int64[k], not multiples of 10, or MANY if there are more. powers : int64[k]; 0 for zeros. Both are equal
    for texts of the same number, unless its digits are MANY.
    """
    for i in range(len(digits)):
        pos, end = offsets[i], offsets[i + 1]
        minus = pos < end and data[pos] == _MINUS
        if minus or (pos < end and data[pos] == _PLUS):
            pos += 1
        value, zeros, power, behind = np.int64(0), 0, 0, False
        while pos < end and (_ZERO <= data[pos] <= _NINE or (data[pos] == _POINT and not behind)):
            if data[pos] == _POINT:
                behind = True
            else:
                power -= behind
                zeros += 1
                if data[pos] != _ZERO:
                    while zeros > 0 and value <= _TENTH:
                        value *= 10
                        zeros -= 1
                    value = _MANY if zeros else value + np.int64(data[pos]) - _ZERO
                    zeros = 0
            pos += 1
        if pos < end and data[pos] | _LOWER == _E:
            exponent, pos = _exponent(data, pos + 1, end)
            power += exponent
        if pos < end:
            return i
        digits[i], powers[i] = -value if minus else value, power + zeros if value else 0
    return -1


@kernel
def _widened(values, out):
    """out[i] = the float64 nearest to the decimal of values[i], float32; or values[i] itself if that decimal has too
    many places or does not round back to it."""
    for i in range(len(values)):
        size, found = np.float64(abs(values[i])), np.float64(abs(values[i]))
        for k in range(MOST_PLACES + 1):
            decimal = np.rint(size * _POWERS[k]) / _POWERS[k]
            if size * _POWERS[k] < _UNIQUE and np.float32(decimal) == np.float32(size):
                found = decimal
                break
        out[i] = -found if values[i] < 0 else found


def widened(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """Floats of any width as float64 with the same decimals, [k]: float32 0.1 becomes float64 0.1."""
    if values.dtype.itemsize == 2:
        # float16 has few numbers: use NumPy's text of each.
        different, places = np.unique(values, return_inverse=True)
        return np.array([float(str(one)) for one in different], np.float64)[places.reshape(-1)]
    if values.dtype.itemsize != 4:
        return values.astype(np.float64)
    out = np.empty(len(values), np.float64)
    _widened(np.ascontiguousarray(values, np.float32), out)
    return out
