"""Tables on the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from rich import box, table
from rich.console import Console


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns, and rows of texts."""

    title: str
    header: list[str]
    rows: list[list[str]]


def show_section(console: Console, section: ModuleType, rows: list[dict[str, Any]]) -> None:
    """The table of a section, its further tables (`more`) and the lines below them (`notes`)."""
    show(console, Table(section.TITLE, *section.table(rows)))
    for further in section.more(rows) if hasattr(section, "more") else []:
        show(console, further)
    for line in section.notes(rows) if hasattr(section, "notes") else []:
        console.print(line, markup=False, highlight=False)


def show(console: Console, shown: Table) -> None:
    """Print one table; the first column to the left, figures to the right."""
    printed = table.Table(title=shown.title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for i, name in enumerate(shown.header):
        printed.add_column(name, justify="left" if i == 0 else "right", overflow="fold")
    for row in shown.rows:
        printed.add_row(*row)
    console.print(printed)


def millions(count: float) -> str:
    """A count in millions, three digits."""
    return f"{count / 1e6:,.0f}" if count >= 1e8 else f"{count / 1e6:.3g}"
