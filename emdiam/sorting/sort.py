"""Sorting more uint64 keys than fit in RAM, alone or with numbers that follow them (runs.py): sorted runs, and their
merge.

Runs. Keys are written into buffers; a thread sorts a full buffer and removes duplicates (numpy's sort releases the GIL)
while the next buffer fills. A few runs stay in RAM; once the last buffer is in use every run goes to a scratch file,
where it takes a quarter of the space.

Merging. The key space is cut into ranges that contain about `capacity` keys over all runs, using only the first keys of
the runs' blocks. One thread processes a range: it reads and decodes its slice of every run, sorts the slices together
(numpy's vectorised sort is faster than a k-way heap here), then removes duplicates. Ranges are independent, so several
are processed at once, and their results come in order. If one block of every run does not fit, groups of runs are
merged into longer runs first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np

from ..checkpoint.records import State
from ..progress import Meter
from .plan import SortPlan
from .runs import (
    DiskRun,
    Entries,
    RamRun,
    Run,
    RunWriter,
    distinct_in_place,
    keys_of,
    room_for,
    sort_entries,
    sort_parts,
)
from .scratch import NamedScratch, SafePoints, Scratch, ScratchFile

T = TypeVar("T")

_USUAL_KEYS = 1 << 20
# Keys that are sorted, or merged, sooner than a thread would start.
_FEW = 1 << 13
# A range contains at least this many blocks of every run: two may begin or end outside it, and with less than one whole
# block a run, reading blocks twice would cost more than merging twice.
LEAST_BLOCKS = 3


@dataclass
class SortStats:
    """Counts of a conversion: sorted runs, runs on disk, extra merge passes, partitions of the arcs, pieces of the
    table of ids."""

    runs: int = 0
    disk_runs: int = 0
    merge_passes: int = 0
    partitions: int = 1
    table_pieces: int = 0


@dataclass(frozen=True)
class SortContext:
    """Context for every stage of a conversion: buffer sizes, scratch space, the number of threads that sort, merge and
    join, the progress meter, the counts so far, and the points at which its state can be saved. directed : whether
    pairs are arcs with a direction. weighted : whether they have weights."""

    plan: SortPlan
    scratch: Scratch
    threads: int = 2
    meter: Meter = field(default_factory=Meter)
    stats: SortStats = field(default_factory=SortStats)
    safe: SafePoints = field(default_factory=SafePoints)
    directed: bool = False
    weighted: bool = False

    def file(self, name: str) -> ScratchFile:
        """The scratch file with this name, as in the resumed state."""
        checkpoint = self.safe.checkpoint
        if checkpoint is None or not isinstance(self.scratch, NamedScratch):
            raise ValueError("scratch files without a checkpoint have no names")
        return self.scratch.restored(name, checkpoint.file_marks()[name])


@dataclass
class RunSet:
    """Sorted runs that together contain all keys; a key may occur in several runs.

    files : the scratch files of the runs, closed by `close`.
    """

    runs: list[Run] = field(default_factory=list)
    files: list[ScratchFile] = field(default_factory=list)

    @property
    def n_keys(self) -> int:
        """Number of keys; a key in several runs is counted several times."""
        return sum(run.n_keys for run in self.runs)

    @property
    def followed(self) -> bool:
        """Whether numbers follow the keys."""
        return any(run.followed for run in self.runs)

    @property
    def in_ram(self) -> bool:
        """Whether any run occupies a sort buffer."""
        return any(isinstance(run, RamRun) for run in self.runs)

    def state(self) -> State:
        """The runs, all on disk, as a state: concatenated arrays, and each run's figures."""
        runs = [run for run in self.runs if isinstance(run, DiskRun)]
        if len(runs) < len(self.runs):
            raise ValueError("runs in RAM cannot be kept")
        empty = np.empty(0, np.uint64)
        return {
            "files": [run.file.name for run in runs],
            "figures": np.array([(len(run.firsts), run.block_keys, run.n_keys, run.followed) for run in runs],
                                np.int64).reshape(-1, 4),
            "firsts": np.concatenate([empty, *(run.firsts for run in runs)]),
            "offsets": np.concatenate([empty.view(np.int64), *(run.offsets for run in runs)]),
        }

    @classmethod
    def restored(cls, state: State, context: SortContext) -> RunSet:
        made, firsts, offsets = cls(), state["firsts"], state["offsets"]
        figures = state["figures"].tolist()
        for name, (n_blocks, block_keys, n_keys, followed) in zip(state["files"], figures, strict=True):
            file = context.file(name)
            made.runs.append(
                DiskRun(file, firsts[:n_blocks], offsets[: n_blocks + 1], block_keys, n_keys, bool(followed)))
            firsts, offsets = firsts[n_blocks:], offsets[n_blocks + 1 :]
            if file not in made.files:
                made.files.append(file)
        return made

    def close(self) -> None:
        """Drop the runs and remove their files."""
        self.runs = []
        for file in self.files:
            file.close()
        self.files = []


