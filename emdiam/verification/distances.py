"""Groups of label columns that are distances, checked against the edges in one pass.

The labels of a column are the distances from its vertex p if p alone has label 0 and, in the component of p, the
smallest label of the neighbours of every other vertex is smaller by 1 than its label, and no label of a neighbour is
larger by more than 1: the first gives a walk of so many edges to p, the second lets no walk be shorter (labels.py).

Bytes a vertex: the labels. Work: every arc of these components for every column.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..store.arc_runs import ArcRun
from .labels import GroupScan, LabelGroup


class DistanceGroup(LabelGroup):
    """A LabelGroup all of whose labels are distances, once checked."""

    def _new_scan(self) -> _Extremes:
        return _Extremes(self)

    def narrow(self, lower: np.ndarray, upper: np.ndarray) -> None:
        """Tighten the bounds (dtype[n] each) on eccentricities by the checked labels."""
        narrow_bounds(self.labels, self.member, self._begin, self.reach, lower, upper)

    def extremes(self, run: ArcRun, ids: np.ndarray, cut: np.ndarray, fault: np.ndarray) -> None:
        """check_neighbours on a run."""
        check_neighbours(run.rows, run.starts, ids, run.head, run.tail, self.labels, self.member, self._begin, cut,
                         fault)


class _Extremes(GroupScan):
    """One pass with a group; puts rows together that are cut between runs."""

    _group: DistanceGroup

    def __init__(self, group: DistanceGroup) -> None:
        super().__init__(group)
        self._cut: dict[int, np.ndarray] = {}

    def work(self, run: ArcRun, ids: np.ndarray) -> None:
        group, fault = self._group, np.full(2, -1, np.int64)
        cut = np.zeros((2, 2, len(group.columns)), group.labels.dtype)
        group.extremes(run, ids, cut, fault)
        with self._lock:
            if fault[0] >= 0:
                self._fault = (int(fault[0]), int(fault[1]))
            for at, is_cut in ((0, run.head), (len(run.rows) - 1, run.tail)):
                if is_cut:
                    self._put(int(run.rows[at]), cut[0 if at == 0 else 1])

    def _put(self, row: int, part: np.ndarray) -> None:
        before = self._cut.get(row)
        if before is not None:
            part = np.stack((np.minimum(before[0], part[0]), np.maximum(before[1], part[1])))
        self._cut[row] = part

    def orphan(self) -> tuple[int, int] | None:
        """(vertex, column) that breaks a rule; None if all is well."""
        group, fault = self._group, np.full(2, -1, np.int64)
        for row, (smallest, largest) in self._cut.items():
            if not row_is_right(group.labels, group.member, group._begin, row, smallest, largest, fault):
                return int(fault[0]), int(fault[1])
        return self._fault


@kernel
def check_neighbours(rows, starts, ids, head, tail, labels, member, begin, cut, fault):
    """Whether the labels of every row of a run are right beside those of its neighbours; fault = (vertex, column) if
    not. Of a row that is cut, cut[0] or, if it is the last and not the first, cut[1] gets the smallest and largest
    labels of the neighbours that are here."""
    columns = labels.shape[1]
    none = labels.dtype.type(np.iinfo(labels.dtype).max)
    smallest = np.empty(columns, labels.dtype)
    largest = np.empty(columns, labels.dtype)
    for i in range(len(rows)):
        v = rows[i]
        c = np.int64(member[v])
        if c == 0 or c >= len(begin) - 1:
            continue
        first, last = begin[c], begin[c + 1]
        for j in range(first, last):
            smallest[j] = none
            largest[j] = 0
        for p in range(starts[i], starts[i + 1]):
            row = labels[np.int64(ids[p])]
            for j in range(first, last):
                smallest[j] = min(smallest[j], row[j])
                largest[j] = max(largest[j], row[j])
        if (head and i == 0) or (tail and i == len(rows) - 1):
            for j in range(first, last):
                cut[0 if i == 0 else 1, 0, j] = smallest[j]
                cut[0 if i == 0 else 1, 1, j] = largest[j]
        elif not row_is_right(labels, member, begin, v, smallest, largest, fault):
            return


@kernel
def row_is_right(labels, member, begin, v, smallest, largest, fault):
    """Whether the labels of v are right beside those of its neighbours; fault = (v, column) if not."""
    c = np.int64(member[v])
    if c >= len(begin) - 1:
        return True
    for j in range(begin[c], begin[c + 1]):
        label = np.int64(labels[v, j])
        if np.int64(largest[j]) > label + 1 or (label > 0 and np.int64(smallest[j]) != label - 1):
            fault[0] = v
            fault[1] = j
            return False
    return True


@kernel
def narrow_bounds(labels, member, begin, reach, lower, upper):
    """max(d, ecc - d) <= eccentricity <= d + ecc for every column; upper stays where the sum is larger."""
    for v in range(len(member)):
        c = np.int64(member[v])
        if c == 0 or c >= len(begin) - 1:
            continue
        low, high = np.int64(lower[v]), np.int64(upper[v])
        for j in range(begin[c], begin[c + 1]):
            label = np.int64(labels[v, j])
            low = max(low, label, reach[j] - label)
            high = min(high, label + reach[j])
        lower[v] = low
        upper[v] = high
