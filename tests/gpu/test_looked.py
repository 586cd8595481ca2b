"""Arcs that traversals on a device say they have looked at, against what the graph has."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emdiam.gpu.bfs_auto import AutoBfs
from emdiam.gpu.bfs_whole import WholeBfs
from emdiam.gpu.components import DeviceComponents, grow_labels
from emdiam.gpu.graph import DeviceGraph
from emdiam.gpu.multi_source import WholeBatch, WideBatch
from emdiam.gpu.setting import OnDevice
from emdiam.gpu.spread import WholeSpread
from tests.gpu.test_auto import looked_upwards
from tests.gpu.test_whole import SHAPES, WAYS
from tests.helpers import naive
from tests.helpers.stores import engine_on, odd_graphs, write_store
from tests.simt.devices import device_graph, open_device

GRAPH = SHAPES["hubs"]
KNOWN = naive.distances(GRAPH, 0)
GRID = odd_graphs()["grid"]
FOREVER = float("inf")


def arcs_within(graph: naive.Graph, dist: list[int], radius: float = FOREVER) -> int:
    """Arcs of vertices nearer than `radius`."""
    return sum(len(row) for row, d in zip(graph, dist, strict=True) if 0 <= d < radius)


def looked(graph: DeviceGraph) -> int:
    """Arcs that were looked at since this was asked before."""
    arcs, graph.scanned.arcs = graph.scanned.arcs, 0
    return arcs


@pytest.mark.parametrize("way", ["usual", "down", "down-together", "wide", "wide-together", "up"])
def test_searches(way: str) -> None:
    device = open_device("shim-1")
    graph = device_graph(device, GRAPH)
    search = WholeBfs(device, graph, block=64, **WAYS[way])
    for radius in (None, 2):
        search.find(0, radius)
        last = max(KNOWN) + 1 if radius is None else radius
        if way == "up":
            assert looked(graph) == sum(looked_upwards(GRAPH, KNOWN, level) for level in range(last))
        elif "down" in way or way == "wide":
            assert looked(graph) == arcs_within(GRAPH, KNOWN, last)
        else:
            assert 0 < looked(graph) <= last * graph.n_arcs


def test_a_search_by_levels() -> None:
    device = open_device("shim-2")
    graph = device_graph(device, GRAPH)
    AutoBfs(device, graph, "threads", block=64).run(0)
    assert 0 < looked(graph) <= arcs_within(GRAPH, KNOWN)


def pulled(graph: naive.Graph, dist: list[int]) -> int:
    """Arcs that unreached vertices look at, each until its first neighbour in the frontier, in all levels: by lanes
    four at a time, of rows from 64 on by a warp, 128 at a time."""
    arcs = 0
    for level in range(max(dist) + 1):
        for row in (row for v, row in enumerate(graph) if not 0 <= dist[v] <= level):
            first = next((at + 1 for at, w in enumerate(row) if dist[w] == level), len(row))
            at_once = 4 if len(row) < 64 else 128
            arcs += min(len(row), -(-first // at_once) * at_once)
    return arcs


@pytest.mark.parametrize("wide_row", [3, 1024])
def test_batches(wide_row: int) -> None:
    device, dist = open_device("shim-3"), naive.distances(GRID, 5)
    graph, source = device_graph(device, GRID), np.array([5])
    for cost, want in ((0.0, arcs_within(GRID, dist)), (FOREVER, pulled(GRID, dist))):
        WholeBatch(device, graph, cost, 64, wide_row).run(source)
        assert looked(graph) == want
    # All words of all rows: those of a corner, the last that are full, look along all their arcs in every level.
    n = len(GRID)
    levels = int(WideBatch(device, graph, 64, wide_row).run(np.arange(512) % n).max())
    assert levels * 2 <= looked(graph) <= (levels + 1) * graph.n_arcs


@pytest.mark.parametrize("source", [0, 405, 500, 1302])
def test_batches_stop_in_the_middle_of_rows(source: int) -> None:
    device = open_device("shim-3")
    graph = device_graph(device, GRAPH)
    WholeBatch(device, graph, FOREVER, 64, 1024).run(np.array([source]))
    assert looked(graph) == pulled(GRAPH, naive.distances(GRAPH, source))
    assert max(map(len, GRAPH)) > 256


@pytest.mark.parametrize("wide_row", [3, 1024])
def test_spreads(wide_row: int) -> None:
    device = open_device("shim-0")
    graph, bound = device_graph(device, GRAPH), device.array(np.full(len(GRAPH), 0xFFFFFFFF, np.uint32))
    spread = WholeSpread(device, graph, 64, wide_row)
    spread.spread(bound, np.array([0]), np.array([0]), 2)
    assert looked(graph) == arcs_within(GRAPH, KNOWN, 2)
    spread.extend(bound, 2, 4)
    assert looked(graph) == arcs_within(GRAPH, KNOWN, 4) - arcs_within(GRAPH, KNOWN, 2)


def test_labels_and_components() -> None:
    device, reached = open_device("shim-2"), np.array([d >= 0 for d in KNOWN])
    graph, labels = device_graph(device, GRAPH), np.full(len(GRAPH), 0xFFFFFFFFFFFFFFFF, np.uint64)
    labels[0] = 0
    grow_labels(device, graph, labels, np.array([0]))
    assert looked(graph) == arcs_within(GRAPH, KNOWN)
    words = np.zeros(-(-len(GRAPH) // 64) * 8, np.uint8)
    words[: -(-len(GRAPH) // 8)] = np.packbits(reached, bitorder="little")
    DeviceComponents(device, graph, device.array(words.view(np.uint64)), 0)
    assert looked(graph) == graph.n_arcs - arcs_within(GRAPH, KNOWN)


@pytest.mark.parametrize("setting", [{}, {"paged": True}, {"mapping": "threads"}], ids=str)
def test_an_engine_counts_them(tmp_path: Path, setting: dict[str, Any]) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", GRID), device=OnDevice(open_device("shim-0"), **setting)) as engine:
        def counted() -> int:
            return int(engine.reporter.stats().edges_scanned)

        marks = [counted()]
        for run in (lambda: engine.bfs(0), lambda: engine.eccentricities([1, 2]),
                    lambda: engine.spread(np.array([0]), np.array([0]), 3, engine.new_column(9)),
                    lambda: engine.grow_clusters(np.array([0, 9]))):
            run()
            marks.append(counted())
        assert all(a < b for a, b in itertools.pairwise(marks)), marks
