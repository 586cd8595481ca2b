"""Connected components of rows in RAM, in the numbers 0, 1, ... by their smallest vertex.

Work: m steps of nearly constant length. Bytes a vertex: 8. Source: Tarjan and van Leeuwen (1984), path halving.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...jit import kernel
from ...sssp.rows import WeightedRows
from ...traverse.components import _find, join
from ...weighted.components import point_to_roots


@dataclass(frozen=True)
class RowComponents:
    """component : int32[n_vertices], of every vertex. roots : int64[c], the smallest vertex of each, ascending.
    sizes : int64[c], vertices."""

    component: np.ndarray
    roots: np.ndarray
    sizes: np.ndarray

    @property
    def largest(self) -> int:
        """The one with the most vertices; of equal ones, that with the smallest vertex."""
        return int(self.sizes.argmax())


def row_components(rows: WeightedRows) -> RowComponents:
    """The components of an undirected graph."""
    parent = np.arange(rows.n_vertices, dtype=np.int64)
    unite_rows(rows.offsets, rows.heads, parent)
    point_to_roots(parent)
    roots = np.flatnonzero(parent == np.arange(rows.n_vertices))
    number = np.empty(rows.n_vertices, np.int32)
    number[roots] = np.arange(len(roots), dtype=np.int32)
    component = number[parent]
    return RowComponents(component, roots, np.bincount(component, minlength=len(roots)))


@kernel
def unite_rows(offsets, heads, parent):  # type: ignore[no-untyped-def]
    """Join the ends of every arc; the smaller root stays one."""
    for v in range(len(offsets) - 1):
        root = _find(parent, v)
        for p in range(offsets[v], offsets[v + 1]):
            root = join(parent, root, np.int64(heads[p]))
