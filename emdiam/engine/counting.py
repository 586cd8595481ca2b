"""Pairs by distance on engines without a traversal for it: from columns of distances, a few sources at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..traverse.columns import Column, smallest_dtype
from ..traverse.distance_table import DistanceTable
from ..traverse.tally import DistanceSums
from .needs import MOST_ON_DISK

if TYPE_CHECKING:
    from .interface import Traversing

_PIECE = 1 << 17
# Largest distances that fit columns of one, two and four bytes.
_WIDTHS = (0xFE, 0xFFFE, 0xFFFFFFFE)


class ColumnCounting:
    """The verb count_distances, by means of the engine's eccentricities with columns. Takes 1, 2 or 4 bytes a vertex
    for each source traversed at the same time; the pool limits their number."""

    def count_distances(self: Traversing, sources: np.ndarray, table: DistanceTable, *,
                        groups: np.ndarray | int = 0, sums: DistanceSums | None = None) -> None:
        """See Counting."""
        sources = np.asarray(sources, np.int64)
        rows = np.broadcast_to(groups, len(sources))
        done, width = 0, 0
        columns: list[Column] = []
        while done < len(sources):
            try:
                columns = _columns(self, _WIDTHS[width], len(sources) - done, columns)
                part = sources[done : done + len(columns)]
                self.eccentricities(part, columns=columns[: len(part)])
            except OverflowError:
                if width == len(_WIDTHS) - 1:
                    raise
                width, columns = width + 1, []
                continue
            for row, column in zip(rows[done : done + len(part)].tolist(), columns, strict=False):
                count_column(column, table, row)
                if sums is not None:
                    sums.add_column(column)
            done += len(part)

    def counted_at_once(self: Traversing) -> int:
        """See Counting."""
        return int(self.facts.batch_bits)  # type: ignore[attr-defined]


def _columns(engine: Traversing, largest: int, wanted: int, old: list[Column]) -> list[Column]:
    """Up to `wanted` unreached columns, as far as there is room. old : columns of the last call, to be reused."""
    facts = engine.facts  # type: ignore[attr-defined]
    room = facts.pool_bytes // max(1, facts.n_vertices * smallest_dtype(largest).itemsize)
    most = MOST_ON_DISK if facts.columns_on_disk else max(1, min(facts.batch_bits, room))
    columns = old[: min(wanted, most)]
    for column in columns:
        column.clear()
    return columns + [engine.new_column(largest) for _ in range(min(wanted, most) - len(columns))]


def count_column(column: Column, table: DistanceTable, row: int) -> None:
    """Add the number of vertices at each distance from the column's source to a row of the table."""
    for start in range(0, len(column), _PIECE):
        values = column.part(start, min(start + _PIECE, len(column)))
        table.add_values(row, values[(values != column.unreached) & (values != 0)].astype(np.int64))
