"""The memory plan: what a run will take at its peak, before it starts.

planned RSS = base (measured in this process, and what kernels will take) + vertex state of the largest phase + reserve
+ pool + buffers + arena. Phases free their state before the next allocates: maximum, not sum. Vertex state is that of
columns of one byte and a graph in one piece. Wider columns and labels of components take the reserve, and what that
has not the arena gives up (reserve.py), so that the promise holds for every graph. What remains is the arena.

A plan is accepted where its memory does for narrow columns and a graph in one piece. The least that it names does for
every graph that what is known allows (Known): with the widest columns, labels, and as many components as there may be.
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
# What a process holds more once it has opened the store and loaded all kernels that a run calls (52 to 57 MiB measured
# for exact, ecc and approx on tiny graphs), and once it has imported numba and compiled all of them (75 to 91 MiB more,
# and more for pivots in batches, which call the most kernels, about 70).
LOADED_BYTES = 60 << 20
COMPILED_BYTES = 112 << 20
# What of the base a later run does not take: room to compile, the margin, and 4 MiB of kernels that few runs call.
UNUSED_BYTES = COMPILED_BYTES + MARGIN + (4 << 20)
_ARENA_ENTRY = 24  # slot table, block table and bookkeeping of a block


@dataclass(frozen=True)
class Phase:
    """bytes : vertex state while the phase runs, with columns of one byte and without labels of components;
    bytes_per_vertex : the same a vertex. middle_bytes, wide_bytes : with columns of two and of four bytes.
    worst_bytes : with the widest columns that there may be, and labels (0 each: the same as bytes). parts_bytes : of
    that, what only a graph of several components takes."""

    name: str
    bytes_per_vertex: float
    bytes: int
    worst_bytes: int = 0
    middle_bytes: int = 0
    wide_bytes: int = 0
    parts_bytes: int = 0

    def at_width(self, item: int) -> int:
        """Vertex state with columns of so many bytes an entry."""
        return max(self.bytes, 0 if item == 1 else self.middle_bytes if item == 2 else self.wide_bytes)

    @property
    def more_bytes(self) -> int:
        """What there may be beside the widest columns: labels."""
        return max(0, self.worst_bytes - self.wide_bytes)


# Columns hold bounds up to twice the longest distance, and in F-Diam 3 more.
_BEYOND = 3


@dataclass(frozen=True)
class Known:
    """What is known of a graph before memory is planned for it.

    longest : no distance is longer; None: not known. connected : the graph is in one piece, but for isolated vertices.
    reserve_bytes, pool_bytes : what a run with less has turned out to need of its reserve, and of its pool. attempts :
    runs that have turned out to need more."""

    longest: int | None = None
    connected: bool = False
    reserve_bytes: int = 0
    pool_bytes: int = 0
    attempts: int = 0

    @property
    def width(self) -> int:
        """Bytes of an entry of the widest columns that there may be."""
        if self.longest is None:
            return 4
        largest = 2 * self.longest + _BEYOND
        return 1 if largest < 0xFF else 2 if largest < 0xFFFF else 4

    def after(self, error: MoreMemoryError, plan: MemoryPlan) -> Known:
        """The same, and what a run of `plan` has turned out to need by the error that ended it."""
        if error.reserve_bytes is None:
            pool = max(self.pool_bytes, plan.pool_bytes + error.missing_bytes)
            return replace(self, pool_bytes=pool, attempts=self.attempts + 1)
        return replace(self, reserve_bytes=max(self.reserve_bytes, error.reserve_bytes), attempts=self.attempts + 1)

    def most_reserve(self, phases: tuple[Phase, ...]) -> int:
        """What wider columns and labels may take of a reserve."""
        wide = max(phase.at_width(self.width) for phase in phases) - max(phase.bytes for phase in phases)
        labels = max(max(0, phase.more_bytes - (phase.parts_bytes if self.connected else 0)) for phase in phases)
        return max(self.reserve_bytes, wide + labels)


@dataclass(frozen=True)
class MemoryPlan:
    """All sizes in bytes. minimum_bytes : the smallest --memory that works, by what is known of the graph.
    narrow_bytes : the smallest that is accepted with vertex state in memory, which works where distances take a byte
    each and the graph is in one piece; 0: there is none. wide_bytes : the smallest that works in memory whatever the
    graph is like. pool_bytes :
    for what a method sizes by its budget (batches, pivot columns). reserve_bytes : for wider columns and labels.
    disk_bytes : what vertex state takes on disk, at most; 0: it is in memory. starts_bytes : for where every row of a
    graph in memory begins; 0: there is no room, and compact offsets do alone."""

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
        """What the plan leaves of the limit."""
        return self.memory_limit_bytes - self.planned_rss_bytes

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Pool:
    """What a method can make use of beside its vertex state.

    wanted, least : bytes that make a difference, and that it does not work without. smallest : less is of no use to
    it, and for so much the arena may be halved. roomy : bytes that make it faster, where the arena has all that it can
    use beside them. whole_reserve : whether the reserve is planned in full, whatever that
    leaves the arena. both_ways : the rows of the reverse of a store with directions are read as well. of_parts : how
    much more than `least` very many components may ask for. known : of the graph."""

    wanted: int = 0
    least: int = 0
    smallest: int = 0
    whole_reserve: bool = False
    roomy: int = 0
    both_ways: bool = False
    of_parts: int = 0
    known: Known = Known()

    def knowing(self, known: Known) -> Pool:
        """The same with at least what a run has turned out to need of it, which has counted the components then."""
        least = max(self.least, known.pool_bytes)
        return replace(self, known=known, least=least, wanted=max(self.wanted, least),
                       of_parts=0 if known.connected or known.pool_bytes else self.of_parts)


def known_of(store: Store) -> Known:
    """What the record of a store says of its graph: a component has a vertex of the highest degree and its neighbours,
    and a shortest path has at most three of these."""
    longest = store.n_vertices - store.record.n_isolated - store.record.max_degree + 1
    return Known(max(0, longest), connected=most_parts(store) <= 1)


def most_parts(store: Store) -> int:
    """Components with an edge that there may be: one with a vertex of the highest degree and its neighbours, and others
    of two vertices each."""
    joined = store.n_vertices - store.record.n_isolated
    return 1 + max(0, joined - store.record.max_degree - 1) // 2 if joined else 0


def program_bytes() -> int:
    """Resident memory of this process now, and what kernels may add to it that have not been called yet."""
    return current_rss_bytes() + LOADED_BYTES + COMPILED_BYTES


def base_bytes(store: Store, program: int | None = None, ways: int = 1) -> int:
    """What a run on the store takes before it plans anything. program : as of make_plan. ways : directions of it whose
    rows are read."""
    return (program_bytes() if program is None else program) + MARGIN + ways * store.ahead_bytes


def program_of(plan: MemoryPlan, store: Store) -> int:
    """What the program took, and what kernels may add to it, in a plan on the store in one direction."""
    return plan.base_bytes - base_bytes(store, 0)


def make_plan(store: Store, phases: tuple[Phase, ...], *, memory_bytes: int | None, arena_bytes: int | None = None,
              threads: int = 2, pool: Pool = Pool(), program: int | None = None) -> MemoryPlan:
    """Plan a run with these phases on `store` within `memory_bytes` of peak RSS (None: what machine and cgroup leave).

    arena_bytes caps the cache of blocks (default: all that is left). pool : what the method could make use of beside,
    and what is known of the graph. program : what program_bytes gave before the first kernel was called, and what was
    allocated since; None: measured now, so call it in the process that will run.
    Raises BudgetError with the numbers if it cannot work, InputError without a thread.
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
    # What is known is of distances and components alone: where there is room, the reserve is that of any graph.
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
    """Raise InputError for fewer than one thread."""
    if threads < 1:
        raise InputError("at least one thread is needed", text=str(threads))


