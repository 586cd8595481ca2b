"""What a rank is to open, and memory plans: of a rank, and of the client of a run over workers.

A rank has its share of the vertex state, bitmaps of all vertices, and blocks with what is left. The client has no
vertex state and no blocks, but the tables of methods. Candidates with their distances, and the arcs between clusters,
are held where the method runs. Their share of the memory is the room (Engine.room_bytes): what the method could make
use of, or what there is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engine.needs import Needs
from ..errors import BudgetError
from ..gpu.setting import CPU
from ..store.store import Store
from ..stream.plan import (
    MIN_BLOCKS,
    READERS,
    MemoryPlan,
    Phase,
    buffer_bytes,
    loading_bytes,
    longest_run,
    program_bytes,
)
from ..units import BASE_JITTER, format_size
from .ranges import range_state_bytes

_MARGIN = 16 << 20
_BLOCK_ENTRY = 24


def plan_rank(
    store: Store, spec: RankSpec, rank: int, n_blocks: int, n_arcs: int, memory_bytes: int, program: int
) -> MemoryPlan:
    """Plan a rank that has `n_blocks` blocks with `n_arcs` arcs within `memory_bytes` of peak RSS of its process.

    program : what program_bytes gave before the table was read. Raises BudgetError with the numbers if it cannot
    work."""
    first, stop = spec.span(rank)
    n, in_range = store.n_vertices, stop - first
    share = in_range / max(1, n)
    table = range_state_bytes(n, spec.longest, in_range, n_arcs, store.id_dtype.itemsize)
    widest = max((max(phase.bytes, phase.worst_bytes) for phase in spec.phases), default=0)
    state = table + int(share * widest) + n // 4  # bitmaps that come from others
    block = store.indices.chunk_items * store.id_dtype.itemsize
    least = min(MIN_BLOCKS, max(1, n_blocks)) * block
    base = program + _MARGIN
    tables = _BLOCK_ENTRY * store.indices.n_chunks
    fetchers = spec.threads + READERS
    need = base + state + tables + buffer_bytes(fetchers, 1, block) + least
    if memory_bytes < need:
        raise BudgetError(
            f"worker {rank} needs {format_size(need)}: {format_size(base)} program + {format_size(state)} vertex "
            f"state + {format_size(need - base - state)} blocks, and has {format_size(memory_bytes)}",
            remedy=f"give --worker-memory {-(-need // 2**20)}MiB, or more workers")
    spare = memory_bytes - base - state - tables
    wanted = n_blocks * block
    run = longest_run(lambda run: loading_bytes(fetchers, run, block) <= spare - wanted)
    buffers = loading_bytes(fetchers, run, block)
    if buffers > spare - wanted:  # not all blocks fit
        run = longest_run(lambda run: buffer_bytes(fetchers, run, block) + least <= spare // 2)
        buffers = buffer_bytes(fetchers, run, block)
    rest = spare - buffers
    pool = min(int(share * spec.pool_wanted), rest - wanted if rest >= wanted else rest // 4)
    slots = max(min(MIN_BLOCKS, max(1, n_blocks)), min(max(1, n_blocks), (rest - pool) // block))
    return MemoryPlan(
        memory_limit_bytes=memory_bytes, base_bytes=base, phases=(Phase("part", state / max(1, in_range), state),),
        buffer_bytes=buffers + tables, arena_bytes=slots * block,
        planned_rss_bytes=base + state + tables + buffers + pool + slots * block, minimum_bytes=need,
        n_blocks=n_blocks, arena_blocks=slots, pool_bytes=max(0, pool), run_blocks=run,
        in_ram=slots >= n_blocks)


# Messages, pieces of columns and of a path, and answers of workers.
_CLIENT_MARGIN = 32 << 20


def plan_client(store: Store, needs: Needs, memory: int) -> MemoryPlan:
    """Plan the client within `memory` bytes of peak RSS of this process.

    The base is measured now. Raises BudgetError with the numbers."""
    tables = needs.tables_bytes
    base = program_bytes() + _CLIENT_MARGIN
    need = base + tables
    if memory < need:
        least = need + BASE_JITTER
        raise BudgetError(
            f"--memory {format_size(memory)} is too small for the client: the least is {format_size(least)} = "
            f"{format_size(base + BASE_JITTER)} program + {format_size(tables)} tables of {needs.method}",
            remedy=f"give at least --memory {-(-least // 2**20)}MiB")
    room = min(needs.room_bytes, memory - need)
    held = Phase("client", tables / max(1, store.n_vertices), tables)
    return MemoryPlan(
        memory_limit_bytes=memory, base_bytes=base, phases=(held,),
        buffer_bytes=0, arena_bytes=0, planned_rss_bytes=need + room, minimum_bytes=need + BASE_JITTER,
        n_blocks=store.indices.n_chunks, arena_blocks=0, pool_bytes=room, run_blocks=0, in_ram=False)


@dataclass(frozen=True)
class RankSpec:
    """store : path or URL, as the worker sees it. digest : of the graph, which must be the client's. ranges :
    int64[ranks + 1]. addresses : of the worker of each rank. phases : vertex state of the method on the whole graph.
    pool_wanted : bytes that the method could make use of, on the whole graph. memory_bytes : peak RSS of a worker
    process; None: nine tenths of what its machine leaves, shared by the ranks there. threads : that compute on a rank.
    dense_arcs : see traverse.core.Core. device, vram_bytes : see OnCluster.
    """

    store: str
    digest: str
    ranges: np.ndarray
    addresses: tuple[str, ...]
    phases: tuple[Phase, ...]
    pool_wanted: int
    memory_bytes: int | None
    threads: int
    dense_arcs: int = -1
    device: str = CPU
    vram_bytes: int | None = None

    @property
    def longest(self) -> int:
        """Vertices of the longest range."""
        return int(np.diff(self.ranges).max())

    def span(self, rank: int) -> tuple[int, int]:
        """First vertex of a rank and the one behind its last."""
        return int(self.ranges[rank]), int(self.ranges[rank + 1])
