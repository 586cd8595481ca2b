"""Formats that promise both directions of every edge are held to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .base import FileSource
from .source import EdgeBatch
from .symmetry import Balance, find_one_way

_SEARCH_BATCH_BYTES = 1 << 20


def checked_symmetric(source: FileSource, read: Callable[[int], Iterator[EdgeBatch]],
                      batch_bytes: int) -> Iterator[EdgeBatch]:
    """The batches of `read(batch_bytes)`; InputError at their end if some edge is listed in one
    direction only. A file is then read twice more to name such an edge."""
    balance = Balance()
    for batch in read(batch_bytes):
        balance.add(batch.src, batch.dst)
        yield batch
    if balance.symmetric:
        return
    found = find_one_way(lambda: read(_SEARCH_BATCH_BYTES)) if source.rewindable else None
    example = f": vertex {found[0]} lists {found[1]} but not the other way round" if found else ""
    raise source.error(f"the graph is not symmetric{example}",
                       remedy="list every edge at both its ends, or convert an edge list instead")
