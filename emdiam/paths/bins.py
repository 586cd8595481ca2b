"""Labels and bins of Delta-stepping: which vertices wait, in which bucket of distance.

A label is a distance, and whether it waits, in one word. The lowest bit is set until the row of its vertex is relaxed
with it; the bits above are the distance. So one array tells both, in the order of the distances, and a vertex that is
in several bins is relaxed once for a label. Distances have 31 or 63 bits where weights are whole numbers; of floats
they are the bits of float64 without the sign, which are in the order of the numbers. Weights must not be negative.

Bins are chains of small chunks, those of every thread its own. A thread pushes and takes without a lock. A circle of
CIRCLE bins has the buckets from the current one on; what is beyond is in one more bin, and is spread over the circle
when that has come so far. A vertex may be in several bins, and in one more than once: who takes it out sees by its
label whether it still waits. Chunks are taken from one store of them; a thread keeps those that it has emptied. Where
there is none, `own[me, LOST]` is set, what was to be pushed is not, and all bins are filled anew from the labels
(`refill`), for which there is always room.
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
    """Of the labels of a search, in order of trial: narrow ones first where no weight is too large for them."""
    wide, narrow = np.dtype(np.uint64), np.dtype(np.uint32)
    whole = rows.distance_dtype.kind != "f"
    return (narrow, wide) if whole and rows.largest_weight < 1 << _NARROW_BITS else (wide,)


def new_labels(rows: WeightedRows, dtype: np.dtype[Any], sources: np.ndarray) -> np.ndarray:
    """Labels of this dtype, dtype[n_vertices]: the sources wait with 0, others have none."""
    labels = np.full(rows.n_vertices, none_of(rows, dtype), dtype)
    labels[sources] = 1
    return labels


def none_of(rows: WeightedRows, dtype: np.dtype[Any]) -> int:
    """The label of a vertex without a path: no label is larger, and it does not wait."""
    if rows.distance_dtype.kind == "f":
        return int(np.array(np.inf).view(np.uint64)) << 1
    return int(np.iinfo(dtype).max) - 1


def scale_of(rows: WeightedRows, delta: float) -> Any:
    """What bucket_of takes for buckets of this width; at least 1 where distances are whole numbers, and so wide that
    their numbers fit 62 bits."""
    delta = max(delta, float(rows.largest_weight) * rows.n_vertices / _MOST_BUCKETS, sys.float_info.min)
    if rows.distance_dtype.kind == "f":
        return np.float64(1 / delta)
    return np.uint64(2.0**_WIDE_BITS / max(1.0, delta))


def distances_of(rows: WeightedRows, labels: np.ndarray, narrow: bool = False) -> np.ndarray | None:
    """The distances, of rows.distance_dtype, or, if they may be narrow, of whole numbers in the place of narrow labels;
    None where one may have been too large for the labels."""
    dtype, none = rows.distance_dtype, none_of(rows, labels.dtype)
    if dtype.kind == "f":
        labels >>= np.uint64(1)
        return labels.view(np.float64)
    distances = labels if narrow and labels.dtype == np.uint32 else np.empty(len(labels), dtype)
    largest = widen(labels, np.uint64(none), distances, np.uint64(unreached(distances.dtype)))
    return distances if int(largest) + int(rows.largest_weight) < none >> 1 else None


@kernel
def widen(labels, none, distances, beyond):
    """Distances of labels of whole numbers, `beyond` where they are `none`; returns the largest of the others."""
    largest = np.uint64(0)
    for v in range(len(labels)):
        distance = labels[v] >> WAITS
        there = labels[v] != none
        distances[v] = distance if there else beyond
        largest = max(largest, distance if there else np.uint64(0))
    return largest


@intrinsic
def longer_label(typingctx: Any, label: Any, cost: Any) -> Any:
    """The label, a word that waits, of a distance that is longer by `cost`; one that does not fit is larger than all
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
    """The bucket of a label that waits or has waited, int64: it rises with the label. scale : of scale_of."""
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
