"""Weighted graphs that tests of diameters and eccentricities draw, and all their distances by the textbook."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from emdiam.paths.arcs import Arcs, ArcsInRam, ArcsOnDisk
from emdiam.paths.blocks import StoreBlocks
from emdiam.paths.paths import SearchOptions
from emdiam.paths.rows import WeightedRows
from emdiam.store.store import open_store
from tests.helpers.weighted_stores import make_weighted_store

Edges = dict[tuple[int, int], float]


def all_pairs(n: int, edges: Edges) -> np.ndarray:
    """Distances by Floyd and Warshall, float64[n, n], infinite without a path; exact for sums below 2^53."""
    distances = np.full((n, n), np.inf)
    np.fill_diagonal(distances, 0)
    for (a, b), weight in edges.items():
        distances[a, b] = distances[b, a] = min(distances[a, b], weight)
    for k in range(n):
        distances = np.minimum(distances, distances[:, k : k + 1] + distances[k])
    return distances


def rows_of(n: int, edges: Edges, dtype: str) -> WeightedRows:
    ends = np.array(list(edges), np.int64).reshape(-1, 2)
    return WeightedRows.from_edges(n, ends[:, 0], ends[:, 1], np.array(list(edges.values())).astype(dtype))


def in_ram(n: int, edges: Edges, dtype: str) -> Arcs:
    return ArcsInRam(rows_of(n, edges, dtype), SearchOptions())


@contextmanager
def on_disk(n: int, edges: Edges, dtype: str) -> Iterator[Arcs]:
    """The same graph in blocks of 64 arcs, two of which fit the arena."""
    least: Edges = {}
    for (a, b), weight in edges.items():
        if a != b:
            pair = min(a, b), max(a, b)
            least[pair] = min(weight, least.get(pair, weight))
    with tempfile.TemporaryDirectory() as folder:
        path = make_weighted_store(Path(folder) / "g.zarr", least, n_vertices=n, dtype=dtype)
        with open_store(path) as store:
            arcs = ArcsOnDisk(StoreBlocks(store), 2 * 64 * (4 + np.dtype(dtype).itemsize), SearchOptions(threads=2))
            yield arcs
            arcs.close()


def random_weight(generator: random.Random, dtype: str) -> float:
    if dtype.startswith("float"):
        value = generator.choice([0.0, 0.5, generator.random(), 3.0])
        return float(np.float32(value))
    return generator.choice([0, 1, 2, generator.randrange(1, 200), np.iinfo(dtype).max])


ODD: dict[str, tuple[int, Edges]] = {
    "one vertex": (1, {}), "no edges": (5, {}), "an edge": (2, {(0, 1): 7}), "two components": (
        6, {(0, 1): 9, (2, 3): 1, (3, 4): 1, (4, 5): 1}), "zero weights": (4, {(0, 1): 0, (1, 2): 0, (2, 3): 0}),
    "path": (30, {(v, v + 1): 1 + v % 3 for v in range(29)}), "cycle": (24, {(v, (v + 1) % 24): 2 for v in range(24)}),
    "star": (20, {(0, v): v for v in range(1, 20)}),
    "clique": (9, {(a, b): a + b for a in range(9) for b in range(a)}),
    "torus": (36, {(v, (v + step) % 36): 1 + step for v in range(36) for step in (1, 6)}),
    "hypercube": (32, {(v, v ^ 1 << bit): 1 << bit for v in range(32) for bit in range(5)}),
    "a light way round": (5, {(0, 1): 100, (0, 2): 1, (2, 3): 1, (3, 1): 1, (1, 4): 50}),
}


def random_edges(generator: random.Random, n: int, dtype: str) -> Edges:
    """Edges between up to n vertices, three a vertex at most, some of them near each other alone."""
    reach = generator.choice([1, 3, n])
    tails = [generator.randrange(n) for _ in range(generator.randint(0, 3 * n))]
    return {(v, min(n - 1, max(0, v + generator.randint(-reach, reach)))): random_weight(generator, dtype)
            for v in tails}


def two_parts(path: Path) -> tuple[Path, int, Edges]:
    """A store of a graph of two parts and a lonely vertex."""
    generator = random.Random(5)
    edges: Edges = {}
    for first, n in ((0, 120), (120, 30)):
        for v in range(first + 1, first + n):
            edges[max(first, v - generator.randint(1, 4)), v] = generator.randint(1, 500)
            edges[min(v, first + generator.randrange(n)), v] = generator.randint(100, 900)
    edges = {pair: weight for pair, weight in edges.items() if pair[0] < pair[1]}
    return make_weighted_store(path, edges, n_vertices=151, dtype="uint16"), 151, edges  # type: ignore[arg-type]
