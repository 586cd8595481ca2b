"""Bounds of rows, and values along arcs, equal those of the graph, with two chunks of offsets in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from emdiam.errors import StoreError
from emdiam.external.buckets import Buckets, Ranges, smallest
from emdiam.external.rows import Rows
from emdiam.sorting.scratch import Scratch
from emdiam.store.store import open_store
from emdiam.stream.counters import SharedCounters
from emdiam.stream.threads import Threads
from tests.helpers import naive
from tests.helpers.stores import odd_graphs, write_store

ODD = odd_graphs()
NAMES = ["one", "no-edges", "path", "star", "isolated-first", "mesh", "large-star"]


@contextmanager
def rows_of(path: Path, arc_slots: int = 3) -> Iterator[Rows]:
    threads = Threads(2, 1)
    try:
        with open_store(path) as store:
            yield Rows(store, threads, SharedCounters(), arc_slots=arc_slots, offset_slots=2, run_blocks=2)
    finally:
        threads.close()


@pytest.mark.parametrize("name", NAMES)
def test_bounds_and_degrees(tmp_path: Path, name: str) -> None:
    graph = ODD[name]
    indptr, _ = naive.csr(graph)
    with rows_of(write_store(tmp_path / "g.zarr", graph)) as rows:
        for step in (1, 3, 70):
            vertices = np.arange(0, len(graph), step)
            starts, ends = rows.bounds(vertices)
            assert starts.tolist() == indptr[vertices].tolist() and ends.tolist() == indptr[vertices + 1].tolist()
        backwards = np.arange(len(graph))[::-1]
        assert rows.degrees(backwards).tolist() == [len(graph[v]) for v in backwards]
        assert [pair for vertices, degrees in rows.ascending() for pair in zip(
            vertices.tolist(), degrees.tolist(), strict=True)] == [(v, len(row)) for v, row in enumerate(graph)]


@pytest.mark.parametrize("arc_slots", [1, 100])
@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_least_value_of_the_neighbours(
    tmp_path: Path, scratch: Scratch, name: str, up: bool, arc_slots: int
) -> None:
    graph = ODD[name]
    n = len(graph)
    values = np.arange(n, dtype=np.uint32) * 7919 % 1009
    active = np.flatnonzero(np.arange(n) % 3 != 1)
    least = np.full(n, 5000, np.uint32)

    def put(first: int, found: np.ndarray) -> None:
        least[first : first + len(found)] = found

    with rows_of(write_store(tmp_path / "g.zarr", graph), arc_slots) as rows:
        buckets = Buckets(scratch, Ranges(n, 64), smallest(put, np.uint32, 5000), np.uint32, np.uint32,
                          buffer_bytes=1000)
        pieces = [(part, values[part]) for part in np.array_split(active, 3)]
        arcs = rows.send(pieces, buckets, up=up)
        buckets.finish()
    assert arcs == sum(len(graph[v]) for v in active.tolist())
    want = np.full(n, 5000)
    for v in active.tolist():
        for w in graph[v]:
            if not up or w > v:
                want[w] = min(want[w], values[v])
    assert least.tolist() == want.tolist()


def test_a_block_is_read_once_a_piece(tmp_path: Path, scratch: Scratch) -> None:
    graph = ODD["mesh"]
    with rows_of(write_store(tmp_path / "g.zarr", graph), 1) as rows:
        nothing = smallest(lambda first, found: None, np.uint32, 0)
        buckets = Buckets(scratch, Ranges(len(graph), 512), nothing, np.uint32, buffer_bytes=1000)
        before = rows.counters.snapshot().blocks_read
        rows.send([(np.arange(len(graph)), None)], buckets)
        assert rows.counters.snapshot().blocks_read - before == rows.table.n_blocks
        buckets.finish()


def test_rows_that_do_not_ascend_are_refused(tmp_path: Path, scratch: Scratch) -> None:
    path = write_store(tmp_path / "g.zarr", [[2, 1], [0], [0]])
    with rows_of(path) as rows, pytest.raises(StoreError, match="vertex 0 do not ascend"):
        rows.send([(np.array([0]), None)], Buckets(scratch, Ranges(3, 64), smallest(
            lambda first, found: None, np.uint32, 0), np.uint32, buffer_bytes=1000))
