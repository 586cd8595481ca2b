"""The file of all eccentricities: one writer for all metrics.

The name of a vertex's component is the id of its first vertex in the order of the store; along arcs it is the strong
component.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from ...store.store import Store
from ...vertex_tables import PIECE, Piece, write_vertices

# (first vertex, lower, upper) of consecutive vertices, as users see them.
Pieces = Iterable[tuple[int, np.ndarray, np.ndarray]]


def write_table(path: Path, store: Store, bounds: Pieces, first_of: Callable[[np.ndarray], np.ndarray],
                intervals: bool = False) -> None:
    """Write a row for every vertex in the order of the store: id, eccentricity, component.

    Parameters
    ----------
    path : Parquet, or CSV by its name.
    bounds : of all vertices, in their order.
    first_of : the first vertex in the component of each of some consecutive vertices, int64[k].
    intervals : whether the columns are lower and upper in place of eccentricity.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    def rows(start: int, lower: np.ndarray, upper: np.ndarray) -> Piece:
        ids = np.arange(start, start + len(lower))
        columns = {"lower": lower, "upper": upper} if intervals else {"eccentricity": lower}
        return {"id": store.user_ids(ids), **columns, "component": store.user_ids(first_of(ids))}

    write_vertices(path, (rows(*piece) for piece in bounds), "the table of eccentricities")


def in_pieces(lower: np.ndarray, upper: np.ndarray) -> Pieces:
    """Bounds of all vertices in the form that write_table takes."""
    for start in range(0, len(lower), PIECE):
        yield start, lower[start : start + PIECE], upper[start : start + PIECE]
