"""An exact method on an engine, run again while it is short."""

from __future__ import annotations

import statistics
from typing import Any

from ..runs import facts_of, solve_timed

MOST_RUNS, TIMED_SECONDS = 9, 4.0


def timed(engine: Any, method: str, limit: float, **options: Any) -> dict[str, Any]:
    """facts_of a run and the median seconds of up to nine; one if it is long, or stopped by the limit."""
    taken: list[float] = []
    while len(taken) < MOST_RUNS:
        result, jit = solve_timed(engine, method, limit, **options)
        if jit and not taken and result.seconds["solve"] < limit / 4:
            result, _ = solve_timed(engine, method, limit, **options)
        taken.append(result.seconds["solve"])
        if not result.exact or sum(taken) + taken[-1] > TIMED_SECONDS:
            break
    return {**facts_of(result), "median": statistics.median(taken), "n_runs": len(taken),
            "published_count": result.details.get("published_count"), "removed": result.details.get("removed")}


def solved(run: dict[str, Any]) -> float | None:
    """Its median seconds, None where there is no answer."""
    return float(run["median"]) if run.get("exact") else None
