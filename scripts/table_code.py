"""A hook of the site of the documents: where browsers break lines of code in narrow tables. They would after the
hyphens of options, and would not after the slashes of paths."""

from __future__ import annotations

import re

CELL = re.compile(r"<td\b.*?</td>", re.DOTALL)
CODE = re.compile(r"(?<=<code>)[^<]*(?=</code>)")
OPTION = re.compile(r"(?<!\S)-{1,2}[a-z][\w-]*")
SLASH = re.compile(r"(?<=\w)/(?=\w)")


def on_page_content(html: str, **_: object) -> str:
    """The page with options in cells of tables marked for docs/site.css, and paths with places to break."""
    return CELL.sub(lambda cell: CODE.sub(_marked, cell[0]), html)


def _marked(code: re.Match[str]) -> str:
    return OPTION.sub(r'<span class="whole">\g<0></span>', SLASH.sub("/<wbr>", code[0]))
