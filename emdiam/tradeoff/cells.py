"""What is kept of a cell: one JSON file each, so that a grid that was stopped goes on where it was.

A file holds the cell, the store's digest, the options that its figures depend on, how the run ended,
and its result. It is written when the run has ended, under another name first, so that it is whole or
not there. Cells of another store or with other options are refused: they do not belong in one table.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._version import __version__
from ..dask.setting import OnCluster
from ..durable import write_whole
from ..errors import InputError
from .grid import Cell

FOLDER = "cells"
ENDED, STOPPED, FAILED = "ended", "stopped", "failed"


@dataclass(frozen=True)
class CellOptions:
    """Options that every run of a grid gets, as those of emdiam.api_approx.ApproxRun. iterations : of
    sweep, spanning and fringe; None: each method's own. euler, levels, scratch : of clusters.
    time_limit : wall seconds of each cell. checkpoints : folder for those of cells that are stopped, which then
    go on from them; None: a cell begins again. checkpoint_every : seconds between those inside a traversal.
    cluster : workers that every run is shared out to."""

    memory_bytes: int | None = None
    arena_bytes: int | None = None
    threads: int = 2
    evict_page_cache: bool = False
    iterations: int | None = None
    euler: bool = False
    levels: int | None = None
    scratch: str | None = None
    time_limit: float | None = None
    checkpoints: str | None = None
    checkpoint_every: float | None = None
    cluster: OnCluster | None = None

    def identity(self) -> dict[str, Any]:
        """What the figures depend on, and the version. Not the time limit: a cell that ended within it
        is one that ended."""
        free = ("scratch", "time_limit", "checkpoints", "checkpoint_every")
        return {**{name: value for name, value in asdict(self).items() if name not in free}, "version": __version__}


@dataclass(frozen=True)
class CellRecord:
    """One cell that was run. options : CellOptions.identity(). status : ENDED; STOPPED by the time limit
    (`result` has the interval by then, or is None); FAILED. reason : a clause, unless it ended. result :
    what the command printed with --json. wall_seconds : of the process, its start included."""

    cell: Cell
    store_digest: str
    options: dict[str, Any]
    status: str
    reason: str | None
    exit_code: int
    wall_seconds: float
    time_limit: float | None
    result: dict[str, Any] | None

    def counts(self, time_limit: float | None, retry: bool) -> bool:
        """Whether the cell need not be run again: one that was stopped is, if there is more time now, and
        with `retry` all that did not end."""
        if self.status == ENDED:
            return True
        more = self.time_limit is not None and (time_limit is None or time_limit > self.time_limit)
        return not retry and not (self.status == STOPPED and more)


def write_record(folder: Path, record: CellRecord) -> Path:
    """Keep the record in `folder`; returns its file. Raises OSError."""
    path = folder / f"{record.cell.name}.json"
    write_whole(path, json.dumps(asdict(record), indent=1, allow_nan=False) + "\n")
    return path


def read_records(folder: Path, store_digest: str, options: dict[str, Any]) -> dict[str, CellRecord]:
    """The cells in `folder` by name, those of a smaller or larger grid included.

    Raises InputError for a file that is none of ours, and for cells of another store or other options.
    """
    records = {}
    for path in sorted(folder.glob("*.json")):
        record = _read(path)
        if record.store_digest != store_digest:
            raise InputError("this folder holds cells of another store", path=folder.parent,
                             remedy="choose another folder, or delete this one")
        differing = [f"{name} {record.options.get(name)!r} instead of {value!r}"
                     for name, value in options.items() if record.options.get(name) != value]
        if differing:
            raise InputError("this folder holds cells with other options: " + ", ".join(differing),
                             path=folder.parent, remedy="give the same ones, choose another folder, or delete this one")
        records[record.cell.name] = record
    return records


def _read(path: Path) -> CellRecord:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        record = CellRecord(**{**data, "cell": Cell(**data["cell"])})
        if path.stem != record.cell.name or record.status not in (ENDED, STOPPED, FAILED):
            raise ValueError(f"{record.cell.name}, {record.status}")
        if record.status == ENDED and record.result is None:
            raise ValueError("no result")
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"this is not a cell of a trade-off ({error})", path=path,
                         remedy="delete it, and it will be run again") from None
    return record
