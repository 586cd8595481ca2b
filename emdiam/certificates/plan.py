"""The number of label columns that are checked at a time, and the memory of the engine besides them.

peak = program (measured before the first kernel is called) + engine state + buffers + arena + labels of a group +
memory for proposing them. At least one column must fit. The bytes of a label follow from the claimed bound. Columns are
proposed with a BFS each (which needs one column besides the labels; a single column is the labels) or, if there are
more than a few and distances are below 255, with one multi-source BFS for the group (which needs all of them again, and
its state). If memory is short, edges that stay in the arena save more passes than columns that are checked together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..engine.cpu import plan_engine
from ..engine.needs import Needs
from ..errors import BudgetError
from ..progress import Listener
from ..store.arc_runs import scan_bytes
from ..store.edge_digest import hash_bytes
from ..store.store import Store
from ..stream.blocks import table_bytes
from ..stream.plan import MIN_BLOCKS, MemoryPlan, Phase, program_bytes, too_small
from ..traverse.multi import batch_bytes
from ..traverse.workspace import workspace_bytes
from ..units import current_rss_bytes, format_size
from .labels import FEW_COLUMNS, FEW_IN_ALL, MOST_COLUMNS

_MARGIN = 8 << 20
# Additional columns that fit in memory.
BESIDE = 1
_PLENTY = 1 << 60
# Approximate passes over the edges of a traversal if not all edges stay in memory: for distances below 255, and for
# longer ones.
_SHORT_PASSES, _LONG_PASSES = 8, 20


@dataclass(frozen=True)
class GroupPlan:
    """columns : limit of a group. batched : whether to propose with multi-source BFS. arena_bytes : for the engine.
    beside : additional columns that fit: for proposing together over long distances, and for the check."""

    columns: int
    batched: bool
    arena_bytes: int
    beside: int = 0


@dataclass
class ProofBudget:
    """memory_bytes : peak RSS of the process. threads, progress : as in verify. program : program_bytes() before
    anything was read. later_bytes : upper bound of memory that is needed later, to prove all pairs of vertices."""

    memory_bytes: int
    threads: int
    progress: Listener | None
    program: int = field(default_factory=program_bytes)
    later_bytes: int = 0

    def room(self, held_bytes: int) -> int:
        """Bytes available for further arrays, besides kernels and `held_bytes` in use."""
        return self.memory_bytes - max(current_rss_bytes(), self.program + held_bytes) - _MARGIN

    def too_small(self, least_bytes: int) -> BudgetError:
        """The refusal. least_bytes : sufficient if few pairs remain to be proved."""
        works = least_bytes + self.later_bytes
        parts = f", and for all pairs of vertices {format_size(works)}" if self.later_bytes else ""
        return too_small(self.memory_bytes, least_bytes, parts, works)


def check_graph_room(store: Store, item_bytes: int, budget: ProofBudget) -> None:
    """Raise BudgetError if the pass for digest and components does not fit."""
    # While hashes are put in the order of a reordered store, nothing else is in memory.
    state = max(hash_bytes(store), graph_bytes(store))
    need = budget.program + _MARGIN + state + scan_bytes(store, budget.threads)
    if need > budget.memory_bytes:
        raise budget.too_small(max(need, least_bytes(store, item_bytes, budget)))


def graph_bytes(store: Store) -> int:
    """Bytes of hashes and components during that pass, and after it: the sizes of components are allocated after the
    hashes are freed."""
    ids, hashes = store.id_dtype.itemsize, 8 * (hash_bytes(store) > 0)
    return store.n_vertices * (max(hashes, ids) + ids)


def plan_groups(
    store: Store, n_columns: int, item_bytes: int, budget: ProofBudget, reserve_bytes: int = 0
) -> GroupPlan:
    """The feasible way with the fewest passes over the edges per column, with the array of every vertex's part in
    memory too. reserve_bytes : kept free for later needs while the labels exist, if one column still fits. Raises
    BudgetError."""
    memory_bytes, threads = budget.memory_bytes, budget.threads
    if memory_bytes - reserve_bytes >= least_bytes(store, item_bytes, budget):
        memory_bytes -= reserve_bytes
    n, least = store.n_vertices, _least_arena(store)
    whole = max(least, store.indices.n_chunks * store.indices.chunk_items * store.id_dtype.itemsize)
    try:
        plan = _engine_plan(store, item_bytes, budget, memory_bytes, whole)
    except BudgetError:
        raise budget.too_small(least_bytes(store, item_bytes, budget)) from None
    room = memory_bytes - plan.base_bytes - plan.buffer_bytes - _state(store, threads)
    # Over long distances the sources of a batch share little, and each level is a pass for all of them.
    short = item_bytes == 1
    ways: list[tuple[float, int, int, bool, int]] = []
    for batched in (True, False) if short and n_columns > FEW_IN_ALL else (False,):
        for arena, levels in ((whole, 0), (least, _SHORT_PASSES if short else _LONG_PASSES)):
            if levels == 0 and not plan.in_ram:
                continue  # the engine's own plan has less for the arena
            beside = BESIDE if levels == 0 else 0
            columns = _most_columns(n_columns, n, item_bytes, room - arena - beside * n * item_bytes, batched)
            if columns > (FEW_COLUMNS if batched else 0):
                ways.append((levels / (columns if batched else 1) + 1 / columns, len(ways), columns, batched, beside))
    if not ways:
        raise budget.too_small(least_bytes(store, item_bytes, budget))
    _, _, columns, batched, beside = min(ways)
    left = room - _label_bytes(columns, n, item_bytes, batched) - beside * n * item_bytes
    return GroupPlan(columns, batched, min(left, whole), beside)


def _most_columns(n_columns: int, n: int, item_bytes: int, room: int, batched: bool) -> int:
    return next((columns for columns in range(min(n_columns, MOST_COLUMNS), 0, -1)
                 if _label_bytes(columns, n, item_bytes, batched) <= room), 0)


def _label_bytes(columns: int, n: int, item_bytes: int, batched: bool) -> int:
    """Bytes for the labels of a group and for proposing them: all columns again and the state of the batch, or one
    column, which is the labels if there are no others."""
    if batched:
        return 2 * columns * n * item_bytes + batch_bytes(n, 8 if columns <= 8 else MOST_COLUMNS)
    return (columns + (columns > 1)) * n * item_bytes


def engine_needs(store: Store, item_bytes: int, threads: int) -> Needs:
    """Memory needs of the engine, with a column of labels of item_bytes per vertex, which it receives."""
    state = _state(store, threads) + _label_bytes(1, store.n_vertices, item_bytes, batched=False)
    return Needs("labels", (Phase("labels", state / max(1, store.n_vertices), state),))


def _engine_plan(store: Store, item_bytes: int, budget: ProofBudget, memory_bytes: int, arena_bytes: int) -> MemoryPlan:
    return plan_engine(store, engine_needs(store, item_bytes, budget.threads), memory_bytes=memory_bytes,
                       arena_bytes=arena_bytes, threads=budget.threads, program=budget.program)


def _state(store: Store, threads: int) -> int:
    """Bytes of the engine's offsets and bitmaps, of the flags of settled vertices, and of the scan's buffers."""
    n = store.n_vertices
    engine = table_bytes(store) + workspace_bytes(n, store.id_dtype.itemsize)
    return engine + n + scan_bytes(store, threads)


def _least_arena(store: Store) -> int:
    return min(MIN_BLOCKS, max(1, store.indices.n_chunks)) * store.indices.chunk_items * store.id_dtype.itemsize


def least_bytes(store: Store, item_bytes: int, budget: ProofBudget) -> int:
    """A budget in which one column certainly fits: with full buffers, and for the engine's plan."""
    plan = _engine_plan(store, item_bytes, budget, _PLENTY, _least_arena(store))
    own = (plan.base_bytes + plan.buffer_bytes + _state(store, budget.threads) + _least_arena(store)
           + _label_bytes(1, store.n_vertices, item_bytes, batched=False))
    return max(own + _MARGIN, plan.minimum_bytes)
