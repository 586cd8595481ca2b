"""The slow twins that results of the device are compared with: plain numpy."""

from __future__ import annotations

import numpy as np

UNREACHED = int(np.iinfo(np.uint32).max)


def distances(offsets: np.ndarray, neighbours: np.ndarray, source: int) -> np.ndarray:
    """Distances from the source, uint32[n], all bits set where unreached. offsets int64[n + 1], neighbours
    int64[m]. O(n + m)."""
    found = np.full(offsets.size - 1, UNREACHED, np.uint32)
    found[source] = 0
    front, level = np.array([source]), 0
    while front.size:
        level += 1
        near = neighbours[arcs_of(offsets, front)]
        front = np.unique(near[found[near] == UNREACHED])
        found[front] = level
    return found


def arcs_of(offsets: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Positions of all arcs of some rows, int64."""
    sizes = offsets[rows + 1] - offsets[rows]
    starts = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) + np.repeat(offsets[rows] - starts, sizes)


def lengths(offsets: np.ndarray, neighbours: np.ndarray, weights: np.ndarray, source: int) -> np.ndarray:
    """Distances from the source along weights, none negative: float64[n], infinity where unreached. Rounds of
    relaxations of what became shorter, O(n m) at worst."""
    found = np.full(offsets.size - 1, np.inf)
    found[source] = 0
    front = np.array([source])
    while front.size:
        arcs = arcs_of(offsets, front)
        offers = np.repeat(found[front], offsets[front + 1] - offsets[front]) + weights[arcs].astype(np.float64)
        before = found[neighbours[arcs]]
        np.minimum.at(found, neighbours[arcs], offers)
        front = np.unique(neighbours[arcs][found[neighbours[arcs]] < before])
    return found


def eccentricity(found: np.ndarray) -> int:
    """The largest distance that is one."""
    return int(found[found != UNREACHED].max())


def diameter(offsets: np.ndarray, neighbours: np.ndarray, start: int) -> int:
    """Of the component of `start`, by a BFS from each of its vertices. O(n m)."""
    component = np.flatnonzero(distances(offsets, neighbours, start) != UNREACHED)
    return max(eccentricity(distances(offsets, neighbours, int(v))) for v in component)


def lowered(offsets: np.ndarray, neighbours: np.ndarray, bounds: np.ndarray, seeds: np.ndarray, values: np.ndarray,
            limit: int) -> np.ndarray:
    """Bounds uint32[n] after min(bound, value + distance) for all seeds, where that is at most limit. One BFS a
    seed."""
    best = bounds.astype(np.int64)
    for seed, value in zip(seeds, values, strict=True):
        found = distances(offsets, neighbours, int(seed)).astype(np.int64)
        reach = found + int(value)
        near = (found != UNREACHED) & (reach <= limit)
        best[near] = np.minimum(best[near], reach[near])
    return best.astype(np.uint32)
