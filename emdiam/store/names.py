"""The vertices of ids of the user."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from .store import Store


def vertex_of(store: Store, name: int | str) -> int:
    """The vertex with this id of the user. See vertices_of."""
    return int(vertices_of(store, [name])[0])


def vertices_of(store: Store, names: Sequence[int | str]) -> np.ndarray:
    """The vertices with these ids of the user, int64[k]; of a store with numbers, texts of digits will do.

    Reads a few chunks of ids for each, and in a store that is ordered otherwise all ranks up to the last of them, once.
    Raises InputError for an id that there is not."""
    asked = np.array([_rank(store, name) for name in names], np.int64)
    ranks, places = np.unique(asked, return_inverse=True)
    vertices, begin = ranks if store.is_natural else np.full(len(ranks), -1, np.int64), 0
    for piece in store.natural_pieces() if (vertices < 0).any() else ():
        there = np.flatnonzero(np.isin(piece, ranks))
        vertices[np.searchsorted(ranks, piece[there])] = there + begin
        begin += len(piece)
        if (vertices >= 0).all():
            break
    if (vertices < 0).any():
        raise store.wrong_ranks()
    return vertices[places]


def _rank(store: Store, name: int | str) -> int:
    """The natural rank of the vertex with this id. Raises InputError for an id that there is not."""
    try:
        wanted = str(name) if store.record.id_kind == "string" else int(name)
    except ValueError:
        raise InputError("the vertices of this store have numbers", path=store.path, text=str(name)) from None
    rank = (max(0, int(wanted) - store.record.first_id) if store.record.id_kind in ("identity", "offset") else
            bisect_left(range(store.n_vertices), wanted, key=lambda rank: store.ids_of_ranks(np.array([rank]))[0]))
    if rank >= store.n_vertices or store.ids_of_ranks(np.array([rank]))[0] != wanted:
        raise InputError("there is no such vertex", path=store.path, text=str(name))
    return rank
