"""One attempt at a job: its command line, its process, and the record of its end; and the folder of a batch.

A job is a process that the batch starts, watches, stops and waits for. It leads a process group, so that Ctrl-C on a
terminal reaches it only through the batch, once. It ends when the batch ends for any reason (PR_SET_PDEATHSIG of
Linux), so no job runs without its batch. Processes that remain from an earlier batch are recognised by their
environment.

The folder of a batch:

    (the folder)    locked while a batch runs
    state.json      running jobs, and files that this batch has made
    results.jsonl   a line for each ended job, synced before the next job starts; the last line of a repeated job
    counts,
                    and a line that a power failure has torn is cut off
    jobs/NAME/      answer.json, log.txt, events.jsonl and checkpoint/ of a job
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from .._version import __version__
from ..durable import sync_path, write_all, write_whole
from ..errors import InputError, redacted
from ..runs.registry import CHOOSING
from ..terms import in_keys
from ..units import peak_rss_bytes
from . import jobfile as commands
from .jobline import JobLine, doing
from .settings import RESULTS, Job

_STATE, _FORMAT = "state.json", 1


class JobFolder:
    """The folder of one job."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answer, self.log = path / "answer.json", path / "log.txt"
        self.events, self.checkpoint = path / "events.jsonl", path / "checkpoint"

    def has_checkpoint(self) -> bool:
        """Whether an earlier attempt has saved a checkpoint."""
        return self.checkpoint.is_dir() and any(self.checkpoint.iterdir())

    def forget(self) -> None:
        """Remove the checkpoint."""
        if self.checkpoint.is_dir():
            shutil.rmtree(self.checkpoint)

    def make(self, *, empty: bool) -> None:
        """Create the folder if it is missing. empty : remove the files of earlier attempts."""
        if empty and self.path.is_dir():
            shutil.rmtree(self.path)
        self.path.mkdir(parents=True, exist_ok=True)


class JobState:
    """The state of jobs without results, written to disk after every change.

    under_way : name -> (digest, attempts) of started jobs that have not ended. owned : absolute paths that did not
    exist before jobs started to make them; jobs may replace them. jobs : names in the order of the file, for reports.
    """

    def __init__(self, folder: Path) -> None:
        """Read the state. Raises InputError for a foreign file."""
        self._path = folder / _STATE
        self.under_way: dict[str, tuple[str, int]] = {}
        self.owned: set[str] = set()
        self.jobs: list[str] = []
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
        """Record that a job is about to start, and will make these paths."""
        self.under_way[name] = (digest, attempts)
        self.owned |= {path for path in makes if "://" not in path and not os.path.lexists(path)}
        self._write()

    def end(self, name: str) -> None:
        """Record that the result of a job has been written."""
        if self.under_way.pop(name, None) is not None:
            self._write()

    def _write(self) -> None:
        data = {"format": _FORMAT, "under_way": self.under_way, "owned": sorted(self.owned), "jobs": self.jobs}
        write_whole(self._path, json.dumps(data, indent=1) + "\n")


NAME = RESULTS
DONE, FAILED, STOPPED, SKIPPED = "done", "failed", "stopped", "skipped"
STATUSES = (DONE, FAILED, STOPPED, SKIPPED)
TIME_LIMIT, USER = "time limit", "user"


