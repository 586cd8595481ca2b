"""Descending degree: the rows that a traversal of a skewed graph meets most lie together.

Ties go by natural rank; vertices without an edge come last. From the row offsets alone.
Source: the relabelling of the GAP benchmark suite (Beamer, Asanovic, Patterson 2015), there for
counting triangles.
"""

from __future__ import annotations

import numpy as np

from ..errors import StoreError
from ..store.info import offset_pieces
from ..store.store import Store
from .placing import pass_bytes, place_by_key

# Pieces of four chunks of int64 offsets, and what is computed of them.
_OFFSET_BYTES = 4 * 8 * 6


def degree_bytes(store: Store) -> int:
    """Bytes that by_degree takes at most."""
    vectors = store.n_vertices * (1 if store.is_natural else 2) + store.record.max_degree + 2
    return vectors * store.id_dtype.itemsize + max(_OFFSET_BYTES * store.record.chunk_ids, pass_bytes(store))


def by_degree(store: Store) -> np.ndarray:
    """The new number of every vertex in the order of descending degree, id_dtype[n].

    Raises StoreError for offsets that contradict the record.
    """
    most = store.record.max_degree
    keys = np.empty(store.n_vertices, store.id_dtype)
    begin = 0
    for piece in offset_pieces(store.indptr):
        degrees = np.diff(piece)
        if len(degrees) and int(degrees.max()) > most:
            raise StoreError(f"a vertex has degree {int(degrees.max())}, the store record says at most {most}",
                             path=store.path, remedy="convert the graph again")
        keys[begin : begin + len(degrees)] = most - degrees
        begin += len(degrees)
    return place_by_key(keys, most + 1, store)
