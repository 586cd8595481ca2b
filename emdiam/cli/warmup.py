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
@options.of("warmup")
def command(**values: Any) -> int:
    """Compile kernels ahead of the first run.

    Otherwise the first runs on a machine compile the kernels that they call, which takes seconds. Use it for container
    images, for clusters, and for timings. Kernels are stored in ~/.cache/emdiam, or below $NUMBA_CACHE_DIR.
    """
    from ..api import warmup

    with listening(values) as listener:
        report = warmup(all=values["everything"], progress=listener)
    answer(report.to_dict(), warmup_text, values["as_json"])
    return 0


def warmup_text(report: dict[str, Any]) -> str:
    """One line for a WarmupReport."""
    compiled = format_count(report["kernels"], "kernel") if report["kernels"] else "nothing, all kernels were there"
    where = report["folder"] or "nowhere, since no folder can be written: set NUMBA_CACHE_DIR"
    return f"compiled: {compiled}\nkept in: {where}\ntime: {format_seconds(report['seconds'])}"
