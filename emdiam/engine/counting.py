"""Pairs by distance on engines that have no traversal for it: from columns of distances, a few sources at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..traverse.columns import Column, smallest_dtype
from ..traverse.tally import DistanceSums, added, added_from
from .needs import MOST_ON_DISK

if TYPE_CHECKING:
    from .interface import Traversing

_PIECE = 1 << 17
# Largest distances that columns of one, two and four bytes hold.
_WIDTHS = (0xFE, 0xFFFE, 0xFFFFFFFE)


class ColumnCounting:
    """The verb count_distances of an engine by its eccentricities with columns. Bytes a vertex: 1, 2 or 4 for each of
    the sources that are traversed together, as many as the pool has room for."""

    def count_distances(self: Traversing, sources: np.ndarray, *, groups: np.ndarray | None = None,  # type: ignore[misc]
                        sums: DistanceSums | None = None) -> np.ndarray:
        """See Counting."""
        sources = np.asarray(sources, np.int64)
        groups = np.zeros(len(sources), np.int64) if groups is None else groups
        counts = np.zeros((int(groups.max(initial=0)) + 1, 1), np.int64)
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
            for group, column in zip(groups[done : done + len(part)].tolist(), columns, strict=False):
                counts = added_from(counts, group, _histogram(column))
                if sums is not None:
                    sums.add_column(column)
            done += len(part)
        return counts


def _columns(engine: Traversing, largest: int, wanted: int, old: list[Column]) -> list[Column]:
    """Unreached columns, as many as are wanted, and as there is room for. old : some of before."""
    facts = engine.facts  # type: ignore[attr-defined]
    room = facts.pool_bytes // max(1, facts.n_vertices * smallest_dtype(largest).itemsize)
    most = MOST_ON_DISK if facts.columns_on_disk else max(1, min(facts.batch_bits, room))
    columns = old[: min(wanted, most)]
    for column in columns:
        column.clear()
    return columns + [engine.new_column(largest) for _ in range(min(wanted, most) - len(columns))]


def _histogram(column: Column) -> np.ndarray:
    """Vertices at each distance, int64[1, largest + 1]."""
    counts = np.zeros((1, 1), np.int64)
    for start in range(0, len(column), _PIECE):
        values = column.part(start, min(start + _PIECE, len(column)))
        reached = values[values != column.unreached]
        counts = added(counts, np.bincount(reached.astype(np.int64), minlength=1)[None, :])
    return counts
