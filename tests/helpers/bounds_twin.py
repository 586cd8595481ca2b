"""PivotBounds in plain Python, and a check of others against it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from emdiam.traverse.columns import Column
from emdiam.traverse.pivot_bounds import Folded, PivotBounds
from tests.helpers import naive


class NaiveBounds:
    """See PivotBounds. lower, upper, far : by vertex; what is not there is unreached."""

    def __init__(self, graph: naive.Graph, largest: int) -> None:
        self.graph, self._largest = graph, largest
        self.lower: dict[int, int] = {}
        self.upper: dict[int, int] = {}
        self.far: dict[int, int] = {}
        self._sources: set[int] = set()

    def fold(self, source: int, limit: int) -> Folded:
        """Take a BFS from `source` into account."""
        lower, upper, far = self.lower, self.upper, self.far
        distances = naive.distances(self.graph, source)
        eccentricity = max(distances)
        self._sources.add(source)
        near = [v for v, d in enumerate(distances) if d >= 0]
        for v in near:
            d = distances[v]
            lower[v] = max(lower.get(v, 0), d, eccentricity - d)
            upper[v] = min(upper.get(v, self._largest), d + eccentricity)
            far[v] = max(far.get(v, 0), d)
        for v in self._sources:
            far.pop(v, None)
        others = [v for v in near if v in far]
        centre = min(others, key=lambda v: (lower[v], far[v], -len(self.graph[v]), v), default=-1)
        periphery = max(others, key=lambda v: (upper[v], far[v], -v), default=-1)
        return Folded(sum(upper[v] > limit for v in near), centre, periphery, max(upper[v] for v in near))

    def unsettled(self, limit: int) -> list[int]:
        """Vertices with an upper bound above `limit`, ascending."""
        return sorted(v for v, bound in self.upper.items() if bound > limit)


def check_pivot_bounds(twin: NaiveBounds, bounds: PivotBounds, column: Callable[[list[int]], Column], top: int,
                       data: st.DataObject) -> None:
    """Up to four sources folded into both; `column` makes a column of distances and `top` for what is unreached."""
    n = len(twin.graph)
    for _ in range(data.draw(st.integers(1, 4))):
        source, limit = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n))
        distances = naive.distances(twin.graph, source)
        values = column([top if d < 0 else d for d in distances])
        assert bounds.fold(source, values, max(distances), limit) == twin.fold(source, limit)
        assert bounds.unsettled(limit).tolist() == twin.unsettled(limit)
        for found, want in ((bounds.lower, twin.lower), (bounds.upper, twin.upper), (bounds.far, twin.far)):
            assert found.gather(np.arange(n)).tolist() == [want.get(v, -1) for v in range(n)]
