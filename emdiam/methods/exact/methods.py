"""The exact methods by name: their options, how to run them, and the vertex state to plan for.

This module brings numba; the names alone are in emdiam.api_exact.METHODS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ...engine.interface import Engine
from ...errors import InputError
from ...gpu.vram import resident_bytes
from ...store.store import Store
from ...stream.blocks import table_bytes
from ...stream.forecast import Forecast, Outlook, make_forecast
from ...stream.plan import MemoryPlan, Phase
from ...stream.probe import Probe
from ...traverse.columns import FOLD_BYTES
from ...traverse.multi import MOST_BITS, NARROW_BITS, WORD_BITS, batch_bytes
from ...traverse.workspace import column_bytes, workspace_bytes
from .apsp import ApspOptions, apsp
from .bounding import BoundingOptions, bounding
from .cost_model import HABITS, apsp_habit
from .fdiam import FdiamOptions, fdiam
from .fdiam_state import solve_bytes as fdiam_bytes
from .graph_diameter import GraphDiameterOptions, graph_diameter
from .ifub import IfubOptions, ifub
from .korf import KorfOptions, korf
from .method import MethodOptions
from .pivots import PivotOptions, pivots
from .pivots import memory_phases as pivot_phases
from .pivots import pool_wanted as pivot_pool
from .result import Result
from .sweep_k import SweepKOptions, sweep_k

# What a method keeps while it solves, beside the state of traversals, labels and sizes:
# bytes(store, options, bytes of a column entry).
SolveBytes = Callable[[Store, Any, int], int]


@dataclass(frozen=True)
class Method:
    """options : a MethodOptions class. run : (engine, options) -> Result."""

    options: type[MethodOptions]
    run: Callable[[Engine, Any], Result]
    solve_bytes: SolveBytes


def _distances(store: Store, column: int) -> int:
    """A column of distances, with its narrower copy while it widens, and the pieces of a fold."""
    return store.n_vertices * (column + column // 2) + FOLD_BYTES


def _batch(store: Store, batch: int) -> int:
    """State of a multi-source BFS."""
    if batch == 1:
        return 0
    bits = NARROW_BITS if batch <= NARROW_BITS else min(MOST_BITS, -(-batch // WORD_BITS) * WORD_BITS)
    return batch_bytes(store.n_vertices, bits)


def _bounding_bytes(store: Store, options: BoundingOptions, column: int) -> int:
    many = 0 if options.batch == 1 else store.n_vertices * column * options.batch
    return 2 * store.n_vertices * column + max(_distances(store, column), many + FOLD_BYTES) + _batch(
        store, options.batch)


def _ifub_bytes(store: Store, options: IfubOptions, column: int) -> int:
    return _distances(store, column) + _batch(store, options.batch)


def _apsp_bytes(store: Store, options: ApspOptions, column: int) -> int:
    return _distances(store, column) + _batch(store, options.batch)


def _korf_bytes(store: Store, options: KorfOptions, column: int) -> int:
    bitmap = store.n_vertices // 8 + 8
    return _distances(store, column) + bitmap + _batch(store, max(2, options.batch))


def _graph_diameter_bytes(store: Store, options: GraphDiameterOptions, column: int) -> int:
    return store.n_vertices * column + _distances(store, column)


def _sweep_k_bytes(store: Store, options: SweepKOptions, column: int) -> int:
    return 2 * store.n_vertices * column + _distances(store, column)


def _no_bytes(store: Store, options: PivotOptions, column: int) -> int:
    """Pivots state their phases themselves."""
    return 0


METHODS: dict[str, Method] = {
    "pivots": Method(PivotOptions, pivots, _no_bytes),
    "fdiam": Method(FdiamOptions, fdiam, fdiam_bytes),
    "bounding": Method(BoundingOptions, bounding, _bounding_bytes),
    "ifub": Method(IfubOptions, ifub, _ifub_bytes),
    "graph-diameter": Method(GraphDiameterOptions, graph_diameter, _graph_diameter_bytes),
    "korf": Method(KorfOptions, korf, _korf_bytes),
    "apsp": Method(ApspOptions, apsp, _apsp_bytes),
    "sweep-k": Method(SweepKOptions, sweep_k, _sweep_k_bytes),
}


def method_named(name: str) -> Method:
    """Raises InputError for a method that does not exist."""
    if name not in METHODS:
        raise InputError("there is no such method", text=name, remedy="choose from: " + ", ".join(METHODS))
    return METHODS[name]


def method_options(name: str, switches: Mapping[str, Any]) -> MethodOptions:
    """The options of a method from those that were given. Raises InputError for one it has not."""
    options = method_named(name).options
    known = [field.name for field in fields(options)]
    for given in switches:
        if given not in known:
            shared = {field.name for field in fields(MethodOptions)}
            own = ", ".join(name for name in known if name not in shared)
            raise InputError(f"method {name} has no option", text=given,
                             remedy=f"its own are: {own}" if own else "it has none of its own")
    return options(**switches)


def memory_phases(store: Store, name: str, switches: Mapping[str, Any]) -> tuple[Phase, ...]:
    """Vertex state of a method by phase, at worst.

    open: offsets; bfs: with bitmaps, queues and distances; components: labels and sizes beside
    them; solve: what the method keeps beside labels and sizes; verify: one distance column.
    Raises InputError as method_options.
    """
    options = method_options(name, switches)
    if name == "pivots":
        return pivot_phases(store)
    n, m = store.n_vertices, store.n_arcs
    ids, column = store.id_dtype.itemsize, column_bytes(n)
    table = table_bytes(n, m, store.indices.chunk_items)
    shared = table + workspace_bytes(n, ids)
    kept = 0 if name == "fdiam" else n * (column + column // 2)
    sizes = {
        "open": table,
        "bfs": shared + kept,
        "components": shared + kept + n * 2 * ids,
        "solve": shared + n * 2 * ids + METHODS[name].solve_bytes(store, options, column),
        "verify": shared + n * (column + column // 2),
    }
    return tuple(Phase(phase, size / max(1, n), size) for phase, size in sizes.items())


def pool_wanted(store: Store, name: str) -> int:
    """Bytes that a method could make use of beside its vertex state."""
    return pivot_pool(store) if name == "pivots" else 0


def forecast(store: Store, name: str, plan: MemoryPlan, options: MethodOptions, probe: Probe | None = None) -> Forecast:
    """What a run of the method with this plan will probably take. A BFS from every vertex, as apsp does, is counted
    by batches. probe : what a look at the graph found."""
    if isinstance(options, ApspOptions):
        habit = apsp_habit(-(-store.n_vertices // max(1, options.batch)))
    else:
        habit = HABITS[name]
    return make_forecast(Outlook(store, plan, probe), habit, resident_bytes(store, name))
