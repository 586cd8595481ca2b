"""Labels of Delta-stepping: a distance, and whether it waits, in one word.

The lowest bit of a label is set until the row of its vertex is relaxed with it; the bits above are the distance. So one
array tells both, in the order of the distances, and a vertex that lies in several bins is relaxed once for a label.
Distances have 31 or 63 bits where weights are whole numbers; of floats they are the bits of float64 without the sign,
which are in the order of the numbers. Weights must not be negative.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..jit import kernel
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
