"""The table: cells as dicts, kept as JSON after each of them, and shown a graph at a time."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emdiam.units import format_size

from .cells import (
    LEAST,
    ROUND,
    ROUND_BYTES,
    SUBJECTS,
    NoLeast,
    Subject,
    arguments,
    ends_itself,
    impossible,
    least_bytes,
    named_bytes,
    unproved,
)
from .graphs import SHAPES, Files, Shape
from .kept import Kept
from .process import Ended, call

# What a cell may have come to. STOPPED : by its time limit, the peak counts. REFUSED : with the least budget that would
# do. NONE : there is no such cell. FAILED : anything else.
ENDED, STOPPED, REFUSED, NONE, FAILED = "ended", "stopped", "refused", "none", "failed"
_REFUSED, _STOPPED_EARLY = 2, 3


def measured(subject: Subject, files: Files, budget: str, seconds: float, least: int | None) -> dict[str, Any]:
    """A cell. least : the least budget, if it is known."""
    cell: dict[str, Any] = {"graph": files.shape.name, "subject": subject.name, "budget": budget}
    none = impossible(subject, files.shape) or unproved(subject, files)
    if none:
        return {**cell, "status": NONE, "said": none}
    try:
        least = least_bytes(subject, files, seconds) if least is None else least
    except NoLeast as error:
        return {**cell, "status": FAILED, "said": str(error)}
    limit = least if budget == LEAST else ROUND_BYTES
    while True:
        begin = time.monotonic()
        ended = call(arguments(subject, files, limit, seconds), None if ends_itself(subject) else seconds)
        named = _named(subject, ended)
        files.remove_written()
        if budget != LEAST or named is None or named <= limit or ended.peak_bytes > limit:
            break
        least = limit = named  # refused in the middle of the run, for what nobody could plan for
    least = max(least, named or 0)
    cell |= {"least_bytes": least, "limit_bytes": limit, "peak_bytes": ended.peak_bytes, "exit_code": ended.code,
             "seconds": round(time.monotonic() - begin, 1), "ratio": round(ended.peak_bytes / limit, 4)}
    return {**cell, **_outcome(subject, ended, limit < least)}


def _named(subject: Subject, ended: Ended) -> int | None:
    """The budget that a refusal for want of memory names, bytes: of the command, or of a cell of a trade-off."""
    said = [ended.said] if ended.code == _REFUSED else []
    if subject.command == "tradeoff" and ended.code == _STOPPED_EARLY:
        said = _failed(ended)
    return max(filter(None, map(named_bytes, said)), default=None)


def _failed(ended: Ended) -> list[str]:
    """Why cells of a trade-off have failed."""
    return [row["reason"] for row in json.loads(ended.out)["rows"] if row["status"] == FAILED]


def _outcome(subject: Subject, ended: Ended, too_little: bool) -> dict[str, Any]:
    """Status and what was said. too_little : the limit is below the least budget."""
    if ended.code in (0, None):
        return {"status": STOPPED if ended.code is None else ENDED, "said": ""}
    said = ended.said
    if subject.command == "tradeoff" and ended.code == _STOPPED_EARLY:
        said = "; ".join(_failed(ended))
        if said and not too_little:
            return {"status": FAILED, "said": said}
    if ended.code == _STOPPED_EARLY:
        return {"status": STOPPED, "said": said}
    return {"status": REFUSED if ended.code == _REFUSED and too_little else FAILED, "said": said}


class Table(Kept):
    """Cells by graph, subject and budget."""

    @classmethod
    def read(cls, path: Path, machine: dict[str, Any]) -> Table:
        """What there is, or an empty table measured on `machine`."""
        return cls.begun(path, machine=machine, started=time.strftime("%Y-%m-%dT%H:%M:%S%z"))

    def find(self, shape: Shape, subject: Subject, budget: str) -> dict[str, Any] | None:
        """The cell, if it is there."""
        key = (shape.name, subject.name, budget)
        return next((c for c in self.cells if (c["graph"], c["subject"], c["budget"]) == key), None)

    def has(self, shape: Shape, subject: Subject, budget: str) -> bool:
        """Whether the cell need not be run."""
        return self.find(shape, subject, budget) is not None

    def least_of(self, shape: Shape, subject: Subject) -> int | None:
        """The least budget, if a cell knows it."""
        cell = self.find(shape, subject, LEAST)
        return None if cell is None else cell.get("least_bytes")

    def faults(self) -> list[str]:
        """Cells whose peak passed the limit, and failures."""
        return [f"{c['graph']}, {c['subject']}, {c['budget']}: {c['status']} {c.get('ratio', '')} {c['said']}"
                for c in self.cells if c["status"] == FAILED or c.get("ratio", 0) > 1]

    def markdown(self) -> str:
        """A table a graph: least budget, peak and ratio there, peak and ratio at 512 MiB."""
        faults = [f"Above its limit or failed: {fault}\n" for fault in self.faults()]
        parts = ["# Peak memory against --memory\n", *faults]
        for shape in SHAPES:
            rows = [self._row(shape, subject) for subject in SUBJECTS if self.has(shape, subject, LEAST)]
            if rows:
                parts.append("\n".join([
                    f"## {shape.what}\n", f"| command | least budget | peak | ratio | peak at {ROUND} | ratio |",
                    "|---|---:|---:|---:|---:|---:|", *rows, ""]))
        return "\n".join(parts)

    def _row(self, shape: Shape, subject: Subject) -> str:
        least, fixed = self.find(shape, subject, LEAST), self.find(shape, subject, ROUND)
        assert least is not None
        limit = format_size(least["limit_bytes"]) if "limit_bytes" in least else "-"
        return f"| {subject.name} | {limit} | {_shown(least)} | {'- | -' if fixed is None else _shown(fixed)} |"


def _shown(cell: Mapping[str, Any]) -> str:
    """Peak and ratio, with a mark where the time limit ended it."""
    if cell["status"] == REFUSED:
        return f"refused, least {format_size(cell['least_bytes'])} | -"
    if "ratio" not in cell:
        return f"{cell['said']} | -"
    mark = {STOPPED: " *", FAILED: " (failed)"}.get(cell["status"], "")
    return f"{format_size(cell['peak_bytes'])}{mark} | {cell['ratio']:.2f}"
