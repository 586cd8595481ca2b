"""From sources to a written report, in one of the formats; the templates of jinja2 are in templates/."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ..addresses import plain
from ..errors import InputError
from ..links import followed
from ..tables import table_text
from .parts import Plot, Table
from .read import read_report
from .records import Report
from .sections import document

FORMATS = ("html", "md", "json", "png")
_DOTS = 150
_EXTRA = "pip install 'emdiam[plots]', or choose the format md or json"
# Characters with a meaning in Markdown or HTML, and line ends, which would break a table.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~&])")


def make_report(sources: Sequence[str | Path], format: str) -> tuple[Report, str]:
    """(what was read, the text of the report on `sources`) as "html", "md" or "json".

    Raises InputError for a source that is no result, and for "html" without matplotlib.
    """
    if format not in FORMATS[:3]:
        raise InputError("a report is no such text", text=format, remedy="choose from: html, md, json")
    if format == "html":
        check_plots()
    report = read_report(sources)
    return report, report_text(report, format)


def report_text(report: Report, format: str) -> str:
    """The report as one text that ends with a line end; format as in make_report."""
    if format == "json":
        return json.dumps(plain(report.to_dict()), indent=1, allow_nan=False) + "\n"
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(loader=PackageLoader("emdiam.report"), autoescape=format == "html", trim_blocks=True,
                            undefined=StrictUndefined, keep_trailing_newline=True)
    templates.filters |= {"anchor": _anchor, "drawn": _drawn, "escaped": _escaped, "tabulated": _tabulated}
    return templates.get_template(f"report.{format}").render(page=document(report))


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _drawn(plot: Plot) -> str:
    """A plot as an element of a page."""
    from .drawing import inline_svg

    return inline_svg(plot.draw(), plot.name, plot.title)


def _escaped(text: str) -> str:
    """Text that shows as it is in Markdown: one line, no markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _tabulated(table: Table) -> str:
    """A table as Markdown."""
    head, *rows = [[_escaped(cell) for cell in row] for row in (table.head, *table.rows)]
    return table_text(head, rows, range(table.words), "pipe")


def check_plots() -> None:
    """Raises InputError where plots cannot be drawn."""
    if find_spec("matplotlib") is None:
        raise InputError("plots need matplotlib, which is not installed", remedy=_EXTRA)


def draw_figures(report: Report, folder: Path) -> list[Path]:
    """Write every plot of the report as PNG into `folder`, made if absent; their files. Raises InputError."""
    check_plots()
    from .drawing import write_image

    files = []
    try:
        followed(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for section in document(report).sections:
            for plot in section.plots:
                files.append(folder / f"{plot.name}.png")
                write_image(plot.draw(), files[-1], dpi=_DOTS, metadata={"Software": None})
    except OSError as error:
        raise InputError(f"the figures cannot be written ({error.strerror})", path=folder) from None
    return files
