"""A page as Markdown. A figure is a table of its points: the drawing is in the page of HTML, which is not kept."""

from __future__ import annotations

from .numbers import DASH, short
from .page import Figure, Page, Table

# Where pages of HTML go, from the root of the checkout; git ignores it.
DRAWINGS = "build/reproduction"
# Rows of a curve, of which the drawing has all points.
_MOST_ROWS = 12


def markdown(page: Page, command: str) -> str:
    """The text. command : that makes it, and the page with the figures drawn."""
    drawn = f"`{command}` draws the figures in `{DRAWINGS}/{page.name}-figures.html`."
    lines = [f"# {page.title}", "", *_paragraphs(page.intro), drawn, "",
             "## This run", "", *_table(["what", "value"], [[_cell(a), _cell(b)] for a, b in page.facts])]
    for section in page.sections:
        lines += [f"## {section.title}", "", *_paragraphs(section.text)]
        parts = [part for part in section.parts if isinstance(part, Table) or not part.tabled]
        for part in parts:
            shown = part if isinstance(part, Table) else _thinned(points(part), part.kind)
            lines += [f"### {shown.title}", ""] if len(parts) > 1 else []
            lines += [*_table([_cell(one) for one in shown.header], [[_cell(c) for c in row] for row in shown.rows]),
                      *_paragraphs(shown.notes)]
    return "\n".join(lines).rstrip("\n") + "\n"


def points(figure: Figure) -> Table:
    """A figure as a table: x, and a column a series."""
    places = list(dict.fromkeys(x for series in figure.series for x in series.x))
    if figure.kind != "bars":
        places.sort()
    values = [dict(zip(series.x, series.y, strict=True)) for series in figure.series]
    rows = [[x if isinstance(x, str) else short(x), *(short(one.get(x)) for one in values)] for x in places]
    return Table(f"{figure.title} ({figure.y})", [figure.x, *(series.name for series in figure.series)], rows,
                 figure.notes)


def _thinned(table: Table, kind: str) -> Table:
    """A curve in at most _MOST_ROWS rows, at equal distances, the last point among them."""
    step = -(-len(table.rows) // _MOST_ROWS) if kind == "lines" else 1
    return table if step == 1 else Table(table.title, table.header, table.rows[::-step][::-1], table.notes)


def _paragraphs(texts: list[str]) -> list[str]:
    return [line for text in texts for line in (text, "")]


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    if not rows:
        return ["Nothing was measured.", ""]
    return ["| " + " | ".join(header) + " |", "|" + "---|" * len(header),
            *("| " + " | ".join(row) + " |" for row in rows), ""]


def _cell(text: str) -> str:
    return (text or DASH).replace("|", "\\|").replace("\n", " ")
