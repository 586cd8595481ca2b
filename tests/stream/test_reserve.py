"""What a plan does not foresee: wider columns and labels take the reserve, then blocks of the arena."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from emdiam.errors import BudgetError, MoreMemoryError
from emdiam.stream.plan import MIN_BLOCKS, Known, Phase, Pool, known_of, make_plan, most_parts
from emdiam.stream.reserve import Reserve
from tests.helpers import naive
from tests.helpers.stores import engine_on, write_store

PATH = naive.graph_of(400, [(v, v + 1) for v in range(399)])
SLOT = 64 * 4


def short_of_memory(engine: Any, reserve: int) -> None:
    """Columns of two bytes need 2,000 bytes more than there are, columns of four 10,000, and so much is reserved."""
    plan = replace(engine.plan, phases=(Phase("all", 2.5, 1000, 11_000, 3000, 11_000),), reserve_bytes=reserve)
    engine.core.reserve = Reserve(plan, engine.core.pager)


@pytest.mark.parametrize(("reserve", "slots"), [(2000, 13), (1990, 12), (0, 5)])
def test_distances_that_widen_take_the_reserve_and_then_blocks(tmp_path: Path, reserve: int, slots: int) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", PATH)) as engine:
        arena = engine.core.pager.arena
        assert arena.n_slots == 13 and engine.core.pager.everything_resident
        short_of_memory(engine, reserve)
        run = engine.bfs(0)
        assert (run.eccentricity, run.distances.dtype, arena.n_slots) == (399, np.dtype(np.uint16), slots)
        assert run.distances.gather(np.arange(400)).tolist() == list(range(400))
        assert len(arena.ids) == 64 * slots
        again = engine.bfs(399).distances.gather(np.arange(400))
        assert again.tolist() == list(range(399, -1, -1)) and arena.n_slots == slots


def test_columns_that_the_arena_has_no_blocks_for_are_refused_with_the_numbers(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", PATH)) as engine:
        short_of_memory(engine, 0)
        engine.new_column(253)
        with pytest.raises(MoreMemoryError, match="4 bytes each, since they may exceed 253; columns of them take"
                                                  " 9.8 KiB beside the planned vertex state") as caught:
            engine.new_column(65_535)
        assert caught.value.missing_bytes == 10_000 - (13 - MIN_BLOCKS) * SLOT and caught.value.without_arena


def test_labels_are_set_aside_once_however_often_they_are_made(tmp_path: Path) -> None:
    graph = naive.graph_of(400, [(v, v + 1) for v in range(399) if v != 200])
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        short_of_memory(engine, 4000)
        for source in (0, 399, 0):
            engine.bfs(source, distances=False)
            others = engine.components(source)
            assert others is not None and others.n_others == 1
        assert engine.core.pager.arena.n_slots == 13
        others.release()
        engine.bfs(0)  # and its distances take what the labels left
        assert engine.core.pager.arena.n_slots == 13


def fake_store(n_blocks: int) -> Any:
    return SimpleNamespace(n_vertices=1 << 20, n_arcs=n_blocks << 16, id_dtype=np.dtype(np.uint32), ahead_bytes=0,
                           indices=SimpleNamespace(chunk_items=1 << 16, n_chunks=n_blocks))


NOTHING = Known()


def planned(memory: int, phases: tuple[Phase, ...], pool: Pool, known: Known = NOTHING) -> Any:
    return make_plan(fake_store(1000), phases, memory_bytes=memory, pool=pool.knowing(known), program=100 << 20)


# Of columns of 2 bytes 6 MiB more, of 4 bytes 18, and labels of 8 beside.
WIDENING = (Phase("bfs", 3.0, 3 << 20, 7 << 20, 5 << 20, 7 << 20),
            Phase("solve", 6.0, 6 << 20, 32 << 20, 12 << 20, 24 << 20, 8 << 20))


@pytest.mark.parametrize(("known", "more"), [
    (Known(), 18 + 8 + 50), (Known(32_766), 18 + 8 + 50), (Known(32_766, connected=True), 18),
    (Known(32_765, connected=True), 6), (Known(126, connected=True), 6), (Known(125, connected=True), 0),
    (Known(125), 8 + 50)])
def test_the_least_that_is_named_is_for_the_widest_columns_and_most_components_that_there_may_be(
    known: Known, more: int
) -> None:
    pool = Pool(64 << 20, 1 << 20, of_parts=50 << 20)
    plan = planned(1 << 40, WIDENING, pool, known)
    assert plan.minimum_bytes == plan.wide_bytes == plan.narrow_bytes + (more << 20)
    with pytest.raises(BudgetError, match=f"give at least --memory {-(-plan.minimum_bytes // 2**20)}MiB") as caught:
        planned(1 << 20, WIDENING, pool, known)
    assert caught.value.least_bytes == plan.minimum_bytes


@pytest.mark.parametrize("found", [Known(reserve_bytes=26 << 20), Known(pool_bytes=51 << 20),
                                   Known(reserve_bytes=26 << 20, pool_bytes=51 << 20)])
def test_what_was_found_to_be_needed_is_planned_with_the_least_that_was_named(found: Known) -> None:
    pool = Pool(64 << 20, 1 << 20, of_parts=50 << 20)
    named = planned(1 << 40, WIDENING, pool).minimum_bytes
    plan = planned(named, WIDENING, pool, found)
    assert plan.reserve_bytes >= found.reserve_bytes and plan.pool_bytes >= max(1 << 20, found.pool_bytes)
    assert plan.planned_rss_bytes <= named == plan.minimum_bytes


def test_an_error_says_what_all_that_was_taken_needs(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", PATH)) as engine:
        short_of_memory(engine, 2500)
        engine.core.hold("things", 400)
        engine.new_column(65_533)  # takes 2,000
        with pytest.raises(MoreMemoryError) as caught:
            engine.core.hold("things", 5000)
        assert caught.value.reserve_bytes == 2000 + 5000
        known = Known(5).after(caught.value, engine.plan)
        assert known == Known(5, reserve_bytes=7000, attempts=1)
        known = known.after(MoreMemoryError("candidates", 10), engine.plan)
        assert known == Known(5, reserve_bytes=7000, pool_bytes=engine.plan.pool_bytes + 10, attempts=2)


@pytest.mark.parametrize(("n", "isolated", "degree", "longest", "parts"), [
    (1000, 0, 999, 2, 1), (1000, 0, 998, 3, 1), (1000, 0, 997, 4, 2), (1000, 500, 1, 500, 250), (0, 0, 0, 1, 0),
    (7, 7, 0, 1, 0)])
def test_what_the_record_of_a_store_says(n: int, isolated: int, degree: int, longest: int, parts: int) -> None:
    store: Any = SimpleNamespace(n_vertices=n, record=SimpleNamespace(n_isolated=isolated, max_degree=degree))
    assert most_parts(store) == parts
    assert known_of(store) == Known(longest, connected=parts <= 1)


@pytest.mark.parametrize("pool", [Pool(), Pool(64 << 20, 1 << 20), Pool(64 << 20, 1 << 20, True)])
def test_the_least_budget_is_for_narrow_columns_and_no_plan_is_above_its_limit(pool: Pool) -> None:
    phases = (Phase("bfs", 3.0, 3 << 20, 7 << 20, 5 << 20, 7 << 20), Phase("solve", 6.0, 6 << 20, 32 << 20, 12 << 20,
                                                                         24 << 20))
    most = planned(1 << 40, phases, pool)
    assert most.in_ram and most.reserve_bytes == 26 << 20 and most.pool_bytes == max(pool.wanted, 0)
    least = most.narrow_bytes
    state = (6 << 20) + pool.least + (26 << 20 if pool.whole_reserve else 0)
    assert state < least - most.base_bytes < state + (16 << 20)
    for memory in [least, *(least + (step << 20) for step in (1, 8, 26, 100, 249, 250, 260, 276, 320, 400))]:
        plan = planned(memory, phases, pool)
        assert plan.planned_rss_bytes <= memory and plan.arena_blocks >= MIN_BLOCKS and plan.narrow_bytes == least
        assert plan.minimum_bytes == most.minimum_bytes == least + (0 if pool.whole_reserve else 26 << 20)
        assert plan.pool_bytes >= pool.least and (plan.reserve_bytes == 26 << 20 or not pool.whole_reserve)


@pytest.mark.parametrize(("arena", "slots"), [(True, MIN_BLOCKS), (False, 13)])
def test_what_is_left_goes_to_whoever_traverses_no_more(tmp_path: Path, arena: bool, slots: int) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", PATH)) as engine:
        short_of_memory(engine, 2500)
        engine.new_column(65_533)  # takes 2,000
        assert engine.core.reserve.take_rest(arena=arena) == 500 + (13 - slots) * SLOT
        assert engine.core.pager.arena.n_slots == slots
        assert engine.core.reserve.take_rest(arena=arena) == 0
        assert engine.bfs(0, distances=False).eccentricity == 399
