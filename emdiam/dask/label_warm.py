"""A tiny graph that drives every kernel of labels, components, scans and walks over ranges; see warm.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..traverse.bfs import BfsRun
from ..traverse.core import Core
from ..traverse.labels import UNREACHED
from ..traverse.warm_graph import finish
from .component_kernels import (
    describe_range,
    find_roots,
    flatten_range,
    smallest_ranks,
    tally_range,
    unite_range,
)
from .label_kernels import SLOTS, count_distances, grow_range, mark_unreached, place_range, take_offers
from .scan_kernels import crossing_arcs, nearer_neighbours, sampled, steep_arcs
from .tree_kernels import count_children, fold_upwards, take_branches
from .walk_kernels import follow_within, walk_within

_SPAN = np.array([0, 200], np.int64)


def exercise_ranges(core: Core) -> None:
    """Run every kernel, with ranks and without, over columns of every dtype; `core` is of the graph of small_core."""
    dtype = core.work.queues.dtype
    some = np.arange(200, dtype=dtype)
    for ranks in (some[:0], some):
        _exercise_components(core, ranks)
        for kind in (np.uint8, np.uint16, np.uint32):
            _exercise_columns(core, np.dtype(kind), ranks)
        sampled(_SPAN, np.uint64(1), np.uint64(1 << 60), False, core.table.isolated, ranks, np.empty(9, np.int64))
    _exercise_labels(core)
    _exercise_walks(core)


def _sweep(core: Core, kernel: Callable[..., int]) -> None:
    core.pager.sweep(np.arange(core.table.n_blocks), kernel)


def _exercise_components(core: Core, ranks: np.ndarray) -> None:
    table, seen, none = core.table, np.zeros(4, np.uint64), np.empty(0, np.int64)
    parent = np.arange(200, dtype=core.work.queues.dtype)
    ends = np.empty((2, 1 << table.shift), np.int64)

    def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
        span = np.array([0, 200, 0, 0], np.int64)
        unite_range(chunks, position, turn, ids, table.shift, table.first_vertex, *core.offsets, seen, parent, span,
                    ends[0], ends[1])
        return 0

    _sweep(core, run)
    find_roots(parent, np.arange(3), np.empty(3, np.int64))
    flatten_range(parent, seen, _SPAN, 0, none, none)
    tally_range(parent, seen, _SPAN, np.zeros(200, parent.dtype), none, none)
    roots = np.unique(parent).astype(np.int64)
    describe_range(parent, roots, *core.offsets, _SPAN, *np.full((3, len(roots)), -1, np.int64))
    smallest_ranks(parent, seen, _SPAN, ranks, roots, np.full((len(roots), 2), -1, np.int64))


def _exercise_columns(core: Core, kind: np.dtype[np.unsignedinteger], ranks: np.ndarray) -> None:
    table = core.table
    search = BfsRun(core, 120)
    search.use_distances(np.full(200, np.iinfo(kind).max, kind))
    distances = finish(search).result().distances.raw()
    best, span = (np.arange(200, dtype=ranks.dtype), ranks.copy()), np.zeros(2, np.int64)

    def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
        steep: int = steep_arcs(chunks, position, turn, grain, ids, table.shift, table.first_vertex, *core.offsets,
                                distances, distances, 0)
        nearer_neighbours(chunks, position, np.zeros(1, np.int64), ids, table.shift, table.first_vertex,
                          *core.offsets, distances, distances, ranks, best, span)
        return steep

    _sweep(core, run)
    ids, slot_of, shift = core.paging
    walk_within(distances, ids, slot_of, shift, *core.offsets, ranks, np.empty(9, np.int64),
                np.array([0, -1, 0, -1], np.int64), 0, 200)


def _exercise_labels(core: Core) -> None:
    table, labels = core.table, np.full(200, UNREACHED, np.uint64)
    labels[0] = 0
    words = np.ones(4, np.uint64), np.zeros(4, np.uint64), np.zeros(4, np.uint64)
    size = (1 << table.shift) + SLOTS
    slots = np.full(SLOTS, -1, np.int64), np.empty(SLOTS, np.uint64)
    found = np.empty(size, np.int64), np.empty(size, np.uint64)

    def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
        span = np.array([0, 200, 1, 0, 0, 0], np.int64)
        grow_range(chunks, position, turn, ids, table.shift, table.first_vertex, *core.offsets, labels, words, span,
                   slots, found)
        crossing_arcs(chunks, position, np.zeros(1, np.int64), ids, table.shift, table.first_vertex, *core.offsets,
                      labels, labels, np.array([16, 8], np.uint64), found[1], np.zeros(3, np.int64))
        return 0

    _sweep(core, run)
    take_offers(np.arange(2), np.ones(2, np.uint64), labels, words[1])
    mark_unreached(labels, words[0])
    counts = np.zeros(4, np.int64)
    count_distances(labels, counts)
    place_range(labels, counts, np.empty(200, core.work.queues.dtype))


def _exercise_walks(core: Core) -> None:
    ids, slot_of, shift = core.paging
    walks = np.array([[0, 120, -1, 0]], np.int64)
    follow_within(walks, np.ones(1, np.uint8), ids, slot_of, shift, *core.offsets, np.empty(2, np.int64), 0, 200)
    for kind in (np.uint8, np.uint16, np.uint32):
        parents, children, heights = np.zeros(2, ids.dtype), np.zeros(2, ids.dtype), np.zeros(2, kind)
        count_children(parents, 0, children)
        fold_upwards(np.array([1]), parents, children, heights, 0, np.empty((1, 2), np.int64))
        take_branches(np.array([[0, 1]]), parents, children, heights, 0, np.empty(1, np.int64))
