"""Tables of texts: for people, as Markdown, and as CSV."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any


def table_text(head: Sequence[str], rows: Sequence[Sequence[str]], left: Container[int], style: str = "plain") -> str:
    """Lines of a table. left : numbers of the columns with words; columns of figures are aligned to the right. style :
    of tabulate, "plain" or "pipe" (Markdown, readable as it is)."""
    from tabulate import tabulate

    aligned = ["left" if i in left else "right" for i in range(len(head))]
    lines = tabulate([head, *rows], tablefmt=style, disable_numparse=True, colalign=aligned).split("\n")
    if style == "pipe":  # the head is a row, since tabulate widens columns for heads; then the rule is above it
        lines[:2] = lines[1], lines[0]
    return "\n".join(lines)


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows as CSV with a header, plain numbers, empty for missing values; ends with a line end."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
