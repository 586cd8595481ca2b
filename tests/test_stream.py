"""The arena evicts by recency, the crew stops at the first error, the pager refuses bad ids."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from emdiam.errors import StoreError
from emdiam.graph.array_reader import MemoryArray
from emdiam.stream.arena import Arena
from emdiam.stream.counters import Counters, SharedCounters
from emdiam.stream.crew import Crew
from emdiam.stream.pager import Pager


def pager(n_blocks: int, n_slots: int, crew: Crew, values: np.ndarray | None = None) -> Pager:
    ids = np.arange(n_blocks * 64, dtype=np.uint32) if values is None else values
    return Pager(MemoryArray(ids, 64), n_blocks * 64, Arena(n_blocks, n_slots, 64, ids.dtype), crew,
                 SharedCounters(), 2)


@pytest.fixture
def crew():
    one = Crew(2, 1)
    yield one
    one.close()


def test_load_evicts_the_least_recently_used(crew: Crew) -> None:
    one = pager(6, 3, crew)
    one.load(np.array([0, 1]))
    one.load(np.array([2]))
    one.load(np.array([0]))
    one.load(np.array([4]))
    assert (one.arena.slot_of >= 0).tolist() == [True, False, True, False, True, False]
    for block in (0, 2, 4):
        assert one.arena.row(one.arena.slot_of[block])[0] == block * 64
    assert one.load(np.arange(6)).tolist() == [0, 1, 2]
    assert one.counters.snapshot().blocks_read == 5


def test_sweep_sees_every_block_once_and_evicts_nothing(crew: Crew) -> None:
    one = pager(9, 4, crew)
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

        one.sweep(np.arange(9), kernel)
        assert sorted(seen) == list(range(9))
        assert int((one.arena.slot_of >= 0).sum()) == expected_resident
    assert (one.arena.slot_of[[7, 8]] >= 0).all()


def test_an_id_that_is_no_vertex_is_an_error(crew: Crew) -> None:
    values = np.arange(256, dtype=np.uint32)
    values[200] = 2**32 - 1
    one = pager(4, 2, crew, values)
    with pytest.raises(StoreError, match="no vertex"):
        one.load(np.array([3]))
    with pytest.raises(StoreError, match="no vertex"):
        one.sweep(np.arange(4), lambda *args: 0)


def test_the_first_error_of_a_task_is_raised_and_stops_the_rest(crew: Crew) -> None:
    done: list[int] = []

    def task(item: int) -> None:
        if item == 3:
            raise KeyError("three")
        done.append(item)

    with pytest.raises(KeyError, match="three"):
        crew.for_each(range(10_000), task)
    assert len(done) < 10_000
    with pytest.raises(ZeroDivisionError):
        crew.everywhere(lambda: 1 // 0)
    assert crew.everywhere(lambda: 5) == [5, 5]


def test_an_error_of_the_tick_stops_the_tasks(crew: Crew) -> None:
    wait = threading.Event()

    def tick() -> None:
        wait.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crew.for_each(range(10_000), lambda item: wait.wait(0.01) and None, tick)


def test_counters_subtract() -> None:
    shared = SharedCounters()
    shared.add(levels=3, bytes_read=10)
    before = shared.snapshot()
    shared.add(levels=1, wait_seconds=0.5)
    assert shared.snapshot() - before == Counters(levels=1, wait_seconds=0.5)
