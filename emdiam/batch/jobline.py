"""The line of a job in the live table of a batch, and its progress from the events of its run."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..phases import WORDS, PhaseBook
from ..progress import Event, bounds_text, joined


class JobLine(NamedTuple):
    """The line of a job in the live table. answer : the answer in a few words, or the progress. peak : bytes of memory,
    if known."""

    job: str
    state: str
    answer: str = ""
    seconds: float = 0.0
    peak: int | None = None


_EVENTS_TAIL = 4096


def doing(events: Path) -> str:
    """The bounds, the current step, and its share done and time left (if known) from the last events of a run; ""
    without events."""
    try:
        with open(events, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _EVENTS_TAIL))
            lines = file.read().splitlines()
    except FileNotFoundError:
        return ""
    book, at, lower, upper = PhaseBook(), 0.0, None, None
    for line in lines:
        with suppress(ValueError, AttributeError, KeyError):  # an incomplete line, or a record without a phase
            record = json.loads(line)
            facts, at = record.get("facts", record), record.get("at", at)
            lower, upper = facts.get("lower", lower), facts.get("upper", upper)
            if record.get("record") != "traversal":
                book.take(Event(record["phase"], record.get("done"), record.get("total")), at)
    if book.latest is None:
        return ""
    done, total = book.latest.share() or (0, 0)
    share = f" ({100 * done / total:.0f} %)" if done and total else ""
    return joined(bounds_text(lower, upper), WORDS.get(book.latest.name, book.latest.name) + share,
                  book.latest.pace(at).partition(", ")[2])
