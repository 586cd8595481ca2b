"""Runs a file of jobs, each as a separate process, and can continue after any interruption.

state.json records a job before it starts, and results.jsonl its result after the end; both are synced. So after any
interruption the same command continues, and repeats at most the running jobs, from their checkpoints if they have some.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click

from ..checkpoint.folder import check_owner
from ..durable import check_folder, locked
from ..errors import NotWritten, StoppedEarly, redacted
from ..progress import ANSWER, LINES, OUTCOME, PEAK, SECONDS, Event, Listener, silent
from ..units import format_count
from . import jobfile as commands
from .attempt import (
    DONE,
    FAILED,
    SKIPPED,
    Attempt,
    AttemptRecord,
    JobFolder,
    JobState,
    Results,
    Running,
    end_leftovers,
)
from .jobline import JobLine
from .prepare import Batch, Prepared, answer_text, prepare, waits_text
from .settings import BatchOptions, Job

_TICK = 0.05
# Seconds between reads of the jobs' events.
_LOOK_SECONDS = 0.5


def batch(path: str | Path, group: click.Group, options: BatchOptions | None = None,
          progress: Listener | None = None, ended: Callable[[AttemptRecord], None] | None = None) -> Batch:
    """Run the jobs of a file. group : the command line with their commands (emdiam.cli.main.group). ended : called with
    the record of every job when it ends, or if it ended in an earlier run.

    A failed job does not stop the others; jobs that need it are skipped. Jobs that an earlier run in the same folder
    has finished are not run again.

    Raises InputError (InvalidJobs before any job starts; for another batch in the folder, and the folder of another
    user; NotWritten with `result` if the folder cannot be written), and StoppedEarly with `result` on Ctrl-C, after the
    running jobs have ended with their bounds so far.
    """
    options = options or BatchOptions()
    prepared = prepare(path, group, options)
    settings = prepared.file.settings
    check_folder(settings.out)
    with locked(settings.out, "another batch is being run in this folder now",
                "wait for it, or choose another folder with --out"):
        check_owner(settings.out, "the folder of a batch", "--out")
        result = Batch(str(prepared.file.path), str(settings.out), settings.memory, settings.parallel,
                       len(prepared.jobs))
        left = end_leftovers(settings.out)
        if left:
            result.messages.append(f"the batch before was killed; {format_count(left, 'process', 'processes')} of its"
                                   " jobs still ran and had to be ended")
        with closing(Results(settings.out)) as results:
            if results.notice:
                result.messages.append(results.notice)
            night = _Night(prepared, group, options, results, progress or silent, ended)
            night.messages = result.messages
            full = night.run()
        result.records = [night.ended[job.name] for job in prepared.file.jobs if job.name in night.ended]
        result.interrupted, result.n_reused = night.interrupted, night.n_reused
    if result.n_reused:
        result.messages.append(f"{result.n_reused:,} of {format_count(result.n_jobs, 'job')} ended in an earlier run,"
                               f" {len(result.records) - result.n_reused:,} in this one")
    if full is not None:
        raise NotWritten(f"{full.filename or settings.out}: the batch cannot go on ({full.strerror})", result)
    if result.interrupted:
        raise StoppedEarly(f"stopped by the user; the same command continues from {settings.out}", result)
    return result


class _Night:
    """The jobs of one batch. ended : records of jobs that have ended, in this run or before."""

    def __init__(self, prepared: Prepared, group: click.Group, options: BatchOptions, results: Results,
                 progress: Listener, on_end: Callable[[AttemptRecord], None] | None = None) -> None:
        self._on_end, self._last_look = on_end, 0.0
        self.prepared, self.group, self.options = prepared, group, options
        self.results, self.progress = results, progress
        self.settings = prepared.file.settings
        self.state = JobState(self.settings.out)
        self.state.jobs = [job.name for job in prepared.file.jobs]
        self.waiting = list(prepared.jobs)  # jobs that have not ended
        self.running: dict[str, Running] = {}
        self.ended: dict[str, AttemptRecord] = {}
        self.messages: list[str] = []
        self.n_reused, self.interrupted = 0, False

    def run(self) -> OSError | None:
        """Run until all jobs have ended, Ctrl-C, or an error of a file (a full disk), which is returned. After any
        other error no job remains running either."""
        try:
            while self.waiting or self.running:
                self._start_ready()
                self._see_to_running()
                self._show_lines()
                if self.running:
                    time.sleep(_TICK)
        except KeyboardInterrupt:
            self.interrupted = True
            self._stop()
        except OSError as error:
            self._kill()
            return error
        except BaseException:
            self._kill()
            raise
        return None

    def _kill(self) -> None:
        for running in self.running.values():
            running.kill()

    def _stop(self) -> None:
        """Ask all jobs to stop and wait for their results; a second Ctrl-C kills them."""
        try:
            for running in self.running.values():
                running.stop()
            while self.running:
                self._see_to_running()
                time.sleep(_TICK)
        except KeyboardInterrupt:
            self._kill()

    def _start_ready(self) -> None:
        """Start the ready jobs; a small job may overtake a large one that does not fit into memory yet."""
        for job in list(self.waiting):
            if job.name in self.running or any(name not in self.ended for name in (*job.needs, *job.after)):
                continue
            lacking = next((self.ended[need] for need in job.needs if self.ended[need].status != DONE), None)
            before = self.prepared.reusable.get(job.name)
            if job.name in self.prepared.faulty:
                self._without_process(job, FAILED, self.prepared.faulty[job.name])
            elif lacking is not None:
                self._without_process(job, SKIPPED, f"it needs {lacking.job}, which {_PAST[lacking.status]}")
            elif before is not None:
                self.n_reused += 1
                self._end(job, before)
            elif self._fits(job):
                self._start(job)

    def _fits(self, job: Job) -> bool:
        settings, taken = self.settings, sum(running.attempt.memory or 0 for running in self.running.values())
        return len(self.running) < settings.parallel and (
            settings.memory is None or taken + (settings.memory_of(job) or 0) <= settings.memory)

    def _without_process(self, job: Job, status: str, sentence: str) -> None:
        """End a job without a process. It is reported once, also if the batch runs again."""
        arguments = ["emdiam", *map(redacted, job.arguments)]
        record = AttemptRecord(job.name, self.prepared.digests[job.name], status, arguments, sentence=sentence,
                               memory=self.settings.memory_of(job), time_limit=job.time_limit)
        last = self.results.records.get(job.name)
        if last is None or (last.digest, last.status, last.sentence) != (record.digest, status, sentence):
            self.results.append(record)
        self._end(job, record)
        self._tell(job, record)

    def _end(self, job: Job, record: AttemptRecord) -> None:
        self.ended[job.name] = record
        self.waiting.remove(job)
        if self._on_end is not None:
            self._on_end(record)

    def _start(self, job: Job, afresh: bool = False) -> None:
        """Start an attempt. afresh : without the checkpoint."""
        digest, folder = self.prepared.digests[job.name], JobFolder(self.settings.out / "jobs" / job.name)
        before = self._attempts_before(job, digest)
        folder.make(empty=before is None)
        known = commands.find_command(self.group, job.command, job.arguments[1])
        assert known is not None, "a job with an unknown command is not started"
        command = known[1]
        resume = bool(before) and not afresh and commands.takes(command, "resume") and folder.has_checkpoint()
        if not resume:
            folder.forget()
        cores = len(os.sched_getaffinity(0))
        attempt = Attempt(job, digest, (before or 0) + 1, self.settings.memory_of(job),
                          max(1, cores // self.settings.parallel) if self.settings.parallel > 1 else None,
                          resume, self.options.retry)
        self.state.begin(job.name, digest, attempt.number, job.writes)
        try:
            for path in job.writes:
                if "://" not in path:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
            self.running[job.name] = Running(attempt, attempt.words(command, folder, self.state.owned),
                                             self.settings.folder, folder, self.settings.out)
        except OSError as error:  # concerns this job only: its folder, or its process
            self.state.end(job.name)
            self._without_process(job, FAILED, f"it could not be started: {error}")
            return
        self._tell(job)

    def _attempts_before(self, job: Job, digest: str) -> int | None:
        """The number of starts of the job with this digest; None if it is new or has changed."""
        under_way, last = self.state.under_way.get(job.name), self.results.records.get(job.name)
        if under_way is not None and under_way[0] == digest:
            return under_way[1]
        if last is not None and last.digest == digest:
            return last.attempts
        if under_way is not None or last is not None:
            self.messages.append(f"{job.name}: this job, or a job that it needs, has changed, so it runs again")
        return None

    def _see_to_running(self) -> None:
        """Handle jobs that have ended."""
        for name, running in list(self.running.items()):
            record, job = running.poll(), running.attempt.job
            if record is None:
                continue
            del self.running[name]
            if running.refused_to_resume(record) and not self.interrupted:
                self.messages.append(f"{name}: {record.sentence}; it began anew, without its checkpoint")
                self._start(job, afresh=True)
            else:
                self._end(job, record)
                self.results.append(record)
                self.state.end(name)
                self._tell(job, record)
                for other in list(self.running.values())[-1:]:  # the phase that continues
                    self._tell(other.attempt.job)

    def _show_lines(self) -> None:
        """Report all running jobs from time to time."""
        now = time.monotonic()
        if now - self._last_look < _LOOK_SECONDS:
            return
        self._last_look = now
        lines = [running.shown() for running in self.running.values()]
        for job in self.waiting:
            if job.name not in self.running:
                needs, after = ([name for name in names if name not in self.ended] for names in (job.needs, job.after))
                lines.append(JobLine(job.name, "waiting", f"for {waits_text(needs, after) or 'a running job to end'}"))
        self.progress(Event("jobs", len(self.ended), len(self.prepared.jobs), "jobs", {LINES: lines}, kind="jobs"))

    def _tell(self, job: Job, record: AttemptRecord | None = None) -> None:
        """Report a job as a phase, without a rate, since jobs differ. record : of its end."""
        jobs = self.prepared.jobs
        ending = {} if record is None else {
            OUTCOME: record.status, SECONDS: record.seconds, PEAK: record.peak_rss_bytes,
            ANSWER: answer_text(record.result) or record.sentence or ""}
        # Names of jobs have no spaces.
        self.progress(Event(f"{job.name} ({jobs.index(job) + 1} of {len(jobs)} jobs)", facts=ending,
                            finished=record is not None))


_PAST = {FAILED: "failed", SKIPPED: "was skipped", "stopped": "was stopped"}
