"""What a run will probably take, beside the plan, which is what it may take at most.

A plan is a promise that holds for the worst graph of its size; a forecast is what usual graphs have been measured
to take, and may be wrong in both directions. Bytes read are known beforehand where the arena holds the graph: every
block once. Streamed, they are `reads` times the blocks that the arena does not hold, and reads depend on the graph:
how many traversals a proof takes, and how many levels of each meet how many blocks, which nobody knows before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ..graph.array_reader import LocalArray
from ..graph.store import Store
from .plan import MemoryPlan


@dataclass(frozen=True)
class Habit:
    """What a method has been measured to do.

    least_reads, usual_reads : how often it reads all edges when no block stays: on the easiest graphs, and (median)
    on graphs of small diameter. state : (store, plan) -> bytes that it holds beside base, buffers and arena.
    scratch : (store, plan) -> bytes on disk at worst.
    """

    least_reads: float
    usual_reads: float
    state: Callable[[Store, MemoryPlan], int]
    scratch: Callable[[Store, MemoryPlan], int] = lambda store, plan: 0


@dataclass(frozen=True)
class Forecast:
    """Sizes in bytes. expected_rss_bytes : probable peak of resident memory, never above the plan. reads : how often
    all blocks are expected to be read; least_reads : at least. expected_bytes_read, least_bytes_read : the same as
    encoded bytes of the store; None where its size is not known (a store behind a URL). scratch_bytes : of temporary
    files, at worst. vram_bytes : of a GPU that holds the whole graph. certain : whether the bytes read are known,
    because every block is read once."""

    expected_rss_bytes: int
    reads: float
    least_reads: float
    expected_bytes_read: int | None
    least_bytes_read: int | None
    scratch_bytes: int
    vram_bytes: int
    certain: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return asdict(self)


def make_forecast(store: Store, plan: MemoryPlan, habit: Habit, vram_bytes: int) -> Forecast:
    """The forecast for a run with this plan. vram_bytes : of a GPU, as its own plan has it."""
    away = 0.0 if plan.in_ram else 1 - plan.arena_blocks / plan.n_blocks
    first = 0.0 if plan.n_blocks == 0 else 1.0
    reads, least = (first + away * max(0.0, many - 1) for many in (habit.usual_reads, habit.least_reads))
    stored = store.indices.stored_bytes if isinstance(store.indices, LocalArray) else None
    expected = plan.base_bytes + habit.state(store, plan) + plan.buffer_bytes + plan.arena_bytes
    return Forecast(
        expected_rss_bytes=min(plan.planned_rss_bytes, expected), reads=reads, least_reads=least,
        expected_bytes_read=None if stored is None else int(reads * stored),
        least_bytes_read=None if stored is None else int(least * stored),
        scratch_bytes=habit.scratch(store, plan), vram_bytes=vram_bytes, certain=plan.in_ram)


def planned_state(store: Store, plan: MemoryPlan) -> int:
    """The vertex state of the widest phase: what methods hold whose columns are planned at their widest, and
    whose widest phase is short."""
    return max(phase.bytes for phase in plan.phases) * 17 // 20
