"""Random spanning forests, Euler tours and refined heights, against plain twins, over every engine."""

from __future__ import annotations

import random
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.engine.forest import CpuForest
from emdiam.errors import EmdiamError, InputError
from emdiam.stream.threads import Threads
from emdiam.trees.euler import euler_bytes, euler_masters
from emdiam.trees.rooted import ForestDegrees, climb_heights
from emdiam.trees.spanning import (
    LightEdges,
    SpanningForest,
    _settle_ties,
    buffer_sizes,
    edge_hash,
    spanning_bytes,
    spanning_forest,
    stream_of,
)
from tests.helpers import naive, spanning_twins
from tests.helpers.order_twins import write_in_order
from tests.helpers.small_core import small_core
from tests.helpers.small_engine import engines
from tests.helpers.stores import ENGINES, engine_on, graphs, odd_graphs, write_store

pytestmark = pytest.mark.thin(16)

GRAPHS = odd_graphs()
LEAST = 16 * 8  # bytes of the smallest buffer
EXAMPLES = settings(max_examples=30, deadline=None)


def with_an_edge(graph: naive.Graph) -> list[list[int]]:
    return [part for part in naive.components(graph) if len(part) > 1]


def check_forest(engine: Any, graph: naive.Graph, key: int, buffer_bytes: int | None) -> SpanningForest:
    """The forest of a naturally ordered store."""
    tree = spanning_twins.forest(graph, key)
    forest = engine.spanning_forest(key, buffer_bytes)
    assert forest.raw.tolist() == spanning_twins.parents_from(tree, [])
    assert forest.n_trees == len(with_an_edge(graph))
    return forest


def check_masters(engine: Any, graph: naive.Graph, forest: SpanningForest, tree: naive.Graph, spacing: int) -> None:
    tours = spanning_twins.euler_tours(tree)
    assert [len(tour) for tour in tours] == [2 * len(part) - 1 for part in with_an_edge(graph)]
    masters = forest.euler_masters(spacing)
    assert masters.tolist() == sorted({v for tour in tours for v in tour[::spacing]})
    for part in with_an_edge(graph):
        nearest = [naive.distances(graph, int(m)) for m in masters if m in part]
        assert nearest and max(min(d[v] for d in nearest) for v in part) < spacing


def check_refinement(engine: Any, graph: naive.Graph, forest: SpanningForest, tree: naive.Graph) -> None:
    """Every iteration equals the twin's; what the trees tell holds."""
    everyone = np.arange(len(graph))
    parts = with_an_edge(graph)
    trees = forest.trees()
    hubs = spanning_twins.hubs(graph)
    assert (trees.hubs.tolist(), trees.sizes.tolist()) == (hubs, [len(part) for part in parts])
    forest.hang_from(trees.hubs)
    parents = spanning_twins.parents_from(tree, hubs)
    refinement = forest.refine()
    distances = [naive.distances(graph, hub) for hub in hubs]
    truth = [max([0, *(d[v] for d in distances)]) for v in range(len(graph))]
    want, known, iterations = spanning_twins.heights_of(parents), 1, 0
    while True:
        assert forest.raw.tolist() == parents and refinement.heights.gather(everyone).tolist() == want
        assert refinement.exact == (max(want) <= known)
        assert refinement.exact or refinement.known == known > iterations
        assert [min(h, refinement.known) for h in want] == [min(d, refinement.known) for d in truth]
        if parts:
            check_bounds(trees, refinement, parts, want, truth)
        if refinement.exact:
            break
        known = spanning_twins.known_after(graph, want) or len(graph)
        parents, before, iterations = spanning_twins.next_parents(graph, parents), want, iterations + 1
        want = spanning_twins.heights_of(parents)
        assert all(after <= old for old, after in zip(before, want, strict=True))
        assert refinement.step() == sum(a != b for a, b in zip(before, want, strict=True))
    assert want == truth


