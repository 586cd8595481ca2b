"""What methods that hold n^2 entries share: the rows of one component in memory, and the refusal of large graphs."""

from __future__ import annotations

import numpy as np

from ...engine.interface import Engine
from ...errors import BudgetError
from ...sssp.rows import WeightedRows

# Vertices that are looked up at a time.
_AT_ONCE = 1 << 12


def check_small(method: str, n_vertices: int, most: int, seconds: float) -> None:
    """Raise BudgetError for a graph of more than `most` vertices. seconds : what such a one takes, about."""
    if n_vertices > most:
        raise BudgetError(f"{method} is for graphs of at most {most:,} vertices, which take it {seconds:,.0f} s or"
                          f" more, and this one has {n_vertices:,}", remedy="use --method pivots")


def local_rows(engine: Engine, vertices: np.ndarray) -> WeightedRows:
    """The rows of these vertices (int64[k], ascending, all of a component), which are numbered from 0."""
    parts = [np.searchsorted(vertices, row).astype(np.uint32) for begin in range(0, len(vertices), _AT_ONCE)
             for row in engine.rows(vertices[begin : begin + _AT_ONCE])]
    offsets = np.zeros(len(vertices) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return WeightedRows(offsets, np.concatenate([np.empty(0, np.uint32), *parts]))
