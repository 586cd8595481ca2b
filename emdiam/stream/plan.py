"""The memory plan: the peak memory of a run, computed before it starts.

planned RSS = base (measured in this process, plus memory that kernels will take) + vertex state of the largest phase +
reserve + pool + buffers + arena. Phases free their state before the next one allocates: so the maximum counts, not the
sum. Vertex state is planned for columns of one byte and a connected graph. Wider columns and component labels take the
reserve, and if that is too small, the arena gives up blocks (reserve.py); so the limit holds for every graph. The arena
gets the rest.

A plan is accepted if the memory suffices for narrow columns and a connected graph. The minimum that it names suffices
for every graph that is consistent with the known facts (Known): with the widest columns, labels, and the largest
possible number of components.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..errors import BudgetError, InputError, MoreMemoryError
from ..store.store import Store
from ..units import BASE_JITTER, budget_bytes, current_rss_bytes, format_size
from .offsets import starts_bytes

READERS = 3
MIN_BLOCKS = 4
RUN_BLOCKS = 8
MARGIN = 12 << 20
# Additional memory of a process after it has opened the store and loaded all kernels of a run (52 to 57 MiB measured
# for exact, ecc and approx on tiny graphs), and after it has imported numba and compiled them (75 to 91 MiB more, and
# more for pivots in batches, which use the most kernels, about 70).
LOADED_BYTES = 60 << 20
COMPILED_BYTES = 112 << 20
# The part of the base that a later run does not need: room to compile, the margin, and 4 MiB of rarely used kernels.
UNUSED_BYTES = COMPILED_BYTES + MARGIN + (4 << 20)
_ARENA_ENTRY = 24  # slot table, block table and bookkeeping for a block


@dataclass(frozen=True)
class Phase:
    """bytes : vertex state during the phase, with columns of one byte and without component labels; bytes_per_vertex :
    the same per vertex. middle_bytes, wide_bytes : with columns of two and of four bytes. worst_bytes : with the widest
    possible columns and labels (0 each: equal to bytes). parts_bytes : the part of worst_bytes that only a graph of
    several components needs."""

    name: str
    bytes_per_vertex: float
    bytes: int
    worst_bytes: int = 0
    middle_bytes: int = 0
    wide_bytes: int = 0
    parts_bytes: int = 0

    def at_width(self, item: int) -> int:
        """Vertex state with columns of `item` bytes per entry."""
        return max(self.bytes, 0 if item == 1 else self.middle_bytes if item == 2 else self.wide_bytes)

    @property
    def more_bytes(self) -> int:
        """Memory that may be needed beyond the widest columns: for labels."""
        return max(0, self.worst_bytes - self.wide_bytes)


# Columns hold bounds up to twice the longest distance, plus 3 in F-Diam.
_BEYOND = 3


@dataclass(frozen=True)
class Known:
    """Facts about a graph that are known before its memory is planned.

    longest : an upper bound of all distances; None: unknown. connected : whether the graph without isolated vertices is
    connected. reserve_bytes, pool_bytes : the reserve and the pool that earlier attempts turned out to need. attempts :
    the number of those attempts.
    """

    longest: int | None = None
    connected: bool = False
    reserve_bytes: int = 0
    pool_bytes: int = 0
    attempts: int = 0

    @property
    def width(self) -> int:
        """Bytes of an entry of the widest possible columns."""
        if self.longest is None:
            return 4
        largest = 2 * self.longest + _BEYOND
        return 1 if largest < 0xFF else 2 if largest < 0xFFFF else 4

    def after(self, error: MoreMemoryError, plan: MemoryPlan) -> Known:
        """These facts, plus the need that `error`, which ended a run of `plan`, revealed."""
        if error.reserve_bytes is None:
            pool = max(self.pool_bytes, plan.pool_bytes + error.missing_bytes)
            return replace(self, pool_bytes=pool, attempts=self.attempts + 1)
        return replace(self, reserve_bytes=max(self.reserve_bytes, error.reserve_bytes), attempts=self.attempts + 1)

    def most_reserve(self, phases: tuple[Phase, ...]) -> int:
        """The largest reserve that wider columns and labels may need."""
        wide = max(phase.at_width(self.width) for phase in phases) - max(phase.bytes for phase in phases)
        labels = max(max(0, phase.more_bytes - (phase.parts_bytes if self.connected else 0)) for phase in phases)
        return max(self.reserve_bytes, wide + labels)


@dataclass(frozen=True)
class MemoryPlan:
    """All sizes in bytes.

    minimum_bytes : the smallest --memory that certainly works, given the known facts. narrow_bytes : the smallest that
    is accepted with vertex state in memory, which works if distances take a byte each and the graph is connected; 0:
    none. wide_bytes : the smallest that works in memory for any graph. pool_bytes : memory that a method divides by its
    budget (batches, pivot columns). reserve_bytes : for wider columns and labels. disk_bytes : upper bound of vertex
    state on disk; 0: it is in memory. starts_bytes : for plain row offsets of a graph in memory; 0: there is no room,
    and compact offsets are used alone.
    """

    memory_limit_bytes: int
    base_bytes: int
    phases: tuple[Phase, ...]
    buffer_bytes: int
    arena_bytes: int
    planned_rss_bytes: int
    minimum_bytes: int
    n_blocks: int
    arena_blocks: int
    pool_bytes: int
    run_blocks: int
    in_ram: bool
    reserve_bytes: int = 0
    disk_bytes: int = 0
    narrow_bytes: int = 0
    wide_bytes: int = 0
    starts_bytes: int = 0

    @property
    def spare_bytes(self) -> int:
        """The part of the limit that the plan does not use."""
        return self.memory_limit_bytes - self.planned_rss_bytes

    def to_dict(self) -> dict[str, Any]:
        """A plain dict for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Pool:
    """Memory that a method can use beside its vertex state.

    wanted : bytes that are useful. least : bytes that it needs. smallest : less than this is useless to the method, and
    the arena may be halved for it. roomy : bytes that make it faster, if the arena already has all that it can use.
    whole_reserve : whether to plan the full reserve even if little remains for the arena. both_ways : whether the
    reverse rows of a store with directions are read too. of_parts : additional bytes, beyond `least`, that a very large
    number of components may need. known : facts about the graph.
    """

    wanted: int = 0
    least: int = 0
    smallest: int = 0
    whole_reserve: bool = False
    roomy: int = 0
    both_ways: bool = False
    of_parts: int = 0
    known: Known = Known()

    def knowing(self, known: Known) -> Pool:
        """The pool with at least the needs found by earlier attempts, which have already counted the components."""
        least = max(self.least, known.pool_bytes)
        return replace(self, known=known, least=least, wanted=max(self.wanted, least),
                       of_parts=0 if known.connected or known.pool_bytes else self.of_parts)


