"""The folder of a batch: its lock, what is under way, the results, and a folder for every job.

    (the folder)    locked while a batch runs
    state.json      jobs that are under way, and files that this batch has made
    results.jsonl   a line a job that has ended, synced before the next one starts; of a job that was run again,
                    the last one counts, and a line that was torn by a power cut is cut off
    jobs/NAME/      answer.json, log.txt, events.jsonl and checkpoint/ of a job"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from .._version import __version__
from ..durable import sync_path, write_all, write_whole
from ..errors import InputError

_STATE, _FORMAT = "state.json", 1


class JobFolder:
    """The folder of one job."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answer, self.log = path / "answer.json", path / "log.txt"
        self.events, self.checkpoint = path / "events.jsonl", path / "checkpoint"

    def has_checkpoint(self) -> bool:
        """Whether an earlier attempt has left something to go on from."""
        return self.checkpoint.is_dir() and any(self.checkpoint.iterdir())

    def forget(self) -> None:
        """Remove the checkpoint."""
        if self.checkpoint.is_dir():
            shutil.rmtree(self.checkpoint)

    def make(self, *, empty: bool) -> None:
        """Make the folder if it is absent. empty : nothing of earlier attempts is left."""
        if empty and self.path.is_dir():
            shutil.rmtree(self.path)
        self.path.mkdir(parents=True, exist_ok=True)


class State:
    """What a batch knows of its jobs beside their results, on disk after every change.

    under_way : name -> (digest, attempts) of jobs that were started and have not ended. owned : absolute
    paths that jobs have begun to make, where there was nothing before; they may be made again.
    """

    def __init__(self, folder: Path) -> None:
        """Read it. Raises InputError for a file that is none of ours."""
        self._path = folder / _STATE
        self.under_way: dict[str, tuple[str, int]] = {}
        self.owned: set[str] = set()
        if not self._path.exists():
            return
        try:
            data: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))
            if data["format"] != _FORMAT:
                raise ValueError(f"format {data['format']!r}")
            self.under_way = {str(name): (str(digest), int(attempts))
                              for name, (digest, attempts) in data["under_way"].items()}
            self.owned = set(map(str, data["owned"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"this is not the state of a batch ({error})", path=self._path, remedy="choose another"
                             " folder, or delete this file: jobs that were under way then begin anew, and stores in"
                             " their way are yours to delete") from None

    def begin(self, name: str, digest: str, attempts: int, makes: tuple[str, ...]) -> None:
        """A job is about to start, and will make these paths."""
        self.under_way[name] = (digest, attempts)
        self.owned |= {path for path in makes if "://" not in path and not os.path.lexists(path)}
        self._write()

    def end(self, name: str) -> None:
        """The result of a job has been written."""
        if self.under_way.pop(name, None) is not None:
            self._write()

    def _write(self) -> None:
        data = {"format": _FORMAT, "under_way": self.under_way, "owned": sorted(self.owned)}
        write_whole(self._path, json.dumps(data, indent=1) + "\n")


NAME = "results.jsonl"
DONE, FAILED, STOPPED, SKIPPED = "done", "failed", "stopped", "skipped"
STATUSES = (DONE, FAILED, STOPPED, SKIPPED)
TIME_LIMIT, USER = "time limit", "user"


@dataclass(frozen=True)
class Record:
    """How a job ended.

    job, digest : its name, and the digest of its definition (Job.digest). command : the whole command line.
    status : DONE; FAILED; STOPPED (`result` has the interval by then, or is None); SKIPPED. stopped_by :
    TIME_LIMIT, USER or, for what is not stopped, None. exit_code : of the process; None if there was none,
    negative for a signal. sentence : why it is not done. seconds : wall time of the last attempt. peak_rss_bytes :
    of its largest process, if known. memory, time_limit : what the job was given, bytes and seconds. attempts :
    how often it was started. resumed : whether the last attempt went on from a checkpoint. began, ended : wall
    clock, ISO 8601. result : what the command printed with --json. version : of emdiam.
    """

    job: str
    digest: str
    status: str
    command: list[str] = field(default_factory=list)
    stopped_by: str | None = None
    exit_code: int | None = None
    sentence: str | None = None
    seconds: float = 0.0
    peak_rss_bytes: int | None = None
    memory: int | None = None
    time_limit: float | None = None
    attempts: int = 0
    resumed: bool = False
    began: str | None = None
    ended: str | None = None
    result: dict[str, Any] | None = None
    version: str = __version__

    def counts(self, digest: str, limits: tuple[int | None, float | None], retry: bool) -> bool:
        """Whether the job, with this digest and these limits (memory, time) now, need not run again.

        One that is done need not, whatever its limits. One that failed or met its time limit need not if
        nothing has changed, unless `retry`.
        """
        if self.digest != digest or self.status == SKIPPED or self.stopped_by == USER:
            return False
        return self.status == DONE or (not retry and (self.memory, self.time_limit) == limits)


class Results:
    """The file in `folder`; records : the last one of every job. notice : a sentence, if a line was cut off."""

    def __init__(self, folder: Path) -> None:
        """Read the file, cut a torn end off, and open it. Raises InputError for a file that is none of ours."""
        self.path = folder / NAME
        self.notice: str | None = None
        self.records, good, size = read_results(self.path)
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        if good < size:
            os.ftruncate(self._file, good)
            self.notice = f"{self.path}: the last line was torn ({size - good:,} bytes) and has been cut off"
        os.fsync(self._file)
        sync_path(folder)

    def append(self, record: Record) -> None:
        """Add a line, synced: it is there whole, or was never written. Raises OSError (disk full)."""
        line = (json.dumps(asdict(record), allow_nan=False) + "\n").encode()
        before = os.fstat(self._file).st_size
        try:
            write_all(partial(os.write, self._file), line)
        except OSError:
            os.ftruncate(self._file, before)
            raise
        os.fsync(self._file)
        self.records[record.job] = record

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read_results(path: Path) -> tuple[dict[str, Record], int, int]:
    """(last record of every job, bytes of the file that are whole lines, its size); none for no file.

    Raises InputError for a line that is no record, unless it is the last one: that may have been torn.
    """
    data = path.read_bytes() if path.exists() else b""
    records: dict[str, Record] = {}
    position = 0
    lines = data.split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):
        try:
            record = read_record(line)
        except ValueError as error:
            if number == len(lines) - 1 and not lines[-1]:
                break
            raise InputError(f"this is not a result of a batch ({error})", path=path, line=number,
                             remedy="delete the line, and its job will run again") from None
        records[record.job] = record
        position += len(line) + 1
    return records, position, len(data)


def read_record(line: bytes) -> Record:
    """The record of a line. Raises ValueError for one that is none."""
    data = json.loads(line)
    names = {item.name for item in fields(Record)}
    if not isinstance(data, dict) or not {"job", "digest", "status"} <= data.keys() <= names:
        raise ValueError("other keys")
    if data["status"] not in STATUSES:
        raise ValueError(f"status {data['status']!r}")
    return Record(**data)
