"""The file of rows of a part: lines of JSON, written as they come, from which a part goes on.

Beside rows there are {"begun": NAME, "of": SUBJECT} before the row of a cell, {"died": HOW, "said": END} in the place
of the row of a cell that ended its process, {"lost": SUBJECT} after a cell in which the device was lost, {"stopped":
true} where the process was ended from outside in a cell, and {"ended": SECONDS} behind the last row.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

from .setting import NO_TIME, Row, Subject

MARKS = frozenset(("begun", "died", "lost", "stopped", "ended"))
# What comes behind the beginning of a cell that has no row.
NO_ROW = frozenset(("begun", "died", "ended"))


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
    """The cells that are not to be begun again: all that were begun, but one that was stopped from outside, and those
    that were passed over for good."""
    lines = lines_of(file)
    begun = {line["begun"] for line, after in pairwise([*lines, {}]) if "begun" in line and "stopped" not in after}
    passed = {" ".join(str(value) for name, value in row.items() if name != "skipped")
              for before, row in pairwise([{}, *lines])
              if "begun" not in before and "skipped" in row and not _is_late(row)}
    return frozenset(begun | passed)


def cell_under_way(file: Path) -> str | None:
    """The cell that was begun last, if nothing came of it."""
    lines = lines_of(file)
    return str(lines[-1]["begun"]) if lines and "begun" in lines[-1] else None


def deaths(file: Path) -> list[str]:
    """A sentence for each cell that ended its process, also in runs before this one."""
    return [f"the process {after['died']} in the cell: {line['begun']}. {after['said']}".strip()
            for line, after in pairwise(lines_of(file)) if "died" in after]


def dead_subjects(folder: Path) -> frozenset[Subject]:
    """The subjects that ended a process, by all files of rows in the folder: their cell has no row, or the device
    was lost after it."""
    dead = set[Subject]()
    for file in sorted(folder.glob("*.jsonl")):
        for line, after in pairwise([*lines_of(file), {}]):
            if "begun" in line and "of" in line and (not after or not NO_ROW.isdisjoint(after)):
                dead.add(tuple(line["of"]))
            if line.get("lost"):
                dead.add(tuple(line["lost"]))
    return frozenset(dead)


def mended(file: Path, again: bool = False) -> None:
    """Drop a line that was cut short, so that others can follow. again : a new run goes on: a cell that was under
    way is begun again, and so are those for which there was no time, or not enough."""
    lines = lines_of(file)
    if again:
        late = has_late(file)
        lines = [{"stopped": True} if _is_late(line) else line for before, line in pairwise([{}, *lines])
                 if not (_is_late(line) and "begun" not in before) and not ("ended" in line and late)]
        if lines and "begun" in lines[-1]:
            lines.append({"stopped": True})
    fresh = file.with_suffix(".new")
    fresh.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    fresh.replace(file)


def has_late(file: Path) -> bool:
    """Whether there was no time for some cell, which a run that goes on does."""
    return any(_is_late(line) for line in lines_of(file))


def _is_late(line: dict[str, Any]) -> bool:
    """Whether it is the row of a cell that there was no time for."""
    return line.get("skipped") == NO_TIME


def ended(file: Path) -> float | None:
    """The seconds that the part took, if it came to its end."""
    lines = lines_of(file)
    return float(lines[-1]["ended"]) if lines and "ended" in lines[-1] else None
