"""The orders by name, and the memory that each takes to find.

An order depends on the graph, the user's ids and the seed alone, not on the order of the store at hand. What brings
numba is imported when it is called for: an order without traversals does not pay for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import no_such
from ..store.store import Store
from .placing import by_degree, by_rank, degree_bytes, rank_bytes


@dataclass(frozen=True)
class Order:
    """name : of the order. place : finds the new number of every vertex, id_dtype[n], of an open engine, a seed and a
    folder for temporary files if it traverses, else of a store. state_bytes : what that takes at most, the result
    included, and what traversals hold for it, beside the table and the workspace of the engine."""

    name: str
    place: Callable[..., np.ndarray]
    state_bytes: Callable[[Store], int]
    traverses: bool = False


def _imported(module: str, name: str) -> Callable[..., Any]:
    """A function of a module of this room, which is imported when it is called."""
    return lambda *given: getattr(import_module(module, __package__), name)(*given)


ORDERS = {order.name: order for order in (
    Order("natural", by_rank, rank_bytes),
    Order("degree", by_degree, degree_bytes),
    Order("bfs", _imported(".bfs", "by_bfs"), _imported(".bfs", "bfs_bytes"), traverses=True),
    Order("cluster", _imported(".cluster", "by_clusters"), _imported(".cluster", "cluster_order_bytes"),
          traverses=True),
)}


def order_named(name: str) -> Order:
    """Raises InputError for an order that does not exist."""
    if name not in ORDERS:
        raise no_such("order", name, ORDERS)
    return ORDERS[name]
