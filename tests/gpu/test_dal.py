"""The BFS variants of papers/001 and the layouts they read, on a device: naive distances in every order of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.errors import BudgetError, InputError
from emdiam.gpu.device import Device
from emdiam.gpu.graph import DeviceGraph
from emdiam.gpu.variants.bfs_dal import (
    bfs_busy_wait,
    bfs_hybrid,
    bfs_lists,
    bfs_pointers,
    bfs_warp,
    hybrid_entry,
)
from emdiam.gpu.variants.layouts import list_matrix, padded_lists, with_addresses
from emdiam.gpu.variants.registry import VARIANTS
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs
from tests.simt import runner
from tests.simt.devices import DEVICES, SEEDS, device_graph, open_device, plain_distances

pytestmark = pytest.mark.thin(8)

DAL = [name for name in VARIANTS if name.startswith("dal-")]
LAYOUTS = {"lists": padded_lists, "matrix": list_matrix}
# A hub in the middle whose row has more than three segments, between empty rows.
HUB: naive.Graph = naive.graph_of(128, [(64, v) for v in range(10, 120)] + [(11, 12), (119, 9)])
ODD = {name: graph for name, graph in odd_graphs().items() if len(graph) <= 128} | {
    "hub": HUB, "short-path": naive.graph_of(70, [(i, i + 1) for i in range(69)])}
needs_shim = pytest.mark.skipif(not runner.have_compiler(), reason="the shim needs a C++ compiler")


def check(device: Device, variant: str, graph: naive.Graph, source: int, ids: type = np.uint32, **options: Any) -> None:
    """A variant against the naive distances."""
    distances, eccentricity = VARIANTS[variant].run(device, device_graph(device, graph, ids), source, **options)
    want = naive.distances(graph, source)
    assert plain_distances(device.to_host(distances)) == want
    assert eccentricity == max(want)


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("variant", DAL)
def test_odd_graphs(variant: str, name: str) -> None:
    device = open_device(name)
    for graph in ODD.values():
        check(device, variant, graph, len(graph) // 2, block=32)


@pytest.mark.slow
@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("variant", DAL)
def test_all_graphs_in_all_ways(variant: str, name: str, layout: str, ids: type) -> None:
    device = open_device(name)
    for graph in (odd_graphs() | ODD).values():
        lists = LAYOUTS[layout](device, device_graph(device, graph, ids))
        for block in (32, 256):
            for dtype in (np.uint16, np.uint32):
                for source in {0, len(graph) // 2, len(graph) - 1}:
                    check(device, variant, graph, source, ids, dtype=np.dtype(dtype), block=block, lists=lists)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("variant", DAL)
def test_more_vertices_than_threads(variant: str, seed: int) -> None:
    """256 threads for 600 vertices: a path in the middle, rays from it to all sections of all blocks."""
    graph = naive.graph_of(600, [(300 + i, 301 + i) for i in range(9)] + [
        (300 + v % 10, v) for v in range(590) if not 300 <= v < 310])
    device = open_device(f"shim-{seed}", n_sms=1)
    for layout in LAYOUTS.values():
        lists = layout(device, device_graph(device, graph))
        check(device, variant, graph, 11, block=32, lists=lists)


@needs_shim
@settings(max_examples=20, deadline=None)
@given(graphs(most=128), st.sampled_from(DAL), st.sampled_from(SEEDS), st.sampled_from(list(LAYOUTS)),
       st.sampled_from([32, 64, 256]), st.data())
def test_random_graphs(graph: naive.Graph, variant: str, seed: int, layout: str, block: int,
                       data: st.DataObject) -> None:
    device, source = open_device(f"shim-{seed}"), data.draw(st.integers(0, len(graph) - 1))
    lists = LAYOUTS[layout](device, device_graph(device, graph))
    check(device, variant, graph, source, block=block, lists=lists)


@pytest.mark.parametrize("name", ["shim-2", "gpu"])
@pytest.mark.parametrize("variant", DAL)
def test_wide_ids_and_narrow_distances(variant: str, name: str) -> None:
    check(open_device(name), variant, HUB, 9, np.uint64, dtype=np.dtype(np.uint8), block=32)


@pytest.mark.parametrize("name", ["shim-0", "gpu"])
@pytest.mark.parametrize("variant", DAL)
def test_distances_that_do_not_fit(variant: str, name: str) -> None:
    """With uint8 one value is for unreached vertices, so 254 is the largest distance."""
    device = open_device(name)
    for n in (255, 256):
        path = naive.graph_of(n, [(i, i + 1) for i in range(n - 1)])
        if n == 255:
            check(device, variant, path, 0, dtype=np.dtype(np.uint8))
            continue
        with pytest.raises(OverflowError, match="a distance above 254 does not fit uint8"):
            VARIANTS[variant].run(device, device_graph(device, path), 0, np.dtype(np.uint8))


@pytest.mark.parametrize("variant", DAL)
def test_rows_with_loops_and_repeated_neighbours(variant: str) -> None:
    for seed in SEEDS:
        check(open_device(f"shim-{seed}"), variant, [[0, 1, 1], [0, 0, 2, 1], [1, 2, 2], []], 0)


@pytest.mark.parametrize("variant", DAL)
def test_a_source_that_is_no_vertex(variant: str) -> None:
    device = open_device("shim-0")
    for source in (-1, 2):
        with pytest.raises(InputError, match=f"there is no vertex {source}; give one from 0 to 1"):
            VARIANTS[variant].run(device, device_graph(device, [[1], [0]]), source)


@pytest.mark.parametrize("variant", DAL)
def test_lists_of_another_graph(variant: str) -> None:
    device = open_device("shim-0")
    lists = padded_lists(device, device_graph(device, [[1], [0], []]))
    with pytest.raises(InputError, match="the lists have 3 vertices, the graph has 2; give the lists of this graph"):
        VARIANTS[variant].run(device, device_graph(device, [[1], [0]]), 0, lists=lists)


# -- what is particular to a variant -----------------------------------------------------------------
@needs_shim
def test_blocks_without_work_idle() -> None:
    """Along a path one or two blocks have work in a level: the others look at nothing."""
    steps = {}
    for variant in (bfs_lists, bfs_busy_wait):
        device = open_device("shim-0")
        graph = device_graph(device, naive.graph_of(512, [(i, i + 1) for i in range(511)]))
        lists = padded_lists(device, graph)
        before = device.steps
        distances, eccentricity = variant(device, graph, 500, block=32, lists=lists)
        steps[variant] = device.steps - before
        assert eccentricity == 500 and plain_distances(device.to_host(distances))[0] == 500
    # 16 blocks a level against at most 2, and what it takes to look once: measured 0.78.
    assert steps[bfs_busy_wait] < 0.85 * steps[bfs_lists]


@needs_shim
def test_a_warp_shares_a_list() -> None:
    """All lanes together take about the steps that one thread takes along a long row, not 32 or 16 times those."""
    steps = {}
    for variant in (bfs_lists, bfs_warp):
        device = open_device("shim-0")
        graph = device_graph(device, [[1] * 4096, [0]])
        lists = padded_lists(device, graph)
        before = device.steps
        assert variant(device, graph, 0, block=32, lists=lists)[1] == 1
        steps[variant] = device.steps - before
    assert steps[bfs_warp] < 2 * steps[bfs_lists]


class Recorder:
    """A device that keeps the names of the entries it launched."""

    def __init__(self, device: Device) -> None:
        self.device, self.launched = device, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.device, name)

    def launch(self, kernel: Any, *args: Any, **options: Any) -> None:
        self.launched.append(kernel.entry)
        self.device.launch(kernel, *args, **options)


@pytest.mark.parametrize("name", ["shim-1", "gpu"])
def test_hybrid_takes_warps_where_most_vertices_become_active(name: str) -> None:
    """Path of 10, star of 89 at its end: the leaves are the one level that is large."""
    graph = naive.graph_of(100, [(i, i + 1) for i in range(10)] + [(10, v) for v in range(11, 100)])
    device = Recorder(open_device(name))
    distances, eccentricity = bfs_hybrid(device, device_graph(device, graph), 0)
    assert plain_distances(device.to_host(distances)) == naive.distances(graph, 0) and eccentricity == 11
    levels = [entry for entry in device.launched if entry in ("bfs_lists", "bfs_warp")]
    assert levels == ["bfs_lists"] * 11 + ["bfs_warp"]
    for share, entry in ((0, "bfs_warp"), (1, "bfs_lists")):
        device.launched.clear()
        bfs_hybrid(device, device_graph(device, graph), 0, warp_share=share)
        assert device.launched.count(entry) == 12


def test_the_rule_of_hybrid() -> None:
    assert [hybrid_entry(fall, 100, 0.25) for fall in (1, 24, 25, 100)] == ["bfs_lists"] * 2 + ["bfs_warp"] * 2


@pytest.mark.parametrize("name", ["shim-3", "gpu"])
def test_addresses_are_made_once(name: str) -> None:
    device = Recorder(open_device(name))
    graph = device_graph(device, HUB)
    lists = with_addresses(device, padded_lists(device, graph))
    device.launched.clear()
    distances, _ = bfs_pointers(device, graph, 9, lists=lists)
    assert plain_distances(device.to_host(distances)) == naive.distances(HUB, 9)
    assert set(device.launched) == {"bfs_pointers"}


# -- layouts -----------------------------------------------------------------------------------------
def rows_in(values: np.ndarray, starts: list[int], sizes: np.ndarray) -> tuple[list[list[int]], np.ndarray]:
    """The lists at `starts`, and a mask of all entries that are in none."""
    padding = np.ones(len(values), bool)
    for start, size in zip(starts, sizes.tolist(), strict=True):
        padding[start : start + size] = False
    rows = [values[start : start + size].tolist() for start, size in zip(starts, sizes.tolist(), strict=True)]
    return rows, padding


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("name", DEVICES)
def test_layouts_hold_the_rows(name: str, ids: type) -> None:
    device = open_device(name)
    for graph in ODD.values():
        on_device = device_graph(device, graph, ids)
        needs = [-(-len(row) // 32) * 32 for row in graph]
        lists, matrix = padded_lists(device, on_device), list_matrix(device, on_device)
        starts = [sum(needs[:v]) for v in range(len(graph))]
        assert lists.starts is not None and device.to_host(lists.starts).tolist() == [*starts, sum(needs)]
        assert matrix.starts is None and matrix.width == max(needs)
        for made, begins, total in ((lists, starts, sum(needs)),
                                    (matrix, [v * max(needs) for v in range(len(graph))], len(graph) * max(needs))):
            values = device.to_host(made.entries)
            rows, padding = rows_in(values, begins, device.to_host(made.sizes))
            assert rows == [list(row) for row in graph]
            assert values.dtype == ids and len(values) == total and np.all(values[padding] == np.iinfo(ids).max)
            assert made.n_vertices == len(graph)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["shim-0", "gpu"])
def test_addresses_are_those_of_the_lists(name: str, layout: str) -> None:
    """They differ as the beginnings do, in bytes."""
    device = open_device(name)
    lists = with_addresses(device, LAYOUTS[layout](device, device_graph(device, HUB, np.uint64)))
    assert lists.addresses is not None
    at = device.to_host(lists.addresses).astype(np.int64)
    begins = (np.arange(128) * lists.width if lists.starts is None
              else device.to_host(lists.starts)[:-1].astype(np.int64))
    assert np.array_equal(at - at[0], 8 * begins)


@needs_shim
def test_a_matrix_without_room() -> None:
    """The star of 128: lists take 4 segments and 127 of 1, the matrix 128 of 4."""
    device = open_device("shim-0", total=60_000)
    graph = device_graph(device, naive.graph_of(128, [(0, v) for v in range(1, 128)]))
    assert isinstance(graph, DeviceGraph) and padded_lists(device, graph).entries.size == 32 * (127 + 4)
    with pytest.raises(BudgetError, match="matrix of 128 lists of 128 entries takes 67592 bytes.*use padded lists"):
        list_matrix(device, graph)
