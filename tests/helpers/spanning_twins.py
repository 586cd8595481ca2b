"""The random spanning forest, its Euler tours and its refinement in plain Python.

Vertices are natural ranks here.
"""

from __future__ import annotations

from tests.helpers import naive

_MASK = (1 << 64) - 1


def draw(key: int, counter: int) -> int:
    """Number `counter` of the splitmix64 stream that starts at `key`."""
    x = (key + (counter + 1) * 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def edge_hash(key: int, a: int, b: int) -> int:
    """The 64 bits of {a, b}; its weight is (hash + 1) / 2^64."""
    a, b = min(a, b), max(a, b)
    low = (1 << 32) - 1
    high_key = draw(draw(key, _MASK), (a >> 32) << 32 | b >> 32)
    return draw(high_key, (a & low) << 32 | (b & low))


def forest(graph: naive.Graph, key: int) -> naive.Graph:
    """The minimum spanning forest, by Kruskal."""
    edges = sorted((edge_hash(key, v, w), v, w) for v, row in enumerate(graph) for w in row if v < w)
    label = list(range(len(graph)))
    taken = []
    for _, v, w in edges:
        if label[v] != label[w]:
            old = label[w]
            label = [label[v] if one == old else one for one in label]
            taken.append((v, w))
    return naive.graph_of(len(graph), taken)


def parents_from(tree: naive.Graph, roots: list[int]) -> list[int]:
    """Parents of a forest that hangs from `roots`, and in other components from the smallest vertex."""
    parents = [-1] * len(tree)
    for root in [*roots, *range(len(tree))]:
        if parents[root] < 0:
            parents[root] = root
            stack = [root]
            while stack:
                v = stack.pop()
                for w in tree[v]:
                    if parents[w] < 0:
                        parents[w] = v
                        stack.append(w)
    return parents


def heights_of(parents: list[int]) -> list[int]:
    """Distances in the trees to their roots."""
    heights = []
    for v in range(len(parents)):
        steps = 0
        while parents[v] != v:
            v, steps = parents[v], steps + 1
        heights.append(steps)
    return heights


def euler_tours(tree: naive.Graph) -> list[list[int]]:
    """The tour of every tree with an edge, from its smallest vertex, children by rank."""
    parents = parents_from(tree, [])
    tours = []
    for root in range(len(tree)):
        if parents[root] == root and tree[root]:
            tour, waiting = [root], [iter(tree[root])]
            while waiting:
                child = next((w for w in waiting[-1] if parents[w] == tour[-1] and w != tour[-1]), -1)
                if child >= 0:
                    tour.append(child)
                    waiting.append(iter(tree[child]))
                else:
                    waiting.pop()
                    if waiting:
                        tour.append(parents[tour[-1]])
            tours.append(tour)
    return tours


def next_parents(graph: naive.Graph, parents: list[int]) -> list[int]:
    """One iteration: every vertex hangs from its neighbour of the smallest height in the trees before,
    ties to the smallest vertex, but stays where it is if that is no lower than its parent."""
    heights = heights_of(parents)
    chosen = list(parents)
    for v, row in enumerate(graph):
        if parents[v] != v:
            lowest = min(row, key=lambda w: (heights[w], w))
            if heights[lowest] < heights[parents[v]]:
                chosen[v] = lowest
    return chosen


def known_after(graph: naive.Graph, heights: list[int]) -> int | None:
    """One more than the lowest height that a vertex gets by an edge and not by its tree; None if all
    have the lowest they can get."""
    offers = [heights[v] + 1 for v, row in enumerate(graph) for w in row if heights[v] + 1 < heights[w]]
    return min(offers) + 1 if offers else None


def hubs(graph: naive.Graph) -> list[int]:
    """The vertex of the highest degree of every component with an edge, ties to the smallest."""
    return [min(part, key=lambda v: (-len(graph[v]), v)) for part in naive.components(graph) if len(part) > 1]
