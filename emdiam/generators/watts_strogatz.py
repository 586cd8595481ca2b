"""Watts-Strogatz small world: a ring, each vertex joined to k / 2 on either side, rewired; a slot is an edge.

Each ring edge (v, v + j) is rewired with probability p, independently: v keeps it and the other
end becomes uniform among the other n - 1 vertices. Unlike the original procedure a new edge is
not drawn again when it already exists: about p k / n of the edges come twice and are dropped
(and counted) by the conversion. No memory beyond the batch.
Watts, Strogatz 1998. Diameter: ceil(floor(n / 2) / (k / 2)) when p = 0, else no formula.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..errors import InputError
from ..hashing import below, draw
from ..jit import kernel
from .source import EdgeSlots, Request, required_vertices

_S11 = np.uint64(11)


@kernel
def _ring_edges(ring, coin_key, end_key, first, src, dst):
    """Edges number first..; ring = (n, k / 2, rewiring threshold out of 2^53)."""
    n, half, threshold = ring
    v, j = first // half, first % half + 1
    for i in range(len(src)):
        slot = np.uint64(first + i)
        if (draw(coin_key, slot) >> _S11) < threshold:
            end = np.int64(below(draw(end_key, slot), np.uint64(n - 1)))
            if end >= v:
                end += 1
        else:
            end = v + j
            if end >= n:
                end -= n
        src[i], dst[i] = v, end
        j += 1
        if j > half:
            v, j = v + 1, 1


def watts_strogatz(request: Request) -> EdgeSlots:
    """The small world with even k < n and rewiring probability p."""
    k, p = request.values["k"], request.values["p"]
    n = required_vertices(request, 3)
    if k % 2 or k >= n:
        raise InputError("k must be even and less than the number of vertices", text=str(k),
                         remedy=f"choose an even k from 2 to {(n - 1) // 2 * 2}")
    ring = n, k // 2, np.uint64(round(p * 2**53))
    return EdgeSlots(request, n, n * (k // 2),
                     partial(_ring_edges, ring, request.key("coin"), request.key("end")),
                     known_diameter=-(-(n // 2) // (k // 2)) if p == 0.0 else None, values={"k": k, "p": p})
