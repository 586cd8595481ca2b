"""The common part of all runs of methods, for every metric (metric.py): limits, the longest pair, and the result."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from .._version import __version__
from ..errors import InputError, StateLost, StoppedEarly
from ..progress import TimeOver, timed
from ..stream.counters import Counters
from .earlier import Earlier, EarlierSources
from .metric import Metric
from .result import Result, Traversals, Witness

UNKNOWN = -1


@dataclass(frozen=True)
class Limits:
    """When an answer is good enough, and when time is over.

    gap : end when upper - lower is at most this, over all components and in the largest one.
    seconds : wall time; checked between traversals. bounds_only : do only a double sweep, and one BFS from the middle
    of its path, in every component that matters, without a proof. connected : raise errors.DisconnectedError once the
    graph is known to be disconnected. known : a known lower bound on the largest distance; a run that ends early has no
    smaller lower bound.
    """

    gap: int | None = None
    seconds: float | None = None
    bounds_only: bool = False
    connected: bool = False
    known: int = 0


@dataclass(frozen=True)
class MethodOptions:
    """Options of every method. scratch : folder for data that do not fit in memory, and for a store that is first
    reordered; None: $TMPDIR or /var/tmp. For exact methods only: path_file : see check_witness. components : number of
    largest components to list with their diameters. earlier : sources of an earlier proof, to begin with. certified :
    whether the proof is to be written."""

    path_file: Path | None = None
    limits: Limits = Limits()
    components: int = 0
    scratch: str | Path | None = None
    earlier: Earlier | None = None
    certified: bool = False


@dataclass
class Best:
    """The longest distance so far, over all components, in units, and its pair; target may be UNKNOWN."""

    length: int = 0
    source: int = 0
    target: int = 0


@dataclass
class StageCounts:
    """Counts for Result.traversals. seconds : wall seconds by stage."""

    seconds: dict[str, float]
    bfs: int = 0
    multi_source: int = 0
    multi_source_sources: int = 0
    partial: int = 0

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Add the wall time of the block to `stage`."""
        return timed(self.seconds, stage)

    def traversals(self) -> Traversals:
        return Traversals(self.bfs, self.multi_source, self.multi_source_sources, self.partial)


