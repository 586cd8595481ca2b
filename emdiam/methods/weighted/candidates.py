"""Vertices that may still be an end of the longest pair of a weighted graph whose vertices have heights.

Wanted: D = max of h(a) + d(a, b) + h(b) over a != b in one component. On a condensed graph with
the radii of the clusters as heights, D is at least the diameter of the original graph.

Let p_1, p_2, ... be the sources searched in a component, d_i their distances, c_i(v) = d_i(v) + h(v),
E_i = max_b c_i(b), with p_i itself among the b; and L the largest value seen, the maximum over sources s
of h(s) + max over b != s of d(s, b) + h(b). L is attained, so D >= L. D = L is proved by these rules:

1. U(a, b) = min_i c_i(a) + c_i(b) is at least h(a) + d(a, b) + h(b): d(a, b) <= d_i(a) + d_i(b).
2. v is settled, no pair with v exceeds L, if min_i c_i(v) + E_i <= L: for b != v, U(v, b) <=
   c_i(v) + c_i(b) <= c_i(v) + E_i. (E_i must include b = p_i, because of the pair (v, p_i).)
3. A source is settled: its largest pair is included in L. (The condition b != s matters: b = s would give 2 h(s),
   which is no pair, and a false L.)
4. D = L if every pair of unsettled vertices of one component has U <= L: any other pair has a settled
   end. L may be from another component, since D is over all of them.
5. A settled vertex stays settled, and a pair with U <= L stays so: L only rises and U only falls. So a vertex
   in no open pair is dropped for good.

A candidate, a vertex that may still be an end of the longest pair, is a point of coordinates c_i;
exact/boxes.py finds the worst pair. Bytes: 12 + room x itemsize a candidate, three times that while boxes are
built. Distances are unsigned, `none` without a path to a source; bounds are int64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...progress import Tick, no_tick
from ..exact.boxes import build_boxes, open_points, worst_pair

BOX_COPIES = 3
_WORK = 1 << 27
_NARROW, _WIDE = np.dtype(np.uint32), np.dtype(np.uint64)
# A coordinate for a pivot that does not reach the vertex: the sum of two of them still fits int64.
_FAR = {_NARROW: (1 << 32) - 1, _WIDE: 1 << 61}


@dataclass(frozen=True)
class OpenPair:
    """component : with open pairs. bound : no pair in it exceeds this. ends : the pair to be searched from."""

    component: int
    bound: int
    ends: tuple[int, int]


class HeightCandidates:
    """vertices : int64[m], by component, then ascending. component : int32[n_vertices], of every vertex.
    heights : uint32[n_vertices]. most_bytes : limit for the points, with the copies in boxes."""

    def __init__(self, vertices: np.ndarray, component: np.ndarray, heights: np.ndarray, most_bytes: int) -> None:
        self.vertices = vertices[np.argsort(component[vertices], kind="stable")]
        self._component, self._heights, self._most_bytes = component, heights, most_bytes
        self._points = np.empty((len(vertices), 0), _NARROW)

    def add(self, dist: np.ndarray) -> bool:
        """Add a pivot with the distances `dist` (unsigned[n_vertices]); False if there is no room."""
        values = dist[self.vertices]
        reached = values != np.iinfo(dist.dtype).max
        sums = values.astype(np.int64) + self._heights[self.vertices]
        wide = self._points.dtype == _WIDE or int(sums[reached].max(initial=0)) >= _FAR[_NARROW]
        dtype = _WIDE if wide else _NARROW
        m, k = self._points.shape
        if m and BOX_COPIES * m * (k + 1) * dtype.itemsize > self._most_bytes:
            return False
        points = np.empty((m, k + 1), dtype)
        points[:, :k] = self._points
        if wide and self._points.dtype == _NARROW:
            points[:, :k][self._points == _FAR[_NARROW]] = _FAR[_WIDE]
        points[:, k] = np.where(reached, sums, _FAR[dtype])
        self._points = points
        return True

    def certify(self, upper: np.ndarray, limit: int, tick: Tick = no_tick) -> list[OpenPair]:
        """Drop vertices that are settled (`upper`, int64[n_vertices], <= limit) or in no open pair; returns the open
        pairs. tick : called several times a second."""
        self._keep(upper[self.vertices] > limit)
        keep = np.zeros(len(self.vertices), bool)
        pairs = []
        for component, begin, end in self._parts():
            if end - begin < 2:
                continue
            vertices = self.vertices[begin:end]
            boxes = build_boxes(np.ascontiguousarray(self._points[begin:end]), tick)
            worst = worst_pair(boxes, limit, _WORK, tick=tick)
            if worst.finished and worst.first < 0:
                continue
            # A vertex is in no pair above its own bound, so no pair exceeds the second largest of them.
            order = np.argsort(-upper[vertices], kind="stable")[:2]
            bound, pair = int(upper[vertices[order[1]]]), vertices[order]
            if worst.finished:
                bound = min(bound, worst.bound)
            if worst.first >= 0:
                pair = vertices[[worst.first, worst.second]]
            pairs.append(OpenPair(component, bound, (int(pair[0]), int(pair[1]))))
            keep[begin:end] = open_points(boxes, limit, tick) if worst.finished else True
        self._keep(keep)
        return pairs

    def _parts(self) -> Iterator[tuple[int, int, int]]:
        """(component, begin, end) of the candidates of each component."""
        components = self._component[self.vertices]
        borders = [*np.flatnonzero(np.diff(components, prepend=-1)).tolist(), len(components)]
        for begin, end in pairwise(borders):
            yield int(components[begin]), begin, end

    def _keep(self, mask: np.ndarray) -> None:
        if not mask.all():
            self.vertices, self._points = self.vertices[mask], self._points[mask]