def check_arena(arena_bytes: int | None, least_blocks: int, block: int) -> None:
    """Raise BudgetError for a cache of fewer blocks than there must be, of so many bytes each."""
    if arena_bytes is not None and arena_bytes < least_blocks * block:
        raise BudgetError(f"--arena {format_size(arena_bytes)} is too small: the least is "
                          f"{format_size(least_blocks * block)} ({least_blocks} blocks)")


def _shared_out(rest: int, wanted: int, reserves: tuple[int, int], pool: Pool) -> tuple[int, int]:
    """(reserve, pool) of what is left for them and an arena of `wanted` bytes. reserves : what is sure to be needed,
    and what may be. Where not everything fits, the arena
    has three quarters and stands in for the reserve, as it can give up blocks."""
    beside, (least, reserve) = rest - wanted, reserves
    if beside < max(pool.least + least, min(reserve + pool.least, rest // 4)):
        pooled = min(pool.wanted, (rest - least) // (2 if pool.smallest else 4))
        return least, max(pool.least, pooled if pooled >= pool.smallest else 0)
    reserved = max(least, min(reserve, beside // 2 if pool.wanted else beside, beside - pool.least))
    return reserved, min(max(pool.wanted, pool.roomy, pool.least), beside - reserved)


def with_budget(error: MoreMemoryError, plan: MemoryPlan, threads: int) -> BudgetError:
    """The error with a budget that does, for a run that does not begin again: one with all of the reserve, or one where
    the arena holds all blocks, so that what comes on top is free, unless the arena has given up what it could."""
    if error.reserve_bytes is not None and plan.wide_bytes > plan.memory_limit_bytes:
        return BudgetError(error.what, remedy=f"give at least --memory {-(-plan.wide_bytes // 2**20)}MiB")
    block = plan.arena_bytes // max(1, plan.arena_blocks)
    whole = buffer_bytes(threads + READERS, RUN_BLOCKS, block)
    if not error.without_arena:
        whole += (plan.n_blocks - plan.arena_blocks) * block
    enough = plan.memory_limit_bytes + error.missing_bytes + whole + BASE_JITTER
    return BudgetError(error.what, remedy=f"give at least --memory {-(-enough // 2**20)}MiB")


def buffer_bytes(fetchers: int, run_blocks: int, block_bytes: int) -> int:
    """Bytes of the buffers of a pager: decoded and, at worst as large, encoded, plus slack."""
    return fetchers * run_blocks * block_bytes * 9 // 4


def loading_bytes(fetchers: int, run_blocks: int, block_bytes: int) -> int:
    """The same where every block goes to its place in the arena, once: for encoded blocks alone, plus slack."""
    return fetchers * run_blocks * block_bytes * 5 // 4


def longest_run(fits: Callable[[int], bool]) -> int:
    """Blocks that a fetching thread reads in one go: RUN_BLOCKS, halved until so many fit; one at least."""
    run = RUN_BLOCKS
    while run > 1 and not fits(run):
        run //= 2
    return run


def _check_enough(memory_bytes: int, needs: tuple[int, int], base: int, state: int) -> None:
    """Raise BudgetError for less memory than the first of `needs`; it names the second, which works for sure."""
    need, works = needs
    if memory_bytes >= need:
        return
    parts = (f" = {format_size(base + BASE_JITTER)} program + {format_size(state)} vertex state +"
             f" {format_size(need - base - state)} blocks")
    if works > need:
        parts += f", and for a graph with long distances or several components {format_size(works + BASE_JITTER)}"
    raise too_small(memory_bytes, need + BASE_JITTER, parts, works + BASE_JITTER)


def too_small(memory_bytes: int, least_bytes: int, parts: str = "", works_bytes: int = 0) -> BudgetError:
    """The refusal of a budget that cannot do. parts : of the least, as the sentence goes on. works_bytes : what works
    whatever the graph is like, if that is more."""
    works = max(least_bytes, works_bytes)
    error = BudgetError(f"--memory {format_size(memory_bytes)} is too small: the least is {format_size(least_bytes)}"
                        f"{parts}", remedy=f"give at least --memory {-(-works // 2**20)}MiB")
    error.least_bytes = works
    return error


def _run_blocks(spare: int, n_blocks: int, fetchers: int, block: int) -> int:
    """Blocks of a run: as many as half of what is spare has buffers for."""
    least = min(MIN_BLOCKS, max(1, n_blocks)) * block
    return longest_run(lambda run: buffer_bytes(fetchers, run, block) + least <= spare // 2
                       and run <= max(1, n_blocks // fetchers))
