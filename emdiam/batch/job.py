"""A job, what can be wrong with one, and which job needs which: what a file says itself, and who makes what another
reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ..addresses import redacted


@dataclass(frozen=True)
class Problem:
    """Something wrong in a jobs file. text : a sentence without a full stop. line : 1-based, if known.
    job : the name of the job that cannot run; None if no job can."""

    text: str
    line: int | None = None
    job: str | None = None

    def sentence(self, path: str = "") -> str:
        """With the place: FILE, line N: JOB: text."""
        place = ", line ".join(part for part in (path, str(self.line) if self.line else "") if part)
        return ": ".join(part for part in (place, self.job and f"job {self.job}", self.text) if part)


@dataclass(frozen=True)
class Job:
    """One command to run.

    name : unique, and the name of a folder. command : e.g. "exact". arguments : of the command line,
    from the command on, without what a batch adds. method : of exact and approx; None: the default.
    options : by their long names without dashes, as texts (True: a flag). reads, writes : absolute paths
    (or URLs). needs : names of jobs that must be done before. memory : bytes of --memory, if the file says.
    time_limit : seconds, if the file says. line : of its table, if known.
    """

    name: str
    command: str
    arguments: tuple[str, ...]
    method: str | None = None
    options: Mapping[str, str | bool] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    memory: int | None = None
    time_limit: float | None = None
    line: int | None = None

    def digest(self, stamps: Mapping[str, Any], digests: Mapping[str, str]) -> str:
        """Of what the job computes: equal digests, equal answers.

        stamps : of the files it reads that no job makes, by path. digests : of the jobs it needs. Limits
        of memory and time are not in it: they decide whether there is an answer, not which.
        """
        text = json.dumps([[*map(redacted, self.arguments)], sorted(stamps.items()), sorted(digests.items())])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def link(jobs: Sequence[Job], problems: list[Problem]) -> list[Job]:
    """The jobs in the order of the file with all their needs; unknown needs, files that two jobs write and
    circles are added to `problems`, and needs of a circle are left out."""
    makers: dict[str, Job] = {}
    names = {job.name for job in jobs}
    for job in jobs:
        for path in job.writes:
            first = makers.setdefault(path, job)
            if first is not job:
                problems.append(Problem(f"job {first.name} writes {path} too", job.line, job.name))
        for need in job.needs:
            if need not in names:
                problems.append(Problem(f"it needs {need!r}, and there is no such job", job.line, job.name))
    linked = []
    for job in jobs:
        implied = [makers[path].name for path in job.reads if makers.get(path, job) is not job]
        linked.append(replace(job, needs=tuple(dict.fromkeys([need for need in job.needs if need in names] + implied))))
    return _without_circles(linked, problems)


def _without_circles(jobs: list[Job], problems: list[Problem]) -> list[Job]:
    """Each circle is a problem once, for every job of it."""
    while True:
        try:
            TopologicalSorter({job.name: job.needs for job in jobs}).prepare()
        except CycleError as error:
            circle = list(error.args[1])
            shown = " needs ".join(reversed(circle))
            inside = set(circle)
            problems += [Problem(f"jobs need each other in a circle: {shown}", job.line, job.name)
                         for job in jobs if job.name in inside]
            jobs = [replace(job, needs=tuple(need for need in job.needs if need not in inside))
                    if job.name in inside else job for job in jobs]
        else:
            return jobs


def in_order(jobs: Sequence[Job]) -> list[Job]:
    """The jobs so that each comes after those it needs; otherwise in the order of the file."""
    done: dict[str, Job] = {}
    while len(done) < len(jobs):
        ready = next(job for job in jobs if job.name not in done and all(need in done for need in job.needs))
        done[ready.name] = ready
    return list(done.values())
