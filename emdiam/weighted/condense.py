"""Condensing a weighted graph by its clusters: hierarchical clustering.

An arc (a, b, w) between different clusters becomes (owner a, owner b, distance a + w + distance b),
the length of a walk from master to master; the lightest of each pair stays. One pass over the arcs
and one sort. Bytes: 8 a block in flight, the collector's budget. Source: Ajwani, Beckmann, Meyer,
Veith (2012), section 2, with weights (their section 5 names it as future work).
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .collect import ArcCollector
from .labels import NO_OWNER, Tick
from .packed import Packing, WeightedArcs, each_block, head_of, pack_arc, tail_of, weight_of


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
        found = np.empty(arcs.block_arcs, np.uint64)
        for block in each_block(arcs):
            count = between_clusters(block, bits, owner, distance, found)
            if count:
                collector.push(found[:count])
            if tick is not None:
                tick()
    except BaseException:
        collector.abort()
        raise
    return collector.finish(most_ram_bytes)


@kernel
def between_clusters(block, bits, owner, distance, found):  # type: ignore[no-untyped-def]
    """Pack the arcs of `block` that leave a cluster into `found`; returns how many.

    bits : int64[4], of an id and a weight, before and after."""
    count = 0
    for arc in block:
        a = tail_of(arc, bits[0], bits[1])
        b = head_of(arc, bits[0], bits[1])
        if owner[a] != owner[b]:
            weight = np.int64(distance[a]) + weight_of(arc, bits[1]) + np.int64(distance[b])
            found[count] = pack_arc(np.int64(owner[a]), np.int64(owner[b]), weight, bits[2], bits[3])
            count += 1
    return count
