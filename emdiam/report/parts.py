"""What sections of a report are made of: tables, plots, paragraphs.

Approximations as points of a plot: what an estimate is worth, and what it cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from . import texts
from .records import Run, number
from .texts import NONE

# So many runs have plots of their own, those that took longest; more would bury the reader.
LIMIT_RUNS = 12
# A section that is not folded shows so many plots, and rows of graphs, at first: a page of a night stays short.
MOST_OPEN, MOST_ROWS = 4, 8


@dataclass
class ReportTable:
    """Cells as texts. words : how many columns from the left hold words; all others hold figures, which are
    aligned to the right. folded : what a page shows of it until the reader opens it; None: all of it."""

    head: list[str]
    rows: list[list[str]]
    words: int = 1
    folded: str | None = None


def table_of(items: Sequence[Any], words: int, columns: Mapping[str, Callable[[Any], str]],
             first: str = "run") -> ReportTable:
    """A row for each item, its name in the column `first`. columns : by its head, the text of its cell for an item;
    those in which no item says anything are left out."""
    rows = [[item.name, *(text(item) for text in columns.values())] for item in items]
    empty = {at for at in range(1, len(columns) + 1) if all(row[at] == NONE for row in rows)}
    head, *rows = [[cell for at, cell in enumerate(row) if at not in empty] for row in ([first, *columns], *rows)]
    return ReportTable(head, rows, words - sum(at < words for at in empty))


def figure_of(text: Callable[[float | None], str], name: str) -> Callable[[Run], str]:
    """The text of a figure of a run's result."""
    return lambda run: text(run.number(name))


@dataclass
class Plot:
    """A figure. name : of its file. title : what it shows. caption : what one sees in it, beyond what its
    section says of all. function, data : of drawing.py, and what it takes."""

    name: str
    title: str
    caption: str
    function: str
    data: Any

    def draw(self) -> Any:
        """The matplotlib Figure."""
        from . import drawing

        return getattr(drawing, self.function)(self.data)


@dataclass
class Section:
    """One part of a report. paragraphs : plain text. legend : what all of its plots show. folded : long texts,
    (summary, [(of what, text), ...]). closed : a page shows the title alone until the reader opens it. most_plots :
    more are folded."""

    title: str
    paragraphs: list[str] = field(default_factory=list)
    tables: list[ReportTable] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    legend: str = ""
    folded: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)
    closed: bool = False
    most_plots: int = LIMIT_RUNS


def halved(table: ReportTable, of_what: str) -> list[ReportTable]:
    """The table, its rows after the first MOST_ROWS folded as one of their own. of_what : "graphs" in it."""
    rest, first = table.rows[MOST_ROWS:], replace(table, rows=table.rows[:MOST_ROWS])
    return [first, replace(table, rows=rest, folded=f"More {of_what}: {len(rest):,}")] if rest else [first]


def fold_long(table: ReportTable, plots: Sequence[Plot]) -> ReportTable:
    """The table, folded if it is long and there are plots of its figures."""
    if plots and len(table.rows) > LIMIT_RUNS:
        table.folded = f"All {len(table.rows):,} as a table"
    return table


@dataclass
class Document:
    """title, lead : one line and one sentence. tiles : (figure, what it is) at the top. made : when and where its runs
    were, and how the page was made. foot : last line."""

    title: str
    lead: str
    tiles: list[tuple[str, str]]
    sections: list[Section]
    foot: str
    made: str = ""


def folded(lines: list[tuple[str, str]], one: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Texts of runs below their number, if there are any, as a Section has them. one : what a single one is."""
    return [(one if len(lines) == 1 else f"{one}s of {len(lines):,} runs", lines)] if lines else []


def multiples(title: str, text: str, runs: Sequence[Run], of_run: Callable[[Run], Any], name: str, function: str,
              caption: Callable[[Run, Any], str] | None = None) -> Section | None:
    """A section of plots as plots_of has them; None where there are none."""
    plots, n_runs = plots_of(runs, of_run, name, function, caption)
    more = f" These are the {len(plots)} of {n_runs:,} runs that took longest." if n_runs > len(plots) else ""
    return Section(title, plots=plots, legend=text + more) if plots else None


def plots_of(runs: Sequence[Run], of_run: Callable[[Run], Any], name: str, function: str,
             caption: Callable[[Run, Any], str] | None = None) -> tuple[list[Plot], int]:
    """A plot of each run of which `of_run` gives data, in order, those that took longest where there are many; and how
    many there could be. name, function : see Plot. caption : by the run and its data; its graph if None."""
    shown = [(place, run, item) for place, run in enumerate(runs, 1) if (item := of_run(run))]
    longest = sorted(shown, key=lambda entry: -(entry[1].wall or 0.0))[:LIMIT_RUNS]
    return [Plot(f"{name}-{place}", run.name, texts.graph(run) if caption is None else caption(run, item), function,
                 item) for place, run, item in sorted(longest, key=lambda entry: entry[0])], len(shown)


SEARCH, START_COLUMN = "seconds_search", "seconds_startup"


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
    return Point(name or str(row.get("cell")), graph, str(row.get("method")), cost, number(row.get(START_COLUMN)),
                 estimate, diameter, lower, upper, str(row.get("masters_label") or ""), row.get(front) is True)


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
