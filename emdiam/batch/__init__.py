"""Many jobs from one file, for a night: checked before the first starts, kept as they end, gone on with."""

from .prepare import Batch, InvalidJobs, prepare, summary_text
from .run import batch
from .settings import BatchOptions

__all__ = ["Batch", "BatchOptions", "InvalidJobs", "batch", "prepare", "summary_text"]
