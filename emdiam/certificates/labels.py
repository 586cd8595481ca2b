"""Groups of label columns, up to 64, checked against the edges in one pass.

A column belongs to a vertex p and gives every vertex v of the component C of p a label. Suppose that only p has label
0, and every other vertex of C has a neighbour whose label is smaller by exactly 1. Then there is a walk of label(v)
edges from v to p: d(v, p) <= label(v) on C, and ecc(p) is at most the largest label. If also no two neighbours in C
have labels that differ by more than 1 (the column is *level*), then label(v) <= d(v, p), and the labels are the
distances.

For a witness (p, q) alone any *potentials* do that are 0 at p and label(q) at q. Over short distances they are the
labels up to the middle of the way, those from q beyond it, and elsewhere the middle; then only the few rows whose
potential is not the middle are examined.

Bytes per vertex: the labels, one item per column. Work: arcs of a row are examined for a column until the parent is
found; for a level column without potentials, all arcs to larger vertices.

A DistanceGroup contains columns that are all distances, checked in one pass too. The labels of a column are the
distances from its vertex p if only p has label 0 and, in the component of p, the smallest label of a vertex's
neighbours is smaller than its own by exactly 1, and none is larger by more than 1: the first rule gives a walk of
label(v) edges to p, the second excludes a shorter one. Bytes per vertex: the labels. Work: every arc of these
components for every column.
"""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import EmdiamError
from ..jit import inlined, kernel
from ..store.arc_runs import ArcRun, Tick, Work, scan_arcs
from ..store.store import Store
from ..traverse.atomics import prefetch

MOST_COLUMNS = 64
# Arcs of a row that are examined together; the labels of their heads are prefetched by this number of arcs ahead, since
# rows of many columns are far apart.
_ARCS, _AHEAD = 4, 12
# Types of a row of labels of one byte, by the number of columns.
_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
# Up to these numbers of columns, of a group and of a certificate, are proposed with a BFS each: one multi-source BFS
# would not be quicker.
FEW_COLUMNS, FEW_IN_ALL = 4, 16
# Lengths of witnesses for which potentials take the place of a level column.
LEAST_HALVED, MOST_HALVED = 3, 16
REPORT = "this is a fault of emdiam or of the store: see emdiam info --check, and please report it"


@dataclass(frozen=True)
class LabelColumn:
    """The labels to be proposed from one vertex.

    component : number of its component, from 1. limit : the largest useful label. settles : whether its balls settle
    vertices. pairs : whether its labels prove pairs. level : whether it belongs to a witness. other : its other end.
    """

    vertex: int
    component: int
    limit: int
    settles: bool = False
    pairs: bool = False
    level: bool = False
    other: int = -1


@dataclass(frozen=True)
class Potentials:
    """values : unsigned[n], of the vertices. middle : the value whose rows need not be examined."""

    values: np.ndarray
    middle: int


class WrongLabel(EmdiamError):
    """A label is no distance."""


