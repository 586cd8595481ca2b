"""Barabasi-Albert preferential attachment by retracing; a slot is an edge.

The graph starts as a star of m + 1 vertices with centre 0. Every further vertex brings m edges; each goes to an end
chosen uniformly among all ends of the edges of earlier vertices, i.e. to a vertex with probability proportional to its
degree then. An end's vertex is found by retracing (Sanders, Schulz 2016): the draw of an edge is a hash of its number,
so a drawn end that is itself the target of an earlier edge is looked up by repeating that edge's draw; two steps on
average. A vertex's m draws are independent: two may agree, and the conversion drops (and counts) the second; the share
of such pairs vanishes as the graph grows. Nothing is stored: no memory beyond the batch. Barabasi, Albert 1999.
Diameter: no formula.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..hashing import below, draw
from ..jit import kernel
from .source import EdgeSlots, Request, required_vertices


@kernel
def _attachments(key, m, first, src, dst):
    """Edges number first..: edge e < m is (0, e + 1), edge e >= m belongs to vertex m + e // m.

    End 2e is the source and end 2e + 1 the target of edge e. Edge e draws among the ends
    0 .. 2 m (v - m) - 1, those of the edges before its vertex v.
    """
    for i in range(len(src)):
        e = first + i
        src[i] = m + e // m if e >= m else 0
        end = 2 * e + 1
        while True:
            edge = end >> 1
            if edge < m:
                dst[i] = edge + 1 if end & 1 else 0
                break
            if end & 1 == 0:
                dst[i] = m + edge // m
                break
            end = np.int64(below(draw(key, np.uint64(edge)), np.uint64(2 * m * (edge // m))))


def barabasi_albert(request: Request) -> EdgeSlots:
    """Preferential attachment on n > m vertices, each of which brings m edges."""
    m = request.values["m"]
    n = required_vertices(request, m + 1)
    return EdgeSlots(request, n, m * (n - m), partial(_attachments, request.key("ends"), m), values={"m": m})
