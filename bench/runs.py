"""Own methods, run by name with a time limit: what they found, and what they told on the way.

Seconds are those of the solution alone: opening, loading, the check of the witness, and what numba
compiles or loads in the middle of a run are apart.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numba.core import event as numba_event

from emdiam.errors import StoppedEarly
from emdiam.methods.result import Result
from emdiam.methods.run import Limits
from emdiam.progress import Event, TimeOver
from emdiam.runs.registry import METHODS

from .graphs import Graph
from .rounds import Lap

OWN = ("pivots", "fdiam")
CLASSICS = ("bounding", "ifub", "graph-diameter", "korf", "apsp")
LONG_SECONDS = 10.0  # a run that takes so long is not repeated: noise is small beside it
MOST_POINTS = 400
_TRAVERSING = ("bfs", "cover", "multi-source")


class TimeLimit:
    """A progress listener that ends a run after some seconds, also within a traversal; the engine is
    then not used again."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def __call__(self, event: Event) -> None:
        if time.monotonic() > self._end:
            raise TimeOver


def solve_timed(engine: Any, name: str, seconds: float | None, **options: Any) -> tuple[Result, float]:
    """What `solve` gives, and the seconds that numba compiled or loaded kernels in it; these are
    taken out of its solve seconds."""
    with numba_event.install_listener("numba:compiler_lock", numba_event.TimingListener()) as listener:
        result = solve(engine, name, seconds, **options)
    jit = float(listener.duration) if listener.done else 0.0
    result.seconds["solve"] = max(0.0, result.seconds["solve"] - jit)
    return result, jit


def solve(engine: Any, name: str, seconds: float | None = None, **options: Any) -> Result:
    """The exact result of a method, or its interval when the seconds are over (it looks at the clock
    between traversals)."""
    method = METHODS[name].definition()
    try:
        return method.solve(engine, method.options(limits=Limits(seconds=seconds), **options))
    except StoppedEarly as stop:
        assert isinstance(stop.result, Result)
        return stop.result


@dataclass
class Point:
    """What a run had proved when it began something. seconds : since its start; traversals : done by
    then; open : vertices that may still raise the diameter, None while nobody counted them."""

    seconds: float
    traversals: int
    lower: int
    upper: int
    open: int | None = None


class Trace:
    """Every progress report of the algorithms on one engine. It replaces engine.reporter.tick, which is
    throttled on its way to a listener."""

    def __init__(self, engine: Any) -> None:
        self.points: list[Point] = []
        self._begin, self._traversals, self._told = time.perf_counter(), 0, engine.reporter.tick
        engine.reporter.tick = self._tick

    def start(self) -> None:
        """Forget what was; a run begins."""
        self.points = []
        self._begin, self._traversals = time.perf_counter(), 0

    def _tick(self, phase: str, **facts: Any) -> None:
        if "upper" in facts:
            self._add(facts["lower"], facts["upper"], facts.get("open"))
        self._traversals += phase in _TRAVERSING
        self._told(phase, **facts)

    def _add(self, lower: int, upper: int, n_open: int | None) -> None:
        point = Point(time.perf_counter() - self._begin, self._traversals, lower, upper, n_open)
        if self.points and self.points[-1].traversals == self._traversals:
            self.points[-1] = point  # bounds after a traversal: what was made of it counts
        else:
            self.points.append(point)

    def finish(self, result: Result) -> None:
        """The run has ended with `result`."""
        self._traversals = traversals_of(result)
        self._add(result.lower, result.upper, 0 if result.exact else self.last_open())

    def last_open(self) -> int | None:
        """The last count of open vertices."""
        return next((p.open for p in reversed(self.points) if p.open is not None), None)

    def rows(self) -> list[list[float | int | None]]:
        """[seconds, traversals, lower, upper, open] of the points, evenly thinned out if they are many."""
        step = -(-len(self.points) // MOST_POINTS) or 1
        kept = self.points[:-1:step] + self.points[-1:]
        return [[round(p.seconds, 4), p.traversals, p.lower, p.upper, p.open] for p in kept]


class Solver:
    """One own method on an engine that is kept, run again and again.

    options : of the method. result : of the last run. trace : its points. jit : seconds in numba, over all runs.
    """

    def __init__(self, engine: Any, name: str, seconds: float | None, trace: Trace, **options: Any) -> None:
        self._engine, self._name, self._limit, self._options = engine, name, seconds, options
        self._trace = trace
        self.trace: list[list[float | int | None]] = []
        self.jit = 0.0

    def __call__(self) -> Lap:
        """One run; another one in its place if numba worked in a short one."""
        lap, jit = self._once()
        return self._once()[0] if jit and lap.again else lap

    def _once(self) -> tuple[Lap, float]:
        self._trace.start()
        self.result, jit = solve_timed(self._engine, self._name, self._limit, **self._options)
        self._trace.finish(self.result)
        self.trace = self._trace.rows()
        self.jit += jit
        seconds = self.result.seconds["solve"]
        return Lap(seconds, self.result.exact and seconds < LONG_SECONDS), jit


def traversals_of(result: Result) -> int:
    """Plain BFS and multi-source batches, each one traversal."""
    return result.traversals.bfs + result.traversals.multi_source


def facts_of(result: Result) -> dict[str, Any]:
    """What is kept of a result in JSON: no witness, no certificate."""
    counts = result.traversals
    return {
        "exact": result.exact, "lower": result.lower, "upper": result.upper,
        "diameters": [result.diameter_largest_component, result.diameter_max_component],
        "traversals": traversals_of(result), "bfs": counts.bfs, "multi_source": counts.multi_source,
        "sources": counts.multi_source_sources, "partial": counts.partial, "levels": result.levels,
        "edges_scanned": result.edges_scanned, "solve_seconds": result.seconds["solve"],
        "stage_seconds": result.details.get("stage_seconds", {}),
    }


def faults(graph: Graph, runs: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """What contradicts what: the facts_of runs by name, each other and the known diameters."""
    found: list[str] = []
    answers = {run["diameters"][1] for _, run in runs if run["exact"]}
    answers |= set(graph.diameters[1:])
    if len(answers) > 1:
        found.append(f"diameters {sorted(answers)}")
    for name, run in runs:
        if graph.diameters and run["exact"] and tuple(run["diameters"]) != graph.diameters:
            found.append(f"{name}: {run['diameters']}, known: {list(graph.diameters)}")
        outside = [d for d in answers if not run["lower"] <= d <= run["upper"]]
        if outside:
            found.append(f"{name}: {outside[0]} is outside of its {run['lower']}..{run['upper']}")
    return found
