"""`emdiam verify`: prove the claims of a certificate again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from . import options
from .answer_lines import memory_lines, seconds_line
from .listener import listening
from .outcome import EmdiamCommand
from .output import answer, complain

_NOT_PROVED = 2


@click.command(cls=EmdiamCommand)
@click.argument("certificate", type=click.Path(dir_okay=False, path_type=Path))
@options.STORE
@options.stacked(options.memory, options.threads, options.as_json)
@options.progress
def command(**given: Any) -> int:
    """Prove again what a certificate says of the graph in a store.

    The store may hold the graph in another order, codec or chunk size than the one that the certificate was made from.
    Distances are checked against the edges, so that neither the certificate nor the traversals are trusted.

    Exit code 0: everything is proved. Exit code 2: the certificate is damaged, is about another
    graph, or does not prove what it claims; one sentence says why.
    """
    from ..api import verify

    with listening(given) as listener:
        report = verify(given["certificate"], given["store"], progress=listener,
                        **options.passed(given, "certificate", "store"))
    if report.verified or given["as_json"]:
        answer(report.to_dict(), report_text, given["as_json"])
    if not report.verified:
        complain(f"emdiam: {given['certificate']}: not proved: {report.reason}")
    return 0 if report.verified else _NOT_PROVED


def report_text(report: dict[str, Any]) -> str:
    """Lines for a report that is verified, as `VerifyReport.to_dict()` gives it."""
    lower, upper = report["lower"], report["upper"]
    value = f"{lower}" if lower == upper else f"{lower} to {upper}"
    claim = (f"diameter {value}" if report["connected"] else
             f"largest distance {value} over {report['n_components']:,} components")
    effort = f"{_count(report['traversals'], 'traversal')}, {_count(report['scans'], 'scan')}"
    lines = [f"verified: {claim} (lower and upper re-proved with {effort})"]
    if not report["connected"] and report["diameter_largest_component"] is not None:
        lines.append(f"verified: diameter of the largest component {report['diameter_largest_component']}")
    lines.append(f"pairs: {_count(report['pairs'], 'look')} for"
                 f" {_count(report['unsettled'], 'unsettled vertex', 'unsettled vertices')}")
    return "\n".join([*lines, seconds_line(report), *memory_lines(report)])


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
