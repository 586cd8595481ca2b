"""Plans and forecasts of all methods on a store, without running one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .api_approx import METHODS as APPROXIMATIONS
from .api_exact import METHODS as EXACT
from .errors import BudgetError
from .forecast import forecast_of
from .graph.store import open_store
from .progress import Listener
from .store_run import StoreRun, compile_kernels

if TYPE_CHECKING:
    from .stream.forecast import Forecast
    from .stream.plan import MemoryPlan

# Exact ones first: kernels of approximations, loaded for their plans, would count as the program of others.
ALL_METHODS = EXACT + APPROXIMATIONS


@dataclass(frozen=True)
class Planned:
    """A method and what it would take. plan, forecast : None where the budget cannot do; refused : why, and
    what would do."""

    method: str
    plan: MemoryPlan | None
    forecast: Forecast | None
    refused: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return {
            "method": self.method, "kind": "exact" if self.method in EXACT else "approximation",
            "refused": self.refused, "plan": None if self.plan is None else self.plan.to_dict(),
            "forecast": None if self.forecast is None else self.forecast.to_dict()}


def plan_all(
    store: str | Path, run: StoreRun, methods: Sequence[str] = ALL_METHODS, progress: Listener | None = None
) -> list[Planned]:
    """Every method with its own default options, memory, arena and threads of `run`. A budget that cannot do
    for a method is told of it, not raised. Raises InputError (StoreError)."""
    from .session import plan_run

    with open_store(store) as opened:
        compile_kernels(opened, progress)
        found = []
        for method in methods:
            try:
                plan = plan_run(opened, memory_bytes=run.memory_bytes, arena_bytes=run.arena_bytes,
                                threads=run.threads, method=method)
            except BudgetError as error:
                found.append(Planned(method, None, None, str(error)))
            else:
                found.append(Planned(method, plan, forecast_of(opened, method, plan)))
        return found
