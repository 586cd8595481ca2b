"""The checks before the first job starts: the order of the jobs and all errors; and the plan and summary of a batch.

This module checks files and folders. A separate process checks for all jobs at once whether they can run on existing
stores, and ends: the library takes memory, and a batch runs as long as its jobs.

The output of a batch: the plan of its jobs before the first one runs, a table at the end, and an exit code.
"""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click

from ..durable import check_above, check_file, check_folder, check_scratch
from ..errors import EmdiamError, InputError, StoppedEarly, is_url, redacted
from ..progress import bounds_text
from ..runs.registry import METRICS
from ..tables import table_text
from ..terms import in_keys
from ..units import format_count, format_seconds, format_size
from .attempt import (
    DONE,
    FAILED,
    NAME,
    SKIPPED,
    STATUSES,
    STOPPED,
    AttemptRecord,
    JobState,
    library_environment,
    read_results,
)
from .jobfile import STORED, JobFile, read_job_file
from .settings import BatchOptions, Job, Makers, Problem, in_order


class InvalidJobs(InputError):
    """A jobs file with errors; `problems` has all of them, and the message a line for each."""

    lines = True

    def __init__(self, shown: str, problems: list[Problem], *, wholly: bool) -> None:
        self.problems = problems
        lines = [f"  {problem.sentence(shown)}" for problem in problems]
        hint = "" if wholly else "\n--keep-going runs the jobs that nothing is wrong with"
        many = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
        super().__init__(f"{many}, and nothing was started:\n" + "\n".join(lines) + hint)


@dataclass
class Prepared:
    """file : the parsed file. jobs : each after the jobs that it needs. digests : by job. faulty : by job, the reason
    why it cannot run. reusable : records of jobs that need not run again."""

    file: JobFile
    jobs: list[Job]
    digests: Mapping[str, str]
    faulty: Mapping[str, str]
    reusable: Mapping[str, AttemptRecord]


def prepare(path: str | Path, group: click.Group, options: BatchOptions) -> Prepared:
    """Read and check a jobs file. group : the command line. Writes nothing.

    Raises InvalidJobs for errors; with keep_going only for errors that concern the whole file.
    """
    file = read_job_file(path, group, options)
    jobs = in_order(file.jobs)
    made = Makers(jobs, file.settings.out)
    file.problems += check_files(jobs, file.faulty(), JobState(file.settings.out).owned, made)
    records, _, _ = read_results(file.settings.out / NAME)
    known = digests(jobs, made)
    reusable: dict[str, AttemptRecord] = {}
    skipped: set[str] = set()  # again, since the jobs that they need have not changed
    for job in jobs:
        record = records.get(job.name)
        if record is None:
            continue
        if record.status == SKIPPED and any(
                need in skipped or (need in reusable and reusable[need].status != DONE) for need in job.needs):
            skipped.add(job.name)
        elif all(name in reusable or name in skipped for name in job.after) and _counts(
                record, known[job.name], job, file.settings.memory_of(job), options):
            reusable[job.name] = record
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


def _counts(record: AttemptRecord, digest: str, job: Job, memory: int | None, options: BatchOptions) -> bool:
    """Whether a job need not run again; it must if an output file was deleted."""
    return record.counts(digest, (memory, job.time_limit), options.retry) and not (
        record.status == DONE and any("://" not in path and not Path(path).exists() for path in job.writes))


# Commands that refuse an existing target without --force.
_REFUSING = ("convert", "generate", "apply", "reorder", "apsp")
# Checks of output paths, by command; other commands write any path.
_PLACES = {**dict.fromkeys(("exact", "ecc", "distances", "sssp"), check_file), "tradeoff": check_folder}


def files_of(path: str) -> list[str]:
    """The files of a name: the file itself, or all matches of a pattern."""
    return [path] if os.path.lexists(path) else sorted(glob.glob(path))


