"""Delta-stepping on all threads: buckets of distances of the width Delta, one after another.

What waits in the current bucket of any thread is shared out by chunks; what a vertex brings into the same bucket is
relaxed at once by the thread that met it, as long as that is little, and shared out in a further round otherwise. A
label is lowered atomically; `done` has the label with which a row was relaxed last, so that a vertex that lies in
several bins is relaxed once for a label. Delta = 32 x mean weight / mean degree, if none is given; infinity is one
bucket, as of Bellman and Ford; 1 is nearly Dijkstra's order.
Labels are uint32 while they fit, and uint64, int64 or float64 else.
Work: m for every label with which rows are relaxed. Bytes a vertex: 8 to 16 for labels, 8 for bins (bins.py). Rounds:
times that what waits was shared out.
Source: Meyer and Sanders (2003); Davidson et al. (2014) for Delta; Zhang et al. (2020) for staying in a bucket.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..jit import inlined, kernel
from ..stream.threads import Threads
from ..traverse.atomics import atomic_count, yield_core
from .batches import new_batches, relax_chunk
from .bins import (
    ARCS,
    CHUNK,
    CIRCLE,
    FAR_LEAST,
    LOST,
    LOST_VOTE,
    NOTHING,
    ONE,
    VOTE,
    detach,
    first_full,
    give_back,
    new_bins,
    refill,
    spread_far,
)
from .paths import Paths, SearchOptions
from .rows import WeightedRows, unreached

WARP = 32
_SLICE_ARCS = 1 << 26
# Chunks that a thread relaxes by itself before it shares them out.
_FUSED = 16
# Slots of `shared`, uint64, in cache lines of their own: threads that came; barrier; then, for odd and even rounds,
# items of work and how many were taken.
_CAME, _BARRIER, _ITEMS, _TAKEN = 0, 8, 16, 32
_SHARED = 48
# Of `state`, int64: current bucket, rounds.
_CURRENT, _ROUNDS = 0, 1
_DONE, _AGAIN, _LOST = 0, 1, 2
_MOST_BUCKETS = 2.0**61


def usual_delta(rows: WeightedRows) -> float:
    """32 x mean weight / mean degree; 1 where that is 0, or there is no arc."""
    mean = rows.mean_weight
    return WARP * mean * rows.n_vertices / rows.n_arcs if mean > 0 else 1.0


def delta_stepping(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`. Weights must not be negative."""
    return Paths("delta-stepping", source, *bucket_distances(rows, np.array([source]), options))


def bucket_distances(rows: WeightedRows, sources: np.ndarray, options: SearchOptions) -> tuple[np.ndarray, int, int]:
    """Distances to the nearest of `sources` (int64[k]), arcs relaxed and rounds."""
    delta = usual_delta(rows) if options.delta is None else options.delta
    # Buckets have numbers of 62 bits: it is wider where there would be more.
    delta = max(delta, float(rows.largest_weight) * rows.n_vertices / _MOST_BUCKETS, np.finfo(np.float64).tiny)
    scale, relaxations, rounds = 1 / delta, 0, 0
    for dtype in label_dtypes(rows):
        labels = np.full(rows.n_vertices, unreached(dtype), dtype)
        labels[sources] = 0
        state = settle(rows, labels, scale, options)
        relaxations, rounds = relaxations + state[0], rounds + state[1]
        if fits(rows, labels):
            break
    return widened(labels, rows.distance_dtype), relaxations, rounds


def label_dtypes(rows: WeightedRows) -> tuple[np.dtype, ...]:
    """Of the labels of a search, in order of trial: narrow ones first where all weights are unsigned integers."""
    wide = rows.distance_dtype
    return (np.dtype(np.uint32), wide) if wide.kind == "u" else (wide,)


def fits(rows: WeightedRows, labels: np.ndarray) -> bool:
    """Whether no distance can have been too large for the labels: a larger sum counts as unreached."""
    none = unreached(labels.dtype)
    return labels.dtype != np.uint32 or largest_below(labels, none) + int(rows.largest_weight) < none


