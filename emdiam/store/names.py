"""The vertex of an id of the user."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from ..errors import InputError
from .store import Store


def vertex_of(store: Store, name: int | str) -> int:
    """The vertex with this id of the user; of a store with numbers, a text of digits will do.

    Reads a few chunks of ids, and in a store that is ordered otherwise the ranks up to it. Raises InputError for an id
    that there is not."""
    wanted = _wanted(store, name)
    rank = _rank(store, wanted)
    if rank < store.n_vertices and store.ids_of_ranks(np.array([rank]))[0] == wanted:
        begin = 0
        for ranks in store.natural_pieces():
            if store.is_natural:
                return rank
            there = np.flatnonzero(ranks == rank)
            if len(there):
                return begin + int(there[0])
            begin += len(ranks)
    raise InputError("there is no such vertex", path=store.path, text=str(name))


def _wanted(store: Store, name: int | str) -> int | str:
    """The id as the store has it."""
    if store.record.id_kind == "string":
        return str(name)
    try:
        return int(name)
    except ValueError:
        raise InputError("the vertices of this store have numbers", path=store.path, text=str(name)) from None


def _rank(store: Store, wanted: int | str) -> int:
    """The first rank whose id is not below `wanted`."""
    if store.record.id_kind in ("identity", "offset"):
        return max(0, int(wanted) - store.record.first_id)
    return bisect_left(range(store.n_vertices), wanted,
                       key=lambda rank: store.ids_of_ranks(np.array([rank]))[0])
