"""A page as one file of HTML that needs no other."""

from __future__ import annotations

import importlib.util

from jinja2 import Environment
from markupsafe import Markup, escape

from .markdown import points
from .numbers import DASH
from .page import Figure, Page

_TEMPLATE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ page.title }}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1.5rem; max-width: 92rem; color: #1a1a1a;
  background: #fff; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { margin-top: 2.4rem; border-bottom: 1px solid #ccc; }
h3 { margin: 1.6rem 0 .4rem; font-size: 1.02rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .8rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .5rem; text-align: right; border-bottom: 1px solid #e4e4e4; vertical-align: top;
  white-space: nowrap; }
th { background: #f4f4f4; white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child, th.text { text-align: left; }
td.text { white-space: normal; text-align: left; min-width: 12rem; }
code { font-size: .92em; background: #f4f4f4; padding: 0 .2em; }
td.paper, th.paper { background: #eef3f8; }
svg { max-width: 100%; height: auto; }
p { max-width: 62rem; }
p.note { color: #444; font-size: .86rem; margin: .3rem 0; }
</style></head><body>
<h1>{{ page.title }}</h1>
{% for text in page.intro %}<p>{{ words(text) }}</p>
{% endfor %}
{% macro table(shown) %}<div class="scroll"><table><thead><tr>
{% for name in shown.header %}<th{{ kind(name, "") }}>{{ name }}</th>{% endfor %}
</tr></thead><tbody>
{% for row in shown.rows %}<tr>
{% for cell in row %}<td{{ kind(shown.header[loop.index0], cell) }}>{{ cell or dash }}</td>{% endfor %}
</tr>
{% else %}<tr><td colspan="{{ shown.header|length }}">Nothing was measured.</td></tr>
{% endfor %}</tbody></table></div>
{% for note in shown.notes %}<p class="note">{{ words(note) }}</p>
{% endfor %}{% endmacro %}
<h2>This run</h2>
<div class="scroll"><table><tbody>
{% for what, value in page.facts %}<tr><td>{{ what }}</td><td class="text">{{ value }}</td></tr>
{% endfor %}</tbody></table></div>
{% for section in page.sections %}<h2>{{ section.title }}</h2>
{% for text in section.text %}<p>{{ words(text) }}</p>
{% endfor %}
{% for part in section.parts %}{% if section.parts|length > 1 %}<h3>{{ part.title }}</h3>{% endif %}
{% if is_figure(part) %}{{ draw(part) }}{% else %}{{ table(part) }}{% endif %}
{% endfor %}{% endfor %}
</body></html>
"""
_LONG_CELL = 40


def _kind(name: str, cell: str) -> Markup:
    """The class of a cell: text, a figure of the paper, or none. name : of its column."""
    if name == "what differs" or len(cell) > _LONG_CELL:
        return Markup(' class="text"')
    return Markup(' class="paper"' if name.endswith(", paper") or "paper's" in name else "")


def words(text: str) -> Markup:
    """A text whose parts between backticks are code, as in Markdown."""
    parts = [Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
             for number, part in enumerate(text.split("`"))]
    return Markup("").join(parts)


def html(page: Page) -> str:
    """The text, with the figures drawn where matplotlib is installed, else as tables of their points."""
    environment = Environment(autoescape=True)
    drawn = importlib.util.find_spec("matplotlib") is not None
    template = environment.from_string(_TEMPLATE)
    def draw(figure: Figure) -> Markup:
        from .drawing import svg

        notes = Markup("").join(Markup('<p class="note">{}</p>\n').format(words(note)) for note in figure.notes)
        return Markup(svg(figure)) + notes if has_points(figure) else Markup("<p>{}</p>").format(
            escape("Nothing was measured.")) + notes

    shown = page if drawn else Page(page.name, page.title, page.intro, page.facts, [
        type(section)(section.title, [points(p) if isinstance(p, Figure) else p for p in section.parts], section.text)
        for section in page.sections])
    return template.render(page=shown, dash=DASH, draw=draw, kind=_kind, words=words,
                           is_figure=lambda part: isinstance(part, Figure))


def has_points(figure: Figure) -> bool:
    """Whether there is anything to draw."""
    return any(y for series in figure.series for y in series.y)
