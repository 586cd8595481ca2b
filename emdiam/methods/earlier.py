"""Use of an earlier proof: its sources, as ids, are looked up in the present graph.

No claim of the earlier proof is believed, since the graph may have changed. Its sources are only searched from before
others, and all bounds are proved anew. A run has no more traversals than without the proof on nearly all graphs, so it
takes a source only where the graph speaks for it:

- without directions, an end of the farthest pair and the most central source, unless the distances from the first
  source show that the pair is closer than before; and the most central source in place of a hub, if few edges are lost;
- along arcs, and for all eccentricities, a source with the same bound as the vertex that would be searched from, unless
  edges are gained or many are lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..store.names import found_vertices
from ..store.store import Store

# Edges lost or gained: more than 1 / _SOME of all are many, up to 1 / _FEW are few.
_SOME, _FEW = 32, 512


@dataclass(frozen=True)
class Earlier:
    """ends : ids of the farthest pairs, those of larger components first. along, against : ids of sources in the order
    of their searches, along arcs and against them; without directions all are in `along`. digest : of the proof.
    path : of its file. n_edges : of the graph. Without directions, central : the most central source of the largest
    component. longest : the length of the first pair, without unit."""

    ends: tuple[int | str, ...]
    along: tuple[int | str, ...]
    against: tuple[int | str, ...]
    digest: str
    path: str
    n_edges: int = 0
    central: int | str | None = None
    longest: int | float = 0

    def __str__(self) -> str:
        return self.digest


class EarlierSources:
    """The sources of `earlier` that are vertices of `store`; none without an earlier proof.

    pairs : of ends, as vertices. sources : vertices, int64[k], distinct, in order. waits : bool[k], whether they are
    not yet searched from. central : see Earlier, -1 where many edges are lost or gained. longest : see Earlier. Raises
    InputError if no id is in the graph: the proof is then of another graph."""

    def __init__(self, earlier: Earlier | None, store: Store | None) -> None:
        self.pairs, self.sources = list[tuple[int, int]](), np.empty(0, np.int64)
        self._gone = self._found = self._n_searched = 0
        self._known = earlier is not None
        self.waits = np.empty(0, np.bool_)
        self.central, self.longest = -1, 0.0
        self.gained = self._lost_few = self._lost_some = False
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
        lost, some = earlier.n_edges - store.n_edges, earlier.n_edges // _SOME
        self.gained = lost < 0
        self._lost_some = 0 <= lost <= some
        self._lost_few = 0 <= lost <= -(-earlier.n_edges // _FEW)
        if earlier.central is not None and abs(lost) <= some:
            self.central, self.longest = vertex_of[earlier.central], earlier.longest

    @property
    def waiting(self) -> np.ndarray:
        """The sources not yet searched from, int64[k], in order; none if edges are gained or many are lost."""
        return self.sources[self.waits] if self._lost_some else self.sources[:0]

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

    def start(self) -> int | None:
        """The central source of the largest component, if the graph has lost few edges; else None."""
        return self.central if self.central >= 0 and self._lost_few else None

    def instead(self, vertex: int, bounds: Callable[[np.ndarray], np.ndarray], far: bool = False) -> int:
        """An earlier source with the same bound as the vertex that would be searched from, or with `far` with one that
        is not smaller; else the vertex. bounds : returns those of vertices, int64[k]; -1 for vertices that may not be
        searched from."""
        waiting = self.waiting
        if not len(waiting):
            return vertex
        found, bound = bounds(waiting), bounds(np.array([vertex]))
        alike = np.flatnonzero(found >= bound if far else found == bound)
        return int(waiting[alike[found[alike].argmax()]]) if len(alike) else vertex

    def first(self, vertices: np.ndarray) -> np.ndarray:
        """Reorder equally good vertices: those of the earlier proof first."""
        waiting = self.waiting
        return vertices[np.argsort(~np.isin(vertices, waiting), kind="stable")] if len(waiting) else vertices


class EarlierSweeps:
    """The sweeps of one component that take sources of an earlier proof. on : whether its farthest pair may still be as
    far apart as before. number : makes a length without unit of a distance."""

    def __init__(self, earlier: EarlierSources, number: Callable[[int], Any] = int) -> None:
        self._earlier, self._number, self._taken = earlier, number, set[int]()
        self._wanted, self.on = list[int](), False

    def begin(self, source: int, farthest: int, eccentricity: int,
              distances: Callable[[np.ndarray], np.ndarray]) -> None:
        """Choose by the first search. distances : returns those of vertices, int64[k], -1 in other components."""
        earlier = self._earlier
        if earlier.central < 0 or not earlier.pairs:
            return
        ends = np.array(earlier.pairs[0])
        found, central = np.split(distances(np.array([*ends, earlier.central])).astype(np.int64), [2])
        # The central source may be of another component: a lost edge was the only way, or the first pair has lost an
        # end, so that this one is the next.
        if found.min() >= 0 <= central[0] and self._number(int(found.sum())) >= earlier.longest:
            end, is_farthest = int(ends[found.argmax()]), found.max() == eccentricity
            # A vertex that is farther than both ends may be an end of a longer pair. If edges are gained, it shows that
            # much has changed.
            self.on = bool(is_farthest) or not earlier.gained
            self._wanted = [end if is_farthest else farthest, earlier.central, end]
            self._taken = {source}

    def next(self, is_open: Callable[[int], bool]) -> int | None:
        """The next source, if there is one. A central vertex bounds others even if it is not open itself."""
        while self.on and self._wanted:
            vertex = self._wanted.pop(0)
            if vertex not in self._taken and (vertex == self._earlier.central or is_open(vertex)):
                self._taken.add(vertex)
                return vertex
        return None

    def searched(self, source: int, eccentricity: int) -> None:
        """Note a search, which may show that the pair is closer than before."""
        if self.on and source in self._earlier.pairs[0]:
            self.on = self._number(eccentricity) >= self._earlier.longest
