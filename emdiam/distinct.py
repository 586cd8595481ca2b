"""Distinct numbers. np.unique(x) is as fast, but its first call imports numpy.ma, which takes 8 ms of a command."""

from __future__ import annotations

import numpy as np


def distinct(values: np.ndarray) -> np.ndarray:
    """The distinct values, ascending. values : integers or bools, of any shape."""
    ascending = np.sort(values, axis=None)
    first = np.ones(len(ascending), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    found: np.ndarray = ascending[first]
    return found
