"""`emdiam reorder`: the same graph in a new store, its vertices in another order."""

from __future__ import annotations

from typing import Any

import click

from . import options
from .checkpoint import checkpoint, writing
from .outcome import EmdiamCommand
from .output import answer


@click.command(cls=EmdiamCommand)
@options.STORE
@click.argument("target", metavar="NEW", type=options.NEW_STORE)
@click.option("--order", type=options.Choice(options.ORDERS), required=True,
              help="natural: increasing ids. degree: descending degree. bfs: by component, then by distance from"
                   " its hub. cluster: clusters of neighbours together.")
@click.option("--seed", type=options.COUNT, metavar="N", default=0, show_default=True,
              help="Seed of the random numbers; orders without chance ignore it.")
@options.stacked(options.memory, options.scratch)
@click.option("--force", is_flag=True, help="Replace NEW if it exists.")
@click.option("--codec", type=options.Choice(options.CODECS), help="Compression of the new store. [default: as STORE]")
@click.option("--chunk", type=options.COUNT, metavar="COUNT", help="Vertex ids in a chunk. [default: as STORE]")
@checkpoint
@options.stacked(options.threads, options.as_json, options.verbose, options.progress)
def command(**given: Any) -> int:
    """Write the graph of a store to a new store in another order.

    Neighbours that lie close together let a traversal of a graph larger than memory read fewer
    blocks. The new store keeps your ids: answers and certificates are the same in every order. --order natural undoes
    any other order.

    NEW appears only when it is complete.
    """
    from ..api import reorder
    from .convert import reorder_text

    with writing(given, given["target"]) as listener:
        report = reorder(given["store"], given["target"], given["order"], progress=listener,
                         **options.passed(given, "store", "target", "order"))
    answer(report.to_dict(), lambda data: reorder_text(data, given["target"], given["verbose"]), given["as_json"])
    return 0
