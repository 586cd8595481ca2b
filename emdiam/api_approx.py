"""One approximation on a store: open, plan, solve, close, and the figures of the run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .errors import InputError
from .methods.approx.result import Approximation
from .progress import Listener
from .store.store import Store
from .store_run import StoreRun, opened, plan_on, solve_on
from .stream.plan import MemoryPlan

METHODS = ("clusters", "sweep", "spanning", "fringe")


@dataclass(frozen=True)
class ApproxRun(StoreRun):
    """How to run an approximation. method : one of METHODS; the other fields of StoreRun as there.
    One number of masters a run: a list of them is several runs."""

    method: str = "clusters"


def check_method(method: str) -> None:
    """Raises InputError for a method that does not exist."""
    if method not in METHODS:
        raise InputError("there is no such approximation", text=method,
                         remedy="choose from: " + ", ".join(METHODS))


def approx(store: Store | str | Path, run: ApproxRun, progress: Listener | None = None) -> Approximation:
    """An estimate of the diameter of the store (opened, or a path), bounds that are proved, and every
    figure of the run.

    Raises InputError (StoreError, BudgetError), and StoppedEarly with `result` on Ctrl-C and at the
    end of the time.
    """
    check_method(run.method)
    deadline = run.deadline()
    with opened(store, run) as mine:
        result: Approximation = solve_on(mine, run, "approx", progress, deadline)
    return result


def plan_approx(store: str | Path, run: ApproxRun, progress: Listener | None = None) -> MemoryPlan:
    """The memory plan of `approx` for the store at a path, without running it.

    Raises InputError (StoreError; BudgetError with the numbers where memory cannot do).
    """
    check_method(run.method)
    return plan_on(store, run, progress)