def done_here(work: Callable[..., T], *arguments: Any) -> Future[T]:
    """A finished future with the result of a job that was executed immediately."""
    job: Future[T] = Future()
    job.set_result(work(*arguments))
    return job


class KeySorter:
    """Takes keys in any order and makes sorted runs of distinct keys.

    context : buffer sizes, scratch space for runs that do not fit, number of threads. on_run : called in a sorting
    thread with the keys of every run (sorted, distinct), which it must not keep or change. followed : whether numbers
    follow the keys. resumed : a `state` to continue from.

    Write entries into the first and last places of `room(k)` and then call `took`, or use `add`; from one thread only.
    Entries that already ascend, at the front or at the back, are not sorted again (sort_parts).
    """

    def __init__(
        self, context: SortContext, *, on_run: Callable[[Entries], None] | None = None, followed: bool = False,
        resumed: State | None = None,
    ) -> None:
        self._plan, self._scratch, self._stats = context.plan, context.scratch, context.stats
        self._on_run, self._followed = on_run, followed
        self._pool = ThreadPoolExecutor(context.threads, thread_name_prefix="sort")
        self._jobs: set[Future[tuple[Entries, Run]]] = set()
        self._idle_files: SimpleQueue[ScratchFile] = SimpleQueue()
        self._free: list[Entries] = []
        self._n_allocated = 0
        # Runs for a checkpoint cannot stay in RAM.
        self._spilling = context.safe.active
        self._in_ram: list[tuple[Entries, Run]] = []
        self._set = RunSet()
        self._n_keys = 0
        self._buffer: Entries | None = None
        self._used = self._used_behind = 0  # entries at the front of the buffer, and at its back
        self._limit = 0
        if resumed is not None:
            self._n_keys = resumed["n_keys"]
            self._set = RunSet.restored(resumed["runs"], context)
            for file in self._set.files:
                self._idle_files.put(file)

    def state(self) -> State:
        """All keys so far, which are written to disk first, as a state."""
        self._submit()
        self._spilling = True
        self._settle()
        return {"n_keys": self._n_keys, "runs": self._set.state()}

    @property
    def most_keys(self) -> int:
        """The largest argument of `room`."""
        return min(self._plan.run_keys, self._plan.least_run_keys)

    def room(self, n_keys: int) -> Entries:
        """At least `n_keys` (up to most_keys) free places, valid until the next call."""
        if self._buffer is None or self._limit - self._used - self._used_behind < n_keys:
            if n_keys > self.most_keys:
                raise ValueError(f"room for {n_keys} keys asked, a run may have {self.most_keys}")
            self._submit()
            self._buffer = self._acquire()
            self._limit = self._plan.run_keys_after(self._n_keys)
        return self._buffer[..., self._used : self._limit - self._used_behind]

    def took(self, front: int, back: int = 0) -> None:
        """Note that the first `front` and the last `back` places of the last `room` have been filled."""
        self._used += front
        self._used_behind += back

    def add(self, entries: Entries, behind: bool = False) -> None:
        """Copy any number of entries. behind : to the back."""
        start, size = 0, entries.shape[-1]
        while start < size:
            room = self.room(1)
            take = min(room.shape[-1], size - start)
            at = room.shape[-1] - take if behind else 0
            room[..., at : at + take] = entries[..., start : start + take]
            self.took(*((0, take) if behind else (take, 0)))
            start += take

    def add_made(self, make: Callable[[Entries], Entries]) -> None:
        """Add make(entries) for all entries so far, in pieces of any size and order, to the back."""
        used, n_runs = self._used + self._used_behind, len(self._jobs) + len(self._in_ram)
        n_keys = self._n_keys + used
        # Later runs have at least as much room, so this is an upper bound.
        n_more = -(-(n_keys + used) // self._plan.run_keys_after(n_keys))
        self._spilling = self._spilling or n_runs + n_more >= self._plan.n_buffers
        waiting: Entries | None = None
        if self._buffer is not None and not self._spilling:
            behind = self._buffer[..., self._limit - self._used_behind : self._limit]
            waiting = np.concatenate([self._buffer[..., : self._used], behind], axis=-1)
        else:
            self._submit()
        while self._jobs:
            self._collect()
        self._settle()
        runs = [*self._set.runs, *(run for _, run in self._in_ram)]
        if waiting is not None:
            self.add(make(waiting), behind=True)
            del waiting
        for run in runs:
            for entries in run.blocks(0, len(run.firsts)):
                self.add(make(entries), behind=True)

    def finish(self, *, on_disk: bool = False) -> RunSet:
        """The runs, after the last key. on_disk : no run may stay in RAM."""
        if on_disk:
            self._spilling = True
        self._submit()
        self._settle()
        self._pool.shutdown()
        self._free = []
        self._set.runs += [run for _, run in self._in_ram]
        self._in_ram = []
        # If keys came in order, their slices then follow each other.
        self._set.runs.sort(key=lambda run: int(run.firsts[0]))
        self._stats.runs += len(self._set.runs)
        self._stats.disk_runs += sum(isinstance(run, DiskRun) for run in self._set.runs)
        return self._set

    def abort(self) -> None:
        """Stop: wait for running sorts and drop everything."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._free, self._in_ram, self._buffer = [], [], None
        self._set.close()

    def _settle(self) -> None:
        """Wait until no job remains and, if runs go to disk, no run is in RAM."""
        while self._jobs or (self._spilling and self._in_ram):
            self._spill_resident()
            self._collect()

    def _submit(self) -> None:
        """Hand the current buffer to a sorting thread."""
        buffer, front, used = self._buffer, self._used, self._used + self._used_behind
        if buffer is not None and used:
            gap = min(self._limit - used, self._used_behind)
            buffer[..., front : front + gap] = buffer[..., self._limit - gap : self._limit]
            block_keys = self._plan.block_keys_after(self._n_keys)
            self._n_keys += used
            submit = done_here if used <= _FEW else self._pool.submit
            self._jobs.add(submit(self._sort, buffer, (front, used), block_keys, self._spilling))
        self._buffer, self._used, self._used_behind = None, 0, 0

    def _acquire(self) -> Entries:
        """An empty buffer; waits for one if necessary."""
        if not self._free and self._n_allocated < self._plan.n_buffers:
            self._n_allocated += 1
            self._spilling = self._spilling or self._n_allocated == self._plan.n_buffers
            return room_for(self._plan.run_keys, self._followed)
        while not self._free:
            self._spill_resident()
            self._collect()
        return self._free.pop()

    def _spill_resident(self) -> None:
        """Queue the runs in RAM for writing, once runs go to disk."""
        if self._spilling:
            for buffer, run in self._in_ram:
                self._jobs.add(self._pool.submit(self._spill, buffer, run.n_keys, run.block_keys))
            self._in_ram = []

    def _collect(self) -> None:
        """Wait for at least one job and take its result; raises errors of threads."""
        done, self._jobs = wait(self._jobs, return_when=FIRST_COMPLETED)
        for job in done:
            buffer, run = job.result()
            if isinstance(run, DiskRun):
                self._free.append(buffer)
                self._set.runs.append(run)
                if run.file not in self._set.files:
                    self._set.files.append(run.file)
            else:
                self._in_ram.append((buffer, run))

    def _sort(self, buffer: Entries, counts: tuple[int, int], block_keys: int, spill: bool) -> tuple[Entries, Run]:
        """Make a run of `buffer`, in a thread. counts : its entries at the front, and in all."""
        front, used = counts
        sort_parts(buffer[..., :used], front)
        n_keys = distinct_in_place(buffer[..., :used])
        if self._on_run is not None:
            self._on_run(keys_of(buffer)[:n_keys])
        if spill:
            return self._spill(buffer, n_keys, block_keys)
        return buffer, RamRun(buffer[..., :n_keys], block_keys)

    def _spill(self, buffer: Entries, n_keys: int, block_keys: int) -> tuple[Entries, Run]:
        """Write the sorted keys, in a thread, to a file that no other thread appends to."""
        try:
            file = self._idle_files.get_nowait()
        except Empty:
            file = self._scratch.file()
        writer = RunWriter(file, block_keys)
        writer.add(buffer[..., :n_keys])
        run = writer.close()
        self._idle_files.put(file)
        return buffer, run


def cut_keys(runs: list[Run], capacity: int) -> list[int]:
    """Keys that cut the key space into ranges with at most `capacity` keys each.

    The first range starts at 0, the last is open; a cut belongs to the range above it. Cuts are even, and multiples of
    4 if numbers follow, so that the two keys of an arc, with marks and without, stay together. There are at most
    `capacity` keys between two cuts, because every run has at most block_keys keys per sample, plus one block that
    began before, which also contains the keys between a cut and the sample above it. Raises ValueError if that is
    impossible, which is when capacity is below LEAST_BLOCKS blocks of every run.
    """
    slack = sum(run.block_keys for run in runs)
    step = capacity - 2 * slack
    if step < (LEAST_BLOCKS - 2) * slack:
        raise ValueError(f"{len(runs)} runs with blocks of {slack} keys together need more than {capacity}")
    together = 3 if any(run.followed for run in runs) else 1
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
        cuts.append(int(samples[stop]) & ~together)
        # Equal samples stay together, in the range above the cut.
        start = int(np.searchsorted(samples, samples[stop]))


def merged(
    runs: RunSet, context: SortContext, transform: Callable[[Entries], T], *, capacity: int | None = None
) -> Iterator[T]:
    """The results of `transform` for the distinct keys of all runs, in order; see merged_from."""
    with closing(merged_from(runs, context, transform, capacity=capacity)) as ranges:
        for _, result in ranges:
            yield result


def in_order(
    work: Callable[..., T], jobs: Iterable[tuple[Any, ...]], threads: int, most: int, name: str
) -> Generator[T, None, None]:
    """work(*job) for every job, in the order of the jobs, on threads with this name, with at most `most` jobs in
    progress. Close the iterator (or exhaust it) to join the threads. Raises what `work` raises."""
    flight: deque[Future[T]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix=name) as pool:
        try:
            for job in jobs:
                flight.append(pool.submit(work, *job))
                if len(flight) >= most:
                    yield flight.popleft().result()
            while flight:
                yield flight.popleft().result()
        finally:
            for waiting in flight:
                waiting.cancel()


def merged_from(
    runs: RunSet, context: SortContext, transform: Callable[[Entries], T], *, low: int = 0, capacity: int | None = None
) -> Generator[tuple[int | None, T], None, None]:
    """The distinct keys of all runs from `low` on, in order: pairs of the end of a range of keys (the first key above
    it; None for the last range) and the result of `transform` for its keys.

    transform : called in threads with nonempty entries (keys sorted and distinct), once per range; it may change the
    array but not keep it. Results come in key order, a few ranges ahead; close or exhaust the iterator to join threads.
    """
    if not runs.n_keys:
        return
    size = capacity or range_keys(runs, context.plan)
    lows = [low, *(cut for cut in cut_keys(runs.runs, size) if cut > low)]
    ranges = deque(zip(lows, [*lows[1:], None], strict=True))
    size = min(size, runs.n_keys)
    spare = [room_for(size, runs.followed) for _ in range(min(context.plan.n_ranges, len(lows)))]
    flight: deque[tuple[Entries, int | None, Future[tuple[int, T | None]]]] = deque()
    n_done = 0
    with ThreadPoolExecutor(context.threads, thread_name_prefix="merge") as pool:
        submit = done_here if runs.n_keys <= _FEW else pool.submit
        try:
            while ranges or flight:
                while ranges and spare:
                    buffer = spare.pop()
                    begin, end = ranges.popleft()
                    flight.append((buffer, end, submit(_range, runs.runs, (begin, end), buffer, transform)))
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
    runs: list[Run], bounds: tuple[int, int | None], buffer: Entries, transform: Callable[[Entries], T]
) -> tuple[int, T | None]:
    """The number of keys read within `bounds`, and the transform of the distinct ones; runs in a thread."""
    used = n_sources = 0
    for run in runs:
        got = run.read(*bounds, buffer[..., used:])
        used += got
        n_sources += got > 0
    entries = buffer[..., :used]
    if n_sources > 1:
        sort_entries(entries)
        entries = entries[..., : distinct_in_place(entries)]
    return used, transform(entries) if used else None


def range_keys(runs: RunSet, plan: SortPlan) -> int:
    """Keys of a range: a suitable size within the plan, more if many runs have slices."""
    limit = plan.merge_keys if runs.in_ram else plan.merge_keys_alone
    slack = sum(run.block_keys for run in runs.runs)
    return max(LEAST_BLOCKS * slack, min(limit, max(_USUAL_KEYS, 6 * slack)))


def fewer_runs(runs: RunSet, context: SortContext, on_pass: Callable[[RunSet], None] | None = None) -> RunSet:
    """Merge groups of runs until one range of all remaining runs fits the plan.

    on_pass : called with the runs after each pass over all keys. Returns `runs` itself, or a set that replaces it (the
    old files are removed).
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
    """Merge consecutive groups of runs, as large as the plan allows, but at least pairs."""
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
        for entries in merged(RunSet(group), context, np.copy, capacity=max(most_keys, LEAST_BLOCKS * slack)):
            writer.add(entries)
        made.runs.append(writer.close())
    runs.close()
    return made
