"""Arrays as long as the graph of which a worker touches its own range: addresses, not memory.

A worker indexes by the numbers of the whole graph, so that kernels are the same as on one machine. Pages of an
anonymous mapping take no memory until they are written to, so an array of n entries takes what the worker's range
needs of it, rounded to pages.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

_NORESERVE = 0x4000  # of Linux, where the module does not name it before Python 3.13
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE


def virtual_zeros(length: int, dtype: DTypeLike) -> np.ndarray[Any, Any]:
    """Zeros, dtype[length], that take no memory where nothing is written."""
    kind = np.dtype(dtype)
    if length == 0:
        return np.zeros(0, kind)
    return np.frombuffer(mmap.mmap(-1, length * kind.itemsize, flags=_FLAGS), kind)


def virtual_column(length: int, dtype: DTypeLike, first: int, stop: int, value: int) -> np.ndarray[Any, Any]:
    """virtual_zeros with `value` in first..stop-1."""
    values = virtual_zeros(length, dtype)
    values[first:stop] = value
    return values
