"""Spreads as asked of a rank: begin, go on, tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .rank import Part
from .spread import Spread

_NAME = "spread"


@dataclass(frozen=True)
class SpreadStep:
    """level : bound of the frontier. dense : whether the next level goes bottom-up. lowered : vertices of this range
    whose bound fell, once it is over."""

    level: int
    dense: bool
    lowered: int | None


def begin_spread(
    part: Part, key: int, limit: int, seeds: np.ndarray, values: np.ndarray, levels: np.ndarray
) -> SpreadStep:
    """Begin a spread on all ranks together, and go on as `step_spread`; see Spread. key : of the column."""
    spread = part.objects[_NAME] = Spread(part.work, part.values[key], limit, seeds=seeds, values=values,
                                          levels=levels)
    spread.start()
    return step_spread(part)


def begin_extension(part: Part, key: int, old: int, limit: int) -> SpreadStep:
    """Begin a spread from all vertices with bound `old`, and go on as `step_spread`."""
    nothing = np.empty(0, np.int64)
    spread = part.objects[_NAME] = Spread(part.work, part.values[key], limit, seeds=nothing, values=nothing,
                                          levels=nothing)
    spread.start_at(old)
    return step_spread(part)


def step_spread(part: Part) -> SpreadStep:
    """Some levels, on all ranks together."""
    spread: Spread = part.objects.pop(_NAME)  # one that fails is let go of
    finished = spread.step()
    if not finished:
        part.objects[_NAME] = spread
    return SpreadStep(spread.level, spread.dense, spread.lowered if finished else None)
