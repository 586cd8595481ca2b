"""Offsets of 32 and of 64 bits: which rows have which, and rows that end where those of 32 bits do, or far behind."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from emdiam.gpu import graph as of_graphs
from emdiam.gpu.bfs_auto import AutoBfs, bfs_persistent
from emdiam.gpu.device import Device
from emdiam.gpu.direction_table import DirectionTable, Rule
from emdiam.gpu.engine import path_pieces
from emdiam.gpu.graph import MOST_NARROW, DeviceGraph, offsets_dtype
from emdiam.gpu.multi_source import WholeBatch, WideBatch
from emdiam.gpu.paths.registry import SEARCHES, device_paths
from emdiam.gpu.setting import OnDevice
from emdiam.gpu.spread import WholeSpread
from tests.engine.test_protocol import check_all
from tests.gpu import test_mapping, test_spread, test_whole
from tests.gpu.paths import test_searches
from tests.helpers import naive
from tests.helpers.stores import engine_on, odd_graphs, write_store
from tests.simt.devices import open_device, plain_distances
from tests.simt.shim_device import ShimArray

GRAPH = test_whole.hubs()
SOURCES = (0, 1301, 1345)
# Types of ids and offsets, and where the last row ends.
ENDS = {"narrow": (np.uint32, np.uint32, MOST_NARROW), "wide": (np.uint32, np.uint64, 3 << 32),
        "both-wide": (np.uint64, np.uint64, 3 << 32)}


class Behind(ShimArray):
    """An array whose items are numbered from `first` on: kernels get an address that many items before it."""

    def __init__(self, array: Any, first: int) -> None:
        self.kept = array
        super().__init__(SimpleNamespace(  # type: ignore[arg-type]
            dtype=array.dtype, size=array.size, nbytes=array.nbytes,
            ctypes=SimpleNamespace(data=array._values.ctypes.data - first * array.dtype.itemsize)))


def graph_behind(device: Device, rows: naive.Graph, ids: type, offsets: type, end: int) -> DeviceGraph:
    """Rows of which the last ends before arc `end`; what is before the first is not there."""
    indptr, indices = naive.csr(rows)
    first = end - len(indices)
    return DeviceGraph(device.array((indptr + first).astype(offsets)), Behind(device.array(indices.astype(ids)), first))


def by_whole_searches(device: Device, graph: DeviceGraph) -> None:
    for way in ("usual", "to-and-fro", "wide-together"):
        search = test_whole.WholeBfs(device, graph, block=64, **test_whole.WAYS[way])
        for source in SOURCES:
            assert plain_distances(device.to_host(search.find(source).distances)) == naive.distances(GRAPH, source)


def by_levels(device: Device, graph: DeviceGraph) -> None:
    upwards = AutoBfs(device, graph, table=DirectionTable(1e9, 1e9, (Rule("two-phase"),)), block=64)
    for found in (upwards.run(0)[0], bfs_persistent(device, graph, 0, 64)[0]):
        assert plain_distances(device.to_host(found)) == naive.distances(GRAPH, 0)


def by_batches(device: Device, graph: DeviceGraph) -> None:
    want = [max(naive.distances(GRAPH, source)) for source in SOURCES]
    for cost, wide_row in ((0.0, 3), (float("inf"), 3), (2.0, 1024)):
        assert WholeBatch(device, graph, cost, 64, wide_row).run(np.array(SOURCES)).tolist() == want
    for wide_row in (3, 1024):
        assert WideBatch(device, graph, 64, wide_row).run(np.array(SOURCES)).tolist() == want


def by_spreads(device: Device, graph: DeviceGraph) -> None:
    for wide_row in (3, 1024):
        test_spread.check(WholeSpread(device, graph, 64, wide_row), GRAPH, random.Random(4))


def by_paths(device: Device, graph: DeviceGraph) -> None:
    known = naive.distances(GRAPH, 0)
    path = np.concatenate(list(path_pieces(device, graph, device.array(np.array(known).astype(np.uint32)), 1302)))
    assert [known[v] for v in path] == list(range(known[1302], -1, -1))


@pytest.mark.parametrize("end", ["narrow", *(pytest.param(name, marks=pytest.mark.slow) for name in ENDS
                                             if name != "narrow")])
@pytest.mark.parametrize("run", [by_whole_searches, by_levels, by_batches, by_spreads, by_paths])
def test_rows_that_end_late(run: Callable[[Device, DeviceGraph], None], end: str) -> None:
    device = open_device("shim-2")
    run(device, graph_behind(device, GRAPH, *ENDS[end]))


def test_the_type_of_offsets() -> None:
    assert [offsets_dtype(m, ids).itemsize for m, ids in (
        (0, 4), (MOST_NARROW, 4), (MOST_NARROW + 1, 4), (5, 8))] == [4, 4, 8, 8]
    # A kernel looks so many arcs behind the end of a row, and more.
    assert MOST_NARROW + (1 << 10) < 1 << 32


def test_offsets_of_32_bits_for_more_arcs_are_refused() -> None:
    device = open_device("shim-0")
    arcs: Any = SimpleNamespace(size=MOST_NARROW + 1, dtype=np.dtype(np.uint32))
    assert DeviceGraph(device.empty(2, np.uint64), arcs).n_arcs == MOST_NARROW + 1
    with pytest.raises(OverflowError, match="offsets of 32 bits are for up to 4294901760 arcs, not 4294901761"):
        DeviceGraph(device.empty(2, np.uint32), arcs)


@pytest.fixture
def no_narrow_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    """All offsets have 64 bits, as those of graphs of more than MOST_NARROW arcs."""
    monkeypatch.setattr(of_graphs, "MOST_NARROW", -1)


@pytest.mark.slow
@pytest.mark.usefixtures("no_narrow_offsets")
@pytest.mark.parametrize("paged", [False, True])
@pytest.mark.parametrize("name", ["clique-and-path", "isolated-first", "grid"])
def test_the_engine_with_wide_offsets(tmp_path: Path, name: str, paged: bool) -> None:
    shape = odd_graphs()[name]
    setting = OnDevice(open_device("shim-3"), paged=paged)
    with engine_on(write_store(tmp_path / "g.zarr", shape), device=setting) as engine:
        assert engine.graph.offsets.dtype == np.uint64 and engine.graph.id_dtype == np.uint32
        assert engine.vram.offset_bytes == 8 * (len(shape) + 1)
        check_all(engine, shape, random.Random(5))


@pytest.mark.slow
@pytest.mark.usefixtures("no_narrow_offsets")
@pytest.mark.parametrize("mapping", test_mapping.TUNINGS)
def test_every_mapping_with_wide_offsets(mapping: str) -> None:
    for shape in test_mapping.shapes().values():
        test_mapping.check_bfs(open_device("shim-2"), shape, len(shape) // 2, mapping, 96)


@pytest.mark.slow
@pytest.mark.usefixtures("no_narrow_offsets")
@pytest.mark.parametrize("search", SEARCHES)
def test_every_search_along_weights_with_wide_offsets(search: str) -> None:
    for dtype in test_searches.TYPES:
        for rows, source, want in (test_searches.odd(dtype)[one] for one in test_searches.FEW):
            if test_searches.takes(search, rows):
                test_searches.check(rows, device_paths(rows, source, open_device("shim-1"), search), want)
