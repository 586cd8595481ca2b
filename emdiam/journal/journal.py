"""The journal of a run: what its verbs gave, in order; first answered from, then added to.

Methods are deterministic given what the verbs of an engine return. So a run goes on by being run again:
as long as the journal has records, verbs are answered from it and their arguments compared; after the
last one the engine works. A record is written before the method goes on, so at most one verb is repeated.
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
# Records lie with the operating system at once, which a killed process does not hurt. They are waited for
# on disk this often: more would cost short traversals more than it saves, were the machine itself to stop.
SYNC_SECONDS = 0.5


def argument(values: np.ndarray | None) -> Any:
    """An array as an argument: itself if it is short, else its length and a digest of its bytes."""
    if values is None:
        return None
    if len(values) <= _SHOWN:
        return values.tolist()
    digest = hashlib.blake2b(np.ascontiguousarray(values).view(np.uint8).data, digest_size=16)
    return [len(values), values.dtype.str, digest.hexdigest()]


class Journal:
    """The journal in a folder. What of it is damaged is cut off. Raises OSError, and InputError for that of
    another run.

    n_records : verbs that it answered or took so far. n_before : those it had at the start.
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
        """Look through the records that are there, and cut off what is damaged."""
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
        """Whether there is a record that was not answered from yet."""
        return self._next is not None

    @property
    def nbytes(self) -> int:
        return self._file.end.offset

    def clock(self) -> float:
        """Seconds; the same in a run that goes on as in the one before."""
        if self._next is not None:
            return float(self._take(CLOCK, None).head["value"])
        now = self.now()
        with self.writing() as writer:
            writer.commit({"verb": CLOCK, "args": None, "value": now, CLOCK: now}, sync=False)
        return now

    def answer(self, verb: str, args: Any) -> Record | None:
        """The record of this verb; None once there is none. Raises InputError if it was called
        otherwise in the run that left the journal."""
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
        if self._next is None:  # from here on time goes on where it stood
            self._offset = record.head[CLOCK] - working_seconds()
        return record

    @contextmanager
    def writing(self) -> Iterator[RecordWriter]:
        """A writer for the next record; it is dropped if something fails before it is finished. Raises
        BudgetError where the disk is full."""
        writer = RecordWriter(self._file)
        with self._folder.writing():
            try:
                yield writer
            except BaseException:
                writer.abort()
                raise

    def finish(self, writer: RecordWriter, head: dict[str, Any]) -> None:
        """Make the writer's record last."""
        now = self.now()
        due = now - self._synced >= SYNC_SECONDS
        writer.commit({**head, CLOCK: now}, sync=due)
        self._synced = now if due else self._synced
        self.n_records += 1

    def sync(self) -> None:
        """What was written lasts. Raises BudgetError."""
        with self._folder.writing():
            self._file.sync()

    def close(self) -> None:
        """Let go of the file; what is in it lasts. Raises BudgetError where it cannot, and has let go of it then."""
        try:
            self.sync()
        finally:
            self._file.close()

    def now(self) -> float:
        """Seconds of the run, without those for kernels (jit.working_seconds), those before it was stopped included;
        not for choices, see `clock`."""
        return working_seconds() + self._offset
