"""The memory plan of one worker: its share of the vertex state, bitmaps of all vertices, blocks with what is left."""

from __future__ import annotations

from ..errors import BudgetError
from ..store.store import Store
from ..stream.pager import buffer_bytes
from ..stream.plan import MIN_BLOCKS, READERS, RUN_BLOCKS, MemoryPlan, Phase
from ..units import current_rss_bytes, format_size
from .spec import PartSpec
from .workspace import range_state_bytes

_MARGIN = 16 << 20
_BLOCK_ENTRY = 24


def plan_part(store: Store, spec: PartSpec, rank: int, n_blocks: int, n_arcs: int, memory_bytes: int) -> MemoryPlan:
    """Plan a rank that owns `n_blocks` blocks with `n_arcs` arcs within `memory_bytes` of peak RSS of its process.

    The base is measured now, kernels loaded. Raises BudgetError with the numbers if it cannot work."""
    first, stop = spec.own(rank)
    n, own = store.n_vertices, stop - first
    share = own / max(1, n)
    table = range_state_bytes(n, own, n_arcs, store.id_dtype.itemsize)
    widest = max((max(phase.bytes, phase.worst_bytes) for phase in spec.phases), default=0)
    copies = len(spec.addresses) > 1  # of another rank's columns (replicas.py), packed: at worst as much again
    state = table + (2 if copies else 1) * int(share * widest) + n // 4  # bitmaps that come from others
    block = store.indices.chunk_items * store.id_dtype.itemsize
    least = min(MIN_BLOCKS, max(1, n_blocks)) * block
    base = current_rss_bytes() + _MARGIN
    tables = _BLOCK_ENTRY * store.indices.n_chunks
    fetchers = spec.threads + READERS
    need = base + state + tables + buffer_bytes(fetchers, 1, block) + least
    if memory_bytes < need:
        raise BudgetError(
            f"worker {rank} needs {format_size(need)}: {format_size(base)} program + {format_size(state)} vertex "
            f"state + {format_size(need - base - state)} blocks, and has {format_size(memory_bytes)}",
            remedy=f"give --worker-memory {-(-need // 2**20)}MiB, or more workers")
    run = RUN_BLOCKS
    while run > 1 and buffer_bytes(fetchers, run, block) + least > (memory_bytes - base - state - tables) // 2:
        run //= 2
    buffers = buffer_bytes(fetchers, run, block)
    rest = memory_bytes - base - state - tables - buffers
    wanted = n_blocks * block
    pool = min(int(share * spec.pool_wanted) * (2 if copies else 1), rest - wanted if rest > wanted else rest // 4)
    slots = max(min(MIN_BLOCKS, max(1, n_blocks)), min(max(1, n_blocks), (rest - pool) // block))
    return MemoryPlan(
        memory_limit_bytes=memory_bytes, base_bytes=base, phases=(Phase("part", state / max(1, own), state),),
        buffer_bytes=buffers + tables, arena_bytes=slots * block,
        planned_rss_bytes=base + state + tables + buffers + pool + slots * block, minimum_bytes=need,
        n_blocks=n_blocks, arena_blocks=slots, pool_bytes=max(0, pool // (2 if copies else 1)), run_blocks=run,
        in_ram=slots >= n_blocks)
