"""Shortest paths and cluster growing, internal and semi-external, against Dijkstra with a heap."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from emdiam.errors import BudgetError
from emdiam.paths import semi_external
from emdiam.paths.condensed import internal
from emdiam.paths.condensed.blocks import PackedBlocks
from emdiam.paths.condensed.labels import NO_OWNER, PathOptions
from emdiam.paths.condensed.packed import RamArcs, WeightedArcs
from emdiam.paths.condensed.sssp import ShortestPaths, distances, grow
from emdiam.paths.labels import PathCounters
from emdiam.sorting.scratch import Scratch
from tests.helpers import weighted_naive as naive

many = settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
NONE32, NONE64 = (1 << 32) - 1, (1 << 64) - 1


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path, tmp_path / "g.zarr")
    yield made
    made.close()


def plain(found: np.ndarray) -> list[int | None]:
    """Distances with None for unreached."""
    none = np.iinfo(found.dtype).max
    return [None if d == none else d for d in found.tolist()]


def arena(arcs: WeightedArcs, n_slots: int) -> int:
    """Bytes of an arena of so many blocks."""
    return 8 * arcs.block_arcs * n_slots


def scipy_distances(graph: naive.Graph, source: int) -> list[int]:
    """Distances by scipy, NONE32 where unreached."""
    arcs = naive.triples(graph[1])
    tails, heads, weights = np.array(arcs).T
    found = dijkstra(coo_array((weights, (tails, heads)), shape=(graph[0], graph[0])).tocsr(), indices=source)
    return [NONE32 if np.isinf(d) else int(d) for d in found]


@many
@given(graph=naive.graphs(), block_arcs=st.integers(1, 9), n_slots=st.integers(2, 9), threads=st.integers(1, 3),
       data=st.data())
@example(graph=(1, []), block_arcs=4, n_slots=2, threads=1, data=None)
def test_distances_and_clusters(scratch: Scratch, graph: naive.Graph, block_arcs: int, n_slots: int, threads: int,
                                data: st.DataObject | None) -> None:
    vertices = st.lists(st.integers(0, graph[0] - 1), max_size=4)
    sources = data.draw(vertices) if data else [0]
    labels = naive.nearest(graph, sources)
    far = [None if label is None else label[0] for label in labels]
    with naive.on_disk(graph, scratch, block_arcs) as disk:
        for arcs in (naive.in_ram(graph, block_arcs), disk):
            with ShortestPaths(arcs, PathOptions(arena(arcs, n_slots), threads)) as paths:
                found = paths.distances(np.array(sources, np.int64))
                assert plain(found) == far
                assert found.dtype == (np.uint64 if max(d or 0 for d in far) >= NONE32 else np.uint32)
                if found.dtype == np.uint64:
                    with pytest.raises(OverflowError, match="32 bits"):
                        paths.grow(sources)
                    continue
                owner, distance = paths.grow(sources)
                assert plain(owner) == [None if label is None else label[1] for label in labels]
                assert plain(distance) == far and owner.dtype == distance.dtype == np.uint32
            wide = distances(arcs, sources, PathOptions(arena(arcs, n_slots), dtype=np.uint64))
            assert plain(wide) == far and wide.dtype == np.uint64


@pytest.mark.parametrize("make", ["random", "grid"])
@pytest.mark.parametrize(("n_slots", "block_arcs", "threads"), [(2, 64, 1), (9, 64, 2), (40, 16, 3), (2, 8000, 2)])
def test_larger_graphs(scratch: Scratch, make: str, n_slots: int, block_arcs: int, threads: int) -> None:
    graph = naive.large(1500, 4000, 3) if make == "random" else naive.grid(35, 4)
    ram, masters = naive.in_ram(graph), [5, 700, 5, 1200]
    want = naive.nearest(graph, masters)
    with naive.on_disk(graph, scratch, block_arcs) as disk:
        with ShortestPaths(disk, PathOptions(arena(disk, n_slots), threads)) as paths:
            for source in (0, 777):
                expected = scipy_distances(graph, source)
                assert paths.distances(source).tolist() == distances(ram, source).tolist() == expected
            for owner, distance in (paths.grow(masters), grow(ram, masters)):
                labels = zip(distance.tolist(), owner.tolist(), strict=True)
                assert [None if o == NO_OWNER else (d, o) for d, o in labels] == want
            counters = paths.counters
        assert (counters.blocks_read, counters.bytes_read) == (disk.blocks_read, disk.bytes_read)
    assert counters.searches == 3 and counters.arcs_scanned >= 3 * max(d is not None for d in want)


def test_counters_do_not_depend_on_threads(scratch: Scratch) -> None:
    seen = []
    with naive.on_disk(naive.large(2000, 9000, 5), scratch, 32) as disk:
        for threads in (1, 4):
            with ShortestPaths(disk, PathOptions(arena(disk, 40), threads)) as paths:
                paths.distances(3)
                seen.append(paths.counters)
    assert seen[0] == seen[1] and seen[0] - seen[1] == PathCounters()


def test_an_arena_that_holds_all_reads_each_block_once(scratch: Scratch) -> None:
    with naive.on_disk(naive.grid(30, 1), scratch, 32) as disk:
        with ShortestPaths(disk, PathOptions(arena(disk, 1000))) as paths:
            for source in (0, 5, 899):
                paths.distances(source)
        assert disk.blocks_read == disk.n_blocks


def test_blocks_without_a_waiting_row_are_not_read(scratch: Scratch) -> None:
    n = 2000
    graph = n, [(v, v + 1, 1) for v in range(0, n - 1) if v != 999]
    with naive.on_disk(graph, scratch, 50) as disk:
        assert (distances(disk, n - 1, PathOptions(arena(disk, 4)))[1000:] < NONE32).all()
        assert disk.blocks_read == disk.n_blocks - 2 * 999 // 50


def test_narrow_windows_once_far_labels_are_wasted(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = naive.large(1500, 2500, 8)
    source = graph[1][0][0]
    scanned = []
    for frugal in (1 << 40, 0):
        monkeypatch.setattr(PackedBlocks, "frugal", frugal)
        with naive.on_disk(graph, scratch, 16) as disk:
            with ShortestPaths(disk, PathOptions(arena(disk, 10))) as paths:
                assert paths.distances(source).tolist() == scipy_distances(graph, source)
                scanned.append(paths.counters.arcs_scanned)
    assert scanned[1] < scanned[0]


@pytest.mark.parametrize("largest", [1, 60, 4094, 4095, 1 << 20, 1 << 40])
def test_any_largest_weight(scratch: Scratch, largest: int) -> None:
    n, edges = naive.large(300, 900, 2, largest)
    graph = n, [*edges, (0, 1, largest)]
    want = naive.distances(graph, [7])
    assert plain(distances(naive.in_ram(graph), 7)) == want
    with naive.on_disk(graph, scratch) as disk:
        assert plain(distances(disk, 7, PathOptions(arena(disk, 30)))) == want


TOO_FAR = [(0, 1, NONE32 - 1), (1, 2, 1)]


@pytest.mark.parametrize("edges", [TOO_FAR, [*TOO_FAR, (0, 3, NONE32 - 3), (3, 2, 1)]])
def test_distances_of_32_bits(scratch: Scratch, edges: list[naive.Edge]) -> None:
    """A path that does not fit is an error only if it is a shortest one."""
    graph = 5, edges
    fits = len(edges) > 2
    want = naive.distances(graph, [0])
    with naive.on_disk(graph, scratch, 1) as disk:
        for arcs in (naive.in_ram(graph), disk):
            with ShortestPaths(arcs, PathOptions(arena(arcs, 3))) as paths:
                found = paths.distances(0)
                assert plain(found) == want and (found.dtype == np.uint32) == fits
                if fits:
                    assert plain(paths.grow([0])[1]) == want
                else:
                    with pytest.raises(OverflowError, match="master does not fit 32 bits"):
                        paths.grow([0])
            if not fits:
                with pytest.raises(OverflowError, match="does not fit uint32"):
                    distances(arcs, 0, PathOptions(arena(arcs, 3), dtype=np.uint32))


@pytest.mark.parametrize("source", [-1, 4])
def test_sources_are_vertices(source: int) -> None:
    with pytest.raises(ValueError, match="0 to 3"):
        distances(naive.in_ram((4, [])), [0, source])


def test_an_arena_of_one_block_is_refused(scratch: Scratch) -> None:
    with naive.on_disk(naive.grid(9, 1), scratch, 100) as disk:
        with pytest.raises(BudgetError, match=r"does not hold two blocks .*at least 1.6 KiB"):
            distances(disk, 0, PathOptions(1599))
        distances(disk, 0, PathOptions(1600))
    with naive.on_disk(naive.grid(2, 1), scratch, 100) as disk:
        distances(disk, 0, PathOptions(800))


def test_damage_in_a_reading_thread_comes_out(scratch: Scratch) -> None:
    with naive.on_disk(naive.grid(12, 1), scratch, 16) as disk:
        with ShortestPaths(disk, PathOptions(arena(disk, 4), 2)) as paths:
            good = bytes(disk._file.read(16 * 8 * 20, 1))
            disk._file.overwrite(np.array([good[0] ^ 255], np.uint8), 16 * 8 * 20)
            with pytest.raises(OSError, match="block 20 .* wrong checksum"):
                paths.distances(0)
            disk._file.overwrite(np.frombuffer(good, np.uint8), 16 * 8 * 20)
            assert paths.distances(0).tolist() == distances(disk.load(), 0).tolist()


class Stop(Exception):
    """Raised by a tick."""


@pytest.mark.parametrize("place", ["ram", "disk"])
def test_a_tick_stops_a_search(scratch: Scratch, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = []

    def tick() -> None:
        ticks.append(1)
        if len(ticks) == 3:
            raise Stop

    graph = naive.grid(20, 1)
    for module in (internal, semi_external):
        monkeypatch.setattr(module, "_SLICE_ARCS", 50)
    with naive.on_disk(graph, scratch, 32) as disk:
        arcs: WeightedArcs = naive.in_ram(graph) if place == "ram" else disk
        with ShortestPaths(arcs, PathOptions(arena(disk, 9), tick=tick)) as paths:
            with pytest.raises(Stop):
                paths.distances(0)
            assert paths.distances(0).tolist() == scipy_distances(graph, 0)
    assert len(ticks) > 10


def test_a_graph_without_vertices() -> None:
    arcs = RamArcs(np.empty(0, np.uint64), naive.in_ram((0, [])).packing)
    assert distances(arcs, []).tolist() == [] and grow(arcs, [])[0].tolist() == []
