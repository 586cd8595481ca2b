"""The frontier profile of a BFS: vertices a level, thinned to at most 1,024 figures.

A path has as many levels as vertices, so the profile has bins of 1, 2, 4, ... levels: when a level
lies beyond the last bin, bins are folded in pairs. It lives in the last entries of a traversal's
state (sparse.py), since the kernels that run many levels a call count them there.
Work: an addition a level. Bytes: 8 KiB.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel

BINS = 1 << 10


@kernel
def count_level(state, first, level, vertices):
    """Add the vertices of a level. state : int64[first + 1 + BINS], the logarithm of the levels in
    a bin at `first`, the bins behind it."""
    while (level >> state[first]) >= BINS:
        for i in range(BINS // 2):
            state[first + 1 + i] = state[first + 1 + 2 * i] + state[first + 2 + 2 * i]
        state[first + 1 + BINS // 2 : first + 1 + BINS] = 0
        state[first] += 1
    state[first + 1 + (level >> state[first])] += vertices


@kernel
def count_labels(labels, unreached, longest, state, first):
    """The profile of finished distances (unsigned[n]) up to `longest`, in place of what was there."""
    state[first : first + 1 + BINS] = 0
    while (longest >> state[first]) >= BINS:
        state[first] += 1
    for v in range(len(labels)):
        if labels[v] != unreached:
            state[first + 1 + (np.int64(labels[v]) >> state[first])] += 1


def thinned(state: np.ndarray, first: int, levels: int) -> list[list[int]]:
    """[[first level, vertices], ...] of the bins up to the level `levels`."""
    shift = int(state[first])
    used = state[first + 1 : first + 2 + (levels >> shift)]
    return [[i << shift, count] for i, count in enumerate(used.tolist())]
