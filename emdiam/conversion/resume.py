"""What a conversion and a reordering need to go on from a checkpoint: what must be the same, and how much
memory it takes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..checkpoint.records import State
from ..errors import BudgetError, InputError, StoreError
from ..formats.source import EdgeBatch, EdgeSource
from ..sorting.checkpoint import Checkpoint
from ..store.store import open_store
from ..units import default_memory_bytes, format_size

# In a state: the record_digest of the store that is complete, or was when only its renaming was left.
DONE = "done"
ALREADY_DONE = "it was complete already; nothing was left to do"
_PINNED_BYTES = 1 << 16


def input_pins(source: EdgeSource) -> list[list[Any]]:
    """What tells the input from another one, for every file: path, bytes, time of change (ns) and a
    digest of its first and last 64 KiB; for a source that reads no files its name and what it declares.

    Raises InputError for an input that cannot be read twice.
    """
    if not source.rewindable:
        raise InputError("what comes through a pipe cannot be read again after a stop", path=source.name,
                         remedy="save it as a file, or convert without --checkpoint")
    paths: list[Path] = getattr(source, "paths", [])
    if paths:
        return [_pin(path) for path in paths]
    info = source.info()
    return [[source.name, info.format, info.id_kind, info.n_vertices, info.first_id]]


def _pin(path: Path) -> list[Any]:
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        digest.update(file.read(_PINNED_BYTES))
        file.seek(max(0, status.st_size - _PINNED_BYTES))
        digest.update(file.read(_PINNED_BYTES))
    return [str(path.absolute()), status.st_size, status.st_mtime_ns, digest.hexdigest()]


def memory_to_plan(named: int | None, checkpoint: Checkpoint | None) -> int:
    """Bytes of memory to plan for: as named, else what machine and cgroup leave, but on resuming no less than before,
    since what lies in the checkpoint was made for that much. Raises BudgetError where less was named."""
    before = 0 if checkpoint is None or checkpoint.state is None else int(checkpoint.state["memory"])
    if named is None:
        return max(before, default_memory_bytes())
    if named < before:
        raise BudgetError(f"the checkpoint was made with {format_size(before)} of memory, not {format_size(named)}",
                          remedy=f"give --memory {-(-before >> 20)}MiB or more, or begin anew")
    return named


def done_before(checkpoint: Checkpoint, target: Path) -> State | None:
    """The state of `checkpoint` if the store that it was about is complete at `target`, else None."""
    digest = None if checkpoint.state is None else checkpoint.state.get(DONE)
    if digest is None or not target.exists():
        return None
    try:
        with open_store(str(target)) as store:
            return checkpoint.state if store.record.record_digest == digest else None
    except StoreError:
        return None


def done_state(report: Mapping[str, Any]) -> State:
    """What is left of a conversion or reordering that is complete, from the dict of its report: enough to
    report it again."""
    rest = dict(report)
    return {DONE: rest.pop("record")["record_digest"], "memory": report["memory_limit_bytes"], "report": rest}


def without_first(batches: Iterator[EdgeBatch], n_pairs: int) -> Iterator[EdgeBatch]:
    """The batches without their first `n_pairs` pairs, which are read all the same."""
    left = n_pairs
    try:
        for batch in batches:
            skipped = min(left, len(batch.src))
            left -= skipped
            yield EdgeBatch(batch.src[skipped:], batch.dst[skipped:])
    finally:
        close = getattr(batches, "close", None)
        if close is not None:
            close()
