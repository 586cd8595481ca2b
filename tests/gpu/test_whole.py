"""BFS in one launch against the naive distances: every way of a level, every seed, and what it tells of a search."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.gpu.bfs_whole import WholeBfs, bfs_whole
from emdiam.gpu.device import Device
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs
from tests.simt import runner
from tests.simt.devices import DEVICES, SEEDS, device_graph, open_device, plain_distances

pytestmark = pytest.mark.thin(64)

FOREVER = 1 << 40
# Down alone, by one block or by all; up from the second level on; to and fro; rows of three arcs put aside; several
# levels before blocks wait for each other, from the first one on, and between others.
WAYS: Mapping[str, dict[str, Any]] = {
    "usual": {}, "down": {"turns": (0, 0)}, "down-together": {"turns": (0, 0), "solo": 0, "window": 0},
    "up": {"turns": (FOREVER, FOREVER), "solo": 0, "wide_row": 1024},
    "up-wide": {"turns": (FOREVER, FOREVER), "solo": 0, "wide_row": 3},
    "to-and-fro": {"turns": (FOREVER, 3), "solo": 2, "window": 0},
    "wide": {"turns": (0, 0), "wide_row": 3},
    "wide-together": {"turns": (FOREVER, 3), "solo": 0, "wide_row": 3, "window": 0},
    "windows": {"turns": (0, 0), "solo": 0}, "windows-between": {"solo": 3, "window": 8},
    "windows-to-and-fro": {"turns": (FOREVER, 3), "solo": 2},
}


def hubs() -> naive.Graph:
    """Three hubs of many leaves, joined by paths, beside a clique and vertices without arcs."""
    edges = [(hub, 10 + 400 * hub + leaf) for hub in range(3) for leaf in range(400 - 70 * hub)]
    edges += [(0, 1300), (1300, 1301), (1301, 1), (409, 1302), (1302, 2)]
    return naive.graph_of(1420, [*edges, *((1340 + a, 1340 + b) for a in range(12) for b in range(a))])


def shapes() -> dict[str, naive.Graph]:
    """Odd graphs, ends of bitmaps, and rows on both sides of every limit of the kernel."""
    skewed = np.random.default_rng(5).zipf(1.6, (600, 2)) % 300
    return {
        **odd_graphs(), "hubs": hubs(), "word": naive.graph_of(32, nx.path_graph(32).edges),
        "word-and-one": naive.graph_of(33, nx.cycle_graph(33).edges), "skewed": naive.graph_of(300, skewed.tolist()),
        "two-words": naive.graph_of(64, nx.star_graph(63).edges),
        "wide": naive.graph_of(1300, [(0, v) for v in range(1, 640)] + [(v, v + 640) for v in range(1, 640)]),
        "loops": [[0, 1, 1, 2], [0, 0, 2, 1], [0, 1, 2, 2], [], [4]],
    }


SHAPES = shapes()


def check(device: Device, graph: naive.Graph, sources: list[int], dtype: type = np.uint32, radius: int | None = None,
          **options: Any) -> None:
    """One WholeBfs on several sources: distances, and all that it tells, against those of the twin."""
    search = WholeBfs(device, device_graph(device, graph, dtype), **options)
    into = device.array(np.full(len(graph), 77, np.uint32))
    for source in sources:
        want = naive.distances(graph, source)
        largest = max(want)
        if radius is not None:
            want = [d if d <= radius else -1 for d in want]
        found = search.find(source, radius, into)
        assert plain_distances(device.to_host(into)) == want
        assert found.levels == max(want) and found.n_reached == sum(d >= 0 for d in want)
        assert found.complete == (radius is None or largest < radius)
        assert found.farthest == want.index(max(want))
        bits = np.unpackbits(device.to_host(found.reached).view(np.uint8), bitorder="little")[: len(want)]
        assert bits.tolist() == [int(d >= 0) for d in want]
        assert bits.sum() == np.bitwise_count(device.to_host(found.reached)).sum()  # nothing behind the last vertex


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(name: str, way: str, shape: str) -> None:
    graph = SHAPES[shape]
    sources = {0, len(graph) - 1, random.Random(shape).randrange(len(graph))}
    check(open_device(name), graph, sorted(sources), block=64, **WAYS[way])


@settings(max_examples=25, deadline=None)
@given(graphs(most=128), st.sampled_from(sorted(WAYS)), st.sampled_from(SEEDS), st.sampled_from([np.uint32, np.uint64]),
       st.sampled_from([32, 96, 512]), st.sampled_from([None, 0, 1, 2, 7]), st.data())
def test_random_graphs(graph: naive.Graph, way: str, seed: int, dtype: type, block: int, radius: int | None,
                       data: st.DataObject) -> None:
    sources = data.draw(st.lists(st.integers(0, len(graph) - 1), min_size=1, max_size=3))
    check(open_device(f"shim-{seed}"), graph, sources, dtype, radius, block=block, **WAYS[way])


@pytest.mark.parametrize("name", ["shim-0", "shim-3", "gpu"])
def test_hubs_of_the_usual_width_are_done_by_all(name: str) -> None:
    """Rows of 1,500 and 3,000 arcs, several times as many as one turn of the grid takes, and a frontier of hubs."""
    edges = [(0, 1), (0, 2), *((1, v) for v in range(3, 1503)), *((2, v) for v in range(3, 3003))]
    graph = naive.graph_of(3010, edges)
    check(open_device(name), graph, [0, 1, 2999, 3005], block=96)


@pytest.mark.parametrize("name", ["shim-0", "shim-1", "shim-3", "gpu"])
@pytest.mark.parametrize("solo", [512, 4])
def test_a_long_search_of_changing_frontiers(name: str, solo: int) -> None:
    """A grid, then a fan of 300 vertices, a row of the whole grid among them, and a tail of one vertex a level."""
    edges = list(nx.grid_2d_graph(20, 60).edges)
    number = {v: i for i, v in enumerate(sorted({v for edge in edges for v in edge}))}
    fan = [(number[19, 59], 1200), *((1200, v) for v in range(1201, 1500))]
    fan += [(v, 1500 + v % 3) for v in range(1201, 1500)]
    tail = [(1500, 1503), *((v, v + 1) for v in range(1503, 1560))]
    graph = naive.graph_of(1561, [*((number[a], number[b]) for a, b in edges), *fan, *tail])
    check(open_device(name), graph, [0, 1560, 600], block=64, solo=solo)


def barriers(graph: naive.Graph, source: int, **options: Any) -> int:
    """Barriers of the grid in a search."""
    device, traffic = open_device("shim-0"), runner.Traffic()
    search = WholeBfs(device, device_graph(device, graph), block=64, solo=0, turns=(0, 0), **options)
    device.traffic = traffic  # type: ignore[attr-defined]
    search.find(source)
    return int(traffic.barriers)


def test_blocks_wait_for_each_other_once_in_several_levels() -> None:
    """But not where the frontier grows, nor for long after more came than blocks can do."""
    grid = naive.graph_of(1800, [(v, v + 1) for v in range(1799) if v % 30 != 29] + [(v, v + 30) for v in range(1770)])
    levels = 88
    assert barriers(grid, 0, window=0) == levels + 2
    assert barriers(grid, 0) <= 8 + levels // 15
    fan = naive.graph_of(1200, [(v, v + 1) for v in range(39)] + [(39, v) for v in range(40, 1200)])
    # The beginning, two windows of 15, one that is undone, and 11 levels, one of which puts its row aside.
    assert barriers(fan, 0) == 1 + 2 + 2 + 12


def test_one_search_is_one_launch_and_one_wait() -> None:
    device = open_device("shim-0")
    graph = device_graph(device, SHAPES["path"])
    search = WholeBfs(device, graph)
    before = device.launches  # type: ignore[attr-defined]
    assert search.find(0).levels == 299
    assert device.launches == before + 1  # type: ignore[attr-defined]
    distances, levels = bfs_whole(device, graph, 5, search=search)
    assert levels == 294 and bfs_whole(device, graph, 299, 32)[1] == 299 and distances.size == 300
