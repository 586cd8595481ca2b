"""Pairs of vertices that the distances to some sources do not prove near.

Let L(v) be the lower bound of an open vertex v, and d_i the distances to the sources p_i. Then ecc(v) = L(v) if every w
has U(v, w) = min_i d_i(v) + d_i(w) <= L(v). So a vertex is settled without a source near it, by several that lie on
shortest paths from it to what is far. The pairs (v, w) with U(v, w) > L(v) are *open*: listed once, they only get
fewer, since U falls and L grows with every source; no column is needed again. A vertex that is in no open pair any more
is settled. A pair ends when v or w is a source, too: so sources are taken that are in many open pairs.

For a vertex v only those w can be in an open pair that are farther than L(v) - d_i(v) from the source i of the smallest
d_i(v) + ecc(p_i): few, which are listed for all vertices of that source together.
Passes: none. Bytes: a column for each source whose distances are kept; 16 for an open pair.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...jit import kernel

Tick = Callable[[], None]
# Vertices that are compared with what is far from their source at a time.
_TOGETHER = 1 << 10
# Where more than one of so many vertices are far from a source, all are packed once, not these for each source.
MOST_PACKED = 16
# Of some vertices so many are looked at for their mean distance to each source.
_LOOKED_AT = 256


class PairTable:
    """Distances of the vertices first..first+m-1 to some sources, and what they prove of pairs.

    threads : for kernels."""

    def __init__(self, first: int, threads: int) -> None:
        self._first, self._threads = first, threads
        self.columns: list[np.ndarray] = []
        self.eccentricities: list[int] = []
        self._lock = threading.Lock()
        self._packed_all: np.ndarray | None = None

    def add(self, column: np.ndarray, eccentricity: int) -> None:
        """Distances unsigned[m] from a source, unreached in other components."""
        self._packed_all = None
        self.columns.append(column)
        self.eccentricities.append(eccentricity)

    def open_pairs(
        self, vertices: np.ndarray, lower: np.ndarray, is_source: np.ndarray, most: int, tick: Tick
    ) -> OpenPairs | None:
        """The open pairs of these vertices (int64[k]) with these lower bounds (int64[k]); None if they are more than
        `most`. is_source : bool[m]."""
        nearest = self._nearest(vertices - self._first)
        order = np.argsort(nearest, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(nearest[order])) + 1)
        parts: list[OpenPairs] = []
        with ThreadPoolExecutor(self._threads) as pool:
            tasks = [pool.submit(self._group, vertices[some], lower[some], int(nearest[some[0]]), is_source, most)
                     for group in groups for some in _cut(group)]
            try:
                for task in tasks:
                    part = task.result()
                    if part is None or sum(map(len, parts)) + len(part) > most:
                        return None
                    parts.append(part)
                    tick()
            finally:
                for task in tasks:
                    task.cancel()
        return OpenPairs(*(np.concatenate(some) for some in zip(
            *((part.near, part.far, part.bound) for part in parts), strict=True)))

    def _nearest(self, places: np.ndarray) -> np.ndarray:
        """The source with the smallest distance + eccentricity of some vertices, int64[k]."""
        best, nearest = np.full(len(places), 1 << 60), np.zeros(len(places), np.int64)
        for i, (column, eccentricity) in enumerate(zip(self.columns, self.eccentricities, strict=True)):
            values = column[places].astype(np.int64) + eccentricity
            nearest[values < best] = i
            np.minimum(best, values, out=best)
        return nearest

    def _group(
        self, vertices: np.ndarray, lower: np.ndarray, source: int, is_source: np.ndarray, most: int
    ) -> OpenPairs | None:
        """The open pairs of vertices with the same best source."""
        column, places = self.columns[source], vertices - self._first
        left = lower - column[places]
        away = np.flatnonzero((column > int(left.min())) & (column != np.iinfo(column.dtype).max) & ~is_source)
        away = away[np.argsort(column[away], kind="stable")[::-1]]
        if len(away) > len(column) // MOST_PACKED:
            far = self._whole()
            near, rows = far[places], away
        else:
            order = self._order(places, away)
            near, far, rows = self._packed(places, order), self._packed(away, order), np.arange(len(away))
        limits = self._lanes(lower)
        capacity = min(most, max(1 << 12, 16 * len(vertices))) + 1
        while True:
            out = np.empty((capacity, 2), np.int64)
            count = list_open(near, far, rows, limits, self._top, left, column[away].astype(np.int64), places, away,
                              out)
            if count <= capacity:
                one, other = out[:count].T
                bound = column[one].astype(np.int64) + column[other]
                return OpenPairs(one + self._first, other + self._first, bound)
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

    @property
    def _top(self) -> np.uint64:
        """The largest bit of every lane."""
        kind = self._kind
        return np.uint64(self._lanes(np.array([(np.iinfo(kind).max >> 1) + 1]), 0)[0])

    def _lanes(self, values: np.ndarray, more: int = 1) -> np.ndarray:
        """uint64[k]: in every lane the value, with `more` the largest bit too."""
        kind = self._kind
        lane = values.astype(kind) | kind.type(((np.iinfo(kind).max >> 1) + 1) * more)
        return np.repeat(lane[:, None], 8 // kind.itemsize, axis=1).copy().view(np.uint64)[:, 0]

    def _order(self, *some: np.ndarray) -> np.ndarray:
        """The sources from that with the smallest mean distance to some vertices on, which prove most pairs of them."""
        looked_at = [places[:: 1 + len(places) // _LOOKED_AT] for places in some if len(places)]
        return np.argsort([sum(float(column[places].mean()) for places in looked_at) for column in self.columns])

    def _whole(self) -> np.ndarray:
        """The distances of all vertices, packed, in an order for all of them."""
        with self._lock:
            if self._packed_all is None:
                everything = np.arange(len(self.columns[0]))
                self._packed_all = self._packed(everything, self._order(everything))
            return self._packed_all

    def _packed(self, places: np.ndarray, order: np.ndarray) -> np.ndarray:
        """The distances of some vertices to the sources in this order, several in a word, uint64[k, words]; what is
        over is a distance beyond all."""
        kind = self._kind
        lanes = 8 // kind.itemsize
        rows = np.full((len(places), -(-len(self.columns) // lanes) * lanes), np.iinfo(kind).max >> 2, kind)
        for i, at in enumerate(order.tolist()):
            rows[:, i] = self.columns[at][places]
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


@kernel
def list_open(near, far, rows, limits, top, left, away, places, far_places, out):  # type: ignore[no-untyped-def]
    """Lists pairs in out, int64[capacity, 2] = (near, far) by their places; the count of all that there are, those too
    for which there is no room. rows : of `far`, of the far ones; away : their distances from the common source,
    descending. limits : in every lane the largest bit and the bound, so that the bit is left in the difference where a
    sum is within the bound."""
    count = 0
    words = near.shape[1]
    for v in range(len(near)):
        limit = limits[v]
        for w in range(len(rows)):
            if away[w] <= left[v]:
                break
            i, row = 0, rows[w]
            while i < words and not (limit - (near[v, i] + far[row, i])) & top:
                i += 1
            if i == words and far_places[w] != places[v]:
                if count < len(out):
                    out[count, 0] = places[v]
                    out[count, 1] = far_places[w]
                count += 1
    return count


@kernel
def cover_pairs(first, second, n_vertices, chosen):  # type: ignore[no-untyped-def]
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
