"""Values over workers: many sources at once, spreads, bounds of pivots, against naive twins and the CPU engine."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.conversion.convert import ConvertOptions, convert
from emdiam.runs.registry import METHODS, method_options
from emdiam.stream.threads import Threads
from emdiam.traverse.pivot_bounds import PivotBounds
from tests.engine.test_protocol import check_eccentricities, check_spread
from tests.helpers import naive
from tests.helpers.small_core import small_core
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store

pytest.importorskip("distributed", reason="dask.distributed is not installed")

from emdiam.dask.masks import Masks
from tests.helpers.workers import APART, apart, engine_on_workers

ODD = odd_graphs()
SETTINGS = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
# Workers and the arcs of a dense level: none ever, all.
KINDS = {f"{workers}-{name}": (workers, arcs)
         for workers in (2, 1, 3) for name, arcs in (("sparse", 1 << 40), ("dense", 0))}


def bitmap(n: int, vertices: set[int]) -> np.ndarray:
    words = np.zeros((n + 63) // 64, np.uint64)
    for v in vertices:
        words[v >> 6] |= np.uint64(1 << (v & 63))
    return words


def check_batch(engine: Any, graph: naive.Graph, sources: list[int], targets: set[int]) -> None:
    """Distances, eccentricities, and how far a batch goes that stops at targets."""
    want = [naive.distances(graph, v) for v in sources]
    columns = [engine.new_column(300) for _ in sources[:3]]
    found = engine.eccentricities(sources[:3], columns=columns)
    assert found.tolist() == [max(d) for d in want[:3]]
    assert [c.gather(np.arange(len(graph))).tolist() for c in columns] == want[:3]
    assert engine.eccentricities(sources).tolist() == [max(d) for d in want]
    stopped = engine.eccentricities(sources, targets=bitmap(len(graph), targets)).tolist()
    last = max(max(d[t] for t in targets) for d in want)
    met = all(d[t] >= 0 for d in want for t in targets)
    assert stopped == [min(max(d), last) if met else max(d) for d in want]


def check(path: Path, graph: naive.Graph, kind: str, seed: int, room: int | None = None) -> None:
    """All verbs on the graph, spread over the ranges."""
    workers, dense_arcs = KINDS[kind]
    wide, rng = apart(graph), random.Random(seed)
    with engine_on_workers(write_store(path, wide), workers, processes=False, dense_arcs=dense_arcs) as engine:
        engine.batch_room_bytes = room
        sources = [APART * rng.randrange(len(graph)) for _ in range(rng.choice((1, 5, 70)))]
        check_batch(engine, wide, sources, {APART * rng.randrange(len(graph)) for _ in range(2)})
        for _ in range(2):
            check_spread(engine, wide, rng)
        check_crowd(engine, wide, rng)


def check_crowd(engine: Any, graph: naive.Graph, rng: random.Random) -> None:
    """Two spreads on one column, the second of seeds everywhere; then its end is extended."""
    n, bound = len(graph), engine.new_column(60)
    first = [APART * rng.randrange(-(-n // APART)) for _ in range(3)]
    engine.spread(np.array(first), np.full(3, 4), 8, bound)
    before = bound.gather(np.arange(n))
    seeds = list(range(0, n, APART))
    values = [rng.randint(2, 9) for _ in seeds]
    lowered = engine.spread(np.array(seeds), np.array(values), 8, bound)
    want = np.array([99 if b is None else b for b in naive.spread(
        graph, first + seeds, [4] * 3 + values, 8)])
    found = bound.gather(np.arange(n))
    assert found.tolist() == np.where(want == 99, -1, want).tolist()
    assert lowered == np.count_nonzero(found != before)
    grown = engine.spread(None, 8, 10, bound)
    ends = [v for v in range(n) if want[v] == 8]
    more = naive.spread(graph, ends, [8] * len(ends), 10) if ends else [None] * n
    after = [min(w, 99 if b is None else b) for w, b in zip(want.tolist(), more, strict=True)]
    assert bound.gather(np.arange(n)).tolist() == [-1 if w == 99 else w for w in after]
    assert grown == sum(a != b for a, b in zip(after, want.tolist(), strict=True))


@pytest.mark.thin(60, sampled=("name",))
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("kind", KINDS)
def test_odd_graphs(tmp_path: Path, kind: str, name: str) -> None:
    check(tmp_path / "g.zarr", ODD[name], kind, 7)


@pytest.mark.thin(4, sampled=("name",))
@pytest.mark.parametrize("name", ["clique", "torus", "barbell", "path-and-star"])
@pytest.mark.parametrize("kind", ["3-sparse", "3-dense"])
def test_small_room(tmp_path: Path, kind: str, name: str) -> None:
    """Masks travel in many rounds where there is room for few."""
    check(tmp_path / "g.zarr", ODD[name], kind, 3, room=64)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(graph=graphs(most=60), seed=st.integers(0, 2**32))
def test_random_graphs(tmp_path: Path, kind: str, graph: naive.Graph, seed: int) -> None:
    check(tmp_path / "g.zarr", graph, kind, seed, room=seed % 2 * 512 or None)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 3])
def test_the_checks_of_the_protocol(tmp_path: Path, workers: int) -> None:
    """Repeated sources, batches of more than two words, over processes."""
    wide = apart(ODD["lollipop"])
    with engine_on_workers(write_store(tmp_path / "g.zarr", wide), workers, dense_arcs=100) as engine:
        check_eccentricities(engine, wide, random.Random(workers))


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    wide = apart(ODD["path"])
    with engine_on_workers(write_store(tmp_path / "g.zarr", wide), 2, processes=False) as engine:
        with pytest.raises(OverflowError):
            engine.eccentricities([0], columns=[engine.new_column(9)])
        middle = APART * 150  # 150 steps to either end fit
        assert engine.eccentricities([middle], columns=[engine.new_column(9)]).tolist() == [150]
        with pytest.raises(OverflowError):
            engine.spread(np.array([0]), np.array([0]), 255, engine.new_column(9))
        with pytest.raises(ValueError):
            engine.eccentricities([len(wide)])
        with pytest.raises(ValueError):
            engine.eccentricities([0, 1], columns=[engine.new_column(9)])
        assert engine.eccentricities([]).tolist() == []


@pytest.mark.parametrize("workers", [2, 3])
def test_bounds_equal_those_of_one_machine(tmp_path: Path, workers: int) -> None:
    wide = apart(ODD["caterpillar"])
    path = write_store(tmp_path / "g.zarr", wide)
    with engine_on(path) as local, engine_on_workers(path, workers, processes=False) as engine:
        here, there = local.new_bounds(60), engine.new_bounds(60)
        assert isinstance(there, PivotBounds)
        for source in (0, APART * 7, APART * 30, APART * 39):
            run, far = local.bfs(source), engine.new_column(60)
            far.copy_from(run.distances)
            top = run.eccentricity
            assert there.fold(source, far, top, 12) == here.fold(source, run.distances, top, 12)
            assert there.unsettled(13).tolist() == here.unsettled(13).tolist()
            for mine, theirs in ((here.lower, there.lower), (here.upper, there.upper), (here.far, there.far)):
                assert np.array_equal(mine.raw(), theirs.raw())
        there.reset()
        assert there.upper.count(there.upper.unreached) == len(wide)


@pytest.mark.parametrize("k", [3, 70])
def test_masks_of_two_ranges_out_of_core(k: int) -> None:
    """Sparse levels of two ranks whose arena holds three blocks, by hand: crowded tables, rows put aside."""
    threads = Threads(2, 1)
    try:
        cores = [small_core(np.dtype(np.uint32), threads, 0) for _ in range(2)]
        graph = [read.tolist() for read in rows_of(cores[0])]
        rng = np.random.default_rng(k)
        sources = rng.integers(0, 133, k)
        ranks = [Masks(replace(core, part=(*span, core.blocks)), sources, room=1)
                 for core, span in zip(cores, ((0, 64), (64, 200)), strict=True)]
        reached = np.zeros(k, np.int64)
        rounds = 0
        for level in range(1, 300):
            for mine, other in (ranks, ranks[::-1]):
                mine.begin_push()
                more = True
                while more:
                    vertices, masks, more = mine.push()
                    other.receive(vertices, masks)
                    rounds += 1
            alive = ranks[0].end_level(level)[1] | ranks[1].end_level(level)[1]
            bits = np.unpackbits(alive.view(np.uint8), bitorder="little")[:k]
            reached[bits == 1] = level
            if not bits.any():
                break
    finally:
        threads.close()
    assert reached.tolist() == [max(naive.distances(graph, v)) for v in sources.tolist()]
    assert rounds > 2 * level


def rows_of(core: Any) -> list[np.ndarray]:
    """All rows of a small core."""
    from emdiam.traverse.paths import read_rows

    return read_rows(core, np.arange(core.table.n_vertices))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pivots", "fdiam", "bounding", "korf"])
@pytest.mark.parametrize("name", ["facebook_combined.txt", "wiki-Vote.txt"])
def test_methods_do_the_same(tmp_path: Path, data_folder: Path, name: str, method: str) -> None:
    """The same diameter by the same number of whole traversals as on one machine."""
    path = tmp_path / "g.zarr"
    convert([data_folder / name], path, options=ConvertOptions())
    with engine_on(path) as local, engine_on_workers(path, 2, processes=False) as engine:
        here, there = (METHODS[method].definition().solve(some, method_options(method, {})) for some in (local, engine))
    assert (there.diameter, there.lower, there.upper) == (here.diameter, here.lower, here.upper)
    if method != "pivots":  # which chooses by time
        for name_of in ("bfs", "multi_source", "multi_source_sources"):  # chains are spread range by range
            assert getattr(there.traversals, name_of) == getattr(here.traversals, name_of)
