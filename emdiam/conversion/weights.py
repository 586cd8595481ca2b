"""Weights on their way through the sort: numbers in the order of the weights, and what they become in the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..formats.weights import LARGEST_WHOLE, LEAST_WHOLE, WHOLE
from ..sorting.entries import Keys
from ..store.weights import whole_dtype

_TOP = np.uint64(1 << 63)
_BLOCK = 1 << 15


def numbers_of(weights: npt.NDArray[np.float64]) -> Keys:
    """Numbers that are in order as the weights are, uint64[k]. weights : finite; -0.0 is 0.0."""
    bits = (weights + 0.0).view(np.uint64)
    return np.where(bits & _TOP, ~bits, bits | _TOP)


def weights_of(numbers: Keys, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """What `numbers_of` was given, in a dtype that holds it."""
    out = np.empty(len(numbers), dtype)
    for start in range(0, len(numbers), _BLOCK):
        part = numbers[start : start + _BLOCK]
        out[start : start + _BLOCK] = np.where(part & _TOP, part ^ _TOP, ~part).view(np.float64)
    return out


@dataclass
class WeightEnds:
    """The least and the largest weight of all pairs that are no loops, as numbers; None without one."""

    least: int | None = None
    largest: int | None = None

    def add(self, numbers: Keys) -> None:
        """Take numbers of weights into account."""
        if len(numbers):
            least, largest = int(numbers.min()), int(numbers.max())
            self.least = least if self.least is None else min(self.least, least)
            self.largest = largest if self.largest is None else max(self.largest, largest)

    def dtype(self, kind: str, name: str) -> np.dtype[Any]:
        """dtype of the weights in the store. kind : of them (formats.weights.KINDS). name : of the source. Raises
        InputError for whole weights that have none together."""
        if kind != WHOLE:
            return np.dtype(kind)
        ends = np.array([numbers_of(np.zeros(1))[0] if end is None else end for end in (self.least, self.largest)],
                        np.uint64)
        least, largest = map(int, weights_of(ends, np.dtype(np.float64)).tolist())
        dtype = whole_dtype(least, largest)
        if dtype is None:
            raise InputError(
                f"whole weights from {least} to {largest} fit no dtype", path=name,
                remedy=f"keep them from 0 to {LARGEST_WHOLE}, or from {LEAST_WHOLE} to {-LEAST_WHOLE - 1}, or give them"
                " as floats")
        return dtype
