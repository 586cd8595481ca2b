"""The arcs of a weighted graph, in RAM or in blocks on disk: searches, and passes over all arcs.

This is the interface of algorithms on undirected weighted graphs. A pass yields the arcs in pieces: some rows, or the
part of rows in a block. Arcs have two forms: rows in RAM (rows.py), and blocks of heads and weights read on demand
(blocks.py), from a store or a scratch file.

A search over blocks continues with the block with the smallest waiting label (semi_external.py). Labels are uint32
while distances fit: half the memory, so a cache has more of them. Tree of paths: a pass sets the predecessor of a
vertex to the tail of a tight arc if the tail has a smaller distance, or a predecessor already; so no cycle arises, even
with weights of 0, the only case that needs further passes. Bytes a vertex: 8 for labels, 1.2 for offsets, 0.3 for
waiting bits; 8 for predecessors. Rounds: the number of times that blocks were chosen and read.

Connected components of a weighted graph, numbered 0, 1, ... by their smallest vertex.

Work: m steps of nearly constant length. Bytes a vertex: 8. Source: Tarjan and van Leeuwen (1984), path halving.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..jit import kernel
from ..traverse.components import _find, join
from .blocks import ArcBlocks, StoreBlocks
from .delta_stepping import bucket_distances
from .dijkstra import balls, dijkstra, heap_distances, near
from .methods import SMALL_ARCS, check_lengths, narrowed, with_delta
from .one_bit import OneBitPaths
from .paths import Paths, SearchOptions, tight_tree
from .relaxing import ONES
from .rows import Piece, WeightedArcs, WeightedRows, to_multiples, unreached
from .semi_external import PathCounters, SemiExternalPaths


@dataclass(frozen=True)
class WeightedComponents:
    """component : int32[n_vertices], number of the component of each vertex. roots : int64[c], smallest vertex of each
    component, ascending. sizes : int64[c], numbers of vertices."""

    component: np.ndarray
    roots: np.ndarray
    sizes: np.ndarray

    @property
    def largest(self) -> int:
        """The component with the most vertices; of equal ones, the one with the smallest vertex."""
        return int(self.sizes.argmax())


class AllArcs(Protocol):
    """A graph that yields its arcs in pieces."""

    @property
    def n_vertices(self) -> int: ...
    def pieces(self) -> Iterator[Piece]: ...


def components_of(arcs: AllArcs) -> WeightedComponents:
    """The components of an undirected graph, by one pass. Raises OSError for a damaged block."""
    parent = np.arange(arcs.n_vertices, dtype=np.int64)
    for piece in arcs.pieces():
        unite_rows(piece.first, piece.offsets, piece.heads, parent)
    point_to_roots(parent)
    roots = np.flatnonzero(parent == np.arange(arcs.n_vertices))
    number = np.empty(arcs.n_vertices, np.int32)
    number[roots] = np.arange(len(roots), dtype=np.int32)
    component = number[parent]
    return WeightedComponents(component, roots, np.bincount(component, minlength=len(roots)))


@kernel
def unite_rows(first, offsets, heads, parent):
    """Unite the components of the ends of each arc; the smaller root becomes the root."""
    for i in range(len(offsets) - 1):
        root = _find(parent, first + i)
        for p in range(offsets[i], offsets[i + 1]):
            root = join(parent, root, np.int64(heads[p]))


@kernel
def point_to_roots(parent):
    """Set parent[v] to the root of v. A parent is smaller than its child, so one ascending pass suffices."""
    for v in range(len(parent)):
        parent[v] = parent[parent[v]]


# In a small graph, compiling the kernels of buckets pays after this number of relaxed arcs: 0.1 s with a heap.
_MANY_ARCS = 1 << 22
# Narrow labels are less than this, the largest uint32.
_NARROW = int(np.iinfo(np.uint32).max)
_INFINITE = np.array([np.inf]).view(np.uint64)[0]


class Arcs(ABC):
    """n_vertices, n_arcs : two arcs an edge. distance_dtype : see rows.py. least_weight, largest_weight : 1 without
    arcs. mean_weight : 0 without arcs. threads, tick : from the options. counters : work of the searches. device :
    that searches, for results. Call `close` at the end. Raises OverflowError if distances may not fit 64 bits."""

    mean_weight: float
    counters: PathCounters
    device = "cpu"

    def __init__(self, graph: WeightedArcs, options: SearchOptions) -> None:
        check_lengths(graph)
        self.n_vertices, self.n_arcs, self.distance_dtype = graph.n_vertices, graph.n_arcs, graph.distance_dtype
        self.least_weight, self.largest_weight = graph.least_weight, graph.largest_weight
        self._options = options
        self.threads, self.tick = options.threads, options.tick

    @property
    @abstractmethod
    def bytes_read(self) -> int:
        """Bytes read from disk so far."""

    @abstractmethod
    def nearest(self, sources: np.ndarray, *, narrow: bool = False) -> tuple[np.ndarray, int]:
        """The distance of every vertex to the nearest source, distance_dtype[n_vertices] (see unreached), and the
        number of relaxed arcs. sources : int64[k], distinct. narrow : return uint32 if the distances are integers that
        fit. Weights must not be negative."""

    def near(self, source: int, room: np.ndarray) -> tuple[np.ndarray, int] | None:
        """The vertices that `source` reaches by paths on which every vertex v has a distance of at most room[v], and
        the number of relaxed arcs; None if the arcs are not in RAM. room : int64[n_vertices], or float64 for floats."""
        return None

    def balls(self, count: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The radii of balls of `count` vertices around each vertex, and sums of inverse distances in them
        (dijkstra.py); None if the arcs are not in RAM."""
        return None

    @abstractmethod
    def again(self, source: int) -> np.ndarray:
        """The distances from `source`, as by `nearest`, from a search that shares no state with earlier ones."""

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """A pass over all arcs, each once, in any order; a piece is valid until the next one."""

    @abstractmethod
    def degrees(self, vertices: np.ndarray) -> np.ndarray:
        """The degrees of vertices (int64[k]), int64[k], without reading arcs."""

    @abstractmethod
    def _pieces_with(self, vertices: np.ndarray) -> Iterator[Piece]:
        """The pieces that have arcs of these ascending vertices, and perhaps other pieces."""

    def rows(self, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows of distinct vertices, int64[k]: offsets int64[k + 1], heads int64, and costs. The arcs of a row may
        be in any order."""
        ends, order = np.zeros(len(vertices) + 1, np.int64), np.argsort(vertices)
        np.cumsum(self.degrees(vertices), out=ends[1:])
        ascending, places = vertices[order], ends[:-1][order]
        heads, costs = np.empty(ends[-1], np.int64), np.empty(0, np.uint8)
        for piece in self._pieces_with(ascending):
            if not len(costs):
                costs = np.empty(ends[-1], piece.costs.dtype)
            some = slice(*np.searchsorted(ascending, [piece.first, piece.first + len(piece.offsets) - 1]))
            copy_rows(*piece, ascending[some], places[some], heads, costs)
        return ends, heads, costs

    @abstractmethod
    def forest(self, distances: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """The predecessor of each vertex on a shortest path from one of `sources`, int64[n_vertices]; -1 for sources
        and without a path. distances : from `nearest`."""

    @abstractmethod
    def round_down(self, exponent: int) -> None:
        """Round all weights (floats) down to multiples of 2^exponent."""

    @abstractmethod
    def close(self) -> None:
        """Stop reading threads and release files."""


class ArcsInRam(Arcs):
    """Arcs in RAM. read : bytes that were read for them."""

    def __init__(self, rows: WeightedRows, options: SearchOptions, read: int = 0) -> None:
        super().__init__(rows, options)
        self._rows, self._read, self.counters = rows, read, PathCounters()

    @property
    def all_rows(self) -> WeightedRows:
        """All rows, with rounded weights."""
        return self._rows

    @cached_property
    def mean_weight(self) -> float:  # type: ignore[override]
        """See Arcs."""
        return self._rows.mean_weight

    @property
    def bytes_read(self) -> int:
        """See Arcs."""
        return self._read

    @cached_property
    def _with_delta(self) -> SearchOptions:
        return with_delta(self._rows, self._options)

    def nearest(self, sources: np.ndarray, *, narrow: bool = False) -> tuple[np.ndarray, int]:
        """See Arcs."""
        rows = self._rows
        if self.n_arcs > SMALL_ARCS or self.counters.arcs_scanned > _MANY_ARCS:
            distances, relaxed, _ = bucket_distances(rows, sources, self._with_delta, narrow)
        else:
            distances, relaxed, _ = heap_distances(rows, sources, self._options)
            distances = narrowed(distances) if narrow else distances
        self.counters.searches += 1
        self.counters.arcs_scanned += relaxed
        return distances, relaxed

    def near(self, source: int, room: np.ndarray) -> tuple[np.ndarray, int] | None:
        """See Arcs."""
        return near(self._rows, source, room)

    def balls(self, count: int) -> tuple[np.ndarray, np.ndarray] | None:
        """See Arcs."""
        return balls(self._rows, count, self.tick)

    def again(self, source: int) -> np.ndarray:
        """See Arcs; by Dijkstra's algorithm."""
        return dijkstra(self._rows, source, self._options).distances

    def pieces(self) -> Iterator[Piece]:
        """See Arcs; one piece."""
        yield Piece(0, self._rows.offsets, self._rows.heads, self._rows.costs)

    def degrees(self, vertices: np.ndarray) -> np.ndarray:
        """See Arcs."""
        found: np.ndarray = self._rows.offsets[vertices + 1] - self._rows.offsets[vertices]
        return found

    def _pieces_with(self, vertices: np.ndarray) -> Iterator[Piece]:
        return self.pieces()

    def forest(self, distances: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """See Arcs."""
        rows, n = self._rows, self.n_vertices
        before, seen, queue = np.full(n, -1, np.int64), np.zeros(n, np.bool_), np.empty(n, np.int64)
        tight_tree(rows.offsets, rows.heads, rows.costs, distances, sources, before, seen, queue)
        return before

    def round_down(self, exponent: int) -> None:
        """See Arcs; in place."""
        assert self._rows.weights is not None
        to_multiples(self._rows.weights, exponent)
        self._rows = WeightedRows(self._rows.offsets, self._rows.heads, self._rows.weights)
        self.least_weight, self.largest_weight = self._rows.least_weight, self._rows.largest_weight
        self.__dict__.pop("mean_weight", None)
        self.__dict__.pop("_with_delta", None)

    def close(self) -> None:
        """See Arcs; has no effect."""


class ArcsOnDisk(Arcs):
    """Arcs in blocks that are read on demand; the arena keeps its blocks for the next search. arena_bytes : size of the
    arena. Raises BudgetError for less than two blocks, StoreError."""

    def __init__(self, blocks: ArcBlocks, arena_bytes: int, options: SearchOptions) -> None:
        super().__init__(blocks, options)
        self.mean_weight, self._blocks, self._arena_bytes, self._read = blocks.mean_weight, blocks, arena_bytes, 0
        self._machine = self._new_machine()

    def _new_machine(self) -> SemiExternalPaths:
        kind = SemiExternalPaths if self._options.queue is None else OneBitPaths
        return kind(self._blocks, self._arena_bytes, self._options)

    @property
    def counters(self) -> PathCounters:  # type: ignore[override]
        """See Arcs."""
        return self._machine.counters

    @property
    def bytes_read(self) -> int:
        """See Arcs."""
        return self._read + self.counters.bytes_read

    def run(self, source: int, *, tree: bool) -> Paths:
        """Distances from `source`. tree : with predecessors."""
        sources, rounds = np.array([source]), self.counters.rounds
        distances, relaxed = self.nearest(sources)
        return Paths("delta-stepping", source, distances, relaxed, self.counters.rounds - rounds,
                     self.forest(distances, sources) if tree else None)

    def nearest(self, sources: np.ndarray, *, narrow: bool = False) -> tuple[np.ndarray, int]:
        """See Arcs."""
        before = self.counters.arcs_scanned
        distances = self._distances(sources, narrow)
        return distances, self.counters.arcs_scanned - before

    def _distances(self, sources: np.ndarray, narrow: bool) -> np.ndarray:
        largest, floats = self.largest_weight, self.distance_dtype.kind == "f"
        wide = np.empty(0 if narrow else self.n_vertices, np.uint64)
        if not floats and largest < _NARROW:
            # In the second half of the array, so that they can be widened in place.
            labels = np.empty(self.n_vertices, np.uint32) if narrow else wide.view(np.uint32)[len(wide) :]
            self._settle(labels, sources)
            if int(widen(labels, wide)) + int(largest) < _NARROW:
                return labels if narrow else wide
        wide = np.empty(self.n_vertices, np.uint64) if narrow else wide
        self._settle(wide, sources)
        if floats:
            wide[wide == ONES] = _INFINITE
            return wide.view(np.float64)
        return wide

    def _settle(self, labels: np.ndarray, sources: np.ndarray) -> None:
        labels.fill(unreached(labels.dtype))
        labels[sources] = 0
        self._machine.settle(labels, sources)

    def again(self, source: int) -> np.ndarray:
        """See Arcs; with separate labels, and reading blocks again that are not in the arena."""
        return self.nearest(np.array([source]))[0]

    def pieces(self, blocks: np.ndarray | None = None) -> Iterator[Piece]:
        """See Arcs; one piece a block, starting with the blocks in the arena. blocks : only these."""
        heads, costs = self._machine.arena[:2]
        for block, slot in self._machine.every_block(blocks):
            first, offsets = self._blocks.rows_in(block)
            yield Piece(first, offsets, heads[slot], costs[slot])

    def degrees(self, vertices: np.ndarray) -> np.ndarray:
        """See Arcs."""
        begins, ends = self._blocks.spans(vertices)
        return ends - begins

    def _pieces_with(self, vertices: np.ndarray) -> Iterator[Piece]:
        begins, ends = (one // self._blocks.block_arcs for one in self._blocks.spans(vertices) - np.array([[0], [1]]))
        wanted = np.zeros(self._blocks.n_blocks + 1, np.int64)
        np.add.at(wanted, begins[begins <= ends], 1)
        np.add.at(wanted, ends[begins <= ends] + 1, -1)
        return self.pieces(np.flatnonzero(np.cumsum(wanted[:-1])))

    def forest(self, distances: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """See Arcs."""
        before = np.full(len(distances), -1, np.int64)
        before[sources] = sources
        missing, fresh = int(np.count_nonzero(distances != unreached(distances.dtype))) - len(sources), 1
        while missing and fresh:
            fresh = sum(add_tight(*piece, distances, before) for piece in self.pieces())
            missing -= fresh
        before[sources] = -1
        return before

    def round_down(self, exponent: int) -> None:
        """See Arcs; applied each time that a block is read."""
        assert isinstance(self._blocks, StoreBlocks)
        self._read, blocks = self.bytes_read, self._blocks
        self.close()
        blocks.round_down(exponent)
        self.least_weight, self.largest_weight = blocks.least_weight, blocks.largest_weight
        self._machine = self._new_machine()

    def close(self) -> None:
        """See Arcs."""
        self._machine.close()


def arcs_of(graph: WeightedArcs, arena_bytes: int, options: SearchOptions) -> Arcs:
    """Arcs in RAM for rows; for blocks, arcs on disk with an arena of `arena_bytes`."""
    if isinstance(graph, WeightedRows):
        return ArcsInRam(graph, options)
    assert isinstance(graph, ArcBlocks)
    return ArcsOnDisk(graph, arena_bytes, options)


@kernel
def copy_rows(first, offsets, heads, costs, chosen, places, to_heads, to_costs):
    """Copy the part of the rows of chosen vertices that a piece has. places[i] is the place to copy to, and advances by
    the number of copied arcs. Every chosen vertex has arcs in the piece."""
    for i in range(len(chosen)):
        row = chosen[i] - first
        for p in range(offsets[row], offsets[row + 1]):
            to_heads[places[i]] = heads[p]
            to_costs[places[i]] = costs[p]
            places[i] += 1


@kernel
def widen(narrow, wide):
    """Set wide[v] (uint64) to narrow[v] (uint32), and all ones to all ones, if `wide` is not empty; return the largest
    other value. narrow : may be the second half of wide."""
    largest = np.uint64(0)
    for v in range(len(narrow)):
        label = np.uint64(narrow[v])
        reached = label != np.uint64(_NARROW)
        if len(wide):
            wide[v] = label if reached else ONES
        largest = max(largest, label if reached else np.uint64(0))
    return largest


@kernel
def add_tight(first, offsets, heads, costs, distances, before):
    """Set predecessors of vertices without one by the tight arcs of a piece; return their number.

    before : int64[n], predecessors; -1 without one; a source is its own."""
    found = 0
    for i in range(len(offsets) - 1):
        v = first + i
        for p in range(offsets[i], offsets[i + 1]):
            u = np.int64(heads[p])
            if before[u] < 0 and distances[v] + costs[p] == distances[u] and (
                    distances[v] < distances[u] or before[v] >= 0):
                before[u] = v
                found += 1
    return found
