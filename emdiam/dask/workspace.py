"""The state of traversals on a worker: as traverse.workspace.Workspace, without memory for what others own.

`visited` is the exception, and `frontier` on dense levels: their bits for vertices of others say what is known of
these, n/8 bytes each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..traverse.sparse import STATE
from ..traverse.workspace import Workspace, queue_capacity
from .reserved_arrays import virtual_zeros


class RangeWorkspace(Workspace):
    """See Workspace; every array is virtual."""

    def __init__(self, n_vertices: int, dtype: np.dtype[Any]) -> None:
        n_words = (n_vertices + 63) // 64
        self.capacity = queue_capacity(n_vertices)
        self.visited, self.before, self.frontier = (virtual_zeros(n_words, np.uint64) for _ in range(3))
        self.queues = virtual_zeros(2 * self.capacity, dtype).reshape(2, self.capacity)
        self.missed_v = virtual_zeros(self.capacity, dtype)
        self.missed_p = virtual_zeros(self.capacity, np.int64)
        self.state = np.zeros(STATE, np.int64)


def range_state_bytes(n_vertices: int, n_own: int, n_arcs: int, id_bytes: int) -> int:
    """Upper bound of the bytes of a range's table and workspace: bitmaps of the whole graph for `visited` and
    `frontier`, a queue that may hold neighbours of others, and the rest for n_own vertices."""
    queue = queue_capacity(n_vertices) * (3 * id_bytes + 8)
    offsets = (n_own // 64 + 1) * (8 + 128) + n_arcs // 128
    return n_vertices // 4 + n_own // 4 + queue + offsets
