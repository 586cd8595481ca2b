"""Kernels for many decimals (decimals.py): the places that floats have, and the whole numbers that they are."""

from __future__ import annotations

from math import floor, frexp, ldexp
from typing import Any

import numpy as np
import numpy.typing as npt

from .decimals import MOST_PLACES
from .jit import inlined, kernel

_POWERS = np.array([10**k for k in range(MOST_PLACES + 1)], np.int64)
# Below this a decimal of float64 is the only one with its places; from the second on, floats are no decimals here.
_UNIQUE, _LARGEST, _MOST = 1e15, 2.0**53, 2.0**62


@inlined
def _with_places(size, k):  # type: ignore[no-untyped-def]
    """(whether it is the decimal of `size` with k places, the whole number of 10^-k that it is then). size : 0 or
    more."""
    power = _POWERS[k]
    near = size * power
    if near < _UNIQUE:
        whole = np.rint(near)
        return whole / power == size, np.int64(whole)
    if near >= _MOST or size >= _LARGEST:
        return False, np.int64(0)
    units = floor(size)
    bits = 53 - frexp(size)[1]  # behind the point, at most 33
    fraction = np.int64(ldexp(size - units, bits))
    more = fraction * power
    rest = (more + ((np.int64(1) << bits) >> 1)) >> bits
    if bits and rest & 1 and (rest << bits) - more == np.int64(1) << (bits - 1):
        rest -= 1  # of two that are as near the even one
    # Nearer than half the distance to the next float.
    return 2 * abs((rest << bits) - more) < power, np.int64(units) * power + rest


@inlined
def _places(size):  # type: ignore[no-untyped-def]
    """The places of the decimal of `size`, 0 or more; -1 where they are more than MOST_PLACES."""
    for k in range(MOST_PLACES + 1):
        if _with_places(size, k)[0]:
            return k
    return -1


@kernel
def most_places(values, places):  # type: ignore[no-untyped-def]
    """The most places of the decimals of these finite floats, float64[k], and `places`; -1 where one has too many."""
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
def whole_numbers(values, places, out):  # type: ignore[no-untyped-def]
    """out[i] = the decimal of values[i], float64, in 10^-places: these are at least its places, and it fits."""
    for i in range(len(values)):
        size = abs(values[i])
        own = places if size * _POWERS[places] < _UNIQUE else _places(size)
        whole = _with_places(size, own)[1] * _POWERS[places - own]
        out[i] = -whole if values[i] < 0 else whole


@kernel
def _widened(values, out):  # type: ignore[no-untyped-def]
    """out[i] = the float64 next to the decimal of values[i], float32; itself where that has too many places, or is not
    turned back into it."""
    for i in range(len(values)):
        size, found = np.float64(abs(values[i])), np.float64(abs(values[i]))
        for k in range(MOST_PLACES + 1):
            decimal = np.rint(size * _POWERS[k]) / _POWERS[k]
            if size * _POWERS[k] < _UNIQUE and np.float32(decimal) == np.float32(size):
                found = decimal
                break
        out[i] = -found if values[i] < 0 else found


def widened(values: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """Floats of any width as float64 with the same decimals, [k]: 0.1 of float32 is 0.1 of float64."""
    if values.dtype.itemsize == 2:
        # Of the few numbers that float16 has, as NumPy prints them.
        different, places = np.unique(values, return_inverse=True)
        return np.array([float(str(one)) for one in different], np.float64)[places.reshape(-1)]
    if values.dtype.itemsize != 4:
        return values.astype(np.float64)
    out = np.empty(len(values), np.float64)
    _widened(np.ascontiguousarray(values, np.float32), out)
    return out
