"""The plan of jobs, for people and as data, without running one."""

from __future__ import annotations

from typing import Any

from ..addresses import redacted
from .answers import size_text
from .checks import given_memory
from .prepare import Prepared
from .summary import table_text


def jobs_data(prepared: Prepared) -> dict[str, Any]:
    """Plain dict, ready for JSON; jobs in an order in which they can run."""
    file = prepared.file
    return {
        "jobs_file": str(file.path), "out": str(file.settings.out), "memory_limit_bytes": file.settings.memory,
        "parallel": file.settings.parallel,
        "jobs": [{
            "job": job.name, "digest": prepared.digests[job.name], "command": ["emdiam", *map(redacted, job.arguments)],
            "needs": list(job.needs), "reads": [redacted(path) for path in job.reads], "writes": list(job.writes),
            "memory": given_memory(job, file), "time_limit": job.time_limit, "state": _state(prepared, job.name),
            "sentence": prepared.faulty.get(job.name),
        } for job in prepared.jobs],
    }


def _state(prepared: Prepared, name: str) -> str:
    """What would become of the job."""
    if name in prepared.faulty:
        return "cannot run"
    kept = prepared.kept.get(name)
    return "to run" if kept is None else f"{kept.status} before"


def jobs_text(prepared: Prepared) -> str:
    """A table, and the command lines."""
    data = jobs_data(prepared)
    rows: list[tuple[str, ...]] = [
        (job["job"], job["state"], size_text(job["memory"]),
         "" if job["time_limit"] is None else f"{job['time_limit']:g} s", ", ".join(job["needs"]))
        for job in data["jobs"]]
    lines = table_text(("job", "state", "memory", "time limit", "needs"), rows, right=(2, 3))
    commands = [f"{job['job']}: {job['sentence'] or ' '.join(job['command'])}" for job in data["jobs"]]
    return "\n".join([*lines, "", *commands])
