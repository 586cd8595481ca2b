"""Distances and predecessors of all vertices in a file, in the ids of the user, in the order of the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..progress import Meter
from ..store.store import Store
from ..vertex_tables import PIECE, Piece, write_vertices
from .rows import unreached


def write_paths(path: Path, store: Store, distances: np.ndarray, predecessors: np.ndarray, meter: Meter) -> None:
    """Write id, distance (null without a path) and predecessor (null there and at the source). Raises InputError where
    it cannot be written."""
    meter.begin("write", len(distances), "vertices")
    try:
        write_vertices(path, _pieces(store, distances, predecessors, meter))
    finally:
        meter.end()


def _pieces(store: Store, distances: np.ndarray, predecessors: np.ndarray, meter: Meter) -> Iterator[Piece]:
    """The rows in pieces."""
    none = unreached(distances.dtype)
    for begin in range(0, len(distances), PIECE):
        part = slice(begin, min(begin + PIECE, len(distances)))
        before, there = predecessors[part], distances[part]
        # A vertex before none is named, and not shown.
        yield {"id": store.user_ids(np.arange(part.start, part.stop)), "distance": (there, there == none),
               "predecessor": (store.user_ids(np.maximum(before, 0)), before < 0)}
        meter.update(part.stop)
