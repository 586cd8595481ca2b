"""One exact run on a store: open, plan, solve, close, and the figures of the run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import InputError
from .graph.store import Store
from .progress import Listener
from .store_run import StoreRun, opened, plan_on, solve_on
from .units import peak_rss_bytes

if TYPE_CHECKING:
    from .exact.result import Result
    from .stream.plan import MemoryPlan

METHODS = ("pivots", "fdiam", "bounding", "ifub", "graph-diameter", "korf", "apsp", "sweep-k")


@dataclass(frozen=True)
class ExactRun(StoreRun):
    """How to run an exact method.

    method : one of METHODS; the other fields of StoreRun as there. gap : bounds this close are
    enough. bounds_only : a few BFS, no proof. certificate : file for the proof (method pivots; not
    with gap or bounds_only).
    """

    method: str = "pivots"
    gap: int | None = None
    bounds_only: bool = False
    certificate: Path | None = None


def check_method(method: str) -> None:
    """Raises InputError for a method that does not exist."""
    if method not in METHODS:
        raise InputError("there is no such method", text=method, remedy="choose from: " + ", ".join(METHODS))


def exact(store: Store | str | Path, run: ExactRun, progress: Listener | None = None) -> Result:
    """The exact diameter of the store (opened, or a path), with every figure of the run.

    Raises InputError (StoreError, BudgetError), and StoppedEarly with `result` on Ctrl-C and at the
    end of the time.
    """
    check_method(run.method)
    deadline = run.deadline()
    if run.certificate is not None and (run.method != "pivots" or run.gap is not None or run.bounds_only):
        raise InputError("a certificate needs a whole proof by pivots", text=str(run.certificate),
                         remedy="use --method pivots, without --gap and --bounds-only")
    with opened(store, run) as mine:
        return _certified(mine, run, progress, deadline)


def plan(store: str | Path, run: ExactRun, progress: Listener | None = None) -> MemoryPlan:
    """The memory plan of `exact` for the store at a path, without running it.

    Raises InputError (StoreError; BudgetError with the numbers where memory cannot do).
    """
    check_method(run.method)
    return plan_on(store, run, progress)


def _certified(store: Store, run: ExactRun, progress: Listener | None, deadline: float | None) -> Result:
    """The result, after its certificate, if one is wanted, has been written."""
    def certify(result: Result) -> None:
        from .exact.certificate import claims_of, write_certificate

        assert result.proof is not None and run.certificate is not None, "pivots that end leave a proof"
        write_certificate(run.certificate, result.proof, claims_of(result), store, threads=run.threads,
                          progress=progress)
        result.certificate = str(run.certificate)
        result.peak_rss_bytes = peak_rss_bytes()

    result: Result = solve_on(store, run, "exact", progress, deadline, None if run.certificate is None else certify,
                              gap=run.gap, bounds_only=run.bounds_only)
    return result
