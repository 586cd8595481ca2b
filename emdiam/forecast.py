"""The forecast for a method, exact or not, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .session import family

if TYPE_CHECKING:
    from .store.store import Store
    from .stream.forecast import Forecast
    from .stream.plan import MemoryPlan
    from .stream.probe import Probe


def forecast_of(
    store: Store, method: str, plan: MemoryPlan, switches: Mapping[str, Any] | None = None, probe: Probe | None = None
) -> Forecast:
    """What a run of the method with this plan and these options will probably take. probe : what a look at the
    graph found (probe.py), if there was one. Raises InputError for a method that does not exist, or options that it
    has not."""
    methods = import_module(f".methods.{family(method)}.methods", __package__)
    found: Forecast = methods.forecast(store, method, plan, methods.method_options(method, switches or {}), probe)
    return found
