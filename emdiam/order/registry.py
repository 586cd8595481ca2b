"""The orders by name, and the memory that each takes to find.

An order depends on the graph, the user's ids and the seed alone, not on the order of the store at hand. What brings
numba is imported when it is called for: an order without traversals does not pay for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import no_such
from ..store.store import Store
from .placing import by_degree, by_rank, degree_bytes, rank_bytes

if TYPE_CHECKING:
    from ..engine.needs import Needs


@dataclass(frozen=True)
class Order:
    """name : of the order. place : finds the new number of every vertex, id_dtype[n], of an open engine, a seed and a
    folder for temporary files if it traverses, else of a store. state_bytes : what that takes at most, the result
    included; None if it traverses. needs : of memory, (store) -> engine.needs.Needs; None if it does not."""

    name: str
    place: Callable[..., np.ndarray]
    state_bytes: Callable[[Store], int] | None = None
    needs: Callable[[Store], Needs] | None = None


def _imported(module: str, name: str) -> Callable[..., Any]:
    """A function of a module of this room, which is imported when it is called."""
    return lambda *given: getattr(import_module(module, __package__), name)(*given)


ORDERS = {order.name: order for order in (
    Order("natural", by_rank, rank_bytes),
    Order("degree", by_degree, degree_bytes),
    Order("bfs", _imported(".bfs", "by_bfs"), needs=_imported(".bfs", "bfs_needs")),
    Order("cluster", _imported(".cluster", "by_clusters"), needs=_imported(".cluster", "cluster_needs")),
)}


def order_named(name: str) -> Order:
    """Raises InputError for an order that does not exist."""
    if name not in ORDERS:
        raise no_such("order", name, ORDERS)
    return ORDERS[name]
