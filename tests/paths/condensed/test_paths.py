"""Shortest paths and clusters of condensed graphs, in RAM and in blocks, against Dijkstra with a heap."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from emdiam.errors import BudgetError
from emdiam.paths import dijkstra as heap
from emdiam.paths import methods, one_bit, semi_external
from emdiam.paths.arcs import Arcs, arcs_of
from emdiam.paths.condensed.collect import CondensedArcs, ScratchBlocks
from emdiam.paths.condensed.condense import NO_OWNER, grow
from emdiam.paths.one_bit import OneBitPaths, Queue
from emdiam.paths.paths import SearchOptions
from emdiam.paths.semi_external import PathCounters
from emdiam.progress import Tick, no_tick
from emdiam.sorting.scratch import Scratch
from tests.helpers import weighted_naive as naive

many = settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
NONE32 = (1 << 32) - 1


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path, tmp_path / "g.zarr")
    yield made
    made.close()


def plain(found: np.ndarray) -> list[int | None]:
    """Distances with None for unreached."""
    none = np.iinfo(found.dtype).max
    return [None if d == none else d for d in found.tolist()]


@contextmanager
def opened(graph: CondensedArcs, n_slots: int = 20, threads: int = 1, tick: Tick = no_tick,
           queue: Scratch | None = None) -> Iterator[Arcs]:
    """The arcs for searches, with an arena of so many blocks on disk. queue : with one bit a vertex there."""
    arena_bytes = 0 if not isinstance(graph, ScratchBlocks) else graph.arc_bytes * graph.block_arcs * n_slots
    with closing(arcs_of(graph, arena_bytes, SearchOptions(threads, tick=tick, queue=queue))) as arcs:
        yield arcs


@pytest.fixture(params=[4, 512])
def page(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many entries of a queue in a page, and four times as many in its heap."""
    monkeypatch.setattr(Queue, "page", request.param)


def distances(arcs: Arcs, *sources: int) -> np.ndarray:
    """In 32 bits where they fit."""
    return arcs.nearest(np.array(sources, np.int64), narrow=True)[0]


def scipy_distances(graph: naive.Graph, source: int) -> list[int]:
    """Distances by scipy, NONE32 where unreached."""
    arcs = naive.triples(graph[1])
    tails, heads, weights = np.array(arcs).T
    found = dijkstra(coo_array((weights, (tails, heads)), shape=(graph[0], graph[0])).tocsr(), indices=source)
    return [NONE32 if np.isinf(d) else int(d) for d in found]


