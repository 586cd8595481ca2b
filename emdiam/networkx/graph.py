"""Graphs of the backend: their interface, and a graph of networkx as arrays in memory.

Vertices are *positions* in this module, 0 to n - 1 in the order in which networkx iterates over the graph.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import networkx as nx
import numpy as np

from .dijkstra import ArraySearches
from .sums import centralities, pairs_of, sums_of
from .weights import ArcWeights, WeightedSearches, unit_weights, weights_of

# The rows that a search reads: neighbours in an undirected graph; successors ("out") in a directed one, predecessors in
# the order of networkx ("in"), or successors in the graph reversed by networkx ("reversed").
Rows = Literal["out", "in", "reversed"]
# Up to these numbers of arc steps, plain searches from all sources take less time than a run of pivots, or a run for
# the radius, which sorts, plans and opens an engine (10 ms); and than a run for all eccentricities, or the centre.
_FEW_STEPS, _FEW_STEPS_FOR_ALL = 5_000_000, 20_000_000


class BackendGraph(ABC):
    """A graph with the methods that networkx calls before a function, and with distances, which follow arcs if it is
    directed.

    index : position of every node. Subclasses have the edges.
    """

    __networkx_backend__ = "emdiam"
    nbunch_iter = nx.Graph.nbunch_iter  # with the errors of networkx

    index: Mapping[Any, int]

    # -- methods for networkx -------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.index)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.index
        except TypeError:  # like in networkx, an unhashable object is not a node
            return False

    @property
    def _adj(self) -> Mapping[Any, int]:
        """The nodes, for nbunch_iter."""
        return self.index

    def is_directed(self) -> bool:
        """Whether distances follow arcs."""
        return False

    def is_multigraph(self) -> bool:
        """False: multiple edges do not affect distances, so each edge exists once."""
        return False

    def number_of_nodes(self) -> int:
        """The number of vertices."""
        return len(self)

    order = number_of_nodes

    @abstractmethod
    def number_of_edges(self) -> int:
        """The number of edges, as networkx counts them."""

    def __str__(self) -> str:
        """The text of networkx for the graph."""
        return f"Graph with {len(self)} nodes and {self.number_of_edges()} edges"

    @abstractmethod
    def to_networkx(self) -> nx.Graph:
        """The graph as one of networkx, in memory, without attributes, loops and multiple edges."""

    # -- distances ------------------------------------------------------------------------------
    @abstractmethod
    def names(self, positions: np.ndarray) -> list[Any]:
        """The nodes at these positions."""

    @abstractmethod
    def search(self, sources: Sequence[int], limit: int | None = None,
               rows: Rows = "out") -> tuple[np.ndarray, np.ndarray]:
        """Positions reached from any of the distinct sources within `limit` steps, by increasing distance, integers
        [r]; and their distances, int64[r]."""

    def farthest(self, source: int, rows: Rows = "out") -> tuple[int, int]:
        """The number of vertices that `source` reaches, and the position of a farthest one."""
        reached = self.search([source], rows=rows)[0]
        return len(reached), int(reached[-1])

    def diameter(self) -> int | None:
        """The diameter of a graph with vertices; None if it is not connected. It is computed once."""
        return self._diameter

    @abstractmethod
    def eccentricities(self, positions: Sequence[int] | None = None) -> np.ndarray:
        """Eccentricities of all vertices of a connected graph, or of those at `positions`, int64[k]; in a directed
        graph fewer, up to the first that does not reach all vertices."""

    @property
    @abstractmethod
    def _diameter(self) -> int | None:
        """The diameter, cached by a subclass."""

    def radius(self) -> int:
        """The radius of a connected graph with vertices. It is computed once."""
        return self._radius

    @property
    @abstractmethod
    def _radius(self) -> int:
        """The radius, cached by a subclass."""

    def center(self) -> list[Any]:
        """The nodes with the smallest eccentricity, in the order of the graph, of a connected graph with vertices. They
        are computed once."""
        return list(self._center)

    @property
    @abstractmethod
    def _center(self) -> list[Any]:
        """The centre, cached by a subclass."""

    def periphery(self) -> list[Any]:
        """The nodes with the largest eccentricity, in the order of the graph, of a connected graph with vertices."""
        values = self.eccentricities()
        return self.names(np.flatnonzero(values == values.max()))

    def is_connected(self) -> bool:
        """Whether the first vertex reaches all vertices, and all reach it, in a graph with vertices."""
        return self._connected

    @cached_property
    def _connected(self) -> bool:
        n = len(self)
        return self.farthest(0)[0] == n and (not self.is_directed() or self.farthest(0, "in")[0] == n)

    def sum_of_inverses(self) -> float:
        """The sum of 1 / d over all distances d between two vertices, in the order of networkx if it is computed by
        searches from all vertices."""
        pairs = self.pairs()
        return self.along(None).sum_of_inverses() if pairs is None else math.fsum(
            count / distance for distance, count in pairs.items())

    def total(self) -> int:
        """The sum of all distances between two vertices."""
        pairs = self.pairs()
        return sum(total for _, total in self.sums()) if pairs is None else sum(
            distance * count for distance, count in pairs.items())

    @abstractmethod
    def pairs(self) -> dict[int, int] | None:
        """Ordered pairs of different vertices by distance; None if searches from all vertices are quick, or if
        distances are long and therefore counted in ranges."""

    def sums(self, positions: Sequence[int] | None = None, rows: Rows = "out") -> Iterable[tuple[int, int]]:
        """For each vertex, or each at `positions`, the number of reached vertices, with itself, and the sum of their
        distances."""
        for position in range(len(self)) if positions is None else positions:
            reached, distances = self.search([position], rows=rows)
            yield len(reached), int(distances.sum())

    def inverses(self) -> np.ndarray | None:
        """The sum of 1 / d over the distances d of every vertex from all others, float64[n]; None unless it takes less
        time than a search from each vertex."""
        return None

    @abstractmethod
    def path(self, source: Any, target: Any, weight: str | None) -> list[Any]:
        """The nodes of a shortest path between two nodes of the graph. Raises NetworkXNoPath."""

    @property
    def weight_name(self) -> str:
        """The name of the graph's weights, which may differ from "weight"."""
        return "weight"

    @abstractmethod
    def along(self, weight: str | None, rows: Rows = "out") -> WeightedSearches:
        """Searches along an attribute of the edges; None: every edge has the length 1."""


