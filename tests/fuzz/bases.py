"""Small good stores that attacks begin from."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from tests.fuzz.solving import Truth, truth_of
from tests.helpers import naive
from tests.helpers.damage import make_store, read_store


def some_graph(rng: random.Random, n: int = 60) -> naive.Graph:
    """A graph with a long tail, a hub, a second component and vertices without edges."""
    tail = n // 3
    edges = [(v, v + 1) for v in range(tail)] + [(tail, v) for v in range(tail, n - 12, 2)]
    edges += [(rng.randrange(tail, n - 12), rng.randrange(tail, n - 12)) for _ in range(n)]
    edges += [(v, v + 1) for v in range(n - 10, n - 4)]
    return naive.graph_of(n, edges)


def good_stores(folder: Path, seed: int = 0) -> list[tuple[Path, Truth]]:
    """Stores of every codec and every kind of ids, and their graphs. The first two have equal numbers of vertices and
    arcs, and other ids."""
    rng = random.Random(seed)
    graph = some_graph(rng)
    shuffled = list(range(len(graph)))
    rng.shuffle(shuffled)
    other = naive.graph_of(len(graph), [(shuffled[v], shuffled[w]) for v, row in enumerate(graph) for w in row])
    ids = np.arange(len(graph)) * 7 + 5
    names = sorted(f"name {v}" for v in range(len(graph)))
    wanted = [(graph, "lz4", ids), (other, "lz4", ids + 1000), (graph, "none", names), (graph, "lz4", None),
              (some_graph(rng, 300), "lz4", None)]
    folder.mkdir(parents=True, exist_ok=True)
    paths = [make_store(folder / f"base-{i}.zarr", graph, codec=codec, ids=ids)
             for i, (graph, codec, ids) in enumerate(wanted)]
    return [(path, truth_of(path, read_store)) for path in paths]
