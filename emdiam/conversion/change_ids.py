"""The vertices of a changed store: ids in the changes get their places among the store's ids.

Ids are processed in increasing order, numbers as uint64, strings as large_binary. The new numbers of the store's own
vertices have the same order as the old ones, so that its rows stay sorted. RAM: the ids in the changes and a few
numbers for each; a piece of the store's ids. I/O: the store's array of ids, if any, twice.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..store.arc_runs import offset_pieces
from ..store.array_reader import read_slice
from ..store.store import Store
from ..store.writer import StoreWriter
from .intake import VertexNumbering, numbering_of

Numbers = npt.NDArray[np.int64]
Ids = Any  # uint64[k], or a large_binary array of pyarrow

_STRINGS = 1 << 14  # in a piece


def id_pieces(store: Store) -> Iterator[Ids]:
    """The ids of a naturally ordered store in increasing order, in pieces. Raises StoreError."""
    if store.record.id_kind == "string":
        yield from _string_pieces(store)
        return
    first = np.uint64(store.record.first_id)
    for ids in store.values("vertex_id") if store.record.id_kind == "int" else store.natural_pieces():
        yield ids.astype(np.uint64) + first


def _string_pieces(store: Store) -> Iterator[Any]:
    text = store.array("vertex_id_bytes")
    for offsets in offset_pieces(store.array("vertex_id_offsets")):
        for begin in range(0, len(offsets) - 1, _STRINGS):
            ends = offsets[begin : begin + _STRINGS + 1]
            if ends[-1] > text.length:
                raise store.damaged(f"vertex_id_bytes end after {text.length} bytes")
            yield _strings(ends - ends[0], read_slice(text, int(ends[0]), int(ends[-1])))


def _strings(offsets: Numbers, text: np.ndarray) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1,
                                 [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(text)])


def all_ids(store: Store) -> Ids:
    """All ids of the store at once."""
    if store.record.id_kind != "string":
        return np.concatenate([_no_ids(store), *id_pieces(store)])
    import pyarrow as pa

    return pa.concat_arrays([_no_ids(store), *id_pieces(store)])


def _no_ids(store: Store) -> Ids:
    """An empty array of ids of the store's kind."""
    if store.record.id_kind != "string":
        return np.empty(0, np.uint64)
    import pyarrow as pa

    return pa.array([], pa.large_binary())


def id_bytes(store: Store) -> int:
    """The largest memory of all_ids while it works."""
    text = store.array("vertex_id_bytes").length if store.record.id_kind == "string" else 0
    return 2 * (8 * store.n_vertices + text)


def places_of(ids: Ids, store: Store) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """The number of smaller ids in the store for each of `ids`, which ascend, and whether the store has the id."""
    ranks, known = np.full(len(ids), store.n_vertices, np.int64), np.zeros(len(ids), np.bool_)
    before = begin = 0
    for piece in id_pieces(store):
        if begin == len(ids):
            break
        stop = _up_to(ids, begin, piece[-1])
        smaller, known[begin:stop] = _search(piece, ids[begin:stop])
        ranks[begin:stop] = before + smaller
        before, begin = before + len(piece), stop
    return ranks, known


def _up_to(ids: Ids, begin: int, bound: Any) -> int:
    """The end of the ids, from `begin` on, that are at most the bound."""
    if isinstance(ids, np.ndarray):
        return begin + int(np.searchsorted(ids[begin:], bound, "right"))
    return bisect_right(range(len(ids)), bound.as_py(), begin, key=lambda at: ids[at].as_py())


def _search(piece: Ids, ids: Ids) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """Like places_of, within a piece whose last id is not below any of `ids`."""
    if isinstance(ids, np.ndarray):
        smaller = np.searchsorted(piece, ids)
        return smaller, piece[smaller] == ids
    import pyarrow as pa
    import pyarrow.compute as pc

    # In the common order, an id comes after the smaller ones of both.
    position = np.empty(len(piece) + len(ids), np.int64)
    position[pc.array_sort_indices(pa.concat_arrays([piece, ids])).to_numpy()] = np.arange(len(position))
    same = pc.fill_null(pc.index_in(ids, value_set=piece), -1).to_numpy()
    return np.where(same >= 0, same, position[len(piece):] - np.arange(len(ids))), same >= 0


@dataclass(frozen=True)
class NewVertices:
    """New vertices of a store: their ids, increasing, and the old vertices before which they are inserted, int64[k]."""

    ids: Ids
    before: Numbers

    @classmethod
    def of(cls, store: Store, added: Store | None) -> tuple[NewVertices, Numbers]:
        """The vertices of `added` that are new to `store`, and the new numbers of all vertices of `added`."""
        if added is None:
            none = np.empty(0, np.int64)
            return cls(_no_ids(store), none), none
        ids = all_ids(added)
        ranks, known = places_of(ids, store)
        fresh = np.flatnonzero(~known)
        return cls(ids.take(fresh), ranks[fresh]), ranks + np.cumsum(~known) - ~known

    def numbers(self, old: Numbers) -> Numbers:
        """The new numbers of old vertices."""
        return old + np.searchsorted(self.before, old, "right") if len(self.before) else old

    def write_ids(self, store: Store, writer: StoreWriter) -> VertexNumbering:
        """Write the ids of all vertices, if they need an array. Returns their numbering."""
        n = store.n_vertices + len(self.before)
        if store.record.id_kind == "string":
            for names in self._merged(store):
                writer.append_vertex_strings(names)
            return VertexNumbering(n, "string")
        ends = [*map(int, store.ids_of_ranks(np.array([0, store.n_vertices - 1]))), *map(int, self.ids[:1]),
                *map(int, self.ids[-1:])]
        numbering = numbering_of(n, min(ends), max(ends))
        if numbering.id_kind == "int":
            signed = max(ends) < 1 << 63
            for ids in self._merged(store):
                writer.append_ids("vertex_id", ids.view(np.int64) if signed else ids)
        return numbering

    def _merged(self, store: Store) -> Iterator[Ids]:
        """The ids of all vertices, in pieces."""
        done = begin = 0
        for piece in id_pieces(store):
            stop = int(np.searchsorted(self.before, done + len(piece)))
            yield _with(piece, self.before[begin:stop] - done, self.ids[begin:stop])
            done, begin = done + len(piece), stop
        if begin < len(self.ids):
            yield self.ids[begin:]


def _with(piece: Ids, before: Numbers, ids: Ids) -> Ids:
    """The piece, with additional ids inserted before some of its own."""
    if isinstance(ids, np.ndarray):
        return np.insert(piece, before, ids)
    import pyarrow as pa

    order = np.insert(np.arange(len(piece)), before, np.arange(len(piece), len(piece) + len(ids)))
    return pa.concat_arrays([piece, ids]).take(pa.array(order))
