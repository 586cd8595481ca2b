"""Many jobs from one file, for a night: checked before the first starts, kept as they end, gone on with."""

from .prepare import InvalidJobs, prepare
from .run import batch
from .settings import BatchOptions
from .summary import Batch, summary_text

__all__ = ["Batch", "BatchOptions", "InvalidJobs", "batch", "prepare", "summary_text"]
