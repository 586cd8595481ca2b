"""The line of a job in the live table of a batch, and its progress from the events of its run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from ..phases import WORDS
from ..progress import bounds_text, joined


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
    """The bounds, the current step, and its share done (if known) from the last events of a run; "" without events."""
    try:
        with open(events, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _EVENTS_TAIL))
            lines = file.read().splitlines()
    except FileNotFoundError:
        return ""
    phase, share, lower, upper = "", "", None, None
    for line in lines:
        try:
            record = json.loads(line)
            facts = record.get("facts", record)
            phase, lower, upper = record.get("phase", phase), facts.get("lower", lower), facts.get("upper", upper)
            done, total = record.get("done"), record.get("total")
            share = f" ({100 * done / total:.0f} %)" if done and total else ""
        except (ValueError, AttributeError):  # an incomplete line
            continue
    return joined(bounds_text(lower, upper), WORDS.get(phase, phase) + share)
