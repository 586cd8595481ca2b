"""One attempt at a job: its command line, its process, and the record of how it ended."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click

from ..addresses import redacted
from . import commands
from .answers import outcome, read_log
from .child import Child, Exit
from .environment import job_environment
from .folder import JobFolder
from .job import Job
from .results import Record

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
