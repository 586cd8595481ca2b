"""Plans and forecasts of all methods on a store, without running one; at most the four traversals of a probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .api_approx import METHODS as APPROXIMATIONS
from .api_exact import METHODS as EXACT
from .errors import BudgetError
from .forecast import forecast_of
from .progress import Listener
from .store.store import open_store
from .store_run import StoreRun

if TYPE_CHECKING:
    from .stream.forecast import Forecast
    from .stream.plan import MemoryPlan
    from .stream.probe import Probe

ALL_METHODS = EXACT + APPROXIMATIONS


@dataclass(frozen=True)
class Planned:
    """A method and what it would take. plan, forecast : None where the budget cannot do; refused : why, and
    what would do. probe : what a look at the graph found, the same for all methods; None where nobody looked, or it
    was not over in time."""

    method: str
    plan: MemoryPlan | None
    forecast: Forecast | None
    refused: str | None = None
    probe: Probe | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return {
            "method": self.method, "kind": "exact" if self.method in EXACT else "approximation",
            "refused": self.refused, "plan": None if self.plan is None else self.plan.to_dict(),
            "forecast": None if self.forecast is None else self.forecast.to_dict()}


def plan_all(
    store: str | Path, run: StoreRun, methods: Sequence[str] = ALL_METHODS, progress: Listener | None = None,
    probe_seconds: float | None = None,
) -> list[Planned]:
    """Every method with its own default options, memory, arena and threads of `run`. A budget that cannot do
    for a method is told of it, not raised. probe_seconds : look at the graph for at most so long (probe.py), with the
    plan of the method that needs the least; None: not at all. Raises InputError (StoreError)."""
    from .session import plan_run

    options: dict[str, Any] = {"memory_bytes": run.memory_bytes, "arena_bytes": run.arena_bytes, "threads": run.threads}
    with open_store(store) as opened:
        plans: dict[str, MemoryPlan] = {}
        refused: dict[str, str] = {}
        for method in methods:
            try:
                plans[method] = plan_run(opened, method=method, **options)
            except BudgetError as error:
                refused[method] = str(error)
        probe = None
        if plans and probe_seconds is not None:  # after the plans, since what it leaves in memory is no base of theirs
            from .probe import probe_store

            smallest = min(plans, key=lambda method: plans[method].minimum_bytes)
            probe = probe_store(opened, probe_seconds, method=smallest, **options)
        return [Planned(method, plans[method], forecast_of(opened, method, plans[method], probe=probe), probe=probe)
                if method in plans else Planned(method, None, None, refused[method]) for method in methods]
