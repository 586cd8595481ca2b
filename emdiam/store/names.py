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
    ranks = np.array([_rank_of(store, name) for name in names], np.int64)
    if store.is_natural or not len(ranks):
        return ranks
    wanted, begin = np.unique(ranks), 0
    found = np.full(len(wanted), -1, np.int64)
    for piece in store.natural_pieces():
        at = np.minimum(np.searchsorted(wanted, piece), len(wanted) - 1)
        there = np.flatnonzero(wanted[at] == piece)
        found[at[there]] = there + begin
        begin += len(piece)
        if (found >= 0).all():
            break
    vertices = found[np.searchsorted(wanted, ranks)]
    if (vertices < 0).any():
        raise _no_vertex(store, names[int((vertices < 0).argmax())])
    return vertices


def _rank_of(store: Store, name: int | str) -> int:
    """The natural rank of the vertex with this id. Raises InputError for an id that there is not."""
    wanted = _wanted(store, name)
    rank = _rank(store, wanted)
    if rank >= store.n_vertices or store.ids_of_ranks(np.array([rank]))[0] != wanted:
        raise _no_vertex(store, name)
    return rank


def _no_vertex(store: Store, name: int | str) -> InputError:
    return InputError("there is no such vertex", path=store.path, text=str(name))


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
