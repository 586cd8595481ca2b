"""Figures of runs as short texts; a dash for missing values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from ..units import format_fine_seconds, format_size
from .records import Run

NONE = "–"
EDGES = "numbers of edges"
_LONGEST_ID, _LONGEST_PATH = 40, 12


def _or_dash(text: Callable[[float], str]) -> Callable[[float | None], str]:
    return lambda value: NONE if value is None else text(value)


# A whole number with separators; bytes with a binary unit; a duration.
count, size, duration = _or_dash(lambda value: f"{value:,.0f}"), _or_dash(format_size), _or_dash(format_fine_seconds)


def ratio(value: float | None, divisor: float | None = 1) -> str:
    """A quotient with two decimals."""
    return NONE if value is None or not divisor else f"{value / divisor:.2f}"


def text_of(number: Any) -> str:
    """A number with all its digits, in groups of three."""
    return f"{number:,}" if isinstance(number, int | float) else str(number)


# A distance, with all its digits; a mean or an error, with six digits.
value, rounded = _or_dash(text_of), _or_dash(lambda number: text_of(float(f"{number:.6g}")))


def moment(text: str) -> str:
    """An ISO 8601 time to the minute, in UTC; other texts unchanged."""
    try:
        at = datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return text
    return f"{at:%Y-%m-%d %H:%M} UTC"


def unit(run: Run) -> str:
    """The unit of the distances of a run; a dash without distances."""
    if run.family not in ("exact", "approx", "ecc", "distances", "sssp", "apsp") or run.result is None:
        return NONE
    weighted = run.value("weighted") is True or (run.family == "sssp" and run.value("weights") is not None)
    what = f"sums of {shortened(run.value('weight') or 'weights')}" if weighted else EDGES
    return what + (", along arcs" if run.value("directed") is True else "")


def verdict(run: Run) -> str:
    """The result of a verification."""
    if not isinstance(run.value("verified"), bool):
        return NONE
    return "proved" if run.value("verified") else f"not proved: {run.value('reason')}"


def bounds(run: Run) -> str:
    """The proved bounds on the largest diameter of any component."""
    lower, upper = run.number("lower"), run.number("upper")
    if lower is None or upper is None:
        return NONE
    return interval(lower, upper)


def interval(lower: float, upper: float) -> str:
    """Bounds on the diameter D; D itself if they are equal."""
    text = f"D = {lower:,}" if lower == upper else f"{lower:,} ≤ D ≤ {upper:,}"
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def components(run: Run) -> str:
    """The number of components, and whether several have the most vertices."""
    several = run.value("details", "several_largest_components") is True and run.value("connected") is False
    return count(run.number("n_components")) + (", several of the largest size" if several else "")


def graph(run: Run) -> str:
    """The name of a run's graph: of its store, or of its path, else the digest; for a written store, its first input
    file."""
    name = run.value("store_name") or PurePosixPath(run.graph).name.removesuffix(".zarr")
    files = run.value("record", "source") or [""]
    return shortened(name or run.value("store_digest") or PurePosixPath(str(files[0])).name or NONE)


def masters(run: Run) -> str:
    """The number of masters of a run, if its method has masters."""
    chosen = run.number("masters")
    return "" if chosen is None else f"{chosen:,} masters"


def witness(run: Run) -> str:
    """The two ends of the longest known shortest path, in the user's ids."""
    if not isinstance(run.value("witness"), dict):
        return NONE
    ends = [shortened(run.value("witness", end)) for end in ("source", "target")]
    return f"{ends[0]} to {ends[1]}"


def path(run: Run) -> str | None:
    """The witness's path, without the middle if it is long; None if the result lacks it."""
    return path_in(run.value("witness", "path"))


def path_in(vertices: Any) -> str | None:
    """A path as a text, without the middle if it is long; None for an invalid path."""
    if not isinstance(vertices, list) or not vertices:
        return None
    ids, half = [shortened(one) for one in vertices], _LONGEST_PATH // 2
    return ", ".join(ids if len(ids) <= _LONGEST_PATH else [*ids[:half], "...", *ids[-half:]])


def shortened(value: Any) -> str:
    """An id of a user, shortened if very long."""
    text = str(value)
    return text if len(text) <= _LONGEST_ID else text[: _LONGEST_ID - 1] + "…"
