"""One exact run on a store: open, plan, solve, close, and the figures of the run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .durable import check_file
from .errors import InputError, NotWritten, StoppedEarly
from .methods.exact.result import Result
from .progress import Listener
from .store.store import Store
from .store_run import StoreRun, opened, plan_on, solve_on
from .stream.plan import MemoryPlan
from .units import peak_rss_bytes

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

    Raises InputError (StoreError, BudgetError; NotWritten with `result` where the path or the certificate cannot be
    written in the end), and StoppedEarly with `result` on Ctrl-C and at the end of the time.
    """
    check_method(run.method)
    deadline = run.deadline()
    for file in (run.certificate, run.switches.get("path_file")):
        if file is not None:
            check_file(file)
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
    def after(result: Result) -> None:
        if run.certificate is not None:
            _certify(result, run.certificate, store, run.threads, progress)
        if result.not_written:
            raise NotWritten("; ".join(result.not_written), result)

    result: Result = solve_on(store, run, "exact", progress, deadline, after, gap=run.gap,
                              bounds_only=run.bounds_only)
    return result


def _certify(result: Result, file: Path, store: Store, threads: int, progress: Listener | None) -> None:
    """Write the certificate; the result says whether that could be done. Raises StoppedEarly on Ctrl-C."""
    from .methods.exact.certificate import claims_of, write_certificate

    assert result.proof is not None, "pivots that end leave a proof"
    try:
        write_certificate(file, result.proof, claims_of(result), store, threads=threads, progress=progress)
        result.certificate = str(file)
    except InputError as error:
        result.not_written.append(str(error))
    except KeyboardInterrupt:
        raise StoppedEarly(f"stopped by the user before the certificate was written; the diameter lies in"
                           f" [{result.lower}, {result.upper}]", result) from None
    result.peak_rss_bytes = peak_rss_bytes()
