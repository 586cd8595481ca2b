"""`emdiam info`: what a store says of itself, and whether its chunks agree."""

from __future__ import annotations

from typing import Any

import click

from . import options
from .listener import listening
from .outcome import EmdiamCommand
from .output import emit, emit_json


@click.command(cls=EmdiamCommand)
@options.STORE
@options.as_json
@click.option("--check", is_flag=True,
              help="Read and verify everything: checksums, digest, and that the rows are those of a graph.")
@options.progress
def command(**given: Any) -> int:
    """Show counts, degrees, layout and size of a store."""
    from ..api import open
    from ..store.info import store_info

    with open(given["store"]) as store:
        info = store_info(store)
        if given["check"]:
            from ..store.check import check_store

            with listening(quiet=given["quiet"], log_interval=given["log_interval"]) as listener:
                info["checked"] = check_store(store, listener)
    if given["as_json"]:
        emit_json(info)
    else:
        from .info_text import info_text

        emit(info_text(info))
    return 0
