"""A job as it is shown while its batch runs, and what its events tell of it by then."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from ..phases import WORDS
from ..progress import bounds_text, joined


class JobLine(NamedTuple):
    """A job as it is shown while the batch runs. answer : in a few words, or what is known or done by now. peak : bytes
    of memory, if known."""

    job: str
    state: str
    answer: str = ""
    seconds: float = 0.0
    peak: int | None = None


_EVENTS_TAIL = 4096


def doing(events: Path) -> str:
    """The bounds that the last events of a run tell, what it does, and how much of it is done where the whole is known;
    "" if they tell nothing."""
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
        except (ValueError, AttributeError):  # torn, or the end of one
            continue
    return joined(bounds_text(lower, upper), WORDS.get(phase, phase) + share)
