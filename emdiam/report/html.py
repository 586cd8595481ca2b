"""A document as one HTML page that needs nothing else: style sheet and plots are inside, there is no script.

Whatever came from users (names, ids, sentences, paths) is escaped; the page's own policy forbids scripts and
the network besides.
"""

from __future__ import annotations

import re
from html import escape

from .document import Document, Plot, Section, Table
from .style import STYLE

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_ICON = "data:,"  # no request for an icon


def html_text(document: Document, with_plots: bool) -> str:
    """The page. with_plots : draw them, which takes matplotlib."""
    titles = [section.title for section in document.sections]
    links = "".join(f'<li><a href="#{_anchor(title)}">{escape(title)}</a></li>' for title in titles)
    tiles = "".join(f"<div><b>{escape(value)}</b><span>{escape(what)}</span></div>" for value, what in document.tiles)
    body = "\n".join(_section(section, with_plots) for section in document.sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<link rel="icon" href="{_ICON}">
<title>{escape(document.title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<header>
<h1>{escape(document.title)}</h1>
<p class="lead">{escape(document.lead)}</p>
<div class="tiles">{tiles}</div>
<nav aria-label="Sections"><ul>{links}</ul></nav>
</header>
{body}
<footer>{escape(document.foot)}</footer>
</main>
</body>
</html>
"""


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _section(section: Section, with_plots: bool) -> str:
    parts = [f'<section id="{_anchor(section.title)}">', f"<h2>{escape(section.title)}</h2>"]
    parts += [f"<p>{escape(text)}</p>" for text in section.paragraphs]
    parts += [_table(table) for table in section.tables]
    if with_plots:
        parts += [_plot(plot) for plot in section.plots]
    parts += [f"<details><summary>{escape(summary)}</summary><p>{escape(text)}</p></details>"
              for summary, text in section.folded]
    return "\n".join([*parts, "</section>"])


def _table(table: Table) -> str:
    def cells(tag: str, row: list[str]) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        return "<tr>" + "".join(
            f'<{tag}{scope}{"" if i < table.words else chr(32) + _FIGURE}>{escape(cell)}</{tag}>'
            for i, cell in enumerate(row)) + "</tr>"

    body = "\n".join(cells("td", row) for row in table.rows)
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    return (f'<div class="wide" tabindex="0"><table>{caption}<thead>{cells("th", table.head)}</thead>\n'
            f"<tbody>{body}</tbody></table></div>")


_FIGURE = 'class="figure"'


def _plot(plot: Plot) -> str:
    from .svg import inline_svg

    drawn = inline_svg(plot.draw(), plot.name, plot.title)
    return (f'<figure id="{plot.name}"><h3>{escape(plot.title)}</h3><div class="plot" tabindex="0">{drawn}</div>'
            f"<figcaption>{escape(plot.caption)}</figcaption></figure>")
