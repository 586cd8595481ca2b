"""Figures of runs as short texts; a dash where a run does not say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..units import format_seconds, format_size
from .records import Run

NONE = "–"
_LONGEST_ID, _LONGEST_PATH = 40, 12


def _or_dash(text: Callable[[float], str]) -> Callable[[float | None], str]:
    return lambda value: NONE if value is None else text(value)


# A whole number with separators; bytes with a binary unit; a duration.
count, size, duration = _or_dash(lambda value: f"{value:,.0f}"), _or_dash(format_size), _or_dash(format_seconds)


def ratio(value: float | None, divisor: float | None = 1) -> str:
    """A quotient with two decimals."""
    return NONE if value is None or not divisor else f"{value / divisor:.2f}"


def bounds(run: Run) -> str:
    """The proved bounds on the largest diameter of any component."""
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
    value = run.number("diameter")
    if value is None and run.value("exact") is True:
        value = run.number("lower")
    return "not proved" if value is None else f"{value:,}"


def witness(run: Run) -> str:
    """The two ends of the longest path that is known, in the user's ids."""
    if not isinstance(run.value("witness"), dict):
        return NONE
    ends = [shortened(run.value("witness", end)) for end in ("source", "target")]
    return f"{ends[0]} to {ends[1]}: {count(run.number('witness', 'length'))} edges"


def path(run: Run) -> str | None:
    """The witness's path, its middle left out where it is long; None where it is not in the result."""
    vertices = run.value("witness", "path")
    if not isinstance(vertices, list) or not vertices:
        return None
    ids, half = [shortened(one) for one in vertices], _LONGEST_PATH // 2
    return ", ".join(ids if len(ids) <= _LONGEST_PATH else [*ids[:half], "...", *ids[-half:]])


def shortened(value: Any) -> str:
    """An id of a user, cut where it is very long."""
    text = str(value)
    return text if len(text) <= _LONGEST_ID else text[: _LONGEST_ID - 1] + "…"
