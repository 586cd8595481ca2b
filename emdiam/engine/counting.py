"""Pairs by distance on engines that have no traversal for it: from columns of distances, a few sources at a time."""

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
# Largest distances that columns of one, two and four bytes hold.
_WIDTHS = (0xFE, 0xFFFE, 0xFFFFFFFE)


class ColumnCounting:
    """The verb count_distances of an engine by its eccentricities with columns. Bytes a vertex: 1, 2 or 4 for each of
    the sources that are traversed together, as many as the pool has room for."""

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


def _columns(engine: Traversing, largest: int, wanted: int, old: list[Column]) -> list[Column]:
    """Unreached columns, as many as are wanted, and as there is room for. old : some of before."""
    facts = engine.facts  # type: ignore[attr-defined]
    room = facts.pool_bytes // max(1, facts.n_vertices * smallest_dtype(largest).itemsize)
    most = MOST_ON_DISK if facts.columns_on_disk else max(1, min(facts.batch_bits, room))
    columns = old[: min(wanted, most)]
    for column in columns:
        column.clear()
    return columns + [engine.new_column(largest) for _ in range(min(wanted, most) - len(columns))]


def count_column(column: Column, table: DistanceTable, row: int) -> None:
    """Add the vertices at each distance of the source of a column to a row."""
    for start in range(0, len(column), _PIECE):
        values = column.part(start, min(start + _PIECE, len(column)))
        table.add_values(row, values[(values != column.unreached) & (values != 0)].astype(np.int64))
