"""Shared by methods with n^2 entries: the rows of one component in memory, and the refusal of large graphs."""

from __future__ import annotations

import numpy as np

from ...engine.interface import Engine
from ...errors import BudgetError
from ...paths.rows import WeightedRows
from ...store.store import Store

# Vertices looked up at a time, and arcs, unless they are one row.
_AT_ONCE, _ARCS_AT_ONCE = 1 << 12, 1 << 19
# Bytes for these rows: ids of 8 bytes, the look-up, and 112 bytes for each array.
_LOOKUP_BYTES = 12 << 20


def check_small(method: str, n_vertices: int, most: int, seconds: float) -> None:
    """Raise BudgetError for a graph of more than `most` vertices. seconds : about the time for such a graph."""
    if n_vertices > most:
        raise BudgetError(f"{method} is for graphs of at most {most:,} vertices, which take it {seconds:,.0f} s or"
                          f" more, and this one has {n_vertices:,}", remedy="use --method pivots")


def rows_bytes(store: Store) -> int:
    """Bytes of local_rows, with the rows that are looked up at a time."""
    return 4 * store.n_arcs + 24 * store.n_vertices + _LOOKUP_BYTES


def local_rows(engine: Engine, vertices: np.ndarray) -> WeightedRows:
    """The rows of these vertices (int64[k], ascending, all of a component), renumbered from 0."""
    offsets = np.zeros(len(vertices) + 1, np.int64)
    np.cumsum(engine.degrees(vertices), out=offsets[1:])
    heads, begin = np.empty(int(offsets[-1]), np.uint32), 0
    while begin < len(vertices):
        end = int(np.searchsorted(offsets, offsets[begin] + _ARCS_AT_ONCE, side="right")) - 1
        end = max(begin + 1, min(end, begin + _AT_ONCE))
        for v, row in enumerate(engine.rows(vertices[begin:end]), begin):
            heads[offsets[v] : offsets[v + 1]] = np.searchsorted(vertices, row)
        begin = end
    return WeightedRows(offsets, heads)
