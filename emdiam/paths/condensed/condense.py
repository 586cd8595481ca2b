"""Weighted graphs made of others: condensed by clusters (hierarchical clustering), or with other numbers.

An arc (a, b, w) between different clusters becomes (owner a, owner b, distance a + w + distance b),
the length of a walk from master to master; the lightest of each pair stays. One pass over the arcs
and one sort. Bytes: 8 a block in flight, the collector's budget. Source: Ajwani, Beckmann, Meyer,
Veith (2012), section 2, with weights (their section 5 names it as future work).

A graph in RAM gets other numbers for its vertices without sorting all arcs again. Rows move whole: where each begins
follows from the degrees, and only the heads within a row have to be sorted. Bytes: 8 an arc for the new graph, 16 a
vertex.
"""

from __future__ import annotations

import functools
import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...jit import kernel
from ..labels import Tick
from .collect import ArcCollector
from .labels import NO_OWNER
from .packed import Packing, RamArcs, WeightedArcs, each_block, head_of, pack_arc, tail_of, weight_of


def renumber(arcs: RamArcs, positions: np.ndarray, threads: int = 1) -> RamArcs:
    """The same graph with positions[v] in place of v. positions : int64[n_vertices], a permutation."""
    starts = np.zeros(arcs.n_vertices + 1, np.int64)
    starts[positions + 1] = np.diff(arcs.offsets)
    np.cumsum(starts, out=starts)
    keys = np.empty(arcs.n_arcs, np.uint64)
    borders = np.searchsorted(arcs.offsets, np.linspace(0, arcs.n_arcs, 4 * threads + 1)).tolist()
    borders[0], borders[-1] = 0, arcs.n_vertices
    move = functools.partial(move_rows, arcs.keys, arcs.offsets, arcs.packing.id_bits, arcs.packing.weight_bits,
                             positions, starts, keys)
    with ThreadPoolExecutor(threads, thread_name_prefix="renumber") as pool:
        parts = [pool.submit(move, *part) for part in itertools.pairwise(borders)]
        for part in parts:
            part.result()
    return RamArcs(keys, arcs.packing, arcs.block_arcs)


@kernel
def move_rows(
    keys, offsets, id_bits, weight_bits, positions, starts, moved, first, stop
):
    """Write the rows [first, stop), renumbered and sorted, each to moved[starts[positions[v]] :]."""
    for v in range(first, stop):
        at = starts[positions[v]]
        begin = at
        for p in range(offsets[v], offsets[v + 1]):
            head = positions[head_of(keys[p], id_bits, weight_bits)]
            moved[at] = pack_arc(positions[v], head, weight_of(keys[p], weight_bits), id_bits, weight_bits)
            at += 1
        moved[begin:at].sort()


def condensed_packing(arcs: WeightedArcs, distance: np.ndarray, n_owners: int) -> Packing:
    """How arcs between `n_owners` clusters are packed. distance : uint32[n_vertices], to the masters.

    Raises InputError if they do not fit 64 bits.
    """
    farthest = int(distance.max()) if len(distance) else 0
    return Packing(n_owners, 2 * farthest + arcs.packing.largest_weight)


def condense(
    arcs: WeightedArcs, owner: np.ndarray, distance: np.ndarray, collector: ArcCollector, most_ram_bytes: int,
    tick: Tick | None = None,
) -> WeightedArcs:
    """The graph of the clusters.

    owner, distance : uint32[n_vertices], as of ShortestPaths.grow; every vertex must have an owner.
    collector : with the packing of condensed_packing; it is finished here, with `most_ram_bytes`.

    Raises ValueError for a vertex without an owner, BudgetError where the disk is full, OSError for a damaged block.
    """
    try:
        if len(owner) and int(owner.max()) == NO_OWNER:
            raise ValueError(f"vertex {int(owner.argmax())} has no master in its component")
        owner, distance = np.ascontiguousarray(owner, np.uint32), np.ascontiguousarray(distance, np.uint32)
        packing = collector.packing
        bits = np.array([arcs.packing.id_bits, arcs.packing.weight_bits, packing.id_bits, packing.weight_bits])
        packed = np.empty(arcs.block_arcs, np.uint64)
        for block in each_block(arcs):
            count = between_clusters(block, bits, owner, distance, packed)
            if count:
                collector.push(packed[:count])
            if tick is not None:
                tick()
    except BaseException:
        collector.abort()
        raise
    return collector.finish(most_ram_bytes)


@kernel
def between_clusters(block, bits, owner, distance, packed):
    """Pack the arcs of `block` that leave a cluster into `packed`; returns how many.

    bits : int64[4], of an id and a weight, before and after."""
    count = 0
    for arc in block:
        a = tail_of(arc, bits[0], bits[1])
        b = head_of(arc, bits[0], bits[1])
        if owner[a] != owner[b]:
            weight = np.int64(distance[a]) + weight_of(arc, bits[1]) + np.int64(distance[b])
            packed[count] = pack_arc(np.int64(owner[a]), np.int64(owner[b]), weight, bits[2], bits[3])
            count += 1
    return count
