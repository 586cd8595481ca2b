"""Searches over the blocks of a store against plain Bellman-Ford, and what memory they may have."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import emdiam
from emdiam.errors import BudgetError, InputError
from emdiam.paths import blocks, queued
from emdiam.paths.arcs import ArcsOnDisk
from emdiam.paths.blocks import StoreBlocks, sliced_rows
from emdiam.paths.paths import SearchOptions, length_of
from emdiam.store.store import open_store
from tests.helpers.path_twins import FLOATS, WHOLE, Graph, bellman_ford, graphs, rows_of
from tests.helpers.weighted_stores import write_rows

BLOCK = 1024


def stored(folder: Path, graph: Graph, dtype: str) -> Path:
    """A store of the graph, with directions if it has them, in blocks of the least size."""
    return write_rows(folder / "g.zarr", rows_of(graph, np.dtype(dtype).type), graph[2])


def check(graph: Graph, dtype: str, arena_bytes: int) -> int:
    """Distances and all paths are right; blocks that were read."""
    truth = bellman_ford(graph, 0)
    assert truth is not None
    with (tempfile.TemporaryDirectory() as folder,
          open_store(stored(Path(folder), graph, dtype), directed=graph[2]) as store):
        search = ArcsOnDisk(StoreBlocks(store), arena_bytes, SearchOptions(threads=2))
        paths = search.run(0, tree=True)
        assert [d if there else float("inf")
                for d, there in zip(paths.distances.tolist(), paths.has_path, strict=True)] == truth
        rows = sliced_rows(store)
        for target in range(0, graph[0], 1 + graph[0] // 20):
            path = paths.path_to(rows, target)
            assert (path is None) == (truth[target] == float("inf"))
            assert path is None or (path[0] == 0 and path[-1] == target and length_of(rows, path) == truth[target])
        search.close()
        return search._machine.counters.blocks_read


@settings(deadline=None, max_examples=20)
@given(graphs(WHOLE))
def test_whole_weights(graph: Graph) -> None:
    check(graph, "uint32", 1 << 20)


@settings(deadline=None, max_examples=15)
@given(graphs(FLOATS))
def test_floats(graph: Graph) -> None:
    check(graph, "float64", 1 << 20)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("dtype", "largest"), [("uint8", 3), ("uint32", 1 << 31), ("float32", 1)])
def test_many_blocks_and_an_arena_of_few(dtype: str, largest: int, directed: bool) -> None:
    """Rows of a hub span blocks; zeros are among the weights."""
    rng = np.random.default_rng(5)
    n, weights = 700, rng.integers(0, largest, 6000) if dtype[0] == "u" else rng.random(6000).astype(np.float32)
    ends = rng.integers(0, n, (6000, 2))
    ends[:600, 0], ends[:600, 1] = 3, np.arange(600)
    edges = [(a, b, w) for (a, b), w in zip(ends.tolist(), weights.tolist(), strict=True)]
    assert check((n, edges, directed), dtype, 3 * 64 * (4 + np.dtype(dtype).itemsize)) > 3


@pytest.mark.parametrize("small", [0, 1 << 16])
@pytest.mark.parametrize("entries", [64, 1 << 16])
@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_sparse_graphs(small: int, entries: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that other threads read and those that are read at once; a queue that has no room for all that waits."""
    monkeypatch.setattr(blocks, "_SMALL", small)
    monkeypatch.setattr(queued, "QUEUE", entries)
    rng = np.random.default_rng(6)
    ends = np.concatenate([rng.integers(0, 700, (1200, 2)), np.stack([np.full(400, 3), np.arange(400)], axis=1)])
    weights = rng.integers(0, 200, len(ends)) if dtype == "uint8" else rng.random(len(ends))
    edges = [(a, b, w) for (a, b), w in zip(ends.tolist(), weights.tolist(), strict=True)]
    assert check((700, edges, False), dtype, 3 * 64 * (4 + np.dtype(dtype).itemsize)) > 3


@pytest.mark.parametrize(("edge", "searches"), [((1 << 32) - 2, 2), ((1 << 32) - 1, 1), (1 << 31, 2), (1 << 28, 1)])
def test_distances_that_32_bits_hold_and_others(edge: int, searches: int, tmp_path: Path) -> None:
    """Labels are narrow at first where a weight may be one, and wide where a distance has no room."""
    with open_store(stored(tmp_path, (8, [(a, a + 1, edge) for a in range(6)], False), "uint32")) as store:
        search = ArcsOnDisk(StoreBlocks(store), 1 << 20, SearchOptions())
        found = search.run(0, tree=False).distances
        search.close()
        assert search._machine.counters.searches == searches
    assert found.tolist() == [a * edge for a in range(7)] + [(1 << 64) - 1]


@pytest.mark.parametrize("delta", [1e-30, 1e-3, 1e30])
def test_windows_of_any_width(delta: float, tmp_path: Path) -> None:
    """Also such that a label and one window more are the same number."""
    rng = np.random.default_rng(7)
    edges = [(a, a + 1, w) for a, w in enumerate(rng.random(300).tolist())]
    with open_store(stored(tmp_path, (301, edges, False), "float64")) as store:
        search = ArcsOnDisk(StoreBlocks(store), 1 << 12, SearchOptions(delta=delta))
        found = search.run(0, tree=False).distances
        search.close()
    assert np.array_equal(found, np.cumsum([0, *(w for _, _, w in edges)]))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_block_that_cannot_be_read(tmp_path: Path, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is raised whoever reads the block, and no slot is lost."""
    emdiam.generate("grid", tmp_path / "g.zarr", sides="60x70", chunk=BLOCK)
    with open_store(tmp_path / "g.zarr") as store:
        search = ArcsOnDisk(StoreBlocks(store), 8 * 4 * BLOCK, SearchOptions(threads))
        machine, read = search._machine, search._blocks.read

        def fail(block: int, *place: Any) -> int:
            if block == 9:
                raise OSError("not there")
            return read(block, *place)

        monkeypatch.setattr(search._blocks, "read", fail)
        with pytest.raises(OSError, match="not there"):
            search.run(0, tree=False)
        search.close()
        assert len(machine._free) + np.count_nonzero(machine._slots >= 0) == 8


def test_a_run_streams_where_memory_has_no_room(tmp_path: Path) -> None:
    emdiam.generate("grid", tmp_path / "g.zarr", sides="60x70", chunk=BLOCK)
    in_ram = emdiam.shortest_paths(tmp_path / "g.zarr", 7, target=4100)
    streamed = emdiam.shortest_paths(tmp_path / "g.zarr", 7, target=4100, arena=2 * 4 * BLOCK)
    assert streamed.streamed and not in_ram.streamed and streamed.bytes_read > 0
    assert streamed.distance == in_ram.distance and streamed.largest_distance == in_ram.largest_distance
    assert in_ram.distances is not None and np.array_equal(streamed.distances, in_ram.distances)
    with pytest.raises(InputError, match="h-bf has all arcs in memory"):
        emdiam.shortest_paths(tmp_path / "g.zarr", 7, method="h-bf", arena=2 * 4 * BLOCK)
    with pytest.raises(BudgetError, match="least is .*2 blocks"):
        emdiam.shortest_paths(tmp_path / "g.zarr", 7, arena=4 * BLOCK)
