"""Sorting more uint64 keys than fit in RAM: the second half, merging runs.

The key space is cut into ranges that hold about `capacity` keys over all runs, by the first keys of the runs' blocks
alone. A range is handled by one thread: its slice of every run is read and decoded, the slices are sorted together
(numpy's vectorised sort outruns a k-way heap here), then duplicates go. Ranges are independent, so several are in
flight, and their results come in order. When the runs are too many for one block of each to fit, groups of them are
merged to longer runs first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from .plan import SortPlan
from .runs import Keys, Run, RunWriter, unique_in_place
from .sort import RunSet, SortContext

T = TypeVar("T")

_USUAL_KEYS = 1 << 20
# A range holds this many blocks of every run at least: two may begin or end outside it, and with
# fewer than one whole block a run, reading blocks twice would cost more than merging twice.
LEAST_BLOCKS = 3


def cut_keys(runs: list[Run], capacity: int) -> list[int]:
    """Keys that cut the key space into ranges with at most `capacity` keys each.

    The first range starts at 0, the last is open; a cut belongs to the range above it. Cuts are even, so that
    the two keys of an arc (arcs.py) stay together. Between two cuts lie at most `capacity` keys because
    every run has at most block_keys keys per sample and one block that began before, in which also lies what
    comes between an even cut and the odd sample. Raises ValueError where that cannot be had, which is when
    capacity is below LEAST_BLOCKS blocks of every run.
    """
    slack = sum(run.block_keys for run in runs)
    step = capacity - 2 * slack
    if step < (LEAST_BLOCKS - 2) * slack:
        raise ValueError(f"{len(runs)} runs with blocks of {slack} keys together need more than {capacity}")
    samples = np.concatenate([run.firsts for run in runs])
    weights = np.concatenate([np.full(len(run.firsts), run.block_keys, np.int64) for run in runs])
    order = np.argsort(samples)
    samples, reached = samples[order], np.cumsum(weights[order])
    cuts: list[int] = []
    start = 0
    while True:
        before = int(reached[start - 1]) if start else 0
        stop = int(np.searchsorted(reached, before + step, side="right"))
        if stop >= len(samples):
            return cuts
        cuts.append(int(samples[stop]) & ~1)
        # Equal samples stay together: the range above the cut takes all of them.
        start = int(np.searchsorted(samples, samples[stop]))


def merged(
    runs: RunSet, context: SortContext, transform: Callable[[Keys], T], *, capacity: int | None = None
) -> Iterator[T]:
    """The distinct keys of all runs, in order, as `transform` makes them; see merged_from."""
    ranges = merged_from(runs, context, transform, capacity=capacity)
    try:
        for _, result in ranges:
            yield result
    finally:
        ranges.close()


def merged_from(
    runs: RunSet, context: SortContext, transform: Callable[[Keys], T], *, low: int = 0, capacity: int | None = None
) -> Generator[tuple[int | None, T], None, None]:
    """The distinct keys from `low` on of all runs, in order: pairs of the end of a range of keys (the
    first key above it; None: there is none) and what `transform` made of its keys.

    transform : called in threads with uint64[k] (sorted, distinct, never empty), one call a range;
    the array may be changed but not kept. Results are yielded in key order; a few ranges are in
    flight, so close the iterator (or exhaust it) to have their threads joined.
    """
    if not runs.n_keys:
        return
    size = capacity or range_keys(runs, context.plan)
    lows = [low, *(cut for cut in cut_keys(runs.runs, size) if cut > low)]
    ranges = deque(zip(lows, [*lows[1:], None], strict=True))
    size = min(size, runs.n_keys)
    spare = [np.empty(size, np.uint64) for _ in range(min(context.plan.n_ranges, len(lows)))]
    flight: deque[tuple[Keys, int | None, Future[tuple[int, T | None]]]] = deque()
    n_done = 0
    with ThreadPoolExecutor(context.threads, thread_name_prefix="merge") as pool:
        try:
            while ranges or flight:
                while ranges and spare:
                    buffer = spare.pop()
                    begin, end = ranges.popleft()
                    flight.append((buffer, end, pool.submit(_range, runs.runs, (begin, end), buffer, transform)))
                buffer, end, job = flight.popleft()
                n_keys, result = job.result()
                n_done += n_keys
                if result is not None:
                    yield end, result
                context.meter.update(n_done, runs.n_keys)
                spare.append(buffer)
        finally:
            for _, _, job in flight:
                job.cancel()


def _range(
    runs: list[Run], bounds: tuple[int, int | None], buffer: Keys, transform: Callable[[Keys], T]
) -> tuple[int, T | None]:
    """In a thread: the number of keys read within `bounds` and the transform of the distinct ones."""
    used = n_sources = 0
    for run in runs:
        got = run.read(*bounds, buffer[used:])
        used += got
        n_sources += got > 0
    keys = buffer[:used]
    if n_sources > 1:
        keys.sort()
        keys = keys[: unique_in_place(keys)]
    return used, transform(keys) if used else None


def range_keys(runs: RunSet, plan: SortPlan) -> int:
    """Keys of a range: a comfortable size within the plan, more where many runs have slices."""
    limit = plan.merge_keys if runs.in_ram else plan.merge_keys_alone
    slack = sum(run.block_keys for run in runs.runs)
    return max(LEAST_BLOCKS * slack, min(limit, max(_USUAL_KEYS, 6 * slack)))


def fewer_runs(runs: RunSet, context: SortContext, on_pass: Callable[[RunSet], None] | None = None) -> RunSet:
    """Merge groups of runs until one range of all that are left fits the plan.

    on_pass : told of the runs after each pass over all keys. Returns `runs` itself, or a set that
    replaces it (the old files are gone).
    """
    plan = context.plan
    while True:
        limit = plan.merge_keys if runs.in_ram else plan.merge_keys_alone
        if LEAST_BLOCKS * sum(run.block_keys for run in runs.runs) <= limit or len(runs.runs) < 2:
            return runs
        runs = _one_pass(runs, context, limit)
        if on_pass is not None:
            on_pass(runs)


def _one_pass(runs: RunSet, context: SortContext, most_keys: int) -> RunSet:
    """Merge consecutive groups of runs, as large as the plan allows and at least pairs."""
    context.stats.merge_passes += 1
    made = RunSet(files=[context.scratch.file()])
    waiting = list(runs.runs)
    while waiting:
        group = [waiting.pop(0)]
        slack = group[0].block_keys
        while waiting and (len(group) < 2 or LEAST_BLOCKS * (slack + waiting[0].block_keys) <= most_keys):
            slack += waiting[0].block_keys
            group.append(waiting.pop(0))
        writer = RunWriter(made.files[0], max(run.block_keys for run in group))
        for keys in merged(RunSet(group), context, np.copy, capacity=max(most_keys, LEAST_BLOCKS * slack)):
            writer.add(keys)
        made.runs.append(writer.close())
    runs.close()
    return made
