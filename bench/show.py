"""Tables on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table


def show(console: Console, title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print one table; the first column to the left, figures to the right."""
    table = Table(title=title, title_justify="left")
    for i, name in enumerate(header):
        table.add_column(name, justify="left" if i == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)
