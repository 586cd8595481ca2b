"""Shortest paths in ten thousand random graphs of every kind, by every method in RAM and over blocks, beside scipy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emdiam.errors import InputError
from emdiam.sssp.bellman_ford import NegativeCycle
from emdiam.sssp.methods import METHODS, shortest_paths
from emdiam.sssp.paths import Paths, SearchOptions
from emdiam.sssp.rows import WeightedRows
from emdiam.sssp.streamed import StreamedSearch
from emdiam.store.store import open_store
from tests.helpers.many_graphs import MANY, SHAPES, WEIGHTS, Drawn, by_scipy, drawn
from tests.helpers.weighted_stores import write_rows

# What h-bf has no room for.
NARROW = (1 << 32) - 1
# Kinds of weights that a store has.
STORED = ("unit", "uint8", "uint16", "uint32", "float32", "float64", "negative floats")


def close(found: np.ndarray, want: np.ndarray, rows: WeightedRows) -> bool:
    """Whether they are equal; float sums may be rounded another way."""
    if rows.distance_dtype.kind == "f":
        return np.allclose(found, want, rtol=1e-12, atol=1e-9)
    return np.array_equal(found, want)


def check(paths: Paths, rows: WeightedRows, want: np.ndarray, target: int) -> None:
    """Distances, and a path, whose weights are added up again."""
    assert close(np.where(paths.has_path, paths.distances.astype(float), np.inf), want, rows), paths.method
    try:
        path = paths.path_to(rows, target)
    except InputError as error:  # sums of negative floats that are rounded
        assert "no tree of paths" in str(error) and rows.least_weight < 0 and rows.distance_dtype.kind == "f"
        return
    assert (path is None) == np.isinf(want[target])
    assert path is None or (path[0], path[-1]) == (paths.source, target)


def check_every_method(graph: Drawn, source: int, options: SearchOptions) -> None:
    """Those that take such weights are right, others refuse them."""
    rows, want = graph.rows, by_scipy(graph.rows, source)
    for name, method in METHODS.items():
        if rows.least_weight < 0 and not method.negative:
            with pytest.raises(InputError, match="not negative"):
                shortest_paths(rows, source, name, options)
        elif want is None:
            with pytest.raises(NegativeCycle):
                shortest_paths(rows, source, name, options)
        elif name == "h-bf" and (rows.distance_dtype.kind == "f" or want[np.isfinite(want)].max() >= NARROW):
            with pytest.raises(InputError, match="h-bf has"):
                shortest_paths(rows, source, name, options)
        else:
            check(shortest_paths(rows, source, name, options), rows, want, int(source * 5 + 1) % rows.n_vertices)


def check_streamed(graph: Drawn, source: int, folder: Path, threads: int, blocks: int) -> None:
    """Over blocks of a store, of which so many are in memory."""
    rows, want = graph.rows, by_scipy(graph.rows, source)
    if rows.least_weight < 0 or want is None or graph.weights not in STORED:
        return
    path = write_rows(folder / "g.zarr", rows, graph.directed)
    with open_store(path, directed=None) as store:
        block = store.indices.chunk_items * (rows.heads.itemsize + (0 if rows.weights is None else
                                                                    rows.weights.itemsize))
        search = StreamedSearch(store, blocks * block, SearchOptions(threads))
        try:
            check(search.run(source, tree=True), rows, want, int(source * 5 + 1) % rows.n_vertices)
        finally:
            search.close()


def many(numbers: range, folder: Path) -> None:
    for number in numbers:
        graph, random = drawn(number), np.random.default_rng(number)
        source, delta = int(random.integers(graph.rows.n_vertices)), random.choice([None, None, 0.3, 7.0, np.inf])
        check_every_method(graph, source, SearchOptions(1 + number % 2, delta))
        check_streamed(graph, source, folder, 1 + number % 3, 2 + number % 4)


def test_a_graph_of_every_kind(tmp_path: Path) -> None:
    """Each kind of weights, with directions and without."""
    many(range(MANY, MANY + 2 * len(WEIGHTS)), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_graphs(part: int, tmp_path: Path) -> None:
    assert MANY >= 2 * len(WEIGHTS) * len(SHAPES)
    many(range(part * MANY // 10, (part + 1) * MANY // 10), tmp_path)
