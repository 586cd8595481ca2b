"""Graphs of the backend: what its functions ask of one, and a graph of networkx as arrays in memory.

Vertices are *positions* here, 0 to n - 1 in the order in which networkx iterates over the graph.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import networkx as nx
import numpy as np

# Arc steps of plain searches from all sources which take less than a run that plans, sorts and opens an engine (8 ms).
_FEW_STEPS = 5_000_000


class BackendGraph(ABC):
    """An undirected graph with the questions that networkx asks before it calls a function, and with distances.

    index : position of every node. A subclass says where its edges are.
    """

    __networkx_backend__ = "emdiam"
    nbunch_iter = nx.Graph.nbunch_iter  # with the errors of networkx

    index: Mapping[Any, int]

    # -- what networkx asks ---------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.index)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.index
        except TypeError:  # as networkx: what cannot be hashed is no node
            return False

    @property
    def _adj(self) -> Mapping[Any, int]:
        """What nbunch_iter looks nodes up in."""
        return self.index

    def is_directed(self) -> bool:
        """No: distances are those of undirected graphs."""
        return False

    def is_multigraph(self) -> bool:
        """No: an edge is there once, since distances do not change by others."""
        return False

    def number_of_nodes(self) -> int:
        """Vertices."""
        return len(self)

    order = number_of_nodes

    @abstractmethod
    def to_networkx(self) -> nx.Graph:
        """The graph as one of networkx, in memory, without attributes, loops and multiple edges."""

    # -- distances ------------------------------------------------------------------------------
    @abstractmethod
    def names(self, positions: np.ndarray) -> list[Any]:
        """The nodes at these positions."""

    @abstractmethod
    def search(self, sources: Sequence[int], limit: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Positions reached from any of the distinct sources within `limit` steps, by increasing distance, integers
        [r]; and their distances, int64[r]."""

    def farthest(self, source: int) -> tuple[int, int]:
        """How many vertices `source` reaches, and the position of one that is farthest from it."""
        reached = self.search([source])[0]
        return len(reached), int(reached[-1])

    @abstractmethod
    def diameter(self) -> int | None:
        """The diameter; None if the graph is not connected. There are vertices."""

    @abstractmethod
    def eccentricities(self, positions: Sequence[int] | None = None) -> np.ndarray:
        """Eccentricities within a connected graph, of all vertices or of those at `positions`, int64[k]."""

    def radius(self) -> int:
        """The radius of a connected graph with vertices."""
        return int(self.eccentricities().min())

    def center(self) -> np.ndarray:
        """Positions of the vertices of the smallest eccentricity, ascending, of a connected graph with vertices."""
        values = self.eccentricities()
        return np.flatnonzero(values == values.min())

    def periphery(self) -> np.ndarray:
        """Positions of the vertices of the largest eccentricity, ascending, of a connected graph with vertices."""
        values = self.eccentricities()
        return np.flatnonzero(values == values.max())

    def is_connected(self) -> bool:
        """Whether all vertices, of which there are some, are reached from the first."""
        return self.farthest(0)[0] == len(self)


class ArrayGraph(BackendGraph):
    """A graph of networkx as arrays: neighbours in the order of networkx, so that searches meet vertices in its order.

    Loops and multiple edges need no care: networkx lists a neighbour once, and a loop leads nowhere."""

    def __init__(self, graph: nx.Graph) -> None:
        nodes = list(graph)
        self.index = {node: position for position, node in enumerate(nodes)}
        self._nodes = np.fromiter(nodes, object, len(nodes))
        adjacency: dict[Hashable, Mapping[Hashable, Any]] = dict(graph.adjacency())
        rows = [adjacency[node] for node in nodes]
        self._indptr = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=self._indptr[1:])
        dtype = np.dtype(np.int32 if len(nodes) < 1 << 31 else np.int64)
        self._indices = np.fromiter(map(self.index.__getitem__, chain.from_iterable(rows)), dtype,
                                    int(self._indptr[-1]))

    def to_networkx(self) -> nx.Graph:
        """See BackendGraph."""
        graph = nx.Graph()
        graph.add_nodes_from(self.index)
        graph.add_edges_from(zip(*(self.names(ends) for ends in self._edges()), strict=True))
        return graph

    def names(self, positions: np.ndarray) -> list[Any]:
        """See BackendGraph."""
        return self._nodes[positions].tolist()

    def search(self, sources: Sequence[int], limit: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """See BackendGraph; in the order in which networkx meets them."""
        from .search import search

        queue, distances = self._state()
        queue[: len(sources)] = sources
        most = len(self) if limit is None else limit
        queue = queue[: search(self._indptr, self._indices, most, queue, len(sources), distances)]
        return queue, distances[queue]

    def diameter(self) -> int | None:
        """See BackendGraph. It is computed once."""
        return self._diameter

    @cached_property
    def _diameter(self) -> int | None:
        if not self.is_connected():
            return None
        if "_eccentricities" in vars(self) or self._is_quick(len(self)):
            return int(self._eccentricities.max())
        from ..api import diameter

        return diameter(self._edges()).diameter

    def eccentricities(self, positions: Sequence[int] | None = None) -> np.ndarray:
        """See BackendGraph. Those of all vertices are computed once."""
        if positions is None:
            return self._eccentricities
        places = np.asarray(positions, np.int64)
        return self._eccentricities[places] if "_eccentricities" in vars(self) else self._by_searches(places)

    @cached_property
    def _eccentricities(self) -> np.ndarray:
        return self._by_searches(np.arange(len(self)))

    def _by_searches(self, sources: np.ndarray) -> np.ndarray:
        """Eccentricities, one search each."""
        from .search import eccentricities

        out = np.empty(len(sources), np.int64)
        eccentricities(self._indptr, self._indices, sources, *self._state(), out)
        return out

    def _is_quick(self, n_sources: int) -> bool:
        """Whether plain searches from so many sources take no longer than anything else."""
        return n_sources * (len(self) + len(self._indices)) <= _FEW_STEPS

    def _state(self) -> tuple[np.ndarray, np.ndarray]:
        """Queue and distances of a search."""
        return np.empty(len(self), self._indices.dtype), np.full(len(self), -1, np.int64)

    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Each edge once, loops left out: int64[m] and id[m]."""
        tails = np.repeat(np.arange(len(self)), np.diff(self._indptr))
        once = np.less(tails, self._indices)
        return tails[once], self._indices[once]
