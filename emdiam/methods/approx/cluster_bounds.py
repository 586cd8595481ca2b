"""Bounds and estimates from a condensed graph, component by component; and real distances that start from clusters: the
eccentricity of one master in every component.

The master is the one at the far end of the double sweep. If the graph is in RAM, there is a BFS in each component that
may still have the longest distance. If it is streamed, or if these are many, all components are done at once by a
restart of the labels, whose upper bounds are d'(s, C) + distance to the master of C. That ends after a few scans if few
bounds are off. If more and more are off (long thin graphs), it is stopped after MOST_SCANS, and all arcs are sorted by
those bounds, which are nearly the levels of the BFS: in that order a BFS meets each block about once (Mehlhorn and
Meyer use clusters in this way in their external BFS, 2002). Without memory for that order there is a plain BFS. All
ways give the same numbers, so that the result does not depend on the memory budget.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import numpy as np

from ...engine.interface import Engine, Labels
from ...errors import MoreMemoryError
from ...paths.condensed.condense import largest_weights
from ...paths.condensed.packed import Packing
from ...traverse.columns import Column
from ..result import Witness
from .condensed import CondensedGraph, Room, collecting
from .method import check_lower


@dataclass
class Lower:
    """The longest real distance found: from source to target, with the column of distances that
    proves it. own_length : the longest one in the component with the most vertices."""

    length: int
    source: int
    target: int
    own_length: int
    column: Column
    traversals: int

    def check(self, engine: Engine) -> Witness:
        """The witness, after a scan over all arcs. Raises EmdiamError if it does not hold."""
        return check_lower(engine, self.column, self.source, self.target, self.length)


MOST_SCANS = 8
# The most components with a BFS each: a BFS takes time for the whole graph, even if the component is small.
MOST_BFS = 64


def lower_bounds(
    engine: Engine, labels: Labels, graph: CondensedGraph, sweeps: Sweeps, largest: int, room: Room
) -> Lower:
    """The largest eccentricity of the far masters. The labels are invalid afterwards."""
    sources = labels.masters[graph.top_masters()[sweeps.far]]
    if engine.facts.in_ram:
        lower = _by_bfs(engine, labels, sources, sweeps.upper, largest)
        if lower is not None:
            return lower
    base, parts = graph.down(sweeps.reach), graph.parts[graph.owners()]
    if not engine.restart(labels, base, parts, sources, MOST_SCANS):
        try:
            _in_order(engine, labels, sources, room)
        except MoreMemoryError:
            lower = _by_bfs(engine, labels, sources, sweeps.upper, largest)
            if lower is None:
                raise
            return lower
    lengths, _ = labels.tally()
    best = _best(engine, lengths, sources)
    target = int(labels.farthest_members(lengths)[best])
    return Lower(int(lengths[best]), int(sources[best]), target, int(lengths[largest]), labels.take_column(), 1)


def _in_order(engine: Engine, labels: Labels, sources: np.ndarray, room: Room) -> None:
    """Distances from the sources, by shortest paths over the arcs in the order of the labels."""
    places = labels.places()
    packing = Packing(engine.facts.n_vertices, 1)
    with collecting(packing, room) as collector:
        engine.condense(places, (packing.id_bits, packing.weight_bits), collector.push)
        arcs = collector.finish(room.arcs_bytes)
    with closing(arcs), room.searches(arcs) as paths:
        labels.replace_distances(paths.nearest(places[sources].astype(np.int64), narrow=True)[0], places)


def _by_bfs(
    engine: Engine, labels: Labels, sources: np.ndarray, upper: np.ndarray, largest: int
) -> Lower | None:
    """A BFS in the largest component, and in any other whose upper bound is not below the longest
    distance so far; None if these are more than MOST_BFS. Otherwise the labels are freed before distances are made."""
    others = np.argsort(-upper, kind="stable")[: MOST_BFS + 2]
    lengths = np.full(len(sources), -1, np.int64)
    for count, part in enumerate([largest, *others[others != largest].tolist()]):
        if part != largest and upper[part] < lengths.max():
            break
        if count > MOST_BFS:
            return None
        lengths[part] = engine.bfs(int(sources[part]), distances=False).levels
    best = _best(engine, lengths, sources)
    labels.release()
    run = engine.bfs(int(sources[best]))
    assert run.distances is not None
    at = run.distances.select("==", run.levels)
    target = int(at[engine.ranks(at).argmin()])
    return Lower(run.levels, int(sources[best]), target, int(lengths[largest]), run.distances,
                 int(np.count_nonzero(lengths >= 0)) + 1)


def _best(engine: Engine, lengths: np.ndarray, sources: np.ndarray) -> int:
    """The component with the longest distance (ties: the source of smallest rank)."""
    longest = np.flatnonzero(lengths == lengths.max())
    return int(longest[engine.ranks(sources[longest]).argmin()])


@dataclass
class Sweeps:
    """A double sweep of shortest paths in every component of the condensed graph at once.

    far : int64[n_parts], the cluster at the end of the first sweep. reach : int64[K], distances from `far` in the
    component of the cluster. spans : int64[n_parts], the largest of them. gaps : int64[n_parts], the largest weight of
    an edge. widest : int64[n_parts], the largest radius. upper : int64[n_parts], proved upper bound on the diameter.
    """

    far: np.ndarray
    reach: np.ndarray
    spans: np.ndarray
    gaps: np.ndarray
    widest: np.ndarray
    upper: np.ndarray

    def estimates(self) -> np.ndarray:
        """The paper's estimate S + 2 d of each component, or 2 r if it has a single cluster, int64[n_parts]."""
        return np.where(self.gaps > 0, self.spans + 2 * self.gaps, 2 * self.widest)


