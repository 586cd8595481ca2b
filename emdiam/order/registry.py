"""The orders by name, and the memory that each takes to find.

An order that traverses gets an open engine, any other the store alone. Both return the new number
of every vertex, id_dtype[n], and depend on the graph, the user's ids and the seed alone, not on the
order of the store at hand. What brings numba is imported when it is called for: an order without
traversals does not pay for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..store.store import Store
from .degree import by_degree, degree_bytes

if TYPE_CHECKING:
    from ..engine.cpu import CpuEngine


@dataclass(frozen=True)
class StoreOrder:
    """place : store -> new numbers. state_bytes : what it takes at most, the result included."""

    place: Callable[[Store], np.ndarray]
    state_bytes: Callable[[Store], int]


@dataclass(frozen=True)
class EngineOrder:
    """place : (engine, seed) -> new numbers. state_bytes : what it takes at most, the result and what
    traversals hold for it included, beside the table and the workspace of the engine."""

    place: Callable[[CpuEngine, int], np.ndarray]
    state_bytes: Callable[[Store], int]


def by_rank(store: Store) -> np.ndarray:
    """The new number of every vertex in the natural order: its natural rank, id_dtype[n]."""
    ranks = store.natural_ids()
    return np.arange(store.n_vertices, dtype=store.id_dtype) if ranks is None else ranks


def rank_bytes(store: Store) -> int:
    """Bytes that by_rank takes."""
    return store.n_vertices * store.id_dtype.itemsize


def _by_bfs(engine: CpuEngine, seed: int) -> np.ndarray:
    from .bfs import by_bfs

    return by_bfs(engine, seed)


def _bfs_bytes(store: Store) -> int:
    from .bfs import bfs_bytes

    return bfs_bytes(store)


def _by_clusters(engine: CpuEngine, seed: int) -> np.ndarray:
    from .cluster import by_clusters

    return by_clusters(engine, seed)


def _cluster_bytes(store: Store) -> int:
    from .cluster import cluster_order_bytes

    return cluster_order_bytes(store)


ORDERS: dict[str, StoreOrder | EngineOrder] = {
    "natural": StoreOrder(by_rank, rank_bytes),
    "degree": StoreOrder(by_degree, degree_bytes),
    "bfs": EngineOrder(_by_bfs, _bfs_bytes),
    "cluster": EngineOrder(_by_clusters, _cluster_bytes),
}


def order_named(name: str) -> StoreOrder | EngineOrder:
    """Raises InputError for an order that does not exist."""
    if name not in ORDERS:
        raise InputError("there is no such order", text=name, remedy="choose from: " + ", ".join(ORDERS))
    return ORDERS[name]
