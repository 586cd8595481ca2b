"""From a key of every vertex to its new number: a counting sort by key, ties by natural rank.

Natural ranks, not the numbers that vertices have in the store at hand, decide all ties, so that an
order is the same whatever order the store has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..store.store import Store

PIECE = 1 << 16
# Bytes of the temporaries of a pass over all vertices in pieces of PIECE or a chunk.
_PIECE_BYTES = 128


def pass_bytes(store: Store) -> int:
    """Bytes that a pass over all vertices takes at a time."""
    return _PIECE_BYTES * max(PIECE, store.record.chunk_ids)


def natural_parts(store: Store) -> Iterator[tuple[slice, np.ndarray]]:
    """All vertices in order, in parts, with their natural ranks, int64[k]. Raises StoreError."""
    begin = 0
    for ranks in store.natural_pieces():
        yield slice(begin, begin + len(ranks)), ranks.astype(np.int64)
        begin += len(ranks)


def place_by_key(keys: np.ndarray, n_keys: int, store: Store | None = None) -> np.ndarray:
    """The new number of every vertex when they are sorted by key, ties by natural rank.

    keys : id_dtype[n], each below n_keys; it is overwritten, and is the result. store : whose
    vertices they are; None where position is rank. RAM beside keys: n_keys + 1 ids, and n more for
    a reordered store.
    """
    if store is None or store.is_natural:
        _number(keys, n_keys)
        return keys
    by_rank = np.empty_like(keys)
    for part, ranks in natural_parts(store):
        by_rank[ranks] = keys[part]
    _number(by_rank, n_keys)
    for part, ranks in natural_parts(store):
        keys[part] = by_rank[ranks]
    return keys


def _number(keys: np.ndarray, n_keys: int) -> None:
    """keys[i] = position of i when sorted by (key, i), in place."""
    free = np.zeros(n_keys + 1, keys.dtype)
    for begin in range(0, len(keys), PIECE):
        np.add.at(free, keys[begin : begin + PIECE].astype(np.int64) + 1, _one(keys))
    np.cumsum(free, out=free, dtype=free.dtype)
    for begin in range(0, len(keys), PIECE):
        part = keys[begin : begin + PIECE]
        order = np.argsort(part, kind="stable")
        ordered = part[order].astype(np.int64)
        firsts = np.flatnonzero(np.diff(ordered, prepend=-1))
        counts = np.diff(firsts, append=len(ordered))
        own = ordered[firsts]
        among = np.arange(len(ordered)) - np.repeat(firsts, counts)
        part[order] = free[ordered] + among.astype(keys.dtype)
        free[own] += counts.astype(keys.dtype)


def _one(keys: np.ndarray) -> Any:
    return keys.dtype.type(1)
