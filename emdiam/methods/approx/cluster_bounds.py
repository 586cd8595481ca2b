"""What a condensed graph proves and estimates, component by component."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...weighted.largest import largest_weights
from .condensed import CondensedGraph, Room


@dataclass
class Sweeps:
    """A double sweep of shortest paths in every component of the condensed graph at once.

    far : int64[n_parts], the cluster at the end of the first sweep. reach : int64[K], distances from the `far` of the
    own component. spans : int64[n_parts], the largest of them. gaps : int64[n_parts], the largest weight of an edge,
    widest : int64[n_parts], the largest radius. upper : int64[n_parts], proved upper bound on the component's diameter.
    """

    far: np.ndarray
    reach: np.ndarray
    spans: np.ndarray
    gaps: np.ndarray
    widest: np.ndarray
    upper: np.ndarray

    def estimates(self) -> np.ndarray:
        """The paper's estimate S + 2 d of each component; 2 r in one of a single cluster, int64[n_parts]."""
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
    """Of a double sweep: int64[K], distances of the first; far and reach as in Sweeps."""
    starts = np.full(graph.n_parts, len(graph.parts), np.int64)
    np.minimum.at(starts, graph.parts, np.arange(len(graph.parts)))
    with room.searches(graph.arcs) as paths:
        first = paths.distances(starts).astype(np.int64)
        far, _ = largest_in_parts(first, graph.parts, graph.n_parts)
        reach = paths.distances(far).astype(np.int64)
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
    """Sum of the two largest values in every component, int64[n_parts]; 0 where there is one value.

    For values d'(s, C) + r_C it bounds the distance of vertices of two different clusters, by the
    triangle inequality through s."""
    first, largest = largest_in_parts(values, parts, n_parts)
    rest = values.copy()
    rest[first] = -1
    _, second = largest_in_parts(rest, parts, n_parts)
    return np.where(second < 0, 0, largest + second)
