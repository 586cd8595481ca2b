"""From the user's ids to vertices: one pass over the hashes of all ids, then a look at the ids.

Bytes a vertex: none beyond the hashes that the digest needs anyway.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..store.edge_digest import hash_ids
from ..store.store import Store

_PIECE = 1 << 18

Id = int | str


def find_vertices(store: Store, names: Sequence[Id], hashes: np.ndarray) -> np.ndarray:
    """The vertices with these ids, int64[k]; -1 where there is none.

    names : all integers or all strings. hashes : edge_digest.vertex_hashes(store).
    """
    if store.is_natural and store.record.id_kind not in ("int", "string"):
        return np.array([_numbered(store, name) for name in names], np.int64)
    if names and isinstance(names[0], str) != (store.record.id_kind == "string"):
        return np.full(len(names), -1, np.int64)
    distinct = list(dict.fromkeys(names))
    wanted = np.unique(hash_ids(distinct))  # type: ignore[arg-type]
    candidates: list[np.ndarray] = []
    for begin in range(0, len(hashes) if len(wanted) else 0, _PIECE):
        piece = hashes[begin : begin + _PIECE]
        at = np.minimum(np.searchsorted(wanted, piece), len(wanted) - 1)
        candidates.append(np.flatnonzero(wanted[at] == piece) + begin)
    vertices = np.concatenate(candidates) if candidates else np.empty(0, np.int64)
    # A hash may stand for several strings: the ids themselves decide.
    vertex_of: dict[Id, int] = dict(zip(store.user_ids(vertices), vertices.tolist(), strict=True))
    return np.array([vertex_of.get(name, -1) for name in names], np.int64)


def _numbered(store: Store, name: Id) -> int:
    vertex = name - store.record.first_id if isinstance(name, int) else -1
    return vertex if 0 <= vertex < store.n_vertices else -1
