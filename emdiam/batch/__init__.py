"""Batches: jobs from one file, checked before the first one starts, with results saved as jobs end, and resumable."""

from .prepare import Batch, InvalidJobs, prepare, summary_text
from .run import batch
from .settings import BatchOptions

__all__ = ["Batch", "BatchOptions", "InvalidJobs", "batch", "prepare", "summary_text"]
