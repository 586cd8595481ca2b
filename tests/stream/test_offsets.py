"""Compact offsets and the block table give back every offset, hubs included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.gpu.host_engine import MemoryArray
from emdiam.jit import kernel
from emdiam.store.store import open_store
from emdiam.stream import uncompiled
from emdiam.stream.blocks import build_block_table
from emdiam.stream.offsets import (
    Offsets,
    build_offsets,
    following_starts,
    offsets_bytes,
    row_length,
    row_span,
    row_starts,
)
from tests.helpers import naive
from tests.helpers.stores import CHUNK, odd_graphs, write_store


def held(offsets: Offsets) -> int:
    """Bytes of its arrays."""
    return offsets.group.nbytes + offsets.row.nbytes + offsets.hub.nbytes


def starts(indptr: np.ndarray, cuts: list[int]) -> np.ndarray:
    n = len(indptr) - 1
    pieces = [p for p in np.split(indptr, sorted({min(c, n + 1) for c in cuts})) if len(p)]
    offsets = build_offsets(n, iter(pieces))
    assert held(offsets) <= offsets_bytes(n, int(indptr[-1]), int(np.diff(indptr).max(initial=0)))
    out = np.empty(n + 1, np.int64)
    fields = offsets.group, offsets.row, offsets.hub
    row_starts(*fields, np.arange(n + 1), out)
    for first in {0, n // 3, n}:
        following = np.empty(n + 1 - first, np.int64)
        following_starts(*fields, first, following)
        assert following.tolist() == indptr[first:].tolist()
    spans = np.empty((n, 2), np.int64)
    row_spans(*fields, np.arange(n), spans)
    assert spans.tolist() == np.stack((indptr[:-1], indptr[1:]), axis=1).tolist()
    lengths = [length_of(*fields, v) for v in range(n)]
    assert lengths == np.diff(indptr).tolist()
    return out


@kernel
def row_spans(group, row, hub, vertices, out):  # type: ignore[no-untyped-def]
    """Start and end of each row into `out`, int64[k, 2]."""
    for i in range(len(vertices)):
        out[i, 0], out[i, 1] = row_span(group, row, hub, vertices[i])


@kernel
def length_of(group, row, hub, v):  # type: ignore[no-untyped-def]
    """Arcs of row v."""
    return row_length((group, row, hub), v)


@settings(max_examples=100, deadline=None)
@given(
    degrees=st.lists(st.one_of(st.integers(0, 9), st.integers(253, 257), st.integers(60_000, 70_000), st.just(2**33)),
                     max_size=300),
    cuts=st.lists(st.integers(0, 301), max_size=5),
)
def test_every_offset_comes_back(degrees: list[int], cuts: list[int]) -> None:
    indptr = np.concatenate(([0], np.cumsum(np.array(degrees, np.int64), dtype=np.int64)))
    assert starts(indptr, cuts).tolist() == indptr.tolist()


@pytest.mark.parametrize("degree", [254, 255, 256, 1 << 31])
def test_a_group_of_rows_that_are_all_as_long(degree: int) -> None:
    indptr = np.cumsum([0, *[degree] * 64, 3, *[degree] * 100])
    assert starts(indptr, [70]).tolist() == indptr.tolist()


@pytest.mark.parametrize(("degrees", "most"), [([10], 1.26), ([255] + [0] * 63, 1.65), ([255], 9.6)])
def test_memory_is_little_more_than_a_byte_a_vertex(degrees: list[int], most: float) -> None:
    rows = np.resize(degrees, 64 << 10)
    offsets = build_offsets(len(rows), iter([np.cumsum([0, *rows])]))
    assert held(offsets) / len(rows) < most
    assert offsets.row.ctypes.data % 64 == 0


@pytest.mark.parametrize("indptr", [[0, 5, 3], [0, 1], [1, 2, 3, 4], [0, 1, 2, 3, 4, 5]])
def test_bad_offsets_are_refused(indptr: list[int]) -> None:
    values = np.array(indptr, np.int64)
    if indptr[0] == 1:
        values = np.array([0, 9, 8, 9], np.int64)
    with pytest.raises(ValueError):
        build_offsets(3 if len(indptr) != 3 else 2, iter([values]))


@pytest.mark.parametrize("name", odd_graphs())
def test_block_table(tmp_path: Path, name: str) -> None:
    graph = odd_graphs()[name]
    indptr, _ = naive.csr(graph)
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store:
        table = build_block_table(store)
    owner = np.repeat(np.arange(len(graph)), np.diff(indptr))
    assert table.first_vertex.tolist() == [*owner[::CHUNK].tolist(), len(graph)]
    bits = np.unpackbits(table.isolated.view(np.uint8), bitorder="little")
    assert bits[: len(graph)].tolist() == [int(not row) for row in graph]
    assert bits[len(graph) :].all()


def test_memory_array_is_read_by_chunks() -> None:
    array = MemoryArray(np.arange(10), 4)
    rows = np.zeros((3, 4), np.int64)
    assert array.n_chunks == 3 and array.run_length(1, 9) == 2
    array.fetch(0, list(rows))
    assert rows.reshape(-1)[:10].tolist() == list(range(10))


@pytest.mark.parametrize(("first", "stop"), [(0, 100), (64, 256), (192, 250), (256, 300)])
@pytest.mark.parametrize("largest", [5, 700])
def test_rows_of_a_range_begin_where_they_do_in_the_graph(first: int, stop: int, largest: int):
    """For a worker; by kernels, and by numpy in their place."""
    indptr = np.concatenate(([0], np.cumsum(np.random.default_rng(first).integers(0, largest, 300))))
    offsets = build_offsets(300, iter([indptr[first : stop + 1]]), (first, stop))
    fields, out = (offsets.group, offsets.row, offsets.hub), np.empty(stop - first + 1, np.int64)
    for starts_from in (following_starts, uncompiled.following_starts):
        starts_from(*fields, first, out)
        assert out.tolist() == indptr[first : stop + 1].tolist()
