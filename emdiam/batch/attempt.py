"""One attempt at a job: its command line, its process, and the record of how it ended.

A job is a process that is started, watched, asked to stop and waited for. It leads a group, so that Ctrl-C on a
terminal reaches it only through the batch, once. It ends with the batch, however that ends (PR_SET_PDEATHSIG of
Linux): no job runs without one that waits. Those that an earlier batch has left are known by their environment."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ..addresses import redacted
from ..terms import in_keys
from ..units import peak_rss_bytes
from . import commands
from .folder import DONE, FAILED, STOPPED, TIME_LIMIT, USER, JobFolder, Record
from .job import Job

# A command looks at its clock now and then, not always: so much longer than its own limit it may take.
_GRACE_FACTOR, _GRACE_SECONDS = 1.1, 10.0
_REFUSED, _STOPPED_EARLY = 2, 3
_PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>
# How long one that was asked to stop is waited for, before it is killed.
END_SECONDS = 20.0
PROGRAM = (sys.executable, "-m", "emdiam")


@dataclass(frozen=True)
class Attempt:
    """What an attempt is given. number : 1 for the first. memory : bytes. threads : if neither the job nor the
    command's default should say. resume : go on from the checkpoint. retry : run cells again that failed."""

    job: Job
    digest: str
    number: int
    memory: int | None
    threads: int | None
    resume: bool
    retry: bool = False

    def words(self, command: click.Command, folder: JobFolder, owned: set[str]) -> list[str]:
        """The command line, from the command on. owned : paths that may be replaced."""
        job, limit = self.job, self.job.time_limit
        given: dict[str, Any] = {
            "memory": self.memory, "threads": None if "threads" in job.options else self.threads,
            "time-limit": None if limit is None or job.command not in commands.LIMITS_ITSELF else
            f"{limit:f}".rstrip("0").rstrip(".") + "s",
            "force": "force" not in job.options and any(path in owned and os.path.lexists(path) for path in job.writes),
            "retry": self.retry and "retry" not in job.options, "checkpoint": folder.checkpoint, "resume": self.resume,
            "events": folder.events, "json": True}
        taken = {name: value for name, value in given.items() if commands.takes(command, name)}
        return [*job.arguments, *commands.option_words(taken)]


class Running:
    """An attempt that is under way, as a process that leads a group."""

    def __init__(self, attempt: Attempt, words: Sequence[str], where: Path, folder: JobFolder, out: Path) -> None:
        """Start it. where : the folder it runs in. out : the folder of the batch. Raises OSError."""
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

    def poll(self) -> Record | None:
        """How it ended, or None while it runs. Sees to its deadline."""
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            # By now: the kernel's own figure at the end may be that of the batch, from which it was forked.
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
        """Ask it to stop, as Ctrl-C would, unless somebody has; by SIGTERM, of which Python says nothing if it has only
        just started."""
        if self._stopped_by is None:
            self._stopped_by, self._kill_at = who, time.monotonic() + END_SECONDS
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it and all it has started, now."""
        self._stopped_by = self._stopped_by or USER
        self._signal(signal.SIGKILL)

    def refused_to_resume(self, record: Record) -> bool:
        """Whether it may be that its checkpoint was at fault: it then begins anew."""
        return self.attempt.resume and record.exit_code == _REFUSED and record.stopped_by is None

    def _signal(self, number: signal.Signals) -> None:
        # Its helpers too, as a terminal does. Once it has been waited for, the number may be another's.
        if not self._over:
            os.killpg(self._process.pid, number)

    def _ended(self, code: int, largest: int) -> Record:
        """The record. largest : bytes of the largest of its processes and of that from which it was forked."""
        self._process.returncode = code  # it was waited for here, which Popen should know
        if largest > peak_rss_bytes():
            self._peak = max(self._peak or 0, largest)
        job, seconds = self.attempt.job, time.monotonic() - self._began_at
        out = self._folder.answer.read_text(encoding="utf-8", errors="replace")
        log = read_log(self._folder.log, self._log_begin)
        status, stopped_by, sentence, result = outcome(code, out, log, self._stopped_by, job.time_limit)
        peak = result.get("peak_rss_bytes") if result else None
        return Record(
            job.name, self.attempt.digest, status, self._shown, stopped_by, code, sentence, round(seconds, 3),
            peak_rss_bytes=max(filter(None, (peak, self._peak)), default=None), memory=self.attempt.memory,
            time_limit=job.time_limit, attempts=self.attempt.number, resumed=self.attempt.resume,
            began=self._began.isoformat(timespec="seconds"), ended=datetime.now(UTC).isoformat(timespec="seconds"),
            result=result)


def _end_with(parent: int, libc: ctypes.CDLL) -> Callable[[], None]:
    """What a process does before it becomes the job. SIGTERM rather than SIGKILL: it ends its own helpers."""

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != parent:
            raise ChildProcessError("the batch has ended")

    return ask


_LOG_TAIL = 64 << 10
Outcome = tuple[str, str | None, str | None, dict[str, Any] | None]


def outcome(code: int, out: str, log: str, stopped_by: str | None = None, limit: float | None = None) -> Outcome:
    """(status, stopped_by, sentence, result) of Record, for a process that left with `code`, having printed `out` and
    written `log`.

    stopped_by : who asked it to stop, TIME_LIMIT or USER; None: nobody, but its own --time-limit may have. limit : its
    time limit, seconds.
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
    reason = in_keys(_reason(code, log))
    if stopped_by == TIME_LIMIT:
        by_force = ", and had to be killed" if code == -signal.SIGKILL else ""
        return STOPPED, TIME_LIMIT, f"stopped at its time limit of {limit:g} s{by_force}", result
    if stopped_by == USER:
        return STOPPED, USER, "stopped with the batch", result
    if code == _STOPPED_EARLY:
        return STOPPED, TIME_LIMIT if limit is not None else None, reason, result
    return FAILED, None, reason, None


