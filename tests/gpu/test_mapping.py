"""Every mapping visits each arc of a frontier once, and BFS with it gives the naive distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.errors import InputError
from emdiam.gpu.device import Device
from emdiam.gpu.frontier import FrontierLauncher
from emdiam.gpu.graph import DeviceGraph, offsets_dtype
from emdiam.gpu.kernel_file import ExclusiveSums
from emdiam.gpu.mappings import MAPPINGS, find_mapping
from emdiam.gpu.variants.bfs_frontier import bfs_frontier
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs
from tests.simt import runner
from tests.simt.compile_proof import NVCC, compile_log, have_nvcc, read_log
from tests.simt.devices import DEVICES, SEEDS, device_graph, open_device, plain_distances

needs_nvcc = pytest.mark.skipif(not have_nvcc(), reason=f"the CUDA compiler {NVCC} is not on this machine")
COUNT = runner.HERE / "count_arcs.cu"
SHIMS = tuple(f"shim-{seed}" for seed in SEEDS)
# Tunings that make small frontiers take every path: big rows, several windows, several chunks.
SMALL: Mapping[str, str] = {
    "threads": "threads", "virtual-warps": "virtual-warps:lanes=2",
    "dynamic-warps": "dynamic-warps:big-row=16,least-lanes=4",
    "cta-warp-scan": "cta-warp-scan:block-row=64,warp-row=8", "direct-search": "direct-search",
    "warp-search": "warp-search", "block-search": "block-search:sums=16", "two-phase": "two-phase:arcs=1",
    "multi-phase": "multi-phase:arcs=2,searches=3",
}
TUNINGS = [*MAPPINGS, *(text for name, text in SMALL.items() if text != name)]
HUB = 100
# Degrees by the place in the queue: one hub among small rows, first, in the middle, last, and other odd ones.
SKEWED: Mapping[str, Sequence[int]] = {
    "hub-first": [HUB] + [i % 4 for i in range(70)], "hub-last": [i % 4 for i in range(70)] + [HUB],
    "hub-between": [i % 4 for i in range(33)] + [HUB] + [3 - i % 4 for i in range(33)],
    "hubs": [HUB, 0, HUB, 64, 8, 7, 65, 32, 31, 33, 0, HUB], "hub-alone": [HUB], "nothing": [0], "empty-rows": [0] * 90,
    "one-arc-in-many": [0] * 300 + [1] + [0] * 300,
    "ends-of-windows": [0] * 15 + [1] + [0] * 16 + [40] + [0] * 31 + [2],
    "far-apart": [1] + [0] * 600 + [2], "more-than-blocks": [1] * 3300,
}


def rows_graph(device: Device, degrees: Sequence[int], dtype: type = np.uint32) -> DeviceGraph:
    """Vertices of these degrees; who the neighbours are does not matter."""
    offsets, ids = np.concatenate([[0], np.cumsum(degrees)]), np.zeros(sum(degrees), dtype)
    return DeviceGraph(device.array(offsets.astype(offsets_dtype(ids.size, ids.itemsize))), device.array(ids))


def check_visits(device: Device, degrees: Sequence[int], queue: Sequence[int], launcher: FrontierLauncher) -> None:
    """Every arc of the vertices in `queue` once, with its row, and no other arc; twice in a row."""
    n_arcs = sum(degrees)
    kernels = launcher.kernels(COUNT, "count_arcs")
    offsets, want = np.concatenate([[0], np.cumsum(degrees)]).astype(int), np.zeros(n_arcs, int)
    for row, v in enumerate(queue):
        want[offsets[v] : offsets[v + 1]] = row + 1
    for _ in range(2):
        visits, rows = device.array(np.zeros(n_arcs, np.uint32)), device.array(np.zeros(n_arcs, np.uint64))
        ids = device.array(np.array(queue, launcher.graph.neighbours.dtype))
        launcher.launch(kernels, ids, (visits, rows))
        assert device.to_host(visits).tolist() == (want > 0).tolist()
        assert device.to_host(rows).tolist() == want.tolist()


@pytest.mark.thin(4)
@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("mapping", TUNINGS)
def test_each_arc_once_on_skewed_frontiers(mapping: str, name: str) -> None:
    """On one multiprocessor, so that a block gets more than one chunk."""
    device = open_device(name, n_sms=1)
    for degrees in SKEWED.values():
        launcher = FrontierLauncher(device, rows_graph(device, degrees), mapping, 64)
        check_visits(device, degrees, range(len(degrees)), launcher)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(TUNINGS), st.sampled_from(SHIMS), st.sampled_from([32, 64, 96, 256]), st.data())
def test_each_arc_once_on_random_frontiers(mapping: str, name: str, block: int, data: st.DataObject) -> None:
    """Queues are any different vertices in any order."""
    degree = st.one_of(st.integers(0, 3), st.sampled_from([0, 0, 16, 17, 63, 64, HUB]))
    degrees = data.draw(st.lists(degree, min_size=1, max_size=100))
    order = data.draw(st.permutations(range(len(degrees))))
    queue = order[: data.draw(st.integers(1, len(order)))]
    device = open_device(name)
    launcher = FrontierLauncher(device, rows_graph(device, degrees), mapping, block)
    check_visits(device, degrees, queue, launcher)


@pytest.mark.thin(3)
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_wide_ids(mapping: str) -> None:
    device, degrees = open_device("shim-2"), SKEWED["hub-between"]
    check_visits(device, degrees, range(len(degrees)),
                 FrontierLauncher(device, rows_graph(device, degrees, np.uint64), mapping, 64))


def check_bfs(device: Device, graph: naive.Graph, source: int, mapping: str, block: int = 64,
              ids: type = np.uint32) -> None:
    """bfs_frontier against the naive distances."""
    distances, eccentricity = bfs_frontier(device, device_graph(device, graph, ids), source, mapping, block)
    want = naive.distances(graph, source)
    assert plain_distances(device.to_host(distances)) == want
    assert eccentricity == max(want)


def shapes() -> dict[str, naive.Graph]:
    """Odd graphs of at most 128 vertices, and a hub whose row is one of many."""
    small = {name: graph for name, graph in odd_graphs().items() if len(graph) <= 128}
    hub = nx.star_graph(HUB)
    hub.add_edges_from((i, i + 1) for i in range(1, 60, 3))
    hub.add_edge(HUB, HUB + 1)
    return {**small, "star": naive.graph_of(121, [(7, v) for v in range(121) if v != 7]),
            "path": naive.graph_of(40, [(i, i + 1) for i in range(39)]), "hub": naive.graph_of(HUB + 2, hub.edges)}


FEW = ("one", "no-edges", "star", "path", "clique", "clique-and-path", "hub")


@pytest.mark.thin(6)
@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_bfs_on_odd_graphs(mapping: str, name: str) -> None:
    device, known = open_device(name), shapes()
    for shape in FEW:
        check_bfs(device, known[shape], len(known[shape]) // 2, mapping)


@pytest.mark.slow
@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("mapping", TUNINGS)
def test_bfs_in_full(mapping: str, name: str) -> None:
    device = open_device(name)
    for graph in shapes().values():
        for source, ids in ((0, np.uint32), (len(graph) - 1, np.uint64)):
            check_bfs(device, graph, source, mapping, 96, ids)


@settings(max_examples=15, deadline=None)
@given(graphs(most=100), st.sampled_from(sorted(MAPPINGS)), st.sampled_from(SHIMS), st.sampled_from([32, 64, 256]),
       st.data())
def test_bfs_on_random_graphs(graph: naive.Graph, mapping: str, name: str, block: int, data: st.DataObject) -> None:
    check_bfs(open_device(name), graph, data.draw(st.integers(0, len(graph) - 1)), mapping, block)


@pytest.mark.thin(3, sampled=("lanes",))
@pytest.mark.parametrize("lanes", [2, 4, 8, 16, 32])
def test_every_virtual_warp(lanes: int) -> None:
    device, degrees = open_device("shim-1"), SKEWED["hub-between"]
    check_visits(device, degrees, range(len(degrees)),
                 FrontierLauncher(device, rows_graph(device, degrees), f"virtual-warps:lanes={lanes}", 64))


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize(("file", "entry"), [
    ("variants/bfs_frontier.cu", "expand_frontier"), ("variants/bfs_luo.cu", "luo_level"),
    ("variants/bfs_merrill.cu", "merrill_expand_contract")])
@pytest.mark.parametrize("mapping", ["two-phase", "block-search:sums=4096", "multi-phase:arcs=8",
                                     "multi-phase:arcs=1,searches=16"])
def test_the_largest_tunings_compile(mapping: str, file: str, entry: str) -> None:
    """Their shared memory fits, beside that of the visitor; what the limits of mappings.py promise."""
    known, chosen = find_mapping(mapping)
    log = compile_log(file, {"VERTEX": "u64", "INDEX": "u64", "MAPPING": known.macro, **chosen})
    assert entry in read_log(log)


@pytest.mark.parametrize("name", DEVICES)
def test_exclusive_sums(name: str) -> None:
    """One part and many, ends of tiles and parts, sums above 32 bits, two calls with one set of buffers."""
    device = open_device(name)
    sums = ExclusiveSums(device, 32)
    for n in (1, 31, 32, 33, 256, 257, 700, 1025):
        values = np.random.default_rng(n).integers(0, 1 << 40, n, dtype=np.uint64)
        on_device = device.array(values)
        sums.replace(on_device)
        assert device.to_host(on_device).tolist() == [0, *np.cumsum(values)[:-1].tolist()]


def test_what_cannot_be_is_refused() -> None:
    device = open_device("shim-0")
    graph = rows_graph(device, [0])
    for block in (0, 33, 512):
        with pytest.raises(InputError, match="a block has no"):
            FrontierLauncher(device, graph, "threads", block)
    with pytest.raises(InputError, match="choose from: threads, virtual-warps"):
        find_mapping("nothing")
    for knob in ("big-row=3", "lanes=0", "lanes=12", "lanes=64", "lanes", "lanes=x", "=", "lanes=8,"):
        with pytest.raises(InputError, match="virtual-warps has no such knob.*it has lanes=8"):
            find_mapping(f"virtual-warps:{knob}")
    with pytest.raises(InputError, match="threads has no such knob: 'lanes=8'; it has none"):
        find_mapping("threads:lanes=8")
    with pytest.raises(InputError, match="room for 16 arcs, not 24"):
        find_mapping("multi-phase:arcs=8,searches=3")
    assert find_mapping("virtual-warps:lanes=32")[1] == {"VIRTUAL_WARP": 32}
    assert find_mapping("multi-phase:searches=4")[1] == {"UNITS_PER_THREAD": 4, "SEARCHES": 4}