class LabelGroup:
    """Columns, sorted by component, with their labels.

    labels : unsigned[n, g], the largest value of the dtype means no label; filled by the caller. member : component of
    every vertex. reach : int64[g], largest label in the component, after the check. potentials : for the only level
    column, which is then no level one.
    """

    def __init__(self, columns: list[LabelColumn], labels: np.ndarray, member: np.ndarray,
                 potentials: Potentials | None = None) -> None:
        if len(columns) > MOST_COLUMNS or any(
                a.component > b.component for a, b in itertools.pairwise(columns)):
            raise ValueError(f"at most {MOST_COLUMNS} columns, sorted by component")
        self.columns, self.labels, self.member = columns, labels, member
        self._vertices = np.array([column.vertex for column in columns], np.int64)
        top = columns[-1].component if columns else 0
        # Vertices of components after the last one of the group have no columns in it either.
        self._begin = np.searchsorted([column.component for column in columns], np.arange(top + 2)).astype(np.int64)
        self._level = np.full(top + 1, -1, np.int64)
        for j, column in enumerate(columns):
            if column.level:
                if self._level[column.component] >= 0:
                    raise ValueError("a component has at most one level column in a group")
                self._level[column.component] = j
        self._levels, self._middle = np.empty(0, labels.dtype), np.int64(-1)
        if potentials is not None:
            self._levels, self._middle = potentials.values, np.int64(potentials.middle)
        self.reach = np.zeros(len(columns), np.int64)

    def check(self, store: Store, threads: int, tick: Tick | None = None, *, roomy: bool = False,
              beside: Work | None = None, ids: np.ndarray | None = None) -> None:
        """Prove that the columns have the module's properties, in one pass over the edges. roomy : whether another
        column fits in memory; level columns, whose every arc is examined, are read faster from a separate copy.
        beside : called with every run, too. ids : all neighbours, if they are in memory.

        Raises WrongLabel if they do not, which is a fault of the traversals, not of a certificate.
        """
        if not self.reach.any():  # unless it was found before
            self.find_reach(store)
        if len(self._levels):
            self._check_witness(store)
        elif roomy and len(self.columns) > 1 and (self._level >= 0).sum() == 1:
            self._levels = np.full(len(self.labels), np.iinfo(self.labels.dtype).max, self.labels.dtype)
            put_levels_apart(self.labels, self.member, self._level, self._levels)
        scan = self._new_scan()

        def work(run: ArcRun, ids: np.ndarray) -> None:
            scan.work(run, ids)
            if beside is not None:
                beside(run, ids)

        scan_arcs(store, threads, work, tick, ids=ids)
        self._levels = self._levels[:0].copy()
        orphan = scan.orphan()
        if orphan is not None:
            raise self._wrong(store, *orphan)

    def _check_witness(self, store: Store) -> None:
        """Raise WrongLabel if the potentials are not 0 and the label at the ends of the witness."""
        j = int(self._level.max())
        column = self.columns[j]
        if self._levels[column.vertex] or self._levels[column.other] != self.labels[column.other, j]:
            raise self._wrong(store, column.other, j)

    def find_reach(self, store: Store) -> None:
        """Fill reach, after a check of the labels' ends. Raises WrongLabel."""
        fault = np.full(2, -1, np.int64)
        if not self.check_ends(fault):
            raise self._wrong(store, int(fault[0]), int(fault[1]))

    def _new_scan(self) -> GroupScan:
        return GroupScan(self)

    def settle(self, limits: np.ndarray, settled: np.ndarray) -> None:
        """settled[v] = 1 (uint8[n]) if label(v) + reach <= limits[component] for a column that settles. limits : int64,
        by component number."""
        settles = np.array([column.settles for column in self.columns], np.uint8)
        settle_balls(self.labels, self.member, self._begin, settles, self.reach, limits, settled)

    def check_ends(self, fault: np.ndarray) -> bool:
        """See the kernel check_ends; fills reach."""
        return bool(check_ends(self.labels, self.member, self._begin, self._vertices, self.reach, fault))

    def scan_run(self, run: ArcRun, ids: np.ndarray, fault: np.ndarray) -> np.ndarray:
        """Apply check_rows, or check_words, to a run; returns its masks."""
        masks = np.zeros(2, np.uint64)
        if self.labels.itemsize == 1 and self.labels.shape[1] in _WORDS and len(self._begin) == 3:
            words = self.labels.view(_WORDS[self.labels.shape[1]]).reshape(-1)
            check_words(run.rows, run.starts, ids, run.head, run.tail, words, self.labels, self.member, self._level[1],
                        self._levels, self._middle, fault, masks)
            return masks
        check_rows(run.rows, run.starts, ids, run.head, run.tail, self.labels, self.labels.reshape(-1), self.member,
                   self._begin, self._level, self._levels, self._middle, fault, masks)
        return masks

    def _wrong(self, store: Store, vertex: int, column: int) -> WrongLabel:
        at, source = store.user_ids(np.array([vertex, self.columns[column].vertex]))
        return WrongLabel(f"what the traversal from vertex {source} says of vertex {at} is no distance: {REPORT}")


class GroupScan:
    """One pass with a group; combines rows that are cut between runs."""

    def __init__(self, group: LabelGroup) -> None:
        self._group, self._lock = group, threading.Lock()
        self._orphans: dict[int, int] = {}
        self._fault: tuple[int, int] | None = None

    def work(self, run: ArcRun, ids: np.ndarray) -> None:
        fault = np.full(2, -1, np.int64)
        masks = self._group.scan_run(run, ids, fault)
        with self._lock:
            if fault[0] >= 0:
                self._fault = (int(fault[0]), int(fault[1]))
            for at in {0, len(run.rows) - 1}:
                if (run.head and at == 0) or (run.tail and at == len(run.rows) - 1):
                    row = int(run.rows[at])
                    self._orphans[row] = self._orphans.get(row, -1) & int(masks[0 if at == 0 else 1])

    def orphan(self) -> tuple[int, int] | None:
        """(vertex, column) that breaks a rule, or None."""
        for row, mask in self._orphans.items():
            if mask:
                return row, (mask & -mask).bit_length() - 1
        return self._fault


