"""Approximations in a report: what each gave and what it cost, those of trade-offs included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import texts
from .document import Section, Table
from .records import Run


@dataclass(frozen=True)
class Point:
    """One approximation (or the exact answer beside them). quality : estimate / D where D is known. width :
    (upper - lower) / lower, what is not known, as a share; None where no bound is above 0."""

    name: str
    method: str
    seconds: float
    estimate: float | None
    quality: float | None
    lower: float | None
    upper: float | None

    @property
    def width(self) -> float | None:
        """Width of the proved interval, of its lower end."""
        if self.lower is None or self.upper is None or self.lower <= 0:
            return None
        return (self.upper - self.lower) / self.lower


def points(runs: Sequence[Run]) -> list[Point]:
    """Approximations among the runs, those that have ended in trade-offs included, in order. Where another
    run has proved the diameter of the same store, quality is of that."""
    proved = {run.value("store_digest"): run.number("lower") for run in runs
              if run.value("exact") is True and run.value("store_digest")}
    found: list[Point] = []
    for run in runs:
        if run.family == "tradeoff" and run.result is not None:
            found += [_cell(run, row) for row in run.result.get("rows", ()) if _number(row, "seconds") is not None]
        elif run.number("estimate") is not None and run.wall is not None:
            estimate, known = run.number("estimate"), proved.get(run.value("store_digest"))
            quality = run.number("ratio")
            if quality is None and known and estimate is not None:
                quality = estimate / known
            found.append(Point(run.name, run.method, run.wall, estimate, quality, run.number("lower"),
                               run.number("upper")))
    return found


def _number(row: dict[str, object], name: str) -> float | None:
    value = row.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _cell(run: Run, row: dict[str, object]) -> Point:
    seconds = _number(row, "seconds")
    assert seconds is not None
    return Point(f"{run.name}: {row.get('cell')}", str(row.get("method")), seconds, _number(row, "estimate"),
                 _number(row, "ratio"), _number(row, "lower"), _number(row, "upper"))


def tradeoff_section(runs: Sequence[Run]) -> Section | None:
    """Quality against its price; None where nothing was approximated."""
    found = points(runs)
    if not found:
        return None
    from . import plots

    rows = [[point.name, point.method, texts.count(point.lower), texts.count(point.upper),
             texts.count(point.estimate), texts.ratio(point.quality), texts.duration(point.seconds)] for point in found]
    head = ["approximation", "method", "lower", "upper", "paper's estimate", "estimate / D", "time"]
    return Section("Approximations: quality and price", [
        "Lower and upper are proved. The estimate is that of the paper's formula; it may lie on either side of D."],
        [Table(head, rows, words=2)], plots.quality(found))