def check_bounds(trees: Any, refinement: Any, parts: list[list[int]], heights: list[int], truth: list[int]) -> None:
    bounds = trees.bounds(refinement.heights, refinement.known)
    lows = [min(max(heights[v] for v in part), refinement.known) for part in parts]
    highs = [min(len(part) - 1, sum(sorted(heights[v] for v in part)[-2:])) for part in parts]
    largest = max(range(len(parts)), key=lambda i: (len(parts[i]), -i))
    assert trees.largest == largest
    assert (bounds.height, bounds.lower, bounds.upper) == (max(heights), max(lows), max(highs))
    assert (bounds.lower_largest, bounds.upper_largest) == (lows[largest], highs[largest])
    assert lows[bounds.deepest] == bounds.lower
    far = trees.farthest(bounds.deepest, refinement.heights, bounds.lower)
    assert far == min(v for v in parts[bounds.deepest] if heights[v] >= bounds.lower)
    assert truth[far] >= bounds.lower


def check_all(engine: Any, graph: naive.Graph, key: int, spacing: int) -> None:
    tree = spanning_twins.forest(graph, key)
    for buffer_bytes in (None, LEAST):
        forest = check_forest(engine, graph, key, buffer_bytes)
    for k in (1, spacing, 10 * len(graph)):
        check_masters(engine, graph, forest, tree, k)
    check_refinement(engine, graph, forest, tree)


@pytest.mark.parametrize("engine_name", ENGINES)
@pytest.mark.parametrize("name", GRAPHS)
def test_odd_graphs(tmp_path: Path, name: str, engine_name: str) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", GRAPHS[name]), engine_name) as engine:
        check_all(engine, GRAPHS[name], 7, 5)


@EXAMPLES
@given(graph=graphs(most=60), key=st.integers(0, 2**64 - 1), spacing=st.integers(1, 9),
       engine_name=st.sampled_from(sorted(ENGINES)))
def test_random_graphs(tmp_path_factory: Any, graph: naive.Graph, key: int, spacing: int, engine_name: str) -> None:
    path = write_store(tmp_path_factory.mktemp("g") / "g.zarr", graph)
    with engine_on(path, engine_name) as engine:
        check_all(engine, graph, key, spacing)


@EXAMPLES
@given(graph=graphs(most=60), key=st.integers(0, 2**64 - 1), spacing=st.integers(1, 9), shuffle=st.randoms())
def test_no_order_of_the_store_changes_anything(tmp_path_factory: Any, graph: naive.Graph, key: int, spacing: int,
                                                shuffle: random.Random) -> None:
    order = list(range(len(graph)))
    shuffle.shuffle(order)
    path = write_in_order(tmp_path_factory.mktemp("g") / "g.zarr", graph, order)
    tree = spanning_twins.forest(graph, key)
    place = np.argsort(order)
    with engine_on(path, "streamed") as engine:
        forest = engine.spanning_forest(key, LEAST)
        assert [order[p] for p in forest.raw[place]] == spanning_twins.parents_from(tree, [])
        masters = forest.euler_masters(spacing)
        assert engine.ranks(masters).tolist() == sorted(
            {v for tour in spanning_twins.euler_tours(tree) for v in tour[::spacing]})
        trees = forest.trees()
        assert sorted(order[hub] for hub in trees.hubs) == sorted(spanning_twins.hubs(graph))
        parts = with_an_edge(graph)
        if parts:
            largest = max(parts, key=len)
            assert order[trees.hubs[trees.largest]] in largest
            far = trees.farthest(trees.largest, forest.refine().heights, 1)
            assert order[far] == largest[1]


def test_subtrees_rise_with_the_vertex_they_hang_from(tmp_path: Path) -> None:
    """A path of ten vertices as tree, and an edge from its root to its middle."""
    graph = naive.graph_of(10, [(v, v + 1) for v in range(9)] + [(0, 5)])
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        forest = CpuForest(np.array([0, *range(9)], np.uint32), 1, 0, 0, engine)
        refinement = forest.refine()
        seen = [refinement.heights.raw().tolist()]
        known = []
        while not refinement.exact:
            refinement.step()
            known.append(refinement.known)
            seen.append(refinement.heights.raw().tolist())
    assert seen == [list(range(10)), [0, 1, 2, 3, 4, 1, 2, 3, 4, 5], [0, 1, 2, 3, 2, 1, 2, 3, 4, 5],
                    [0, 1, 2, 3, 2, 1, 2, 3, 4, 5]]
    assert known[:2] == [2, 3] and known[2] > 10**9


