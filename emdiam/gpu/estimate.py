"""What a graph takes on a GPU that holds all of it, without looking at a GPU."""

from __future__ import annotations

from ..graph.store import Store
from .vram import state_bytes

_OFFSET_BYTES = 8


def resident_bytes(store: Store, method: str) -> int:
    """Bytes of offsets, edges and vertex state of `method`, as gpu/vram.py plans them; a GPU with less pages them."""
    n, item = store.n_vertices, store.id_dtype.itemsize
    return _OFFSET_BYTES * (n + 1) + item * store.n_arcs + state_bytes(n, item, method, False)
