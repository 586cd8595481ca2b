"""The factors of a random regular graph, computed from permutations without storing an edge.

Slots: factor j < n_cycles is a Hamilton cycle with the slots j n + i, edge (pi_j(i), pi_j(i + 1 mod
n)); a last factor of odd degree is a matching with the slots n_cycles n + i, edge (pi(2i), pi(2i + 1)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..jit import kernel
from .permutation import permute, unpermute

_ONE = np.uint64(1)


class Factors(NamedTuple):
    """keys : uint64[factors, rounds]; bits, n : the permutations' domain; n_cycles : cycle factors."""

    keys: npt.NDArray[np.uint64]
    bits: int
    n: int
    n_cycles: int


@kernel
def factor_edges(keys, bits, n, n_cycles, first, pair):
    """Fill pair = (src, dst), int64, with the edges of the slots first, first + 1, ..."""
    src, dst = pair
    bound = np.uint64(n)
    last = np.uint64(0)
    for k in range(len(src)):
        j = min((first + k) // n, n_cycles)
        i = first + k - j * n
        if j < n_cycles:
            head = last if k > 0 and i > 0 else permute(keys[j], bits, bound, np.uint64(i))
            i = i + 1 if i + 1 < n else 0
        else:
            head = permute(keys[j], bits, bound, np.uint64(2 * i))
            i = 2 * i + 1
        last = permute(keys[j], bits, bound, np.uint64(i))
        src[k], dst[k] = np.int64(head), np.int64(last)


@kernel
def slot_of(keys, bits, n, n_cycles, j, u, v):
    """Slot of the edge {u, v} in factor j, or -1 if it is not there."""
    a = np.int64(unpermute(keys[j], bits, np.uint64(n), np.uint64(u)))
    b = np.int64(unpermute(keys[j], bits, np.uint64(n), np.uint64(v)))
    a, b = min(a, b), max(a, b)
    if j == n_cycles:
        return j * n + a // 2 if a // 2 == b // 2 else -1
    if b - a == 1:
        return j * n + a
    return j * n + b if b - a == n - 1 else -1


@kernel
def repeated_slots(keys, bits, n, n_cycles, first, stop):
    """int64: slots in [first, stop) whose edge is already in an earlier factor."""
    src, dst = np.empty(stop - first, np.int64), np.empty(stop - first, np.int64)
    factor_edges(keys, bits, n, n_cycles, first, (src, dst))
    found = np.empty(stop - first, np.int64)
    count = 0
    for k in range(stop - first):
        for j in range(min((first + k) // n, n_cycles)):
            if slot_of(keys, bits, n, n_cycles, j, src[k], dst[k]) >= 0:
                found[count] = first + k
                count += 1
                break
    return found[:count].copy()
