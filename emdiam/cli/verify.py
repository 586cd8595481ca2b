"""`emdiam verify`: prove the claims of a certificate again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from . import options
from .listener import listening
from .outcome import EmdiamCommand
from .output import complain, emit, emit_json

_NOT_PROVED = 2


@click.command(cls=EmdiamCommand)
@click.argument("certificate", type=click.Path(dir_okay=False, path_type=Path))
@options.STORE
@options.stacked(options.memory, options.threads, options.as_json)
@options.progress
def command(**given: Any) -> int:
    """Prove again what a certificate says of the graph in a store.

    The store may hold the graph in another order, codec or chunk size than the one that the
    certificate was made from. Distances are checked against the edges, so that neither the
    certificate nor the traversals are trusted.

    Exit code 0: everything is proved. Exit code 2: the certificate is damaged, is about another
    graph, or does not prove what it claims; one sentence says why.
    """
    from ..verification.run import verify

    with listening(quiet=given["quiet"], log_interval=given["log_interval"]) as listener:
        report = verify(given["certificate"], given["store"], memory_bytes=given["memory"],
                        threads=given["threads"], progress=listener)
    if given["as_json"]:
        emit_json(report.to_dict())
    elif report.verified:
        from .verify_text import report_text

        emit(report_text(report.to_dict()))
    if not report.verified:
        complain(f"emdiam: {given['certificate']}: not proved: {report.reason}")
        return _NOT_PROVED
    return 0
