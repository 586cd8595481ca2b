"""The BFS algorithms of papers/004 give the naive distances, under every order of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.errors import InputError
from emdiam.gpu.kernel_file import UNREACHED, KernelFile, zeros
from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.variants.bfs_4k import Tuning, bfs_4k, virtual_warp
from emdiam.gpu.variants.bfs_directions import bfs_direction_optimizing
from emdiam.gpu.variants.bfs_luo import bfs_luo
from emdiam.gpu.variants.bfs_merrill import bfs_hybrid
from emdiam.gpu.variants.bfs_topology import arc_tails, bfs_edges
from emdiam.gpu.variants.registry import VARIANTS
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs
from tests.simt.devices import DEVICES, SEEDS, device_graph, open_device, plain_distances

pytestmark = pytest.mark.thin(8)


def hub_and_tail() -> naive.Graph:
    """A hub whose row is longer than a block, rows of a few warps, empty rows, and a path at the end."""
    edges = [(0, v) for v in range(1, 90)] + [(1, v) for v in range(2, 50)]
    return naive.graph_of(128, edges + [(v, v + 1) for v in range(100, 127)] + [(89, 100)])


def spider() -> naive.Graph:
    """700 paths of two arcs from vertex 0: a vertex that is lost from a queue loses the one behind it."""
    return naive.graph_of(1401, [(0, v) for v in range(1, 701)] + [(v, v + 700) for v in range(1, 701)])


def broom() -> naive.Graph:
    """Vertex 0, 8 below it, 80 below each, and one below each of those: warps beside each other find many."""
    edges = [(0, 1 + a) for a in range(8)] + [(1 + a, 9 + 80 * a + b) for a in range(8) for b in range(80)]
    return naive.graph_of(1289, edges + [(v, v + 640) for v in range(9, 649)])


SHAPES = ("one", "two-paths", "clique", "hub-and-tail")
SMALL = {**odd_graphs(), "hub-and-tail": hub_and_tail()}


def compare(name: str, graph: naive.Graph, bfs: Callable[..., Any], source: int | None = None, **options: Any) -> None:
    """A search with options, from the last vertex if none is given, against the naive distances."""
    opened, source = open_device(name), len(graph) - 1 if source is None else source
    distances, eccentricity = bfs(opened, device_graph(opened, graph), source, block=64, **options)
    want = naive.distances(graph, source)
    assert plain_distances(opened.to_host(distances)) == want
    assert eccentricity == max(want)


def check_contraction(name: str, heads: list[int], block: int) -> None:
    """merrill_contract against a set: what had a distance stays as it is, what had none is reached once."""
    device, n = open_device(name), max(heads, default=0) + 1
    known = np.arange(n) % 5 == 2
    graph = device_graph(device, [[] for _ in range(n)])
    before = np.where(known, 3, UNREACHED).astype(np.uint32)
    distances, reached = device.array(before), device.empty(n, np.uint32)
    visited, tail = zeros(device, -(-n // 8), np.uint8), zeros(device, 1, np.uint64)
    given = device.array(np.array([*heads, 0], np.uint32))
    KernelFile(device, "variants/bfs_merrill.cu", graph.macros, block).launch(
        "merrill_contract", len(heads), given, np.uint64(len(heads)), distances, visited, np.uint32(9), reached, tail)
    want = {head for head in heads if not known[head]}
    found = device.to_host(reached)[: int(device.to_host(tail)[0])].tolist()
    assert sorted(found) == sorted(want)
    after = before.copy()
    after[list(want)] = 9
    assert device.to_host(distances).tolist() == after.tolist()


def test_tails_can_be_shared() -> None:
    device = open_device("shim-2")
    graph = SMALL["hub-and-tail"]
    on_device = device_graph(device, graph)
    tails = arc_tails(device, on_device, 64)
    assert device.to_host(tails).tolist() == [v for v, row in enumerate(graph) for _ in row]
    distances, _ = bfs_edges(device, on_device, 3, 64, tails)
    assert plain_distances(device.to_host(distances)) == naive.distances(graph, 3)


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("limits", [(0, 0), (0, 40), (3, 10), (200, 0)])
def test_every_way_of_waiting_of_the_hierarchical_queue(limits: tuple[int, int], name: str) -> None:
    for shape in SHAPES:
        compare(name, SMALL[shape], bfs_luo, in_block=limits[0], in_grid=limits[1])


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("alpha, beta", [(0, 1), (1e9, 1), (1e9, 1e9), (2, 4)])
def test_every_turn_of_direction(alpha: float, beta: float, name: str) -> None:
    """Never up, up and down at once, always up, and in between."""
    for shape in SHAPES:
        compare(name, SMALL[shape], bfs_direction_optimizing, alpha=alpha, beta=beta)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("make", [spider, broom])
def test_queues_in_shared_memory_spill(make: Callable[[], naive.Graph], variant: str) -> None:
    compare("shim-2", make(), VARIANTS[variant].run, source=0)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 300), max_size=400), st.sampled_from([1, 32, 64, 256]), st.sampled_from(SEEDS),
       st.sampled_from([32, 64, 256]))
def test_contraction_keeps_every_vertex_once(heads: list[int], step: int, seed: int, block: int) -> None:
    """Many repetitions, and with a step many vertices for one place of the tables: 64 of a warp, 256 of a block."""
    check_contraction(f"shim-{seed}", [head // 8 * step for head in heads], block)


def test_contraction_keeps_every_vertex_under_many_orders() -> None:
    for seed in range(20):
        draw = np.random.default_rng(seed)
        check_contraction(f"shim-{seed}", (draw.integers(0, 12, 300) * draw.choice([1, 64])).tolist(), 64)


@pytest.mark.parametrize("limits", [(2000, 0), (0, 0)])
@pytest.mark.parametrize("make", [spider, broom])
def test_all_tiers_of_the_hierarchical_queue_spill(make: Callable[[], naive.Graph], limits: tuple[int, int]) -> None:
    """A thread that reaches 700 vertices fills the queues of its warp (64) and its block (512)."""
    compare("shim-3", make(), bfs_luo, source=0, in_block=limits[0], in_grid=limits[1])


@pytest.mark.thin(9, sampled=("mapping",))
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_one_flush_a_level_with_every_mapping(mapping: str) -> None:
    """A block's threads reach far more than its queues hold, before it asks for room."""
    for seed, make in ((1, spider), (2, broom)):
        compare(f"shim-{seed}", make(), bfs_luo, source=0, in_block=0, in_grid=0, mapping=mapping)


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("limit", [0, 5, 60])
def test_every_switch_of_the_hybrid(limit: int, name: str) -> None:
    for shape in SHAPES:
        compare(name, SMALL[shape], bfs_hybrid, limit=limit)


