"""The state that the traversals of one engine share: table, pager, threads, workspace, counters. Also degrees from the
row offsets alone, without reading edges.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from ..distinct import distinct
from ..errors import InputError
from ..jit import kernel
from ..progress import Tick, no_tick
from ..stream import uncompiled
from ..stream.blocks import BlockTable
from ..stream.counters import SharedCounters
from ..stream.offsets import following_starts, row_length, row_starts, starts_dtype
from ..stream.pager import BlockKernel, Pager
from ..stream.reserve import Reserve
from ..stream.threads import Threads
from .direction import DIRECTIONS
from .rows import mark_blocks
from .workspace import SMALL_ARCS, SMALL_VERTICES, Workspace

_DEGREES = 1 << 17  # vertices whose degrees are sorted at a time


class Degrees(Protocol):
    """A source of degrees: of vertices, int64[k], or of a span of vertices, (first, end)."""

    @property
    def span(self) -> tuple[int, int]: ...
    def degrees(self, vertices: np.ndarray) -> np.ndarray: ...


@kernel
def list_degree(group, row, hub, degree, start, n_vertices, out):
    """Write vertices >= start of this degree to out until it is full; returns (count, start of the next call)."""
    count = 0
    for v in range(start, n_vertices):
        if row_length((group, row, hub), v) == degree:
            if count == len(out):
                return count, v
            out[count] = v
            count += 1
    return count, n_vertices


@kernel(uncompiled=uncompiled.max_degree_vertex)
def max_degree_vertex(group, row, hub, n_vertices):
    """Smallest vertex of the largest degree, and that degree."""
    best = np.int64(-1)
    best_degree = np.int64(-1)
    for v in range(n_vertices):
        length = row_length((group, row, hub), v)
        if length > best_degree:
            best_degree = length
            best = v
    return best, best_degree


def highest_degrees(core: Degrees, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """(vertices, degrees) of the `limit` vertices of highest degree in the span. Highest degree first (ties: smallest
    vertex first)."""
    best, keys = np.empty(0, np.int64), np.empty(0, np.int64)
    for start in range(core.span[0], core.span[1], _DEGREES):
        ids = np.arange(start, min(start + _DEGREES, core.span[1]))
        degrees = core.degrees(ids)
        if len(keys) == limit:  # only a larger degree replaces the last entry: vertices here have larger numbers
            ids, degrees = ids[degrees > keys[-1]], degrees[degrees > keys[-1]]
        elif limit == 1:  # nothing to sort
            top = np.array([degrees.argmax()])
            ids, degrees = ids[top], degrees[top]
        best, keys = np.concatenate((best, ids)), np.concatenate((keys, degrees))
        order = np.argsort(-keys, kind="stable")[:limit]
        best, keys = best[order], keys[order]
    return best, keys


T = TypeVar("T")
_SLICE_ARCS = 1 << 25
_DENSE_ARCS = 1 << 15
_SHARED_ARCS = 1 << 12
_PIECE = 1 << 14  # vertices processed at a time


@dataclass(frozen=True)
class BlockSweep:
    """A kernel to run over blocks. blocks : int64[k], ascending. run(chunks, position, turn, grain, ids): see
    Pager.sweep."""

    blocks: np.ndarray
    run: BlockKernel


@dataclass
class Core:
    """One graph, opened for traversal.

    direction : rule of direction.py. dense_arcs : number of frontier arcs from which two threads on bitmaps are faster
    than one thread on a queue (0: always dense). The default was measured on R-MAT and grids; small graphs have no
    dense levels. dense_arcs_of_batch : the same for batches of sources. thin_share : a frontier that outgrows the arena
    is taken in windows (level_windows.py) if it has at most this share of all arcs. most_loaded : blocks that a sparse
    level may always load at a time; it may load more only up to a quarter of the arena (0: none).
    shared_arcs : number of frontier arcs from which all threads may share a sparse level (shared_levels.py).
    at_rest : called with a BFS or a label growth before each of its steps, when its state can be saved.
    part : (first vertex, end, blocks with their arcs), if this process has only a range of the table.
    reserve : memory beyond the planned state (None: not counted).
    turned : in a graph with directions, the core of the reverse, whose rows bottom-up levels read; it shares all but
    table and pager (None: rows have both directions of every edge). reverse : `turned`, or the core itself.
    starts : where each row begins, unsigned[n_vertices + 1], if the plan has memory for that (lay_out). whole : whether
    a BFS is one call while all rows are in memory in order (bfs_whole.py); False if dense_arcs is set explicitly.
    span : first vertex and end; all vertices without `part`. blocks : those with arcs of the span, int64[k].
    """

    table: BlockTable
    pager: Pager
    threads: Threads
    counters: SharedCounters
    work: Workspace
    direction: str = "work"
    dense_arcs: int = -1
    thin_share: float = 1 / 16
    most_loaded: int = 16
    shared_arcs: int = _SHARED_ARCS
    at_rest: Callable[[Any], None] | None = None
    reserve: Reserve | None = None
    part: InitVar[tuple[int, int, np.ndarray] | None] = None
    turned: Core | None = field(default=None, repr=False)
    starts: np.ndarray | None = field(default=None, repr=False)
    whole: bool = field(init=False)
    dense_arcs_of_batch: int = field(init=False)
    span: tuple[int, int] = field(init=False)
    blocks: np.ndarray = field(init=False)

    def __post_init__(self, part: tuple[int, int, np.ndarray] | None) -> None:
        first, stop, self.blocks = part or (0, self.table.n_vertices, np.arange(self.table.n_blocks))
        self.span = first, stop
        if self.direction not in DIRECTIONS:
            raise InputError("unknown direction rule", text=self.direction,
                             remedy=f"use one of {', '.join(DIRECTIONS)}")
        self.n_isolated = int(np.bitwise_count(self.table.isolated).sum()) - (-self.table.n_vertices % 64)
        self.dense_arcs_of_batch, self.whole = self.dense_arcs, self.dense_arcs < 0
        if self.dense_arcs < 0:
            self.dense_arcs = self.dense_arcs_of_batch = _DENSE_ARCS + self.table.n_vertices // 64
            if part is None and self.table.n_vertices <= SMALL_VERTICES and self.table.n_arcs <= SMALL_ARCS:
                self.dense_arcs = max(self.dense_arcs, self.table.n_arcs)

    @property
    def reverse(self) -> Core:
        """The core whose rows bottom-up levels read."""
        return self.turned or self

    @property
    def offsets(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arrays of Offsets, in the form that kernels take."""
        offsets = self.table.offsets
        return offsets.group, offsets.row, offsets.hub

    @property
    def layout(self) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The arguments of row walks (rows.py): log2 of ids a block, first vertex of each block, offsets."""
        return self.table.shift, self.table.first_vertex, *self.offsets

    @property
    def paging(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Resident ids, slot of each block, shift."""
        return self.pager.arena.ids, self.pager.arena.slot_of, self.table.shift

    def lay_out(self) -> None:
        """Compute `starts`."""
        table = self.table
        self.starts = np.empty(table.n_vertices + 1, starts_dtype(table.n_arcs))
        following_starts(*self.offsets, 0, self.starts)

    @property
    def plain_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Ids, the start of each row in them, and degrees up to 255; None unless all rows are in memory in order."""
        arena = self.pager.arena
        return (arena.ids, self.starts, self.table.offsets.row) if self.starts is not None and arena.in_order else None

    @property
    def shares(self) -> bool:
        """Whether several threads may share sparse levels."""
        return self.threads.compute > 1 and self.shared_arcs < self.dense_arcs

    @cached_property
    def longest_row(self) -> int:
        """The largest degree."""
        return int(max_degree_vertex(*self.offsets, self.table.n_vertices)[1])

    def degrees(self, vertices: np.ndarray) -> np.ndarray:
        """Degrees of `vertices`, int64[k], from the offsets alone."""
        starts, ends = np.empty(len(vertices), np.int64), np.empty(len(vertices), np.int64)
        row_starts(*self.offsets, vertices, starts)
        row_starts(*self.offsets, vertices.astype(np.int64) + 1, ends)
        return ends - starts

    def sum_degrees(self, vertices: np.ndarray) -> int:
        """Number of arcs in the rows of `vertices`."""
        return sum(int(self.degrees(vertices[at : at + _PIECE]).sum()) for at in range(0, len(vertices), _PIECE))

    def everywhere(self, task: Callable[[], T], shares: int | None = None,
                   stop: Callable[[], None] | None = None, helpers: bool = False) -> list[T]:
        """Run a kernel on all compute threads, at most on `shares` of them, and count their CPU seconds; returns the
        results. stop, helpers : see Threads.everywhere."""
        def timed() -> T:
            begin = time.thread_time()
            result = task()
            self.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
            return result

        return self.threads.everywhere(timed, shares, stop, helpers)

    def over_words(self, task: Callable[[np.ndarray, int, int], T]) -> list[T]:
        """Run a kernel over the bitmap words of the span on all threads, as `everywhere`: task(turn, grain, end).
        Threads share `turn`, int64[1], the next word, and take `grain` words at a time up to `end`."""
        first, end = self.span[0] >> 6, -(-self.span[1] // 64)
        turn, grain = np.array([first], np.int64), max(64, (end - first) // (16 * self.threads.compute))
        return self.everywhere(lambda: task(turn, grain, end), -(-(end - first) // grain))

    def position(self) -> dict[str, Any]:
        """The progress of a pass, for an event."""
        done, total = self.pager.position
        return {"pass_done": done, "pass_total": total} if total else {}

    @property
    def slice_arcs(self) -> int:
        """Arcs after which a sparse kernel returns for progress and Ctrl-C (about 0.2 s)."""
        return _SLICE_ARCS

    def blocks_with(self, bitmap: np.ndarray, invert: bool = False) -> np.ndarray:
        """The blocks, int64[k] ascending, with an arc of a row of the span whose bit is set (clear, if invert)."""
        needed = np.empty(len(self.blocks), np.uint8)
        mark_blocks(self.blocks, self.span, self.layout, bitmap, invert, needed)
        return self.blocks[needed.view(bool)]

    def sweep(self, blocks: np.ndarray, kernel: Callable[..., int], *arguments: Any, tick: Tick = no_tick) -> int:
        """Run kernel(piece, layout, *arguments) on the pieces of `blocks` on all threads; returns the sum of its
        results. See rows.py."""
        return self.take(self.level_over(blocks, kernel, *arguments), tick)

    def level_over(self, blocks: np.ndarray, kernel: Callable[..., int], *arguments: Any) -> BlockSweep:
        """The BlockSweep that `sweep` does with these arguments."""
        layout = self.layout
        return BlockSweep(blocks, lambda *piece: int(kernel(piece, layout, *arguments)))

    def take(self, sweep: BlockSweep, tick: Tick = no_tick) -> int:
        """Do a sweep on all threads; returns the sum of its results."""
        return self.pager.sweep(sweep.blocks, sweep.run, tick) if len(sweep.blocks) else 0

    def gather(
        self, blocks: np.ndarray, kernel: Callable[..., int], *arguments: Any, new_buffer: Callable[[], np.ndarray],
        take: Callable[[np.ndarray], None], tick: Tick = no_tick,
    ) -> int:
        """As sweep, for kernels of a buffered_walk: kernel(piece, layout, *arguments, buffer, count) repeatedly fills
        new buffers, and `take` gets their entries, from several threads."""
        layout = self.layout

        def run(*piece: Any) -> int:
            total, count = 0, np.array([0, 1], np.int64)
            while count[1]:
                buffer, count[0] = new_buffer(), 0
                total += int(kernel(piece, layout, *arguments, buffer, count))
                if count[0]:
                    take(buffer[: count[0]])
            return total

        return self.pager.sweep(blocks, run, tick) if len(blocks) else 0

    def widen(self, item: int) -> None:
        """Reserve memory for columns with entries of `item` bytes. Raises MoreMemoryError."""
        if self.reserve is not None:
            self.reserve.widen(item)

    def hold(self, what: str, n_bytes: int) -> None:
        """Take `n_bytes` of the reserve for `what`, a noun in the plural. Raises MoreMemoryError."""
        if self.reserve is not None:
            self.reserve.hold(what, n_bytes)

    def count_sweep(self, n_blocks: int, arcs: int, levels: int = 1) -> None:
        """Count a sweep over `n_blocks` blocks, by one level or by `levels` levels together."""
        dense = 2 * n_blocks >= self.table.n_blocks
        self.counters.add(passes=1, levels=levels, dense_levels=int(dense), edges_scanned=arcs)

    def missed_blocks(self, count: int) -> np.ndarray:
        """The blocks, int64[k] ascending, of the `count` rows that a sparse kernel put aside."""
        parts = [distinct(self.work.missed_p[at : min(at + _PIECE, count)] >> self.table.shift)
                 for at in range(0, count, _PIECE)]
        return parts[0] if len(parts) == 1 else distinct(np.concatenate([np.empty(0, np.int64), *parts]))

    def load_missed(self, count: int) -> bool:
        """Load the blocks of the `count` rows that a sparse kernel put aside; see load_blocks."""
        return self.load_blocks(self.missed_blocks(count))

    def load_blocks(self, blocks: np.ndarray) -> bool:
        """Load `blocks`, int64[k] ascending, for a sparse level, after all pending loads.

        False, without loading, if they would evict most of the arena: a level with few rows in many blocks is better
        done by a sweep.
        """
        if len(blocks) > max(self.most_loaded, self.pager.arena.n_slots // 4 if self.most_loaded else 0):
            return False
        self.pager.settle()
        self.pager.load(blocks)
        return True
