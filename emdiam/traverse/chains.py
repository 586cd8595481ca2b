"""Chains: from a vertex of degree 1 along vertices of degree 2 to the first of another degree.

Kernel rows: at most the two arcs of each vertex on the way; blocks are asked for as they come.
Source: F-Diam, section 4.3 and Algorithm 4.
"""

from __future__ import annotations

import numpy as np

from ..errors import StoreError
from ..jit import kernel
from ..stream.offsets import row_start
from .core import Core


@kernel
def follow(here, previous, length, pending, ids, slot_of, shift, group, row, hub, blocks):  # type: ignore[no-untyped-def]
    """Walk every chain i with pending[i] on, as far as resident blocks allow.

    here, previous, length : int64[k], state of the walks (previous -1 at the start); pending :
    uint8[k]. blocks : int64[2k] receives the blocks that are missing. Returns how many; -1 - v for a vertex v whose
    neighbour is not a neighbour of v: without that a walk may go round for ever.
    """
    asked = 0
    mask = (1 << shift) - 1
    for i in range(len(here)):
        while pending[i]:
            v = here[i]
            start = row_start(group, row, hub, v)
            degree = row_start(group, row, hub, v + 1) - start
            if previous[i] >= 0 and degree != 2:
                pending[i] = 0
                break
            first = start >> shift
            last = (start + degree - 1) >> shift
            if slot_of[first] < 0 or slot_of[last] < 0:
                blocks[asked] = first
                blocks[asked + 1] = last
                asked += 2
                break
            w = np.int64(ids[(np.int64(slot_of[first]) << shift) + (start & mask)])
            if previous[i] >= 0:
                other = np.int64(ids[(np.int64(slot_of[last]) << shift) + ((start + 1) & mask)])
                if w == previous[i]:
                    w = other
                elif other != previous[i]:
                    return -1 - previous[i]
            previous[i] = v
            here[i] = w
            length[i] += 1
    return asked


def follow_chains(core: Core, tips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends and lengths of the chains that start at `tips` (vertices of degree 1, int64[k]).

    Returns (end int64[k], length int64[k] in edges, at least 1). Raises StoreError for rows that are not symmetric.
    """
    here = tips.astype(np.int64)
    previous = np.full(len(here), -1, np.int64)
    length = np.zeros(len(here), np.int64)
    pending = np.ones(len(here), np.uint8)
    blocks = np.empty(2 * len(here), np.int64)
    ids, slot_of, shift = core.paging
    while True:
        asked = follow(here, previous, length, pending, ids, slot_of, shift, *core.offsets, blocks)
        if asked < 0:
            raise one_way(-1 - asked)
        if asked == 0:
            return here, length
        core.pager.load(np.unique(blocks[:asked]))


def one_way(vertex: int) -> StoreError:
    """The error of an edge of this vertex that its other end does not have."""
    return StoreError(f"an edge of vertex {vertex} is stored in one direction only",
                      remedy="the store is damaged: convert the graph again")
