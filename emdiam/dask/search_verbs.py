"""BFS as asked of a rank: begin, go on, tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .rank import Part
from .search import Search


@dataclass(frozen=True)
class Found:
    """What a search has found in one range. complete : whether it came to its end, and not to a radius or targets.
    farthest : the smallest vertex on the last level, or -1. dtype : of the distances. bins : see traverse/profile.py.
    level_counts : vertices of each level, of all ranges, if they were wanted."""

    complete: bool
    reached: int
    farthest: int
    dtype: str
    dense_levels: int
    bins: np.ndarray
    level_counts: list[int]


@dataclass(frozen=True)
class Step:
    """level : the last level so far. dense : whether the next goes bottom-up. found : once the search is over."""

    level: int
    dense: bool
    found: Found | None


@dataclass(frozen=True)
class How:
    """What a search is begun with: source, radius, targets and profile as of Engine.bfs. into : key of the column that
    takes the distances, cleared first, or None."""

    source: int
    radius: int | None
    targets: np.ndarray | None
    into: int | None
    profile: bool


def new_search(part: Part, how: How) -> Search:
    """The search on this rank, before its first level."""
    values = None
    if how.into is not None:
        values = part.values[how.into]
        values[part.own] = np.iinfo(values.dtype).max
    return Search(part.work, how.source, radius=how.radius, targets=how.targets, distances=values, profile=how.profile)


def begin_bfs(part: Part, how: How, keep: int | None, dropped: list[int]) -> Step:
    """Begin a search, and go on as `step_bfs`. keep : key of a new column for its distances. The columns of the keys
    `dropped` are let go of."""
    for key in dropped:
        part.values.pop(key, None)
    part.search = new_search(part, how)
    return step_bfs(part, keep)


def step_bfs(part: Part, keep: int | None) -> Step:
    """Some levels, on all ranks together."""
    search = part.search
    assert search is not None, "a search is begun before it goes on"
    finished = search.step()
    return Step(search.level, search.dense, _found(part, search, keep) if finished else None)


def _found(part: Part, search: Search, keep: int | None) -> Found:
    part.search = None
    if keep is not None:
        part.values[keep] = search.distances
    at = np.flatnonzero(search.distances[part.own] == search.level)[:1]
    return Found(bool(search.complete), search.reached, int(at[0]) + part.first if len(at) else -1,
                 search.distances.dtype.name, search.dense_levels, search.bins, search.level_counts)
