"""Opening the external engine: its memory plan, in which no array has an entry for every vertex.

peak = base + tables of blocks + fixed pieces + state of a range and buffers of pairs + pool + buffers + arenas.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..engine.needs import MOST_ON_DISK, Needs
from ..errors import BudgetError
from ..kernel_progress import clock
from ..progress import Listener, TimeOver
from ..sorting.scratch import Scratch
from ..store.store import Store, blamed_on
from ..stream.counters import SharedCounters
from ..stream.plan import (
    MIN_BLOCKS,
    READERS,
    MemoryPlan,
    Phase,
    base_bytes,
    buffer_bytes,
    check_arena,
    check_threads,
    longest_run,
)
from ..stream.threads import Threads
from ..traverse.columns import FOLD_BYTES
from ..units import BASE_JITTER, budget_bytes, format_size, scratch_folder
from .columns import PAGE
from .disk import Disk, Sizes
from .engine import ExternalEngine
from .rows import PIECE, RECENT, Rows

# States of ranges and buffers that exist at a time: a range with a copy and two frontiers; the buffers of distances, of
# a level and of components, each twice while it is sorted.
_RANGES, _BUFFERS = 4, 8
_LEAST_UNIT, _MOST_UNIT = 1 << 20, 1 << 27
_LEAST_POOL = 1 << 20
_THIN = 1 << 14
_THIN_BYTES = 320  # for an entry of the lists of thin levels
_SLOTS = 4  # the least, for each arena
_TABLE_BYTES = 48  # for a block or a chunk of offsets: slots, first vertex, checks; pages of columns
_PIECES = 12 * 8 * PIECE + FOLD_BYTES


@dataclass(frozen=True)
class DiskPlan:
    """sizes : of pieces in memory. offset_slots : chunks of offsets in memory. plan : the whole memory plan."""

    sizes: Sizes
    offset_slots: int
    plan: MemoryPlan


def plan_external(
    store: Store, needs: Needs, *, memory_bytes: int | None = None, arena_bytes: int | None = None, threads: int = 2,
    program: int | None = None,
) -> DiskPlan:
    """The memory plan with vertex state on disk; parameters as for engine.cpu.plan_engine. Half of the free memory goes
    to the arenas, and up to a quarter to the method's pool, if it can use it. Raises BudgetError."""
    memory = budget_bytes(memory_bytes)
    check_threads(threads)
    ids, offsets, fetchers = store.indices, store.indptr, threads + READERS
    block = max(ids.chunk_items * store.id_dtype.itemsize, offsets.chunk_items * 8)
    base = base_bytes(store, program)
    tables = _TABLE_BYTES * (ids.n_chunks + offsets.n_chunks) + 16 * 9 * (store.n_vertices // PAGE + 1)
    fixed = _PIECES + _THIN * _THIN_BYTES + (RECENT + fetchers) * offsets.chunk_items * 8
    known = needs.known_on(store)
    pool = max(_LEAST_POOL, needs.tables_bytes, known.pool_bytes)
    need = (base + tables + fixed + (_RANGES + _BUFFERS) * _LEAST_UNIT + pool + buffer_bytes(fetchers, 1, block)
            + 2 * _SLOTS * block)
    works = need + needs.pool.knowing(known).of_parts + BASE_JITTER
    if memory < need:
        error = BudgetError(
            f"--memory {format_size(memory)} is too small: the least, with vertex state on disk, is"
            f" {format_size(works)}", remedy=f"give at least --memory {-(-works // 2**20)}MiB")
        error.least_bytes = works
        raise error
    check_arena(arena_bytes, min(MIN_BLOCKS, max(1, ids.n_chunks)), ids.chunk_items * store.id_dtype.itemsize)
    free = memory - need
    pool += min(needs.room_bytes, free // 4)
    unit = min(_MOST_UNIT, _LEAST_UNIT + free // 4 // (_RANGES + _BUFFERS))
    run = longest_run(lambda run: buffer_bytes(fetchers, run, block) <= free // 8)
    beside_arena = base + tables + fixed + (_RANGES + _BUFFERS) * unit + pool + buffer_bytes(fetchers, run, block)
    slots = (memory - beside_arena) // block
    offset_slots = max(_SLOTS, min(offsets.n_chunks, slots // 4))
    arc_slots = max(1, min(ids.n_chunks, slots - offset_slots))
    if arena_bytes is not None:
        arc_slots = max(1, min(arc_slots, arena_bytes // (ids.chunk_items * store.id_dtype.itemsize)))
    arenas = arc_slots * ids.chunk_items * store.id_dtype.itemsize + offset_slots * offsets.chunk_items * 8
    state = tables + fixed + (_RANGES + _BUFFERS) * unit
    return DiskPlan(Sizes(unit, unit, _THIN), offset_slots, MemoryPlan(
        memory_limit_bytes=memory, base_bytes=base,
        phases=(Phase("vertex state on disk", state / max(1, store.n_vertices), state),),
        buffer_bytes=buffer_bytes(fetchers, run, block), arena_bytes=arenas,
        planned_rss_bytes=beside_arena + arenas, minimum_bytes=works, n_blocks=ids.n_chunks,
        arena_blocks=arc_slots, pool_bytes=pool, run_blocks=run, in_ram=arc_slots >= ids.n_chunks,
        disk_bytes=disk_bytes(store)))


def disk_bytes(store: Store) -> int:
    """Upper bound of scratch files: a dozen columns of four bytes, distances of a batch before and after sorting, and
    the arcs of a level or of a scan with a value each."""
    return (12 * 4 + 16 * MOST_ON_DISK) * store.n_vertices + (store.id_dtype.itemsize + 8) * store.n_arcs


@contextmanager
def open_external_engine(
    store: Store, needs: Needs, *, threads: int = 2, progress: Listener | None = None,
    scratch: str | Path | None = None, sizes: Sizes | None = None, **memory: Any,
) -> Iterator[ExternalEngine]:
    """An engine on `store` with vertex state in files of the folder `scratch` (None: the one for temporary files);
    leaving the context ends its threads and removes the files. sizes : in place of the plan's. memory : memory_bytes,
    arena_bytes and program for plan_external. Raises BudgetError, StoreError, InputError."""
    begin = clock()
    plan = plan_external(store, needs, threads=threads, **memory)
    with ExitStack() as stack:
        space = Scratch(None if scratch is None else Path(scratch), Path(scratch_folder(None)) / "vertices")
        stack.callback(space.close)
        pool = Threads(threads, READERS)
        stack.callback(pool.close)
        rows = Rows(store, pool, SharedCounters(), arc_slots=plan.plan.arena_blocks, offset_slots=plan.offset_slots,
                    run_blocks=plan.plan.run_blocks)
        engine = ExternalEngine(Disk(store, rows, space, sizes or plan.sizes), plan.plan, progress)
        if plan.plan.in_ram:
            engine.reporter.tick("load")
            rows.arcs.preload(lambda: engine.reporter.tick("load"))
        engine.load_seconds = clock() - begin
        stack.enter_context(blamed_on(store, TimeOver))
        yield engine
