"""Delta-stepping on all threads: buckets of distances of width Delta, one after another.

Threads share the waiting vertices of the current bucket by chunks. A thread relaxes vertices that it adds to the
current bucket at once, if they are few; else a further round shares them. Labels are lowered atomically and have the
waiting bit (bins.py), so a vertex in several bins is relaxed once for each label. The default of Delta is 32 x mean
weight / mean degree; infinity makes one bucket, as in Bellman and Ford's algorithm; 1 is nearly Dijkstra's order.
Labels are uint32 while they fit, else uint64.
Work: m for each time that all rows are relaxed. Bytes a vertex: 4 or 8 for labels, 4 for offsets, 8 for bins (bins.py).
Rounds: the number of times that threads shared waiting vertices.
Source: Meyer and Sanders (2003); Davidson et al. (2014) for Delta; Zhang et al. (2020) for staying in a bucket.
"""

from __future__ import annotations

from contextlib import closing
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
    distances_of,
    fill_bins,
    first_full,
    give_back,
    new_bins,
    new_labels,
    refill,
    scale_of,
    spread_far,
    word_dtypes,
)
from .paths import Paths, SearchOptions
from .rows import WeightedRows

WARP = 32
_SLICE_ARCS = 1 << 26
# Chunks that a thread relaxes by itself before it shares them.
_FUSED = 16
# Slots of `shared`, uint64, in separate cache lines: threads at the barrier; the barrier; for odd and even rounds the
# items of work and the number taken; not 0 if a thread has failed and will not come.
_CAME, _BARRIER, _ITEMS, _TAKEN, _STOPPED = 0, 8, 16, 32, 48
_SHARED = 56
# Slots of `state`, int64: current bucket, rounds.
_CURRENT, _ROUNDS = 0, 1
_DONE, _AGAIN, _LOST = 0, 1, 2


def usual_delta(rows: WeightedRows) -> float:
    """32 x mean weight / mean degree; 1 if that is 0, or without arcs."""
    mean = rows.mean_weight
    return WARP * mean * rows.n_vertices / rows.n_arcs if mean > 0 else 1.0


def delta_stepping(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`. Weights must not be negative."""
    return Paths("delta-stepping", source, *bucket_distances(rows, np.array([source]), options))


def bucket_distances(rows: WeightedRows, sources: np.ndarray, options: SearchOptions,
                     narrow: bool = False) -> tuple[np.ndarray, int, int]:
    """Distances to the nearest of `sources` (int64[k]), arcs relaxed, and rounds. narrow : return integers as uint32 if
    the labels are."""
    scale = scale_of(rows, usual_delta(rows) if options.delta is None else options.delta)
    distances, relaxations, rounds = None, 0, 0
    for dtype in word_dtypes(rows):
        labels = new_labels(rows, dtype, sources)
        state = settle(rows, labels, sources, scale, options)
        relaxations, rounds = relaxations + state[0], rounds + state[1]
        distances = distances_of(rows, labels, narrow)
        if distances is not None:
            return distances, relaxations, rounds
    raise OverflowError("distances do not fit 63 bits")


def settle(rows: WeightedRows, labels: np.ndarray, sources: np.ndarray, scale: float | np.uint64,
           options: SearchOptions) -> tuple[int, int]:
    """Lower `labels` (from new_labels) to the distances; (arcs relaxed, rounds)."""
    bins = new_bins(rows.n_vertices, options.threads, rows.heads.dtype)
    fill_bins(bins, labels, sources, scale, 0)
    graph, batches = (rows.narrow_offsets, rows.heads, rows.costs), new_batches(rows, options.threads, labels.dtype)
    work, state = np.empty(len(bins[1]), np.int64), np.zeros(2, np.int64)
    team = (options.threads,) if options.threads > 1 else ()
    relaxations, reason = 0, _AGAIN
    with closing(Threads(options.threads, 0)) as threads:
        while reason != _DONE:
            bins[5][:, ARCS] = 0
            shared = np.zeros(_SHARED, np.uint64)
            reason = threads.everywhere(
                partial(run_buckets, graph, labels, bins, batches, shared, work, state, scale, _SLICE_ARCS, team),
                stop=partial(shared.__setitem__, _STOPPED, 1))[0]
            relaxations += int(bins[5][:, ARCS].sum())
            if reason == _LOST:
                refill(bins, labels, scale, int(state[_CURRENT]))
            options.tick()
    return relaxations, int(state[_ROUNDS])


@inlined
def _wait(shared, target):
    """Wait at the barrier for `target` threads; False if one of them has failed."""
    atomic_count(shared, _BARRIER, ONE)
    while shared[_BARRIER] < np.uint64(target):
        if shared[_STOPPED]:
            return False
        yield_core()
    return True


@inlined
def _share_out(place, bins, me, work, shared, odd):
    """Append the chunks of the bin at `place` to the list of work, as number x 128 + entries."""
    chunk, fill = detach(place, bins, me)
    while chunk >= 0:
        item = np.int64(atomic_count(shared, _ITEMS + 8 * odd, ONE))
        work[item] = (chunk << 7) + fill
        chunk = bins[1][chunk]
        fill = np.int64(CHUNK)


@inlined
def _few(chunk, after):
    """Whether a chain has at most _FUSED chunks."""
    count = 0
    while chunk >= 0 and count <= _FUSED:
        chunk = after[chunk]
        count += 1
    return count <= _FUSED


@kernel
def run_buckets(graph, labels, bins, batches, shared, work, state, scale, most,
                team):
    """Relax bucket after bucket, on all threads that call it with the same `shared`. Returns the reason to stop: no
    vertex waits (_DONE), about `most` arcs were relaxed (_AGAIN), or the pool of chunks was empty (_LOST).

    graph : (offsets, heads, costs). batches : see new_batches. shared : uint64[_SHARED], zeros. work : int64[chunks].
    state : int64[2], current bucket, rounds. team : () for a single thread, else a tuple of its size, so that the
    single-threaded kernel has no barrier. All threads decide by the same votes, which no thread changes before all have
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
        if not _wait(shared, target):
            return _AGAIN
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
        if len(team):
            _share_out(place, bins, me, work, shared, odd)
        if me == 0:
            shared[_ITEMS + 8 * (1 - odd)] = 0
            shared[_TAKEN + 8 * (1 - odd)] = 0
            state[_ROUNDS] += 1
        if len(team):
            target += n_threads
            if not _wait(shared, target):
                return _AGAIN
            n_items = np.int64(shared[_ITEMS + 8 * odd])
            taken = np.int64(atomic_count(shared, _TAKEN + 8 * odd, ONE))
            while taken < n_items:
                chunk = work[taken] >> 7
                own[me, ARCS] += relax_chunk(chunk, work[taken] & 127, graph, labels, bins, batches, me, current, scale,
                                             team)
                give_back(chunk, bins, me)
                taken = np.int64(atomic_count(shared, _TAKEN + 8 * odd, ONE))
        while bins[2][me, place] >= 0 and (len(team) == 0 or _few(bins[2][me, place], bins[1])):
            if own[me, ARCS] >= most:
                break
            chunk, fill = detach(place, bins, me)
            while chunk >= 0:
                rest = bins[1][chunk]
                own[me, ARCS] += relax_chunk(chunk, fill, graph, labels, bins, batches, me, current, scale, team)
                give_back(chunk, bins, me)
                chunk = rest
                fill = np.int64(CHUNK)
        odd = 1 - odd
