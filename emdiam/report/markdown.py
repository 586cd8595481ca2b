"""A document as Markdown: the sentences and tables of a report, without its plots."""

from __future__ import annotations

import re

from .document import Document, Section, Table

# Characters with a meaning in Markdown or HTML, and line ends, which would break a table.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~&])")


def markdown_text(document: Document) -> str:
    """The whole report, a text of lines."""
    parts = [f"# {document.title}", escaped(document.lead)]
    parts += ["\n".join(f"- {escaped(what)}: {escaped(value)}" for value, what in document.tiles)]
    for section in document.sections:
        parts += _section(section)
    return "\n\n".join([part for part in parts if part] + [escaped(document.foot)]) + "\n"


def escaped(text: str) -> str:
    """Text that shows as it is: one line, no markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _section(section: Section) -> list[str]:
    parts = [f"## {section.title}", *(escaped(text) for text in section.paragraphs)]
    parts += [_table(table) for table in section.tables]
    return parts + [f"{escaped(summary)}: {escaped(text)}" for summary, text in section.folded]


def _table(table: Table) -> str:
    rows = [[escaped(cell) for cell in row] for row in (table.head, *table.rows)]
    widths = [max(3, *(len(row[i]) for row in rows)) for i in range(len(table.head))]
    rule = ["-" * width if i < table.words else "-" * (width - 1) + ":" for i, width in enumerate(widths)]

    def line(row: list[str]) -> str:
        return "| " + " | ".join(
            cell.ljust(width) if i < table.words else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))) + " |"

    return "\n".join(line(row) for row in (rows[0], rule, *rows[1:]))
