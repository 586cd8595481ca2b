"""Finding vertices by the user's ids."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..distinct import distinct
from ..errors import InputError
from .store import Store

_NUMBER = re.compile(r"[+-]?\d+", re.ASCII)


def vertex_of(store: Store, name: int | str) -> int:
    """The vertex with this id; see vertices_of."""
    return int(vertices_of(store, [name])[0])


def vertices_of(store: Store, names: Sequence[int | str]) -> np.ndarray:
    """The vertices with these ids, int64[k]; if the ids are numbers, texts of digits will do.

    Reads a few chunks of ids for each; in a reordered store also the ranks, once, up to the last vertex found. Raises
    InputError for an unknown id.
    """
    return _at_ranks(store, np.array([_rank(store, name) for name in names], np.int64))


def found_vertices(store: Store, names: Sequence[int | str]) -> np.ndarray:
    """The vertices with these ids, all numbers or all strings, int64[k]; -1 for unknown ids.

    Reads all ids once, unless they are consecutive numbers, and in a reordered store the ranks.
    """
    ranks = _numbered(store, names) if store.record.id_kind in ("identity", "offset") else _hashed(store, names)
    ranks[ranks >= 0] = _at_ranks(store, ranks[ranks >= 0])
    return ranks


def _numbered(store: Store, names: Sequence[int | str]) -> np.ndarray:
    """Ranks of ids that are consecutive numbers; -1 if unknown."""
    first, n = store.record.first_id, store.n_vertices
    return np.array([name - first if isinstance(name, int) and 0 <= name - first < n else -1 for name in names],
                    np.int64)


def _hashed(store: Store, names: Sequence[int | str]) -> np.ndarray:
    """Ranks of other ids, found through hashes; ids with equal hashes are then compared themselves."""
    from .edge_digest import hash_ids, hash_pieces

    if not names or isinstance(names[0], str) != (store.record.id_kind == "string"):
        return np.full(len(names), -1, np.int64)
    wanted, begin, found = distinct(hash_ids(names)), 0, [np.empty(0, np.int64)]  # type: ignore[arg-type]
    for piece in hash_pieces(store):
        at = np.minimum(np.searchsorted(wanted, piece), len(wanted) - 1)
        found.append(np.flatnonzero(wanted[at] == piece) + begin)
        begin += len(piece)
    ranks = np.concatenate(found)
    rank_of: dict[int | str, int] = dict(zip(store.ids_of_ranks(ranks), ranks.tolist(), strict=True))
    return np.array([rank_of.get(name, -1) for name in names], np.int64)


def _at_ranks(store: Store, asked: np.ndarray) -> np.ndarray:
    """The vertices with these ranks, int64[k]. Raises StoreError."""
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


def _id(store: Store, name: Any) -> int | str:
    """The id of the kind of the store's ids. Raises InputError for fractions, bools and lists."""
    whole = isinstance(name, int | float | np.integer | np.floating) and not isinstance(name, bool) and name % 1 == 0
    if store.record.id_kind == "string" and (isinstance(name, str) or whole):
        return name if isinstance(name, str) else str(int(name))
    if store.record.id_kind != "string" and (whole or (isinstance(name, str) and _NUMBER.fullmatch(name.strip()))):
        return int(name)
    kind = "texts" if store.record.id_kind == "string" else "numbers"
    raise InputError(f"there is no vertex {name!r}: ids of this graph are {kind}", path=store.path,
                     remedy="name a vertex by its id")


def _rank(store: Store, name: int | str) -> int:
    """The natural rank of the vertex with this id. Raises InputError for an unknown id."""
    wanted = _id(store, name)
    rank = (max(0, int(wanted) - store.record.first_id) if store.record.id_kind in ("identity", "offset") else
            bisect_left(range(store.n_vertices), wanted, key=lambda rank: store.ids_of_ranks(np.array([rank]))[0]))
    if rank >= store.n_vertices or store.ids_of_ranks(np.array([rank]))[0] != wanted:
        first, last = store.ids_of_ranks(np.array([0, store.n_vertices - 1]))
        raise InputError("there is no such vertex", path=store.path, text=str(name),
                         remedy=f"ids of this graph go from {first} to {last}")
    return rank