def largest_label(upper: int, n_vertices: int) -> int:
    """The largest useful label: every distance is smaller than the number of vertices."""
    return max(0, min(upper, n_vertices - 1))


def label_dtype(largest: int) -> np.dtype[Any]:
    """The smallest dtype for labels up to `largest`, the next level, at which a BFS finds nothing more, and a value for
    no label.

    Raises OverflowError beyond 32 bits.
    """
    for dtype in (np.uint8, np.uint16, np.uint32):
        if largest + 1 < np.iinfo(dtype).max:
            return np.dtype(dtype)
    raise OverflowError(f"labels up to {largest} do not fit 32 bits")


@kernel
def check_ends(labels, member, begin, vertices, reach, fault):
    """Check that every vertex of a column's component has a label, and that only `vertices` have label 0. reach[j]
    becomes the largest label. Returns False, with fault = (vertex, column), if not."""
    none = np.iinfo(labels.dtype).max
    for v in range(len(member)):
        c = np.int64(member[v])
        if c == 0 or c >= len(begin) - 1:
            continue
        for j in range(begin[c], begin[c + 1]):
            label = labels[v, j]
            if label == none or (label == 0) != (v == vertices[j]):
                fault[0] = v
                fault[1] = j
                return False
            reach[j] = max(reach[j], np.int64(label))
    return True


@kernel
def check_rows(rows, starts, ids, head, tail, labels, flat, member, begin, level, levels, middle, fault, masks):
    """Check that every row of a run has a parent in every column of its component, and no steep arc in the level
    column; fault = (vertex, column) if not. For a cut row, the bits of masks are the columns in which this part has no
    parent: masks[0] for the first row, masks[1] for the last if it is another row.

    Parents are searched in all columns of a few arcs at once, until each column has one. flat : the labels in one row.
    levels : separate labels of the level columns, or potentials, or length 0. middle : of Potentials, or -1.
    """
    cast = labels.dtype.type
    found = np.empty(labels.shape[1], np.uint8)
    for i in range(len(rows)):
        v = rows[i]
        c = np.int64(member[v])
        if c == 0 or c >= len(begin) - 1:
            continue
        first, s = begin[c], level[c]
        if s >= 0 and is_steep(v, ids[starts[i] : starts[i + 1]], labels, s, levels, middle):
            fault[0] = v
            fault[1] = s
            return
        own = labels[v, first : begin[c + 1]]
        for j in range(len(own)):
            found[j] = own[j] == 0
        done = len(own) == 0
        p, end = starts[i], starts[i + 1]
        while p < end and not done:
            stop = min(p + _ARCS, end)
            for q in range(p + _AHEAD, min(stop + _AHEAD, end)):
                prefetch(flat, np.int64(ids[q]) * labels.shape[1])
            for q in range(p, stop):
                beside = labels[np.int64(ids[q]), first : begin[c + 1]]
                for j in range(len(own)):
                    found[j] |= np.uint8(cast(beside[j] + 1) == own[j])
            p = stop
            least = np.uint8(1)
            for j in range(len(own)):
                least = min(least, found[j])
            done = least != 0
        if done:
            continue
        for j in range(len(own)):
            if not found[j] and ((head and i == 0) or (tail and i == len(rows) - 1)):
                masks[0 if i == 0 else 1] |= np.uint64(1) << np.uint64(first + j)
            elif not found[j]:
                fault[0] = v
                fault[1] = first + j
                return


@kernel
def check_words(rows, starts, ids, head, tail, words, labels, member, s, levels, middle, fault, masks):
    """check_rows for columns of one byte, all of component 1, with the labels of a vertex in one word. words :
    unsigned[n], the rows of labels. s : the level column, or -1."""
    low = np.uint64(0x7F7F7F7F7F7F7F7F)
    for i in range(len(rows)):
        v = rows[i]
        if member[v] != 1:
            continue
        if s >= 0 and is_steep(v, ids[starts[i] : starts[i + 1]], labels, s, levels, middle):
            fault[0] = v
            fault[1] = s
            return
        own = np.uint64(words[v])
        found = zero_bytes(own)  # also those beyond the columns
        parent = own + (found >> np.uint64(7)) - np.uint64(0x0101010101010101)
        p = starts[i]
        while found != ~low and p < starts[i + 1]:
            found |= zero_bytes(np.uint64(words[np.int64(ids[p])]) ^ parent)
            p += 1
        for j in range(labels.shape[1] if found != ~low else 0):
            if (found >> np.uint64(8 * j + 7)) & np.uint64(1):
                continue
            if (head and i == 0) or (tail and i == len(rows) - 1):
                masks[0 if i == 0 else 1] |= np.uint64(1) << np.uint64(j)
            else:
                fault[0] = v
                fault[1] = j
                return


