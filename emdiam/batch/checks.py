"""What can be wrong with the files and budgets of jobs, before the first one starts."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..addresses import is_url
from ..durable import check_above, check_file, check_folder, check_scratch
from ..errors import InputError
from .commands import READS
from .forecast import ask, question_of
from .job import Job, Problem
from .jobfile import JobFile

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