def read_log(path: Path, begin: int) -> str:
    """The end of a log, at most 64 KiB of what was written from byte `begin` on."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        file.seek(max(begin, size - _LOG_TAIL))
        return file.read().decode("utf-8", "replace")


def _reason(code: int, log: str) -> str:
    """The last sentence of the process, or what its exit code says."""
    if code < 0:
        hint = ", perhaps for want of memory" if code == -signal.SIGKILL else ""
        return f"ended by {signal.Signals(-code).name}{hint}"
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    sentences = [line for line in lines if line.startswith(("emdiam: ", "Error: "))]
    if lines:
        return (sentences or lines)[-1].removeprefix("emdiam: ").removeprefix("Error: ")
    return f"left with exit code {code} and no answer"


_FOLDER = "EMDIAM_BATCH_FOLDER"
# How long processes without their batch are waited for: they have had SIGTERM already, get it again, then are ended.
_LEAVE_SECONDS, _TERM_SECONDS = 3.0, 5.0
_TICK = 0.05


def library_environment() -> dict[str, str]:
    """An environment in which this package is found from every folder, whatever is in that folder."""
    package = str(Path(__file__).resolve().parents[2])
    given = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": package if not given else package + os.pathsep + given}


def job_environment(folder: Path) -> dict[str, str]:
    """The same, with the mark of the batch in `folder`; what a job starts inherits it."""
    return {**library_environment(), _FOLDER: str(folder.resolve())}


def processes_of(folder: Path) -> list[int]:
    """Ids of the processes of this user that carry the mark of the batch in `folder`, this one not among them."""
    import psutil

    mark = str(folder.resolve())
    return [process.pid for process in psutil.process_iter(["environ"])  # None for those of other users
            if process.pid != os.getpid() and (process.info["environ"] or {}).get(_FOLDER) == mark]


def end_leftovers(folder: Path) -> int:
    """See to it that no process of an earlier batch in `folder` is left; their number when this began.

    A job whose batch was killed has had SIGTERM from the system at that moment, so that it is given time to
    leave a checkpoint; what a job had started itself has not.
    """
    n_left = len(_surely(folder))
    steps = ((None, _LEAVE_SECONDS), (signal.SIGTERM, _TERM_SECONDS), (signal.SIGKILL, _TERM_SECONDS))
    for number, seconds in steps if n_left else ():
        if number is not None:
            for process in processes_of(folder):
                with suppress(ProcessLookupError):  # it has ended since
                    os.kill(process, number)
        patience = time.monotonic() + seconds
        while (left := _surely(folder)) and time.monotonic() <= patience:
            time.sleep(_TICK)
        if not left:
            break
    return n_left


def _surely(folder: Path) -> list[int]:
    """As processes_of, asked again before the answer is none: a process that is just being started shows its
    environment a moment later."""
    processes = processes_of(folder)
    if not processes:
        time.sleep(_TICK)
        processes = processes_of(folder)
    return processes