TUNINGS = {
    "one-lane-warps": {"least_warp": 1, "in_block": 0, "discover_from": 1000},
    "whole-warps": {"least_warp": 32, "in_block": 0, "discover_from": 1000},
    "hubs": {"in_block": 0, "hub_arcs": 2, "discover_from": 1000}, "discover": {"in_block": 0, "discover_from": 0},
    "discover-and-hubs": {"in_block": 0, "hub_arcs": 10, "discover_from": 0},
    "one-block": {"least_warp": 1, "in_block": 200},
    "one-block-and-hubs": {"least_warp": 2, "hub_arcs": 20, "in_block": 200},
    "block-and-grid": {"in_block": 3, "discover_from": 20},
}


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("tuning", TUNINGS)
def test_every_way_of_bfs_4k(tuning: str, name: str) -> None:
    for shape in SHAPES:
        compare(name, SMALL[shape], bfs_4k, **TUNINGS[tuning])


@settings(max_examples=20, deadline=None)
@given(graph=graphs(most=128), seed=st.sampled_from(SEEDS), tuning=st.sampled_from(list(TUNINGS)))
def test_every_way_of_bfs_4k_on_random_graphs(graph: naive.Graph, seed: int, tuning: str) -> None:
    compare(f"shim-{seed}", graph, bfs_4k, **TUNINGS[tuning])


def test_the_size_of_virtual_warps() -> None:
    """The nearest power of two, by looking at all."""
    for threads in (1, 31, 48, 100, 2048, 3072):
        for size in (1, 2, 3, 5, 16, 33, 100, 683, 5000):
            for least in (1, 4, 32):
                widths = [width for width in (1, 2, 4, 8, 16, 32) if width >= least]
                want = min(widths, key=lambda width: (abs(threads / size - width), width))
                assert virtual_warp(threads, size, least) == want


@pytest.mark.parametrize("values, message", [({"least_warp": 3}, "power of two"), ({"hub_arcs": 0}, "at least 1")])
def test_a_tuning_that_cannot_be(values: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Tuning(**values)
