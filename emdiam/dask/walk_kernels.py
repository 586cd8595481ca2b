"""Kernels that walk along rows of one range, as far as blocks that are resident allow."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_start


@kernel
def follow_within(walks, pending, ids, slot_of, shift, group, row, hub, blocks, first, stop):  # type: ignore[no-untyped-def]
    """Walk every chain i with pending[i] on, as long as it stands in first..stop-1; as traverse.chains.follow.

    walks : int64[k, 4], number, vertex, vertex before (-1 at the start), length. pending : uint8[k], 0 at its end.
    blocks : int64[2k] receives the blocks that are missing. Returns how many; -1 - v for a vertex v whose neighbour is
    not a neighbour of v."""
    asked = 0
    mask = (1 << shift) - 1
    for i in range(len(walks)):
        while pending[i]:
            v = walks[i, 1]
            if v < first or v >= stop:
                break
            start = row_start(group, row, hub, v)
            degree = row_start(group, row, hub, v + 1) - start
            if walks[i, 2] >= 0 and degree != 2:
                pending[i] = 0
                break
            low = start >> shift
            high = (start + degree - 1) >> shift
            if slot_of[low] < 0 or slot_of[high] < 0:
                blocks[asked] = low
                blocks[asked + 1] = high
                asked += 2
                break
            w = np.int64(ids[(np.int64(slot_of[low]) << shift) + (start & mask)])
            if walks[i, 2] >= 0:
                other = np.int64(ids[(np.int64(slot_of[high]) << shift) + ((start + 1) & mask)])
                if w == walks[i, 2]:
                    w = other
                elif other != walks[i, 2]:
                    return -1 - walks[i, 2]
            walks[i, 2] = v
            walks[i, 1] = w
            walks[i, 3] += 1
    return asked


@kernel
def walk_within(values, ids, slot_of, shift, group, row, hub, ranks, path, state, first, stop):  # type: ignore[no-untyped-def]
    """From vertex state[0], always to the neighbour of smallest rank one nearer, while the rows hold vertices of
    first..stop-1 alone; as traverse.paths.walk_down.

    values : distances of all vertices, right in the range. ranks : of the range, or length 0 where they are the
    vertices. path : int64[k] receives the vertices walked to; state : int64[4] as of walk_down. Returns -1 when done or
    `path` is full, -2 if no neighbour is nearer, -3 at a row that holds vertices of others, or the block that is
    missing."""
    state[2] = 0
    while values[state[0]] > 0 and state[2] < len(path):
        v = state[0]
        p = state[1] if state[1] >= 0 else row_start(group, row, hub, v)
        end = row_start(group, row, hub, v + 1)
        while p < end and (state[3] < 0 or len(ranks) > 0):  # rows ascend: without ranks the first is it
            block = p >> shift
            slot = np.int64(slot_of[block])
            if slot < 0:
                state[1] = p
                return block
            w = np.int64(ids[(slot << shift) + p - (block << shift)])
            if w < first or w >= stop:
                state[1] = state[3] = -1
                return -3
            if np.int64(values[w]) + 1 == np.int64(values[v]) and (
                    state[3] < 0 or ranks[w - first] < ranks[state[3] - first]):
                state[3] = w
            p += 1
        if state[3] < 0:
            return -2
        path[state[2]] = state[3]
        state[0] = state[3]
        state[1] = state[3] = -1
        state[2] += 1
    return -1
