"""`emdiam reorder`: write the same graph to a new store with another order of vertices."""

from __future__ import annotations

from typing import Any

import click

from . import options
from .checkpoint import answered_writing
from .outcome import EmdiamCommand


@click.command(cls=EmdiamCommand)
@options.STORE
@click.argument("target", metavar="NEW", type=options.NEW_STORE)
@options.of("reorder")
def command(**values: Any) -> int:
    """Write a store to a new one in another order.

    Neighbours close together let a traversal of a graph larger than memory read fewer
    blocks. The new store keeps your ids: certificates hold in every order. --order
    natural undoes any other order.

    NEW appears only when it is complete.
    """
    from ..api import reorder
    from .convert import reorder_text

    return answered_writing(values, values["target"], lambda listener: reorder(
        values["store"], values["target"], values["order"], progress=listener,
        **options.passed(values, "store", "target", "order")), reorder_text)
