"""A graph that does not fit the device: every way of paging gives what a device that holds it all gives."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import BudgetError, InputError
from emdiam.gpu import vram
from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.page_cache import PageCache
from emdiam.gpu.paged import PagedBfs, PagedGraph
from emdiam.gpu.paging_model import (
    ALL_WAYS,
    COPY,
    GATHER,
    IN_PLACE,
    TYPICAL,
    UP,
    WAYS,
    LevelNeed,
    PageCosts,
    PageNeed,
    PagingModel,
)
from emdiam.gpu.setting import OnDevice
from emdiam.gpu.upload import upload_offsets
from emdiam.gpu.variants.bfs_frontier import FrontierBfs
from emdiam.gpu.vram import plan_vram
from emdiam.methods.exact.bounding import bounding
from emdiam.methods.exact.fdiam import fdiam
from emdiam.methods.exact.korf import korf
from emdiam.methods.exact.pivots import pivots
from emdiam.runs.registry import entry_of
from emdiam.store.store import open_store
from tests.engine.test_protocol import check_all
from tests.gpu.test_engine import without_costs
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store
from tests.simt.devices import open_device, plain_distances

pytestmark = pytest.mark.thin(9)

ODD = odd_graphs()
SHAPES = ("one", "no-edges", "path-and-star", "star", "clique-and-path", "grid", "barbell", "isolated-first")
SETTINGS = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
CHUNK = 64
FDIAM = entry_of("fdiam").definition().device
METHODS = {"pivots": pivots, "fdiam": fdiam, "bounding": bounding, "korf": korf}


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """PageCache of four blocks of CHUNK arcs."""
    monkeypatch.setattr(vram, "PAGE_BYTES", 16 * CHUNK)
    monkeypatch.setattr(vram, "LARGER", 0)


def chosen(model: PagingModel, block_bytes: int, row_bytes: int, sectors: int, ways: tuple[str, ...] = WAYS,
           before: str = COPY) -> str:
    """The way of a page that asks for so much."""
    return PageCosts(model, PageNeed(block_bytes, row_bytes, sectors), ways).cheapest(before=before)[0]


@contextmanager
def paged(folder: Path, graph: naive.Graph, kind: str, device: Any, ways: tuple[str, ...], page_shift: int = 1,
          kept: int = 0) -> Iterator[PagedGraph]:
    """The graph in pages of 2^page_shift blocks of CHUNK arcs, `kept` of which may stay."""
    store = write_store(folder / "g.zarr", graph, chunk=CHUNK)
    with engine_on(store, kind) as engine:
        core = engine.core
        pages = PageCache(device, core, page_shift, kept)
        try:
            offsets = upload_offsets(device, core)
            yield PagedGraph(offsets, device.empty(0, store_dtype(core)), core, pages, TYPICAL,
                             tuple(way for way in ways if way not in (IN_PLACE, UP) or pages.in_order))
        finally:
            pages.close()


def store_dtype(core: Any) -> np.dtype:
    return core.pager.arena.ids.dtype


@pytest.mark.parametrize("late", range(4))
@pytest.mark.parametrize("ways", [(COPY,), (GATHER,), (IN_PLACE,), WAYS], ids="-".join)
@pytest.mark.parametrize("kind", ["in-ram", "streamed"])
def test_bfs(tmp_path: Path, kind: str, ways: tuple[str, ...], late: int) -> None:
    for name in SHAPES:
        device = open_device(f"shim-{late}", late=late)
        with paged(tmp_path, ODD[name], kind, device, ways, kept=late % 2 * 2) as graph:
            search = PagedBfs(device, graph, block=64)
            for source in {0, len(ODD[name]) // 2, len(ODD[name]) - 1}:
                distances, levels, complete = search.run(source)
                want = naive.distances(ODD[name], source)
                assert plain_distances(device.to_host(distances)) == want
                assert (levels, complete) == (max(want), True)


@pytest.mark.thin(9, sampled=("mapping",))
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_every_mapping(tmp_path: Path, mapping: str) -> None:
    graph = ODD["path-and-star"]
    for ways in ((COPY,), (GATHER,), (IN_PLACE,)):
        device = open_device("shim-2", late=3)
        with paged(tmp_path, graph, "in-ram", device, ways) as there:
            distances, _, _ = PagedBfs(device, there, mapping, block=64).run(25)
            assert plain_distances(device.to_host(distances)) == naive.distances(graph, 25)


@SETTINGS
@given(graph=graphs(most=100), seed=st.integers(0, 2**32), late=st.integers(0, 3), shift=st.integers(0, 2),
       kept=st.integers(0, 3))
def test_random_graphs(tmp_path: Path, graph: naive.Graph, seed: int, late: int, shift: int, kept: int) -> None:
    rng = random.Random(seed)
    ways, kind = tuple(rng.sample(ALL_WAYS, rng.randint(1, 4))), rng.choice(["in-ram", "streamed"])
    device = open_device(f"shim-{seed % 4}", late=late)
    with paged(tmp_path, graph, kind, device, ways, shift, kept) as there:
        mapping = rng.choice([None, "threads", "cta-warp-scan"])
        search = rng.choice([PagedBfs(device, there, mapping, block=64), FrontierBfs(device, there, mapping, 64)])
        for _ in range(3):
            source, radius = rng.randrange(len(graph)), rng.choice([None, rng.randint(0, 5)])
            distances, _, _ = search.run(source, radius)
            want = [d if radius is None or d <= radius else -1 for d in naive.distances(graph, source)]
            assert plain_distances(device.to_host(distances)) == want


@pytest.mark.parametrize("late", [0, 3])
@pytest.mark.parametrize("model", ["always", "usual", "to-and-fro"])
def test_levels_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, late: int) -> None:
    """Wherever the model says so; always; and every other level."""
    turns = itertools.count()
    if model != "usual":
        monkeypatch.setattr(PagingModel, "seconds_up", lambda self, need: -1.0 if model == "always" or (
            next(turns) // 2 % 2) else 1e9)
    for name in ("one", "no-edges", "path-and-star", "clique-and-path", "word-and-one", "isolated-first"):
        graph = ODD.get(name, naive.graph_of(33, [(v, (v + 1) % 33) for v in range(33)]))
        device = open_device(f"shim-{late}", late=late)
        with paged(tmp_path, graph, "in-ram", device, (COPY, UP), kept=late % 2) as there:
            search = PagedBfs(device, there, "cta-warp-scan", block=64)
            for source in {0, len(graph) // 2, len(graph) - 1}:
                for radius in (None, 2):
                    want = naive.distances(graph, source)
                    found = plain_distances(device.to_host(search.run(source, radius)[0]))
                    assert found == [d if radius is None or d <= radius else -1 for d in want]
            if model == "always" and len(graph) > 1 and there.n_arcs:
                assert there.pages.counts.levels_up and not there.pages.counts.bytes_copied


def test_the_last_level_is_not_brought(tmp_path: Path) -> None:
    """Once all vertices with an arc are reached."""
    for name, copied in (("clique", 1), ("path-and-star", 0)):
        device = open_device("shim-0")
        with paged(tmp_path, ODD[name], "in-ram", device, (COPY,), page_shift=6) as graph:
            distances, levels, complete = PagedBfs(device, graph, "threads").run(0)
            assert plain_distances(device.to_host(distances)) == naive.distances(ODD[name], 0) and complete
            assert (graph.pages.counts.pages_copied == levels) == bool(copied)


def test_a_dense_level_goes_up_and_reads_less(tmp_path: Path) -> None:
    """A random graph of mean degree 60: most of its arcs are in one level, from which hardly a vertex is not near."""
    rng = np.random.default_rng(4)
    graph = naive.graph_of(1500, rng.integers(0, 1500, (45_000, 2)).tolist())
    quick = PagingModel(copy_rate=1e9, place_rate=1e9, gather_rate=1e9, call=1e-9, round_trip=1e-9)
    came = {}
    for ways in (WAYS, ALL_WAYS):
        device = open_device("shim-0")
        with paged(tmp_path, graph, "in-ram", device, ways, page_shift=6) as there:
            there = replace(there, model=quick)
            distances, levels, _ = PagedBfs(device, there, "cta-warp-scan").run(0)
            assert plain_distances(device.to_host(distances)) == naive.distances(graph, 0) and levels == 3
            counts = there.pages.counts
            came[ways] = counts.bytes_copied + counts.bytes_gathered + counts.bytes_in_place + 8 * counts.bytes_up
            assert counts.levels_up == (ways == ALL_WAYS)
    assert came[ALL_WAYS] < came[WAYS] / 2


def test_what_a_level_up_is_expected_to_read() -> None:
    model = PagingModel(copy_rate=10.0, place_rate=4.0, gather_rate=2.0, call=3.0, round_trip=1.0)
    assert model.seconds_up(LevelNeed(10, 1000, 0.5, 4)) == 3 + 10 * (32 + 2 * 4) / 4
    assert model.seconds_up(LevelNeed(10, 1000, 1e-3, 8)) == 3 + 10 * (32 + 100 * 8) / 4  # whole rows
    assert LevelNeed(0, 0, 0.1, 4).bytes_up == 0 and chosen(model, 125, 20, 9, ALL_WAYS) == COPY


def setting(device: Any, **more: Any) -> OnDevice:
    return OnDevice(device, model=TYPICAL, paged=True, **more)


@pytest.mark.thin(4)
@pytest.mark.parametrize("ways", [(COPY,), (GATHER,), (IN_PLACE,), WAYS], ids="-".join)
@pytest.mark.parametrize("name", ["clique-and-path", *(pytest.param(name, marks=pytest.mark.slow) for name in (
    "path-and-star", "torus"))])
def test_the_engine_protocol(tmp_path: Path, small_pages: None, name: str, ways: tuple[str, ...]) -> None:
    store = write_store(tmp_path / "g.zarr", ODD[name])
    kind = "in-ram" if ways == (IN_PLACE,) else "streamed"
    with engine_on(store, kind, device=setting(open_device("shim-1", late=3), ways=ways), method="fdiam") as engine:
        assert isinstance(engine.graph, PagedGraph)
        check_all(engine, ODD[name], random.Random(5))


@pytest.mark.thin(9, sampled=("name",))
@pytest.mark.parametrize("method", ["pivots", "fdiam", "bounding", "korf"])
@pytest.mark.parametrize("name", ["clique-and-path", *(pytest.param(name, marks=pytest.mark.slow) for name in (
    "caterpillar", "tree"))])
def test_exact_results(tmp_path: Path, small_pages: None, name: str, method: str) -> None:
    """With room, all counts are those of a device that holds the graph, which are those of the CPU
    (tests/engine/test_device.py); and the answer within the least memory that is accepted."""
    store, solve = write_store(tmp_path / "g.zarr", ODD[name]), METHODS[method]
    with engine_on(store, device=OnDevice(open_device("shim-0")), method=method) as engine:
        assert engine.graph.resident
        want = without_costs(solve(engine).to_dict())
    device = open_device("shim-2", late=3)
    with open_store(store) as opened:
        least = plan_vram(opened, setting(device), entry_of(method).definition().device).least_bytes
        assert least < device.total
        with pytest.raises(BudgetError, match=r"too small: the least is .* --vram \d+MiB"):
            plan_vram(opened, setting(device, vram_bytes=least - 1), entry_of(method).definition().device)
    with engine_on(store, "streamed", device=setting(device, vram_bytes=least), method=method) as engine:
        planned, found = engine.vram.planned_bytes, without_costs(solve(engine).to_dict())
        for figure in ("lower", "upper", "exact", "n_components", "diameter_largest_component"):
            assert found[figure] == want[figure]
    assert device.peak <= planned <= least
    with engine_on(store, device=setting(open_device("shim-3")), method=method) as engine:
        assert without_costs(solve(engine).to_dict()) == want


def test_bytes_of_dense_and_sparse_levels(tmp_path: Path) -> None:
    """A level copies no block without an active arc; rows that are gathered or read in place cost at most
    twice their bytes."""
    graph = naive.graph_of(2000, [(v, (v * 7 + k) % 2000) for v in range(2000) for k in range(1, 6)])
    degrees = np.array([len(row) for row in graph])
    offsets = np.concatenate([[0], np.cumsum(degrees)])
    rng = np.random.default_rng(3)
    for n_active in (2000, 20, 1):
        for ways in ((COPY,), (GATHER,), (IN_PLACE,), WAYS):
            device = open_device("shim-0")
            with paged(tmp_path, graph, "in-ram", device, ways, page_shift=2) as there:
                launcher = there.launcher(device, "threads", 64)
                kernels = launcher.kernels("variants/bfs_frontier.cu", "expand_frontier")
                active = rng.choice(2000, n_active, replace=False)
                queue, levels = device.array(active.astype(np.uint32)), device.array(np.zeros(2000, np.uint32))
                launcher.launch(kernels, queue, (levels, np.uint32(1), device.empty(2000, np.uint32),
                                                 device.array(np.zeros(1, np.uint64))))
                counts, rows = there.pages.counts, 4 * int(degrees[active].sum())
                ends = zip(offsets[active] // CHUNK, (offsets[active + 1] - 1) // CHUNK, strict=True)
                blocks = {block for first, last in ends for block in range(first, last + 1)}
                assert counts.bytes_copied <= 4 * CHUNK * len(blocks)
                assert counts.bytes_gathered + (counts.bytes_in_place if ways == WAYS else 0) <= 2 * rows
                if ways == (GATHER,):
                    assert counts.bytes_gathered == rows and counts.bytes_copied == 0
                if ways == (COPY,):
                    assert counts.bytes_copied == device.copied > 0


def test_pages_that_stay_are_copied_once(tmp_path: Path) -> None:
    device = open_device("shim-1")
    with paged(tmp_path, ODD["clique"], "in-ram", device, (COPY,), kept=99) as graph:
        search = FrontierBfs(device, graph, "threads")
        for source in (0, 5, 9):
            search.run(source)
        assert graph.pages.counts.bytes_copied == 4 * graph.n_arcs and graph.pages.counts.pages_kept > 0


def test_the_model_takes_the_cheapest_way() -> None:
    model = PagingModel(copy_rate=10.0, place_rate=5.0, gather_rate=2.0, call=0.0, round_trip=1.0)
    assert model.seconds(COPY, PageNeed(100, 1, 1)) == 10 and model.seconds(IN_PLACE, PageNeed(0, 0, 2)) == 2 * 32 / 5
    assert model.seconds(GATHER, PageNeed(0, 10, 0)) == 1 + 10 * (0.5 + 0.1)
    assert model.seconds(GATHER, PageNeed(0, 10, 0), joins=True) == 10 * (0.5 + 0.1)
    assert chosen(model, 1000, 40, 2) == IN_PLACE  # 12.8 s against 25 and 100
    assert chosen(model, 1000, 20, 2) == GATHER  # two sectors for 20 bytes are more than twice as much
    assert chosen(model, 10, 40, 2) == COPY
    assert chosen(model, 1000, 20, 2, (IN_PLACE,)) == COPY
    assert chosen(model, 125, 20, 9) == COPY  # 12.5 s against 13
    assert chosen(model, 125, 20, 9, before=GATHER) == GATHER  # which is 12 in a launch that there is


def test_variants_that_need_all_edges(tmp_path: Path, small_pages: None) -> None:
    store = write_store(tmp_path / "g.zarr", ODD["clique"])
    with pytest.raises(InputError, match="the edges do not fit the device.*luo.*raise --vram"), \
            engine_on(store, device=setting(open_device("shim-0"), bfs="luo")):
        pass


def test_several_devices_hold_the_whole_graph_each(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", ODD["clique"])
    devices = [open_device(f"shim-{seed}") for seed in range(2)]
    message = "each of several devices holds the whole graph, and it does not fit shim, seed 0; give one device"
    with open_store(store) as opened:
        assert plan_vram(opened, OnDevice(devices[0], others=(devices[1],)), FDIAM).resident
        with pytest.raises(BudgetError, match=message):
            plan_vram(opened, setting(devices[0], others=(devices[1],)), FDIAM)


@pytest.mark.parametrize(("room", "shift"), [(0, 2), (7, 2), (8, 3), (16, 4), (1000, 4)])
def test_pages_are_larger_where_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int,
                                              shift: int) -> None:
    """By a factor of four at most, and while the ring takes an eighth of what there is for pages; what is planned is
    kept to."""
    monkeypatch.setattr(vram, "PAGE_BYTES", 16 * CHUNK)
    graph = naive.graph_of(400, [(v, (v * 7 + k) % 400) for v in range(400) for k in range(1, 60)])
    store = write_store(tmp_path / "g.zarr", graph, chunk=CHUNK)
    device = open_device("shim-0")
    with open_store(store) as opened:
        least = plan_vram(opened, setting(device), FDIAM).least_bytes
        least_ring, ring = (vram._ring(opened, one)[2] for one in (2, shift))
        given = setting(device, vram_bytes=least - least_ring + (room * ring or least_ring))
        plan = plan_vram(opened, given, FDIAM)
        assert plan.page_shift == shift and plan.planned_bytes <= given.vram_bytes and plan.least_bytes == least
    with engine_on(store, device=given, method="fdiam") as engine:
        assert engine.bfs(0).distances.gather(np.arange(400)).tolist() == naive.distances(graph, 0)
    assert device.peak <= plan.planned_bytes
