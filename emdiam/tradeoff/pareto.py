"""The Pareto front: what no other point beats in cost without being beaten in quality."""

from __future__ import annotations

from collections.abc import Sequence


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Positions of the points (cost, loss) on the front, cheapest first.

    A point is on it if no other one is at most as large in both and smaller in one; of equal points
    all are.
    """
    best: tuple[float, float] | None = None
    chosen = []
    for i in sorted(range(len(points)), key=lambda k: points[k]):
        if best is None or points[i][1] < best[1] or points[i] == best:
            best = points[i]
            chosen.append(i)
    return chosen
