"""Everything that is known before the first job starts: the jobs in order, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from ..errors import InputError
from .checks import check_budgets, check_files, check_places, digests, given_memory
from .depends import in_order
from .folder import State
from .job import Job, Problem
from .jobfile import JobFile, read_job_file
from .results import DONE, NAME, Record, read_results
from .settings import BatchOptions


class InvalidJobs(InputError):
    """A jobs file with something wrong; `problems` has it all, and the message a line for each."""

    def __init__(self, shown: str, problems: list[Problem], *, wholly: bool) -> None:
        self.problems = problems
        lines = [f"  {problem.sentence(shown)}" for problem in problems]
        hint = "" if wholly else "\n--keep-going runs the jobs that nothing is wrong with"
        many = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
        super().__init__(f"{many}, and nothing was started:\n" + "\n".join(lines) + hint)


@dataclass
class Prepared:
    """file : what was read. jobs : each after those it needs. digests : by job. faulty : by job, why it cannot
    run. kept : the records of jobs that need not run again."""

    file: JobFile
    jobs: list[Job]
    digests: Mapping[str, str]
    faulty: Mapping[str, str]
    kept: Mapping[str, Record]


def prepare(path: str | Path, group: click.Group, options: BatchOptions) -> Prepared:
    """Read and check a jobs file. group : the command line. Nothing is written.

    Raises InvalidJobs if something is wrong; with keep_going only if it is not about single jobs.
    """
    file = read_job_file(path, group, options)
    jobs = in_order(file.jobs)
    file.problems += check_files(jobs, file.faulty(), State(file.settings.out).owned)
    records, _, _ = read_results(file.settings.out / NAME)
    known = digests(jobs)
    kept = {job.name: records[job.name] for job in jobs if job.name in records and records[job.name].counts(
        known[job.name], (given_memory(job, file), job.time_limit), options.retry)}
    _drop_lost(jobs, kept)
    faulty = file.faulty()
    to_run = [job for job in jobs if job.name not in faulty and job.name not in kept]
    misplaced = check_places(to_run, file.settings.folder)
    names = {problem.job for problem in misplaced}
    file.problems += misplaced + check_budgets(file, [job for job in to_run if job.name not in names])
    file.problems.sort(key=lambda problem: problem.line or 0)
    fatal = any(problem.job is None for problem in file.problems)
    if fatal or (file.problems and not options.keep_going):
        raise InvalidJobs(str(path), file.problems, wholly=fatal)
    return Prepared(file, jobs, known, file.faulty(), kept)


def _drop_lost(jobs: list[Job], kept: dict[str, Record]) -> None:
    """What a job has made and somebody has deleted since, is made again."""
    for job in jobs:
        record = kept.get(job.name)
        if record is not None and record.status == DONE and any(
                "://" not in path and not Path(path).exists() for path in job.writes):
            del kept[job.name]
