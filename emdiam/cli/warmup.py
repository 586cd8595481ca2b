"""`emdiam warmup`: compile kernels ahead of the first run."""

from __future__ import annotations

from typing import Any

import click

from ..units import format_count, format_seconds
from . import options
from .listener import listening
from .outcome import EmdiamCommand
from .output import answer


@click.command(cls=EmdiamCommand)
@click.option("--all", "everything", is_flag=True, help="Of every method, for every width of distances, paged too.")
@options.as_json
@options.progress
def command(**given: Any) -> int:
    """Compile the kernels of the default methods, so that no run has to.

    Else a run compiles what it calls, once on a machine. For images of containers, for clusters, and before something
    is timed. Kernels are kept in ~/.cache/emdiam, or below $NUMBA_CACHE_DIR.
    """
    from ..api import warmup

    with listening(given) as listener:
        report = warmup(all=given["everything"], progress=listener)
    answer(report.to_dict(), warmup_text, given["as_json"])
    return 0


def warmup_text(report: dict[str, Any]) -> str:
    """One line for a WarmupReport."""
    compiled = format_count(report["kernels"], "kernel") if report["kernels"] else "no kernel, since all were there"
    where = report["folder"] or "nowhere, since no folder can be written: set NUMBA_CACHE_DIR"
    return f"compiled: {compiled}, in {format_seconds(report['seconds'])}\nkept: {where}"
