"""What the memory of a reordering is spent on while rows are dealt and put in order (dealing.py)."""

from __future__ import annotations

from dataclasses import dataclass

from ..sorting.plan import SortPlan
from ..store.arc_runs import RUN_ARCS, run_chunks
from ..store.store import Store


@dataclass(frozen=True)
class DealPlan:
    """hand_bytes : rows in RAM at a time. range_bytes : of a range in order beside them. run_chunks : of a run of the
    old store. n_ranges : in order at a time."""

    hand_bytes: int
    range_bytes: int
    run_chunks: int
    n_ranges: int


def deal_plan(store: Store, plan: SortPlan, threads: int) -> DealPlan:
    """What the memory that a plan has for sorting is spent on."""
    work = work_bytes(plan)
    hand = work * 3 // 4
    run = run_chunks(store, min(RUN_ARCS, hand // (2 * arc_bytes(store))))
    return DealPlan(hand, work // 4 // (threads + 1), run, threads + 1)


def work_bytes(plan: SortPlan) -> int:
    """What a plan has for sorting: its sort buffers are half of it."""
    return 2 * 8 * plan.run_keys * plan.n_buffers


def arc_bytes(store: Store) -> int:
    """Of a neighbour, and its weight."""
    return store.id_dtype.itemsize + (0 if store.weights is None else store.weights.dtype.itemsize)


def head_bytes(store: Store) -> int:
    """Of a row: its number, and how many arcs it has."""
    return 2 * store.id_dtype.itemsize


def dealt_bytes(store: Store) -> int:
    """All rows, dealt."""
    return store.n_arcs * arc_bytes(store) + (store.n_vertices - store.record.n_isolated) * head_bytes(store)


def least_work_bytes(store: Store) -> int:
    """The least that work_bytes may be: the longest row is put in order at once, and ranges are no more, and their
    parts in scratch files no smaller, than can be kept in mind."""
    longest = 4 * (2 * arc_bytes(store)) * store.record.max_degree
    return max(longest, int(24 * dealt_bytes(store) ** (2 / 3)))
