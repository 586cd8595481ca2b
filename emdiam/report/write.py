"""From sources to a written report, in one of the formats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import InputError
from .document import Document
from .html import html_text
from .markdown import markdown_text
from .read import read_report
from .records import Report
from .sections import document

FORMATS = ("html", "md", "json", "png")
_DOTS = 150
_EXTRA = "pip install 'emdiam[plots]', or choose --format md or json"


def make_report(sources: Sequence[str | Path], format: str) -> tuple[Report, str]:
    """(what was read, the text of the report on `sources`) as "html", "md" or "json".

    Raises InputError for a source that is no result, and for "html" without matplotlib.
    """
    if format not in ("html", "md", "json"):
        raise InputError("a report is no such text", text=format, remedy="choose from: html, md, json")
    if format == "html":
        check_plots()
    report = read_report(sources)
    return report, report_text(report, format)


def report_text(report: Report, format: str) -> str:
    """The report as one text that ends with a line end; format as in make_report."""
    if format == "json":
        return json.dumps(_finite(report.to_dict()), indent=1, allow_nan=False) + "\n"
    made = document(report)
    return markdown_text(made) if format == "md" else html_text(made, with_plots=True)


def _finite(data: Any) -> Any:
    """The same without NaN and infinity, which JSON has not but Python reads: None in their place."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and (data != data or data in (float("inf"), -float("inf"))) else data


def check_plots() -> None:
    """Raises InputError where plots cannot be drawn."""
    if find_spec("matplotlib") is None:
        raise InputError("plots need matplotlib, which is not installed", remedy=_EXTRA)


def draw_figures(report: Report, folder: Path) -> list[Path]:
    """Write every plot of the report as PNG into `folder`, made if absent; their files. Raises InputError."""
    check_plots()
    made: Document = document(report)
    files = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for plot in made.plots():
            files.append(folder / f"{plot.name}.png")
            plot.draw().savefig(files[-1], dpi=_DOTS, facecolor="white", metadata={"Software": None})
    except OSError as error:
        raise InputError(f"the figures cannot be written ({error.strerror})", path=folder) from None
    return files
