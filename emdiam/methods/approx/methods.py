"""The approximations by name: their options, how to run them, and the vertex state to plan for.

A method's module is imported when the method is used, so that an exact run pays for none of them.
The names alone are in emdiam.api_approx.METHODS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

from ...engine.interface import Engine
from ...errors import InputError
from ...gpu.vram import resident_bytes
from ...store.store import Store
from ...stream.blocks import table_bytes
from ...stream.forecast import Forecast, Outlook, make_forecast
from ...stream.plan import MemoryPlan, Phase
from ...stream.probe import Probe
from ...traverse.multi import MOST_BITS, batch_bytes
from ...traverse.workspace import column_bytes, workspace_bytes
from .cost_model import HABITS, condensed_pool
from .method import ApproxOptions
from .result import Approximation


@dataclass(frozen=True)
class Method:
    """One approximation; the rest are names in its module, which lies in this package.

    options : an ApproxOptions class. solve : (engine, options) -> Approximation. state : (store,
    options, bytes of a column entry) -> bytes of vertex state by phase, beside the state that all
    traversals share. pool : what it could make use of beyond that, in bytes.
    """

    module: str
    options: str
    solve: str
    state: str
    pool: Callable[[Store], int] = lambda store: 0

    def named(self, attribute: str) -> Any:
        """The attribute of the module that `options`, `solve` or `state` names."""
        return getattr(import_module(f"{__package__}.{self.module}"), attribute)

    def run(self, engine: Engine, options: ApproxOptions) -> Approximation:
        """Approximate the diameter. Raises as exact.run.run_method."""
        result = self.named(self.solve)(engine, options)
        assert isinstance(result, Approximation)
        return result

    def phase_bytes(self, store: Store, options: ApproxOptions, column: int) -> dict[str, int]:
        """Bytes of vertex state by phase, at worst. column : bytes of a column entry."""
        sizes: dict[str, int] = self.named(self.state)(store, options, column)
        return sizes


def batch_pool(store: Store) -> int:
    """The largest batch of a multi-source BFS."""
    return batch_bytes(store.n_vertices, MOST_BITS)


METHODS: dict[str, Method] = {
    "clusters": Method("clusters", "ClusterOptions", "clusters", "cluster_bytes", condensed_pool),
    "sweep": Method("sweep", "SweepOptions", "sweep", "sweep_bytes"),
    "spanning": Method("spanning", "SpanningOptions", "spanning", "spanning_bytes"),
    "fringe": Method("fringe", "FringeOptions", "fringe", "fringe_bytes", batch_pool),
}


def method_options(name: str, switches: Mapping[str, Any]) -> ApproxOptions:
    """The options of a method from those that were given. Raises InputError for an unknown method or
    an option that it has not."""
    if name not in METHODS:
        raise InputError("there is no such method", text=name, remedy="choose from: " + ", ".join(METHODS))
    options: type[ApproxOptions] = METHODS[name].named(METHODS[name].options)
    # The lower bound of an approximation has no path to write.
    known = [field.name for field in fields(options) if field.name != "path_file"]
    shared = {field.name for field in fields(ApproxOptions)}
    for given in switches:
        if given not in known:
            own = ", ".join(one for one in known if one not in shared)
            raise InputError(f"method {name} has no option", text=given,
                             remedy=f"its own are: {own}" if own else "it has none of its own")
    return options(**switches)


def memory_phases(store: Store, name: str, switches: Mapping[str, Any]) -> tuple[Phase, ...]:
    """Vertex state of a method by phase, at worst. open: offsets; then the phases of the method, each
    with offsets and the state of traversals; the ranks of a reordered store in all of them.
    Raises InputError as method_options."""
    options = method_options(name, switches)
    n, ids = store.n_vertices, store.id_dtype.itemsize
    table = table_bytes(n, store.n_arcs, store.indices.chunk_items)
    ranks = 0 if store.is_natural else n * ids
    shared = table + ranks + workspace_bytes(n, ids)
    own = METHODS[name].phase_bytes(store, options, column_bytes(n))
    sizes = {"open": table} | {phase: shared + size for phase, size in own.items()}
    return tuple(Phase(phase, size / max(1, n), size) for phase, size in sizes.items())


def pool_wanted(store: Store, name: str) -> int:
    """Bytes that a method could make use of beside its vertex state."""
    return METHODS[name].pool(store)


def forecast(store: Store, name: str, plan: MemoryPlan, options: ApproxOptions, probe: Probe | None = None) -> Forecast:
    """What a run of the method with this plan will probably take. probe : what a look at the graph found."""
    return make_forecast(Outlook(store, plan, probe), HABITS[name], resident_bytes(store, name))
