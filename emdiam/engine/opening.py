"""Opening the CPU engine: memory planned, table built, arena allocated, blocks loaded."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..errors import BudgetError, InputError
from ..progress import Listener, TimeOver
from ..store.check import blamed_on
from ..store.store import Store
from ..stream.arena import Arena
from ..stream.blocks import build_block_table
from ..stream.counters import SharedCounters
from ..stream.pager import Pager
from ..stream.plan import READERS, MemoryPlan, make_plan
from ..stream.rows import RowCheck
from ..stream.threads import Crew
from ..traverse.core import Core
from ..traverse.workspace import Workspace
from ..units import default_memory_bytes
from .cpu import CpuEngine
from .needs import Needs


def plan_engine(store: Store, needs: Needs, *, memory_bytes: int | None = None, arena_bytes: int | None = None,
                threads: int = 2, program: int | None = None) -> MemoryPlan:
    """The memory plan of what `needs` states on `store` in this process (see stream/plan.py).

    memory_bytes : peak RSS allowed (default: of the machine or its cgroup). program : see make_plan. Raises
    BudgetError, InputError.
    """
    if threads < 1:
        raise InputError("at least one thread is needed", text=str(threads))
    memory = default_memory_bytes() if memory_bytes is None else memory_bytes
    return make_plan(store, needs.phases, memory_bytes=memory, arena_bytes=arena_bytes, threads=threads,
                     pool_wanted=needs.pool_bytes, program=program)


@contextmanager
def open_cpu_engine(store: Store, needs: Needs, *, memory_bytes: int | None = None, arena_bytes: int | None = None,
                    threads: int = 2, program: int | None = None, progress: Listener | None = None,
                    **core: Any) -> Iterator[CpuEngine]:
    """An engine on `store`; leaving the context ends its threads.

    The first four options are those of plan_engine. core : fields of traverse.core.Core (direction, dense_arcs). The
    engine has `plan` and `load_seconds`. If the whole graph fits in the arena it is loaded now. Raises BudgetError,
    StoreError, InputError.
    """
    begin = time.perf_counter()
    plan = plan_engine(store, needs, memory_bytes=memory_bytes, arena_bytes=arena_bytes, threads=threads,
                       program=program)
    try:
        table = build_block_table(store)
        arena = Arena(table.n_blocks, plan.arena_blocks, store.indices.chunk_items, store.id_dtype)
        work = Workspace(store.n_vertices, store.id_dtype)
    except MemoryError as error:
        raise BudgetError(f"the machine refuses the planned memory ({error})",
                          remedy="give a smaller --memory") from None
    crew = Crew(threads, READERS)
    counters = SharedCounters()
    pager = Pager(store.indices, RowCheck(table, store.id_dtype, store.path), arena, crew, counters, plan.run_blocks)
    engine = CpuEngine(store, Core(table, pager, crew, counters, work, **core), plan, progress)
    with ExitStack() as stack:
        stack.callback(crew.close)
        if plan.in_ram:
            engine.reporter.tick("load")
            pager.preload(lambda: engine.reporter.tick("load"))
        engine.load_seconds = time.perf_counter() - begin
        stack.enter_context(blamed_on(store, TimeOver))
        yield engine
