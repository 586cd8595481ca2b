"""`emdiam reorder`: the same graph in a new store, its vertices in another order."""

from __future__ import annotations

from typing import Any

import click

from . import options
from .checkpoint import writing
from .outcome import EmdiamCommand
from .output import answer


@click.command(cls=EmdiamCommand)
@options.STORE
@click.argument("target", metavar="NEW", type=options.NEW_STORE)
@options.of("reorder")
def command(**given: Any) -> int:
    """Write a store to a new one in another order.

    Neighbours close together let a traversal of a graph larger than memory read fewer
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
