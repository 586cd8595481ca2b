"""Everything that is known before the first job starts: the jobs in order, and what is wrong.

Files and folders are looked at here. Whether a job can run on the store that is there is asked of the library in a
process that answers for all jobs at once, and ends: the library is large, and a batch lives long beside its jobs."""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from ..addresses import is_url
from ..durable import check_above, check_file, check_folder, check_scratch
from ..errors import EmdiamError, InputError
from ..units import parse_size
from .attempt import library_environment
from .commands import READS
from .folder import DONE, NAME, Record, State, read_results
from .job import Job, Problem, in_order
from .jobfile import JobFile, read_job_file
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
                problems.append(Problem(str(error), job.line, job.name))
    return problems


def check_budgets(file: JobFile, jobs: Sequence[Job]) -> list[Problem]:
    """Stores that are there and do not open, and memory that cannot do for the method on such a store.

    jobs : those to ask about. Raises RuntimeError if the process that answers fails.
    """
    made = {path for job in file.jobs for path in job.writes}
    asked = [job for job in jobs if job.reads and "store" in READS[job.command] and job.reads[-1] not in made
             and (is_url(job.reads[-1]) or files_of(job.reads[-1]))]
    answers = ask([question_of(job, given_memory(job, file)) for job in asked])
    return [Problem(text, job.line, job.name) for job, text in zip(asked, answers, strict=True) if text is not None]


def given_memory(job: Job, file: JobFile) -> int | None:
    """Bytes of --memory that a job gets; None: no limit is said anywhere."""
    return file.settings.share() if job.memory is None else job.memory


def digests(jobs_in_order: Sequence[Job]) -> dict[str, str]:
    """By job, the digest of what it computes; it changes when a job that it needs does, or an input that no
    job makes. jobs_in_order : each after those it needs."""
    made = {path for job in jobs_in_order for path in job.writes}
    found: dict[str, str] = {}
    for job in jobs_in_order:
        stamps = {file: _stamp(file) for path in job.reads if path not in made and "://" not in path
                  for file in files_of(path)}
        found[job.name] = job.digest(stamps, _of(found, job.needs))
    return found


def _of(digests: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    return {name: digests[name] for name in names}


def _stamp(path: str) -> Any:
    """Size and time of change of a file; of a store, of the record that is written last."""
    record = os.path.join(path, "zarr.json")
    status = os.stat(record if os.path.isfile(record) else path)
    return [status.st_size, status.st_mtime_ns]


_CHILD = "import sys; from emdiam.batch.prepare import answer; answer(sys.argv[1], sys.argv[2])"


@dataclass(frozen=True)
class Question:
    """Can `command` run on the store? memory, arena : bytes, if limited. masters : as users write them."""

    command: str
    store: str
    method: str | None
    memory: int | None
    arena: int | None
    threads: int
    batch: int | None
    masters: str | None
    euler: bool | None
    on_cpu: bool


def question_of(job: Job, memory: int | None) -> Question:
    """What to ask about a job whose options are valid; its last file that is read is its store."""
    given = job.options
    batch, arena = given.get("batch"), given.get("arena")
    return Question(
        command=job.command, store=job.reads[-1], method=job.method, memory=memory,
        arena=None if arena is None else parse_size(str(arena)),
        threads=int(str(given.get("threads", len(os.sched_getaffinity(0))))),
        batch=None if batch is None else int(str(batch)), masters=_text(given.get("masters")),
        euler=True if given.get("euler") else None, on_cpu=given.get("device", "cpu") == "cpu")


def _text(value: str | bool | None) -> str | None:
    return value if isinstance(value, str) else None


def ask(questions: Sequence[Question]) -> list[str | None]:
    """For each question a sentence that says why not, or None. Raises RuntimeError if the process fails."""
    if not questions:
        return []
    with tempfile.TemporaryDirectory(prefix="emdiam-batch-") as folder:
        asked, told = Path(folder) / "questions.json", Path(folder) / "answers.json"
        asked.write_text(json.dumps([asdict(question) for question in questions]), encoding="utf-8")
        done = subprocess.run([sys.executable, "-c", _CHILD, str(asked), str(told)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, env=library_environment())
        if done.returncode != 0:
            raise RuntimeError(f"the check of the budgets left with {done.returncode}: {done.stderr.strip()[-500:]}")
        answers: list[str | None] = json.loads(told.read_text(encoding="utf-8"))
        return answers


def answer(asked: str, told: str) -> None:
    """Read questions from a JSON file and write the answers to another: the body of the process of `ask`."""
    questions = [Question(**item) for item in json.loads(Path(asked).read_text(encoding="utf-8"))]
    Path(told).write_text(json.dumps([why_not(question) for question in questions]), encoding="utf-8")


def why_not(question: Question) -> str | None:
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
    from ..runs.run import make_run
    from ..store.store import open_store

    if question.command not in ("exact", "approx") or not question.on_cpu:
        open_store(question.store).close()
        return
    switches: dict[str, Any] = {name: value for name, value in (("batch", question.batch), ("euler", question.euler))
                                if value is not None}
    common: dict[str, Any] = {"memory_bytes": question.memory, "arena_bytes": question.arena,
                              "threads": question.threads}
    default = EXACT[0] if question.command == "exact" else APPROXIMATIONS[0]
    for item in parse_masters(question.masters) if question.masters else (None,):
        masters = {} if item is None else {"masters": item}
        plan_one(question.store, make_run(question.method or default, {**switches, **masters},
                                          family=question.command, **common))
