"""Sorting more uint64 keys than fit in RAM: the first half, sorted runs.

Keys are written into buffers; a full buffer is sorted and stripped of duplicates by a thread
(numpy's sort releases the GIL) while the next one fills. A few runs stay in RAM; from the moment
the last buffer is handed out every run goes to a scratch file, where it takes a quarter of the room.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

import numpy as np

from ..checkpoint.records import State
from ..progress import Meter
from .checkpoint import SafePoints
from .plan import SortPlan
from .runs import DiskRun, Keys, RamRun, Run, RunWriter, unique_in_place
from .scratch import NamedScratch, Scratch, ScratchFile


@dataclass
class SortStats:
    """What a conversion did: sorted runs, those of them on disk, extra merge passes, partitions of
    the arcs, pieces of the table of ids."""

    runs: int = 0
    disk_runs: int = 0
    merge_passes: int = 0
    partitions: int = 1
    table_pieces: int = 0


@dataclass(frozen=True)
class SortContext:
    """What every stage of a conversion shares: buffer sizes, scratch space, how many threads sort, merge and join at a
    time, the meter that hears of progress, the counts so far, and the points at which its state may be kept."""

    plan: SortPlan
    scratch: Scratch
    threads: int = 2
    meter: Meter = field(default_factory=Meter)
    stats: SortStats = field(default_factory=SortStats)
    safe: SafePoints = field(default_factory=SafePoints)

    def file(self, name: str) -> ScratchFile:
        """The scratch file of this name, as the state that is resumed knows it."""
        checkpoint = self.safe.checkpoint
        if checkpoint is None or not isinstance(self.scratch, NamedScratch):
            raise ValueError("scratch files without a checkpoint have no names")
        return self.scratch.restored(name, checkpoint.file_marks()[name])


@dataclass
class RunSet:
    """Sorted runs that together hold all keys; a key may occur in several runs.

    files : the scratch files of the runs, closed by `close`.
    """

    runs: list[Run] = field(default_factory=list)
    files: list[ScratchFile] = field(default_factory=list)

    @property
    def n_keys(self) -> int:
        """Number of keys, those that occur in several runs counted each time."""
        return sum(run.n_keys for run in self.runs)

    @property
    def in_ram(self) -> bool:
        """True if runs occupy sort buffers."""
        return any(isinstance(run, RamRun) for run in self.runs)

    def state(self) -> State:
        """The runs, all on disk, as a state: arrays of all runs together, and what each has of them."""
        runs = [run for run in self.runs if isinstance(run, DiskRun)]
        if len(runs) < len(self.runs):
            raise ValueError("runs in RAM cannot be kept")
        empty = np.empty(0, np.uint64)
        return {
            "files": [run.file.name for run in runs],
            "figures": np.array([(len(run.firsts), run.block_keys, run.n_keys) for run in runs],
                                np.int64).reshape(-1, 3),
            "firsts": np.concatenate([empty, *(run.firsts for run in runs)]),
            "offsets": np.concatenate([empty.view(np.int64), *(run.offsets for run in runs)]),
        }

    @classmethod
    def restored(cls, state: State, context: SortContext) -> RunSet:
        """The set whose `state` this was."""
        made, firsts, offsets = cls(), state["firsts"], state["offsets"]
        for name, (n_blocks, block_keys, n_keys) in zip(state["files"], state["figures"].tolist(), strict=True):
            file = context.file(name)
            made.runs.append(DiskRun(file, firsts[:n_blocks], offsets[: n_blocks + 1], block_keys, n_keys))
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


class KeySorter:
    """Takes keys in any order and makes sorted runs of distinct keys.

    context : buffer sizes, where runs go that do not fit, how many threads sort.
    on_run : called in a sorting thread with the keys of every run (sorted, distinct), which it
    must not keep or change. resumed : a `state`, to go on from there.

    Write keys into `room(k)[:k]` and then call `took(k)`, or use `add`. Only one thread may do so.
    """

    def __init__(
        self, context: SortContext, *, on_run: Callable[[Keys], None] | None = None, resumed: State | None = None
    ) -> None:
        self._plan, self._scratch, self._stats = context.plan, context.scratch, context.stats
        self._on_run = on_run
        self._pool = ThreadPoolExecutor(context.threads, thread_name_prefix="sort")
        self._jobs: set[Future[tuple[Keys, Run]]] = set()
        self._idle_files: SimpleQueue[ScratchFile] = SimpleQueue()
        self._free: list[Keys] = []
        self._n_allocated = 0
        # What is to outlive the process cannot stay in RAM.
        self._spilling = context.safe.active
        self._in_ram: list[tuple[Keys, Run]] = []
        self._set = RunSet()
        self._n_keys = 0
        self._buffer: Keys | None = None
        self._used = 0
        self._limit = 0
        if resumed is not None:
            self._n_keys = resumed["n_keys"]
            self._set = RunSet.restored(resumed["runs"], context)
            for file in self._set.files:
                self._idle_files.put(file)

    def state(self) -> State:
        """All keys taken so far, which are brought to disk first, as a state."""
        self._submit()
        self._spilling = True
        self._settle()
        return {"n_keys": self._n_keys, "runs": self._set.state()}

    @property
    def most_keys(self) -> int:
        """Most keys that `room` can be asked for."""
        return min(self._plan.run_keys, self._plan.least_run_keys)

    def room(self, n_keys: int) -> Keys:
        """At least `n_keys` (up to most_keys) free places, uint64, valid until the next call."""
        if self._buffer is None or self._limit - self._used < n_keys:
            if n_keys > self.most_keys:
                raise ValueError(f"room for {n_keys} keys asked, a run may have {self.most_keys}")
            self._submit()
            self._buffer = self._acquire()
            self._limit = self._plan.run_keys_after(self._n_keys)
        return self._buffer[self._used : self._limit]

    def took(self, n_keys: int) -> None:
        """The first `n_keys` places of the last `room` are filled now."""
        self._used += n_keys

    def add(self, keys: Keys) -> None:
        """Copy uint64 keys of any number."""
        start = 0
        while start < len(keys):
            room = self.room(1)
            take = min(len(room), len(keys) - start)
            room[:take] = keys[start : start + take]
            self.took(take)
            start += take

    def finish(self, *, on_disk: bool = False) -> RunSet:
        """The runs. on_disk: none may stay in RAM. The sorter takes no more keys."""
        if on_disk:
            self._spilling = True
        self._submit()
        self._settle()
        self._pool.shutdown()
        self._free = []
        self._set.runs += [run for _, run in self._in_ram]
        self._in_ram = []
        self._stats.runs += len(self._set.runs)
        self._stats.disk_runs += sum(isinstance(run, DiskRun) for run in self._set.runs)
        return self._set

    def abort(self) -> None:
        """Stop: wait for the sorts under way and drop everything."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._free, self._in_ram, self._buffer = [], [], None
        self._set.close()

    def _settle(self) -> None:
        """Wait until no job is left, nor a run in RAM if they are to go to disk."""
        while self._jobs or (self._spilling and self._in_ram):
            self._spill_resident()
            self._collect()

    def _submit(self) -> None:
        """Hand the current buffer to a sorting thread."""
        if self._buffer is not None and self._used:
            block_keys = self._plan.block_keys_after(self._n_keys)
            self._n_keys += self._used
            job = self._pool.submit(self._sort, self._buffer, self._used, block_keys, self._spilling)
            self._jobs.add(job)
        self._buffer, self._used = None, 0

    def _acquire(self) -> Keys:
        """An empty buffer, waiting for one if need be."""
        if not self._free and self._n_allocated < self._plan.n_buffers:
            self._n_allocated += 1
            self._spilling = self._spilling or self._n_allocated == self._plan.n_buffers
            return np.empty(self._plan.run_keys, np.uint64)
        while not self._free:
            self._spill_resident()
            self._collect()
        return self._free.pop()

    def _spill_resident(self) -> None:
        """Queue the runs that sit in RAM for writing, once there is no RAM for them."""
        if self._spilling:
            for buffer, run in self._in_ram:
                self._jobs.add(self._pool.submit(self._spill, buffer, run.n_keys, run.block_keys))
            self._in_ram = []

    def _collect(self) -> None:
        """Wait for at least one job and take what it made; errors of threads surface here."""
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

    def _sort(self, buffer: Keys, used: int, block_keys: int, spill: bool) -> tuple[Keys, Run]:
        """In a thread: make a run of the first `used` keys of `buffer`."""
        buffer[:used].sort()
        n_keys = unique_in_place(buffer[:used])
        if self._on_run is not None:
            self._on_run(buffer[:n_keys])
        if spill:
            return self._spill(buffer, n_keys, block_keys)
        return buffer, RamRun(buffer[:n_keys], block_keys)

    def _spill(self, buffer: Keys, n_keys: int, block_keys: int) -> tuple[Keys, Run]:
        """In a thread: write the sorted keys to a file that no other thread appends to."""
        try:
            file = self._idle_files.get_nowait()
        except Empty:
            file = self._scratch.file()
        writer = RunWriter(file, block_keys)
        writer.add(buffer[:n_keys])
        run = writer.close()
        self._idle_files.put(file)
        return buffer, run
