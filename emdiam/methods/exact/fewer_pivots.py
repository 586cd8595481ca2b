"""A choice of pivots that together prove what all of them prove, for a certificate.

Refinement traverses one end of the worst pair, which proves little more than its own pairs, and the middle. So the
proof is tried again with the central half of the later pivots; for a pair that they leave open, the pivot with the
shortest way is added. The first pivots prove all pairs of vertices that were no candidates, and stay.
Passes: none. Bytes: candidate_bytes for each of the first candidates.
"""

from __future__ import annotations

import numpy as np

from ...progress import Tick
from ...traverse.columns import Column
from .boxes import build_boxes, open_points, worst_pair
from .candidates import candidate_bytes

# The least number of later pivots for a choice, and the most whose distances are kept.
LEAST_LATER, MOST_LATER = 6, 64


class FewerPivots:
    """The first candidates, with their distances to all pivots. wanted : whether to keep any."""

    def __init__(self, wanted: bool, tick: Tick) -> None:
        self._wanted, self._tick = wanted, tick
        self._vertices, self._columns = np.empty(0, np.int64), list[np.ndarray]()
        self._n_first = 0

    def begin(self, vertices: np.ndarray, points: np.ndarray, n_pivots: int, most_bytes: int) -> None:
        """Keep the first candidates, unless they lack distances to one of n_pivots pivots, or take more memory.
        points : unsigned[m, k], their distances."""
        need = len(vertices) * candidate_bytes(n_pivots + MOST_LATER, points.itemsize)
        if self._wanted and points.shape[1] == n_pivots and need <= most_bytes:
            self._vertices, self._n_first = vertices.copy(), n_pivots
            self._columns = [column.copy() for column in points.T]

    def add(self, column: Column) -> None:
        """Keep the distances to another pivot."""
        if len(self._vertices) and len(self._columns) < self._n_first + MOST_LATER:
            self._columns.append(column.gather(self._vertices).astype(self._columns[0].dtype))

    def choose(self, eccentricities: list[int], limit: int) -> list[int]:
        """Numbers of pivots that prove the limit, as all of these do. eccentricities : of the pivots."""
        n = len(eccentricities)
        later = sorted(range(self._n_first, n), key=eccentricities.__getitem__)
        if not len(self._vertices) or len(later) < LEAST_LATER or len(self._columns) < n:
            return list(range(n))
        kept = [*range(self._n_first), *later[: len(later) // 2]]
        points, reach = np.stack(self._columns[:n], axis=1), np.array(eccentricities)
        while len(kept) < n:
            points = points[(points[:, kept] + reach[kept]).min(axis=1) > limit]
            if len(points) < 2:
                break
            boxes = build_boxes(np.ascontiguousarray(points[:, kept]), self._tick)
            pair = worst_pair(boxes, limit, tick=self._tick)
            if pair.first < 0:
                break
            ways = points[[pair.first, pair.second]].astype(np.int64).sum(axis=0)
            ways[kept] = limit + 1
            kept.append(int(ways.argmin()))
            points = points[open_points(boxes, limit, self._tick, sample=True)]
        return sorted(kept)
