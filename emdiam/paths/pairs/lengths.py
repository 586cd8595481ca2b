"""What numbers a matrix of distances is made of: wide enough for every sum, and no wider.

Integers have 32 bits where that does, else 64; a path takes an arc out of each vertex at most, so no finite distance is
longer than the sum of the longest arcs out of all vertices. Where weights are negative, what stands for no path falls
by as much at most; so it is more than twice that, and half of what the integers hold, so that no sum overflows.
Floats have 64 bits, and infinity for no path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Lengths:
    """dtype : of the matrix while it is worked on. infinity : stands for no path then. bound : no finite distance is
    longer, nor shorter than -bound. decimals : k, of distances that are whole numbers of 10^-k; they are given out as
    the float64 next to them, in the same memory. given : dtype of what is given out. unreachable : stands for no path
    in it."""

    dtype: np.dtype[Any]
    infinity: int | float
    bound: int | float
    decimals: int = 0

    @property
    def given(self) -> np.dtype[Any]:
        """See above."""
        return np.dtype(np.float64) if self.decimals else self.dtype

    @property
    def unreachable(self) -> int | float:
        """The largest value of the dtype, or infinity."""
        return np.inf if self.given.kind == "f" else int(np.iinfo(self.dtype).max)


def lengths_for(bound: int | float, *, floats: bool, negative: bool, decimals: int = 0) -> Lengths:
    """The numbers for distances of at most `bound`, of weights that are floats, or may be negative, or whole numbers of
    10^-decimals. Raises OverflowError where a distance may not fit 64 bits."""
    if floats:
        if not bound < np.finfo(np.float64).max:
            raise OverflowError("the weights are so large that a distance may not fit 64 bits")
        # A sum of 2^32 of them that is rounded each time is longer by 2^-21 of it at most.
        return Lengths(np.dtype(np.float64), np.inf, float(bound) * (1 + 2.0**-20))
    for dtype in (np.int64,) if decimals else (np.int32, np.int64):
        infinity = (int(np.iinfo(dtype).max) - 1) // 2
        if (4 * bound if negative else bound) < infinity:
            return Lengths(np.dtype(dtype), infinity, int(bound), decimals)
    raise OverflowError(f"distances up to {bound} may not fit 64 bits")