@inlined
def zero_bytes(word):
    """The highest bit of every byte of the word that is 0."""
    low = np.uint64(0x7F7F7F7F7F7F7F7F)
    return ~(((word & low) + low) | word | low)


@inlined
def is_steep(v, neighbours, labels, s, levels, middle):
    """Whether the label of v in column s and that of a larger neighbour differ by more than 1; smaller neighbours see
    the edge from their end. With potentials all neighbours, unless that of v is the middle: the middle ones see
    nothing. levels, middle : see check_rows."""
    own, steep = np.int64(levels[v] if len(levels) else labels[v, s]), False
    if own == middle:
        return False
    for w in neighbours:
        if w > v or middle >= 0:
            label = np.int64(levels[w]) if len(levels) else np.int64(labels[np.int64(w), s])
            steep |= abs(label - own) > 1
    return steep


@kernel
def halve(labels, j, length, near):
    """Turn the distances from the other end of a witness of this length into potentials; see Potentials. near :
    unsigned[n], those of less than the distance from the middle, the largest value of the dtype elsewhere."""
    none = np.iinfo(near.dtype).max
    middle = np.int64(length // 2)
    for v in range(len(near)):
        near[v] = length - near[v] if near[v] != none else min(np.int64(labels[v, j]), middle)


@kernel
def put_levels_apart(labels, member, level, levels):
    """levels[v] = the label of v in the level column of its component, if any."""
    for v in range(len(member)):
        c = np.int64(member[v])
        if c < len(level) and level[c] >= 0:
            levels[v] = labels[v, level[c]]


@kernel
def settle_balls(labels, member, begin, settles, reach, limits, settled):
    """settled[v] = 1 if labels[v, j] + reach[j] <= limits[component] for a settling column j."""
    for v in range(len(member)):
        c = np.int64(member[v])
        if c == 0 or c >= len(begin) - 1 or settled[v]:
            continue
        for j in range(begin[c], begin[c + 1]):
            if settles[j] and np.int64(labels[v, j]) + reach[j] <= limits[c]:
                settled[v] = 1
                break


class DistanceGroup(LabelGroup):
    """A LabelGroup whose labels are all proved to be distances by the check."""

    def _new_scan(self) -> _Extremes:
        return _Extremes(self)

    def narrow(self, lower: np.ndarray, upper: np.ndarray) -> None:
        """Tighten the bounds (dtype[n] each) on eccentricities with the checked labels."""
        narrow_bounds(self.labels, self.member, self._begin, self.reach, lower, upper)

    def extremes(self, run: ArcRun, ids: np.ndarray, cut: np.ndarray, fault: np.ndarray) -> None:
        """Apply check_neighbours to a run."""
        check_neighbours(run.rows, run.starts, ids, run.head, run.tail, self.labels, self.member, self._begin, cut,
                         fault)


class _Extremes(GroupScan):
    """One pass with a group; combines rows that are cut between runs."""

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
        """(vertex, column) that breaks a rule, or None."""
        group, fault = self._group, np.full(2, -1, np.int64)
        for row, (smallest, largest) in self._cut.items():
            if not row_is_right(group.labels, group.member, group._begin, row, smallest, largest, fault):
                return int(fault[0]), int(fault[1])
        return self._fault


@kernel
def check_neighbours(rows, starts, ids, head, tail, labels, member, begin, cut, fault):
    """Check the labels of every row of a run against those of its neighbours; fault = (vertex, column) if they are
    wrong. For a cut row, cut[0] (or cut[1] for the last row, if it is not the first) gets the smallest and largest
    labels of the neighbours in this run."""
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
    """Whether the labels of v are consistent with those of its neighbours; fault = (v, column) if not."""
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
    """Apply max(d, ecc - d) <= eccentricity <= d + ecc for every column; upper stays if the sum is larger."""
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
