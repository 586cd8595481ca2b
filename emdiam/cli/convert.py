"""`emdiam convert`: from edge lists to a store."""

from __future__ import annotations

from typing import Any

import click

from . import options
from .convert_checkpoint import checkpoint, chosen_checkpoint, stopped
from .listener import listening
from .outcome import EmdiamCommand
from .output import emit, emit_json


@click.command(cls=EmdiamCommand)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.argument("store", type=options.NEW_STORE)
@options.stacked(options.memory, options.scratch, options.force)
@click.option(
    "--format", "fmt", metavar="NAME",
    help="Format of the input: " + ", ".join(options.FORMATS) + ". [default: from suffix and content]")
@click.option("--ids", type=click.Choice(["auto", "int", "string"]), default="auto", show_default=True,
              help="What vertex ids are.")
@click.option("--codec", type=click.Choice(options.CODECS), default="lz4", show_default=True,
              help="Compression of the store: pcodec is smaller and slower, none is for RAM disks.")
@click.option("--chunk", type=options.COUNT, metavar="COUNT", help="Vertex ids in a chunk. [default: 2^16]")
@click.option("--order", type=click.Choice(options.ORDERS), default="natural", show_default=True,
              help="Order of the vertices in the store, see `emdiam reorder`; all but natural take another pass.")
@checkpoint
@options.stacked(options.threads, options.as_json, options.progress)
def command(**given: Any) -> int:
    """Convert edge lists into a store within a memory budget.

    INPUT is a file, a glob or - for standard input; several together make one graph. Known are
    text edge lists, CSV, Matrix Market, DIMACS, METIS, ECL, GAPBS, scipy .npz and Parquet, also
    compressed as .gz, .bz2, .xz or .zst. Edges are taken as undirected; loops and duplicates are
    dropped and counted.

    STORE appears only when it is complete.
    """
    from ..api import convert

    chosen = chosen_checkpoint(given, given["store"])
    try:
        with listening(quiet=given["quiet"], log_interval=given["log_interval"]) as listener:
            report = convert(
                given["inputs"], given["store"], memory=given["memory"], scratch=given["scratch"],
                force=given["force"], format=given["fmt"], ids=given["ids"], codec=given["codec"],
                chunk=given["chunk"], order=given["order"], threads=given["threads"], progress=listener,
                checkpoint=chosen,
            )
    except KeyboardInterrupt as stop:
        raise stopped(given["store"], chosen) from stop
    if given["as_json"]:
        emit_json(report.to_dict())
    else:
        from .convert_text import report_text

        emit(report_text(report.to_dict(), given["store"]))
    return 0
