"""The specification of a rank, its range of the graph, and memory plans of ranks and of the client.

A rank has its share of the vertex state, bitmaps of all vertices, and blocks in the remaining memory. The client has no
vertex state and no blocks, but the tables of methods: candidates with their distances, and arcs between clusters. The
limit of these tables is Engine.room_bytes: the method's demand, or the available memory if that is less.

A rank has the block table and the traversal state of its range of vertices. Ranges are contiguous, with about equal
numbers of bytes. A range starts at a multiple of 64, so that workers share no word of a bitmap. A vertex counts as five
arcs: 20 bytes of state and columns, 4 bytes an arc.

Arrays of a range are reserved with the length of the whole graph, so that kernels are the same as in one process; this
takes addresses, not memory. Pages of an anonymous mapping take no memory until they are written, and read as zeros,
which mean rows without arcs. Outside the range, a rank touches only bits in `visited` (known vertices of other ranges)
and in `frontier` (on dense levels, in label growth and batches), n / 8 bytes each.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..engine.needs import Needs
from ..errors import BudgetError
from ..gpu.setting import CPU
from ..store.array_reader import read_slice
from ..store.store import Store
from ..stream.blocks import BlockTable, build_block_table
from ..stream.offsets import offsets_bytes
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
from ..traverse.workspace import queue_capacity
from ..units import BASE_JITTER, format_size

_MARGIN = 16 << 20
_BLOCK_ENTRY = 24


def plan_rank(
    store: Store, spec: RankSpec, rank: int, n_blocks: int, n_arcs: int, memory_bytes: int, program: int
) -> MemoryPlan:
    """Plan a rank that has `n_blocks` blocks with `n_arcs` arcs within `memory_bytes` of peak RSS of its process.

    program : result of program_bytes before the table was read. Raises BudgetError with the numbers if memory is too
    small."""
    first, stop = spec.span(rank)
    n, in_range = store.n_vertices, stop - first
    share = in_range / max(1, n)
    table = range_state_bytes(n, spec.longest, in_range, n_arcs, store.id_dtype.itemsize)
    widest = max((max(phase.bytes, phase.worst_bytes) for phase in spec.phases), default=0)
    state = table + int(share * widest) + n // 4  # received bitmaps
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
    if buffers > spare - wanted:  # some blocks do not fit
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


# Memory of the client for messages, pieces of columns and of a path, and answers of workers.
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
    client = Phase("client", tables / max(1, store.n_vertices), tables)
    return MemoryPlan(
        memory_limit_bytes=memory, base_bytes=base, phases=(client,),
        buffer_bytes=0, arena_bytes=0, planned_rss_bytes=need + room, minimum_bytes=need + BASE_JITTER,
        n_blocks=store.indices.n_chunks, arena_blocks=0, pool_bytes=room, run_blocks=0, in_ram=False)


@dataclass(frozen=True)
class RankSpec:
    """store : path or URL on the worker's machine. digest : of the graph, checked against the worker's store. ranges :
    int64[ranks + 1]. addresses : of the worker of each rank. phases : vertex state of the method on the whole graph.
    pool_wanted : bytes that the method can use on the whole graph. memory_bytes : limit of the peak RSS of a worker
    process; None: nine tenths of its machine's free memory, divided by the number of ranks there. threads : computing
    threads of a rank. dense_arcs : see traverse.core.Core. device, vram_bytes : see OnCluster.
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
        """The first vertex of a rank, and the vertex after its last one."""
        return int(self.ranges[rank]), int(self.ranges[rank + 1])


WORD = 64
VERTEX_ARCS = 5


def balanced_ranges(store: Store, parts: int) -> np.ndarray:
    """int64[parts + 1], ascending from 0 to n_vertices: range i is [ranges[i], ranges[i + 1]), which may be empty.

    Reads O(parts * log(chunks)) chunks of indptr."""
    n, total = store.n_vertices, store.n_arcs + VERTEX_ARCS * store.n_vertices
    size, length = store.indptr.chunk_items, store.indptr.length

    @lru_cache(1)
    def chunk(i: int) -> np.ndarray:
        return read_slice(store.indptr, i * size, min(length, (i + 1) * size))

    bounds = [0]
    for part in range(1, parts):
        wanted = total * part // parts
        low, high = bounds[-1] // WORD, -(-n // WORD)
        while low < high:  # find the first word with at least `wanted` before its first vertex
            middle = (low + high) // 2
            vertex = middle * WORD
            if int(chunk(vertex // size)[vertex % size]) + VERTEX_ARCS * vertex < wanted:
                low = middle + 1
            else:
                high = middle
        bounds.append(min(n, low * WORD))
    return np.array([*bounds, n], np.int64)


_NORESERVE = 0x4000  # MAP_NORESERVE of Linux, which the module has from Python 3.13 on
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE


def virtual_zeros(length: int, dtype: DTypeLike) -> np.ndarray[Any, Any]:
    """Zeros, dtype[length], that take no memory until they are written."""
    kind = np.dtype(dtype)
    if length == 0:
        return np.zeros(0, kind)
    return np.frombuffer(mmap.mmap(-1, length * kind.itemsize, flags=_FLAGS), kind)


def virtual_column(length: int, dtype: DTypeLike, first: int, stop: int, value: int) -> np.ndarray[Any, Any]:
    """virtual_zeros with `value` in first..stop-1."""
    values = virtual_zeros(length, dtype)
    values[first:stop] = value
    return values


def build_range_table(store: Store, first: int, stop: int) -> tuple[BlockTable, np.ndarray]:
    """The table of vertices first..stop-1 (see build_block_table), and the blocks with their arcs, int64[k]."""
    if first == stop:
        first = stop = stop // WORD * WORD
    table = build_block_table(store, (first, stop), virtual_zeros)
    blocks = table.blocks_between(first, stop)
    if len(blocks):
        table.first_vertex[blocks[0]] = max(first, int(table.first_vertex[blocks[0]]))
        table.first_vertex[blocks[-1] + 1] = stop
    return table, blocks


def queue_entries(n_vertices: int, longest: int) -> int:
    """The number of entries of a queue of a rank: twice the number that one process has for the longest range, since
    neighbours in other ranges use the queue too."""
    return queue_capacity(min(n_vertices, 2 * longest))


def range_state_bytes(n_vertices: int, longest: int, in_range: int, n_arcs: int, id_bytes: int) -> int:
    """Upper bound of the bytes of a range's table and workspace: bitmaps of the whole graph for `visited` and
    `frontier`, queues, and the rest for its in_range vertices."""
    queue = queue_entries(n_vertices, longest) * (3 * id_bytes + 8)
    return n_vertices // 4 + in_range // 4 + queue + offsets_bytes(in_range, n_arcs, n_vertices)
