"""Use of an earlier proof: its sources, as ids, are looked up in the present graph.

No claim of the earlier proof is believed, since the graph may have changed. Its sources are only searched from before
others, and all bounds are proved anew. Without weights and directions, a graph with about as many edges is searched
from the most central source first, in place of a hub, and then from an end if no vertex is farther from that source:
this may prove all. Otherwise the run continues as without the earlier proof, and usually has no more traversals. Along
arcs or weights, an earlier source replaces the vertex that would be searched from next if its bounds are about as good.
For an open pair of vertices, the earlier source that may prove it is taken, judged by the distances between sources and
both ends. A source that can do neither is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..store.names import found_vertices
from ..store.store import Store

# A graph has about as many edges as before if the difference is at most 1 / _EDGES of them.
_EDGES = 32
# The bound of an earlier source may be worse than that of the vertex that it replaces by 1 / _NEAR of the limit.
_NEAR = 8
# The same for a source whose eccentricity is wanted.
NEARLY = 64
# A source for a pair of vertices counts as vain if more than this share of the open vertices remains; after _MOST_VAIN
# vain ones no other is tried.
_WORTH, _MOST_VAIN = 0.8, 2


@dataclass(frozen=True)
class Earlier:
    """ends : ids of the farthest pairs, those of larger components first. along, against : ids of sources in the order
    of their searches, along arcs and against them; without directions all are in `along`. digest : of the proof.
    path : of its file. central : the first source of the largest component, and n_edges : of the graph, both without
    weights and directions."""

    ends: tuple[int | str, ...]
    along: tuple[int | str, ...]
    against: tuple[int | str, ...]
    digest: str
    path: str
    central: int | str | None = None
    n_edges: int = 0

    def __str__(self) -> str:
        return self.digest


class EarlierSources:
    """The sources of `earlier` that are vertices of `store`; none without an earlier proof.

    pairs : of ends, as vertices. sources : vertices, int64[k], distinct, in order. waits : bool[k], whether they are
    not yet searched from. Raises InputError if no id is in the graph: the proof is then of another graph."""

    def __init__(self, earlier: Earlier | None, store: Store | None) -> None:
        self.pairs, self.sources = list[tuple[int, int]](), np.empty(0, np.int64)
        self._gone = self._found = self._n_searched = 0
        self._known = earlier is not None
        self.waits, self.loose = np.empty(0, np.bool_), True
        self._central = -1
        if earlier is None or store is None:
            return
        names = list(dict.fromkeys((*earlier.ends, *earlier.along, *earlier.against)))
        vertices = found_vertices(store, names)
        self._gone, self._found = int(np.count_nonzero(vertices < 0)), int(np.count_nonzero(vertices >= 0))
        if names and self._gone == len(names):
            raise InputError(f"the graph has no vertex of the {len(names):,} of this proof", path=earlier.path,
                             remedy="give the proof of an earlier state of the same graph, or leave --from out")
        vertex_of = dict(zip(names, vertices.tolist(), strict=True))
        ends = [vertex_of[name] for name in earlier.ends]
        self.pairs = [pair for pair in zip(ends[::2], ends[1::2], strict=True) if min(pair) >= 0]
        named = dict.fromkeys(vertex_of[name] for name in (*earlier.along, *earlier.against))
        self.sources = np.array([vertex for vertex in named if vertex >= 0], np.int64)
        self.waits = np.ones(len(self.sources), np.bool_)
        if earlier.central is not None and abs(store.n_arcs // 2 - earlier.n_edges) <= earlier.n_edges // _EDGES:
            self._central = vertex_of[earlier.central]

    def __len__(self) -> int:
        return len(self.sources)

    def details(self) -> dict[str, dict[str, int]]:
        """Entries for Result.details."""
        if not self._known:
            return {}
        return {"earlier": {"found": self._found, "gone": self._gone, "searched": self._n_searched}}

    def searched(self, vertices: Sequence[int] | np.ndarray) -> None:
        """Note that these vertices were searched from."""
        if len(self.sources):
            now = self.waits & np.isin(self.sources, vertices)
            self._n_searched += int(np.count_nonzero(now))
            self.waits &= ~now

    def are_ends(self, vertex: int, distances: Callable[[np.ndarray], np.ndarray], eccentricity: int) -> bool:
        """Whether the vertex is an end of a pair whose other end is still about as far from it as any vertex.
        distances : returns distances of vertices from it, int64[k], -1 in other components."""
        others = [pair[1 - pair.index(vertex)] for pair in self.pairs if vertex in pair]
        return bool(others) and bool((distances(np.array(others)) >= eccentricity - eccentricity // _NEAR).any())

    def start(self) -> int | None:
        """The central source of the largest component, if the graph has about as many edges as before; else None."""
        return self._central if self._central >= 0 else None

    def end(self, source: int, distances: Callable[[np.ndarray], np.ndarray], eccentricity: int) -> int | None:
        """An end of a pair that is as far as any vertex from the source, if that is the central one; else None.
        distances, eccentricity : see are_ends."""
        ends = np.array(self.pairs).ravel()
        if source != self._central or not len(ends):
            return None
        farthest = ends[distances(ends) == eccentricity]
        return int(farthest[0]) if len(farthest) else None

    def instead(self, vertex: int, lower: Callable[[np.ndarray], np.ndarray], limit: int, far: bool = False) -> int:
        """The most central earlier source (with `far`, the farthest) if it is about as good as the vertex, else the
        vertex. lower : returns lower bounds on eccentricities of vertices, int64[k], -1 in other components."""
        waiting = self.sources[self.waits]
        if not len(waiting):
            return vertex
        found = lower(np.append(waiting, vertex)).astype(np.int64)
        if far:
            best, alike = int(found[:-1].argmax()), found[:-1].max() >= found[-1] - limit // _NEAR
        else:
            best, bound = _least(found[:-1])
            alike = bound <= found[-1] + max(1, limit // _NEAR)
        return int(waiting[best]) if alike else vertex

    def far(self, lower: Callable[[np.ndarray], np.ndarray], longest: int) -> np.ndarray:
        """An earlier source that is about as far from others as any vertex, to raise the lower bounds of all others,
        as an array of at most one. Empty once the bounds are tight, as `showed` found. lower : see instead. longest :
        the longest distance so far."""
        waiting = self.sources[self.waits] if self.loose else self.sources[:0]
        return waiting[lower(waiting) >= longest - longest // _NEAR][:1]

    def showed(self, source: int, loose: bool) -> None:
        """Note whether the lower bound of a source was smaller than its eccentricity."""
        if self.loose and len(self.sources) and source in self.sources:
            self.loose = loose

    def first(self, vertices: np.ndarray) -> np.ndarray:
        """Reorder equally good vertices: those of the earlier proof first."""
        if not len(self.sources):
            return vertices
        return vertices[np.argsort(~np.isin(vertices, self.sources[self.waits]), kind="stable")]


def _least(bounds: np.ndarray) -> tuple[int, int]:
    """Index and value of the least bound, int64[k]; bounds of other components, -1, come last."""
    near = np.where(bounds < 0, np.iinfo(np.int64).max, bounds)
    best = int(near.argmin())
    return best, int(near[best])


class ForPairs:
    """Earlier sources that may prove open pairs of vertices. Parameters: the sources; bool[k], which of them are in the
    component of the pairs, or None: the sources that the first added vertex reaches."""

    def __init__(self, earlier: EarlierSources, inside: np.ndarray | None = None) -> None:
        self._earlier, self._inside, self._rows = earlier, inside, list[np.ndarray]()
        self._vain, self._open = 0, 0

    def add(self, distances: np.ndarray) -> None:
        """Add a vertex whose distances to both ends of pairs will be known, with the distances of all earlier sources
        from it, integers[k]; -1 without a path."""
        self._rows.append(distances)

    def choose(self, ends: np.ndarray, limit: int, n_open: int) -> int | None:
        """The source that may show that the ends of a pair are within `limit`; None if there is none, or if the
        last ones were of little use. ends : distances of both ends from the vertices added, [2, rows]. n_open :
        vertices in open pairs."""
        if self._open:
            self._vain += n_open > _WORTH * self._open
        self._open = 0
        if self._vain >= _MOST_VAIN or not len(self._earlier.sources) or not self._rows:
            return None
        rows = np.array(self._rows, np.int64)
        near = np.where(rows < 0, 0, np.abs(rows - ends.astype(np.int64)[:, :, None])).max(axis=1).sum(axis=0)
        near[~self._earlier.waits | ~(rows[0] >= 0 if self._inside is None else self._inside)] = limit + 1
        best = int(near.argmin())
        if near[best] > limit:
            return None
        self._open = n_open
        return int(self._earlier.sources[best])