def test_a_small_buffer_takes_more_scans_and_reads_no_more_than_them(tmp_path: Path) -> None:
    rng = random.Random(3)
    graph = naive.graph_of(200, [(rng.randrange(200), rng.randrange(200)) for _ in range(3000)])
    found = {}
    with engine_on(write_store(tmp_path / "g.zarr", graph), "streamed") as engine:
        for edges in (16, 100, 1000, 10_000):
            before = engine.reporter.stats()
            forest = engine.spanning_forest(9, 8 * edges)
            used = engine.reporter.stats() - before
            assert used.passes == forest.scans and used.blocks_read <= forest.scans * engine.facts.n_blocks
            assert forest.bytes_read == used.bytes_read > 0
            found[edges] = (forest.scans, forest.raw.tolist())
    assert len({tuple(parents) for _, parents in found.values()}) == 1
    assert [scans for scans, _ in found.values()] == sorted((scans for scans, _ in found.values()), reverse=True)
    assert found[16][0] > 199 // 16 and found[10_000][0] == 1


@pytest.mark.parametrize("name", ["path", "star", "tree", "caterpillar", "two-paths"])
def test_a_graph_that_is_a_forest_takes_one_scan(tmp_path: Path, name: str) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", GRAPHS[name])) as engine:
        assert check_forest(engine, GRAPHS[name], 1, None).scans == 1


@pytest.mark.parametrize("leaves", [255, 256, 257, 511, 512, 513, 1100])
def test_degrees_may_be_larger_than_a_byte(tmp_path: Path, leaves: int) -> None:
    """Two hubs that are joined, the one of higher number first in line to be peeled, and a path behind it."""
    hubs = leaves, leaves + 1
    edges = [(v, hubs[v % 3 == 0]) for v in range(leaves)] + [hubs, (leaves + 1, leaves + 2), (leaves + 2, leaves + 3)]
    edges += [(leaves + 1, leaves + 4 + v) for v in range(leaves)]
    with engine_on(write_store(tmp_path / "g.zarr", naive.graph_of(2 * leaves + 4, edges))) as engine:
        check_forest(engine, naive.graph_of(2 * leaves + 4, edges), 1, None)


