"""Everything that is known before the first job starts: the jobs in order, and what is wrong.

Files and folders are looked at here. Whether a job can run on the store that is there is asked of the library in a
process that answers for all jobs at once, and ends: the library is large, and a batch lives long beside its jobs."""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from ..addresses import is_url
from ..durable import check_above, check_file, check_folder, check_scratch
from ..errors import EmdiamError, InputError
from ..terms import in_keys
from .attempt import library_environment
from .commands import READS
from .folder import DONE, NAME, Record, State, read_results
from .job import Job, Problem, in_order
from .jobfile import JobFile, read_job_file
from .settings import BatchOptions


class InvalidJobs(InputError):
    """A jobs file with something wrong; `problems` has it all, and the message a line for each."""

    lines = True

    def __init__(self, shown: str, problems: list[Problem], *, wholly: bool) -> None:
        self.problems = problems
        lines = [f"  {problem.sentence(shown)}" for problem in problems]
        hint = "" if wholly else "\n--keep-going runs the jobs that nothing is wrong with"
        many = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
        super().__init__(f"{many}, and nothing was started:\n" + "\n".join(lines) + hint)


@dataclass
class Prepared:
    """file : what was read. jobs : each after those it needs. digests : by job. faulty : by job, why it cannot
    run. reusable : the records of jobs that need not run again."""

    file: JobFile
    jobs: list[Job]
    digests: Mapping[str, str]
    faulty: Mapping[str, str]
    reusable: Mapping[str, Record]


def prepare(path: str | Path, group: click.Group, options: BatchOptions) -> Prepared:
    """Read and check a jobs file. group : the command line. Nothing is written.

    Raises InvalidJobs if something is wrong; with keep_going only if it is not about single jobs.
    """
    file = read_job_file(path, group, options)
    jobs = in_order(file.jobs)
    file.problems += check_files(jobs, file.faulty(), State(file.settings.out).owned)
    records, _, _ = read_results(file.settings.out / NAME)
    known = digests(jobs)
    reusable = {job.name: records[job.name] for job in jobs if job.name in records and _counts(
        records[job.name], known[job.name], job, file.settings.memory_of(job), options)}
    faulty = file.faulty()
    to_run = [job for job in jobs if job.name not in faulty and job.name not in reusable]
    misplaced = check_places(to_run, file.settings.folder)
    names = {problem.job for problem in misplaced}
    file.problems += misplaced + check_budgets(file, [job for job in to_run if job.name not in names])
    file.problems.sort(key=lambda problem: problem.line or 0)
    fatal = any(problem.job is None for problem in file.problems)
    if fatal or (file.problems and not options.keep_going):
        raise InvalidJobs(str(path), file.problems, wholly=fatal)
    return Prepared(file, jobs, known, file.faulty(), reusable)


def _counts(record: Record, digest: str, job: Job, memory: int | None, options: BatchOptions) -> bool:
    """Whether a job need not run again; what it has made and somebody has deleted since, is made again."""
    return record.counts(digest, (memory, job.time_limit), options.retry) and not (
        record.status == DONE and any("://" not in path and not Path(path).exists() for path in job.writes))


# Commands that refuse a target that exists, unless they have --force.
_REFUSING = ("convert", "generate", "reorder")
# What may be made where the folder is there, by command; of the others it may be anything.
_PLACES = {"exact": check_file, "tradeoff": check_folder}


def files_of(path: str) -> list[str]:
    """The files that a name stands for: itself, or what matches a pattern."""
    return [path] if os.path.lexists(path) else sorted(glob.glob(path))


def check_files(jobs: Sequence[Job], faulty: Mapping[str, str], owned: set[str]) -> list[Problem]:
    """Files that jobs read and that neither exist nor are made by a job, and stores that are in the way of
    jobs. faulty : jobs that are not checked. owned : paths that earlier runs of the batch have made."""
    made = {path for job in jobs for path in job.writes}
    problems = []
    for job in jobs:
        if job.name in faulty:
            continue
        for path in job.reads:
            if "://" not in path and path not in made and not files_of(path):
                kind = "store" if job.command != "convert" and path == job.reads[-1] else "file"
                problems.append(Problem(f"there is no {kind} {path}, and no job makes it", job.line, job.name))
        if job.command in _REFUSING and not job.options.get("force"):
            problems += [Problem(f"{path} exists already; give the option force = true to replace it, or delete it",
                                 job.line, job.name)
                         for path in job.writes if os.path.lexists(path) and path not in owned]
    return problems


