"""A store as a graph of networkx: functions of networkx on distances run on it, with the edges on disk."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any

import networkx as nx
import numpy as np

from .. import diameter, eccentricities, exact, shortest_paths
from ..runs.opening import open_for, selection
from ..runs.options import keywords_of
from ..runs.task import task_of
from ..store.array_reader import filled
from ..store.store import Store, check_directed, check_weighted, open_store
from ..terms import keyword_terms
from .graph import BackendGraph, Rows
from .sums import centralities, pairs_of, sums_of
from .weights import WeightedSearches

_PIECE = 1 << 16
_KEYWORDS = frozenset(
    keywords_of("diameter").keys() - {"method", "require_connected", "directed", "weight", "weighted"})
# At most this number of names are read one by one; for more, all names are loaded.
_FEW = 1 << 12


class _Numbers(Mapping[Any, int]):
    """Positions of the n nodes first, first + 1, ..., without a stored list."""

    def __init__(self, first: int, n: int) -> None:
        self._nodes = range(first, first + n)

    def __getitem__(self, node: Any) -> int:
        hash(node)  # a TypeError for an unhashable object, like a dict
        try:
            return self._nodes.index(operator.index(node))
        except (TypeError, ValueError):
            raise KeyError(node) from None

    def __iter__(self) -> Iterator[int]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


class StoredGraph(BackendGraph):
    """A store as an undirected graph for functions of networkx: `nx.diameter(emdiam.networkx.Graph("graph.zarr"))`.

    store : an open store, or its path or address. options : keywords of emdiam.diameter except require_connected:
    memory, arena, threads, device, scratch, progress and so on. Nodes are the ids of the store, in increasing order;
    nodes at the same distance are in that order too. The first search opens an engine, which remains open with its
    arena until `close`, the end of the context, or a function that computes eccentricities. Raises StoreError,
    InputError for an invalid option, TypeError for an unknown one.
    """

    @keyword_terms(known=_KEYWORDS)
    def __init__(self, store: Store | str | Path, **options: Any) -> None:
        unknown = options.keys() - _KEYWORDS
        if unknown:
            raise TypeError(f"there is no option {', '.join(sorted(unknown))}")
        self._progress = options.get("progress")
        self._options = options
        self._run = task_of("exact", {name: value for name, value in options.items() if name != "progress"})
        self._stack, self._lock = ExitStack(), RLock()
        self._engine: Any = None
        self.store = store if isinstance(store, Store) else self._stack.enter_context(open_store(store))
        check_directed(self.store, False)
        self._engines = self._stack.enter_context(ExitStack())

    def __repr__(self) -> str:
        return f"Graph({self.store.path!r})"

    def __enter__(self) -> StoredGraph:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the engine, and the store if this graph opened it."""
        with self._lock:
            self._stack.close()

    # -- nodes ----------------------------------------------------------------------------------
    @cached_property
    def index(self) -> Mapping[Any, int]:  # type: ignore[override]
        """See BackendGraph. Loads all ids unless they are consecutive numbers."""
        record = self.store.record
        if record.id_kind in ("identity", "offset"):
            return _Numbers(record.first_id, self.store.n_vertices)
        return {node: position for position, node in enumerate(self._names)}

    @cached_property
    def _names(self) -> np.ndarray:
        """All ids, objects[n], ascending."""
        store, n = self.store, self.store.n_vertices
        if store.record.id_kind != "string":
            return np.fromiter((node for start in range(0, n, _PIECE) for node in store.ids_of_ranks(
                np.arange(start, min(start + _PIECE, n)))), object, n)
        texts, ends = store.array("vertex_id_bytes"), store.array("vertex_id_offsets")
        text = filled(np.empty(texts.length, np.uint8), store.values("vertex_id_bytes")).tobytes()
        offsets = filled(np.empty(ends.length, np.int64), store.values("vertex_id_offsets")).tolist()
        return np.fromiter((text[begin:end].decode() for begin, end in itertools.pairwise(offsets)),
                           object, n)

    def names(self, positions: np.ndarray) -> list[Any]:
        """See BackendGraph."""
        if len(positions) <= _FEW or self.store.record.id_kind in ("identity", "offset"):
            return self.store.ids_of_ranks(positions)
        return self._names[positions].tolist()

    @cached_property
    def _ranks(self) -> np.ndarray | None:
        """Position of every vertex, id[n]; None if positions equal vertices."""
        return self.store.natural_ids()

    @cached_property
    def _vertex_at(self) -> np.ndarray | None:
        """The vertex at every position, int64[n]; None if positions equal vertices."""
        if self._ranks is None:
            return None
        vertices = np.empty(len(self), np.int64)
        vertices[self._ranks] = np.arange(len(self))
        return vertices

    def _vertices(self, positions: Sequence[int] | np.ndarray) -> np.ndarray:
        """The vertices at positions, int64[k]."""
        places = np.asarray(positions, np.int64)
        return places if self._vertex_at is None else self._vertex_at[places]

    def number_of_edges(self) -> int:
        """See BackendGraph."""
        return self.store.n_arcs // 2

    def to_networkx(self) -> nx.Graph:
        """See BackendGraph. Loads all edges into memory, with hundreds of bytes each."""
        store = self.store
        offsets = filled(np.empty(len(self) + 1, np.int64), store.values("indptr"))
        heads = filled(np.empty(store.n_arcs, np.int64), store.values("indices"))
        tails = np.repeat(np.arange(len(self)), np.diff(offsets))
        if self._ranks is not None:
            tails, heads = self._ranks[tails].astype(np.int64), self._ranks[heads].astype(np.int64)
        order = np.lexsort((heads, tails))[: len(heads)]
        tails, heads = tails[order], heads[order]
        graph = nx.Graph()
        graph.add_nodes_from(self.index)
        once = tails < heads
        graph.add_edges_from(zip(self.names(tails[once]), self.names(heads[once]), strict=True))
        return graph

    # -- distances ------------------------------------------------------------------------------
    @keyword_terms(known=_KEYWORDS)
    def _opened(self) -> Any:
        """The engine."""
        if self._engine is None:
            self._engine = self._engines.enter_context(
                open_for(self.store, self._run, selection(self._run), self._progress))
        return self._engine

    def _without_engine(self) -> None:
        """Close the engine, since the next function opens its own."""
        self._engine = None
        self._engines.close()

    def search(self, sources: Sequence[int], limit: int | None = None,
               rows: Rows = "out") -> tuple[np.ndarray, np.ndarray]:
        """See BackendGraph."""
        n, vertices = len(self), self._vertices(sources)
        if limit == 0:
            return np.asarray(sources, np.int64), np.zeros(len(sources), np.int64)
        with self._lock:
            engine = self._opened()
            if len(sources) == 1:
                column = engine.bfs(int(vertices[0]), radius=limit).distances
            else:
                most = n - 1 if limit is None else min(limit, n - 1)
                column = engine.new_column(most)
                engine.spread(vertices, np.zeros(len(vertices), np.int64), most, column)
            distances = filled(np.empty(n, np.int64), (
                column.gather(np.arange(start, min(start + _PIECE, n))) for start in range(0, n, _PIECE)))
        if self._vertex_at is not None:
            distances = distances[self._vertex_at]
        reached = np.flatnonzero(distances >= 0)
        reached = reached[np.argsort(distances[reached], kind="stable")]
        return reached, distances[reached]

    def farthest(self, source: int, rows: Rows = "out") -> tuple[int, int]:
        """See BackendGraph."""
        with self._lock:
            run = self._opened().bfs(int(self._vertices([source])[0]), distances=False)
            return run.n_reached, run.farthest if self._ranks is None else int(self._ranks[run.farthest])

    @cached_property
    def _diameter(self) -> int | None:
        with self._lock:
            self._without_engine()
            return diameter(self.store, **self._options).diameter

    @cached_property
    def _radius(self) -> int:
        return int(self._bounds("radius").radius)

    @cached_property
    def _center(self) -> list[Any]:
        found = self._bounds("center").center
        if len(found.ids) == found.size:
            return sorted(found.ids)
        values = self.eccentricities()
        return self.names(np.flatnonzero(values == values.min()))

    def eccentricities(self, positions: Sequence[int] | None = None) -> np.ndarray:
        """See BackendGraph. Eccentricities of all vertices are computed once."""
        if positions is None:
            return self._eccentricities
        with self._lock:
            engine, vertices = self._opened(), self._vertices(positions)
            if len(positions) == 1:
                return np.array([engine.bfs(int(vertices[0]), distances=False).eccentricity])
            return engine.eccentricities(vertices).astype(np.int64)

    def pairs(self) -> dict[int, int] | None:
        """See BackendGraph. They are counted once."""
        return self._pairs

    @cached_property
    def _pairs(self) -> dict[int, int] | None:
        with self._lock:
            self._without_engine()
            return pairs_of(self.store, **self._options)

    def sums(self, positions: Sequence[int] | None = None, rows: Rows = "out") -> Iterable[tuple[int, int]]:
        """See BackendGraph."""
        if positions is not None or not self.store.n_arcs:
            return super().sums(positions, rows)
        sizes = self._component_sizes
        return zip(sizes.tolist(), sums_of(self._centralities[0], sizes).tolist(), strict=True)

    def inverses(self) -> np.ndarray | None:
        """See BackendGraph."""
        return self._centralities[1] if self.store.n_arcs else None

    @cached_property
    def _centralities(self) -> np.ndarray:
        """Closeness and harmonic centrality of every position, float64[2, n]."""
        with self._lock:
            self._without_engine()
            return centralities(self.store, **self._options)[1]

    @cached_property
    def _component_sizes(self) -> np.ndarray:
        """The number of vertices of the component of every position, int64[n], with a search from one vertex of each
        component with an edge."""
        sizes = np.zeros(len(self), np.int64)
        degrees = self._opened().degrees(self._vertices(np.arange(len(self))))
        sizes[degrees == 0] = 1
        while not sizes.all():
            reached, _ = self.search([int(np.argmin(sizes))])
            sizes[reached] = len(reached)
        return sizes

    def path(self, source: Any, target: Any, weight: str | None) -> list[Any]:
        """See BackendGraph."""
        if weight is not None and self.store.record.weights is not None:
            with self._lock:
                self._without_engine()
                nodes = shortest_paths(self.store, source, target=target, keep=False, **self._some("arena")).path
        else:
            nodes = self._path(self.index[source], self.index[target])
        if nodes is None:
            raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
        return nodes

    def _path(self, source: int, target: int) -> list[Any] | None:
        """The nodes of a path with the fewest edges; None without a path."""
        begin, end = self._vertices([source, target])
        with self._lock:
            engine = self._opened()
            column = engine.bfs(int(begin), targets=[int(end)]).distances
            if column.gather([end])[0] < 0:
                return None
            vertices = np.concatenate(list(engine.path_pieces(column, int(end), by_rank=True)))[::-1]
        return self.names(self._positions(vertices))

    def _positions(self, vertices: np.ndarray) -> np.ndarray:
        """The positions of vertices, int64[k]."""
        return vertices if self._ranks is None else self._ranks[vertices].astype(np.int64)

    def tree(self, source: int) -> tuple[np.ndarray, np.ndarray]:
        """See WeightedSearches, with numbers of edges as distances; the predecessor of a vertex is the neighbour with
        the smallest id."""
        reached, steps = self.search([source])
        distances = np.full(len(self), -1, np.int64)
        distances[reached] = steps
        before = np.full(len(reached), -1, np.int64)
        with self._lock:
            engine = self._opened()
            for start in range(1, len(reached), _FEW):
                piece = slice(start, start + _FEW)
                rows = [self._positions(row) for row in engine.rows(self._vertices(reached[piece]))]
                before[piece] = [int(row[distances[row] == step - 1].min())
                                 for row, step in zip(rows, steps[piece], strict=True)]
        return reached, before

    def along(self, weight: str | None, rows: Rows = "out") -> StoredSearches:
        """See BackendGraph; along the weights of the store, if it has any. Raises InputError for another name."""
        if weight not in (None, "weight", self.weight_name):
            check_weighted(self.store, weight or "")
        return StoredSearches(self, weight is not None and self.store.record.weights is not None)

    @property
    def weight_name(self) -> str:
        """The name of the weights; networkx may always use "weight" too."""
        record = self.store.record.weights
        return "weight" if record is None or not record.name else record.name

    def lengths(self, source: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The positions that `source` reaches along weights, by increasing distance, int64[r]; their distances, uint64,
        int64 or float64[r]; and their predecessors, int64[r], -1 for the source."""
        with self._lock:
            self._without_engine()
            found = shortest_paths(self.store, self.names(np.array([source]))[0], **self._some("arena"))
        distances, before = found.distances, found.predecessors
        assert distances is not None and before is not None
        there = before >= 0
        there[self._vertices([source])] = True
        if self._vertex_at is not None:
            there, distances, before = there[self._vertex_at], distances[self._vertex_at], before[self._vertex_at]
        reached = np.flatnonzero(there)
        reached = reached[np.argsort(distances[reached], kind="stable")]
        before = before[reached]
        return reached, distances[reached], np.where(before < 0, -1, self._positions(before))

    def weighted_diameter(self) -> Any:
        """The largest distance along weights; None if the graph is not connected."""
        with self._lock:
            self._without_engine()
            return exact(self.store, weighted=True, **self._some()).diameter

    def _some(self, *names: str) -> Any:
        """The options for searches along weights."""
        return {name: value for name, value in self._options.items() if name in ("memory", "threads", *names)}

    @cached_property
    def _eccentricities(self) -> np.ndarray:
        values = self._bounds("all", keep=True).lower_bounds.astype(np.int64)
        return values if self._vertex_at is None else values[self._vertex_at]

    def _bounds(self, what: str, keep: bool = False) -> Any:
        """The result of emdiam.eccentricities. keep : whether it has the values of all vertices."""
        with self._lock:
            self._without_engine()
            return eccentricities(self.store, what=what, keep=keep, **self._options)


class StoredSearches(WeightedSearches):
    """Distances along the weights of a store, or with the length 1 for every edge."""

    def __init__(self, graph: StoredGraph, weighted: bool) -> None:
        self._graph, self._weighted, self.order = graph, weighted, len(graph)

    def search(self, source: int, cutoff: float | None = None) -> tuple[np.ndarray, list[Any]]:
        """See WeightedSearches; nodes at the same distance by increasing id."""
        reached, distances = self._graph.lengths(source)[:2] if self._weighted else self._graph.search([source])
        if cutoff is not None:
            near = ~(distances > cutoff) | (reached == source)
            reached, distances = reached[near], distances[near]
        values = distances.tolist()
        return reached, [0 if at == source else value for at, value in zip(reached.tolist(), values, strict=True)]

    def tree(self, source: int) -> tuple[np.ndarray, np.ndarray]:
        """See WeightedSearches."""
        return self._graph.lengths(source)[::2] if self._weighted else self._graph.tree(source)

    def diameter(self) -> Any:
        """See WeightedSearches."""
        return self._graph.weighted_diameter() if self._weighted else self._graph.diameter()