def test_a_scan_goes_on_where_it_was_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one thread finds between two visits to the buffer may end in the middle of a row."""
    monkeypatch.setattr("emdiam.trees.spanning._FOUND", 3)
    rng = random.Random(5)
    graph = naive.graph_of(120, [(rng.randrange(120), rng.randrange(120)) for _ in range(1500)])
    for engine_name in ("in-ram", "streamed"):
        with engine_on(write_store(tmp_path / "g.zarr", graph), engine_name) as engine:
            before = engine.reporter.stats()
            assert check_forest(engine, graph, 6, 1 << 20).scans == 1
            assert (engine.reporter.stats() - before).edges_scanned == engine.facts.n_arcs
            for key in range(20):
                check_forest(engine, graph, key, LEAST)


def test_threads_change_neither_forest_nor_scans(tmp_path: Path) -> None:
    rng = random.Random(4)
    graph = naive.graph_of(3000, [(rng.randrange(3000), rng.randrange(3000)) for _ in range(20_000)])
    path = write_store(tmp_path / "g.zarr", graph, chunk=256)
    found = set()
    for threads in (1, 2, 3):
        for arena in (None, 5 * 256 * 4):
            with engine_on(path, "in-ram", threads=threads, arena_bytes=arena) as engine:
                forest = engine.spanning_forest(9, 8 * 700)
                found.add((forest.scans, forest.raw.tobytes()))
    assert len(found) == 1


def test_ids_of_64_bits_give_the_same() -> None:
    threads = Threads(2, 1)
    found = []
    for dtype in (np.dtype(np.uint32), np.dtype(np.uint64)):
        core = small_core(dtype, threads, 0)
        ranks = np.arange(200, dtype=dtype)[::-1].copy()
        forest = spanning_forest(core, 5, ranks, 0)
        found.append((forest.raw.tolist(), euler_masters(forest, 4, ranks).tolist()))
    threads.close()
    assert found[0] == found[1]


@given(key=st.integers(0, 2**64 - 1), a=st.integers(0, 2**40), b=st.integers(0, 2**40))
def test_the_hash_of_an_edge(key: int, a: int, b: int) -> None:
    first, second = np.uint64(min(a, b)), np.uint64(max(a, b))
    assert int(edge_hash(stream_of(key), first, second)) == spanning_twins.edge_hash(key, a, b)


def test_hashes_are_spread_evenly() -> None:
    hashes = [spanning_twins.edge_hash(1, v, v + 1) for v in range(4000)]
    counts = np.bincount([h >> 60 for h in hashes], minlength=16)
    assert len(set(hashes)) == 4000 and counts.min() > 200 and counts.max() < 300


def test_equal_hashes_are_ordered_by_rank() -> None:
    pairs = np.array([[3, 9], [9, 2], [2, 5], [0, 1]], np.uint32)
    order = np.arange(4)
    weight = np.array([5, 5, 5, 6], np.uint64)
    _settle_ties(order, weight, np.arange(4), pairs, np.empty(0, np.uint32))
    assert order.tolist() == [2, 1, 0, 3]
    order = np.arange(4)
    _settle_ties(order, weight, np.arange(4), pairs, np.arange(10, dtype=np.uint32)[::-1].copy())
    assert order.tolist() == [0, 1, 2, 3]


def test_weights_that_are_all_alike_are_refused() -> None:
    """That takes ranks that are none, all zero: the limit cannot fall to between the edges."""
    edges = LightEdges(16, stream_of(1), np.zeros(50, np.uint32), np.dtype(np.uint32))
    roots, near = np.arange(50, dtype=np.uint32), np.zeros(50, np.uint32)
    degrees = ForestDegrees(50, near.dtype)
    with pytest.raises(EmdiamError, match="random weight"):
        for _ in range(5):
            edges.begin()
            for v in range(40):
                edges.push(np.array([[v, v + 1]], np.uint32))
            assert edges.join(roots, degrees, near) == (0, False)


def test_pushes_from_several_threads_keep_the_lightest() -> None:
    edges = LightEdges(64, stream_of(2), np.empty(0, np.uint32), np.dtype(np.uint32))
    pairs = np.array([(v, w) for v in range(40) for w in range(v + 1, 40)], np.uint32)
    edges.begin()
    threads = [threading.Thread(target=edges.push, args=(pairs[i::4].copy(),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    hashes = sorted(spanning_twins.edge_hash(2, int(v), int(w)) for v, w in pairs)
    kept = sorted(spanning_twins.edge_hash(2, int(v), int(w)) for v, w in edges._pairs[: edges._count])
    assert 32 < len(kept) <= 64 and kept == hashes[: len(kept)]


def test_a_spacing_below_one_is_refused(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", GRAPHS["path"])) as engine, pytest.raises(InputError):
        engine.spanning_forest(1).euler_masters(0)


def test_a_height_beyond_32_bits_is_noticed() -> None:
    heights, done = np.array([0xFFFFFFFE, 0xFFFFFFFF], np.uint32), np.array([1], np.uint64)
    assert not climb_heights(np.array([0, 0], np.uint32), heights, done, done.copy(), np.zeros(2, np.int64), 0, 2)


def test_memory_is_as_planned() -> None:
    """The peak of the arrays, measured, beside what is planned for them."""
    n = 300_000
    graph = [[1]] + [[v - 1, v + 1] for v in range(1, n - 1)] + [[n - 2]]
    with engines(chunk=1 << 16) as make:
        engine = make(graph)
        engine.spanning_forest(1).euler_masters(9)
        tracemalloc.start()
        forest = engine.spanning_forest(1, buffer_sizes(n, 4)[0])
        planned = spanning_bytes(n, 4)
        assert 0.6 * planned < tracemalloc.get_traced_memory()[1] <= planned
        tracemalloc.reset_peak()
        assert len(forest.euler_masters(2)) > n // 3
        assert 0.6 * euler_bytes(n, 4) < tracemalloc.get_traced_memory()[1] <= euler_bytes(n, 4)
        tracemalloc.stop()