class MethodRun:
    """One run of a method along a metric; `answering` makes its answer.

    A subclass has `name`, `solve`, `upper` and `n_components`; it may have `release`, `name_target`, `kept_labels`,
    `_details`, `_facts`, `_fields`, and another `result_type`. with_path : whether its answer has the path between
    the two ends; a lower bound needs none.
    """

    name: ClassVar[str] = ""
    result_type: type[Result] = Result
    with_path: ClassVar[bool] = True
    stage_counts: ClassVar[type[StageCounts]] = StageCounts
    options: Any
    answer: Any = None

    def __init__(self, metric: Metric, options: MethodOptions) -> None:
        limits = options.limits
        if (limits.gap or 0) < 0 or (limits.seconds or 0) < 0:
            raise InputError("a limit cannot be negative", text=str(limits))
        self.metric, self.options, self.limits, self.gap = metric, options, limits, limits.gap or 0
        self.deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
        self.best, self.stages = Best(), self.stage_counts({})
        self.earlier = EarlierSources(options.earlier, metric.store)
        self.enough: str | None = None
        self.not_written: list[str] = []
        self.begin()

    # -- to be defined by subclasses ------------------------------------------------------------
    def solve(self) -> None:
        """Raise `best` and lower `upper` until they meet, or are as near as the limits demand."""
        raise AssertionError("a method solves")

    def upper(self) -> int:
        """Proved upper bound on the largest distance, over all components, in units."""
        raise AssertionError("a method bounds")

    def interval_largest(self) -> tuple[int, int] | None:
        """Proved interval of the diameter of the component with the most vertices; None if not reported."""
        return None

    def n_components(self) -> int | None:
        """Number of components, isolated vertices included; None while unknown."""
        return None

    def release(self) -> None:
        """Free the memory of the method, but not the answer."""

    def name_target(self) -> None:
        """Find the second end of the longest pair, if only the first one is known."""

    def kept_labels(self) -> Any:
        """Distances from the first end of the longest pair, if they were stored."""

    def check(self) -> Witness | None:
        """The witness of the longest pair, checked. Raises EmdiamError if it does not hold."""
        self.tick("verify")  # with the final bounds
        witness = self.metric.check(self)
        if witness is not None and not self.with_path:
            witness.path = None
        return witness

    def _details(self) -> dict[str, Any]:
        """The first entries of Result.details."""
        return {}

    def _facts(self) -> dict[str, Any]:
        """Entries of progress events beside the bounds."""
        return {}

    def _fields(self) -> dict[str, Any]:
        """Further fields of the result."""
        return {}

    # -- for methods ----------------------------------------------------------------------------
    def check_time(self) -> None:
        """Raise TimeOver when the time is over, which ends the run with StoppedEarly. To be called between searches."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise TimeOver

    def tick(self, phase: str) -> None:
        """Report progress, with the bounds so far."""
        self.metric.tick(phase, lower=self.best.length, upper=max(self.best.length, self.upper()), **self._facts())

    # -- its result -----------------------------------------------------------------------------
    def begin(self) -> None:
        """Start to count the work and time."""
        self._since, self._before = time.perf_counter(), self.metric.used()

    def details(self, used: Counters) -> dict[str, Any]:
        """Result.details. used : counters of the run."""
        return {**self._details(), "stage_seconds": dict(self.stages.seconds), "counters": used.to_dict()}

    def result(self) -> Any:
        """The Result with the bounds proved so far, without a witness."""
        metric, components = self.metric, self.n_components()
        used, elapsed = metric.used() - self._before, time.perf_counter() - self._since
        lower, upper = metric.proved(self.best.length, max(self.best.length, self.upper()))
        largest = self.interval_largest()
        proved = largest is not None and len(set(metric.proved(*largest))) == 1
        return self.result_type(
            method=self.name, n_vertices=metric.n_vertices, n_edges=metric.n_edges,
            connected=None if components is None else components == 1, n_components=components, diameter=None,
            diameter_largest_component=metric.number(largest[0]) if largest is not None and proved else None,
            diameter_max_component=None, lower=metric.number(lower), upper=metric.number(upper), exact=False,
            witness=None, traversals=self.stages.traversals(), levels=used.levels, edges_scanned=used.edges_scanned,
            bytes_read=used.bytes_read,
            seconds={"total": elapsed, "solve": 0.0, "verify": 0.0, **metric.seconds}, version=__version__,
            details={**self.details(used), **self.earlier.details()}, **self._fields())

    def stopped(self) -> Any:
        """The result of a run that ended early."""
        return self.result()

    def conclude(self, result: Any) -> None:
        """Complete the result of a finished run."""
        result.conclude()


@contextmanager
def answering(run: MethodRun) -> Iterator[None]:
    """Solve a run within the context. At its end the run's answer, a Result, is made, with the checked witness of the
    lower bound.

    The answer is exact unless the limits demand less. Raises InputError for a graph without vertices (its diameter is
    undefined), StoppedEarly with `result` (the interval so far, without a witness) on Ctrl-C, when the time is over,
    and when workers are lost, EmdiamError if the witness does not check out.
    """
    if run.metric.n_vertices == 0:
        raise InputError("the graph has no vertices, so its diameter is undefined")
    seconds = run.metric.seconds
    run.begin()
    with _stopping(run):
        with timed(seconds, "solve"):
            yield
        with timed(seconds, "verify"):
            run.release()
            run.name_target()
            witness = run.check()
    run.answer = run.result()
    run.answer.witness, run.answer.not_written = witness, run.not_written
    run.conclude(run.answer)


@contextmanager
def _stopping(run: MethodRun) -> Iterator[None]:
    """Turn Ctrl-C, the end of the time and the loss of workers into StoppedEarly with the interval so far."""
    try:
        yield
        return
    except KeyboardInterrupt:
        why = "stopped by the user"
    except TimeOver:
        why = "the time limit is over"
    except StateLost as lost:
        why = str(lost)
    result = run.stopped()
    raise StoppedEarly(f"{why}; {result.lower:,} <= D <= {result.upper:,} is proved", result)


def solved(run: MethodRun) -> Any:
    """Solve a run and return its Result; see answering."""
    with answering(run):
        run.solve()
    return run.answer
