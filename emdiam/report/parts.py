"""The elements of a section of a report: tables, plots, paragraphs.

Also approximations as points of a plot: the quality of an estimate, and its cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from . import texts
from .records import Run, number
from .texts import NONE

# Only this number of runs have plots, the longest ones, since more would be too much to read.
LIMIT_RUNS = 12
# Numbers of plots and of rows of graphs that an open section shows at first, so that the page of a long batch is short.
MOST_OPEN, MOST_ROWS = 4, 8


@dataclass
class ReportTable:
    """A table of texts. words : number of columns at the left with words; all others have right-aligned figures.
    folded : text in place of the table until the reader opens it; None: the table is open."""

    head: list[str]
    rows: list[list[str]]
    words: int = 1
    folded: str | None = None


def table_of(items: Sequence[Any], words: int, columns: Mapping[str, Callable[[Any], str]],
             first: str = "run") -> ReportTable:
    """A table with a row for each item and its name in the column `first`. columns : heading and text function of each
    column; empty columns are omitted."""
    rows = [[item.name, *(text(item) for text in columns.values())] for item in items]
    empty = {at for at in range(1, len(columns) + 1) if all(row[at] == NONE for row in rows)}
    head, *rows = [[cell for at, cell in enumerate(row) if at not in empty] for row in ([first, *columns], *rows)]
    return ReportTable(head, rows, words - sum(at < words for at in empty))


def figure_of(text: Callable[[float | None], str], name: str) -> Callable[[Run], str]:
    """A function from a run to the text of a figure of its result."""
    return lambda run: text(run.number(name))


@dataclass
class Plot:
    """A figure. name : of its file. title : its subject. caption : its details, beyond the text of the section.
    function : name of a function of drawing.py. data : its argument."""

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
    """One part of a report. paragraphs : plain text. legend : common to all its plots. folded : long texts, (summary,
    [(subject, text), ...]). closed : whether a page shows only the title until the reader opens it. most_plots :
    further plots are folded."""

    title: str
    paragraphs: list[str] = field(default_factory=list)
    tables: list[ReportTable] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    legend: str = ""
    folded: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)
    closed: bool = False
    most_plots: int = LIMIT_RUNS


def halved(table: ReportTable, of_what: str) -> list[ReportTable]:
    """The table with the first MOST_ROWS rows, and a folded table with the others. of_what : the kind of the rows, such
    as "graphs"."""
    rest, first = table.rows[MOST_ROWS:], replace(table, rows=table.rows[:MOST_ROWS])
    return [first, replace(table, rows=rest, folded=f"More {of_what}: {len(rest):,}")] if rest else [first]


def fold_long(table: ReportTable, plots: Sequence[Plot]) -> ReportTable:
    """The table, folded if it is long and plots show its figures."""
    if plots and len(table.rows) > LIMIT_RUNS:
        table.folded = f"All {len(table.rows):,} as a table"
    return table


@dataclass
class Document:
    """title, lead : one line and one sentence. tiles : (figure, label) at the top. made : time and place of the runs,
    and how the page was made. foot : last line."""

    title: str
    lead: str
    tiles: list[tuple[str, str]]
    sections: list[Section]
    foot: str
    made: str = ""


def folded(lines: list[tuple[str, str]], one: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Texts of runs with their number as a summary, if there are any, for Section.folded. one : the noun for a single
    text."""
    return [(one if len(lines) == 1 else f"{one}s of {len(lines):,} runs", lines)] if lines else []


def multiples(title: str, text: str, runs: Sequence[Run], of_run: Callable[[Run], Any], name: str, function: str,
              caption: Callable[[Run, Any], str] | None = None) -> Section | None:
    """A section with the plots of plots_of; None without plots."""
    plots, n_runs = plots_of(runs, of_run, name, function, caption)
    more = f" These are the {len(plots)} of {n_runs:,} runs that took longest." if n_runs > len(plots) else ""
    return Section(title, plots=plots, legend=text + more) if plots else None


def plots_of(runs: Sequence[Run], of_run: Callable[[Run], Any], name: str, function: str,
             caption: Callable[[Run, Any], str] | None = None) -> tuple[list[Plot], int]:
    """The plots of runs with data from `of_run`, in order, only the longest runs if there are many; and the number of
    runs with data. name, function : see Plot. caption : from the run and its data; the graph if None."""
    shown = [(place, run, item) for place, run in enumerate(runs, 1) if (item := of_run(run))]
    longest = sorted(shown, key=lambda entry: -(entry[1].wall or 0.0))[:LIMIT_RUNS]
    return [Plot(f"{name}-{place}", run.name, texts.graph(run) if caption is None else caption(run, item), function,
                 item) for place, run, item in sorted(longest, key=lambda entry: entry[0])], len(shown)


SEARCH, START_COLUMN = "seconds_search", "seconds_startup"


@dataclass(frozen=True)
class Point:
    """An approximation, or an exact answer to compare with. graph : its name. price : seconds of the search, or another
    cost in a plot. diameter : largest of any component, None if unknown. lower, upper : proved bounds. label :
    distinguishes it from others of its method. front : whether no other one is both cheaper and closer."""

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
        """estimate / D; None if D is unknown or 0."""
        return self.estimate / self.diameter if self.diameter and self.estimate is not None else None

    @property
    def width(self) -> float | None:
        """The relative gap (upper - lower) / lower; None unless lower is above 0."""
        if self.lower is None or self.upper is None or self.lower <= 0:
            return None
        return (self.upper - self.lower) / self.lower


def row_point(row: Mapping[str, Any], diameter: float | None, graph: str = "", name: str = "", price: str = SEARCH,
              front: str = "on_front_seconds") -> Point | None:
    """The point of a cell of a trade-off, from a row of its table; None without a price. price, front : columns."""
    cost = number(row.get(price))
    if price == SEARCH and cost is None:
        cost = number(row.get("seconds"))  # rows of earlier versions, with loading
    if cost is None:
        return None
    estimate, lower, upper = (number(row.get(column)) for column in ("estimate", "lower", "upper"))
    return Point(name or str(row.get("cell")), graph, str(row.get("method")), cost, number(row.get(START_COLUMN)),
                 estimate, diameter, lower, upper, str(row.get("masters_label") or ""), row.get(front) is True)


def points(runs: Sequence[Run]) -> list[Point]:
    """The approximations among the runs, with the cells of trade-offs, in order. A diameter proved by any run holds for
    all runs on the same store."""
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
