"""`emdiam report`: a page on finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..errors import InputError
from . import options
from .outcome import EmdiamCommand
from .output import answer, emit

_SUFFIXES = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}
_PLACES = {"html": Path("report.html"), "png": Path("report-figures")}


@click.command(cls=EmdiamCommand)
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE...")
@options.of("report")
def command(**values: Any) -> int:
    """Make one self-contained page about finished runs.

    SOURCE is the folder of a batch or of a trade-off, a results.jsonl, or a file with the --json output of
    exact, approx, ecc, distances, sssp, apsp, tradeoff, verify, convert, reorder or generate; several are put side by
    side. With events beside it (NAME.events.jsonl beside NAME.json), the page shows how bounds closed, frontiers, and
    phases.

    Plots need matplotlib: pip install 'emdiam[plots]'.
    """
    from ..durable import check_file, check_folder, write_whole
    from ..report import draw_figures, make_report, read_report

    wanted = values["wanted"] or _SUFFIXES.get(values["out"].suffix if values["out"] else "", "html")
    out = values["out"] or _PLACES.get(wanted)
    if out is not None:
        check_folder(out) if wanted == "png" else check_file(out)
    if wanted == "png":
        report = read_report(values["sources"])
        assert out is not None
        files = [str(path) for path in draw_figures(report, out)]
    else:
        report, text = make_report(values["sources"], wanted)
        if out is None and not values["as_json"]:
            emit(text.rstrip("\n"))
            return 0
        try:
            files = [] if out is None else [str(out)]
            for file in files:
                write_whole(file, text)
        except OSError as error:
            raise InputError(f"the report cannot be written ({error.strerror})", path=out) from None
    ends = {run.name: run.status for run in report.runs}
    answer({"files": files, "runs": ends, "notes": report.notes}, lambda _: (
        f"{len(ends):,} {'run' if len(ends) == 1 else 'runs'} reported: {', '.join(files) or 'no figures'}"),
        values["as_json"])
    return 0
