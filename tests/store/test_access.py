"""What is read when: sparse levels read only frontier blocks, dense levels each block once, and
`indices` is never read whole at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store
from emdiam.traverse.bfs import BfsRun
from tests.helpers import naive
from tests.helpers.stores import CHUNK, write_store


class Recorder:
    """Wraps a ShardedArray and lists the blocks of every fetch."""

    def __init__(self, array: Any) -> None:
        self._array, self.fetches = array, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._array, name)

    def fetch(self, first: int, rows: Sequence[np.ndarray]) -> int:
        self.fetches.append((first, len(rows)))
        return self._array.fetch(first, rows)

    def batches(self, first: int, count: int, rows: Sequence[np.ndarray]) -> Iterator[tuple[int, int]]:
        self.fetches.append((first, count))
        return self._array.batches(first, count, rows)

    def blocks(self) -> list[int]:
        found = [b for first, count in self.fetches for b in range(first, first + count)]
        self.fetches = []
        return found


def blocks_of(graph: naive.Graph, vertices: list[int]) -> set[int]:
    indptr, _ = naive.csr(graph)
    return {
        b for v in vertices if indptr[v] < indptr[v + 1]
        for b in range(indptr[v] // CHUNK, (indptr[v + 1] - 1) // CHUNK + 1)
    }


def random_graph(n: int, degree: int, seed: int) -> naive.Graph:
    rng = np.random.default_rng(seed)
    return naive.graph_of(n, rng.integers(0, n, (n * degree // 2, 2)).tolist())


def grid(side: int) -> naive.Graph:
    edges = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    edges += [(r * side + c, r * side + side + c) for r in range(side - 1) for c in range(side)]
    return naive.graph_of(side * side, edges)


def levels(tmp_path: Path, graph: naive.Graph, dense_arcs: int) -> Any:
    """Yields (level before, ran dense?, bottom-up?, blocks read, distances) per step of a BFS."""
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store:
        recorder = Recorder(store.indices)
        store.indices = recorder  # type: ignore[assignment]
        options = {"memory_bytes": 2 << 30, "arena_bytes": 4 * CHUNK * 4, "dense_arcs": dense_arcs}
        with open_engine(store, **options) as engine:
            recorder.blocks()
            run = BfsRun(engine.core, 0, profile=True)
            per_level: dict[int, list[int]] = {}
            kinds: dict[int, tuple[bool, bool]] = {}
            finished = False
            while not finished:
                level, dense = run.level, run.mode is run.dense
                finished = run.step()
                per_level.setdefault(level, []).extend(recorder.blocks())
                kinds[level] = (dense, run.front.bottom_up)
            largest = max((count for _, count in recorder.fetches), default=0)
            yield from ((k, *kinds[k], blocks) for k, blocks in per_level.items())
            assert largest < store.indices.n_chunks


def check_level(graph: naive.Graph, dist: list[int], level: int, up: bool, blocks: list[int]) -> None:
    """Each block once; top-down only blocks of frontier rows, bottom-up only those of unvisited ones."""
    assert len(blocks) == len(set(blocks)), "a block was read twice in one level"
    wanted = [v for v, d in enumerate(dist) if d == level or (up and (d < 0 or d > level))]
    assert set(blocks) <= blocks_of(graph, wanted)


@pytest.mark.parametrize("graph", [grid(40), random_graph(900, 3, 1)], ids=["grid", "random"])
def test_sparse_levels_read_only_frontier_blocks(tmp_path: Path, graph: naive.Graph) -> None:
    dist = naive.distances(graph, 0)
    sparse = 0
    for level, dense, up, blocks in levels(tmp_path, graph, dense_arcs=1 << 40):
        check_level(graph, dist, level, dense and up, blocks)
        sparse += 0 if dense else len(blocks)
    assert sparse > 10


@pytest.mark.parametrize("graph", [grid(40), random_graph(900, 14, 2)], ids=["grid", "random"])
def test_dense_levels_read_no_block_twice_and_only_useful_ones(tmp_path: Path, graph: naive.Graph) -> None:
    dist = naive.distances(graph, 0)
    directions = set()
    for level, dense, up, blocks in levels(tmp_path, graph, dense_arcs=0):
        check_level(graph, dist, level, dense and up, blocks)
        if dense:
            directions.add(up)
    assert False in directions


def test_dense_direction_goes_bottom_up(tmp_path: Path) -> None:
    graph = random_graph(900, 14, 2)
    assert any(up for _, dense, up, _ in levels(tmp_path, graph, dense_arcs=0) if dense)


def test_an_arena_as_large_as_the_graph_reads_each_block_once(tmp_path: Path) -> None:
    graph = random_graph(900, 14, 3)
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store:
        with open_engine(store, memory_bytes=2 << 30) as engine:
            for source in range(5):
                engine.bfs(source)
            assert engine.reporter.stats().blocks_read == store.indices.n_chunks


@pytest.mark.parametrize("n_rows", [1, 2, 3, 20])
def test_runs_hold_as_many_encoded_bytes_as_wanted_and_are_decoded_in_batches(tmp_path: Path, n_rows: int) -> None:
    graph = random_graph(200, 12, 1)
    _, expected = naive.csr(graph)
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store:
        array, rows = store.indices, np.empty((n_rows, CHUNK), np.uint32)
        first, found, shards = 0, [], 0
        while first < array.n_chunks:
            sizes = [len(piece) for piece in array.encoded(first, array.run_length(first, 5))]
            for k in range(1, len(sizes) + 1):
                assert array.run_length(first, 5, sum(sizes[:k])) == k
                assert array.run_length(first, 5, sum(sizes[:k]) - 1) == max(1, k - 1)
            assert array.run_length(first, 5, 0) == 1 and array.run_length(first, 2, 1 << 40) == min(2, len(sizes))
            shards += len(sizes) < 5
            for n_blocks, n_bytes in array.batches(first, len(sizes), list(rows)):
                assert n_bytes == sum(sizes[:n_blocks])
                del sizes[:n_blocks]
                found.append(rows[:n_blocks].reshape(-1).copy())
                first += n_blocks
            assert not sizes
    assert shards and np.concatenate(found)[: len(expected)].tolist() == expected.tolist()