def check_places(jobs: Sequence[Job], folder: Path) -> list[Problem]:
    """What jobs are to write and cannot. folder : where they run. Folders that are missing are made before a job
    starts, but for that of its scratch files."""
    problems = []
    for job in jobs:
        checks = [(_PLACES.get(job.command, check_above) if os.path.isdir(os.path.dirname(path)) else check_above, path)
                  for path in job.writes if "://" not in path]
        if "scratch" in job.options:
            checks.append((check_scratch, os.path.join(folder, str(job.options["scratch"]))))
        for check, path in checks:
            try:
                check(path)
            except InputError as error:
                problems.append(Problem(in_keys(str(error)), job.line, job.name))
    return problems


def check_budgets(file: JobFile, jobs: Sequence[Job]) -> list[Problem]:
    """Stores that are there and do not open, and memory that cannot do for the method on such a store.

    jobs : those to ask about. Raises RuntimeError if the process that answers fails.
    """
    made = {path for job in file.jobs for path in job.writes}
    asked = [job for job in jobs if job.reads and "store" in READS[job.command] and job.reads[-1] not in made
             and (is_url(job.reads[-1]) or files_of(job.reads[-1]))]
    answers = ask([question_of(job, file.settings.memory_of(job)) for job in asked])
    return [Problem(in_keys(text), job.line, job.name)
            for job, text in zip(asked, answers, strict=True) if text is not None]


def digests(jobs_in_order: Sequence[Job]) -> dict[str, str]:
    """By job, the digest of what it computes; it changes when a job that it needs does, or an input that no
    job makes. jobs_in_order : each after those it needs."""
    made = {path for job in jobs_in_order for path in job.writes}
    result: dict[str, str] = {}
    for job in jobs_in_order:
        stamps = {file: _stamp(file) for path in job.reads if path not in made and "://" not in path
                  for file in files_of(path)}
        result[job.name] = job.digest(stamps, {name: result[name] for name in job.needs})
    return result


def _stamp(path: str) -> Any:
    """Size and time of change of a file; of a store, of the record that is written last."""
    record = os.path.join(path, "zarr.json")
    status = os.stat(record if os.path.isfile(record) else path)
    return [status.st_size, status.st_mtime_ns]


# The process that answers: questions on its standard input, answers in the last line of its output.
_CHILD = ("import json, sys; from emdiam.batch.prepare import Question, answer;"
          "print(json.dumps([answer(Question(**one)) for one in json.load(sys.stdin)]))")

# Options that the memory of a run depends on.
_OF_PLANS = ("arena", "threads", "batch", "masters", "euler")


@dataclass(frozen=True)
class Question:
    """Can `command` run on the store, with `method` or the command's default? options : of a plan, as the command line
    has them; None: on a GPU, where no plan is made beforehand."""

    command: str
    store: str
    method: str | None
    options: dict[str, Any] | None


def question_of(job: Job, memory: int | None) -> Question:
    """What to ask about a job whose options are valid; its last file that is read is its store."""
    given = {name: job.options[name] for name in _OF_PLANS if name in job.options}
    on_cpu = job.options.get("device", "cpu") == "cpu"
    return Question(job.command, job.reads[-1], job.method, {"memory": memory, **given} if on_cpu else None)


def ask(questions: Sequence[Question]) -> list[str | None]:
    """For each question a sentence that says why not, or None. Raises RuntimeError if the process fails."""
    if not questions:
        return []
    done = subprocess.run([sys.executable, "-c", _CHILD], capture_output=True, text=True, env=library_environment(),
                          input=json.dumps([asdict(question) for question in questions]))
    if done.returncode != 0:
        raise RuntimeError(f"the check of the budgets left with {done.returncode}: {done.stderr.strip()[-500:]}")
    return list(json.loads(done.stdout.splitlines()[-1]))


def answer(question: Question) -> str | None:
    """A sentence, if the store does not open or the memory cannot do for the method; else None."""
    try:
        _try(question)
    except (EmdiamError, OSError) as error:
        return str(error)
    return None


def _try(question: Question) -> None:
    """Open the store, and plan the run if it is one that can be planned. Raises InputError, OSError."""
    from ..methods.approx.masters import parse_masters
    from ..runs.plan import plan_one
    from ..runs.registry import APPROXIMATIONS, EXACT
    from ..runs.task import task_of
    from ..store.store import open_store

    if question.command not in ("exact", "approx") or question.options is None:
        open_store(question.store).close()
        return
    method = question.method or (EXACT if question.command == "exact" else APPROXIMATIONS)[0]
    masters = question.options.get("masters")
    for item in parse_masters(masters) if masters else (None,):
        plan_one(question.store, task_of(question.command, {**question.options, "masters": item}, method))
