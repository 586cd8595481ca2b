"""The journal of a run: the results of its verbs, in order; first answered from, then extended.

Methods are deterministic, given the results of an engine's verbs. So a resumed run executes the method again: verbs are
answered from the journal, with their arguments compared, until it has no more records; then the engine works. A record
is written before the method continues, so at most one verb is repeated.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..checkpoint.folder import JOURNAL, Folder
from ..checkpoint.records import FrameFile, Record, RecordWriter, records
from ..errors import InputError
from ..jit import working_seconds

CLOCK = "clock"
_SHOWN = 8
# Records are handed to the operating system at once, which is enough if the process is killed. They are synced to disk
# at this interval: if the machine fails, shorter intervals would save less than they cost in short traversals.
SYNC_SECONDS = 0.5


def argument(values: np.ndarray | None) -> Any:
    """An array as an argument: its values if it is short, else its length, dtype and a digest of its bytes."""
    if values is None:
        return None
    if len(values) <= _SHOWN:
        return values.tolist()
    digest = hashlib.blake2b(np.ascontiguousarray(values).view(np.uint8).data, digest_size=16)
    return [len(values), values.dtype.str, digest.hexdigest()]


class Journal:
    """The journal in a folder. Damaged parts are cut off. Raises OSError, and InputError for a journal of another run.

    n_records : verbs answered or recorded so far. n_before : verbs in the journal at the start.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._file = FrameFile(folder.path / JOURNAL, folder.owner)
        try:
            self._take_up()
        except BaseException:
            self._file.close()
            raise

    def _take_up(self) -> None:
        """Read the existing records, and cut off the damaged part."""
        folder = self._folder
        self.n_records = self.n_before = 0
        end, last = self._file.begin, 0.0
        for record in records(self._file):
            self.n_before += record.head["verb"] != CLOCK
            last = record.head[CLOCK]
            end = record.after
        lost = self._file.size - end.offset
        if lost > 0:
            folder.damage.append(f"{lost:,} bytes at its end were damaged or not finished")
        self._file.cut(end)
        self._offset = last - working_seconds()
        self._synced = last
        self._again = records(self._file)
        self._next: Record | None = next(self._again, None)

    @property
    def replaying(self) -> bool:
        """Whether a record remains to answer from."""
        return self._next is not None

    @property
    def nbytes(self) -> int:
        return self._file.end.offset

    def clock(self) -> float:
        """Seconds; a resumed run gets the same values as the run before."""
        if self._next is not None:
            return float(self._take(CLOCK, None).head["value"])
        now = self.now()
        with self.writing() as writer:
            writer.commit({"verb": CLOCK, "args": None, "value": now, CLOCK: now}, sync=False)
        return now

    def answer(self, verb: str, args: Any) -> Record | None:
        """The record of this verb; None after the last record. Raises InputError if the earlier run called another
        verb, or with other arguments, at this position."""
        if self._next is None:
            return None
        self.n_records += 1
        return self._take(verb, args)

    def _take(self, verb: str, args: Any) -> Record:
        record = self._next
        assert record is not None
        if record.head["verb"] != verb or record.head["args"] != args:
            raise InputError(f"the checkpoint has {record.head['verb']} {record.head['args']} where this run"
                             f" asks for {verb} {args}",
                             remedy="begin again without it, and report it: this is a fault of emdiam")
        self._next = next(self._again, None)
        if self._next is None:  # from here on the clock continues
            self._offset = record.head[CLOCK] - working_seconds()
        return record

    @contextmanager
    def writing(self) -> Iterator[RecordWriter]:
        """A writer for the next record; the record is dropped if an error comes before it is finished. Raises
        BudgetError if the disk is full."""
        writer = RecordWriter(self._file)
        with self._folder.writing():
            try:
                yield writer
            except BaseException:
                writer.abort()
                raise

    def finish(self, writer: RecordWriter, head: dict[str, Any]) -> None:
        """Commit the writer's record."""
        now = self.now()
        due = now - self._synced >= SYNC_SECONDS
        writer.commit({**head, CLOCK: now}, sync=due)
        self._synced = now if due else self._synced
        self.n_records += 1

    def sync(self) -> None:
        """Sync the records to disk. Raises BudgetError."""
        with self._folder.writing():
            self._file.sync()

    def close(self) -> None:
        """Sync and close the file. Raises BudgetError if it cannot be synced; it is closed then too."""
        try:
            self.sync()
        finally:
            self._file.close()

    def now(self) -> float:
        """Seconds of the run, with those of earlier runs, but without time for kernels (jit.working_seconds); not for
        decisions, see `clock`."""
        return working_seconds() + self._offset
