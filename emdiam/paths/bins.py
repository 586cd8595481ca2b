"""Labels and bins of Delta-stepping: the waiting vertices, by buckets of distance.

A label is a word of a distance (high bits) and a waiting bit (lowest bit), which is set until the vertex's row is
relaxed with this distance. So labels are in the order of distances, and a vertex in several bins is relaxed once for
each label. Distances have 31 or 63 bits for integer weights; for floats they are the bits of float64 without the sign,
which are in the order of the numbers. Weights must not be negative.

Bins are chains of small chunks. Each thread has its own bins, so it pushes and takes without a lock. A circle of CIRCLE
bins has the buckets from the current one on; one more bin, the far bin, has all later buckets, and is spread over the
circle when the current bucket reaches it. A vertex may be in several bins, and several times in one: the thread that
takes it out sees by its label whether it still waits. Chunks come from a common pool; a thread keeps the chunks that it
has emptied. If the pool is empty, the push is lost, `own[me, LOST]` is set, and `refill` fills all bins anew from the
labels, for which the pool always suffices.
Bytes: 8 for two entries a vertex (16 with ids of 8 bytes), and 1.3 MiB a thread.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..jit import inlined, intrinsic, ir, kernel, types
from ..traverse.atomics import atomic_count, count_trailing_zeros
from .rows import WeightedRows, unreached

WAITS = np.uint64(1)
_NARROW_BITS, _WIDE_BITS = 31, 63
_MOST_BUCKETS = 2.0**61


def word_dtypes(rows: WeightedRows) -> tuple[np.dtype[Any], ...]:
    """The dtypes of labels to try in order: narrow labels first, if all weights fit."""
    wide, narrow = np.dtype(np.uint64), np.dtype(np.uint32)
    whole = rows.distance_dtype.kind != "f"
    return (narrow, wide) if whole and rows.largest_weight < 1 << _NARROW_BITS else (wide,)


def new_labels(rows: WeightedRows, dtype: np.dtype[Any], sources: np.ndarray) -> np.ndarray:
    """Labels of this dtype, dtype[n_vertices]: the sources wait with distance 0, others have no path."""
    labels = np.full(rows.n_vertices, none_of(rows, dtype), dtype)
    labels[sources] = 1
    return labels


def none_of(rows: WeightedRows, dtype: np.dtype[Any]) -> int:
    """The label of a vertex without a path: the largest label, not waiting."""
    if rows.distance_dtype.kind == "f":
        return int(np.array(np.inf).view(np.uint64)) << 1
    return int(np.iinfo(dtype).max) - 1


def scale_of(rows: WeightedRows, delta: float) -> Any:
    """The scale of bucket_of for buckets of width `delta`: at least 1 for integer distances, and large enough that
    bucket numbers fit 62 bits."""
    delta = max(delta, float(rows.largest_weight) * rows.n_vertices / _MOST_BUCKETS, sys.float_info.min)
    if rows.distance_dtype.kind == "f":
        return np.float64(1 / delta)
    return np.uint64(2.0**_WIDE_BITS / max(1.0, delta))


def distances_of(rows: WeightedRows, labels: np.ndarray, narrow: bool = False) -> np.ndarray | None:
    """The distances, of rows.distance_dtype; with `narrow`, integers in the memory of narrow labels. None if a distance
    may have been too large for the labels."""
    dtype, none = rows.distance_dtype, none_of(rows, labels.dtype)
    if dtype.kind == "f":
        labels >>= np.uint64(1)
        return labels.view(np.float64)
    distances = labels if narrow and labels.dtype == np.uint32 else np.empty(len(labels), dtype)
    largest = widen(labels, np.uint64(none), distances, np.uint64(unreached(distances.dtype)))
    return distances if int(largest) + int(rows.largest_weight) < none >> 1 else None


@kernel
def widen(labels, none, distances, beyond):
    """Write the distances of integer labels, and `beyond` for `none`; return the largest distance."""
    largest = np.uint64(0)
    for v in range(len(labels)):
        distance = labels[v] >> WAITS
        there = labels[v] != none
        distances[v] = distance if there else beyond
        largest = max(largest, distance if there else np.uint64(0))
    return largest


@intrinsic
def longer_label(typingctx: Any, label: Any, cost: Any) -> Any:
    """The waiting label of a distance that is longer by `cost`; if the sum does not fit, a label larger than all
    others. label : waits."""
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word, one = args[0], ir.Constant(args[0].type, 1)
        if isinstance(sig.args[1], types.Float):
            distance = builder.bitcast(builder.lshr(word, one), ir.DoubleType())
            total = builder.fadd(distance, context.cast(builder, args[1], sig.args[1], types.float64))
            return builder.or_(builder.shl(builder.bitcast(total, word.type), one), one)
        twice = builder.shl(context.cast(builder, args[1], sig.args[1], sig.args[0]), one)
        most = builder.not_(twice)
        return builder.add(builder.select(builder.icmp_unsigned("<", word, most), word, most), twice)

    return label(label, cost), codegen


@intrinsic
def bucket_of(typingctx: Any, label: Any, scale: Any) -> Any:
    """The bucket of a label of a vertex with a path, int64; it rises with the label. scale : from scale_of."""
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if isinstance(sig.args[1], types.Float):
            distance = builder.bitcast(builder.lshr(args[0], ir.Constant(args[0].type, 1)), ir.DoubleType())
            return builder.fptosi(builder.fmul(distance, args[1]), ir.IntType(64))
        both = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], both), builder.zext(args[1], both))
        return builder.trunc(builder.lshr(product, ir.Constant(both, 64)), ir.IntType(64))

    return types.int64(label, scale), codegen


CHUNK, CIRCLE = 64, 1024
FAR, WORDS = CIRCLE, CIRCLE // 64
# Slots of a thread's numbers `own`: its first free chunk; the least bucket in its far bin; whether a push was lost; and
# its votes: the next bucket, arcs so far, lost.
FREE, FAR_LEAST, LOST, VOTE, ARCS, LOST_VOTE, RELAXED = range(7)
OWN = 16
NOTHING = np.int64(0x7FFFFFFFFFFFFFFF)
ONE, ONES = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
FRESH = 0  # slot of `taken`, uint64[8]: number of chunks taken from the pool so far

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
    """Empty all bins and return all chunks to the pool."""
    _, _, tops, fills, full, own, taken = bins
    tops.fill(-1)
    fills.fill(0)
    full.fill(0)
    own[:, FREE], own[:, FAR_LEAST], own[:, LOST], taken[:] = -1, NOTHING, 0, 0


def refill(bins: Bins, labels: np.ndarray, scale: float | np.uint64, current: int) -> None:
    """Fill the bins with all waiting vertices and nothing else: each in its bucket, or in `current` if that is
    later."""
    clear(bins)
    fill_bins(bins, labels, np.flatnonzero(labels & labels.dtype.type(WAITS)), scale, current)


@kernel
def fill_bins(bins, labels, vertices, scale, current):
    """Push `vertices` (int64[k]), a chunk for each thread in turn."""
    n_threads = len(bins[5])
    for v in vertices:
        push(v, max(current, bucket_of(labels[v], scale)), current, bins, (v // CHUNK) % n_threads)


@inlined
def push(v, bucket, current, bins, me):
    """Put v into thread `me`'s bin of `bucket`, which is not before `current`."""
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
    """Take the chain of a bin: (first chunk or -1, entries in the first chunk; later chunks are full)."""
    tops = bins[2]
    full = bins[4]
    top = tops[me, place]
    tops[me, place] = -1
    if place != FAR:
        full[me, place >> 6] &= ~(ONE << np.uint64(place & 63))
    return top, bins[3][me, place]


@inlined
def give_back(chunk, bins, me):
    """Add an emptied chunk to the free chunks of thread `me`."""
    own = bins[5]
    bins[1][chunk] = own[me, FREE]
    own[me, FREE] = chunk


@inlined
def first_full(current, bins, me):
    """The first bucket from `current` on, also a far one, in which thread `me` has vertices; NOTHING if none."""
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
    """Push the vertices of the far bin of thread `me` again, after `current` has advanced."""
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
