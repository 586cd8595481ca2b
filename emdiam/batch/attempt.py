"""One attempt at a job: its command line, its process, and the record of how it ended.

A job is a process that is started, watched, told to stop and waited for. It leads a group, so that Ctrl-C on a
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
from ..units import format_size, peak_rss_bytes
from . import commands
from .folder import DONE, FAILED, STOPPED, TIME_LIMIT, USER, JobFolder, Record
from .job import Job

# A command looks at its clock now and then, not always: so much longer than its own limit it may take.
_GRACE_FACTOR, _GRACE_SECONDS = 1.1, 10.0
_REFUSED = 2
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
        job, words = self.job, list(self.job.arguments)

        def add(option: str, *value: str) -> None:
            if commands.takes(command, option):
                words.append("--" + "=".join((option, *value)))

        if self.memory is not None:
            add("memory", str(self.memory))
        if self.threads is not None and "threads" not in job.options:
            add("threads", str(self.threads))
        if job.time_limit is not None and commands.limits_itself(job.command):
            add("time-limit", f"{job.time_limit:f}".rstrip("0").rstrip(".") + "s")
        if "force" not in job.options and any(path in owned and os.path.lexists(path) for path in job.writes):
            add("force")
        if self.retry and "retry" not in job.options:
            add("retry")
        add("checkpoint", str(folder.checkpoint))
        if self.resume:
            add("resume")
        add("events", str(folder.events))
        add("json")
        return words

    def deadline(self) -> float | None:
        """Seconds after which the batch itself ends the process."""
        limit = self.job.time_limit
        if limit is None or not commands.limits_itself(self.job.command):
            return limit
        return max(_GRACE_FACTOR * limit, limit + _GRACE_SECONDS)


class Running:
    """An attempt that is under way."""

    def __init__(self, attempt: Attempt, words: Sequence[str], where: Path, folder: JobFolder, out: Path) -> None:
        """Start it. where : the folder it runs in. out : the folder of the batch."""
        self.attempt, self._folder = attempt, folder
        self._shown = ["emdiam", *map(redacted, words)]
        self._began = datetime.now(UTC)
        with open(folder.log, "a", encoding="utf-8") as log:
            log.write(f"# {self._began.isoformat(timespec='seconds')} attempt {attempt.number}: "
                      + " ".join(self._shown) + "\n")
            log.flush()
            self._log_begin = log.tell()
        self.child = Child([*PROGRAM, *words], where, (folder.answer, folder.log),
                           job_environment(out), attempt.deadline())

    def record(self, exit: Exit) -> Record:
        """How it ended."""
        job = self.attempt.job
        out = self._folder.answer.read_text(encoding="utf-8", errors="replace")
        found = outcome(exit.code, out, read_log(str(self._folder.log), self._log_begin), exit.told, job.time_limit)
        peak = found.result.get("peak_rss_bytes") if found.result else None
        return Record(
            job=job.name, digest=self.attempt.digest, status=found.status, command=self._shown,
            stopped_by=found.stopped_by, exit_code=exit.code, sentence=found.sentence, seconds=round(exit.seconds, 3),
            peak_rss_bytes=max(filter(None, (peak, exit.peak_rss_bytes)), default=None), memory=self.attempt.memory,
            time_limit=job.time_limit, attempts=self.attempt.number, resumed=self.attempt.resume,
            began=self._began.isoformat(timespec="seconds"),
            ended=datetime.now(UTC).isoformat(timespec="seconds"), result=found.result)

    def refused_to_resume(self, exit: Exit) -> bool:
        """Whether it may be that its checkpoint was at fault: it then begins anew."""
        return self.attempt.resume and exit.code == _REFUSED and exit.told is None


_STOPPED_EARLY = 3
_LOG_TAIL = 64 << 10


@dataclass(frozen=True)
class Outcome:
    """status, stopped_by, sentence, result as in results.Record."""

    status: str
    stopped_by: str | None
    sentence: str | None
    result: dict[str, Any] | None


def outcome(code: int, out: str, log: str, told: str | None, limit: float | None) -> Outcome:
    """How a job ended whose process left with `code`, having printed `out` and written `log`.

    told : who told it to stop, TIME_LIMIT or USER; None: nobody, but its own --time-limit may have. limit : its
    time limit, seconds.
    """
    result, readable = _result(out)
    if code == 0 and result is not None:
        return Outcome(DONE, None, None, result)
    if code in (0, _STOPPED_EARLY) and not readable:
        return Outcome(FAILED, None, "its answer is not JSON", None)
    reason = _reason(code, log)
    if told == TIME_LIMIT:
        by_force = ", and had to be killed" if code == -signal.SIGKILL else ""
        return Outcome(STOPPED, TIME_LIMIT, f"stopped at its time limit of {limit:g} s{by_force}", result)
    if told == USER:
        return Outcome(STOPPED, USER, "stopped with the batch", result)
    if code == _STOPPED_EARLY:
        return Outcome(STOPPED, TIME_LIMIT if limit is not None else None, reason, result)
    return Outcome(FAILED, None, reason, None)


def _result(out: str) -> tuple[dict[str, Any] | None, bool]:
    """(the JSON object, True); (None, True) for no output; (None, False) for something else."""
    if not out.strip():
        return None, True
    try:
        result = json.loads(out)
    except ValueError:
        return None, False
    return (result, True) if isinstance(result, dict) else (None, False)


def read_log(path: str, begin: int) -> str:
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
    own = [line for line in lines if line.startswith(("emdiam: ", "Error: "))]
    if own or lines:
        return (own or lines)[-1].removeprefix("emdiam: ").removeprefix("Error: ")
    return f"left with exit code {code} and no answer"


def answer_text(result: dict[str, Any] | None) -> str:
    """The answer of a job in a few words; "" if there is none."""
    if result is None:
        return ""
    if isinstance(result.get("runs"), list):
        return "; ".join(filter(None, map(answer_text, result["runs"])))
    if "verified" in result:
        return "proved" if result["verified"] else "not proved"
    if result.get("lower") is not None:
        return _bounds_text(result)
    if isinstance(result.get("record"), dict):
        return f"{result['record'].get('n_vertices', 0):,} vertices, {result['record'].get('n_edges', 0):,} edges"
    return f"{result['n_cells']:,} cells" if "n_cells" in result else ""


def _bounds_text(result: dict[str, Any]) -> str:
    lower, upper = result["lower"], result.get("upper")
    if upper is not None and lower == upper:
        text = f"D = {lower}"
    else:
        text = f"D >= {lower}" if upper is None else f"{lower} <= D <= {upper}"
    if result.get("connected") is False:
        text += f" ({result.get('n_components', 0):,} components"
        largest = result.get("diameter_largest_component")
        text += ")" if largest is None else f"; largest: {largest})"
    estimate = result.get("estimate")
    return text if estimate is None else f"{text}, paper's estimate {estimate}"


def size_text(size: int | None) -> str:
    """A size, or "" for none."""
    return "" if size is None else format_size(size)


_PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>
# How long one that was told to stop is waited for, before it is killed.
END_SECONDS = 20.0


@dataclass(frozen=True)
class Exit:
    """code : negative for a signal. seconds : wall time. peak_rss_bytes : of the largest of its processes, if
    known. told : who told it to stop, or None."""

    code: int
    seconds: float
    peak_rss_bytes: int | None
    told: str | None


class Child:
    """A running job. deadline : seconds after its start at which it is told to stop."""

    def __init__(self, command: list[str], folder: Path, streams: tuple[Path, Path], environment: dict[str, str],
                 deadline: float | None) -> None:
        """Start it in `folder`. streams : files for its standard output (replaced) and error (added to)."""
        self._deadline, self._kill_at = deadline, 0.0
        self._told: str | None = None
        self._peak: int | None = None
        self.began = time.monotonic()
        with open(streams[0], "wb") as out, open(streams[1], "ab") as log:
            self._process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=log,
                start_new_session=True, preexec_fn=_end_with(os.getpid(), ctypes.CDLL(None)))

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def poll(self) -> Exit | None:
        """How it ended, or None while it runs. Sees to its deadline."""
        self._measure()
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid:
            return self._ended(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
        now = time.monotonic()
        if self._told is not None:
            if now > self._kill_at:
                self._signal(signal.SIGKILL)
        elif self._deadline is not None and now - self.began > self._deadline:
            self._tell(TIME_LIMIT, signal.SIGTERM)
        return None

    def interrupt(self) -> None:
        """Tell it to stop, as Ctrl-C would; by SIGTERM, of which Python says nothing if it has only just started."""
        if self._told is None:
            self._tell(USER, signal.SIGTERM)

    def kill(self) -> None:
        """End it and all it has started, now."""
        self._told = self._told or USER
        self._signal(signal.SIGKILL)

    def _tell(self, who: str, number: signal.Signals) -> None:
        self._told, self._kill_at = who, time.monotonic() + END_SECONDS
        self._signal(number)

    def _signal(self, number: signal.Signals) -> None:
        # Its helpers too, as a terminal does. It has not been waited for, so the number is still its own.
        os.killpg(self.pid, number)

    def _measure(self) -> None:
        """Note the peak by now: the kernel's own figure at the end may be that of the batch, from which the
        process was forked."""
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            self._peak = max(self._peak or 0, peak_rss_bytes(self.pid))

    def _ended(self, code: int, largest: int) -> Exit:
        self._process.returncode = code  # it was waited for here, which Popen should know
        if largest > peak_rss_bytes():
            self._peak = max(self._peak or 0, largest)
        return Exit(code, time.monotonic() - self.began, self._peak, self._told)


def _end_with(parent: int, libc: ctypes.CDLL) -> Callable[[], None]:
    """What a process does before it becomes the job. SIGTERM rather than SIGKILL: it ends its own helpers."""

    def ask() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != parent:
            raise ChildProcessError("the batch has ended")

    return ask


_FOLDER = "EMDIAM_BATCH_FOLDER"
# How long processes without their batch are waited for: they have been told already (SIGTERM), then they are
# told again, then ended.
_OWN_SECONDS, _TERM_SECONDS = 3.0, 5.0
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
    left = _surely(folder)
    if not left or _ended(folder, _OWN_SECONDS):
        return len(left)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in processes_of(folder):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                continue  # it has ended since
        if _ended(folder, _TERM_SECONDS):
            break
    return len(left)


def _ended(folder: Path, seconds: float) -> bool:
    """Whether they all have ended within so much time."""
    patience = time.monotonic() + seconds
    while _surely(folder):
        if time.monotonic() > patience:
            return False
        time.sleep(_TICK)
    return True


def _surely(folder: Path) -> list[int]:
    """As processes_of, asked again before the answer is none: a process that is just being started shows its
    environment a moment later."""
    found = processes_of(folder)
    if not found:
        time.sleep(_TICK)
        found = processes_of(folder)
    return found
