"""The arena evicts by recency, threads stop at the first error, the pager refuses bad ids."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bench.gpu.host_engine import MemoryArray
from emdiam.errors import StoreError
from emdiam.store.layout import StoreRecord
from emdiam.stream.blocks import build_block_table
from emdiam.stream.counters import Counters, SharedCounters
from emdiam.stream.pager import Arena, Pager
from emdiam.stream.rows import RowCheck
from emdiam.stream.threads import Threads
from tests.helpers import naive
from tests.helpers.forged import csr


class AnyRows:
    """A check that all blocks pass."""

    def vet(self, first: int, rows: list[np.ndarray]) -> None:
        """Nothing."""


def pager(n_blocks: int, n_slots: int, threads: Threads, values: np.ndarray | None = None, rows: Any = None) -> Pager:
    ids = np.arange(n_blocks * 64, dtype=np.uint32) if values is None else values
    return Pager(MemoryArray(ids, 64), rows or AnyRows(), Arena(n_blocks, n_slots, 64, ids.dtype), threads,
                 SharedCounters(), 2)


def row_check(rows: naive.Graph) -> tuple[np.ndarray, RowCheck]:
    """The neighbours in these rows, uint32[m], and a check of them in blocks of 64."""
    indptr, indices = csr(rows)
    degrees = np.diff(indptr)
    record = StoreRecord(max_degree=int(degrees.max()), n_isolated=int(np.count_nonzero(degrees == 0)))
    ids = indices.astype(np.uint32)
    store: Any = SimpleNamespace(n_vertices=len(rows), n_arcs=len(ids), path="g.zarr", record=record,
                                 indices=MemoryArray(ids, 64), indptr=MemoryArray(indptr, 64))
    return ids, RowCheck(build_block_table(store), ids.dtype, "g.zarr")


@pytest.fixture
def threads():
    one = Threads(2, 1)
    yield one
    one.close()


def test_load_evicts_the_least_recently_used(threads: Threads) -> None:
    one = pager(6, 3, threads)
    one.load(np.array([0, 1]))
    one.load(np.array([2]))
    one.load(np.array([0]))
    one.load(np.array([4]))
    assert (one.arena.slot_of >= 0).tolist() == [True, False, True, False, True, False]
    for block in (0, 2, 4):
        assert one.arena.row(one.arena.slot_of[block])[0] == block * 64
    assert one.load(np.arange(6)).tolist() == [0, 1, 2]
    assert one.counters.snapshot().blocks_read == 5


def test_blocks_on_their_way_are_seen_once_they_are_there(threads: Threads) -> None:
    one = pager(6, 4, threads)
    one.load(np.array([0, 1, 2, 3]))
    first = one.begin_load(np.array([4]), np.array([1]))
    second = one.begin_load(np.array([5]), np.array([1]))
    assert one.arena.slot_of[[4, 5]].tolist() == [-1, -1] and one.arena.slot_of[1] >= 0
    second.wait()
    first.wait()
    assert not one.on_way
    for block in (4, 5):
        assert one.arena.row(one.arena.slot_of[block])[0] == block * 64


def test_the_next_blocks_on_both_sides_are_read_ahead(threads: Threads) -> None:
    one = pager(100, 64, threads)
    one.load(np.array([0, 42, 50, 53]))
    assert one.read_ahead(np.array([0, 50])) == 4 + 4 + 4
    assert one.arena.slot_of[49] == -1 and len(one.on_way) == 1
    one.settle()
    there = np.flatnonzero(one.arena.slot_of >= 0).tolist()
    assert there == [0, 1, 2, 3, 4, 42, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55] and not one.on_way
    for block in there:
        assert one.arena.row(one.arena.slot_of[block])[0] == block * 64
    for count in (4, 2, 0):  # 5 to 8, 9 and 10, and no further
        assert one.read_ahead(np.array([2])) == count
        one.settle()
    assert pager(100, 63, threads).read_ahead(np.array([50])) == 0


@pytest.mark.parametrize("take", [lambda one: one.arena.set_apart(3), lambda one: one.give_up(1, 1),
                                  lambda one: one.sweep(np.arange(2), lambda *_: 0)])
def test_memory_goes_elsewhere_once_nothing_is_on_its_way(threads: Threads, take: Callable[[Pager], Any]) -> None:
    one = pager(100, 64, threads)
    one.load(np.array([50]))
    assert one.read_ahead(np.array([50])) == 8
    take(one)
    assert not one.on_way and (one.arena.slot_of[[49, 51]] >= 0).all()


def test_slots_of_blocks_on_their_way_are_nobody_elses(threads: Threads) -> None:
    one = pager(6, 3, threads)
    coming = one.begin_load(np.array([4, 5]), np.array([], np.int64))
    assert one.load(np.array([0])).tolist() == [0]
    assert one.load(np.array([1])).tolist() == [1]  # in the place of 0
    assert one.arena.slot_of[0] == -1
    coming.wait()
    assert (one.arena.slot_of >= 0).tolist() == [False, True, False, False, True, True]


def test_a_load_of_as_many_blocks_as_there_are_slots_waits_for_those_on_their_way(threads: Threads) -> None:
    one = pager(9, 4, threads)
    one.begin_load(np.array([7, 8]), np.array([], np.int64))
    assert one.load(np.arange(6)).tolist() == [0, 1, 2, 3]
    assert not one.on_way and (one.arena.slot_of >= 0).tolist() == [True] * 4 + [False] * 5


def test_loads_that_are_stopped_or_fail_leave_their_slots(threads: Threads) -> None:
    one = pager(6, 3, threads)
    one.begin_load(np.array([4]), np.array([], np.int64))
    one.begin_load(np.array([5]), np.array([], np.int64))
    one.stop_loading()
    assert not one.on_way and (one.arena.slot_of == -1).all()
    assert one.load(np.arange(6)).tolist() == [0, 1, 2]
    values = np.full(6 * 64, 1 << 30, np.uint32)
    broken = pager(6, 3, threads, values, row_check([[1], [0]] * 2)[1])
    coming = broken.begin_load(np.array([0, 2]), np.array([], np.int64))
    with pytest.raises((StoreError, IndexError)):
        coming.wait()
    assert not broken.on_way and len(broken.arena.take_slots(3, np.array([], np.int64))) == 3


@pytest.mark.parametrize("n_blocks", [9, 60])
def test_sweep_sees_every_block_once_and_evicts_nothing(threads: Threads, n_blocks: int) -> None:
    one = pager(n_blocks, 4, threads)
    assert {count for _, count in one.runs(np.arange(n_blocks))} == ({3} if n_blocks == 9 else {12, 16})
    one.load(np.array([7, 8]))
    for expected_resident in (4, 4):
        seen: list[int] = []
        lock = threading.Lock()

        def kernel(chunks, position, turn, grain, ids, seen=seen, lock=lock) -> int:
            with lock:
                while turn[0] < len(chunks):
                    k = int(turn[0])
                    turn[0] += 1
                    assert ids[position[k]] == chunks[k] * 64
                    seen.append(int(chunks[k]))
            return 1

        one.sweep(np.arange(n_blocks), kernel)
        assert sorted(seen) == list(range(n_blocks))
        assert int((one.arena.slot_of >= 0).sum()) == expected_resident
    assert (one.arena.slot_of[[7, 8]] >= 0).all()


def test_an_id_that_is_no_vertex_is_an_error(threads: Threads) -> None:
    values, rows = row_check([[], list(range(2, 258))] + [[]] * 256)
    values[200] = 2**32 - 1
    one = pager(4, 2, threads, values, rows)
    with pytest.raises(StoreError, match="no vertex"):
        one.load(np.array([3]))
    with pytest.raises(StoreError, match="no vertex"):
        one.sweep(np.arange(4), lambda *args: 0)


def wheel() -> naive.Graph:
    """A hub whose row takes several blocks, and its rim."""
    return naive.graph_of(200, [(100, v) for v in range(200)] + [(v, v + 1) for v in range(199)])


def _swap(rows: naive.Graph) -> None:
    rows[100][63:65] = rows[100][64], rows[100][63]


def _repeat(rows: naive.Graph) -> None:
    rows[100][120] = rows[100][119]


def _loop(rows: naive.Graph) -> None:
    rows[7] = sorted([7, *rows[7][1:]])


def _one_way(rows: naive.Graph) -> None:
    rows[3], rows[40] = sorted([*rows[3], 77]), [v for v in rows[40] if v != 100]


@pytest.mark.parametrize(("change", "text"), [
    (_swap, "the neighbours of vertex 100 do not ascend"), (_repeat, "the neighbours of vertex 100 do not ascend"),
    (_loop, "the neighbours of vertex 7 do not ascend, or hold itself"), (_one_way, "in one direction only"),
])
@pytest.mark.parametrize("slots", [2, 40])
@pytest.mark.parametrize("order", [1, -1])
def test_rows_of_no_graph_are_an_error(
    threads: Threads, change: Callable[..., None], text: str, slots: int, order: int
):
    """Whatever blocks are read first, and where a row is cut by the end of a block."""
    rows = wheel()
    for graph in (rows, [list(row) for row in rows]):
        if graph is not rows:
            change(graph)
        ids, check = row_check(graph)
        one = pager(-(-len(ids) // 64), slots, threads, ids, check)

        def read(one: Pager = one) -> None:
            for block in range(len(one.arena.slot_of))[::order]:
                one.load(np.array([block]))

        if graph is rows:
            read()
        else:
            with pytest.raises(StoreError, match=f"g.zarr: .*{text}"):
                read()


def test_the_first_error_of_a_task_is_raised_and_stops_the_rest(threads: Threads) -> None:
    done: list[int] = []

    def task(item: int) -> None:
        if item == 3:
            raise KeyError("three")
        done.append(item)

    with pytest.raises(KeyError, match="three"):
        threads.for_each(range(10_000), task)
    assert len(done) < 10_000
    with pytest.raises(ZeroDivisionError):
        threads.everywhere(lambda: 1 // 0)
    assert threads.everywhere(lambda: 5) == [5, 5]


@pytest.mark.parametrize(("shares", "runs"), [(None, 2), (0, 1), (1, 1), (2, 2), (9, 2)])
def test_a_task_goes_to_no_more_threads_than_it_has_shares(threads: Threads, shares: int | None, runs: int) -> None:
    results = threads.everywhere(threading.get_ident, shares)
    assert len(results) == runs and results[0] == threading.get_ident()


def test_an_error_of_the_tick_stops_the_tasks(threads: Threads) -> None:
    wait = threading.Event()

    def tick() -> None:
        wait.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        threads.for_each(range(10_000), lambda item: wait.wait(0.01) and None, tick)


def test_counters_subtract() -> None:
    shared = SharedCounters()
    shared.add(levels=3, bytes_read=10)
    before = shared.snapshot()
    shared.add(levels=1, wait_seconds=0.5)
    assert shared.snapshot() - before == Counters(levels=1, wait_seconds=0.5)
