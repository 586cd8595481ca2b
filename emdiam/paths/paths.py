"""What a search gives, and the result of a run: distances, the tree of predecessors, paths that are added up again.

The tree is made from the distances of any method, by a traversal of the tight arcs, those along which the distance of
the head is that of the tail and the weight: so every path ends at the source also where weights are zero, and the
weights along it add up to the distance, for floats too. Work: m, once, where a tree or a path is asked for.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from ..decimals import Number
from ..errors import InputError
from ..jit import kernel
from ..shown import Shown, Words
from ..units import MemoryFigures
from .rows import WeightedRows, unreached

Tick = Callable[[], None]


@dataclass(frozen=True)
class SearchOptions:
    """threads : that relax arcs. delta : width of a bucket, in units of distance; None: the method's own, infinity:
    one bucket. tick : called between slices of the work; what it raises stops the search."""

    threads: int = 1
    delta: float | None = None
    tick: Tick | None = None


@dataclass
class Paths:
    """Distances from one source. distances : uint64, int64 or float64[n_vertices], see rows.py. relaxations : arcs
    along which a distance was tried. rounds : of the method, as its page says. predecessors : int64[n_vertices], the
    vertex before each on a shortest path, -1 at the source and without a path; None until `add_tree`."""

    method: str
    source: int
    distances: np.ndarray
    relaxations: int = 0
    rounds: int = 0
    predecessors: np.ndarray | None = None

    @property
    def has_path(self) -> np.ndarray:
        """bool[n_vertices]: which vertices have a path from the source."""
        there: np.ndarray = self.distances != unreached(self.distances.dtype)
        return there

    @property
    def reached(self) -> int:
        """Number of vertices with a path from the source, which is one of them."""
        return int(np.count_nonzero(self.has_path))

    @property
    def farthest(self) -> int:
        """The smallest of the vertices at the largest distance."""
        there = self.has_path
        return int(np.flatnonzero(there & (self.distances == self.distances[there].max()))[0])

    @property
    def largest_distance(self) -> int | float:
        """Of those with a path."""
        value: int | float = self.distances[self.farthest].item()
        return value

    def add_tree(self, rows: WeightedRows) -> np.ndarray:
        """The predecessors, int64[n_vertices]; made now if they are not there. Raises InputError where sums of
        negative floats are rounded so that no tree fits the distances."""
        if self.predecessors is None:
            n = len(self.distances)
            self.predecessors = np.full(n, -1, np.int64)
            seen, queue = np.zeros(n, np.bool_), np.empty(n, np.int64)
            count = tight_tree(rows.offsets, rows.heads, rows.costs, self.distances, np.array([self.source]),
                               self.predecessors, seen, queue)
            if count != self.reached:
                raise InputError("the weights are floats whose sums are rounded so that no tree of paths fits them",
                                 remedy="give integers")
        return self.predecessors

    def path_to(self, rows: WeightedRows, target: int) -> list[int] | None:
        """The vertices of a shortest path from the source to `target`, both included; None without one. Its weights
        are added up again, edge by edge. Raises AssertionError where they are not the distance."""
        if not self.has_path[target]:
            return None
        before = self.add_tree(rows) if self.predecessors is None else self.predecessors
        path = [target]
        while path[-1] != self.source:
            path.append(int(before[path[-1]]))
            if path[-1] < 0 or len(path) > len(before):
                raise AssertionError("a path does not end at the source")
        path.reverse()
        if length_of(rows, path) != self.distances[target]:
            raise AssertionError("a path is not as long as its distance")
        return path


def length_of(rows: WeightedRows, path: list[int]) -> int | float:
    """The weights along `path`, vertices, added up from its begin. Raises KeyError for an edge that there is not."""
    total: int | float = rows.distance_dtype.type(0).item()
    for v, u in itertools.pairwise(path):
        begin, end = rows.offsets[v : v + 2].tolist()
        place = begin + int(np.searchsorted(rows.heads[begin:end], u))
        if place == end or rows.heads[place] != u:
            raise KeyError((v, u))
        total += rows.costs[place].item()
    return total


@kernel
def tight_tree(offsets, heads, costs, distances, sources, before, seen, queue):
    """before[u] = tail of the tight arc that reached u first from one of the sources, int64[k]; returns the vertices
    reached.

    before : int64[n], -1. seen : bool[n], False. queue : int64[n]."""
    count = 0
    for source in sources:
        queue[count] = source
        seen[source] = True
        count += 1
    done = 0
    while done < count:
        v = queue[done]
        done += 1
        for p in range(offsets[v], offsets[v + 1]):
            u = np.int64(heads[p])
            if not seen[u] and distances[v] + costs[p] == distances[u]:
                seen[u] = True
                before[u] = v
                queue[count] = u
                count += 1
    return count


# Of each vertex, so never in what is printed.
_ARRAYS = ("distances", "predecessors")


@dataclass(repr=False)
class ShortestPaths(Shown, MemoryFigures):
    """Shortest paths from one vertex, in the ids of the user.

    method : that was used. weights : their dtype, None of a store without, whose edges have the length 1. weight :
    the name of the column or attribute that they came from. directions_dropped : as of an exact Result. reached :
    vertices with a path, the source among them. farthest : one at the largest distance, the first in the order of the
    store. relaxations : arcs along which a distance was tried. rounds : of the method, as its page says. target,
    distance, path : as asked for; distance and path are None without one. device : what searched, cpu
    or a GPU's name. streamed : whether blocks were read as they were needed. distances : of the vertices in the order
    of the store, uint64, int64 or float64[n_vertices], the largest value or infinity without a path; of weights with
    decimals float64, each the float next to the distance; predecessors :
    int64[n_vertices], -1 at the source and without a path; None unless they are kept. out : file of both. seconds :
    wall seconds {total, load, search, tree, write}.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "source", "method", "reached", "largest_distance", "farthest", "target", "distance", "n_vertices", "n_edges",
        "weight", "weights", "relaxations", "rounds", "streamed", "out")

    source: int | str
    method: str
    reached: int
    largest_distance: Number
    farthest: int | str
    relaxations: int
    rounds: int
    n_vertices: int
    n_edges: int
    directed: bool = False
    weights: str | None = None
    weight: str | None = None
    target: int | str | None = None
    distance: Number | None = None
    path: list[Any] | None = None
    device: str = "cpu"
    streamed: bool = False
    bytes_read: int = 0
    out: str | None = None
    memory_limit_bytes: int | None = None
    planned_rss_bytes: int | None = None
    peak_rss_bytes: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    version: str = ""
    store_digest: str = ""
    store_path: str = ""
    store_name: str = ""
    not_written: list[str] = field(default_factory=list)
    directions_dropped: bool = False
    distances: np.ndarray | None = None
    predecessors: np.ndarray | None = None

    @property
    def weighted(self) -> bool:
        """Whether distances are sums of weights."""
        return self.weights is not None

    def _fact(self, name: str) -> Any:
        """See Shown; a target that no path reaches is infinitely far."""
        if name == "distance" and self.target is not None and self.path is None:
            return Words("infinite (there is no path)")
        return super()._fact(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict with these names but for the arrays, and memory_limit_exceeded; ready for JSON."""
        named = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in _ARRAYS}
        return {**named, "memory_limit_exceeded": self.memory_limit_exceeded}
