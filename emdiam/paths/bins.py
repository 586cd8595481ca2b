"""Bins of vertices by bucket of distance: chains of small chunks, those of every thread its own.

A thread pushes and takes without a lock. A circle of CIRCLE bins has the buckets from the current one on; what lies
beyond is in one more bin, and is spread over the circle when that has come so far. A vertex may lie in several bins,
and in one more than once: who takes it out sees by its label whether it still waits. Chunks are taken from one store of
them; a thread keeps those that it has emptied. Where none is left, `own[me, LOST]` is set, what was to be pushed is
not, and all bins are filled anew from the labels (`refill`), for which there is always room.
Bytes: 8 for two entries a vertex (16 with ids of 8 bytes), and 1.3 MiB a thread.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from ..traverse.atomics import atomic_count, count_trailing_zeros
from .marked import WAITS, bucket_of

CHUNK, CIRCLE = 64, 1024
FAR, WORDS = CIRCLE, CIRCLE // 64
# Slots of a thread's own numbers: the first of its free chunks; the least bucket in its far bin; whether something
# was lost; and what it votes for: the next bucket, arcs so far, lost.
FREE, FAR_LEAST, LOST, VOTE, ARCS, LOST_VOTE, RELAXED = range(7)
OWN = 16
NOTHING = np.int64(0x7FFFFFFFFFFFFFFF)
ONE, ONES = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
FRESH = 0  # slot of `taken`, uint64[8]: chunks of the store that were taken so far

Bins = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def new_bins(n_vertices: int, n_threads: int, id_dtype: np.dtype) -> Bins:
    """Empty bins: (chunks id[c, CHUNK], next int64[c], tops and fills int64[threads, CIRCLE + 1], full uint64[threads,
    WORDS], own int64[threads, OWN], taken uint64[8])."""
    count = 2 * (n_vertices // CHUNK + 1) + (CIRCLE + 2) * n_threads
    bins = (np.empty((count, CHUNK), id_dtype), np.empty(count, np.int64),
            np.empty((n_threads, CIRCLE + 1), np.int64), np.empty((n_threads, CIRCLE + 1), np.int64),
            np.empty((n_threads, WORDS), np.uint64), np.zeros((n_threads, OWN), np.int64), np.zeros(8, np.uint64))
    clear(bins)
    return bins


def bins_bytes(n_vertices: int, n_threads: int, id_bytes: int) -> int:
    """Bytes of new_bins."""
    count = 2 * (n_vertices // CHUNK + 1) + (CIRCLE + 2) * n_threads
    return count * (CHUNK * id_bytes + 8) + n_threads * (16 * (CIRCLE + 1) + 8 * (WORDS + OWN)) + 64


def clear(bins: Bins) -> None:
    """Nothing is in the bins any more; all chunks are in the store."""
    _, _, tops, fills, full, own, taken = bins
    tops.fill(-1)
    fills.fill(0)
    full.fill(0)
    own[:, FREE], own[:, FAR_LEAST], own[:, LOST], taken[:] = -1, NOTHING, 0, 0


def refill(bins: Bins, labels: np.ndarray, scale: float | np.uint64, current: int) -> None:
    """Every vertex that waits is in a bin, that of its bucket or of `current` if that is later, and nothing else."""
    clear(bins)
    fill_bins(bins, labels, np.flatnonzero(labels & labels.dtype.type(WAITS)), scale, current)


@kernel
def fill_bins(bins, labels, vertices, scale, current):
    """Push `vertices` (int64[k]), thread by thread in turns of a chunk."""
    n_threads = len(bins[5])
    for v in vertices:
        push(v, max(current, bucket_of(labels[v], scale)), current, bins, (v // CHUNK) % n_threads)


@inlined
def push(v, bucket, current, bins, me):
    """Thread `me` puts v into the bin of `bucket`, which is not before `current`."""
    chunks, after, tops, fills, full, own, taken = bins
    if bucket - current < CIRCLE:
        place = bucket & (CIRCLE - 1)
    else:
        place = np.int64(FAR)
        own[me, FAR_LEAST] = min(own[me, FAR_LEAST], bucket)
    top = tops[me, place]
    fill = fills[me, place]
    if top < 0 or fill == CHUNK:
        chunk = own[me, FREE]
        if chunk >= 0:
            own[me, FREE] = after[chunk]
        else:
            chunk = np.int64(atomic_count(taken, FRESH, ONE))
            if chunk >= len(after):
                own[me, LOST] = 1
                return
        after[chunk] = top
        if top < 0 and place != FAR:
            full[me, place >> 6] |= ONE << np.uint64(place & 63)
        top = chunk
        fill = np.int64(0)
        tops[me, place] = top
    chunks[top, fill] = v
    fills[me, place] = fill + 1


@inlined
def detach(place, bins, me):
    """The whole chain of a bin: (its first chunk or -1, entries in that; those after it are full)."""
    tops = bins[2]
    full = bins[4]
    top = tops[me, place]
    tops[me, place] = -1
    if place != FAR:
        full[me, place >> 6] &= ~(ONE << np.uint64(place & 63))
    return top, bins[3][me, place]


@inlined
def give_back(chunk, bins, me):
    """Thread `me` has emptied a chunk."""
    own = bins[5]
    bins[1][chunk] = own[me, FREE]
    own[me, FREE] = chunk


@inlined
def first_full(current, bins, me):
    """The first bucket from `current` on of which thread `me` has something, far ones too; NOTHING if none."""
    full = bins[4]
    begin = current & (CIRCLE - 1)
    word = begin >> 6
    bits = full[me, word] & (ONES << np.uint64(begin & 63))
    for step in range(WORDS + 1):
        if bits:
            place = (((word + step) & (WORDS - 1)) << 6) + count_trailing_zeros(bits)
            return min(current + ((place - begin) & (CIRCLE - 1)), bins[5][me, FAR_LEAST])
        bits = full[me, (word + step + 1) & (WORDS - 1)]
    return bins[5][me, FAR_LEAST]


@inlined
def spread_far(current, labels, scale, bins, me):
    """Push what is in the far bin of thread `me` again, now that `current` has come so far."""
    chunks = bins[0]
    after = bins[1]
    top, fill = detach(np.int64(FAR), bins, me)
    bins[5][me, FAR_LEAST] = NOTHING
    while top >= 0:
        rest = after[top]
        for i in range(fill):
            v = np.int64(chunks[top, i])
            if labels[v] & WAITS:
                push(v, max(current, bucket_of(labels[v], scale)), current, bins, me)
        give_back(top, bins, me)
        top = rest
        fill = np.int64(CHUNK)
