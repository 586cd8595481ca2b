"""Relaxing rows of a block of packed arcs (paths/condensed/packed.py)."""

from __future__ import annotations

import numpy as np

from ..jit import inlined
from ..traverse.search import lower_bound
from .waiting import ONE, wait


@inlined
def first_arc(words, slot, position, count, least):
    """The first of words[slot, position:count] that is not below `least`, found in steps that double."""
    step = 1
    while position + step <= count and words[slot, position + step - 1] < least:
        position += step
        step *= 2
    return lower_bound(words[slot], least, position, min(count, position + step - 1))


@inlined
def relax_packed(words, slot, block, position, v, label, shape, labels, waits, limits,
                 state):
    """Relax the arcs of v in a block of packed arcs, from `position` on; returns where they end."""
    count = min(shape[0], shape[1] - block * shape[0])
    id_bits = np.uint64(shape[2])
    weight_bits = np.uint64(shape[3])
    owner_bits = np.uint64(shape[4])
    row_bits = id_bits + weight_bits
    position = first_arc(words, slot, position, count, np.uint64(v) << row_bits)
    start = position
    room = limits[1] - (label >> owner_bits)
    while position < count and words[slot, position] >> row_bits == np.uint64(v):
        arc = words[slot, position]
        position += 1
        weight = arc & ((ONE << weight_bits) - ONE)
        if weight > room:
            state[2] = 1
            continue
        u = np.int64((arc >> weight_bits) & ((ONE << id_bits) - ONE))
        new = label + (weight << owner_bits)
        if new < np.uint64(labels[u]):
            labels[u] = new
            wait(u, new, waits, limits[2])
    state[0] += position - start
    return position
