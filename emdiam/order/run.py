"""Putting a store into another order: find the new numbers, then write the graph in them.

RAM: the larger of what the order takes (registry.py) and of what writing takes (order/rewrite.py);
a budget that cannot do is refused before anything is read, with the numbers.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..conversion.convert import ConvertOptions, check_outputs
from ..conversion.report import ReorderReport
from ..conversion.resume import memory_to_plan
from ..conversion.writing import resumable
from ..errors import BudgetError, InputError, MoreMemoryError
from ..phases import Meter
from ..sorting.checkpoint import Checkpoint
from ..store.check import check_ranks
from ..store.info import offset_pieces
from ..store.store import Store, open_store
from ..store.writer import check_target
from ..stream.plan import BASE_JITTER, program_bytes, with_budget
from ..units import current_rss_bytes, format_size
from .registry import EngineOrder, StoreOrder, order_named
from .rewrite import (
    Renumbering,
    kept_numbers,
    load_libraries,
    renumbering_bytes,
    reorder_plan,
    write_reordered,
)

_MARGIN = 8 << 20
# What the process may hold more when the numbers are found, and (BASE_JITTER) from one process to the next: what
# is accepted now is not refused then, and the budget that a refusal names is accepted.
_KEPT = 16 << 20
_PLENTY = 1 << 60


def reorder(
    store: str | Path, target: str | Path, order: str, *, seed: int = 0, options: ConvertOptions | None = None
) -> ReorderReport:
    """Write the graph of the store at `store` to `target`, its vertices in the named order.

    order : a key of ORDERS. seed : of orders with chance, 0 to 2^64 - 1. options : memory_bytes,
    scratch, force, codec, chunk_ids, threads, progress (phases order, ids, read, sort, merge,
    write) as for a conversion. The same graph, order and seed give the same bytes whatever the order
    of the store was; the user's ids stay what they are. Raises InputError for an unknown order or
    an existing target, BudgetError where memory or disk cannot do, StoreError. Then, and after
    Ctrl-C, there is no target. With options.checkpoint the new numbers, once found, and all that comes
    after them can be gone on from.
    """
    chosen, options, target = order_named(order), options or ConvertOptions(), Path(target)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise InputError("a seed is a whole number from 0 to 2^64 - 1", text=str(seed))
    if options.threads < 1:
        raise InputError("at least one thread is needed", text=str(options.threads))
    check_outputs(target, options)
    named = Named(order, chosen, seed)
    with open_store(store) as opened:
        return resumable(ReorderReport, target, options, lambda: _key(opened, target, named, options),
                         lambda checkpoint: _reorder(opened, target, named, options, checkpoint))


@dataclass(frozen=True)
class Named:
    """An order as it was asked for. name : in ORDERS. order : what finds it. seed : of its chance."""

    name: str
    order: StoreOrder | EngineOrder
    seed: int


def _key(store: Store, target: Path, named: Named, options: ConvertOptions) -> dict[str, object]:
    """What must be the same for a reordering to be resumed."""
    return {
        "store": [str(Path(store.path).absolute()), store.record.record_digest], "target": str(target.absolute()),
        "order (--order)": named.name, "seed (--seed)": named.seed, "codec (--codec)": options.codec,
        "chunk size (--chunk)": options.chunk_ids,
    }


def _reorder(
    store: Store, target: Path, named: Named, options: ConvertOptions, checkpoint: Checkpoint | None
) -> ReorderReport:
    """Find the new numbers, unless the checkpoint has them, and write the store."""
    check_target(target, options.force)
    options = replace(options, memory_bytes=memory_to_plan(options.memory_bytes, checkpoint))
    meter = Meter(options.progress)
    engine_memory = _check_memory(store, named.order, options)
    new_of, planned = None if checkpoint is None else kept_numbers(store, checkpoint), 0
    if new_of is None:
        meter.begin("order", None, "")
        if not store.is_natural:
            check_ranks(store, store.natural_pieces())
        if isinstance(named.order, StoreOrder):
            new_of = named.order.place(store)
        else:
            new_of, planned = _traversed(store, named.order, named.seed, options, engine_memory)
        _return_freed_memory()
    report = write_reordered(store, Renumbering(named.name, new_of), target, options=options, meter=meter,
                             checkpoint=checkpoint)
    return replace(report, planned_rss_bytes=max(planned, report.planned_rss_bytes))


def _return_freed_memory() -> None:
    """Give the freed vectors back to the system: malloc keeps those below 32 MiB, and the plan of the
    sort would count them as taken."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # other C libraries give back at once, or never
        trim(0)


def _traversed(
    store: Store, order: EngineOrder, seed: int, options: ConvertOptions, engine_memory: int
) -> tuple[np.ndarray, int]:
    """The new numbers by an order that traverses, and the planned peak."""
    from ..engine.needs import traversal_needs
    from ..engine.opening import open_cpu_engine

    with open_cpu_engine(store, traversal_needs(store), memory_bytes=engine_memory, threads=options.threads,
                         progress=options.progress) as engine:
        reserve = _reserve(store, order)
        try:
            new_of = order.place(engine, seed)
        except MoreMemoryError as error:
            plan = replace(engine.plan, memory_limit_bytes=engine.plan.memory_limit_bytes + reserve)
            raise with_budget(error, plan, options.threads) from None
        return new_of, engine.plan.planned_rss_bytes + reserve


def _reserve(store: Store, order: EngineOrder) -> int:
    """Bytes that the order takes beyond what the plan of the engine sets aside."""
    from ..engine.needs import traversal_needs
    from ..stream.blocks import table_bytes
    from ..traverse.workspace import workspace_bytes

    n = store.n_vertices
    shared = table_bytes(n, store.n_arcs, store.indices.chunk_items) + workspace_bytes(n, store.id_dtype.itemsize)
    set_aside = max(phase.bytes for phase in traversal_needs(store).phases)
    return max(0, shared + order.state_bytes(store) - set_aside)


def _check_memory(store: Store, order: StoreOrder | EngineOrder, options: ConvertOptions) -> int:
    """Raises BudgetError with the numbers if finding the order or writing does not fit; returns what
    the engine gets of the memory, if there is one."""
    assert options.memory_bytes is not None
    memory = options.memory_bytes
    given = memory
    load_libraries()
    if isinstance(order, EngineOrder):
        from ..engine.needs import traversal_needs
        from ..engine.opening import plan_engine

        given, needs = memory - _reserve(store, order), traversal_needs(store)
        try:
            plan_engine(store, needs, memory_bytes=given, threads=options.threads)
        except BudgetError:
            plan = plan_engine(store, needs, memory_bytes=_PLENTY, threads=options.threads)
            raise _too_small(memory, plan.minimum_bytes + memory - given) from None
    else:
        need = current_rss_bytes() + _MARGIN + order.state_bytes(store)
        if need > memory:
            raise _too_small(memory, need + BASE_JITTER)
    next(offset_pieces(store.indptr))  # brings the decoder of several chunks, where there is one
    if options.plan is None:
        program = program_bytes() if isinstance(order, EngineOrder) else current_rss_bytes()
        base = program + renumbering_bytes(store) + _KEPT
        try:
            reorder_plan(store, options, base)
        except BudgetError:
            reorder_plan(store, options, base + BASE_JITTER)
            raise
    return given


def _too_small(memory: int, need: int) -> BudgetError:
    return BudgetError(f"--memory {format_size(memory)} is too small: the least is {format_size(need)}",
                       remedy=f"give at least --memory {-(-need // 2**20)}MiB")
