"""The bounding algorithm of papers/001 (Algorithms 1 and 2) in plain serial code: what its Table III compares with.

A queue for the BFS, one loop for each other component, the same choices and ties as DeviceBounds: so that sources
come in the same order. Compiled by numba where it is there, else in numpy. Work: O(n + m) a source.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import twins

UNREACHED = twins.UNREACHED
INITIALIZATION, SELECTION, ECCENTRICITY, BOUNDS, CANDIDATES = COMPONENTS = (
    "initialization", "candidate selection", "eccentricity", "updating bounds", "updating candidates")


# -- loops, compiled by numba --------------------------------------------------------------------------------
def search(offsets, neighbours, source, distances, queue):
    """Distances from a source by a queue, uint32[n]; its eccentricity."""
    distances[:] = UNREACHED
    distances[source] = 0
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        for arc in range(offsets[v], offsets[v + 1]):
            w = neighbours[arc]
            if distances[w] == UNREACHED:
                distances[w] = distances[v] + 1
                queue[tail] = w
                tail += 1
    return distances[queue[tail - 1]]


def sharpen(distances, eccentricity, lower, upper):
    """Bounds of all vertices after a BFS, int64[n] each."""
    for v in range(len(distances)):
        d = np.int64(distances[v])
        if d != UNREACHED:
            lower[v] = max(lower[v], d, eccentricity - d)
            upper[v] = min(upper[v], eccentricity + d)


def drop(lower, upper, candidates):
    """Candidates that are none any more; (largest lower bound, largest upper bound, candidates left)."""
    low = high = left = 0
    for v in range(len(lower)):
        low = max(low, lower[v])
        if candidates[v]:
            high = max(high, upper[v])
    high = max(low, high)
    for v in range(len(lower)):
        if candidates[v]:
            if lower[v] == upper[v] or (upper[v] <= low and 2 * lower[v] >= high):
                candidates[v] = False
            else:
                left += 1
    return low, high, left


def choose(bounds, candidates, largest):
    """The first candidate with the largest bound or, without `largest`, the smallest; -1 if there are none."""
    best = -1
    for v in range(len(bounds)):
        if candidates[v] and (best < 0 or (bounds[v] > bounds[best] if largest else bounds[v] < bounds[best])):
            best = v
    return best


# -- the same in numpy ---------------------------------------------------------------------------------------
def search_numpy(offsets: np.ndarray, neighbours: np.ndarray, source: int, distances: np.ndarray,
                 queue: np.ndarray) -> int:
    """See search."""
    distances[:] = twins.distances(offsets, neighbours, source)
    return twins.eccentricity(distances)


def sharpen_numpy(distances: np.ndarray, eccentricity: int, lower: np.ndarray, upper: np.ndarray) -> None:
    """See sharpen."""
    near, d = distances != UNREACHED, distances.astype(np.int64)
    lower[near] = np.maximum(lower, np.maximum(d, eccentricity - d))[near]
    upper[near] = np.minimum(upper, eccentricity + d)[near]


def drop_numpy(lower: np.ndarray, upper: np.ndarray, candidates: np.ndarray) -> tuple[int, int, int]:
    """See drop."""
    low = int(lower.max())
    high = max(low, int(upper[candidates].max(initial=0)))
    candidates &= ~((lower == upper) | ((upper <= low) & (2 * lower >= high)))
    return low, high, int(np.count_nonzero(candidates))


def choose_numpy(bounds: np.ndarray, candidates: np.ndarray, largest: bool) -> int:
    """See choose."""
    if not candidates.any():
        return -1
    values = np.where(candidates, bounds, -1 if largest else np.iinfo(np.int64).max)
    return int(np.argmax(values) if largest else np.argmin(values))


PLAIN = SimpleNamespace(search=search_numpy, sharpen=sharpen_numpy, drop=drop_numpy, choose=choose_numpy)


@cache
def loops() -> Any:
    """The four steps, compiled, or in numpy where numba is not installed."""
    if importlib.util.find_spec("numba") is None:
        return PLAIN
    from numba import njit

    return SimpleNamespace(search=njit(search), sharpen=njit(sharpen), drop=njit(drop), choose=njit(choose))


@dataclass
class Serial:
    """What a run found: diameter of the component of the start, sources in order, seconds of each component."""

    diameter: int = 0
    sources: list[int] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(COMPONENTS, 0.0))


def diameter_serially(offsets: np.ndarray, neighbours: np.ndarray, start: int, upper_first: bool = True,
                      steps: Any = None, stop: Callable[[], None] = lambda: None) -> Serial:
    """The diameter of the component of `start`; see diameter_by_bounds.

    offsets : int64[n + 1], neighbours : uint32[m]. steps : of loops() or PLAIN. stop : called before each source;
    may raise. Bytes a vertex: 33.
    """
    steps, found, n = steps or loops(), Serial(), len(offsets) - 1

    def timed(name: str, call: Callable[..., Any], *args: Any) -> Any:
        begin = time.perf_counter()
        result = call(*args)
        found.seconds[name] += time.perf_counter() - begin
        return result

    lower, upper, distances = timed(INITIALIZATION, lambda: (
        np.zeros(n, np.int64), np.full(n, UNREACHED, np.int64), np.empty(n, np.uint32)))
    queue, candidates = np.empty(n, np.int64), np.zeros(n, bool)
    source, largest = start, upper_first
    while source >= 0:
        stop()
        eccentricity = int(timed(ECCENTRICITY, steps.search, offsets, neighbours, source, distances, queue))
        if not found.sources:
            candidates = timed(INITIALIZATION, lambda: distances != UNREACHED)
        found.sources.append(int(source))
        timed(BOUNDS, steps.sharpen, distances, eccentricity, lower, upper)
        found.diameter, high, left = map(int, timed(CANDIDATES, steps.drop, lower, upper, candidates))
        if found.diameter == high or not left:
            break
        source = int(timed(SELECTION, steps.choose, upper if largest else lower, candidates, largest))
        largest = not largest
    return found
