"""Weights on their way through the sort: numbers in the order of the weights, and what they become in the store.

How many places decimals have is known at the end alone, so they are sorted as floats, and are made whole numbers when
arcs are written; or, where floats do not keep their digits (formats/digits.py), they are whole numbers from the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..decimals import MOST_PLACES, in_units
from ..errors import InputError
from ..formats.source import SourceInfo
from ..formats.weights import FLOAT32, LARGEST_WHOLE, LEAST_WHOLE, WHOLE
from ..sorting.entries import Keys
from ..store.weights import MOST_WIDE, WIDE, WeightForm, whole_dtype

_TOP = np.uint64(1 << 63)
_BLOCK = 1 << 15
_NONE = -1


def numbers_of(weights: npt.NDArray[Any]) -> Keys:
    """Numbers that are in order as the weights are, uint64[k]. weights : int64, or finite float64; -0.0 is 0.0."""
    if weights.dtype.kind == "i":
        return np.ascontiguousarray(weights).view(np.uint64) ^ _TOP
    bits = (weights + 0.0).view(np.uint64)
    return np.where(bits & _TOP, ~bits, bits | _TOP)


def weights_of(numbers: Keys, form: WeightForm) -> npt.NDArray[np.number]:
    """What `numbers_of` was given, in a form that holds it."""
    if form.counted:
        return (numbers ^ _TOP).view(np.int64).astype(form.dtype)
    from ..decimal_kernels import whole_numbers  # which brings numba

    out = np.empty(len(numbers), form.dtype)
    for start in range(0, len(numbers), _BLOCK):
        floats, part = _floats(numbers[start : start + _BLOCK]), out[start : start + _BLOCK]
        if form.decimals or form.dtype == WIDE:
            whole_numbers(floats, form.decimals, part)
        else:
            part[:] = floats
    return out


def _floats(numbers: Keys) -> npt.NDArray[np.float64]:
    """What `numbers_of` was given."""
    return np.where(numbers & _TOP, numbers ^ _TOP, ~numbers).view(np.float64)


@dataclass
class WeightEnds:
    """The least and the largest weight of all pairs that are no loops, as numbers; None without one. places : the most
    that one has as a decimal; -1 where one has more than MOST_PLACES. counted : whether weights are whole numbers of
    10^-places; else they are floats."""

    least: int | None = None
    largest: int | None = None
    places: int = 0
    counted: bool = False

    def add(self, numbers: Keys) -> None:
        """Take numbers of weights into account."""
        if not len(numbers):
            return
        least, largest = int(numbers.min()), int(numbers.max())
        self.least = least if self.least is None else min(self.least, least)
        self.largest = largest if self.largest is None else max(self.largest, largest)
        if self.places != _NONE and not self.counted:
            from ..decimal_kernels import most_places

            self.places = int(most_places(_floats(numbers), self.places))

    def form(self, info: SourceInfo, n_vertices: int, name: str) -> WeightForm | None:
        """Form of the weights in a store of so many vertices: whole numbers of 10^-k, of up to 64 bits where all sums
        of them fit these; else floats. None for whole numbers of 10^-k that do not fit. info : with their kind. name :
        of the source. Raises InputError for whole weights that have no dtype together."""
        called = info.weight_name.encode("utf-8", "backslashreplace").decode()
        if info.weights == WHOLE or 0 <= self.places <= MOST_PLACES:
            places = 0 if info.weights == WHOLE else self.places
            least, largest = self._ends(places)
            dtype = whole_dtype(least, largest)
            if dtype is None and max(-least, largest) * n_vertices < MOST_WIDE and info.weights != WHOLE:
                dtype = WIDE
            if dtype is not None:
                return WeightForm(dtype, places, called, self.counted)
            if self.counted:
                return None
            if info.weights == WHOLE:
                raise InputError(
                    f"whole weights from {least} to {largest} fit no dtype", path=name,
                    remedy=f"keep them from 0 to {LARGEST_WHOLE}, or from {LEAST_WHOLE} to {-LEAST_WHOLE - 1}, or give"
                    " them as floats")
        return WeightForm(np.dtype(np.float32 if info.weights == FLOAT32 else np.float64), 0, called)

    def _ends(self, places: int) -> tuple[int, int]:
        """The least and the largest weight as whole numbers of 10^-places; 0 without one."""
        if self.least is None or self.largest is None:
            return 0, 0
        if self.counted:
            return self.least - int(_TOP), self.largest - int(_TOP)
        ends = _floats(np.array([self.least, self.largest], np.uint64)).tolist()
        return in_units(ends[0], places) or 0, in_units(ends[1], places) or 0
