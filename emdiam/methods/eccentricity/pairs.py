"""Pairs of vertices that the distances to some sources do not prove near.

Let L(v) be the lower bound of an open vertex v, and d_i the distances to the sources p_i. Then ecc(v) = L(v) if every w
has U(v, w) = min_i d_i(v) + d_i(w) <= L(v). So a vertex can be settled without a source near it, by several sources on
shortest paths from it to far vertices. The pairs (v, w) with U(v, w) > L(v) are *open*. Once listed they only get
fewer, since U falls and L grows with every source; columns are not needed again. A vertex in no open pair is settled.
A pair also ends when v or w becomes a source: so vertices in many open pairs are taken as sources.

If sources cut a component into parts (by_pairs.py) and w is in another part than v, U(v, w) is the distance, and L(v)
is at least that.

For a vertex v, let i be the source of the smallest d_i(v) + ecc(p_i). Only those w can be in an open pair with v that
are farther than L(v) - d_i(v) from p_i: few, which are listed for all vertices with that i together. The distances of a
vertex to LANES sources are side by side in memory, so that a processor adds and compares them at once. Sums that do not
fit count as the largest value, which is no distance.
Passes: none. Bytes: two columns for each source whose distances are stored; 24 for an open pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...jit import inlined, kernel
from ...progress import Tick

# Vertices that are compared at a time with the vertices far from their source.
_TOGETHER = 1 << 10
# Vertices for which candidates far from none of them are ruled out together.
_ALIKE = 32
# Sources in a plane: a cache line, if distances have one byte.
LANES = 64
# Bound of a pair whose sum does not fit a plane: a smaller value would end it too early, once lower bounds need wider
# planes.
_UNKNOWN = np.int64(1) << 62
# The largest number of pairs examined to find vertices in many pairs.
_LOOKED_AT = 1 << 18


class PairTable:
    """Distances of the vertices first..first+m-1 to some sources, and the open pairs that follow.

    threads : for kernels. room : bytes for columns, and for planes of all of them."""

    def __init__(self, first: int, threads: int, room: int = 0) -> None:
        self._first, self._threads, self._room = first, threads, room
        self.sources: list[int] = []
        self.columns: list[np.ndarray] = []
        self.eccentricities: list[int] = []
        self._longest = 0  # upper bound on lower bounds, and on distances that must be exact
        self._planes = np.empty((0, 0, LANES), np.uint8)
        self._laid = 0  # number of columns already in planes

    def add(self, source: int, column: np.ndarray, eccentricity: int) -> None:
        """Add distances unsigned[m] from a source, unreached in other components; stored in the fewest bytes."""
        kind = np.min_scalar_type(eccentricity + 1)
        self.sources.append(source)
        self.columns.append(np.minimum(column, np.iinfo(kind).max).astype(kind))
        self.eccentricities.append(eccentricity)

    @property
    def room(self) -> int:
        """Number of columns that may be added."""
        if not self.columns:
            return LANES
        a_source = len(self.columns[0]) * (self._kind.itemsize + max(column.itemsize for column in self.columns))
        return max(0, self._room // a_source - len(self.columns))

    def open_pairs(
        self, vertices: np.ndarray, lower: np.ndarray, parts: np.ndarray, is_source: np.ndarray, most: int, tick: Tick
    ) -> OpenPairs | None:
        """The open pairs of these vertices (int64[k]) with these lower bounds (int64[k]), which are raised to distances
        to other parts; None if there are more than `most`. parts : int32[m]; no edge joins two parts except at a source
        of this table. is_source : bool[m]."""
        self._longest = max([self._longest, int(lower.max()), *self.eccentricities])
        while True:
            self._lay()
            try:
                return self._listed(vertices, lower, parts, is_source, most, tick)
            except _TooNarrow:  # distances across parts are longer than any known before
                self._longest = np.iinfo(self._kind).max

    def _listed(
        self, vertices: np.ndarray, lower: np.ndarray, parts: np.ndarray, is_source: np.ndarray, most: int, tick: Tick
    ) -> OpenPairs | None:
        """The same, with planes of the present dtype. Raises _TooNarrow."""
        nearest = np.empty(len(vertices), np.int64)
        planes = self._planes[: -(-self._laid // LANES)]  # the others are still empty
        nearest_sources(planes, vertices - self._first, np.array(self.eccentricities), nearest)
        order = np.argsort(nearest, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(nearest[order])) + 1)
        found: list[OpenPairs] = []
        with ThreadPoolExecutor(self._threads) as pool:
            tasks = [pool.submit(self._group, vertices[some], some, lower, int(nearest[some[0]]), parts, is_source,
                                 most)
                     for group in groups for some in _cut(group)]
            try:
                for task in tasks:
                    part = task.result()
                    if part is None or sum(map(len, found)) + len(part) > most:
                        return None
                    found.append(part)
                    tick()
            finally:
                for task in tasks:
                    task.cancel()
        near, far, bound = (np.concatenate(some) for some in zip(
            *((part.near, part.far, part.bound) for part in found), strict=True))
        return OpenPairs(near, far, bound, self._first)

    def _group(
        self, vertices: np.ndarray, at: np.ndarray, bounds: np.ndarray, source: int, parts: np.ndarray,
        is_source: np.ndarray, most: int,
    ) -> OpenPairs | None:
        """The open pairs of vertices with the same best source. at : their indices in `bounds`, the lower bounds."""
        column, places = self.columns[source], vertices - self._first
        order = np.argsort(bounds[at] - column[places], kind="stable")  # vertices with similar sets of candidates
        vertices, at, places = vertices[order], at[order], places[order]
        left = bounds[at] - column[places]
        away = np.empty(len(column), np.int64)
        away = away[: far_places(column, is_source, int(left.min()), away)]
        away = away[np.argsort(column[away], kind="stable")[::-1]]
        planes = self._planes[: -(-self._laid // LANES)]
        room = np.empty((2, len(away)), np.int64), np.empty((len(planes), LANES), planes.dtype)
        capacity = min(most, max(1 << 12, 16 * len(vertices))) + 1
        while True:
            out, lower = np.empty((capacity, 3), np.int64), bounds[at]
            count = list_open(planes, lower, column[places].astype(np.int64), column[away].astype(np.int64),
                              places, away, parts, room, out)
            bounds[at] = lower
            if count < 0:
                raise _TooNarrow
            if count <= capacity:
                number, other, bound = out[:count].T
                kept = bound > lower[number]
                return OpenPairs(vertices[number[kept]], other[kept] + self._first, bound[kept], self._first)
            if count > most:
                return None
            capacity = count

    # -- distances side by side -----------------------------------------------------------------
    @property
    def _kind(self) -> np.dtype[Any]:
        """The dtype of unsigned integers for all distances and lower bounds, and one larger value."""
        return lane_kind(max([self._longest, *self.eccentricities]))

    def _lay(self) -> None:
        """Copy all columns to planes, unsigned[planes, m, LANES]. Unused lanes have a value beyond all distances."""
        kind, count = self._kind, -(-len(self.columns) // LANES)
        if kind != self._planes.dtype or count > len(self._planes):
            self._planes = np.empty((0, 0, LANES), kind)
            most = max(count, (len(self.columns) + self.room) // LANES)  # unwritten parts take no memory
            self._planes, self._laid = np.empty((most, len(self.columns[0]), LANES), kind), 0
        first = self._laid // LANES
        for plane in range(first, count):
            lay_side_by_side(self.columns[plane * LANES : (plane + 1) * LANES], self._planes[plane])
        self._laid = len(self.columns)


class _TooNarrow(Exception):
    """A distance does not fit the planes."""


def lane_kind(longest: int) -> np.dtype[Any]:
    """The smallest unsigned dtype for values up to `longest`, and one larger value."""
    return next(np.dtype(kind) for kind in (np.uint8, np.uint16, np.uint32) if longest < np.iinfo(kind).max)


def lay_side_by_side(columns: Sequence[np.ndarray], plane: np.ndarray) -> None:
    """plane[v, i] = columns[i][v], unsigned[m, lanes]; the largest value without a column."""
    plane[:, len(columns):] = np.iinfo(plane.dtype).max
    for start in range(0, len(plane), _TOGETHER):  # small enough for the cache, since each row takes from all columns
        for i, column in enumerate(columns):
            plane[start : start + _TOGETHER, i] = column[start : start + _TOGETHER]


def _cut(group: np.ndarray) -> Sequence[np.ndarray]:
    return [group[start : start + _TOGETHER] for start in range(0, len(group), _TOGETHER)]


class OpenPairs:
    """Pairs (near, far) with the smallest sum of distances so far, int64[k] each; `near` is to be settled. first : the
    smallest vertex of the range."""

    def __init__(self, near: np.ndarray, far: np.ndarray, bound: np.ndarray, first: int = 0) -> None:
        self.near, self.far, self.bound, self._first = near, far, bound, first

    def __len__(self) -> int:
        return len(self.near)

    def heaviest(self, count: int) -> np.ndarray:
        """At most `count` vertices that are in many of the pairs, each chosen by the pairs that the others leave (ties:
        the smallest), int64[k]. If there are very many pairs, only some are examined."""
        step = 1 + len(self.near) // _LOOKED_AT
        near, far = self.near[::step], self.far[::step]
        vertices, ends = np.unique(np.concatenate((near, far)), return_inverse=True)
        chosen = np.empty(min(count, len(vertices)), np.int64)
        taken = int(cover_pairs(ends[: len(near)].astype(np.int64), ends[len(near) :].astype(np.int64), len(vertices),
                                chosen))
        return vertices[chosen[:taken]]

    def near_ones(self) -> np.ndarray:
        """The vertices to be settled, ascending, int64[k]."""
        marks = np.zeros(int(self.near.max(initial=self._first)) + 1 - self._first, bool)
        marks[self.near - self._first] = True
        return np.flatnonzero(marks) + self._first

    def tighten(self, columns: Sequence[np.ndarray], longest: int) -> None:
        """Lower the bounds by the distances of the vertices from `first` on to some sources, unsigned[m] each. longest
        : upper bound on distances and lower bounds."""
        for start in range(0, len(columns), LANES):
            some = columns[start : start + LANES]
            plane = np.empty((len(some[0]), len(some)), lane_kind(longest))
            lay_side_by_side(some, plane)
            tighten_pairs(self.near, self.far, self.bound, self._first, plane)

    def drop(self, lower: np.ndarray, is_open: np.ndarray) -> None:
        """Remove the pairs of closed vertices, and those within lower bounds. lower, is_open : of the vertices
        from `first` on, unsigned[m], bool[m]."""
        left = int(keep_open(self.near, self.far, self.bound, self._first, lower, is_open))
        self.near, self.far, self.bound = self.near[:left], self.far[:left], self.bound[:left]


@inlined
def _least_sum(first, second):
    """The smallest of the sums in all lanes of two rows."""
    cast = first.dtype.type
    top = cast(np.iinfo(first.dtype).max)
    least = top
    for i in range(first.shape[0]):
        a = first[i]
        least = min(least, cast(a + min(second[i], cast(top - a))))
    return least


@kernel(uncompiled=True)
def tighten_pairs(near, far, bound, first, plane):
    """bound[i] = min(bound[i], sums of the rows of both ends in the plane)."""
    top = np.iinfo(plane.dtype).max
    for i in range(len(near)):
        least = _least_sum(plane[near[i] - first], plane[far[i] - first])
        if least < top:
            bound[i] = min(bound[i], np.int64(least))


@kernel(uncompiled=True)
def keep_open(near, far, bound, first, lower, is_open):
    """Move pairs to the front whose near end is open and has a lower bound below theirs; returns their number."""
    count = 0
    for i in range(len(near)):
        v = near[i] - first
        near[count], far[count], bound[count] = near[i], far[i], bound[i]
        count += is_open[v] and bound[i] > np.int64(lower[v])
    return count


@kernel(uncompiled=True)
def nearest_sources(planes, places, eccentricities, nearest):
    """nearest[i] = the first source with the smallest distance + eccentricity for places[i]."""
    for i in range(len(places)):
        best = np.int64(1) << 60
        for source in range(len(eccentricities)):
            way = np.int64(planes[source // LANES, places[i], source % LANES]) + eccentricities[source]
            if way < best:
                best = way
                nearest[i] = source


@kernel(uncompiled=True)
def far_places(column, is_source, least, away):
    """Fill `away` with the places beyond `least` in a column that are reached and no sources; returns their number."""
    none, count = np.int64(np.iinfo(column.dtype).max), 0
    for v in range(len(column)):
        d = np.int64(column[v])
        if d > least and d != none and not is_source[v]:
            away[count] = v
            count += 1
    return count


@kernel(uncompiled=True)
def list_open(planes, lower, near_distances, far_distances, places, far_places, parts, room, out):
    """Write open pairs to out, int64[capacity, 3] = (number of the near end, place of the far end, smallest sum).
    Returns the number of all open pairs, also those without room in out, or -1 if a distance between parts does not
    fit. Raises `lower` to distances between parts, which may end pairs already listed.

    Far places that are within the bounds of _ALIKE vertices together, by the largest of their distances to every
    source, are not compared with each vertex: these vertices are near each other, as vertices of similar numbers often
    are. Each comparison begins with the plane that proved the last one.
    planes : unsigned[planes, m, LANES]. near_distances, far_distances : from the common source, the latter
    descending. room : int64[2, far places] and unsigned[planes, LANES], work space."""
    count, top = 0, np.int64(np.iinfo(planes.dtype).max)
    left, hints, own = room[0][0], room[0][1], room[1]
    for begin in range(0, len(places), _ALIKE):
        stop = min(begin + _ALIKE, len(places))
        limit, away = lower[begin], lower[begin] - near_distances[begin]
        for v in range(begin, stop):
            limit, away = min(limit, lower[v]), min(away, lower[v] - near_distances[v])
        for c in range(planes.shape[0]):
            for i in range(planes.shape[2]):
                own[c, i] = planes[c, places[begin], i]
            for v in range(begin + 1, stop):
                for i in range(planes.shape[2]):
                    own[c, i] = max(own[c, i], planes[c, places[v], i])
        n_left, hint = 0, np.int64(0)
        for w in range(len(far_places)):
            if far_distances[w] <= away:
                break
            proving, _ = _proving(own, planes, far_places[w], limit, hint)
            if proving >= 0:
                hint = proving
            else:
                left[n_left] = w
                hints[n_left] = 0
                n_left += 1
        for v in range(begin, stop):
            for c in range(planes.shape[0]):
                for i in range(planes.shape[2]):
                    own[c, i] = planes[c, places[v], i]
            for k in range(n_left):
                w = left[k]
                if far_distances[w] <= lower[v] - near_distances[v]:
                    break
                if far_places[w] == places[v]:
                    continue
                proving, way = _proving(own, planes, far_places[w], lower[v], hints[k])
                if proving >= 0:
                    hints[k] = proving
                    continue
                if parts[far_places[w]] != parts[places[v]]:
                    if way == top:
                        return -1
                    lower[v] = way
                    continue
                if count < len(out):
                    out[count, 0] = v
                    out[count, 1] = far_places[w]
                    out[count, 2] = way if way < top else _UNKNOWN
                count += 1
    return count


@inlined
def _proving(own, planes, place, limit, hint):
    """The first plane found with a sum within the limit, and its smallest sum; else -1, and the smallest sum of all.
    hint : the plane to try first."""
    smallest = np.int64(_least_sum(own[hint], planes[hint, place]))
    if smallest <= limit:
        return hint, smallest
    for c in range(planes.shape[0]):
        least = np.int64(_least_sum(own[c], planes[c, place]))
        smallest = min(smallest, least)
        if least <= limit:
            return np.int64(c), least
    return np.int64(-1), smallest


@kernel(uncompiled=True)
def cover_pairs(first, second, n_vertices, chosen):
    """Fill `chosen` with vertices in the most pairs that have no chosen end; returns their number."""
    counts = np.zeros(n_vertices, np.int64)
    begin = np.zeros(n_vertices + 1, np.int64)
    k = len(first)
    for i in range(k):
        begin[first[i] + 1] += 1
        begin[second[i] + 1] += 1
    for v in range(n_vertices):
        counts[v] = begin[v + 1]
        begin[v + 1] += begin[v]
    place = begin[:-1].copy()
    pairs = np.empty(2 * k, np.int64)
    for i in range(k):
        pairs[place[first[i]]] = i
        place[first[i]] += 1
        pairs[place[second[i]]] = i
        place[second[i]] += 1
    gone = np.zeros(k, np.uint8)
    for n in range(len(chosen)):
        best = np.argmax(counts)
        if counts[best] <= 0:
            return n
        chosen[n] = best
        for j in range(begin[best], begin[best + 1]):
            i = pairs[j]
            if not gone[i]:
                gone[i] = 1
                counts[first[i]] -= 1
                counts[second[i]] -= 1
    return len(chosen)
