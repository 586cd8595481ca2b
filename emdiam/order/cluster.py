"""The order `cluster`: clusters of clusters of clusters, so that neighbouring rows share blocks.

Definition: clusters are grown around one vertex in SPACING (methods/approx/clusters.py), the condensed graph, or
enough of it (sampled.py), is clustered again until few are left, and vertices are sorted by the
positions of their clusters (methods/approx/cluster_order.py). So what is near in the graph is near in the store, in
every direction: a BFS from anywhere meets a block about once.
Passes: those of growing clusters, and one to two to condense. Bytes a vertex: 4 for the labels of clusters, 8 where
they are too many for that, and 3.5 for the clusters, then 4 for the new numbers.
Source: the clusters are those of Mehlhorn and Meyer, External-memory breadth-first search with
sublinear I/O (2002), by the parallel growing of Meyer (2008); the levels are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..engine.needs import Needs, label_bytes, phases_of
from ..methods.approx.cluster_order import local_positions
from ..methods.approx.condensed import LEAST_ARC_BYTES, LEAST_SORT_BYTES, Room
from ..methods.approx.rank_order import stream_key
from ..paths.condensed.packed import Packing
from ..sorting.scratch import Scratch
from ..store.store import Store
from ..stream.blocks import table_bytes
from ..stream.plan import Pool, most_parts
from ..traverse.clusters import Labels
from ..traverse.condense import RowChoice, push_condensed
from ..traverse.label_vector import NARROW, WIDE
from ..traverse.workspace import workspace_bytes
from ..units import scratch_folder
from .placing import pass_bytes, place_by_key
from .sampled import sampled_graph

if TYPE_CHECKING:
    from ..engine.cpu import CpuEngine

SPACING = 64
_ARC_BYTES = 2 * LEAST_ARC_BYTES
# Of a cluster: masters, radii, sizes, ranks, places; two more levels; distances, and what they are sorted with.
_CLUSTER_BYTES = 224
# And once they are in order: masters, and the place of each.
_PLACE_BYTES = 48
_PIECE = 1 << 16
# Arcs between clusters that the order is made of: of a cluster, and in all. The graph alone decides how many they are.
_WANTED, _LEAST_WANTED = 32, 1 << 20


def cluster_needs(store: Store) -> Needs:
    """What by_clusters needs of memory: labels of 4 bytes in all phases, and tables of clusters, later the new numbers.
    Labels of 8 bytes, and of components without a master, take the reserve and the arena."""
    n, ids = store.n_vertices, store.id_dtype.itemsize
    ranks = 0 if store.is_natural else n * ids
    labels, wider = NARROW.itemsize * n, (WIDE.itemsize - NARROW.itemsize) * n
    table = table_bytes(store)
    shared = table + workspace_bytes(n, ids) + ranks
    grow = shared + labels + _CLUSTER_BYTES * _planned_clusters(n)
    sizes = {"open": table, "grow": grow, "condense": grow + LEAST_SORT_BYTES + 2 * _ARC_BYTES,
             "number": shared + n * ids + max(labels, ranks) + _PLACE_BYTES * _planned_clusters(n) + pass_bytes(store)}
    parts = {"grow": label_bytes(n, ids)}
    more = {"grow": wider + parts["grow"], "condense": wider, "number": wider}
    return Needs("order cluster", phases_of(store, lambda column: sizes, more, parts),
                 Pool(of_parts=_CLUSTER_BYTES * most_parts(store)))


def by_clusters(engine: CpuEngine, seed: int, scratch: str | Path | None = None) -> np.ndarray:
    """The new number of every vertex, id_dtype[n]; isolated ones come last. scratch : folder for condensed graphs that
    are too large for RAM. Raises BudgetError where the disk has no room for one."""
    store = engine.store
    if engine.facts.n_arcs == 0:
        return place_by_key(np.zeros(store.n_vertices, store.id_dtype), 1, store)
    engine.reporter.tick("grow clusters")
    expected = max(1, (engine.facts.n_vertices - engine.facts.n_isolated) // SPACING)
    labels = engine.grow_clusters(engine.sample_vertices(stream_key(seed, "order"), expected))
    assert isinstance(labels, Labels)
    spare = _hold_clusters(engine, labels.n_groups)
    files = Scratch(Path(scratch_folder(scratch)), Path())
    try:
        positions = _cluster_positions(engine, labels, seed, _room(engine, spare, files))
    finally:
        files.close()
    keys = np.empty(store.n_vertices, store.id_dtype)
    for start in range(0, len(keys), _PIECE):
        group = labels.groups(np.arange(start, min(start + _PIECE, len(keys))))
        keys[start : start + len(group)] = np.where(group < 0, len(positions), positions[group])
    labels.release()
    return place_by_key(keys, len(positions) + 1, store)


def _hold_clusters(engine: CpuEngine, n_clusters: int) -> int:
    """Bytes that are spare beside so many clusters. Every component has one, and nobody knew how many there are: more
    than were planned for take what is spare, the reserve and slots of the arena. Raises MoreMemoryError where these
    are not enough."""
    spare = engine.facts.spare_bytes - _CLUSTER_BYTES * max(0, n_clusters - _planned_clusters(engine.facts.n_vertices))
    if spare < 0:
        engine.core.hold(f"{n_clusters:,} clusters, one in every component at least,", -spare)
    return max(0, spare)


def _planned_clusters(n_vertices: int) -> int:
    """As many as are expected, and six times their standard deviation more, or 64."""
    expected = n_vertices // SPACING
    return expected + max(64, 6 * isqrt(expected))


def _room(engine: CpuEngine, spare: int, scratch: Scratch) -> Room:
    """What is planned for condensed graphs, what is spare, and what the one scan that is still to come does not need:
    half of it sorts arcs, and the arcs of two levels lie side by side in the other one."""
    if engine.core.reserve is not None:
        spare += engine.core.reserve.take_rest(arena=not engine.facts.in_ram)
    return Room(LEAST_SORT_BYTES + spare // 2, _ARC_BYTES + spare // 4, scratch, min(2, engine.facts.threads))


def _cluster_positions(engine: CpuEngine, labels: Labels, seed: int, room: Room) -> np.ndarray:
    """Where each cluster comes among all, int64[K]."""
    radii, sizes = labels.tally()
    engine.reporter.tick("condense")
    packing = Packing(labels.n_groups, 2 * int(radii.max()) + 1)

    def scan(choice: RowChoice, push: Callable[[np.ndarray], None]) -> None:
        bits = packing.id_bits, packing.weight_bits
        push_condensed(engine.core, labels, bits, push, engine.reporter.heartbeat, choice)

    wanted = max(_LEAST_WANTED, _WANTED * labels.n_groups)
    graph = sampled_graph(scan, packing, radii, sizes, room, stream_key(seed, "order arcs"), wanted)
    try:
        return local_positions(graph, engine.ranks(labels.masters), sizes, seed, room)
    finally:
        graph.arcs.close()