class ArrayGraph(BackendGraph):
    """A graph of networkx as arrays: neighbours in the order of networkx, so that searches meet vertices in its order.

    Loops and multiple edges are harmless: networkx lists a neighbour once, and a loop does not change distances.
    attributes : of the edges, to store as weights, with their defaults."""

    def __init__(self, graph: nx.Graph, attributes: Mapping[str, Any] | None = None) -> None:
        nodes = list(graph)
        self._title = f"{type(graph).__name__}{f' named {graph.name!r}' if graph.name else ''}"
        self._n_edges = graph.number_of_edges() if graph.is_multigraph() else None
        self.index = {node: position for position, node in enumerate(nodes)}
        self._nodes = np.fromiter(nodes, object, len(nodes))
        adjacency: dict[Hashable, Mapping[Hashable, Any]] = dict(graph.adjacency())
        rows = [adjacency[node] for node in nodes]
        self._indptr, self._indices = out = self._rows_of(rows)
        self._directed = graph.is_directed()
        self._rows = {"out": out, "in": self._rows_of([graph.pred[node] for node in nodes]) if self._directed else out}
        self._weights: dict[str | None, ArcWeights] = {None: unit_weights(len(self._indices))}
        for name, default in (attributes or {}).items():
            self._weights[name] = weights_of(rows, name, default, graph.is_multigraph())
        self._along: dict[tuple[str | None, Rows], ArraySearches] = {}

    def _rows_of(self, rows: Sequence[Mapping[Hashable, Any]]) -> tuple[np.ndarray, np.ndarray]:
        """Offsets, int64[n + 1], and positions of the neighbours, id[m]."""
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=offsets[1:])
        dtype = np.dtype(np.int32 if len(rows) < 1 << 31 else np.int64)
        return offsets, np.fromiter(map(self.index.__getitem__, chain.from_iterable(rows)), dtype, int(offsets[-1]))

    def is_directed(self) -> bool:
        """See BackendGraph."""
        return self._directed

    def number_of_edges(self) -> int:
        """See BackendGraph."""
        if self._n_edges is None:
            loops = int(np.count_nonzero(self._tails() == self._indices))
            self._n_edges = len(self._indices) if self._directed else (len(self._indices) + loops) // 2
        return self._n_edges

    def __str__(self) -> str:
        return f"{self._title} with {len(self)} nodes and {self.number_of_edges()} edges"

    def to_networkx(self) -> nx.Graph:
        """See BackendGraph."""
        graph = nx.DiGraph() if self._directed else nx.Graph()
        graph.add_nodes_from(self.index)
        graph.add_edges_from(zip(*(self.names(ends) for ends in self._edges()), strict=True))
        return graph

    def names(self, positions: np.ndarray) -> list[Any]:
        """See BackendGraph."""
        return self._nodes[positions].tolist()

    def search(self, sources: Sequence[int], limit: int | None = None,
               rows: Rows = "out") -> tuple[np.ndarray, np.ndarray]:
        """See BackendGraph; in the order in which networkx meets vertices."""
        from .search import search

        queue, distances = self._state()
        queue[: len(sources)] = sources
        most = len(self) if limit is None else limit
        queue = queue[: search(*self.rows(rows), most, queue, len(sources), distances)]
        return queue, distances[queue]

    def rows(self, which: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Offsets of these rows, int64[n + 1], and their positions, id[m]."""
        if which not in self._rows:
            offsets = np.zeros(len(self) + 1, np.int64)
            np.cumsum(np.bincount(self._indices, minlength=len(self)), out=offsets[1:])
            self._rows[which] = offsets, self._tails()[self._turned]
        return self._rows[which]

    def _tails(self) -> np.ndarray:
        """The tail of every arc, id[m]."""
        return np.repeat(np.arange(len(self), dtype=self._indices.dtype), np.diff(self._indptr))

    @cached_property
    def _turned(self) -> np.ndarray:
        """The numbers of the arcs, sorted by head and then by tail, int64[m]."""
        return np.argsort(self._indices, kind="stable")

    def sum_of_inverses(self) -> float:
        """See BackendGraph."""
        from .search import sum_of_inverses

        return (float(sum_of_inverses(self._indptr, self._indices, *self._state())) if self.pairs() is None else
                super().sum_of_inverses())

    def pairs(self) -> dict[int, int] | None:
        """See BackendGraph. They are counted once."""
        return None if self._is_quick(_FEW_STEPS_FOR_ALL) else self._pairs

    @cached_property
    def _pairs(self) -> dict[int, int] | None:
        edges = self._edges()
        return pairs_of(edges, directed=self._directed) if len(edges[0]) else {}

    def sums(self, positions: Sequence[int] | None = None, rows: Rows = "out") -> Iterable[tuple[int, int]]:
        """See BackendGraph."""
        if positions is not None or self._is_quick(_FEW_STEPS_FOR_ALL) or self._centralities is None:
            return super().sums(positions, rows)
        from .search import component_sizes

        sizes = np.empty(len(self), np.int64)
        component_sizes(self._indptr, self._indices, *self._state(), sizes)
        return zip(sizes.tolist(), sums_of(self._centralities[0], sizes).tolist(), strict=True)

    def inverses(self) -> np.ndarray | None:
        """See BackendGraph."""
        few = self._is_quick(_FEW_STEPS_FOR_ALL) or self._centralities is None
        return None if few or self._centralities is None else self._centralities[1]

    @cached_property
    def _centralities(self) -> np.ndarray | None:
        """Closeness and harmonic centrality of every vertex, float64[2, n]; None for a directed graph, for which they
        are not computed, and for one without edges."""
        edges = self._edges()
        if self._directed or not len(edges[0]):
            return None
        values = np.zeros((2, len(self)))
        ids, found = centralities(edges)
        values[:, ids] = found
        # The list of edges lacks vertices without an edge.
        values[0] *= (len(ids) - 1) / (len(self) - 1)
        return values

    def path(self, source: Any, target: Any, weight: str | None) -> list[Any]:
        """See BackendGraph: networkx itself searches from both ends, and only the rows that it reads are made."""
        rows = LazyRows(self, weight)
        if weight is None:
            return list(nx.bidirectional_shortest_path(rows, source, target, backend="networkx"))
        return list(nx.bidirectional_dijkstra(rows, source, target, weight, backend="networkx")[1])

    def row(self, node: Any, weight: str | None, rows: Rows) -> dict[Any, dict[str | None, Any]]:
        """The neighbours of a node, in the order of networkx, with the weight of each edge as an attribute."""
        offsets, positions = self.rows(rows)
        at = self.index[node]
        span = slice(offsets[at], offsets[at + 1])
        nodes = self.names(positions[span])
        if weight is None:
            return {node: {} for node in nodes}
        weights = self.along(weight, rows).weights
        values = weights.numbers(weights.costs[span], weights.whole[span])
        return {node: {weight: value} for node, value in zip(nodes, values, strict=True)}

    def along(self, weight: str | None, rows: Rows = "out") -> ArraySearches:
        """See BackendGraph; the object is cached, with its results for all vertices."""
        rows = rows if self._directed else "out"
        key = (weight, rows)
        if key not in self._along:
            weights = self._weights[weight]
            if rows != "out":
                weights = weights.taken(self._arcs(rows))
            self._along[key] = ArraySearches(*self.rows(rows), weights, self._directed)
        return self._along[key]

    def _arcs(self, rows: Rows) -> np.ndarray:
        """The numbers, among the arcs of "out", of the arcs in these rows, int64[m]."""
        if rows == "reversed":
            return self._turned
        offsets, tails = self.rows(rows)
        heads = np.repeat(np.arange(len(self)), np.diff(offsets))
        arcs = np.empty(len(tails), np.int64)
        arcs[np.lexsort((tails, heads))] = self._turned
        return arcs

    @cached_property
    def _diameter(self) -> int | None:
        if not self.is_connected():
            return None
        if self._has_all(_FEW_STEPS):
            return int(self._eccentricities.max())
        from ..api import exact

        return exact(self._edges(), directed=self._directed).diameter

    @cached_property
    def _radius(self) -> int:
        if self._directed or self._has_all(_FEW_STEPS):
            return int(self._eccentricities.min())
        return int(self._bounds("radius").radius)

    @cached_property
    def _center(self) -> list[Any]:
        if self._directed or self._has_all(_FEW_STEPS_FOR_ALL):
            return self.names(np.flatnonzero(self._eccentricities == self._eccentricities.min()))
        bounds = self._bounds("center")
        central = (bounds.lower_bounds == bounds.radius) & (bounds.upper_bounds == bounds.radius)
        return self.names(np.flatnonzero(central))

    def eccentricities(self, positions: Sequence[int] | None = None) -> np.ndarray:
        """See BackendGraph. Eccentricities of all vertices are computed once."""
        if positions is None:
            return self._eccentricities
        places = np.asarray(positions, np.int64)
        return self._eccentricities[places] if "_eccentricities" in vars(self) else self._by_searches(places)

    @cached_property
    def _eccentricities(self) -> np.ndarray:
        if self._is_quick(_FEW_STEPS_FOR_ALL):
            return self._by_searches(np.arange(len(self)))
        return self._bounds("all").lower_bounds.astype(np.int64)

    def _bounds(self, what: str) -> Any:
        """The result of emdiam.eccentricities, whose vertices are positions, since in a connected graph every vertex
        has an edge."""
        from ..api import eccentricities

        return eccentricities(self._edges(), what=what, directed="out" if self._directed else None)

    def _by_searches(self, sources: np.ndarray) -> np.ndarray:
        """Eccentricities of the sources, with one search each, up to the first that does not reach all vertices."""
        from .search import eccentricities

        out = np.empty(len(sources), np.int64)
        return out[: eccentricities(self._indptr, self._indices, sources, *self._state(), out)]

    def _has_all(self, steps: int) -> bool:
        """Whether the eccentricities of all vertices are known, or take at most this number of arc steps."""
        return "_eccentricities" in vars(self) or self._is_quick(steps)

    def _is_quick(self, steps: int) -> bool:
        """Whether plain searches from all vertices take at most this number of arc steps."""
        return len(self) * (len(self) + len(self._indices)) <= steps

    def _state(self) -> tuple[np.ndarray, np.ndarray]:
        """Queue and distances of a search."""
        return np.empty(len(self), self._indices.dtype), np.full(len(self), -1, np.int64)

    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Each edge once, or all arcs of a directed graph, without loops: id[m] and id[m]."""
        tails = self._tails()
        once = (np.not_equal if self._directed else np.less)(tails, self._indices)
        return tails[once], self._indices[once]


class LazyRows:
    """An ArrayGraph with the interface of a graph for networkx's own functions; its rows are made on access."""

    __networkx_backend__ = "networkx"

    def __init__(self, graph: ArrayGraph, weight: str | None) -> None:
        self._graph = graph
        self.adj = self._adj = self._succ = self.succ = _RowsOf(graph, weight, "out")
        self.pred = self._pred = _RowsOf(graph, weight, "in")

    def __contains__(self, node: object) -> bool:
        return node in self._graph

    def is_directed(self) -> bool:
        """As the graph."""
        return self._graph.is_directed()

    def is_multigraph(self) -> bool:
        """As the graph."""
        return self._graph.is_multigraph()


class _RowsOf:
    """Rows of one kind, by node."""

    def __init__(self, graph: ArrayGraph, weight: str | None, rows: Rows) -> None:
        self._graph, self._weight, self._rows = graph, weight, rows

    def __getitem__(self, node: Any) -> dict[Any, dict[str | None, Any]]:
        return self._graph.row(node, self._weight, self._rows)
