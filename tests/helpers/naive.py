"""The slow twins: what every engine and method must equal, in plain Python.

A graph here is a list of sorted neighbour lists.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import numpy as np

Graph = list[list[int]]


def graph_of(n: int, edges: Iterable[tuple[int, int]]) -> Graph:
    """Undirected simple graph from any pairs (loops and duplicates dropped)."""
    rows: list[set[int]] = [set() for _ in range(n)]
    for a, b in edges:
        if a != b:
            rows[a].add(b)
            rows[b].add(a)
    return [sorted(row) for row in rows]


def csr(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """indptr int64[n+1] and indices int64[m]."""
    indptr = np.zeros(len(graph) + 1, np.int64)
    indptr[1:] = np.cumsum([len(row) for row in graph])
    return indptr, np.array([w for row in graph for w in row], np.int64)


def distances(graph: Graph, source: int) -> list[int]:
    """Distances from source; -1 where unreached."""
    dist = [-1] * len(graph)
    dist[source] = 0
    queue = deque([source])
    while queue:
        v = queue.popleft()
        for w in graph[v]:
            if dist[w] < 0:
                dist[w] = dist[v] + 1
                queue.append(w)
    return dist


def spread(graph: Graph, seeds: Sequence[int], values: Sequence[int], limit: int) -> list[int | None]:
    """min over seeds of value + distance where that is <= limit, else None."""
    best: list[int | None] = [None] * len(graph)
    for seed, value in zip(seeds, values, strict=True):
        for v, d in enumerate(distances(graph, seed)):
            if d >= 0 and value + d <= limit and (best[v] is None or value + d < best[v]):
                best[v] = value + d
    return best


def components(graph: Graph) -> list[list[int]]:
    """Vertex lists of the components, isolated vertices included, by smallest vertex."""
    seen: set[int] = set()
    found = []
    for v in range(len(graph)):
        if v not in seen:
            members = [w for w, d in enumerate(distances(graph, v)) if d >= 0]
            seen.update(members)
            found.append(members)
    return found


def diameters(graph: Graph) -> tuple[set[int], int, int]:
    """(possible diameters of a largest component, largest over all, number of components)."""
    parts = components(graph)
    most = max(len(part) for part in parts)
    each = [max(max(distances(graph, v)) for v in part) for part in parts]
    return {d for d, part in zip(each, parts, strict=True) if len(part) == most}, max(each), len(parts)
