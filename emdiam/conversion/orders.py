"""The orders by name, and their memory.

An order depends only on the graph, the user's ids and the seed, not on the order of the given store. Modules with
kernels are imported on demand, so that an order without traversals does not load them.

Also here: new numbers from a key of every vertex, by a counting sort with ties by natural rank; and the orders natural
and degree, which need no traversal. All ties are resolved by natural ranks, not by the numbers in the given store, so
that the result does not depend on the store's order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import StoreError, no_such
from ..store.arc_runs import offset_pieces
from ..store.store import Store

if TYPE_CHECKING:
    from ..engine.needs import Needs

PIECE = 1 << 16
# Bytes of temporaries for each vertex of a piece, in a pass over all vertices in pieces of PIECE or a chunk.
_PIECE_BYTES = 128
# Pieces of four chunks of int64 offsets, and the values computed from them.
_OFFSET_BYTES = 4 * 8 * 6


def pass_bytes(store: Store) -> int:
    """Bytes that a pass over all vertices uses at a time."""
    return _PIECE_BYTES * max(PIECE, store.record.chunk_ids)


def natural_parts(store: Store) -> Iterator[tuple[slice, np.ndarray]]:
    """All vertices in order, in parts, with their natural ranks, int64[k]. Raises StoreError."""
    begin = 0
    for ranks in store.natural_pieces():
        yield slice(begin, begin + len(ranks)), ranks.astype(np.int64)
        begin += len(ranks)


def place_by_key(keys: np.ndarray, n_keys: int, store: Store | None = None) -> np.ndarray:
    """The new number of every vertex when sorted by key, then by natural rank.

    keys : id_dtype[n], each below n_keys; overwritten with the result. store : of the vertices; None if position is
    rank. RAM besides keys: n_keys + 1 ids, and n more for a reordered store.
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
        np.add.at(free, keys[begin : begin + PIECE].astype(np.int64) + 1, keys.dtype.type(1))
    np.cumsum(free, out=free, dtype=free.dtype)
    bits, places = np.uint64((PIECE - 1).bit_length()), np.arange(PIECE, dtype=np.uint64)
    for begin in range(0, len(keys), PIECE):
        part = keys[begin : begin + PIECE]
        # Sorting combined keys and places is several times faster than a stable sort of places by key.
        both = part.astype(np.uint64) << bits | places[: len(part)]
        both.sort()
        ordered = (both >> bits).astype(np.int64)
        both &= (np.uint64(1) << bits) - np.uint64(1)
        firsts = np.flatnonzero(np.diff(ordered, prepend=-1))
        counts = np.diff(firsts, append=len(ordered))
        distinct = ordered[firsts]
        among = np.arange(len(ordered)) - np.repeat(firsts, counts)
        part[both.view(np.int64)] = free[ordered] + among.astype(keys.dtype)
        free[distinct] += counts.astype(keys.dtype)


def rank_bytes(store: Store) -> int:
    """Bytes of a number for every vertex, for by_rank."""
    return store.n_vertices * store.id_dtype.itemsize


def by_rank(store: Store) -> np.ndarray:
    """The new number of every vertex in the natural order: its natural rank, id_dtype[n]."""
    ranks = store.natural_ids()
    return np.arange(store.n_vertices, dtype=store.id_dtype) if ranks is None else ranks


def degree_bytes(store: Store) -> int:
    """The largest memory of by_degree in bytes."""
    vectors = store.n_vertices * (1 if store.is_natural else 2) + store.record.max_degree + 2
    return vectors * store.id_dtype.itemsize + max(_OFFSET_BYTES * store.record.chunk_ids, pass_bytes(store))


def by_degree(store: Store) -> np.ndarray:
    """The new number of every vertex in descending order of degree, id_dtype[n]: the rows that a traversal of a skewed
    graph reads most are together. Vertices without an edge come last. Computed from the row offsets alone.

    Source: the relabelling of the GAP benchmark suite (Beamer, Asanovic, Patterson 2015), there for counting triangles.
    Raises StoreError for offsets that contradict the record.
    """
    largest = store.record.max_degree
    keys = np.empty(store.n_vertices, store.id_dtype)
    begin = 0
    for piece in offset_pieces(store.indptr):
        degrees = np.diff(piece)
        if len(degrees) and int(degrees.max()) > largest:
            raise StoreError(f"a vertex has degree {int(degrees.max())}, the store record says at most {largest}",
                             path=store.path, remedy="convert the graph again")
        keys[begin : begin + len(degrees)] = largest - degrees
        begin += len(degrees)
    return place_by_key(keys, largest + 1, store)


@dataclass(frozen=True)
class Order:
    """name : of the order. place : computes the new number of every vertex, id_dtype[n], from an open engine, a seed
    and a folder for temporary files if the order traverses, else from a store. state_bytes : upper bound of its memory,
    with the result; None if it traverses. needs : memory needs, (store) -> engine.needs.Needs; None if it does not
    traverse."""

    name: str
    place: Callable[..., np.ndarray]
    state_bytes: Callable[[Store], int] | None = None
    needs: Callable[[Store], Needs] | None = None


def _imported(module: str, name: str) -> Callable[..., Any]:
    """A function of a module in this package, imported when it is called."""
    return lambda *arguments: getattr(import_module(module, __package__), name)(*arguments)


ORDERS = {order.name: order for order in (
    Order("natural", by_rank, rank_bytes),
    Order("degree", by_degree, degree_bytes),
    Order("bfs", _imported(".order_bfs", "by_bfs"), needs=_imported(".order_bfs", "bfs_needs")),
    Order("cluster", _imported(".order_cluster", "by_clusters"), needs=_imported(".order_cluster", "cluster_needs")),
)}


def order_named(name: str) -> Order:
    """The order with this name. Raises InputError if it does not exist."""
    if name not in ORDERS:
        raise no_such("order", name, ORDERS)
    return ORDERS[name]