@pytest.fixture(params=["heap", "buckets"])
def in_ram_method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches in RAM by either method."""
    monkeypatch.setattr(methods, "SMALL_ARCS", methods.SMALL_ARCS if request.param == "heap" else -1)


@pytest.mark.usefixtures("in_ram_method")
@many
@given(graph=naive.graphs(), block_arcs=st.integers(1, 9), n_slots=st.integers(2, 9), threads=st.integers(1, 3),
       data=st.data())
@example(graph=(1, []), block_arcs=4, n_slots=2, threads=1, data=None)
def test_distances_and_clusters(scratch: Scratch, graph: naive.Graph, block_arcs: int, n_slots: int, threads: int,
                                data: st.DataObject | None) -> None:
    vertices = st.lists(st.integers(0, graph[0] - 1), max_size=4, unique=True)
    sources = data.draw(vertices) if data else [0]
    labels = naive.nearest(graph, sources)
    far = [None if label is None else label[0] for label in labels]
    fits = max(d or 0 for d in far) < NONE32
    with closing(naive.on_disk(graph, scratch, block_arcs)) as disk:
        for made, queue in ((naive.in_ram(graph), None), (disk, None), (disk, scratch)):
            with opened(made, n_slots, threads, queue=queue) as arcs:
                found = distances(arcs, *sources)
                assert plain(found) == far and plain(arcs.nearest(np.array(sources, np.int64))[0]) == far
                if not fits:
                    with pytest.raises(OverflowError, match="32 bits"):
                        grow(arcs, np.array(sources, np.int64))
                    continue
                owner, distance = grow(arcs, np.array(sources, np.int64))
                assert plain(owner) == [None if label is None else label[1] for label in labels]
                assert plain(distance) == far and owner.dtype == distance.dtype == np.uint32


@pytest.mark.thin(4)
@pytest.mark.usefixtures("in_ram_method", "page")
@pytest.mark.parametrize("make", ["random", "grid"])
@pytest.mark.parametrize(("n_slots", "block_arcs", "threads"), [(2, 64, 1), (9, 64, 2), (40, 16, 3), (2, 8000, 2)])
def test_larger_graphs(scratch: Scratch, make: str, n_slots: int, block_arcs: int, threads: int) -> None:
    graph = naive.large(1500, 4000, 3) if make == "random" else naive.grid(35, 4)
    masters = [5, 700, 1200]
    want = naive.nearest(graph, masters)
    with closing(naive.on_disk(graph, scratch, block_arcs)) as disk:
        for made, queue in ((naive.in_ram(graph), None), (disk, None), (disk, scratch)):
            with opened(made, n_slots, threads, queue=queue) as arcs:
                for source in (0, 777):
                    assert distances(arcs, source).tolist() == scipy_distances(graph, source)
                owner, distance = grow(arcs, np.array(masters))
                labels = zip(distance.tolist(), owner.tolist(), strict=True)
                assert [None if o == NO_OWNER else (d, o) for d, o in labels] == want
                assert arcs.counters.searches == 3
                assert arcs.counters.arcs_scanned >= 3 * max(d is not None for d in want)


def test_counters_do_not_depend_on_threads(scratch: Scratch) -> None:
    seen = []
    with closing(naive.on_disk(naive.large(2000, 9000, 5), scratch, 32)) as disk:
        for threads in (1, 4):
            with opened(disk, 40, threads) as arcs:
                distances(arcs, 3)
                seen.append(arcs.counters)
    assert seen[0] == seen[1] and seen[0] - seen[1] == PathCounters()


def test_an_arena_that_holds_all_reads_each_block_once(scratch: Scratch) -> None:
    with closing(naive.on_disk(naive.grid(30, 1), scratch, 32)) as disk:
        with opened(disk, 1000) as arcs:
            for source in (0, 5, 899):
                distances(arcs, source)
            assert (arcs.counters.blocks_read, arcs.bytes_read) == (disk.n_blocks, disk.nbytes)


def test_blocks_without_a_waiting_row_are_not_read(scratch: Scratch) -> None:
    n = 2000
    graph = n, [(v, v + 1, 1) for v in range(0, n - 1) if v != 999]
    with closing(naive.on_disk(graph, scratch, 50)) as disk, opened(disk, 4) as arcs:
        assert (distances(arcs, n - 1)[1000:] < NONE32).all()
        assert arcs.counters.blocks_read == disk.n_blocks - 2 * 999 // 50


def test_narrow_windows_once_far_labels_are_wasted(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = naive.large(1500, 2500, 8)
    source = graph[1][0][0]
    scanned = []
    for frugal in (1 << 40, 0):
        monkeypatch.setattr(ScratchBlocks, "frugal", frugal)
        with closing(naive.on_disk(graph, scratch, 16)) as disk, opened(disk, 10) as arcs:
            assert distances(arcs, source).tolist() == scipy_distances(graph, source)
            scanned.append(arcs.counters.arcs_scanned)
    assert scanned[1] < scanned[0]


@pytest.mark.usefixtures("in_ram_method")
@pytest.mark.parametrize("largest", [1, 60, 4094, 4095, 1 << 20, 1 << 40])
def test_any_largest_weight(scratch: Scratch, largest: int) -> None:
    n, edges = naive.large(300, 900, 2, largest)
    graph = n, [*edges, (0, 1, largest)]
    want = naive.distances(graph, [7])
    disk = naive.on_disk(graph, scratch)
    for made, queue in ((naive.in_ram(graph), None), (disk, None), (disk, scratch)):
        with opened(made, 30, queue=queue) as arcs:
            assert plain(distances(arcs, 7)) == want


TOO_FAR = [(0, 1, NONE32 - 1), (1, 2, 1)]


@pytest.mark.parametrize("edges", [TOO_FAR, [*TOO_FAR, (0, 3, NONE32 - 3), (3, 2, 1)]])
def test_distances_of_32_bits(scratch: Scratch, edges: list[naive.Edge]) -> None:
    """A path that does not fit is an error only if it is a shortest one."""
    graph = 5, edges
    fits = len(edges) > 2
    want = naive.distances(graph, [0])
    disk = naive.on_disk(graph, scratch, 1)
    for made, queue in ((naive.in_ram(graph), None), (disk, None), (disk, scratch)):
        with opened(made, 3, queue=queue) as arcs:
            found = distances(arcs, 0)
            assert plain(found) == want
            if fits:
                assert plain(grow(arcs, np.array([0]))[1]) == want
            else:
                with pytest.raises(OverflowError, match="master does not fit 32 bits"):
                    grow(arcs, np.array([0]))


def test_an_arena_of_one_block_is_refused(scratch: Scratch) -> None:
    with closing(naive.on_disk(naive.grid(9, 1), scratch, 100)) as disk:
        with pytest.raises(BudgetError, match=r"does not hold two blocks of the condensed graph.*at least 1.6 KiB"):
            arcs_of(disk, 1599, SearchOptions())
        arcs_of(disk, 1600, SearchOptions()).close()
    with closing(naive.on_disk(naive.grid(2, 1), scratch, 100)) as disk:
        arcs_of(disk, 800, SearchOptions()).close()


@pytest.mark.parametrize("one_bit", [False, True])
def test_damage_in_a_reading_thread_comes_out(scratch: Scratch, one_bit: bool) -> None:
    queue = scratch if one_bit else None
    with closing(naive.on_disk(naive.grid(12, 1), scratch, 16)) as disk, opened(disk, 4, 2, queue=queue) as arcs:
        good = bytes(disk._file.read(16 * 8 * 20, 1))
        disk._file.overwrite(np.array([good[0] ^ 255], np.uint8), 16 * 8 * 20)
        with pytest.raises(OSError, match="block 20 .* wrong checksum"):
            distances(arcs, 0)
        disk._file.overwrite(np.frombuffer(good, np.uint8), 16 * 8 * 20)
        with opened(disk.load()) as others:
            assert distances(arcs, 0).tolist() == distances(others, 0).tolist()


class Stop(Exception):
    """Raised by a tick."""


@pytest.mark.parametrize("place", ["ram", "disk", "one bit"])
def test_a_tick_stops_a_search(scratch: Scratch, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = []

    def tick() -> None:
        ticks.append(1)
        if len(ticks) == 3:
            raise Stop

    graph = naive.grid(20, 1)
    for module in (heap, one_bit, semi_external):
        monkeypatch.setattr(module, "_SLICE_ARCS", 50)
    made = naive.in_ram(graph) if place == "ram" else naive.on_disk(graph, scratch, 32)
    with opened(made, 9, tick=tick, queue=scratch if place == "one bit" else None) as arcs:
        with pytest.raises(Stop):
            distances(arcs, 0)
        assert distances(arcs, 0).tolist() == scipy_distances(graph, 0)
    assert len(ticks) > 10


@pytest.mark.usefixtures("in_ram_method")
def test_a_graph_without_vertices(scratch: Scratch) -> None:
    for made in (naive.in_ram((0, [])), naive.on_disk((0, []), scratch)):
        with opened(made) as arcs:
            assert distances(arcs).tolist() == [] and grow(arcs, np.empty(0, np.int64))[0].tolist() == []


@many
@given(graph=naive.graphs(), block_arcs=st.integers(1, 9), n_slots=st.integers(2, 9), data=st.data())
def test_one_bit_with_runs_of_few_entries(scratch: Scratch, graph: naive.Graph, block_arcs: int, n_slots: int,
                                          data: st.DataObject) -> None:
    sources = data.draw(st.lists(st.integers(0, graph[0] - 1), max_size=4, unique=True))
    with pytest.MonkeyPatch.context() as patch, closing(naive.on_disk(graph, scratch, block_arcs)) as disk:
        patch.setattr(Queue, "page", 1)
        with opened(disk, n_slots, queue=scratch) as arcs:
            assert plain(arcs.nearest(np.array(sources, np.int64))[0]) == naive.distances(graph, sources)


def test_one_bit_writes_runs_and_its_distances_alone(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels are never read: what they hold before makes no difference. Nothing stays in the scratch folder."""
    monkeypatch.setattr(Queue, "page", 4)
    graph = naive.large(1500, 4000, 3)
    with closing(naive.on_disk(graph, scratch, 64)) as disk:
        kept = scratch.peak_bytes
        with closing(OneBitPaths(disk, 8 * 64 * 9, SearchOptions(queue=scratch))) as machine:
            labels = np.random.default_rng(1).integers(0, 50, 1500).astype(np.uint64)
            machine.settle(labels, np.array([777]))
            assert machine.runs > 10 and scratch.peak_bytes > kept
        want = naive.distances(graph, [777])
        assert [d for d, w in zip(labels.tolist(), want, strict=True) if w is not None] == [
            w for w in want if w is not None]
        assert scratch._bytes == disk._file.size


def test_each_arc_is_relaxed_once_with_one_bit(scratch: Scratch) -> None:
    """A label-correcting search may relax one more than once; this one settles a vertex for good."""
    graph = naive.grid(30, 4)
    with closing(naive.on_disk(graph, scratch, 32)) as disk, opened(disk, 6, queue=scratch) as arcs:
        distances(arcs, 0)
        assert arcs.counters.arcs_scanned == disk.n_arcs
