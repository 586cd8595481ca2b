"""Cells and tables of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A title ("" for none), the names of the columns, rows of texts, and text below ("" for none), which is set
    as it is."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    below: str = ""


def table_text(table: Table) -> list[str]:
    """Lines of Markdown; nothing for a table without rows and text."""
    lines = [f"### {table.title}", ""] if table.title and (table.rows or table.below) else []
    if table.rows:
        lines += [_line(table.header), "|" + "---|" * len(table.header), *map(_line, table.rows), ""]
    if table.below:
        lines += ["```text", table.below.strip(), "```", ""]
    return lines


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def figure(value: Any) -> str:
    """A number in three or more digits; a dash for None."""
    if value is None:
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def note(row: Row) -> str:
    """Why a row has no figures, or that they are wrong; "" if all is well."""
    if "failure" in row:
        return f"failed: {row['failure']}"
    if row.get("wrong"):
        return f"{row['wrong']} wrong"
    return str(row.get("slow") or row.get("skipped") or "")


def distinct(rows: Sequence[Row], key: str) -> list[Any]:
    """Values of a key in the order in which they come, each once."""
    return list(dict.fromkeys(row[key] for row in rows if key in row))
