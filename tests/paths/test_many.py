"""Shortest paths in many random graphs of every kind, by every method in RAM and over the blocks of stores with
directions and without, beside scipy.

A graph meets every method in RAM, by one thread or two and some width of buckets; and the search over blocks of 8 arcs,
two to five of which are in memory, by one to three threads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from emdiam.errors import InputError
from emdiam.paths.arcs import ArcsOnDisk
from emdiam.paths.blocks import StoreBlocks
from emdiam.paths.methods import METHODS, shortest_paths
from emdiam.paths.negative_cycle import NegativeCycle
from emdiam.paths.paths import Paths, SearchOptions
from emdiam.paths.rows import WeightedRows
from emdiam.store.store import open_store
from tests.helpers.many_graphs import EVERY_KIND, Drawn, by_scipy, campaign, drawn
from tests.helpers.weighted_stores import TINY, arena_bytes, write_rows

# What h-bf has no room for.
NARROW = (1 << 32) - 1


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


def has_no_room(rows: WeightedRows, want: np.ndarray | None) -> bool:
    """Whether h-bf must refuse, or (with a cycle of negative weight, want None) may."""
    if rows.distance_dtype.kind == "f":
        return True
    if want is None:
        return int(rows.least_weight) * rows.n_vertices * rows.n_vertices < -NARROW // 2
    there, base = want[np.isfinite(want)], NARROW // 2 + 1 if rows.least_weight < 0 else 0
    return bool(there.max() + base >= NARROW or (base and there.min() + rows.least_weight < -base))


def check_every_method(graph: Drawn, source: int, options: SearchOptions) -> None:
    """Those that take such weights are right, others refuse them."""
    rows, want = graph.rows, by_scipy(graph.rows, source)
    for name, method in METHODS.items():
        if rows.least_weight < 0 and not method.negative:
            with pytest.raises(InputError, match="not negative"):
                shortest_paths(rows, source, name, options)
        elif name == "h-bf" and has_no_room(rows, want):
            with pytest.raises(InputError, match="h-bf has" if want is not None else ""):
                shortest_paths(rows, source, name, options)
        elif want is None:
            with pytest.raises(NegativeCycle):
                shortest_paths(rows, source, name, options)
        else:
            check(shortest_paths(rows, source, name, options), rows, want, int(source * 5 + 1) % rows.n_vertices)


def storable(rows: WeightedRows) -> WeightedRows:
    """The rows with weights that a search over blocks takes: without signs, and int64 as float64."""
    if rows.weights is None or rows.weights.dtype.kind == "u":
        return rows
    kind = {"int32": "uint32", "int64": "float64"}.get(rows.weights.dtype.name, rows.weights.dtype)
    return WeightedRows(rows.offsets, rows.heads, np.abs(rows.weights).astype(kind))


def check_streamed(graph: Drawn, source: int, folder: Path, threads: int, blocks: int) -> None:
    """Over blocks of a store, of which so many are in memory."""
    rows = storable(graph.rows)
    want = by_scipy(rows, source)
    assert want is not None
    path = write_rows(folder / "g.zarr", rows, graph.directed, chunk_ids=TINY)
    with open_store(path, directed=graph.directed) as store:
        search = ArcsOnDisk(StoreBlocks(store), arena_bytes(store, blocks), SearchOptions(threads))
        try:
            check(search.run(source, tree=True), rows, want, int(source * 5 + 1) % rows.n_vertices)
        finally:
            search.close()


def many_in_ram(numbers: Sequence[int]) -> None:
    for number in numbers:
        graph, random = drawn(number), np.random.default_rng([number, 1])
        source, delta = int(random.integers(graph.rows.n_vertices)), random.choice([None, None, 0.3, 7.0, np.inf])
        check_every_method(graph, source, SearchOptions(int(random.integers(1, 3)), delta))


def many_streamed(numbers: Sequence[int], folder: Path) -> None:
    for number in numbers:
        graph, random = drawn(number), np.random.default_rng([number, 2])
        source, threads, blocks = (int(random.integers(*ends)) for ends in (
            (0, graph.rows.n_vertices), (1, 4), (2, 6)))
        check_streamed(graph, source, folder, threads, blocks)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_blocks")
def test_a_graph_of_every_kind(tmp_path: Path) -> None:
    """Each kind of weights, with directions and without."""
    many_in_ram(EVERY_KIND)
    many_streamed(EVERY_KIND, tmp_path)


@pytest.mark.slow
@campaign(10)
def test_many_graphs(numbers: range) -> None:
    many_in_ram(numbers)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_blocks")
@campaign(10)
def test_many_graphs_over_blocks(numbers: range, tmp_path: Path) -> None:
    many_streamed(numbers, tmp_path)
