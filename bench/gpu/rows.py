"""The file of rows of a part: lines of JSON, written as they come, from which a part goes on.

Beside rows there are {"begun": NAME, "of": SUBJECT} before the row of a cell, {"lost": SUBJECT} after a cell in
which the device was lost, {"stopped": true} where the process was ended from outside in a cell, and {"ended":
SECONDS} behind the last row.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

from .setting import NO_TIME, Row, Subject

MARKS = frozenset(("begun", "lost", "stopped", "ended"))


def write_line(file: TextIO, value: Any) -> None:
    """Append a line, for others to read at once."""
    file.write(json.dumps(value) + "\n")
    file.flush()


def lines_of(file: Path) -> list[dict[str, Any]]:
    """The whole lines of a file of rows; a last one that was cut short is left out."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1]]


def rows_of(file: Path) -> list[Row]:
    """The rows alone."""
    return [line for line in lines_of(file) if MARKS.isdisjoint(line)]


def names_begun(file: Path) -> frozenset[str]:
    """The cells that are not to be begun again: all that were begun, but one that was stopped from outside."""
    return frozenset(line["begun"] for line, after in pairwise([*lines_of(file), {}])
                     if "begun" in line and "stopped" not in after)


def dead_subjects(folder: Path) -> frozenset[Subject]:
    """The subjects that ended a process, by all files of rows in the folder: their cell has no row, or the device
    was lost after it."""
    dead = set[Subject]()
    for file in sorted(folder.glob("*.jsonl")):
        for line, after in pairwise([*lines_of(file), {}]):
            if "begun" in line and "of" in line and (not after or "begun" in after or "ended" in after):
                dead.add(tuple(line["of"]))
            if line.get("lost"):
                dead.add(tuple(line["lost"]))
    return frozenset(dead)


def mended(file: Path, again: bool = False) -> None:
    """Drop a line that was cut short, so that others can follow. again : a new run goes on: a cell that was under
    way is begun again, and so are those for which there was no time."""
    lines = lines_of(file)
    if again:
        lines = [line for line in lines if line.get("skipped") != NO_TIME and not ("ended" in line and _late(lines))]
        if lines and "begun" in lines[-1]:
            lines.append({"stopped": True})
    fresh = file.with_suffix(".new")
    fresh.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    fresh.replace(file)


def _late(lines: list[dict[str, Any]]) -> bool:
    """Whether there was no time for some cell."""
    return any(line.get("skipped") == NO_TIME for line in lines)


def ended(file: Path) -> float | None:
    """The seconds that the part took, if it came to its end."""
    lines = lines_of(file)
    return float(lines[-1]["ended"]) if lines and "ended" in lines[-1] else None
