"""As many random graphs as are wanted, one a number, of every kind of weights, with directions and without, of every
shape; and their distances by scipy, networkx and igraph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import networkx as nx
import numpy as np
import scipy.sparse as sparse
from scipy.sparse import csgraph

from emdiam.sssp.rows import WeightedRows
from tests.helpers.device_paths import arcs_of
from tests.helpers.stores import odd_graphs

# Kinds of weights, and the dtype of each; "cycles": some below 0, with a cycle of negative length as a rule.
WEIGHTS = {"unit": None, "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "int64": "int64",
           "float32": "float32", "float64": "float64", "negative": "int32", "negative floats": "float64",
           "cycles": "int32"}
MANY = 10_000
# Of an odd graph.
_MOST = 130

Pairs = np.ndarray


@dataclass(frozen=True)
class Drawn:
    """weights : a key of WEIGHTS."""

    rows: WeightedRows
    weights: str
    directed: bool


def drawn(number: int) -> Drawn:
    """The graph of this number: kinds of weights by turns, then directions, then shapes."""
    random = np.random.default_rng(number)
    kinds = list(WEIGHTS)
    weights, directed = kinds[number % len(kinds)], bool(number // len(kinds) % 2)
    shape = SHAPES[number // len(kinds) // 2 % len(SHAPES)]
    n, pairs = shape(random)
    return Drawn(WeightedRows.from_edges(n, pairs[:, 0], pairs[:, 1], _weights(weights, n, pairs, directed, random),
                                         directed=directed), weights, directed)


def _weights(kind: str, n: int, pairs: Pairs, directed: bool, random: np.random.Generator) -> np.ndarray | None:
    """Of the edges, zeros among them. Heights of vertices make some negative, but no cycle; without directions an edge
    of negative length is a cycle."""
    count, dtype = len(pairs), WEIGHTS[kind]
    if dtype is None:
        return None
    if kind == "float32":
        return random.choice([0, 0.5, 0.1, 3, 1e-3, *random.random(20)], count).astype(dtype)
    if kind in ("float64", "negative floats"):
        values = random.integers(0, 400, count) / 8
    else:
        most = {"uint8": 255, "uint16": 65535, "uint32": (1 << 32) - 1, "int64": 1 << 40}.get(kind, 100)
        values = random.choice([0, 1, 2, 9, most, *random.integers(0, most + 1, 20)], count)
    if kind in ("negative", "negative floats") and directed:
        height = random.integers(0, 100, n)
        values = values + height[pairs[:, 0]] - height[pairs[:, 1]]
    elif kind in ("negative", "cycles"):
        values = values - (random.random(count) < 0.1) * random.integers(1, 20, count)
    return values.astype(dtype)


def by_scipy(rows: WeightedRows, source: int | None = None) -> np.ndarray | None:
    """float64 distances between all pairs, or from a source; None where there is a cycle of negative length (that the
    source reaches)."""
    # scipy takes an explicit 0 as an arc of the length 0.
    matrix = sparse.csr_array((rows.costs.astype(float), rows.heads.astype(np.int32), rows.offsets.astype(np.int32)),
                              shape=(rows.n_vertices,) * 2)
    search = (csgraph.dijkstra if rows.least_weight >= 0 else
              csgraph.johnson if source is None else csgraph.bellman_ford)
    try:
        found: np.ndarray = search(matrix, indices=source)
    except csgraph.NegativeCycleError:
        return None
    return found


def by_networkx(rows: WeightedRows) -> np.ndarray:
    """The same between all pairs, where no weight is negative."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(rows.n_vertices))
    graph.add_weighted_edges_from(arcs_of(rows))
    found = np.full((rows.n_vertices,) * 2, np.inf)
    for v, distances in nx.all_pairs_dijkstra_path_length(graph):
        found[v, list(distances)] = list(distances.values())
    return found


def by_igraph(rows: WeightedRows) -> np.ndarray:
    """The same by igraph, where no cycle is negative."""
    import igraph

    arcs = arcs_of(rows)
    graph = igraph.Graph(rows.n_vertices, [(a, b) for a, b, _ in arcs], directed=True)
    return np.array(graph.distances(weights=[w for *_, w in arcs]), float).reshape((rows.n_vertices,) * 2)


def _any(random: np.random.Generator) -> tuple[int, Pairs]:
    """Edges between any two, loops and parallel ones among them."""
    n = int(random.integers(1, 60))
    return n, random.integers(0, n, (int(random.integers(0, 4 * n)), 2))


def _near(random: np.random.Generator) -> tuple[int, Pairs]:
    """Long: edges between vertices that are near each other alone, in any order of the ids."""
    n, reach = int(random.integers(2, 90)), int(random.integers(1, 4))
    tails = np.repeat(np.arange(n), 2)
    heads = np.minimum(n - 1, tails + random.integers(0, reach + 1, len(tails)))
    ids = random.permutation(n)
    return n, np.stack([ids[tails], ids[heads]], 1)


def _parts(random: np.random.Generator) -> tuple[int, Pairs]:
    """Several components, and vertices alone."""
    pairs, n = [np.empty((0, 2), np.int64)], 0
    for _ in range(int(random.integers(2, 6))):
        size, there = _any(random) if random.random() < 0.3 else _near(random)
        pairs.append(there + n)
        n += size + int(random.integers(0, 3))
    return n, np.concatenate(pairs)


def _dense(random: np.random.Generator) -> tuple[int, Pairs]:
    """Most pairs are joined."""
    n = int(random.integers(2, 24))
    return n, np.argwhere(random.random((n, n)) < random.choice([0.4, 0.8, 1.0]))


def _forward(random: np.random.Generator) -> tuple[int, Pairs]:
    """Without a cycle where there are directions."""
    n = int(random.integers(1, 60))
    return n, np.sort(random.integers(0, n, (int(random.integers(0, 3 * n)), 2)), axis=1)


def _odd(random: np.random.Generator) -> tuple[int, Pairs]:
    """A star, a clique, a torus and others."""
    n, pairs = _odd_pairs()[int(random.integers(len(_odd_pairs())))]
    return n, pairs if random.random() < 0.5 else random.permutation(n)[pairs]


@cache
def _odd_pairs() -> list[tuple[int, Pairs]]:
    return [(len(graph), np.array([(a, b) for a, row in enumerate(graph) for b in row], np.int64).reshape(-1, 2))
            for graph in odd_graphs().values() if len(graph) <= _MOST]


SHAPES: tuple[Callable[[np.random.Generator], tuple[int, Pairs]], ...] = (_any, _near, _parts, _dense, _forward, _odd)
