"""Figures of runs as short texts; a dash where a run does not tell."""

from __future__ import annotations

from typing import Any

from ..units import format_seconds, format_size
from .records import Run

NONE = "–"
_LONGEST_ID, _LONGEST_PATH = 40, 12


def count(value: float | None) -> str:
    """A whole number with separators."""
    return NONE if value is None else f"{value:,.0f}"


def size(value: float | None) -> str:
    """Bytes with a binary unit."""
    return NONE if value is None else format_size(value)


def duration(value: float | None) -> str:
    """Seconds with three digits below a minute; minutes and hours from there on."""
    return NONE if value is None else format_seconds(value, 3)


def ratio(value: float | None) -> str:
    """A quotient with two decimals."""
    return NONE if value is None else f"{value:.2f}"


def bounds(run: Run) -> str:
    """The proved interval over all components."""
    lower, upper = run.number("lower"), run.number("upper")
    if lower is None or upper is None:
        return NONE
    text = f"D = {lower:,}" if lower == upper else f"{lower:,} ≤ D ≤ {upper:,}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def diameter(run: Run) -> str:
    """The diameter, in words where it is infinite or not known."""
    if run.result is None:
        return NONE
    if run.value("connected") is False:
        return f"infinite ({count(run.number('n_components'))} components)"
    found = run.number("diameter")
    if found is None and run.value("exact") is True:
        found = run.number("lower")
    return "not proved" if found is None else f"{found:,}"


def estimate(run: Run) -> str:
    """What an approximation reports."""
    return count(run.number("estimate"))


def witness(run: Run) -> str:
    """The two ends of the longest path that was found, in the user's ids."""
    if not isinstance(run.value("witness"), dict):
        return NONE
    ends = [shortened(run.value("witness", end)) for end in ("source", "target")]
    return f"{ends[0]} to {ends[1]}: {count(run.number('witness', 'length'))} edges"


def path(run: Run) -> str | None:
    """The witness's path, its middle left out where it is long; None where it is not in the result."""
    found = run.value("witness", "path")
    if not isinstance(found, list) or not found:
        return None
    ids = [shortened(one) for one in found]
    half = _LONGEST_PATH // 2
    return ", ".join(ids if len(ids) <= _LONGEST_PATH else [*ids[:half], "...", *ids[-half:]])


def shortened(value: Any) -> str:
    """An id of a user, cut where it is very long."""
    text = str(value)
    return text if len(text) <= _LONGEST_ID else text[: _LONGEST_ID - 1] + "…"


def traversals(run: Run) -> float | None:
    """BFS and multi-source BFS that an exact run or approximation took."""
    found = [run.number("traversals", kind) for kind in ("bfs", "multi_source")]
    return None if found[0] is None else found[0] + (found[1] or 0)
