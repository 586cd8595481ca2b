"""Random graphs by three models. Erdos-Renyi G(n, m): exactly m distinct edges, no loops; a slot is an edge.

Edge i is the pair number pi(i) of the n (n - 1) / 2 pairs, where pi is a keyed pseudorandom permutation. So no pair
occurs twice, and no state is stored. No memory beyond the batch. Erdos, Renyi 1959. Diameter: no formula.

Watts-Strogatz small world: a rewired ring in which each vertex is joined to k / 2 on either side; a slot is an edge.

Each ring edge (v, v + j) is rewired with probability p, independently: v keeps it and the other end becomes uniform
among the other n - 1 vertices. Unlike in the original procedure, an edge that already exists is not drawn again: about
p k / n of the edges occur twice, and the conversion drops (and counts) them. No memory beyond the batch. Watts,
Strogatz 1998. Diameter: ceil(floor(n / 2) / (k / 2)) if p = 0, else no formula.

Barabasi-Albert preferential attachment by retracing; a slot is an edge.

The graph starts as a star of m + 1 vertices with centre 0. Every further vertex has m new edges. Each goes to an end
chosen uniformly among all ends of the edges of earlier vertices, i.e. to a vertex with probability proportional to its
degree at that time. The vertex of an end is found by retracing (Sanders, Schulz 2016): the draw of an edge is a hash of
its number, so the target of an earlier edge is found by repeating that edge's draw, in two steps on average. A vertex's
m draws are independent. Two may be equal, and the conversion drops (and counts) the second; the share of these pairs
vanishes as the graph grows. No memory beyond the batch. Barabasi, Albert 1999. Diameter: no formula.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ..errors import InputError
from ..hashing import below, draw
from ..jit import kernel
from .permutation import permutation_bits, permute, round_keys
from .source import MAX_SLOTS, EdgeSlots, Request, required_vertices

DEFAULT_AVERAGE_DEGREE = 8.0
_ONE = np.uint64(1)


@kernel
def _pair_edges(keys, bits, n_pairs, first, src, dst):
    """Write the pairs number permute(first), permute(first + 1), ...: pair v (v - 1) / 2 + u is (u, v), u < v."""
    for i in range(len(src)):
        pair = permute(keys, bits, n_pairs, np.uint64(first + i))
        v = np.uint64((1.0 + math.sqrt(1.0 + 8.0 * np.float64(pair))) * 0.5)
        while v * (v - _ONE) // np.uint64(2) > pair:  # the float64 root is off by at most one
            v -= _ONE
        while v * (v + _ONE) // np.uint64(2) <= pair:
            v += _ONE
        src[i], dst[i] = np.int64(pair - v * (v - _ONE) // np.uint64(2)), np.int64(v)


def _edge_count(request: Request, n: int, pairs: int) -> int:
    edges, average = request.values["edges"], request.values["average_degree"]
    if edges is not None and average is not None:
        raise InputError("both edges and average_degree are given", remedy="leave out one of the two")
    if edges is None:
        edges = round(n * (DEFAULT_AVERAGE_DEGREE if average is None else average) / 2)
    if edges > pairs:
        raise InputError(f"{n:,} vertices have only {pairs:,} pairs", text=str(edges),
                         remedy="ask for fewer edges, a lower average_degree or more vertices")
    return int(edges)


def erdos_renyi(request: Request) -> EdgeSlots:
    """G(n, m) with m = edges, or average_degree * n / 2."""
    n = required_vertices(request)
    pairs = n * (n - 1) // 2
    if pairs > MAX_SLOTS:
        raise InputError("an erdos-renyi graph has at most 3037000500 vertices", text=str(n),
                         remedy="ask for fewer, or use regular or watts-strogatz with p=1")
    m, bits = _edge_count(request, n, pairs), permutation_bits(max(1, pairs))
    fill = partial(_pair_edges, round_keys(request, "pairs", bits), bits, np.uint64(pairs))
    return EdgeSlots(request, n, m, fill, values={"edges": m})


_S11 = np.uint64(11)


@kernel
def _ring_edges(ring, coin_key, end_key, first, src, dst):
    """Write the edges number first..; ring = (n, k / 2, rewiring threshold out of 2^53)."""
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


@kernel
def _attachments(key, m, first, src, dst):
    """Write the edges number first..: edge e < m is (0, e + 1), edge e >= m belongs to vertex m + e // m.

    End 2e is the source and end 2e + 1 the target of edge e. Edge e draws among the ends 0 .. 2 m (v - m) - 1 of the
    edges before its vertex v.
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
    """Preferential attachment on n > m vertices, each with m new edges."""
    m = request.values["m"]
    n = required_vertices(request, m + 1)
    return EdgeSlots(request, n, m * (n - m), partial(_attachments, request.key("ends"), m), values={"m": m})
