"""As many random graphs as are wanted, one a number, of every kind of weights, with directions and without, of every
shape; their distances by scipy, networkx and igraph; and the mark of a test of many of them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse import csgraph

from emdiam.paths.rows import WeightedRows
from tests.helpers.device_paths import arcs_of
from tests.helpers.stores import odd_graphs

# Kinds of weights, and the dtype of each; "cycles": some below 0, with a cycle of negative length as a rule.
WEIGHTS = {"unit": None, "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "int64": "int64",
           "float32": "float32", "float64": "float64", "negative": "int32", "negative floats": "float64",
           "cycles": "int32"}
# Graphs of a campaign: so many, numbered from 0 on.
MANY = int(os.environ.get("EMDIAM_MANY", "1000"))
# One of each kind of weights, with directions and without, that no campaign has.
EVERY_KIND = range(1_000_000, 1_000_000 + 2 * len(WEIGHTS))
# Vertices of a graph, if nobody says.
_MOST = 130

Pairs = np.ndarray


@dataclass(frozen=True)
class Drawn:
    """weights : a key of WEIGHTS."""

    rows: WeightedRows
    weights: str
    directed: bool


def campaign(parts: int) -> pytest.MarkDecorator:
    """The mark of a test that has the parameter `numbers`: MANY graphs in so many parts."""
    ends = [MANY * part // parts for part in range(parts + 1)]
    ranges = [range(first, stop) for first, stop in itertools.pairwise(ends)]
    return pytest.mark.parametrize("numbers", ranges, ids=[f"{one.start}-{one.stop}" for one in ranges])


def drawn(number: int, most: int = _MOST, kinds: Sequence[str] = tuple(WEIGHTS),
          directions: Sequence[bool] = (False, True)) -> Drawn:
    """The graph of this number, of up to `most` vertices (8 at least): kinds of weights by turns, then directions, then
    shapes."""
    random = np.random.default_rng(number)
    weights, directed = kinds[number % len(kinds)], directions[number // len(kinds) % len(directions)]
    shape = SHAPES[number // len(kinds) // len(directions) % len(SHAPES)]
    n, pairs = shape(random, most)
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


def _any(random: np.random.Generator, most: int) -> tuple[int, Pairs]:
    """Edges between any two, loops and parallel ones among them."""
    n = int(random.integers(1, min(most, 60)))
    return n, random.integers(0, n, (int(random.integers(0, 4 * n)), 2))


def _near(random: np.random.Generator, most: int) -> tuple[int, Pairs]:
    """Long: edges between vertices that are near each other alone, in any order of the ids."""
    n, reach = int(random.integers(2, most + 1)), int(random.integers(1, 4))
    tails = np.repeat(np.arange(n), 2)
    heads = np.minimum(n - 1, tails + random.integers(0, reach + 1, len(tails)))
    ids = random.permutation(n)
    return n, np.stack([ids[tails], ids[heads]], 1)


def _parts(random: np.random.Generator, most: int) -> tuple[int, Pairs]:
    """Several components, and vertices alone."""
    pairs, n, count = [np.empty((0, 2), np.int64)], 0, int(random.integers(2, 6 if most > 20 else 3))
    for _ in range(count):
        size, there = (_any if random.random() < 0.3 else _near)(random, most // count - 2)
        pairs.append(there + n)
        n += size + int(random.integers(0, 3))
    return n, np.concatenate(pairs)


def _dense(random: np.random.Generator, most: int) -> tuple[int, Pairs]:
    """Most pairs are joined."""
    n = int(random.integers(2, min(most, 24)))
    return n, np.argwhere(random.random((n, n)) < random.choice([0.4, 0.8, 1.0]))


def _forward(random: np.random.Generator, most: int) -> tuple[int, Pairs]:
    """Without a cycle where there are directions."""
    n = int(random.integers(1, min(most, 60)))
    return n, np.sort(random.integers(0, n, (int(random.integers(0, 3 * n)), 2)), axis=1)


def _odd(random: np.random.Generator, most: int) -> tuple[int, Pairs]:
    """A star, a clique, a torus and others; of few vertices at most, small ones of these kinds."""
    known = _odd_pairs(most)
    n, pairs = known[int(random.integers(len(known)))]
    return n, pairs if random.random() < 0.5 else random.permutation(n)[pairs]


@cache
def _odd_pairs(most: int) -> list[tuple[int, Pairs]]:
    found = [(len(graph), np.array([(a, b) for a, row in enumerate(graph) for b in row], np.int64).reshape(-1, 2))
             for graph in odd_graphs().values() if len(graph) <= most]
    for graph in (nx.path_graph(8), nx.cycle_graph(7), nx.star_graph(7), nx.complete_graph(8), nx.wheel_graph(8),
                  nx.hypercube_graph(3), nx.grid_2d_graph(2, 4, periodic=True), nx.barbell_graph(3, 2)):
        found.append((len(graph), np.array(nx.convert_node_labels_to_integers(graph).edges, np.int64)))
    return found


SHAPES: tuple[Callable[[np.random.Generator, int], tuple[int, Pairs]], ...] = (
    _any, _near, _parts, _dense, _forward, _odd)
