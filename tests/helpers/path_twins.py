"""The slow twins of shortest paths, in plain Python, and the graphs that tests draw.

A graph is (n, edges, directed): edges a list of (a, b, weight), parallel ones and loops allowed.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from emdiam.paths.rows import WeightedRows
from tests.helpers.weighted_naive import SHAPES

Edge = tuple[int, int, float]
Graph = tuple[int, list[Edge], bool]


def bellman_ford(graph: Graph, source: int) -> list[float] | None:
    """Distance of every vertex, infinity without a path; None where a negative cycle can be reached."""
    n, edges, directed = graph
    arcs = [(a, b, w) for a, b, w in edges if a != b]
    if not directed:
        arcs += [(b, a, w) for a, b, w in arcs]
    found = [float("inf")] * n
    found[source] = 0
    for _ in range(n):
        before = list(found)
        for a, b, w in arcs:
            if found[a] + w < found[b]:
                found[b] = found[a] + w
        if before == found:
            return found
    return None


WHOLE = st.integers(0, 9) | st.integers(0, 5000) | st.integers(0, (1 << 32) - 1)
FLOATS = st.floats(0, 1e9, width=32) | st.sampled_from([0.1, 0.2, 0.3, 1e-30, 1e30])


@st.composite
def graphs(draw: st.DrawFn, weights: st.SearchStrategy[float] = WHOLE, most: int = 16) -> Graph:
    """A shape or random pairs, ids with gaps, parallel edges, loops, often disconnected, sometimes directed."""
    if draw(st.booleans()):
        shape = nx.convert_node_labels_to_integers(draw(st.sampled_from(sorted(SHAPES)).map(SHAPES.get)))
        ids = draw(st.permutations(range(len(shape) + draw(st.integers(0, 3)))))
        n, pairs = len(ids), [(ids[a], ids[b]) for a, b in shape.edges]
    else:
        n = draw(st.integers(1, most))
        pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=3 * n))
    pairs = pairs + draw(st.lists(st.sampled_from(pairs), max_size=4)) if pairs else []
    return n, [(a, b, draw(weights)) for a, b in pairs], draw(st.booleans())


def rows_of(graph: Graph, dtype: type = np.uint32) -> WeightedRows:
    """The graph in RAM."""
    n, edges, directed = graph
    ends = np.array([(a, b) for a, b, _ in edges], np.int64).reshape(-1, 2)
    return WeightedRows.from_edges(n, ends[:, 0], ends[:, 1], np.array([w for *_, w in edges], dtype),
                                   directed=directed)
