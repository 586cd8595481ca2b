"""A hook of the site of the documents: browsers break lines after hyphens, which would cut options in narrow tables."""

from __future__ import annotations

import re

CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
CODE = re.compile(r"(?<=<code>)[^<]*(?=</code>)")
OPTION = re.compile(r"(?<!\S)-{1,2}[a-z][\w-]*")


def on_page_content(html: str, **_: object) -> str:
    """The page with every option in a cell of a table marked for docs/site.css."""
    return CELL.sub(lambda cell: CODE.sub(_marked, cell[0]), html)


def _marked(code: re.Match[str]) -> str:
    return OPTION.sub(r'<span class="whole">\g<0></span>', code[0])