def check_files(jobs: Sequence[Job], faulty: Mapping[str, str], owned: set[str], made: Makers) -> list[Problem]:
    """Errors for input files that neither exist nor are made by a job, and for existing stores that block an output.
    faulty : jobs that are not checked. owned : paths that earlier runs of the batch have made."""
    problems = []
    for job in jobs:
        if job.name in faulty:
            continue
        for path in job.reads:
            if "://" not in path and not files_of(path) and not made.of(path) and not made.are_results(path):
                kind = "store" if job.command in STORED and path == job.reads[-1] else "file"
                problems.append(Problem(f"there is no {kind} {path}, and no job makes it", job.line, job.name))
        if job.command in _REFUSING and not job.options.get("force"):
            problems += [Problem(f"{path} exists already; give the option force = true to replace it, or delete it",
                                 job.line, job.name)
                         for path in job.writes if os.path.lexists(path) and path not in owned]
    return problems


def check_places(jobs: Sequence[Job], folder: Path) -> list[Problem]:
    """Errors for outputs that cannot be written. folder : working folder of the jobs. Missing folders are created
    before a job starts, except the folder of its scratch files."""
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
    """Errors for options that do not go together, for existing stores that do not open, and for memory that is too
    small for the method on a store.

    jobs : jobs to check. Raises RuntimeError if the checking process fails.
    """
    made = Makers(file.jobs, file.settings.out)
    asked = [(job, not made.of(job.reads[-1]) and (is_url(job.reads[-1]) or bool(files_of(job.reads[-1]))))
             for job in jobs if job.reads and job.command in STORED]
    asked = [(job, exists) for job, exists in asked if exists or job.command in _TASKS]
    answers = ask([question_of(job, file.settings.memory_of(job), exists) for job, exists in asked])
    return [Problem(in_keys(text), job.line, job.name)
            for (job, _), text in zip(asked, answers, strict=True) if text is not None]


def digests(jobs_in_order: Sequence[Job], made: Makers) -> dict[str, str]:
    """By job, the digest of its computation. It changes with a job that it waits for, and with an input that no job
    makes. jobs_in_order : each after the jobs that it waits for."""
    result: dict[str, str] = {}
    for job in jobs_in_order:
        stamps = {file: _stamp(file) for path in job.reads if "://" not in path and not made.of(path)
                  and not made.are_results(path) for file in files_of(path)}
        result[job.name] = job.digest(stamps, {name: result[name] for name in (*job.needs, *job.after)})
    return result


def _stamp(path: str) -> Any:
    """Size and modification time of a file; of a store, of its record, which is written last."""
    record = os.path.join(path, "zarr.json")
    status = os.stat(record if os.path.isfile(record) else path)
    return [status.st_size, status.st_mtime_ns]


# The checking process: questions on standard input, answers in the last line of its output.
_CHILD = ("import json, sys; from emdiam.batch.prepare import Question, answer;"
          "from emdiam.cli.batch import check_task;"
          "print(json.dumps([answer(Question(**one), check_task) for one in json.load(sys.stdin)]))")

# Options that change the memory of a run.
_OF_PLANS = ("arena", "threads", "batch", "masters", "euler")


# Commands on stores with or without directions.
_EITHER = ("apply", "verify", "info", "plan", "sssp", "apsp")
# Commands that run a task.
_TASKS = tuple({command: None for row in METRICS.values() for command in row.kinds})
# Commands that need a store, not a file with edges.
_STORES_ALONE = ("apply", "reorder", "tradeoff")


@dataclass(frozen=True)
class Question:
    """Can `command` run on the store ("": it does not exist yet), with `method` or the command's default? options : of
    the plan, as texts; None: on a GPU, which has no plan beforehand. directed : whether the store must have directions;
    None: any. weighted : whether it must have weights. weight : their name; "": any. words : the command line, to check
    its options."""

    command: str
    store: str
    method: str | None
    options: dict[str, Any] | None
    directed: bool | None = False
    weighted: bool = False
    weight: str = ""
    words: Sequence[str] = ()


def question_of(job: Job, memory: int | None, exists: bool = True) -> Question:
    """The question for a job with valid options; its store is the last file that it reads. exists : whether there is
    one yet."""
    chosen = {name: job.options[name] for name in _OF_PLANS if name in job.options}
    directed, name = bool(job.options.get("directed")), str(job.options.get("weight", ""))
    weighted = bool(name or job.options.get("weighted"))
    planned = job.options.get("device", "cpu") == "cpu"
    return Question(job.command, job.reads[-1] if exists else "", job.method,
                    {"memory": memory, **chosen} if planned else None,
                    None if job.command in _EITHER else directed, weighted, name, job.arguments)


