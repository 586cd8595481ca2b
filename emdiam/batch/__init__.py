"""Many jobs from one file, for a night: checked before the first starts, kept as they end, gone on with."""

from .folder import Record, read_record, read_results
from .job import Job, Problem
from .prepare import InvalidJobs, Prepared, prepare
from .run import batch
from .settings import BatchOptions
from .summary import Batch, summary_text

__all__ = [
    "Batch", "BatchOptions", "InvalidJobs", "Job", "Prepared", "Problem", "Record", "batch", "prepare",
    "read_record", "read_results", "summary_text",
]