@dataclass(frozen=True)
class AttemptRecord:
    """The end of a job.

    job, digest : its name, and the digest of its definition (Job.digest). command : the whole command line. status :
    DONE; FAILED; STOPPED (`result` has the bounds so far, or is None); SKIPPED. stopped_by : TIME_LIMIT, USER or None.
    exit_code : of the process; None without a process, negative for a signal. sentence : the reason if it is not done.
    seconds : wall time of the last attempt. peak_rss_bytes : of its largest process, if known. memory, time_limit : its
    limits, bytes and seconds. attempts : number of starts. resumed : whether the last attempt continued from a
    checkpoint. began, ended : wall clock, ISO 8601. result : the command's JSON output. version : of emdiam.
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
        """Whether the job, with its current digest and limits (memory, time), need not run again.

        A done job with the same digest need not, for any limits. A job that failed or reached its time limit need not
        if nothing has changed, unless `retry`.
        """
        if self.digest != digest or self.status == SKIPPED or self.stopped_by == USER:
            return False
        return self.status == DONE or (not retry and (self.memory, self.time_limit) == limits)


class Results:
    """The results file in `folder`. records : last record of each job. notice : a sentence, if a line was cut off."""

    def __init__(self, folder: Path) -> None:
        """Read the file, cut off a torn end, and open it. Raises InputError for a foreign file."""
        self.path = folder / NAME
        self.notice: str | None = None
        self.records, good, size = read_results(self.path)
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        if good < size:
            os.ftruncate(self._file, good)
            self.notice = f"{self.path}: the last line was torn ({size - good:,} bytes) and has been cut off"
        os.fsync(self._file)
        sync_path(folder)

    def append(self, record: AttemptRecord) -> None:
        """Append a line and sync, so that after a failure it is complete or missing. Raises OSError (disk full)."""
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


def read_results(path: Path) -> tuple[dict[str, AttemptRecord], int, int]:
    """(last record of each job, bytes of complete lines, size of the file); no records without a file.

    Raises InputError for an invalid line, unless it is the last one, which may be torn.
    """
    data = path.read_bytes() if path.exists() else b""
    records: dict[str, AttemptRecord] = {}
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


def read_record(line: bytes) -> AttemptRecord:
    """The record of a line. Raises ValueError for an invalid line."""
    data = json.loads(line)
    names = {item.name for item in fields(AttemptRecord)}
    if not isinstance(data, dict) or not {"job", "digest", "status"} <= data.keys() <= names:
        raise ValueError("other keys")
    if data["status"] not in STATUSES:
        raise ValueError(f"status {data['status']!r}")
    return AttemptRecord(**data)


# A command checks its time limit only from time to time, so it may take longer by this factor and these seconds.
_GRACE_FACTOR, _GRACE_SECONDS = 1.1, 10.0
_REFUSED, _STOPPED_EARLY = 2, 3
_PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>
# Seconds between the request to stop and a kill.
END_SECONDS = 20.0
# Commands that may go along arcs, or along weights.
_ALONG, _UNSAVED = ("exact", "approx"), {*CHOOSING, "weight"}
PROGRAM = (sys.executable, "-m", "emdiam")


@dataclass(frozen=True)
class Attempt:
    """The settings of an attempt. number : 1 for the first. memory : bytes. threads : used unless the job sets them;
    None: the command's default. resume : continue from the checkpoint. retry : run failed cells again."""

    job: Job
    digest: str
    number: int
    memory: int | None
    threads: int | None
    resume: bool
    retry: bool = False

    def words(self, command: click.Command, folder: JobFolder, owned: set[str]) -> list[str]:
        """The words of the command line, from the command on. owned : paths that may be replaced."""
        job, limit = self.job, self.job.time_limit
        values: dict[str, Any] = {
            "memory": self.memory, "threads": None if "threads" in job.options else self.threads,
            "time-limit": None if limit is None or job.command not in commands.LIMITS_ITSELF else
            f"{limit:f}".rstrip("0").rstrip(".") + "s",
            "force": "force" not in job.options and any(path in owned and os.path.lexists(path) for path in job.writes),
            "retry": self.retry and "retry" not in job.options, "resume": self.resume,
            # Runs along arcs or weights have no checkpoint.
            "checkpoint": None if job.command in _ALONG and job.options.keys() & _UNSAVED else
            folder.checkpoint, "events": folder.events, "json": True}
        taken = {name: value for name, value in values.items() if commands.takes(command, name)}
        return [*job.arguments, *commands.option_words(taken)]


