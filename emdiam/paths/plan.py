"""The memory plan of a search, from the arrays that it allocates; refuses a limit that is too small.

In RAM: the program, the rows, the method's state of vertices, the tree. Streamed: the program, offsets, labels and
waiting bits, the tree, buffers of reading threads, and an arena of the remaining memory; see the docstrings of the
files.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import BudgetError, InputError
from ..store.store import Store
from ..stream.blocks import table_bytes
from ..stream.plan import base_bytes, too_small
from ..units import BASE_JITTER, format_size
from .bins import bins_bytes
from .blocks import loading_buffers, rows_bytes
from .methods import AUTO, METHODS
from .queued import queue_bytes

# Bytes a vertex of a search in addition to distances and ids (search_bytes adds them).
_VERTEX_BYTES = {"dijkstra": 16, "bellman-ford": 16, "frontier-bellman-ford": 24, "light-heavy": 65,
                 "sorted-buckets": 57, "near-far": 41, "workfront-sweep": 32, "h-bf": 40, "delta-stepping": 16}


# Methods that can also run over blocks of a store.
STREAMED = (AUTO, "delta-stepping")


@dataclass(frozen=True)
class PathPlan:
    """All sizes in bytes. streamed : whether blocks are read on demand. arena_bytes : size of their arena."""

    planned_rss_bytes: int
    minimum_bytes: int
    streamed: bool = False
    arena_bytes: int = 0


@dataclass(frozen=True)
class ArcsPlan:
    """The plan of successive searches, all sizes in bytes. need : total memory. arena_bytes : arena of blocks that are
    read on demand; None: the rows are in RAM."""

    need: int
    arena_bytes: int | None = None


def plan_arcs(store: Store, threads: int, room: int, beside: int, spare: int = 0,
              arena_bytes: int | None = None, both_ways: bool = False) -> ArcsPlan:
    """Plan searches in `room` bytes: arcs in RAM if they fit, else in blocks. If `need` is at most `room`, at least two
    blocks fit. beside : bytes of other state. spare : least further bytes that other state needs; it gets half of the
    remaining memory. arena_bytes : upper limit of the arena; a larger graph is streamed. both_ways : also the rows of
    the reverse, with half of the arena. Raises BudgetError for an arena of less than two blocks."""
    ways, chunks = 2 if both_ways else 1, store.indices.n_chunks
    arcs, least = ways * chunks * block_bytes(store), ways * min(2, chunks) * block_bytes(store)
    if arena_bytes is not None and arena_bytes < least:
        raise small_arena(arena_bytes, least, " of either direction" * both_ways)
    in_ram = ways * rows_bytes(store) + max(
        loading_buffers(store, threads), search_bytes(store, "delta-stepping", threads, tree=True) + beside)
    if in_ram + spare <= room and (arena_bytes is None or arena_bytes >= arcs):
        return ArcsPlan(in_ram)
    # 17 bytes: distances in units, and a copy while they are computed.
    state = ways * streamed_bytes(store, threads, tree=True) + 17 * store.n_vertices + beside
    left = room - state - spare
    arena = max(least, min(arcs, left // 2 if spare else left, arcs if arena_bytes is None else arena_bytes))
    return ArcsPlan(state + arena, arena)


def small_arena(arena_bytes: int, least_bytes: int, which: str = "") -> BudgetError:
    """The error for an arena without room for two blocks. which : words after "blocks"."""
    return BudgetError(
        f"--arena {format_size(arena_bytes)} is too small: the least is {format_size(least_bytes)} (2 blocks{which})")


def search_bytes(store: Store, method: str, threads: int, *, tree: bool) -> int:
    """Bytes of a search in RAM in addition to the rows."""
    n, ids = store.n_vertices, store.id_dtype.itemsize
    needed = n * _VERTEX_BYTES[method]
    if method == "delta-stepping":
        # Narrow labels and offsets, and wide distances.
        needed += bins_bytes(n, threads, ids) + 8 * (n // 32 + 1)
    else:
        needed += 3 * ids * n + n // 8
    return needed + 8 * n + (17 * n if tree else 0)


def streamed_bytes(store: Store, threads: int, *, tree: bool) -> int:
    """Bytes of a streamed search in addition to the arena."""
    n, block = store.n_vertices, block_bytes(store)
    needed = 8 * n + n // 4 + n // 256 + 96 * store.indices.n_chunks + (9 * n if tree else n)
    return table_bytes(store) + needed + queue_bytes(n) + 9 * threads * block // 4 + (1 << 20)


def block_bytes(store: Store) -> int:
    """Bytes of heads and weights of a block."""
    return store.indices.chunk_items * (
        store.id_dtype.itemsize + (0 if store.weights is None else store.weights.dtype.itemsize))


def plan_paths(store: Store, method: str, memory_bytes: int, threads: int, *, tree: bool,
               arena_bytes: int | None = None, writing: int = 0) -> PathPlan:
    """Plan a search within `memory_bytes` of peak RSS: in RAM if it fits, else streamed, if the method can.
    tree : whether predecessors are computed. arena_bytes : upper limit of the arena; a larger graph is streamed.
    writing : bytes for writing a table of paths. Raises BudgetError with the numbers if memory is too small, InputError
    for an arena if the method cannot stream."""
    name = method if method in METHODS else "delta-stepping" if method == AUTO else "near-far"
    base = base_bytes(store)
    arcs = store.indices.n_chunks * block_bytes(store)
    streams = method in STREAMED and (store.record.weights is None or store.record.weights.least >= 0)
    if arena_bytes is not None and arena_bytes < arcs and not streams:
        raise InputError(f"{method} has all arcs in memory", text="--arena",
                         remedy="leave --arena out, or use --method auto with weights that are not negative")
    rows, needed = rows_bytes(store), search_bytes(store, name, threads, tree=tree)
    # A search has freed all but distances and predecessors when they are written.
    in_ram = base + rows + max(needed, loading_buffers(store, threads), 17 * store.n_vertices + writing)
    if in_ram <= memory_bytes and (arena_bytes is None or arena_bytes >= arcs):
        return PathPlan(in_ram, in_ram + BASE_JITTER)
    blocks = min(2, store.indices.n_chunks) * block_bytes(store)
    state = streamed_bytes(store, threads, tree=tree) + writing if streams else in_ram - base - rows
    need = base + state + (blocks if streams else rows)
    if need > memory_bytes:
        raise too_small(
            memory_bytes, need + BASE_JITTER, f" = {format_size(base + BASE_JITTER)} program + {format_size(state)}"
            f" vertex state + {format_size(need - base - state)} {'blocks' if streams else 'arcs'}")
    room = memory_bytes - base - state
    arena = min(arcs, room if arena_bytes is None else min(room, arena_bytes))
    if arena < blocks:
        raise small_arena(arena, blocks)
    return PathPlan(base + state + arena, need + BASE_JITTER, True, arena)