def widened(labels: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Labels as distances of this dtype; the largest value stays the largest."""
    if labels.dtype == dtype:
        return labels
    distances = np.empty(len(labels), dtype)
    widen(labels, unreached(labels.dtype), distances, unreached(dtype))
    return distances


def settle(rows: WeightedRows, labels: np.ndarray, scale: float, options: SearchOptions) -> tuple[int, int]:
    """Bring `labels`, upper bounds with the sources at theirs, to the distances; (arcs relaxed, rounds)."""
    bins = new_bins(rows.n_vertices, options.threads, rows.heads.dtype)
    refill(bins, labels, scale, 0)
    graph, done = (rows.offsets, rows.heads, rows.costs), np.full(len(labels), unreached(labels.dtype), labels.dtype)
    batches = new_batches(rows, options.threads)
    work, state = np.empty(len(bins[1]), np.int64), np.zeros(2, np.int64)
    threads = Threads(options.threads, 0)
    relaxations, reason = 0, _AGAIN
    try:
        while reason != _DONE:
            bins[5][:, ARCS] = 0
            shared = np.zeros(_SHARED, np.uint64)
            reason = threads.everywhere(partial(run_buckets, graph, labels, done, bins, batches, shared, work, state,
                                                scale, _SLICE_ARCS))[0]
            relaxations += int(bins[5][:, ARCS].sum())
            if reason == _LOST:
                done.fill(unreached(labels.dtype))
                refill(bins, labels, scale, int(state[_CURRENT]))
            if options.tick is not None:
                options.tick()
    finally:
        threads.close()
    return relaxations, int(state[_ROUNDS])


@inlined
def _wait(shared, target):  # type: ignore[no-untyped-def]
    """Come to the barrier, and wait until `target` have."""
    atomic_count(shared, _BARRIER, ONE)
    while shared[_BARRIER] < np.uint64(target):
        yield_core()


@inlined
def _share_out(place, bins, me, work, shared, odd):  # type: ignore[no-untyped-def]
    """Put the chunks of the bin at `place` on the list of work: number x 128 + entries."""
    chunk, fill = detach(place, bins, me)
    while chunk >= 0:
        item = np.int64(atomic_count(shared, _ITEMS + 8 * odd, ONE))
        work[item] = (chunk << 7) + fill
        chunk = bins[1][chunk]
        fill = np.int64(CHUNK)


@inlined
def _few(chunk, after):  # type: ignore[no-untyped-def]
    """Whether a chain has at most _FUSED chunks."""
    count = 0
    while chunk >= 0 and count <= _FUSED:
        chunk = after[chunk]
        count += 1
    return count <= _FUSED


@kernel(allocates=False)
def run_buckets(graph, labels, done, bins, batches, shared, work, state, scale,
                most):  # type: ignore[no-untyped-def]
    """Relax bucket after bucket, on every thread that calls it with the same `shared`; why all stopped: nothing waits
    (_DONE), about `most` arcs were relaxed (_AGAIN), or something was lost for want of room (_LOST).

    graph : (offsets, heads, costs). batches : see new_batches. shared : uint64[_SHARED], zeros. work : int64[chunks].
    state : int64[2], current bucket, rounds. All threads decide by the same votes, which nobody changes before all have
    read them."""
    own = bins[5]
    me = np.int64(atomic_count(shared, _CAME, ONE))
    n_threads = len(own)
    current = state[_CURRENT]
    target = 0
    odd = 0
    while True:
        own[me, VOTE] = first_full(current, bins, me)
        own[me, LOST_VOTE] = own[me, LOST]
        target += n_threads
        _wait(shared, target)
        least = NOTHING
        arcs = np.int64(0)
        lost = np.int64(0)
        for i in range(n_threads):
            least = min(least, own[i, VOTE])
            arcs += own[i, ARCS]
            lost |= own[i, LOST_VOTE]
        if lost or least == NOTHING or arcs >= most:
            if me == 0:
                state[_CURRENT] = current if lost else min(least, state[_CURRENT] if least == NOTHING else least)
            return _LOST if lost else _DONE if least == NOTHING else _AGAIN
        current = least
        if own[me, FAR_LEAST] < current + CIRCLE:
            spread_far(current, labels, scale, bins, me)
        place = current & (CIRCLE - 1)
        _share_out(place, bins, me, work, shared, odd)
        if me == 0:
            shared[_ITEMS + 8 * (1 - odd)] = 0
            shared[_TAKEN + 8 * (1 - odd)] = 0
            state[_ROUNDS] += 1
        target += n_threads
        _wait(shared, target)
        n_items = np.int64(shared[_ITEMS + 8 * odd])
        taken = np.int64(atomic_count(shared, _TAKEN + 8 * odd, ONE))
        while taken < n_items:
            chunk = work[taken] >> 7
            own[me, ARCS] += relax_chunk(chunk, work[taken] & 127, graph, labels, done, bins, batches, me, current,
                                         scale)
            give_back(chunk, bins, me)
            taken = np.int64(atomic_count(shared, _TAKEN + 8 * odd, ONE))
        while bins[2][me, place] >= 0 and (n_threads == 1 or _few(bins[2][me, place], bins[1])):
            if own[me, ARCS] >= most:
                break
            chunk, fill = detach(place, bins, me)
            while chunk >= 0:
                rest = bins[1][chunk]
                own[me, ARCS] += relax_chunk(chunk, fill, graph, labels, done, bins, batches, me, current, scale)
                give_back(chunk, bins, me)
                chunk = rest
                fill = np.int64(CHUNK)
        odd = 1 - odd


@kernel
def largest_below(labels, none):  # type: ignore[no-untyped-def]
    """The largest label that is not `none`; 0 if there is none."""
    largest = np.uint64(0)
    for label in labels:
        if label != none:
            largest = max(largest, np.uint64(label))
    return largest


@kernel
def widen(labels, none, distances, beyond):  # type: ignore[no-untyped-def]
    """distances[v] = labels[v], `beyond` where that is `none`."""
    for v in range(len(labels)):
        distances[v] = beyond if labels[v] == none else labels[v]