class Running:
    """A running attempt: a process that leads a process group."""

    def __init__(self, attempt: Attempt, words: Sequence[str], where: Path, folder: JobFolder, out: Path) -> None:
        """Start the process. where : its working folder. out : the folder of the batch. Raises OSError."""
        self.attempt, self._folder = attempt, folder
        self._shown = ["emdiam", *map(redacted, words)]
        self._deadline, self._kill_at = attempt.job.time_limit, 0.0
        if self._deadline is not None and attempt.job.command in commands.LIMITS_ITSELF:
            self._deadline = max(_GRACE_FACTOR * self._deadline, self._deadline + _GRACE_SECONDS)
        self._stopped_by: str | None = None
        self._peak: int | None = None
        self._over = False
        self._began, self._began_at = datetime.now(UTC), time.monotonic()
        with open(folder.answer, "wb") as answer, open(folder.log, "a", encoding="utf-8") as log:
            log.write(f"# {self._began.isoformat(timespec='seconds')} attempt {attempt.number}: "
                      + " ".join(self._shown) + "\n")
            log.flush()
            self._log_begin = log.tell()
            self._process = subprocess.Popen(
                [*PROGRAM, *words], cwd=where, env=job_environment(out), stdin=subprocess.DEVNULL, stdout=answer,
                stderr=log, start_new_session=True, preexec_fn=_end_with(os.getpid(), ctypes.CDLL(None)))

    def shown(self) -> JobLine:
        """The line of the job for the live table."""
        return JobLine(self.attempt.job.name, "running", doing(self._folder.events),
                       round(time.monotonic() - self._began_at), self._peak)

    def poll(self) -> AttemptRecord | None:
        """The record after the end, or None while it runs. Stops it at its deadline."""
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            # Measured now, since the kernel's figure at the end may be the peak of the batch, which forked it.
            self._peak = max(self._peak or 0, peak_rss_bytes(self._process.pid))
        pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if pid:
            self._over = True
            return self._ended(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
        now = time.monotonic()
        if self._stopped_by is not None:
            if now > self._kill_at:
                self._signal(signal.SIGKILL)
        elif self._deadline is not None and now - self._began_at > self._deadline:
            self.stop(TIME_LIMIT)
        return None

    def stop(self, who: str = USER) -> None:
        """Ask it to stop, as Ctrl-C would, unless it was asked before. Uses SIGTERM, for which a starting Python prints
        no traceback."""
        if self._stopped_by is None:
            self._stopped_by, self._kill_at = who, time.monotonic() + END_SECONDS
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process and all that it has started."""
        self._stopped_by = self._stopped_by or USER
        self._signal(signal.SIGKILL)

    def refused_to_resume(self, record: AttemptRecord) -> bool:
        """Whether its checkpoint may be the reason of the failure; then it starts again without."""
        return self.attempt.resume and record.exit_code == _REFUSED and record.stopped_by is None

    def _signal(self, number: signal.Signals) -> None:
        # The whole group, as a terminal does. After the wait, the number may belong to another process.
        if not self._over:
            os.killpg(self._process.pid, number)

    def _ended(self, code: int, largest: int) -> AttemptRecord:
        """The record. largest : peak bytes of its largest process, or of the process that forked it."""
        self._process.returncode = code  # tells Popen that the process has been waited for
        if largest > peak_rss_bytes():
            self._peak = max(self._peak or 0, largest)
        job, seconds = self.attempt.job, time.monotonic() - self._began_at
        out = self._folder.answer.read_text(encoding="utf-8", errors="replace")
        log = read_log(self._folder.log, self._log_begin)
        status, stopped_by, sentence, result = outcome(code, out, log, self._stopped_by, job.time_limit)
        peak = result.get("peak_rss_bytes") if result else None
        return AttemptRecord(
            job.name, self.attempt.digest, status, self._shown, stopped_by, code,
            None if sentence is None else in_keys(sentence), round(seconds, 3),
            peak_rss_bytes=max(filter(None, (peak, self._peak)), default=None), memory=self.attempt.memory,
            time_limit=job.time_limit, attempts=self.attempt.number, resumed=self.attempt.resume,
            began=self._began.isoformat(timespec="seconds"), ended=datetime.now(UTC).isoformat(timespec="seconds"),
            result=result)


def _end_with(parent: int, libc: ctypes.CDLL) -> Callable[[], None]:
    """A function for the child process before exec, which makes it get SIGTERM when the batch ends. SIGTERM rather than
    SIGKILL, so that the job can end its own processes."""

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != parent:
            raise ChildProcessError("the batch has ended")

    return ask


_LOG_TAIL = 64 << 10
Outcome = tuple[str, str | None, str | None, dict[str, Any] | None]


def outcome(code: int, out: str, log: str, stopped_by: str | None = None, limit: float | None = None) -> Outcome:
    """(status, stopped_by, sentence, result) of a process with exit code `code`, output `out` and log `log`.

    stopped_by : TIME_LIMIT or USER if the batch stopped it; None: it ended by itself, perhaps by its own --time-limit.
    limit : its time limit, seconds.
    """
    result = None
    if out.strip():
        with suppress(ValueError):
            result = json.loads(out)
        if not isinstance(result, dict) and code in (0, _STOPPED_EARLY):
            return FAILED, None, "its answer is not JSON", None
    result = result if isinstance(result, dict) else None
    if code == 0 and result is not None:
        return DONE, None, None, result
    reason = _reason(code, log)
    if stopped_by == TIME_LIMIT:
        by_force = ", and had to be killed" if code == -signal.SIGKILL else ""
        return STOPPED, TIME_LIMIT, f"stopped at its time limit of {limit:g} s{by_force}", result
    if stopped_by == USER:
        return STOPPED, USER, "stopped with the batch", result
    if code == _STOPPED_EARLY:
        return STOPPED, TIME_LIMIT if limit is not None else None, reason, result
    return FAILED, None, reason, None


def read_log(path: Path, begin: int) -> str:
    """The last 64 KiB of a log, from byte `begin` on."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        file.seek(max(begin, size - _LOG_TAIL))
        return file.read().decode("utf-8", "replace")


def _reason(code: int, log: str) -> str:
    """The last sentence of the process, or the meaning of its exit code."""
    if code < 0:
        hint = ", perhaps for want of memory" if code == -signal.SIGKILL else ""
        return f"ended by {signal.Signals(-code).name}{hint}"
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    sentences = [line for line in lines if line.startswith(("emdiam: ", "Error: "))]
    if lines:
        return (sentences or lines)[-1].removeprefix("emdiam: ").removeprefix("Error: ")
    return f"left with exit code {code} and no answer"


_FOLDER = "EMDIAM_BATCH_FOLDER"
# Seconds to wait for processes of a killed batch, which have had SIGTERM: before a second SIGTERM, and before a kill.
_LEAVE_SECONDS, _TERM_SECONDS = 3.0, 5.0
_TICK = 0.05


def library_environment() -> dict[str, str]:
    """An environment in which this package is importable from every working folder."""
    package = str(Path(__file__).resolve().parents[2])
    values = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": package if not values else package + os.pathsep + values}


def job_environment(folder: Path) -> dict[str, str]:
    """The same, with the mark of the batch in `folder`, which processes of a job inherit."""
    return {**library_environment(), _FOLDER: str(folder.resolve())}


def processes_of(folder: Path) -> list[int]:
    """Ids of other processes of this user with the mark of the batch in `folder`."""
    import psutil

    mark = str(folder.resolve())
    return [process.pid for process in psutil.process_iter(["environ"])  # None for other users' processes
            if process.pid != os.getpid() and (process.info["environ"] or {}).get(_FOLDER) == mark]


def end_leftovers(folder: Path) -> int:
    """End all remaining processes of an earlier batch in `folder`; return their initial number.

    When a batch is killed, the system sends SIGTERM to its jobs, so they get time to save a checkpoint; processes that
    a job has started get no signal.
    """
    n_left = len(_surely(folder))
    steps = ((None, _LEAVE_SECONDS), (signal.SIGTERM, _TERM_SECONDS), (signal.SIGKILL, _TERM_SECONDS))
    for number, seconds in steps if n_left else ():
        if number is not None:
            for process in processes_of(folder):
                with suppress(ProcessLookupError):  # it has ended meanwhile
                    os.kill(process, number)
        patience = time.monotonic() + seconds
        while (left := _surely(folder)) and time.monotonic() <= patience:
            time.sleep(_TICK)
        if not left:
            break
    return n_left


def _surely(folder: Path) -> list[int]:
    """As processes_of, but checks again before it returns none: a process shows its environment shortly after its
    start."""
    processes = processes_of(folder)
    if not processes:
        time.sleep(_TICK)
        processes = processes_of(folder)
    return processes
