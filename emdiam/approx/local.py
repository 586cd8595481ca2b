"""Clusters numbered so that near ones have near numbers: clusters of clusters of clusters.

The condensed graph is clustered again and again until few clusters are left. A cluster is sorted by
its component (most vertices first), then by its cluster of the top level, then by that of the level
below, and so on; clusters of a level by the distance of their master from a cluster far out. Blocks of
arcs in that order hold neighbourhoods, in every direction.
"""

from __future__ import annotations

import numpy as np

from ..weighted.condense import condense
from ..weighted.packed import Packing, RamArcs, WeightedArcs
from ..weighted.renumber import renumber
from .cluster_bounds import double_sweep
from .condensed import CondensedGraph, Room, collecting, condense_again
from .key import stream_key

# Clusters that need not be clustered any more.
TOP = 64
# Arcs from which a condensed graph is put in local order before paths are searched: they take 128 MiB,
# and reading them again and again from disk costs more than sorting them once. The number of arcs
# decides, not the memory, so that results do not depend on the budget.
LOCAL_ARCS = 1 << 24


def local_positions(
    graph: CondensedGraph, ranks: np.ndarray, sizes: np.ndarray, seed: int, room: Room
) -> np.ndarray:
    """Where each cluster of a condensed graph of one level comes among all, int64[K].

    ranks : int64[K], natural rank of the masters. sizes : int64[K], vertices of each cluster. seed : of
    the masters of further levels. Raises as condense_again.
    """
    first_of = np.full(graph.n_parts, int(ranks.max()) + 1, np.int64)
    np.minimum.at(first_of, graph.parts, ranks)
    part_sizes = np.bincount(graph.parts, weights=sizes, minlength=graph.n_parts)
    part_order = np.argsort(np.lexsort((first_of, -part_sizes)))
    top, before = graph, len(ranks) + 1
    while max(TOP, graph.n_parts) < len(ranks) < before:
        before, last = len(ranks), top
        top, ranks = condense_again(last, ranks, stream_key(seed, f"order {top.levels + 1}"), room)
        if last is not graph:
            last.arcs.close()
    # Paths are searched at the top alone, where they are cheap; below, the way to the master is added.
    reach = double_sweep(top, room).reach
    if top is not graph:
        top.arcs.close()
    return np.argsort(np.lexsort((*_keys(top.steps[len(graph.steps) :], reach), part_order[graph.parts])))


def _keys(steps: list[tuple[np.ndarray, np.ndarray]], reach: np.ndarray) -> list[np.ndarray]:
    """What clusters of the lowest level are sorted by, the least significant key first: own number and
    distance from the far end, then those of the cluster that it is in, and so on."""
    keys = [np.arange(len(reach)), reach]
    for owner, distance in reversed(steps):
        reach = reach[owner] + distance
        keys = [np.arange(len(owner)), reach, *(key[owner] for key in keys)]
    return keys


def in_local_order(graph: CondensedGraph, positions: np.ndarray, room: Room) -> CondensedGraph:
    """The same condensed graph with positions[C] in place of C; the arcs of `graph` are closed."""
    if isinstance(graph.arcs, RamArcs):
        arcs: WeightedArcs = renumber(graph.arcs, positions, room.threads)
    else:
        arcs = _sorted_again(graph.arcs, positions, room)
    graph.arcs.close()
    radii, parts = np.empty_like(graph.radii), np.empty_like(graph.parts)
    radii[positions], parts[positions] = graph.radii, graph.parts
    step = (positions, np.zeros(len(positions), np.int64))
    return CondensedGraph(arcs, radii, parts, [*graph.steps, step], graph.levels)


def _sorted_again(arcs: WeightedArcs, positions: np.ndarray, room: Room) -> WeightedArcs:
    """The renumbered arcs by a sort on disk: every cluster is condensed into one of its own."""
    names = positions.astype(np.uint32)
    packing = Packing(len(names), 1 << arcs.packing.weight_bits - 1)
    with collecting(packing, room) as collector:
        return condense(arcs, names, np.zeros(len(names), np.uint32), collector, room.arcs_bytes, room.tick)