def ask(questions: Sequence[Question]) -> list[str | None]:
    """For each question None, or the reason why not. Raises RuntimeError if the process fails."""
    if not questions:
        return []
    done = subprocess.run([sys.executable, "-c", _CHILD], capture_output=True, text=True, env=library_environment(),
                          input=json.dumps([asdict(question) for question in questions]))
    if done.returncode != 0:
        raise RuntimeError(f"the check of the budgets left with {done.returncode}: {done.stderr.strip()[-500:]}")
    return list(json.loads(done.stdout.splitlines()[-1]))


def answer(question: Question, check_task: Callable[..., None]) -> str | None:
    """The error if its options do not go together, the store does not open or the memory is too small for the method;
    else None. check_task : raises the first for the words of a command line."""
    try:
        if question.words and question.command in _TASKS and question.options is not None:
            check_task(*question.words)
        _try(question)
    except (EmdiamError, OSError) as error:
        return str(error)
    return None


def _try(question: Question) -> None:
    """Open the store, and plan the run, if possible. Raises InputError, OSError."""
    from ..caller import is_store
    from ..methods.approx.masters import parse_masters
    from ..runs.plan import plan_one
    from ..runs.task import task_of
    from ..store.store import check_weighted, open_store

    if not question.store or (question.command not in _STORES_ALONE and not is_store(question.store)):
        return  # the job will convert the file
    with open_store(question.store, directed=question.directed) as store:
        if question.weighted:
            check_weighted(store, question.weight)
        if question.command not in ("exact", "approx") or question.options is None:
            return
        masters = question.options.get("masters")
        for item in parse_masters(masters) if masters else (None,):
            wanted = {**question.options, "masters": item, "directed": question.directed, "weighted": question.weighted}
            plan_one(store, task_of(question.command, wanted, question.method))


