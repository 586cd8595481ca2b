"""`emdiam verify`: check the claims of a certificate again."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any

import click

from ..errors import redacted
from ..progress import bounds_text
from ..units import format_count, format_seconds, mean_text
from . import options
from .answer_lines import memory_lines, seconds_line
from .inputs import is_input
from .listener import listening
from .outcome import EmdiamCommand
from .output import answer, complain

_NOT_PROVED = 2


@click.command(cls=EmdiamCommand)
@click.argument("certificate", type=click.Path(path_type=str))
@options.GRAPH
@options.of("verify")
def command(**values: Any) -> int:
    """Prove the claims of a certificate about a graph again.

    CERTIFICATE is a file or an address, and may come from another store of the same graph: format, order and chunk size
    do not matter. Distances are checked against the edges, so that neither the certificate nor the traversals are
    trusted.

    Exit code 0: all is proved. Exit code 2: the certificate is damaged, is about another graph, or does not prove its
    claims; one sentence says why.
    """
    from ..api import open, verify

    name = values["store"]
    opened = nullcontext(name) if is_input(name) else open(name)
    with opened as graph, listening(values) as listener:
        report = verify(values["certificate"], graph, progress=listener,
                        **options.passed(values, "certificate", "store"))
    if report.verified or values["as_json"]:
        answer(report.to_dict(), partial(report_text, verbose=values["verbose"]), values["as_json"])
    if not report.verified:
        complain(f"emdiam: {redacted(values['certificate'])}: not proved: {report.reason}")
    return 0 if report.verified else _NOT_PROVED


def _along_arcs(report: dict[str, Any], value: str) -> list[str]:
    """The verified facts along arcs."""
    strong = report["n_strong_components"]
    largest = (f"verified: diameter {value}" if strong == 1 else
               f"verified: largest finite distance {value} ({strong:,} strong components)")
    if report["direction"] is None:
        return [largest]
    radius = "" if report["radius"] is None else f", from {report['radius']:,} in the centre"
    vertices = format_count(report["n_vertices"], "vertex", "vertices")
    return [f"verified: all eccentricities {report['direction']} of {vertices}{radius}", largest]


def report_text(report: dict[str, Any], verbose: bool = False) -> str:
    """Lines for a report of `VerifyReport.to_dict()`."""
    lower, upper, largest = report["lower"], report["upper"], report["diameter_largest_component"]
    value = f"{lower:,}" if lower == upper else bounds_text(lower, upper)
    if report.get("directed"):
        lines = _along_arcs(report, value)
    elif "mean_lower" in report:
        of = f", of {format_count(report['n_pairs'], 'pair')}" if report["n_pairs"] else ""
        lines = [f"verified: {mean_text(report['mean_lower'], report['mean_upper'])}{of}"]
    elif "radius" in report:
        lines = [f"verified: all eccentricities of {format_count(report['n_vertices'], 'vertex', 'vertices')}, from"
                 f" {report['radius']:,} in the centre of the largest component to {upper:,}"]
    elif report["connected"]:
        lines = [f"verified: diameter {value}"]
    else:
        lines = [f"verified: largest diameter of any component {value} ({report['n_components']:,} components)"]
        lines += [] if largest is None else [f"verified: diameter of the largest component {largest:,}"]
    effort = f"proof: {format_count(report['traversals'], 'traversal')}, {format_count(report['scans'], 'scan')}"
    if report["pairs"]:
        effort += (f"; {format_count(report['pairs'], 'comparison')} for the pairs of"
                   f" {format_count(report['unsettled'], 'vertex', 'vertices')} that traversals leave open")
    return "\n".join([*lines, *_converted_lines(report["converted"]), effort, seconds_line(report),
                      *memory_lines(report, verbose)])


def _converted_lines(converted: dict[str, Any] | None) -> list[str]:
    """The conversion, if the graph was not a store."""
    if converted is None:
        return []
    reading = converted["reading"] and f" ({converted['reading']})"
    return [f"input: {converted['format']}{reading}, {format_count(converted['n_pairs'], 'pair')}, converted into a"
            f" temporary store in {format_seconds(converted['seconds'])}"]
