"""What a batch tells: the plan of its jobs before one runs, a table of them at its end, and an exit code."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ..addresses import redacted
from ..errors import InputError, StoppedEarly
from ..tables import table_text
from ..units import format_count, format_seconds, format_size
from .folder import DONE, FAILED, SKIPPED, STATUSES, STOPPED, Record
from .prepare import Prepared


@dataclass
class Batch:
    """A batch that was run. jobs_file, out : paths. memory_limit_bytes : for all jobs that run at once, if limited.
    records : of the jobs, in the order of the file; a job that did not begin has none. n_jobs : of the file.
    n_reused : jobs that were done before. interrupted : stopped by the user. messages : sentences for people."""

    jobs_file: str
    out: str
    memory_limit_bytes: int | None
    parallel: int
    n_jobs: int
    records: list[Record] = field(default_factory=list)
    n_reused: int = 0
    interrupted: bool = False
    messages: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Number of jobs by status; "left" are those that did not begin."""
        counts = {status: sum(record.status == status for record in self.records) for status in STATUSES}
        return {**counts, "left": self.n_jobs - len(self.records)}

    @property
    def exit_code(self) -> int:
        """0 all done, 2 a job failed (or was skipped for that), 3 stopped early: a job, or the batch."""
        counts = self.counts()
        if self.interrupted:
            return StoppedEarly.exit_code
        if counts[FAILED]:
            return InputError.exit_code
        return StoppedEarly.exit_code if counts[STOPPED] or counts[SKIPPED] or counts["left"] else 0

    def to_dict(self) -> dict[str, Any]:
        """Plain dict, ready for JSON: {"jobs": [...]} are the lines of results.jsonl that count."""
        data = asdict(self)
        return {**data, "counts": self.counts(), "exit_code": self.exit_code, "jobs": data.pop("records")}


def answer_text(result: dict[str, Any] | None) -> str:
    """The answer of a job in a few words; "" if there is none."""
    if result is None:
        return ""
    if isinstance(result.get("runs"), list):
        return "; ".join(filter(None, map(answer_text, result["runs"])))
    if "verified" in result:
        return "proved" if result["verified"] else "not proved"
    if result.get("lower") is not None:
        return _bounds_text(result)
    if isinstance(result.get("record"), dict):
        record = result["record"]
        return (f"{format_count(record.get('n_vertices', 0), 'vertex', 'vertices')},"
                f" {format_count(record.get('n_edges', 0), 'edge')}")
    return format_count(result["n_cells"], "run") if "n_cells" in result else ""


def _bounds_text(result: dict[str, Any]) -> str:
    lower, upper = result["lower"], result.get("upper")
    text = (f"D >= {lower:,}" if upper is None else f"D = {lower:,}" if lower == upper
            else f"{lower:,} <= D <= {upper:,}")
    if result.get("connected") is False:
        largest = result.get("diameter_largest_component")
        text += (f" ({result.get('n_components', 0):,} components"
                 + (")" if largest is None else f"; largest component: {largest:,})"))
    estimate = result.get("estimate")
    return text if estimate is None else f"{text}, paper's estimate {estimate:,}"


def _size_text(size: int | None) -> str:
    return "" if size is None else format_size(size)


def summary_text(batch: Batch) -> str:
    """The table, then a line for each job that is not done, then the sum."""
    rows = [
        (record.job, record.status, answer_text(record.result),
         format_seconds(record.seconds) if record.attempts else "", _size_text(record.peak_rss_bytes))
        for record in batch.records]
    table = table_text(("job", "status", "answer", "time", "peak memory"), rows, left=(0, 1, 2))
    sentences = [f"{record.job}: {record.sentence}" for record in batch.records
            if record.status != DONE and record.sentence]
    counts = ", ".join(f"{count:,} {status}" for status, count in batch.counts().items() if count)
    return "\n".join([table, *([""] if sentences else []), *sentences, "",
                      f"{format_count(batch.n_jobs, 'job')}: {counts}"])


def jobs_data(prepared: Prepared) -> dict[str, Any]:
    """Plain dict, ready for JSON; jobs in an order in which they can run."""
    file = prepared.file
    return {
        "jobs_file": str(file.path), "out": str(file.settings.out), "memory_limit_bytes": file.settings.memory,
        "parallel": file.settings.parallel,
        "jobs": [{
            "job": job.name, "digest": prepared.digests[job.name], "command": ["emdiam", *map(redacted, job.arguments)],
            "needs": list(job.needs), "reads": [redacted(path) for path in job.reads], "writes": list(job.writes),
            "memory": file.settings.memory_of(job), "time_limit": job.time_limit,
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
         "" if job["time_limit"] is None else format_seconds(job["time_limit"]), ", ".join(job["needs"]))
        for job in data["jobs"]]
    table = table_text(("job", "state", "memory", "time limit", "needs"), rows, left=(0, 1, 4))
    commands = [f"{job['job']}: {job['sentence'] or ' '.join(job['command'])}" for job in data["jobs"]]
    return "\n".join([table, "", *commands])
