"""The condensed graph of a clustering, condensed repeatedly if requested.

Level 1 has the clusters of the graph as vertices. Level i + 1 has clusters of level i around masters
drawn among them, grown by weighted distance; an edge has the weight d(a) + w + d(b). The radius of a cluster
of level i + 1 is the largest of d(a) + radius of a over its members a, so that it covers every
vertex of the graph inside. Distances from the top are passed down by adding d(a).
Source: suggested in the paper's conclusion (Ajwani, Beckmann, Meyer, Veith 2012, section 5).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

import numpy as np

from ...engine.interface import Engine, Labels
from ...hashing import draw
from ...jit import kernel
from ...paths.arcs import Arcs, arcs_of, components_of
from ...paths.condensed.collect import ArcCollector, CondensedArcs, ScratchBlocks
from ...paths.condensed.condense import condense, condensed_packing, grow
from ...paths.condensed.packed import Packing
from ...paths.paths import SearchOptions
from ...paths.semi_external import PathCounters
from ...progress import Tick, no_tick
from ...sorting.scratch import Scratch

# Shortest paths in a condensed graph: in RAM if it fits; or on disk, where they are "label-correcting" (usual), or
# semi-external, with one bit a vertex (paths/one_bit.py).
AUTO, SEMI_EXTERNAL = "auto", "semi-external"
# The least memory to sort and to store the arcs of a condensed graph.
LEAST_SORT_BYTES, LEAST_ARC_BYTES = 40 << 20, 16 << 20


@dataclass
class Room:
    """memory_bytes : for sorting arcs. arcs_bytes : for the arcs of a condensed graph in RAM, or for the cache of
    their blocks if they are on disk. scratch : for data that do not fit. threads : for sorting and reading ahead.
    tick : called during searches of shortest paths. sssp : AUTO,
    "label-correcting" or SEMI_EXTERNAL. spent : work of the searches."""

    memory_bytes: int
    arcs_bytes: int
    scratch: Scratch
    threads: int = 2
    tick: Tick = no_tick
    sssp: str = AUTO
    spent: PathCounters = field(default_factory=PathCounters)

    @property
    def ram_bytes(self) -> int:
        """Bytes for arcs in RAM; 0 if the option demands that they are on disk."""
        return self.arcs_bytes if self.sssp == AUTO else 0

    @property
    def one_bit(self) -> bool:
        """Whether searches on disk use one bit a vertex in memory."""
        return self.sssp == SEMI_EXTERNAL

    def fits(self, graph: CondensedArcs) -> bool:
        """Whether the arcs are in RAM, or would be if the option did not demand disk."""
        return not isinstance(graph, ScratchBlocks) or graph.nbytes <= self.arcs_bytes

    def opened(self, graph: CondensedArcs) -> Arcs:
        """The arcs, to be searched in this room. In RAM on one thread, so that its work is always the same."""
        queue = self.scratch if self.one_bit else None
        return arcs_of(graph, self.arcs_bytes, SearchOptions(1 if graph.in_ram else self.threads, tick=self.tick,
                                                             queue=queue))

    @contextmanager
    def searches(self, graph: CondensedArcs) -> Iterator[Arcs]:
        """The same as a context, with the work counted in `spent`."""
        with closing(self.opened(graph)) as arcs:
            yield arcs
        for name, amount in vars(arcs.counters).items():
            setattr(self.spent, name, getattr(self.spent, name) + amount)


@contextmanager
def collecting(packing: Packing, room: Room) -> Iterator[ArcCollector]:
    """A collector of arcs that is aborted if an error occurs before it is finished."""
    collector = ArcCollector(packing, room.memory_bytes, room.scratch, room.threads)
    try:
        yield collector
    except BaseException:
        collector.abort()
        raise


@dataclass
class CondensedGraph:
    """arcs : of the top level. radii : int64[K], of its clusters, in edges of the graph. parts :
    int64[K], component of each. steps : (owner, distance) of every level below, lowest first; a
    renumbering is a step with distances of 0. levels : how often the graph was condensed."""

    arcs: CondensedArcs
    radii: np.ndarray
    parts: np.ndarray
    steps: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    levels: int = 1

    @property
    def n_parts(self) -> int:
        return int(self.parts.max()) + 1 if len(self.parts) else 0

    def down(self, values: np.ndarray) -> np.ndarray:
        """Turn lengths of walks to the masters of the top level, int64[K], into lengths to those of level 1."""
        for owner, distance in reversed(self.steps):
            values = values[owner] + distance
        return values

    def owners(self) -> np.ndarray:
        """The top cluster of every cluster of level 1, int64."""
        owner = np.arange(len(self.radii))
        for below, _ in reversed(self.steps):
            owner = owner[below]
        return owner

    def top_masters(self) -> np.ndarray:
        """The cluster of level 1 around the master of every top cluster, int64[K]."""
        clusters = np.arange(len(self.radii))
        for owner, distance in reversed(self.steps):
            masters = np.flatnonzero(distance == 0)
            at = np.empty(len(masters), np.int64)
            at[owner[masters]] = masters
            clusters = at[clusters]
        return clusters


# Clusters of a level for each of the next.
SHRINK = 16


def condensed_graph(engine: Engine, labels: Labels, radii: np.ndarray, room: Room) -> CondensedGraph:
    """The condensed graph of level 1: one scan over all arcs, and their sort."""
    packing = Packing(labels.n_groups, 2 * int(radii.max()) + 1)
    with collecting(packing, room) as collector:
        engine.condense(labels, (packing.id_bits, packing.weight_bits), collector.push)
        arcs = collector.finish(room.ram_bytes)
    return CondensedGraph(arcs, radii, numbered_parts(arcs))


def condense_again(graph: CondensedGraph, ranks: np.ndarray, key: int, room: Room,
                   shrink: int = SHRINK) -> tuple[CondensedGraph, np.ndarray]:
    """One more level, with 1 in `shrink` clusters as masters (drawn by a hash of their rank), but at least one
    in every component; also returns the ranks of the masters. The arcs of `graph` stay open.

    ranks : int64[K], natural rank of the master vertex of every cluster."""
    masters = drawn_masters(ranks, graph.parts, key, shrink)
    with room.searches(graph.arcs) as arcs:
        owner, distance = grow(arcs, masters)
    radii = np.zeros(len(masters), np.int64)
    np.maximum.at(radii, owner, distance + graph.radii)
    with collecting(condensed_packing(graph.arcs, distance, len(masters)), room) as collector:
        above = condense(graph.arcs, owner, distance, collector, room.ram_bytes, room.tick)
    parts = graph.parts[masters]
    step = (owner.astype(np.int64), distance.astype(np.int64))
    return CondensedGraph(above, radii, parts, [*graph.steps, step], graph.levels + 1), ranks[masters]


def drawn_masters(ranks: np.ndarray, parts: np.ndarray, key: int, shrink: int = SHRINK) -> np.ndarray:
    """The clusters that become masters of the next level, int64[k] ascending."""
    chosen = sample(ranks, key, shrink)
    missing = np.setdiff1d(parts, parts[chosen])
    smallest = np.full(int(parts.max()) + 1, len(parts), np.int64)
    np.minimum.at(smallest, parts, np.arange(len(parts)))
    return np.union1d(chosen, smallest[missing])


def sample(ranks: np.ndarray, key: int, share: int) -> np.ndarray:
    """One in `share` of the numbers 0..K-1 on average, by a hash of (key, rank); int64[k] ascending."""
    chosen = np.empty(len(ranks), np.bool_)
    hashes_below(ranks.astype(np.uint64), np.uint64(key), np.uint64((1 << 64) // share), chosen)
    return np.flatnonzero(chosen)


@kernel
def hashes_below(ranks, key, threshold, chosen):
    """chosen, bool[K]: whether the hash of each rank is below the threshold."""
    for i in range(len(ranks)):
        chosen[i] = draw(key, ranks[i]) < threshold


def numbered_parts(arcs: CondensedArcs) -> np.ndarray:
    """The component of every cluster, int64[K]."""
    return components_of(arcs).component.astype(np.int64)
