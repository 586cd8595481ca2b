"""Weighted graphs from other graphs: condensed by clusters (hierarchical clustering), or renumbered.

An arc (a, b, w) between different clusters becomes (owner a, owner b, distance a + w + distance b), the length of a
walk from master to master; the lightest arc of each pair remains. One pass over the arcs and one sort. Bytes: 8 a block
in flight, the collector's limit. Source: Ajwani, Beckmann, Meyer, Veith (2012), section 2, with weights (their section
5 names it as future work).

Clusters: a search computes the distances to the nearest masters. Passes then set the owner of every vertex to the
smallest owner of the tails of its tight arcs, by ascending distance in a piece, until no owner changes. In RAM one pass
suffices.

Renumbering a graph in RAM does not sort all arcs again. Whole rows move to places that follow from the degrees, and
only the heads within a row are sorted. Bytes: 8 an arc for the new graph, 16 a vertex.
"""

from __future__ import annotations

import functools
import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...jit import kernel
from ...progress import Tick, no_tick
from ..arcs import Arcs
from ..methods import narrowed
from ..rows import WeightedRows
from .collect import ArcCollector, CondensedArcs
from .packed import Packing, pack_arc

NO_OWNER = (1 << 32) - 1


def grow(arcs: Arcs, masters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Clusters around `masters` (int64[s], distinct): (owner, distance), uint32[n_vertices] each.

    owner[v] is the index in `masters` of the nearest master of v by weighted distance, the smallest one of equals;
    both are 2^32 - 1 if no master reaches v. Weights are at least 1. Raises OverflowError for a distance of 2^32 - 1
    or more, OSError for a damaged block.
    """
    distance = narrowed(arcs.nearest(masters, narrow=True)[0])
    if distance.dtype != np.uint32:
        raise OverflowError("a distance to the nearest master does not fit 32 bits")
    owner = np.full(arcs.n_vertices, NO_OWNER, np.uint32)
    owner[masters] = np.arange(len(masters))
    falls = [True, True]
    # A single piece needs no second pass, since its rows are visited by ascending distance.
    while any(falls) and len(falls) > 1:
        falls = []
        for piece in arcs.pieces():
            order = np.argsort(distance[piece.first : piece.first + len(piece.offsets) - 1])
            falls.append(lower_owners(*piece, order, distance, owner))
    return owner, distance


@kernel
def lower_owners(first, offsets, heads, costs, order, distance, owner):
    """Lower the owner of every head of a tight arc to the owner of its tail, row by row in `order` (int64[k]); return
    whether an owner fell."""
    changed = False
    for i in order:
        v = first + i
        for p in range(offsets[i], offsets[i + 1]):
            u = np.int64(heads[p])
            if owner[v] < owner[u] and np.uint64(distance[v]) + np.uint64(costs[p]) == np.uint64(distance[u]):
                owner[u] = owner[v]
                changed = True
    return changed


def largest_weights(arcs: CondensedArcs, parts: np.ndarray, n_parts: int) -> np.ndarray:
    """The largest weight in each component, int64[n_parts], 0 without arcs. parts : int64[n_vertices], component of
    each vertex. Raises OSError for a damaged block."""
    largest = np.zeros(n_parts, np.int64)
    for first, offsets, _, costs in arcs.pieces():
        raise_largest(first, offsets, costs, parts, largest)
    return largest


@kernel
def raise_largest(first, offsets, costs, parts, largest):
    """Raise largest[part] to the largest weight of the part's arcs in a piece."""
    for i in range(len(offsets) - 1):
        part = parts[first + i]
        for p in range(offsets[i], offsets[i + 1]):
            largest[part] = max(largest[part], np.int64(costs[p]))


def renumber(arcs: WeightedRows, positions: np.ndarray, threads: int = 1) -> WeightedRows:
    """The same graph with vertex v renumbered to positions[v]. positions : int64[n_vertices], a permutation."""
    starts = np.zeros(arcs.n_vertices + 1, np.int64)
    starts[positions + 1] = np.diff(arcs.offsets)
    np.cumsum(starts, out=starts)
    heads, costs = np.empty_like(arcs.heads), np.empty_like(arcs.costs)
    borders = np.searchsorted(arcs.offsets, np.linspace(0, arcs.n_arcs, 4 * threads + 1)).tolist()
    borders[0], borders[-1] = 0, arcs.n_vertices
    packing = Packing(arcs.n_vertices, int(arcs.largest_weight))
    move = functools.partial(move_rows, arcs.offsets, arcs.heads, arcs.costs, packing.weight_bits, positions, starts,
                             heads, costs)
    with ThreadPoolExecutor(threads, thread_name_prefix="renumber") as pool:
        for part in [pool.submit(move, *part) for part in itertools.pairwise(borders)]:
            part.result()
    return WeightedRows(starts, heads, costs)


@kernel
def move_rows(offsets, heads, costs, weight_bits, positions, starts, new_heads, new_costs, first, stop):
    """Write the rows [first, stop), renumbered and sorted, each from starts[positions[v]] on."""
    for v in range(first, stop):
        row = np.empty(offsets[v + 1] - offsets[v], np.uint64)
        for i in range(len(row)):
            p = offsets[v] + i
            row[i] = pack_arc(np.int64(0), positions[heads[p]], np.int64(costs[p]), np.int64(0), weight_bits)
        row.sort()
        begin = starts[positions[v]]
        for i in range(len(row)):
            new_heads[begin + i] = row[i] >> np.uint64(weight_bits)
            new_costs[begin + i] = row[i] & ((np.uint64(1) << np.uint64(weight_bits)) - np.uint64(1))


def condensed_packing(arcs: CondensedArcs, distance: np.ndarray, n_owners: int) -> Packing:
    """The packing of arcs between `n_owners` clusters. distance : uint32[n_vertices], to the masters.

    Raises InputError if they do not fit 64 bits.
    """
    farthest = int(distance.max()) if len(distance) else 0
    return Packing(n_owners, 2 * farthest + int(arcs.largest_weight))


def condense(
    arcs: CondensedArcs, owner: np.ndarray, distance: np.ndarray, collector: ArcCollector, most_ram_bytes: int,
    tick: Tick = no_tick,
) -> CondensedArcs:
    """The graph of the clusters.

    owner, distance : uint32[n_vertices], from `grow`; every vertex must have an owner.
    collector : with the packing of condensed_packing; this function finishes it, with `most_ram_bytes`.

    Raises ValueError for a vertex without an owner, BudgetError if the disk is full, OSError for a damaged block.
    """
    try:
        if len(owner) and int(owner.max()) == NO_OWNER:
            raise ValueError(f"vertex {int(owner.argmax())} has no master in its component")
        push_between(arcs, owner, distance, collector, tick)
    except BaseException:
        collector.abort()
        raise
    return collector.finish(most_ram_bytes)


def push_between(arcs: CondensedArcs, owner: np.ndarray, distance: np.ndarray, collector: ArcCollector,
                   tick: Tick = no_tick) -> None:
    """Pass the arcs between clusters to the collector. owner, distance : from `grow`."""
    owner, distance = np.ascontiguousarray(owner, np.uint32), np.ascontiguousarray(distance, np.uint32)
    packing = collector.packing
    for piece in arcs.pieces():
        packed = np.empty(len(piece.heads), np.uint64)
        count = between_clusters(*piece, packing.id_bits, packing.weight_bits, owner, distance, packed)
        if count:
            collector.push(packed[:count])
        tick()


@kernel
def between_clusters(first, offsets, heads, costs, id_bits, weight_bits, owner, distance, packed):
    """Pack the arcs of a piece between different clusters into `packed`; return their number."""
    count = 0
    for i in range(len(offsets) - 1):
        a = first + i
        for p in range(offsets[i], offsets[i + 1]):
            b = np.int64(heads[p])
            if owner[a] != owner[b]:
                weight = np.int64(distance[a]) + np.int64(costs[p]) + np.int64(distance[b])
                packed[count] = pack_arc(np.int64(owner[a]), np.int64(owner[b]), weight, id_bits, weight_bits)
                count += 1
    return count
