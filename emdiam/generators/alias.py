"""Alias tables (Walker 1977, Vose 1991): one draw from a discrete distribution in constant time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_FULL = 1 << 56


def alias_table(probabilities: npt.NDArray[np.float64]) -> npt.NDArray[np.uint64]:
    """Packed alias table for at most 256 outcomes, a power of two of them.

    probabilities : float64[k], sum 1.
    Returns uint64[k]: entry i holds a threshold (upper 56 bits) and an alias (low 8 bits). With a
    uniform uint64 number r and i = r mod k the outcome is i if (r >> 8) < threshold, else alias.
    """
    k = len(probabilities)
    share = [float(p) * k for p in probabilities]
    small = [i for i in range(k) if share[i] < 1.0]
    large = [i for i in range(k) if share[i] >= 1.0]
    table = [((_FULL - 1) << 8) | i for i in range(k)]  # full: the alias is the outcome itself
    while small and large:
        low, high = small.pop(), large[-1]
        table[low] = (min(int(share[low] * _FULL), _FULL - 1) << 8) | high
        share[high] -= 1.0 - share[low]
        if share[high] < 1.0:
            small.append(large.pop())
    return np.array(table, dtype=np.uint64)
