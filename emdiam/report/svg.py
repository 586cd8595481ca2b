"""A matplotlib figure as SVG inside a page: text stays text, colours follow the page, no name twice."""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING, Any

import matplotlib

from .palette import VARIABLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PROLOGUE = re.compile(r"^.*?(?=<svg\b)", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_OPENING = re.compile(r"<svg\b[^>]*>")
_BOX = re.compile(r'viewBox="([^"]+)"')
_NAME = re.compile(r'\bid="([^"]+)"')
_LINK = re.compile(r'(url\(#|xlink:href="#)')
_FONT = re.compile(r"font-family: [^;\"]*;? ?|'DejaVu Sans'[^;\"]*(?=[;\"])")
_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "emdiam"}


def inline_svg(figure: Figure, name: str, title: str) -> str:
    """The figure as an <svg> element. name : put before all ids in it, unique on the page. title : for those
    who do not see it."""
    text = io.StringIO()
    with matplotlib.rc_context(_SETTINGS):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    body = _METADATA.sub("", _PROLOGUE.sub("", text.getvalue(), count=1))
    box = _BOX.search(body)
    assert box is not None, "matplotlib writes a viewBox"
    opening = (f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img"'
               f' viewBox="{box.group(1)}" aria-label="{escape(title)}">')
    body = _OPENING.sub(lambda _: opening, body, count=1)
    return _coloured(_LINK.sub(rf"\g<1>{name}-", _NAME.sub(rf'id="{name}-\1"', body)))


def _coloured(body: str) -> str:
    """Colours as variables of the page. Only in tags: a label may read like a colour."""
    def tag(found: re.Match[str]) -> str:
        text = found.group(0)
        for colour, variable in VARIABLES.items():
            text = text.replace(colour, variable)
        return text

    return re.sub(r"<[^>]*>", tag, body)
