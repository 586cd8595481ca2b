"""Pairs of vertices that the distances to some sources do not prove near.

Let L(v) be the lower bound of an open vertex v, and d_i the distances to the sources p_i. Then ecc(v) = L(v) if every w
has U(v, w) = min_i d_i(v) + d_i(w) <= L(v). So a vertex is settled without a source near it, by several that lie on
shortest paths from it to what is far. The pairs (v, w) with U(v, w) > L(v) are *open*: listed once, they only get
fewer, since U falls and L grows with every source; no column is needed again. A vertex that is in no open pair any more
is settled. A pair ends when v or w is a source, too: so sources are taken that are in many open pairs.

Where sources cut a component into parts (by_pairs.py) and w is in another one, U(v, w) is the distance, and L(v) at
least that.

For a vertex v only those w can be in an open pair that are farther than L(v) - d_i(v) from the source i of the smallest
d_i(v) + ecc(p_i): few, which are listed for all vertices of that source together.
Passes: none. Bytes: a column for each source whose distances are kept; 16 for an open pair.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...jit import inlined, kernel
from ...progress import Tick

# Vertices that are compared with what is far from their source at a time.
_TOGETHER = 1 << 10
# Vertices of which what is far from none is looked for first.
_ALIKE = 32
# Of some vertices so many are looked at for their mean distance to each source.
_LOOKED_AT = 256


class PairTable:
    """Distances of the vertices first..first+m-1 to some sources, and what they prove of pairs.

    threads : for kernels."""

    def __init__(self, first: int, threads: int) -> None:
        self._first, self._threads = first, threads
        self.sources: list[int] = []
        self.columns: list[np.ndarray] = []
        self.eccentricities: list[int] = []
        self._lock = threading.Lock()
        self._packed_all: np.ndarray | None = None

    def add(self, source: int, column: np.ndarray, eccentricity: int) -> None:
        """Distances unsigned[m] from a source, unreached in other components; kept in as few bytes as they need."""
        kind = np.min_scalar_type(eccentricity + 1)
        self._packed_all = None
        self.sources.append(source)
        self.columns.append(np.minimum(column, np.iinfo(kind).max).astype(kind))
        self.eccentricities.append(eccentricity)

    def room_for(self, room: int) -> int:
        """How many columns may be added so that all, and all of them packed, take at most `room` bytes."""
        a_source = len(self.columns[0]) * (self._kind.itemsize + max(column.itemsize for column in self.columns))
        return max(0, room // a_source - len(self.columns))

    def open_pairs(
        self, vertices: np.ndarray, lower: np.ndarray, parts: np.ndarray, is_source: np.ndarray, most: int, tick: Tick
    ) -> OpenPairs | None:
        """The open pairs of these vertices (int64[k]) with these lower bounds (int64[k]), which distances to other
        parts raise; None if they are more than `most`. parts : int32[m], no edge joins two but at a source of this
        table. is_source : bool[m]."""
        nearest = self._nearest(vertices - self._first)
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
        return OpenPairs(*(np.concatenate(some) for some in zip(
            *((part.near, part.far, part.bound) for part in found), strict=True)))

    def _nearest(self, places: np.ndarray) -> np.ndarray:
        """The source with the smallest distance + eccentricity of some vertices, int64[k]."""
        best, nearest = np.full(len(places), 1 << 60), np.zeros(len(places), np.int64)
        for i, (column, eccentricity) in enumerate(zip(self.columns, self.eccentricities, strict=True)):
            values = column[places].astype(np.int64) + eccentricity
            nearest[values < best] = i
            np.minimum(best, values, out=best)
        return nearest

    def _group(
        self, vertices: np.ndarray, at: np.ndarray, bounds: np.ndarray, source: int, parts: np.ndarray,
        is_source: np.ndarray, most: int,
    ) -> OpenPairs | None:
        """The open pairs of vertices with the same best source. at : where `bounds` has their lower bounds."""
        column, places = self.columns[source], vertices - self._first
        left = bounds[at] - column[places]
        away = np.flatnonzero((column > int(left.min())) & (column != np.iinfo(column.dtype).max) & ~is_source)
        away = away[np.argsort(column[away], kind="stable")[::-1]]
        far = self._packed()
        near = far[places]
        capacity = min(most, max(1 << 12, 16 * len(vertices))) + 1
        while True:
            out, lower = np.empty((capacity, 3), np.int64), bounds[at]
            count = list_open(near, far, lower, 8 * self._kind.itemsize, column[places].astype(np.int64),
                              column[away].astype(np.int64), places, away, parts, out)
            bounds[at] = lower
            if count <= capacity:
                number, other, bound = out[:count].T
                left = bound > lower[number]
                return OpenPairs(vertices[number[left]], other[left] + self._first, bound[left])
            if count > most:
                return None
            capacity = count

    # -- several distances in a word ------------------------------------------------------------
    @property
    def _kind(self) -> np.dtype[Any]:
        """Unsigned integers of which two, with a bit to spare, can be added: those of a lane of a word."""
        longest = max(self.eccentricities)  # no lower bound, and no distance, is larger
        return next(np.dtype(kind) for kind in (np.uint8, np.uint16, np.uint32, np.uint64)
                    if longest <= np.iinfo(kind).max // 4)

    def _packed(self) -> np.ndarray:
        """The distances of all vertices, several in a word, uint64[m, words]: first those to the sources with the
        smallest mean distance, which prove most pairs. What is over in a word is a distance beyond all."""
        with self._lock:
            if self._packed_all is None:
                step = 1 + len(self.columns[0]) // _LOOKED_AT
                columns = sorted(self.columns, key=lambda column: float(column[::step].mean()))
                self._packed_all = _pack(columns, self._kind)
            return self._packed_all


def _pack(columns: Sequence[np.ndarray], kind: np.dtype[Any]) -> np.ndarray:
    lanes = 8 // kind.itemsize
    rows = np.full((len(columns[0]), -(-len(columns) // lanes) * lanes), np.iinfo(kind).max >> 2, kind)
    for start in range(0, len(rows), _TOGETHER):  # few enough for the cache, since all columns come to each row
        for i, column in enumerate(columns):
            rows[start : start + _TOGETHER, i] = column[start : start + _TOGETHER]
    return rows.view(np.uint64)


def _cut(group: np.ndarray) -> Sequence[np.ndarray]:
    return [group[start : start + _TOGETHER] for start in range(0, len(group), _TOGETHER)]


class OpenPairs:
    """Pairs (near, far) with the smallest sum of distances so far, int64[k] each; `near` is to be settled."""

    def __init__(self, near: np.ndarray, far: np.ndarray, bound: np.ndarray) -> None:
        self.near, self.far, self.bound = near, far, bound

    def __len__(self) -> int:
        return len(self.near)

    def heaviest(self, count: int) -> np.ndarray:
        """At most `count` vertices that are in many of the pairs, each chosen for those that the others leave (ties:
        the smallest), int64[k]."""
        vertices, ends = np.unique(np.concatenate((self.near, self.far)), return_inverse=True)
        k = len(self.near)
        chosen = np.empty(min(count, len(vertices)), np.int64)
        taken = int(cover_pairs(ends[:k].astype(np.int64), ends[k:].astype(np.int64), len(vertices), chosen))
        return vertices[chosen[:taken]]

    def tighten(self, near_distances: np.ndarray, far_distances: np.ndarray) -> None:
        """Take the distances from a source into account, int64[k] each."""
        np.minimum(self.bound, near_distances + far_distances, out=self.bound)

    def drop(self, closed: np.ndarray) -> None:
        """Forget the pairs at these places, bool[k]."""
        left = ~closed
        self.near, self.far, self.bound = self.near[left], self.far[left], self.bound[left]


@kernel(uncompiled=True)
def list_open(
    near, far, lower, width, near_distances, far_distances, places, far_places, parts, out,
):
    """Lists pairs in out, int64[capacity, 3] = (number of the near one, place of the far one, smallest sum); the count
    of all that there are, those too for which there is no room. Raises `lower` to distances between parts, which may
    end pairs that are listed.

    What is within the bounds of _ALIKE vertices, by the largest of their distances to every source, is not looked at
    for each: they are near each other, as vertices of like numbers often are.
    far : of all vertices. width : bits of a lane. near_distances, far_distances : from the common source, the latter
    descending. The largest bit of a lane is left in the difference where a sum is within the bound."""
    one = ~np.uint64(0) // (~np.uint64(0) >> np.uint64(64 - width))  # 1 in every lane
    top = one << np.uint64(width - 1)
    count = 0
    left = np.empty(len(far_places), np.int64)
    largest = np.empty(near.shape[1], np.uint64)
    for begin in range(0, len(near), _ALIKE):
        stop = min(begin + _ALIKE, len(near))
        _largest_lanes(near[begin:stop], width, largest)
        limit = top | np.uint64(lower[begin:stop].min()) * one
        away = (lower[begin:stop] - near_distances[begin:stop]).min()
        n_left = 0
        for w in range(len(far_places)):
            if far_distances[w] <= away:
                break
            left[n_left] = w
            n_left += _all_beyond(largest, far[far_places[w]], limit, top)
        for v in range(begin, stop):
            limit = top | np.uint64(lower[v]) * one
            for w in left[:n_left]:
                if far_distances[w] <= lower[v] - near_distances[v]:
                    break
                row = far[far_places[w]]
                if far_places[w] == places[v] or not _all_beyond(near[v], row, limit, top):
                    continue
                way = _least_sum(near[v], row, width)
                if parts[far_places[w]] != parts[places[v]]:
                    lower[v] = way
                    limit = top | np.uint64(way) * one
                    continue
                if count < len(out):
                    out[count, 0] = v
                    out[count, 1] = far_places[w]
                    out[count, 2] = way
                count += 1
    return count


@inlined
def _all_beyond(first, second, limit, top):
    """Whether the sums in all lanes are beyond the limit."""
    i = 0
    while i < len(first) and not (limit - (first[i] + second[i])) & top:
        i += 1
    return i == len(first)


@inlined
def _largest_lanes(rows, width, largest):
    """In every lane of `largest` the largest value that any of the rows has there."""
    lane = ~np.uint64(0) >> np.uint64(64 - width)
    for i in range(len(largest)):
        largest[i] = np.uint64(0)
        for shift in range(0, 64, width):
            most = np.uint64(0)
            for v in range(len(rows)):
                most = max(most, (rows[v, i] >> np.uint64(shift)) & lane)
            largest[i] |= most << np.uint64(shift)


@inlined
def _least_sum(first, second, width):
    """The smallest of the sums in all lanes, of `width` bits, of two rows."""
    lane = ~np.uint64(0) >> np.uint64(64 - width)
    least = lane
    for i in range(len(first)):
        both = first[i] + second[i]
        for shift in range(0, 64, width):
            least = min(least, (both >> np.uint64(shift)) & lane)
    return np.int64(least)


@kernel(uncompiled=True)
def cover_pairs(first, second, n_vertices, chosen):
    """Fill `chosen` with vertices in the most pairs that have no chosen end; how many there are."""
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
