"""Stores and engines for tests, made without the conversion."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from emdiam.external.disk import Sizes
from emdiam.runs.opening import open_engine
from emdiam.store.layout import StoreRecord
from emdiam.store.store import open_store
from emdiam.store.writer import StoreWriter
from tests.helpers import naive

CHUNK = 64

# name -> keyword arguments of open_engine; arena of four tiny blocks where "streamed".
ENGINES: dict[str, dict[str, Any]] = {
    "in-ram": {},
    "in-ram-dense": {"dense_arcs": 0},
    "in-ram-dense-paper": {"dense_arcs": 0, "direction": "paper"},
    "in-ram-dense-beamer": {"dense_arcs": 0, "direction": "beamer"},
    "in-ram-one-thread": {"threads": 1},
    "streamed": {"arena_bytes": 4 * CHUNK * 4, "threads": 2},
    "streamed-windows": {"arena_bytes": 8 * CHUNK * 4, "most_loaded": 0, "thin_share": 1.0},
    "streamed-dense": {"arena_bytes": 4 * CHUNK * 4, "dense_arcs": 0},
}

# The same with vertex state on disk: several ranges of vertices, all pairs through files, and thick levels beside thin
# ones; everything in one range.
EXTERNAL: dict[str, dict[str, Any]] = {
    "external": {"vertex_state": "disk", "arena_bytes": 4 * CHUNK * 4, "sizes": Sizes(64, 512, 16, CHUNK)},
    "external-one-range": {"vertex_state": "disk", "sizes": Sizes(1 << 16, 1 << 12, 4, 1 << 10)},
}


def write_store(path: Path, graph: naive.Graph, chunk: int = CHUNK) -> Path:
    """A store of the graph; ids are its positions."""
    indptr, indices = naive.csr(graph)
    writer = StoreWriter(path, n_vertices=len(graph), chunk_ids=chunk, force=path.exists())
    writer.append_degrees(np.diff(indptr))
    writer.append_neighbours(indices.astype(writer.id_dtype))
    writer.finish(StoreRecord())
    return path


@contextmanager
def engine_on(path: Path, name: str = "in-ram", **more: Any) -> Iterator[Any]:
    """An engine of the named kind on the store."""
    with open_store(path) as store:
        options = {"memory_bytes": 4 << 30, **{**ENGINES, **EXTERNAL}[name], **more}
        if store.indices.n_chunks <= 4:
            options.pop("arena_bytes", None)
        with open_engine(store, **options) as engine:
            yield engine


@cache
def odd_graphs() -> dict[str, naive.Graph]:
    """Shapes that break things: one vertex, no edges, paths, stars, cliques, tori, many parts. Made once: nobody is to
    change them."""
    shapes = {
        "one": nx.empty_graph(1), "no-edges": nx.empty_graph(7), "edge": nx.path_graph(2),
        "path": nx.path_graph(300), "cycle": nx.cycle_graph(41), "star": nx.star_graph(200),
        "clique": nx.complete_graph(30), "grid": nx.grid_2d_graph(9, 14),
        "torus": nx.grid_2d_graph(8, 8, periodic=True), "hypercube": nx.hypercube_graph(6),
        "two-paths": nx.disjoint_union(nx.path_graph(20), nx.path_graph(30)),
        "clique-and-path": nx.disjoint_union(nx.complete_graph(25), nx.path_graph(12)),
        "path-and-star": nx.disjoint_union(nx.path_graph(21), nx.star_graph(80)),
        "pairs": nx.from_edgelist([(2 * i, 2 * i + 1) for i in range(40)]),
        "lollipop": nx.lollipop_graph(12, 30), "barbell": nx.barbell_graph(10, 9),
        "caterpillar": nx.from_edgelist([(i, i + 1) for i in range(20)] + [(i, 100 + i) for i in range(20)]),
        "tree": nx.balanced_tree(3, 4),
        "isolated-first": nx.disjoint_union(nx.empty_graph(70), nx.path_graph(9)),
        # Of more vertices than the graphs that compile kernels.
        "mesh": nx.grid_2d_graph(15, 18), "large-tree": nx.balanced_tree(3, 5), "wheel": nx.wheel_graph(290),
        "large-star": nx.star_graph(300),
        "long-caterpillar": nx.from_edgelist([(i, i + 1) for i in range(140)] + [(i, 200 + i) for i in range(141)]),
    }
    numbered = {name: nx.convert_node_labels_to_integers(g) for name, g in shapes.items()}
    return {name: naive.graph_of(len(g), g.edges) for name, g in numbered.items()}


@st.composite
def graphs(draw: st.DrawFn, most: int = 40) -> naive.Graph:
    """Random graphs: sparse ones with tails, trees and several components among them."""
    n = draw(st.integers(1, most))
    kind = draw(st.sampled_from(["edges", "tree", "forest", "path-like"]))
    vertex = st.integers(0, n - 1)
    extra = draw(st.lists(st.tuples(vertex, vertex), max_size=2 * n if kind == "edges" else 4))
    edges = list(extra)
    if kind in ("tree", "path-like", "forest"):
        reach = 1 if kind == "path-like" else n
        for v in range(1, n):
            if kind != "forest" or draw(st.integers(0, 5)):
                edges.append((v, draw(st.integers(max(0, v - reach), v - 1))))
    order = draw(st.permutations(range(n)))
    return naive.graph_of(n, [(order[a], order[b]) for a, b in edges])
