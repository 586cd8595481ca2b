"""Approximations as points of a plot: what an estimate is worth, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import texts
from .records import Run, number

SEARCH, STARTUP = "seconds_search", "seconds_startup"


@dataclass(frozen=True)
class Point:
    """One approximation, or an exact answer beside them. graph : its name. price : seconds of the search, or whatever a
    plot is of. diameter : largest of any component, None where it is not known. lower, upper : proved. label : what
    tells it from others of its method. front : whether no other one is both cheaper and closer."""

    name: str
    graph: str
    method: str
    price: float
    startup: float | None
    estimate: float | None
    diameter: float | None
    lower: float | None
    upper: float | None
    label: str = ""
    front: bool = False

    @property
    def quality(self) -> float | None:
        """estimate / D; None where D is not known, or 0."""
        return self.estimate / self.diameter if self.diameter and self.estimate is not None else None

    @property
    def width(self) -> float | None:
        """(upper - lower) / lower, what is not known, as a share; None where no bound is above 0."""
        if self.lower is None or self.upper is None or self.lower <= 0:
            return None
        return (self.upper - self.lower) / self.lower


def row_point(row: Mapping[str, Any], diameter: float | None, graph: str = "", name: str = "", price: str = SEARCH,
              front: str = "on_front_seconds") -> Point | None:
    """The cell of a trade-off, a row of its table; None if it has no price. price, front : columns."""
    cost = number(row.get(price))
    if price == SEARCH and cost is None:
        cost = number(row.get("seconds"))  # of earlier versions, with loading
    if cost is None:
        return None
    estimate, lower, upper = (number(row.get(column)) for column in ("estimate", "lower", "upper"))
    return Point(name or str(row.get("cell")), graph, str(row.get("method")), cost, number(row.get(STARTUP)), estimate,
                 diameter, lower, upper, str(row.get("masters_label") or ""), row.get(front) is True)


def points(runs: Sequence[Run]) -> list[Point]:
    """Approximations among the runs, those that have ended in trade-offs included, in order. Where another
    run has proved the diameter of the same store, it is that of all."""
    proved = {run.value("store_digest"): run.number("lower") for run in runs
              if run.value("exact") is True and run.value("store_digest")}
    grids = Counter(texts.graph(run) for run in runs if run.family == "tradeoff")
    result: list[Point] = []
    for run in runs:
        known, graph = proved.get(run.value("store_digest")), texts.graph(run)
        if run.family == "tradeoff" and run.result is not None:
            diameter = run.number("diameter") or known
            of = "" if grids[graph] == 1 else f"{run.name}: "
            rows = (row_point(row, diameter, graph, f"{of}{row.get('cell')}") for row in run.result.get("rows", ()))
            result += [point for point in rows if point is not None]
        elif run.number("estimate") is not None and run.search is not None:
            result.append(Point(run.name, graph, run.method, run.search, run.startup, run.number("estimate"),
                                known or run.number("known_diameter"), run.number("lower"), run.number("upper"),
                                texts.masters(run)))
    return result
