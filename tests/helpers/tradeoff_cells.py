"""Cells of trade-offs that were not really run, for tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from emdiam.batch.attempt import FAILED
from emdiam.report import cells
from emdiam.report.cells import Cell, CellRecord
from emdiam.report.tradeoff_table import fill
from emdiam.runs.tradeoff import ENDED, Tradeoff
from emdiam.store.store import open_store


def result(lower: int = 10, upper: int = 20, estimate: int = 15, seconds: float = 2.0, **more: Any) -> dict[str, Any]:
    """What a command prints, with what a trade-off looks at."""
    return {
        "lower": lower, "upper": upper, "exact": lower == upper, "estimate": estimate, "store_digest": "d",
        "seconds": {"total": seconds + 9, "solve": seconds + 8.75, "compile": 9, "load": 0.25, "verify": 0.0},
        "traversals": {"bfs": 2, "multi_source": 1, "multi_source_sources": 9, "partial": 0}, "edges_scanned": 5,
        "bytes_read": 100, "peak_rss_bytes": 7, "planned_rss_bytes": 8, "memory_limit_bytes": 9,
        "details": {"counters": {"passes": 3}, "stage_seconds": {}}, **more}


def record(cell: Cell, status: str = ENDED, *, limit: float | None = None, **more: Any) -> CellRecord:
    """A record of a cell; its result as `result` takes it, none if it failed."""
    return CellRecord(cell, "d", {}, status, None if status == ENDED else "why", 0, 1.0, limit,
                      None if status == FAILED else result(**more))


def summary_of(*records: CellRecord, known: int | None = None) -> Tradeoff:
    """The summary of cells that were not run."""
    summary = Tradeoff("g.zarr", "d", 1000, 2000, {}, n_cells=len(records))
    fill(summary, [(one.cell, one) for one in records], known)
    return summary


def scripted(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let every cell be a Python script."""
    monkeypatch.setattr(cells, "command_of", lambda store, cell, options: [sys.executable, "-c", script])


def digest_of(store: Path) -> str:
    """Digest of the store at a path."""
    with open_store(store) as opened:
        return opened.digest
