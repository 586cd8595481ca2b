"""Which job needs which: what a file says itself, and who makes what another reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from .job import Job, Problem


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
    linked = [replace(job, needs=_needs(job, makers, names)) for job in jobs]
    return _without_circles(linked, problems)


def _needs(job: Job, makers: dict[str, Job], names: set[str]) -> tuple[str, ...]:
    implied = [makers[path].name for path in job.reads if path in makers and makers[path] is not job]
    return tuple(dict.fromkeys([need for need in job.needs if need in names] + implied))


def _without_circles(jobs: list[Job], problems: list[Problem]) -> list[Job]:
    """Each circle is told once, for every job of it."""
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
    left = list(jobs)
    while left:
        ready = next(job for job in left if all(need in done for need in job.needs))
        done[ready.name] = ready
        left.remove(ready)
    return list(done.values())
