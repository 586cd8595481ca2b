"""`emdiam apply`: write a new store with edges added and removed."""

from __future__ import annotations

from typing import Any

import click

from . import options
from .checkpoint import answered_writing
from .outcome import EmdiamCommand


@click.command(cls=EmdiamCommand)
@options.STORE
@click.argument("target", metavar="NEW", type=options.NEW_STORE)
@options.of("apply")
def command(**values: Any) -> int:
    """Write a store to a new one with edges added and removed.

    NEW is as `emdiam convert` would make it of the changed list of edges, but STORE is not sorted again. Edges are
    removed first, and then added. All vertices of STORE stay.

    NEW appears only when it is complete.
    """
    from ..api import apply
    from .convert import apply_text

    return answered_writing(values, values["target"], lambda listener: apply(
        values["store"], values["target"], format=values["fmt"], progress=listener,
        **options.passed(values, "store", "target", "fmt")), apply_text)
