"""PivotBounds over workers: every rank folds its own range, the client merges what they found."""

from __future__ import annotations

import numpy as np

from ..traverse.columns import Column, smallest_dtype
from ..traverse.pivot_bounds import Folded, PivotBounds, fold_range, list_between, merged
from .columns import Columns, ref
from .rank import Part


class WorkerBounds(PivotBounds):
    """As PivotBounds; lower, upper and far are columns on workers, and distances must be one (else TypeError).

    columns : of the run. largest : eccentricity that there may be, to which upper bounds are cut."""

    def __init__(self, columns: Columns, largest: int) -> None:
        self._group, self._most = columns.group, largest
        dtype = smallest_dtype(largest)
        top = int(np.iinfo(dtype).max)
        self.lower, self.upper, self.far = (columns.make(dtype, top) for _ in range(3))

    def fold(self, source: int, distances: Column, eccentricity: int, limit: int) -> Folded:
        """See PivotBounds.fold."""
        keys = [ref(column).key for column in (distances, self.lower, self.upper, self.far)]
        about = np.array([source, eccentricity, limit, self._most])
        return merged(np.concatenate(self._group.everyone(fold_part, keys, about, label="fold-pivot")))

    def unsettled(self, limit: int) -> np.ndarray:
        """See PivotBounds.unsettled."""
        found: np.ndarray = np.concatenate(
            self._group.everyone(unsettled_of, ref(self.upper).key, limit, label="unsettled"))
        return found


def fold_part(part: Part, keys: list[int], about: np.ndarray) -> np.ndarray:
    """Verb: fold_pivot on this range; its `out`, int64[threads, 8]. keys : of distances, lower, upper, far."""
    return fold_range(part.core, [part.values[key][: part.stop] for key in keys], about, part.first)


def unsettled_of(part: Part, key: int, limit: int) -> np.ndarray:
    """Verb: vertices of this range with limit < value < unreached, ascending, int64[k]."""
    values = part.values[key][part.own]
    found: np.ndarray = list_between(values, limit, int(np.iinfo(values.dtype).max)) + part.first
    return found
