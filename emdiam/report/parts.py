"""What sections of a report are made of: tables, plots, paragraphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .records import Run
from .texts import NONE

# So many runs have plots of their own, those that took longest; more would bury the reader.
LIMIT_RUNS = 12


@dataclass
class Table:
    """Cells as texts. words : how many columns from the left hold words; all others hold figures, which are
    aligned to the right. folded : what a page shows of it until the reader opens it; None: all of it."""

    head: list[str]
    rows: list[list[str]]
    words: int = 1
    folded: str | None = None


def table_of(items: Sequence[Any], words: int, columns: Mapping[str, Callable[[Any], str]],
             first: str = "run") -> Table:
    """A row for each item, its name in the column `first`. columns : by its head, the text of its cell for an item;
    those in which no item says anything are left out."""
    rows = [[item.name, *(text(item) for text in columns.values())] for item in items]
    empty = {at for at in range(1, len(columns) + 1) if all(row[at] == NONE for row in rows)}
    head, *rows = [[cell for at, cell in enumerate(row) if at not in empty] for row in ([first, *columns], *rows)]
    return Table(head, rows, words - sum(at < words for at in empty))


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
    (summary, [(of what, text), ...])."""

    title: str
    paragraphs: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    legend: str = ""
    folded: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)


def fold_long(table: Table, plots: Sequence[Plot]) -> Table:
    """The table, folded if it is long and there are plots of its figures."""
    if plots and len(table.rows) > LIMIT_RUNS:
        table.folded = f"All {len(table.rows):,} as a table"
    return table


@dataclass
class Document:
    """title, lead : one line and one sentence. tiles : (figure, what it is) at the top. foot : last line."""

    title: str
    lead: str
    tiles: list[tuple[str, str]]
    sections: list[Section]
    foot: str


def number_of(items: Sequence[Any], one: str) -> str:
    """The summary of folded texts. one : what a single one is."""
    return one if len(items) == 1 else f"{one}s of {len(items):,} runs"


def multiples(title: str, text: str, plots: list[Plot], n_runs: int) -> Section | None:
    """A plot a run; None where there are none. n_runs : of which there could be one."""
    more = f" These are the {len(plots)} of {n_runs:,} runs that took longest." if n_runs > len(plots) else ""
    return Section(title, plots=plots, legend=text + more) if plots else None


def with_plots(runs: Sequence[Run], of_run: Callable[[Run], Any]) -> tuple[list[tuple[int, Run, Any]], int]:
    """(place, run, what `of_run` gives of it) of the runs of which it gives something, in order, those that took
    longest where there are many; and how many there are."""
    shown = [(place, run, item) for place, run in enumerate(runs, 1) if (item := of_run(run))]
    longest = sorted(shown, key=lambda entry: -(entry[1].wall or 0.0))[:LIMIT_RUNS]
    return sorted(longest, key=lambda entry: entry[0]), len(shown)
