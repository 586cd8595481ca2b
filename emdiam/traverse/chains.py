"""Chains: from a vertex of degree 1 along vertices of degree 2 to the first of another degree.

Kernel rows: at most the two arcs of each vertex on the way; blocks are asked for as they come.
Source: F-Diam, section 4.3 and Algorithm 4.
"""

from __future__ import annotations

import numpy as np

from ..errors import StoreError
from ..jit import kernel
from ..stream.offsets import row_span
from ..stream.pager import Tick
from .core import Core


@kernel
def follow(walks, pending, paging, offsets, span, wanted):
    """Walk every chain i with pending[i] on, as long as it stands in the span and as far as resident blocks allow.

    walks : int64[k, 4], number, vertex, vertex before (-1 at the start), length. pending : uint8[k], 0 at its end.
    span : int64[2], first vertex and end. wanted : uint8[blocks], 1 for those that are missing. Returns how many walks
    wait for some; -1 - v for a vertex v whose neighbour is not a neighbour of v: without that a walk may go round for
    ever.
    """
    ids, slot_of, shift = paging
    group, row, hub = offsets
    waiting = 0
    mask = (1 << shift) - 1
    for i in range(len(walks)):
        while pending[i]:
            v = walks[i, 1]
            if v < span[0] or v >= span[1]:
                break
            start, end = row_span(group, row, hub, v)
            degree = end - start
            if walks[i, 2] >= 0 and degree != 2:
                pending[i] = 0
                break
            low = start >> shift
            high = (start + degree - 1) >> shift
            if slot_of[low] < 0 or slot_of[high] < 0:
                wanted[low] = 1
                wanted[high] = 1
                waiting += 1
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
    return waiting


def start_walks(tips: np.ndarray) -> np.ndarray:
    """Chains that stand at `tips`, vertices of degree 1, int64[k, 4] as `follow` takes them."""
    walks = np.zeros((len(tips), 4), np.int64)
    walks[:, 0], walks[:, 1], walks[:, 2] = np.arange(len(tips)), tips, -1
    return walks


def follow_within(core: Core, walks: np.ndarray, tick: Tick | None = None) -> np.ndarray:
    """Walk the chains on, in place, as long as they stand in the core's span; 1 for those that have not come to their
    end, uint8[k]. tick : called while it goes on. Raises StoreError for rows that are not symmetric."""
    pending, span = np.ones(len(walks), np.uint8), np.array(core.span)
    wanted = np.zeros(len(core.paging[1]), np.uint8)
    while True:
        waiting = follow(walks, pending, core.paging, core.offsets, span, wanted)
        if waiting < 0:
            raise one_way(-1 - waiting)
        if waiting == 0:
            return pending
        core.pager.load(np.flatnonzero(wanted), tick)
        wanted.fill(0)
        if tick is not None:
            tick()


def follow_chains(core: Core, tips: np.ndarray, tick: Tick | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Ends and lengths of the chains that start at `tips` (vertices of degree 1, int64[k]).

    Returns (end int64[k], length int64[k] in edges, at least 1). Raises StoreError for rows that are not symmetric.
    """
    walks = start_walks(tips)
    follow_within(core, walks, tick)
    return walks[:, 1].copy(), walks[:, 3].copy()


def one_way(vertex: int) -> StoreError:
    """The error of an edge of this vertex that its other end does not have."""
    return StoreError(f"an edge of vertex {vertex} is stored in one direction only",
                      remedy="the store is damaged: convert the graph again")
