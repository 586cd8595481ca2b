"""Runs, cutting and merging against sorted Python lists; the plan's arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import BudgetError, InputError
from emdiam.sorting.plan import LEAST_WORK_BYTES, SortPlan, plan_sort
from emdiam.sorting.runs import DiskRun, Keys, RamRun, RunWriter, unique_in_place
from emdiam.sorting.scratch import NamedScratch, Scratch, check_of, file_system
from emdiam.sorting.sort import LEAST_BLOCKS, KeySorter, RunSet, SortContext, cut_keys, fewer_runs, merged
from emdiam.store.writer import writer_bytes
from emdiam.units import BASE_JITTER

TOP = (1 << 64) - 1
KEYS = st.integers(0, 60) | st.integers(0, TOP) | st.just(TOP)
TINY = SortPlan(run_keys=8, least_run_keys=8, n_buffers=2, block_keys=2, merge_keys=12, merge_keys_alone=12)

many = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path, tmp_path / "g.zarr")
    yield made
    made.close()
    assert made.peak_bytes <= made.bytes_written


def keys_of(values: list[int]) -> Keys:
    return np.array(values, np.uint64)


def disk_run(scratch: Scratch, values: list[int], block_keys: int = 3) -> DiskRun:
    writer = RunWriter(scratch.file(), block_keys)
    for start in range(0, len(values), 7):
        writer.add(keys_of(values[start : start + 7]))
    return writer.close()


@many
@given(values=st.lists(KEYS, max_size=40), block=st.integers(1, 7))
def test_unique_in_place(values: list[int], block: int) -> None:
    keys = keys_of(sorted(values))
    n = unique_in_place(keys, block)
    assert keys[:n].tolist() == sorted(set(values))


@many
@given(values=st.sets(KEYS, min_size=1, max_size=40), ends=st.tuples(KEYS, KEYS), is_open=st.booleans())
def test_slices_of_runs(scratch: Scratch, values: set[int], ends: tuple[int, int], is_open: bool) -> None:
    low, high = min(ends), None if is_open else max(ends)
    ordered = sorted(values)
    want = [key for key in ordered if key >= low and (high is None or key < high)]
    for run in (disk_run(scratch, ordered), RamRun(keys_of(ordered), 3)):
        out = np.empty(len(values), np.uint64)
        got = run.read(low, high, out)
        assert (run.n_keys, out[:got].tolist()) == (len(values), want)


@many
@given(data=st.lists(st.sets(KEYS, min_size=1, max_size=40), min_size=1, max_size=6), spare=st.integers(0, 9))
def test_ranges_between_cuts_never_exceed_the_capacity(data: list[set[int]], spare: int) -> None:
    runs = [RamRun(keys_of(sorted(values)), 2) for values in data]
    capacity = LEAST_BLOCKS * 2 * len(runs) + spare
    cuts = cut_keys(list(runs), capacity)
    assert cuts == sorted(set(cuts))
    everything = sorted(key for values in data for key in values)
    edges = np.searchsorted(keys_of(everything), keys_of(cuts)).tolist()
    assert max(np.diff([0, *edges, len(everything)])) <= capacity


def test_a_capacity_too_small_for_the_runs_is_an_error() -> None:
    with pytest.raises(ValueError, match="2 runs with blocks of 8 keys together"):
        cut_keys([RamRun(keys_of([1]), 4)] * 2, LEAST_BLOCKS * 8 - 1)


@many
@given(values=st.lists(KEYS, max_size=150), on_disk=st.booleans(), n_buffers=st.sampled_from([1, 2, 30]))
def test_sort_and_merge(scratch: Scratch, values: list[int], on_disk: bool, n_buffers: int) -> None:
    seen: list[int] = []
    context = SortContext(replace(TINY, n_buffers=n_buffers), scratch)
    sorter = KeySorter(context, on_run=lambda keys: seen.extend(keys.tolist()))
    sorter.add(keys_of(values))
    runs = sorter.finish(on_disk=on_disk)
    assert set(seen) == set(values)
    assert not (on_disk and runs.in_ram) and len(runs.runs) == -(-len(values) // 8)
    runs = fewer_runs(runs, context)
    assert LEAST_BLOCKS * sum(run.block_keys for run in runs.runs) <= 12 or len(runs.runs) < 2
    pieces = [piece.tolist() for piece in merged(runs, context, np.copy)]
    assert all(pieces) and [value for piece in pieces for value in piece] == sorted(set(values))
    runs.close()


def test_extra_passes_give_their_disk_space_back(scratch: Scratch) -> None:
    context = SortContext(TINY, scratch)
    sorter = KeySorter(context)
    sorter.add(np.random.default_rng(1).integers(0, 1 << 60, 1500).astype(np.uint64))
    runs = fewer_runs(sorter.finish(), context)
    assert context.stats.merge_passes > 3
    left = scratch.bytes_written
    runs.close()
    assert scratch.peak_bytes < left / 2


def test_an_unfinished_merge_joins_its_threads(scratch: Scratch) -> None:
    context = SortContext(TINY, scratch)
    sorter = KeySorter(context)
    sorter.add(np.arange(500, dtype=np.uint64))
    pieces = merged(fewer_runs(sorter.finish(), context), context, np.copy)
    assert next(pieces).tolist()[0] == 0
    pieces.close()  # type: ignore[attr-defined]


def test_errors_in_threads_come_out(scratch: Scratch) -> None:
    def fail(keys: Keys) -> None:
        raise RuntimeError("in a thread")

    sorter = KeySorter(SortContext(TINY, scratch), on_run=fail)
    with pytest.raises(RuntimeError, match="in a thread"):
        sorter.add(np.arange(500, dtype=np.uint64))
        sorter.finish()
    sorter.abort()
    runs = RunSet([RamRun(keys_of([1, 2]), 2)])
    with pytest.raises(RuntimeError, match="in a thread"):
        list(merged(runs, SortContext(TINY, scratch), fail))


def test_a_damaged_scratch_file_is_noticed(scratch: Scratch) -> None:
    run = disk_run(scratch, list(range(0, 3000, 3)), 100)
    run.file.overwrite(np.array([255], np.uint8), int(run.offsets[3]) + 20)
    with pytest.raises(OSError, match="wrong checksum"):
        run.read(0, None, np.empty(1000, np.uint64))


def test_a_scratch_file_refuses_to_read_or_write_beyond_its_end(scratch: Scratch) -> None:
    file = scratch.file()
    file.append(b"abc")
    with pytest.raises(InputError, match="1 bytes are missing"):
        file.read(1, 3)
    with pytest.raises(InputError, match="5 bytes are missing"):
        file.read_array(0, np.empty(8, np.uint8))
    with pytest.raises(ValueError, match="beyond the end"):
        file.overwrite(np.zeros(2, np.uint8), 2)


def test_what_is_read_from_scratch_files_is_counted(scratch: Scratch) -> None:
    file = scratch.file()
    file.append(np.arange(10, dtype=np.uint64))
    file.read_array(16, np.empty(3, np.uint64))
    file.read(0, 5)
    assert (scratch.bytes_written, scratch.bytes_read) == (80, 29)


def test_scratch_files_have_no_names(scratch: Scratch, tmp_path: Path) -> None:
    scratch.file().append(b"abc")
    assert list(tmp_path.iterdir()) == [] and file_system(tmp_path)


def test_room_for_more_keys_than_a_run_has(scratch: Scratch) -> None:
    sorter = KeySorter(SortContext(TINY, scratch))
    with pytest.raises(ValueError, match="room for 9 keys"):
        sorter.room(9)
    sorter.abort()


def test_block_indexes_grow_with_the_logarithm_of_the_input() -> None:
    plan = SortPlan(run_keys=1 << 12, block_keys=16, index_bytes=1 << 12)
    n_keys = index_bytes = 0
    for _ in range(5000):
        index_bytes += 16 * (plan.run_keys // plan.block_keys_after(n_keys))
        n_keys += plan.run_keys
    assert plan.block_keys_after(0) == 16 and plan.index_bytes < index_bytes < 3 * plan.index_bytes


@pytest.mark.parametrize("memory", [300 << 20, 512 << 20, 1 << 30, 64 << 30])
def test_the_shares_of_a_plan_fit_the_budget(memory: int) -> None:
    plan = plan_sort(memory, 100 << 20, 10 << 20, 2, writer_bytes(2, 1 << 16))
    work = memory - (170 << 20)
    assert plan.planned_bytes <= memory
    assert 8 * plan.run_keys * plan.n_buffers + 3 * plan.presence_ids // 16 + 120 * plan.merge_keys <= work
    assert 24 * plan.table_ids + 4 * plan.run_keys * plan.n_buffers <= work
    assert 120 * plan.merge_keys_alone + 3 * plan.presence_ids // 16 <= work
    assert plan.merge_keys_alone >= 100 * plan.block_keys or plan.block_keys == 1024


def test_the_smallest_budget_named_is_accepted() -> None:
    """Also by another process, whose program takes a little more."""
    with pytest.raises(BudgetError, match="give --memory") as refused:
        plan_sort(1 << 20, 100 << 20, 0, 2, writer_bytes(2, 1 << 16))
    least = int(str(refused.value).rsplit("--memory ", 1)[1].split("MiB")[0])
    plan = plan_sort(least << 20, (100 << 20) + BASE_JITTER, 0, 2, writer_bytes(2, 1 << 16))
    assert plan.run_keys >= LEAST_WORK_BYTES // 80
    with pytest.raises(BudgetError):
        plan_sort((least << 20) - BASE_JITTER - (2 << 20), 100 << 20, 0, 2, writer_bytes(2, 1 << 16))


def test_an_unwritable_scratch_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        Scratch(Path("/proc"), tmp_path / "g.zarr")


def test_the_checksum_of_a_named_file_tells_runs_apart_that_are_as_long(tmp_path: Path) -> None:
    """Each block of a run ends in its own checksum, which must not cancel what stands before it."""
    scratch, checks = NamedScratch(tmp_path, tmp_path / "g.zarr"), []
    for first in (0, 3):
        file = scratch.file()
        writer = RunWriter(file, 16)
        writer.add(np.arange(first, first + 640, 10, dtype=np.uint64))
        writer.close()
        checks.append((file.size, file.check))
        assert check_of(tmp_path / file.name, file.size) == file.check
    assert checks[0][0] == checks[1][0] and checks[0][1] != checks[1][1]
