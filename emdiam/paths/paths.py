"""The result of a search: distances, the tree of predecessors, and paths whose lengths are summed again.

The tree comes from the distances of any method, by a traversal of tight arcs (distance of the head = distance of the
tail + weight). So every path ends at the source, also with weights of zero, and the weights along it sum to the
distance, also for floats. Work: m, once, if a tree or a path is wanted.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..jit import kernel, on_lists
from ..progress import Tick, no_tick
from ..sorting.scratch import Scratch
from .rows import WeightedRows, unreached


@dataclass(frozen=True)
class SearchOptions:
    """threads : number of threads. delta : width of a bucket, in units of distance; None: the method's default,
    infinity: one bucket. tick : called between slices of the work; an exception from it stops the search. queue : where
    arcs on disk are searched with one bit a vertex, the place of its queue (one_bit.py); None: by corrected labels."""

    threads: int = 1
    delta: float | None = None
    tick: Tick = no_tick
    queue: Scratch | None = None


@dataclass
class Paths:
    """Distances from one source. distances : uint64, int64 or float64[n_vertices], see rows.py. relaxations : number of
    relaxed arcs. rounds : as the method defines them. predecessors : int64[n_vertices], the vertex before each one on a
    shortest path, -1 at the source and without a path; None until `add_tree`."""

    method: str
    source: int
    distances: np.ndarray
    relaxations: int = 0
    rounds: int = 0
    predecessors: np.ndarray | None = None

    @property
    def has_path(self) -> np.ndarray:
        """bool[n_vertices], whether a path leads from the source to each vertex."""
        there: np.ndarray = self.distances != unreached(self.distances.dtype)
        return there

    @property
    def reached(self) -> int:
        """Number of vertices with a path from the source, with the source."""
        return int(np.count_nonzero(self.has_path))

    @property
    def farthest(self) -> int:
        """The smallest vertex at the largest distance."""
        there = self.has_path
        return int(np.flatnonzero(there & (self.distances == self.distances[there].max()))[0])

    @property
    def largest_distance(self) -> int | float:
        """The largest distance of a vertex with a path."""
        value: int | float = self.distances[self.farthest].item()
        return value

    def add_tree(self, rows: WeightedRows) -> np.ndarray:
        """The predecessors, int64[n_vertices], computed at the first call. Raises InputError if rounded sums of
        negative floats leave a vertex without a tight arc."""
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
        """The vertices of a shortest path from the source to `target`, with both; None without a path. Sums its weights
        again, edge by edge, and raises AssertionError if the sum is not the distance."""
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
    """The sum of weights along `path`, from its start. Raises KeyError for a missing edge."""
    total: int | float = rows.distance_dtype.type(0).item()
    for v, u in itertools.pairwise(path):
        begin, end = rows.offsets[v : v + 2].tolist()
        place = begin + int(np.searchsorted(rows.heads[begin:end], u))
        if place == end or rows.heads[place] != u:
            raise KeyError((v, u))
        total += rows.costs[place].item()
    return total


@kernel(uncompiled=on_lists)
def tight_tree(offsets, heads, costs, distances, sources, before, seen, queue):
    """Set before[u] to the tail of the tight arc that reached u first from one of the sources, int64[k]; return the
    number of reached vertices.

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