def known_of(store: Store) -> Known:
    """Facts that follow from a store's record. A component contains a vertex of the highest degree and its neighbours,
    and a shortest path contains at most three of these."""
    longest = store.n_vertices - store.record.n_isolated - store.record.max_degree + 1
    return Known(max(0, longest), connected=most_parts(store) <= 1)


def most_parts(store: Store) -> int:
    """The largest possible number of components with an edge: one with a vertex of the highest degree and its
    neighbours, and others of two vertices each."""
    joined = store.n_vertices - store.record.n_isolated
    return 1 + max(0, joined - store.record.max_degree - 1) // 2 if joined else 0


def program_bytes() -> int:
    """Resident memory of this process now, plus what kernels not yet called may add."""
    return current_rss_bytes() + LOADED_BYTES + COMPILED_BYTES


def base_bytes(store: Store, program: int | None = None, ways: int = 1) -> int:
    """Memory of a run on the store before anything is planned. program : see make_plan. ways : the number of directions
    whose rows are read."""
    return (program_bytes() if program is None else program) + MARGIN + ways * store.ahead_bytes


def program_of(plan: MemoryPlan, store: Store) -> int:
    """The `program` part of a plan on the store in one direction: see make_plan."""
    return plan.base_bytes - base_bytes(store, 0)


