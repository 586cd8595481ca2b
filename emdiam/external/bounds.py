"""Bounds on all eccentricities in columns on disk: traverse/pivot_bounds.py, page by page.

I/O of a fold: the distances, three columns and the offsets (8 bytes per vertex, unpacked) are read once, for pages with
a vertex that the traversal reached; the columns are written once where they changed.
"""

from __future__ import annotations

import numpy as np

from ..stream.offsets import build_offsets
from ..traverse.columns import Column, smallest_dtype
from ..traverse.pivot_bounds import Folded, PivotBounds, fold_pivot, list_between, merged
from .disk import Disk

_ROW, _CENTRE, _PERIPHERY = 8, 4, 7


class DiskPivotBounds(PivotBounds):
    """Bounds on disk. disk : of the engine. largest : see PivotBounds."""

    def __init__(self, disk: Disk, largest: int) -> None:
        self._disk, self._largest = disk, largest
        dtype = smallest_dtype(largest)
        self._columns = [disk.column(dtype) for _ in range(3)]
        self.lower, self.upper, self.far = self._columns

    def fold(self, source: int, distances: Column, eccentricity: int, limit: int) -> Folded:
        """See PivotBounds.fold."""
        page, n = self._disk.sizes.page, self._disk.n
        results = [np.array([[0, -1, -1, -1, -1, -1, -1, -1]])]
        for start in range(0, n, page):
            stop = min(start + page, n)
            away = distances.part(start, stop)
            if (away != distances.unreached).any():
                about = np.array([source - start, eccentricity, limit, self._largest])
                results.append(self._fold_page(start, away, about))
        return merged(np.concatenate(results))

    def _fold_page(self, start: int, away: np.ndarray, about: np.ndarray) -> np.ndarray:
        """Apply fold_pivot to one page; its `out`, in vertex numbers of the graph."""
        stop = start + len(away)
        columns = [column.part(start, stop) for column in self._columns]
        before = [column.copy() for column in columns]
        bounds = self._disk.rows.read_bounds(start, stop + 1)
        offsets = build_offsets(len(away), iter((bounds - bounds[0],)))
        out = np.full((1, _ROW), -1, np.int64)
        fold_pivot(np.zeros(2, np.int64), len(away), away, about, *columns, offsets.group, offsets.row, offsets.hub,
                   out)
        for column, old, new in zip(self._columns, before, columns, strict=True):
            if not np.array_equal(old, new):
                column.set_part(start, new)
        out[0, [place for place in (_CENTRE, _PERIPHERY) if out[0, place] >= 0]] += start
        return out

    def unsettled(self, limit: int) -> np.ndarray:
        """See PivotBounds.unsettled."""
        upper, page = self._columns[1], self._disk.sizes.page
        return np.concatenate([np.empty(0, np.int64), *(
            list_between(upper.part(start, start + page), limit, upper.unreached) + start
            for start in range(0, self._disk.n, page))])