@dataclass
class Batch:
    """The result of a batch. jobs_file, out : paths. memory_limit_bytes : limit of all parallel jobs together, or None.
    records : of the jobs in the order of the file; jobs that did not start have none. n_jobs : jobs of the file.
    n_reused : jobs that were done before. interrupted : stopped by the user. messages : sentences for the user."""

    jobs_file: str
    out: str
    memory_limit_bytes: int | None
    parallel: int
    n_jobs: int
    records: list[AttemptRecord] = field(default_factory=list)
    n_reused: int = 0
    interrupted: bool = False
    messages: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Number of jobs by status; "left" counts jobs that did not start."""
        counts = {status: sum(record.status == status for record in self.records) for status in STATUSES}
        return {**counts, "left": self.n_jobs - len(self.records)}

    @property
    def exit_code(self) -> int:
        """0: all done; 2: a job failed or was skipped; 3: a job or the batch was stopped early."""
        counts = self.counts()
        if self.interrupted:
            return StoppedEarly.exit_code
        if counts[FAILED]:
            return InputError.exit_code
        return StoppedEarly.exit_code if counts[STOPPED] or counts[SKIPPED] or counts["left"] else 0

    def to_dict(self) -> dict[str, Any]:
        """Plain dict, ready for JSON, without the records of jobs."""
        data = asdict(self)
        del data["records"]
        return {**data, "counts": self.counts(), "exit_code": self.exit_code}


def answer_text(result: dict[str, Any] | None) -> str:
    """The answer of a job in a few words; "" if there is none."""
    if result is None:
        return ""
    if isinstance(result.get("runs"), list):
        return "; ".join(filter(None, map(answer_text, result["runs"])))
    if "verified" in result:
        return "proved" if result["verified"] else "not proved"
    if result.get("lower") is not None:
        radius = result.get("radius")
        return _bounds_text(result) + ("" if radius is None else f", radius {radius:,}")
    return next((text(result) for name, text in _ANSWERS.items() if result.get(name) is not None), "")


def _sizes_text(result: dict[str, Any]) -> str:
    """Vertices and edges of a graph."""
    return (f"{format_count(result.get('n_vertices', 0), 'vertex', 'vertices')},"
            f" {format_count(result.get('n_edges', 0), 'edge')}")


def _search_text(result: dict[str, Any]) -> str:
    """The result of a search from one vertex."""
    if result.get("target") is not None:
        return "no path" if result.get("distance") is None else f"distance {result['distance']:,}"
    return f"{result['reached']:,} reached, the farthest at {result.get('largest_distance', 0):,}"


# Field of a result, and its text in a few words; the first existing field counts.
_ANSWERS: dict[str, Callable[[dict[str, Any]], str]] = {
    "files": lambda result: ", ".join(map(str, result["files"])),
    "record": lambda result: _sizes_text(result["record"]),
    "n_cells": lambda result: format_count(result["n_cells"], "run"),
    "mean": lambda result: f"mean {result['mean']:.4g}, effective diameter {result.get('effective_diameter', 0):.4g}",
    "reached": _search_text,
    "largest_distance": lambda result: f"largest distance {result['largest_distance']:,}",
    "methods": lambda result: format_count(len(result["methods"]), "method"),
    "kernels": lambda result: f"{format_count(result['kernels'], 'kernel')} compiled",
    "n_vertices": _sizes_text,
}


def _bounds_text(result: dict[str, Any]) -> str:
    text, estimate = bounds_text(result["lower"], result.get("upper")), result.get("estimate")
    if result.get("strongly_connected") is False:
        text += f" (finite distances; {result.get('n_strong_components', 0):,} strong components)"
    elif result.get("connected") is False:
        largest = result.get("diameter_largest_component")
        several = (result.get("details") or {}).get("several_largest_components")
        text += f" ({result.get('n_components', 0):,} components{', several of the largest size' if several else ''}"
        text += ")" if largest in (None, result.get("upper")) else (
            f"; {'one of these' if several else 'largest component'}: {largest:,})")
    return text if estimate is None else f"{text}, method's estimate {estimate:,}"


def _size_text(size: int | None) -> str:
    return "" if size is None else format_size(size)


def summary_text(batch: Batch) -> str:
    """The table, a line for each job that is not done, and the totals."""
    rows = [
        (record.job, record.status, format_seconds(record.seconds) if record.attempts else "",
         _size_text(record.peak_rss_bytes), answer_text(record.result))
        for record in batch.records]
    table = table_text(("job", "status", "time", "peak memory", "answer"), rows, left=(0, 1, 4))
    sentences = [f"{record.job}: {record.sentence}" for record in batch.records
            if record.status != DONE and record.sentence]
    counts = ", ".join(f"{count:,} {status}" for status, count in batch.counts().items() if count)
    return "\n".join([table, *([""] if sentences else []), *sentences, "",
                      f"{format_count(batch.n_jobs, 'job')}: {counts}"])


def waits_text(needs: Sequence[str], after: Sequence[str] = ()) -> str:
    """The jobs that a job waits for, in words."""
    return ", ".join([*needs, *([f"the end of {format_count(len(after), 'other job')}"] if after else [])])


def jobs_data(prepared: Prepared) -> dict[str, Any]:
    """Plain dict, ready for JSON; jobs in a possible order of execution."""
    file = prepared.file
    return {
        "jobs_file": str(file.path), "out": str(file.settings.out), "memory_limit_bytes": file.settings.memory,
        "parallel": file.settings.parallel,
        "jobs": [{
            "job": job.name, "digest": prepared.digests[job.name], "command": ["emdiam", *map(redacted, job.arguments)],
            "needs": list(job.needs), "after": list(job.after), "reads": [redacted(path) for path in job.reads],
            "writes": list(job.writes), "memory": file.settings.memory_of(job), "time_limit": job.time_limit,
            "state": "cannot run" if job.name in prepared.faulty else "to run" if job.name not in prepared.reusable
            else f"{prepared.reusable[job.name].status} before",
            "sentence": prepared.faulty.get(job.name),
        } for job in prepared.jobs],
    }


def jobs_text(prepared: Prepared) -> str:
    """A table, and the command lines."""
    data = jobs_data(prepared)
    rows = [
        (job["job"], job["state"], _size_text(job["memory"]),
         "" if job["time_limit"] is None else format_seconds(job["time_limit"]), waits_text(job["needs"], job["after"]))
        for job in data["jobs"]]
    table = table_text(("job", "state", "memory", "time limit", "needs"), rows, left=(0, 1, 4))
    commands = [f"{job['job']}: {job['sentence'] or ' '.join(job['command'])}" for job in data["jobs"]]
    return "\n".join([table, "", *commands])