def double_sweep(graph: CondensedGraph, room: Room) -> Sweeps:
    """From the smallest cluster of every component to the farthest, and from there again (ties: the
    smallest cluster)."""
    parts, n_parts = graph.parts, graph.n_parts
    first, far, reach = swept(graph, room)
    _, spans = largest_in_parts(reach, parts, n_parts)
    upper = np.minimum(two_largest(first + graph.radii, parts, n_parts),
                       two_largest(reach + graph.radii, parts, n_parts))
    widest = widest_radii(graph)
    return Sweeps(far, reach, spans, largest_weights(graph.arcs, parts, n_parts), widest, np.maximum(upper, 2 * widest))


def swept(graph: CondensedGraph, room: Room) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distances of the first sweep, int64[K], and far and reach as in Sweeps."""
    starts = np.full(graph.n_parts, len(graph.parts), np.int64)
    np.minimum.at(starts, graph.parts, np.arange(len(graph.parts)))
    with room.searches(graph.arcs) as arcs:
        first = arcs.nearest(starts)[0].astype(np.int64)
        far, _ = largest_in_parts(first, graph.parts, graph.n_parts)
        reach = arcs.nearest(far)[0].astype(np.int64)
    return first, far, reach


def widest_radii(graph: CondensedGraph) -> np.ndarray:
    """Largest radius in every component, int64[n_parts]."""
    widest = np.zeros(graph.n_parts, np.int64)
    np.maximum.at(widest, graph.parts, graph.radii)
    return widest


def largest_in_parts(values: np.ndarray, parts: np.ndarray, n_parts: int) -> tuple[np.ndarray, np.ndarray]:
    """(smallest cluster with the largest value, that value) in every component, int64[n_parts] each."""
    largest = np.full(n_parts, -1, np.int64)
    np.maximum.at(largest, parts, values)
    hits = np.flatnonzero(values == largest[parts])
    first = np.full(n_parts, len(values), np.int64)
    np.minimum.at(first, parts[hits], hits)
    return first, largest


def two_largest(values: np.ndarray, parts: np.ndarray, n_parts: int) -> np.ndarray:
    """Sum of the two largest values in every component, int64[n_parts]; 0 if it has one value.

    For values d'(s, C) + r_C it bounds the distance of vertices of two different clusters, by the
    triangle inequality through s."""
    first, largest = largest_in_parts(values, parts, n_parts)
    rest = values.copy()
    rest[first] = -1
    _, second = largest_in_parts(rest, parts, n_parts)
    return np.where(second < 0, 0, largest + second)
