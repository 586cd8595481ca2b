"""Erdos-Renyi G(n, m): exactly m distinct edges, no loops; a slot is an edge.

Edge i is the pair number pi(i) of the n (n - 1) / 2 pairs, where pi is a keyed pseudorandom permutation: no pair comes
twice, and nothing need be remembered. No memory beyond the batch. Erdos, Renyi 1959. Diameter: no formula.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ..errors import InputError
from ..jit import kernel
from .permutation import permutation_bits, permute, round_keys
from .source import MAX_SLOTS, EdgeSlots, Request, required_vertices

DEFAULT_AVERAGE_DEGREE = 8.0
_ONE = np.uint64(1)


@kernel
def _pair_edges(keys, bits, n_pairs, first, src, dst):
    """Pairs number permute(first), permute(first + 1), ...: pair v (v - 1) / 2 + u is (u, v), u < v."""
    for i in range(len(src)):
        pair = permute(keys, bits, n_pairs, np.uint64(first + i))
        v = np.uint64((1.0 + math.sqrt(1.0 + 8.0 * np.float64(pair))) * 0.5)
        while v * (v - _ONE) // np.uint64(2) > pair:  # the root is off by one at most: float64
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