def make_plan(store: Store, phases: tuple[Phase, ...], *, memory_bytes: int | None, arena_bytes: int | None = None,
              threads: int = 2, pool: Pool = Pool(), program: int | None = None) -> MemoryPlan:
    """Plan a run with these phases on `store` within `memory_bytes` of peak RSS (None: what machine and cgroup allow).

    arena_bytes : limit of the block cache (default: all remaining memory). pool : what else the method can use, and
    facts about the graph. program : the result of program_bytes before the first kernel call, plus later allocations;
    None: measured now, so call this in the process that will run. Raises BudgetError with the numbers if the memory is
    too small, InputError for less than one thread.
    """
    memory_bytes = budget_bytes(memory_bytes)
    check_threads(threads)
    state, reserve = max(phase.bytes for phase in phases), pool.known.most_reserve(phases)
    sure = reserve if pool.whole_reserve else pool.known.reserve_bytes
    block = store.indices.chunk_items * store.id_dtype.itemsize
    ways = 2 if pool.both_ways else 1
    base = base_bytes(store, program, ways)
    n_blocks = ways * store.indices.n_chunks
    least_blocks = ways * min(MIN_BLOCKS, max(1, store.indices.n_chunks))
    tables = _ARENA_ENTRY * n_blocks
    fetchers = ways * (threads + READERS)
    need = base + state + sure + pool.least + tables + buffer_bytes(fetchers, 1, block) + least_blocks * block
    works = need + reserve - sure + pool.of_parts
    _check_enough(memory_bytes, (need, works), base, state + sure + pool.least)
    spare = memory_bytes - base - state - tables
    run = _run_blocks(spare - reserve - pool.least, n_blocks, fetchers, block)
    buffers = buffer_bytes(fetchers, run, block)
    loading = loading_bytes(fetchers, run, block)
    if arena_bytes is None and spare - loading - max(reserve, pool.wanted) >= n_blocks * block:
        buffers = loading
    rest = spare - buffers
    check_arena(arena_bytes, least_blocks, block)
    wanted = n_blocks * block if arena_bytes is None else min(n_blocks * block, arena_bytes)
    reserved, pooled = _shared_out(rest, wanted, (sure, reserve), pool)
    # The known facts concern only distances and components: if there is room, the reserve suffices for any graph.
    reserved += max(0, min(Known().most_reserve(phases) - reserved, rest - wanted - reserved - pooled))
    blocks = max(least_blocks, min(max(1, n_blocks), (rest - reserved - pooled) // block))
    if arena_bytes is not None:
        blocks = min(blocks, arena_bytes // block)
    starts = ways * starts_bytes(store.n_vertices, store.n_arcs)
    if blocks < n_blocks or rest - reserved - pooled - blocks * block < starts:
        starts = 0
    return MemoryPlan(memory_limit_bytes=memory_bytes, base_bytes=base, phases=phases, buffer_bytes=buffers + tables,
                      arena_bytes=blocks * block, starts_bytes=starts,
                      planned_rss_bytes=base + state + tables + buffers + reserved + pooled + blocks * block + starts,
                      minimum_bytes=works + BASE_JITTER, n_blocks=n_blocks, arena_blocks=blocks, pool_bytes=pooled,
                      run_blocks=run, in_ram=blocks >= n_blocks, reserve_bytes=reserved,
                      narrow_bytes=need + BASE_JITTER, wide_bytes=works + BASE_JITTER)


def check_threads(threads: int) -> None:
    """Raise InputError if `threads` is less than one."""
    if threads < 1:
        raise InputError("at least one thread is needed", text=str(threads))


def check_arena(arena_bytes: int | None, least_blocks: int, block: int) -> None:
    """Raise BudgetError if the cache has room for fewer than `least_blocks` blocks of `block` bytes."""
    if arena_bytes is not None and arena_bytes < least_blocks * block:
        raise BudgetError(f"--arena {format_size(arena_bytes)} is too small: the least is "
                          f"{format_size(least_blocks * block)} ({least_blocks} blocks)")


def _shared_out(rest: int, wanted: int, reserves: tuple[int, int], pool: Pool) -> tuple[int, int]:
    """(reserve, pool) from the memory `rest`, which also has to hold an arena of `wanted` bytes. reserves : the reserve
    certainly needed, and the largest possible one. If not everything fits, the arena gets three quarters and
    substitutes for the reserve, as it can give up blocks."""
    beside, (least, reserve) = rest - wanted, reserves
    if beside < max(pool.least + least, min(reserve + pool.least, rest // 4)):
        pooled = min(pool.wanted, (rest - least) // (2 if pool.smallest else 4))
        return least, max(pool.least, pooled if pooled >= pool.smallest else 0)
    reserved = max(least, min(reserve, beside // 2 if pool.wanted else beside, beside - pool.least))
    return reserved, min(max(pool.wanted, pool.roomy, pool.least), beside - reserved)


def with_budget(error: MoreMemoryError, plan: MemoryPlan, threads: int) -> BudgetError:
    """The error with a sufficient budget, for a run that is not repeated: a budget with the full reserve; or one whose
    arena holds all blocks, so that the additional memory is free, unless the arena had already given up what it
    could."""
    if error.reserve_bytes is not None and plan.wide_bytes > plan.memory_limit_bytes:
        return BudgetError(error.what, remedy=f"give at least --memory {-(-plan.wide_bytes // 2**20)}MiB")
    block = plan.arena_bytes // max(1, plan.arena_blocks)
    whole = buffer_bytes(threads + READERS, RUN_BLOCKS, block)
    if not error.without_arena:
        whole += (plan.n_blocks - plan.arena_blocks) * block
    enough = plan.memory_limit_bytes + error.missing_bytes + whole + BASE_JITTER
    return BudgetError(error.what, remedy=f"give at least --memory {-(-enough // 2**20)}MiB")


def buffer_bytes(fetchers: int, run_blocks: int, block_bytes: int) -> int:
    """Bytes of a pager's buffers: decoded blocks and encoded ones, which are at worst equally large, plus slack."""
    return fetchers * run_blocks * block_bytes * 9 // 4


def loading_bytes(fetchers: int, run_blocks: int, block_bytes: int) -> int:
    """The same if every block is decoded once, directly into the arena: encoded blocks only, plus slack."""
    return fetchers * run_blocks * block_bytes * 5 // 4


def longest_run(fits: Callable[[int], bool]) -> int:
    """Blocks that a fetching thread reads at once: RUN_BLOCKS, halved until they fit; at least one."""
    run = RUN_BLOCKS
    while run > 1 and not fits(run):
        run //= 2
    return run


def _check_enough(memory_bytes: int, needs: tuple[int, int], base: int, state: int) -> None:
    """Raise BudgetError for less memory than the first of `needs`; it names the second, which certainly works."""
    need, works = needs
    if memory_bytes >= need:
        return
    parts = (f" = {format_size(base + BASE_JITTER)} program + {format_size(state)} vertex state +"
             f" {format_size(need - base - state)} blocks")
    if works > need:
        parts += f", and for a graph with long distances or several components {format_size(works + BASE_JITTER)}"
    raise too_small(memory_bytes, need + BASE_JITTER, parts, works + BASE_JITTER)


def too_small(memory_bytes: int, least_bytes: int, parts: str = "", works_bytes: int = 0) -> BudgetError:
    """The refusal of a budget that is too small. parts : continues the sentence with the parts of the least.
    works_bytes : memory that works for any graph, if that is more."""
    works = max(least_bytes, works_bytes)
    error = BudgetError(f"--memory {format_size(memory_bytes)} is too small: the least is {format_size(least_bytes)}"
                        f"{parts}", remedy=f"give at least --memory {-(-works // 2**20)}MiB")
    error.least_bytes = works
    return error


def _run_blocks(spare: int, n_blocks: int, fetchers: int, block: int) -> int:
    """Blocks of a run: the most whose buffers fit in half of the spare memory."""
    least = min(MIN_BLOCKS, max(1, n_blocks)) * block
    return longest_run(lambda run: buffer_bytes(fetchers, run, block) + least <= spare // 2
                       and run <= max(1, n_blocks // fetchers))
