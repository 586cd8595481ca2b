"""Real distances from what clusters know: the eccentricity of one master in every component.

The master is the one at the far end of the double sweep. Where the graph is in RAM each is a BFS, in the components
that can still hold the longest distance. Where it is streamed, or these are many, all components at once by a restart
of the labels, whose upper bounds are d'(s, C) + distance to the master of C. That ends after a few scans where the
bounds are off here and there; where they are off by more and more (long thin graphs), it is stopped after MOST_SCANS,
and all arcs are sorted by those bounds, nearly the levels of the BFS: in that order a BFS meets each block about once
(the use that Mehlhorn and Meyer make of clusters in their external BFS, 2002). All ways give the same numbers, so that
the result does not depend on the memory budget.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...engine.interface import Engine, Labels
from ...traverse.columns import Column
from ...weighted.packed import Packing
from ..exact.result import Witness
from .cluster_bounds import Sweeps
from .condensed import CondensedGraph, Room, collecting
from .method import check_lower


@dataclass
class Lower:
    """The longest real distance found: from source to target, with the column of distances that
    proves it. own_length : the same in the component with the most vertices."""

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
# Components with a BFS each, at most: it takes time for the whole graph, however small the component is.
MOST_BFS = 64


def lower_bounds(engine: Engine, labels: Labels, graph: CondensedGraph, sweeps: Sweeps, own: int, room: Room) -> Lower:
    """The largest eccentricity of the far masters. The labels are used up."""
    sources = labels.masters[graph.top_masters()[sweeps.far]]
    if engine.facts.in_ram:
        lower = _by_bfs(engine, sources, sweeps.upper, own)
        if lower is not None:
            return lower
    base, parts = graph.down(sweeps.reach), graph.parts[graph.owners()]
    if not engine.restart(labels, base, parts, sources, MOST_SCANS):
        _in_order(engine, labels, sources, room)
    lengths, _ = labels.tally()
    best = _best(engine, lengths, sources)
    target = int(labels.farthest_members(lengths)[best])
    return Lower(int(lengths[best]), int(sources[best]), target, int(lengths[own]), labels.take_column(), 1)


def _in_order(engine: Engine, labels: Labels, sources: np.ndarray, room: Room) -> None:
    """The distances from the sources, by shortest paths over the arcs in the order of the labels."""
    places = labels.places()
    packing = Packing(engine.facts.n_vertices, 1)
    with collecting(packing, room) as collector:
        engine.condense(places, (packing.id_bits, packing.weight_bits), collector.push)
        arcs = collector.finish(room.arcs_bytes)
    with arcs, room.searches(arcs) as paths:
        labels.replace_distances(paths.distances(places[sources].astype(np.int64)), places)


def _by_bfs(engine: Engine, sources: np.ndarray, upper: np.ndarray, own: int) -> Lower | None:
    """A BFS in the largest component, and in any other whose upper bound is not below the longest
    distance so far; None if those are more than MOST_BFS."""
    others = np.argsort(-upper, kind="stable")[: MOST_BFS + 2]
    lengths = np.full(len(sources), -1, np.int64)
    for count, part in enumerate([own, *others[others != own].tolist()]):
        if part != own and upper[part] < lengths.max():
            break
        if count > MOST_BFS:
            return None
        lengths[part] = engine.bfs(int(sources[part]), distances=False).levels
    best = _best(engine, lengths, sources)
    run = engine.bfs(int(sources[best]))
    assert run.distances is not None
    at = run.distances.select("==", run.levels)
    target = int(at[engine.ranks(at).argmin()])
    return Lower(run.levels, int(sources[best]), target, int(lengths[own]), run.distances,
                 int(np.count_nonzero(lengths >= 0)) + 1)


def _best(engine: Engine, lengths: np.ndarray, sources: np.ndarray) -> int:
    """The component with the longest distance (ties: the source of smallest rank)."""
    longest = np.flatnonzero(lengths == lengths.max())
    return int(longest[engine.ranks(sources[longest]).argmin()])
