"""Clusters numbered so that near ones have near numbers: clusters of clusters of clusters.

The condensed graph is clustered repeatedly until few clusters remain. A cluster is sorted by
its component (most vertices first), then by its cluster of the top level, then by that of the level
below, and so on; clusters of a level by the distance of their master from a cluster far out. Blocks of
arcs in that order contain neighbourhoods, in every direction.
"""

from __future__ import annotations

import numpy as np

from ...paths.condensed.collect import CondensedArcs
from ...paths.condensed.condense import condense, renumber
from ...paths.condensed.packed import Packing
from ...paths.rows import WeightedRows
from .cluster_bounds import swept
from .condensed import CondensedGraph, Room, collecting, condense_again
from .rank_order import stream_key

# Number of clusters that need no further clustering.
TOP = 64
# Arcs from which a condensed graph is put in local order before paths are searched: they take 128 MiB,
# and reading them repeatedly from disk costs more than sorting them once. The decision depends on the
# number of arcs, not on memory, so that results do not depend on the budget.
LOCAL_ARCS = 1 << 24


def local_positions(graph: CondensedGraph, ranks: np.ndarray, sizes: np.ndarray, seed: int, room: Room) -> np.ndarray:
    """The position of each cluster of a condensed graph of one level among all, int64[K].

    ranks : int64[K], natural rank of the masters. sizes : int64[K], vertices of each cluster. seed : for
    the masters of further levels. Raises as condense_again.
    """
    part_places = _places_of_parts(graph, ranks, sizes)
    top, before = graph, len(ranks) + 1
    while max(TOP, graph.n_parts) < len(ranks) < before:
        before, last = len(ranks), top
        top, ranks = condense_again(last, ranks, stream_key(seed, f"order {top.levels + 1}"), room)
        if last is not graph:
            last.arcs.close()
    # Paths are searched only at the top, where they are cheap; below, the distance to the master is added.
    reach = swept(top, room)[2]
    if top is not graph:
        top.arcs.close()
    order = _in_order(top.steps[len(graph.steps) :], reach)
    return _inverse(order[np.argsort(part_places[graph.parts[order]], kind="stable")])


def _places_of_parts(graph: CondensedGraph, ranks: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The position of each component among all, int64[n_parts]."""
    first_of = np.full(graph.n_parts, int(ranks.max()) + 1, np.int64)
    np.minimum.at(first_of, graph.parts, ranks)
    part_sizes = np.bincount(graph.parts, weights=sizes, minlength=graph.n_parts)
    return _inverse(np.lexsort((first_of, -part_sizes)))


def _in_order(steps: list[tuple[np.ndarray, np.ndarray]], reach: np.ndarray) -> np.ndarray:
    """The clusters of the lowest level, int64[K]: sorted by the distance of their top-level cluster from the far end,
    then by its number, then by those of the level below, and so on. Sorts by one key after the other, the least
    significant first, so that only one key is in memory at a time."""
    reaches = [reach]
    for owner, distance in reversed(steps):
        reaches.append(reaches[-1][owner] + distance)
    order = at = np.arange(len(reaches[-1]))
    for owner, _ in [*steps, (np.empty(0, np.int64), None)]:
        order = order[np.argsort(at[order], kind="stable")]
        order = order[np.argsort(reaches.pop()[at[order]], kind="stable")]
        if reaches:
            at = owner[at]
    return order


def _inverse(order: np.ndarray) -> np.ndarray:
    """The position of every number in a permutation, int64[k]."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


def in_local_order(graph: CondensedGraph, positions: np.ndarray, room: Room) -> CondensedGraph:
    """The same condensed graph with positions[C] in place of C; the arcs of `graph` are closed."""
    if isinstance(graph.arcs, WeightedRows):
        arcs: CondensedArcs = renumber(graph.arcs, positions, room.threads)
    else:
        arcs = _sorted_again(graph.arcs, positions, room)
    graph.arcs.close()
    radii, parts = np.empty_like(graph.radii), np.empty_like(graph.parts)
    radii[positions], parts[positions] = graph.radii, graph.parts
    step = (positions, np.zeros(len(positions), np.int64))
    return CondensedGraph(arcs, radii, parts, [*graph.steps, step], graph.levels)


def _sorted_again(arcs: CondensedArcs, positions: np.ndarray, room: Room) -> CondensedArcs:
    """The renumbered arcs, by a sort on disk: every cluster is condensed into a cluster alone."""
    names = positions.astype(np.uint32)
    packing = Packing(len(names), int(arcs.largest_weight))
    with collecting(packing, room) as collector:
        return condense(arcs, names, np.zeros(len(names), np.uint32), collector, room.ram_bytes, room.tick)
