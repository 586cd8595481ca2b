"""The approximations by BFS in plain Python, on a connected graph whose vertices are their own ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.helpers import naive


def tree_parents(graph: naive.Graph, source: int, ranks: Sequence[int] | None = None) -> list[int]:
    """Parent of every vertex in the canonical BFS tree; itself for the source and what is unreached."""
    order = range(len(graph)) if ranks is None else ranks
    dist = naive.distances(graph, source)
    return [min((w for w in graph[v] if dist[w] == dist[v] - 1), key=order.__getitem__) if dist[v] > 0 else v
            for v in range(len(graph))]


def tree_diameter(graph: naive.Graph, source: int, ranks: Sequence[int] | None = None) -> int:
    """Diameter of that tree, by a double sweep on it, which is exact in trees."""
    parents = tree_parents(graph, source, ranks)
    tree = naive.graph_of(len(graph), list(enumerate(parents)))
    dist = naive.distances(tree, source)
    return max(naive.distances(tree, dist.index(max(dist))))


@dataclass
class Bounds:
    """upper, lower : proved. sources : of the BFS, in order; fringe : of those that fringes took."""

    upper: int
    lower: int = 0
    sources: list[int] = field(default_factory=list)
    fringe: list[int] = field(default_factory=list)

    @property
    def closed(self) -> bool:
        return self.lower >= self.upper

    def bfs(self, graph: naive.Graph, source: int) -> list[int]:
        self.sources.append(source)
        dist = naive.distances(graph, source)
        self.lower, self.upper = max(self.lower, *dist), min(self.upper, 2 * max(dist))
        return dist

    def tree(self, graph: naive.Graph, source: int) -> None:
        self.upper = min(self.upper, tree_diameter(graph, source))


def _end(dist: list[int], ends: list[int]) -> int:
    """The farthest vertex that is none of `ends`, or -1."""
    found = [v for v, d in enumerate(dist) if d == max(dist) and v not in ends]
    return found[0] if found else -1


def sweep(graph: naive.Graph, starts: Sequence[int]) -> Bounds:
    """Iterated double sweeps with a tree for each traversal."""
    bounds, ends = Bounds(upper=len(graph) - 1), list[int]()
    for start in starts:
        if bounds.sources and bounds.closed:
            break
        dist = bounds.bfs(graph, start)
        if not bounds.closed:
            bounds.tree(graph, start)
        end = _end(dist, ends)
        if bounds.closed or end < 0:
            continue
        ends.append(end)
        bounds.bfs(graph, end)
        if not bounds.closed:
            bounds.tree(graph, end)
    return bounds


def fringe(graph: naive.Graph, starts: Sequence[int]) -> Bounds:
    """Iterated fringes. A vertex of a fringe that was traversed before is not traversed again."""
    bounds, ends, centres = Bounds(upper=len(graph) - 1), list[int](), list[int]()
    for start in starts:
        if bounds.sources and bounds.closed:
            break
        end = _end(bounds.bfs(graph, start), ends)
        if bounds.closed or end < 0:
            continue
        ends.append(end)
        dist = bounds.bfs(graph, end)
        if bounds.closed:
            continue
        centre = _halfway(graph, end, dist)
        if centre in centres:
            continue
        centres.append(centre)
        away = bounds.bfs(graph, centre)
        if not bounds.closed:
            bounds.tree(graph, centre)
        members = [v for v, d in enumerate(away) if d == max(away)]
        if len(members) > 1 and not bounds.closed and bounds.upper > 2 * max(away) - 2:
            _fringe_of(graph, bounds, members, max(away))
    return bounds


def _halfway(graph: naive.Graph, source: int, dist: list[int]) -> int:
    vertex, parents = dist.index(max(dist)), tree_parents(graph, source)
    for _ in range(max(dist) // 2):
        vertex = parents[vertex]
    return vertex


def _fringe_of(graph: naive.Graph, bounds: Bounds, members: list[int], depth: int) -> None:
    largest = 0
    for v in members:
        dist = naive.distances(graph, v) if v in bounds.sources else bounds.bfs(graph, v)
        bounds.fringe.append(v)
        largest = max(largest, *dist)
        if bounds.closed:
            return
    if largest == 2 * depth - 1:
        bounds.upper = min(bounds.upper, largest)
    elif largest < 2 * depth - 1:
        bounds.upper = min(bounds.upper, 2 * depth - 2)
