"""Row offsets in 1.1 bytes per vertex instead of 8.

Vertices are in groups of 64. A group stores the offset of its first row (int64), and each row its degree in a byte: a
row's offset is the group's plus the sum of the degrees before it, which vector instructions compute at once. A row of
255 arcs or more has 255 as its byte, and its group stores -1 - k in place of the offset. Then hub[k] is the offset, and
hub[k + i] is the offset plus the arcs beyond 255 of the first i long rows in the group: 8 bytes per long row and 8 per
group.

sum_first sums the first bytes of 64 for the numba kernels; LLVM compiles it to one or a few vector instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..jit import emitting, inlined, intrinsic, ir, kernel, types
from . import uncompiled

LANES, FULL = 64, 255


def _splat(builder: Any, number: Any) -> Any:
    """A vector with the byte in all lanes."""
    index, lanes = ir.IntType(32), ir.VectorType(number.type, LANES)
    first = builder.insert_element(ir.Constant(lanes, ir.Undefined), number, ir.Constant(index, 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(index, LANES), [0] * LANES))


@intrinsic
def sum_first(typingctx: Any, row: Any, index: Any, count: Any) -> Any:
    """(sum of row[index : index + count], number of entries in it equal to FULL), int64 each; count < 64.

    row : uint8[:], whose 64 bytes from `index` are read.
    """
    signature = types.UniTuple(types.int64, 2)(row, types.intp, types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        byte, two = ir.IntType(8), ir.IntType(16)
        bytes_, sums = ir.VectorType(byte, LANES), ir.VectorType(two, LANES)
        array = context.make_array(sig.args[0])(context, builder, args[0])
        at = emitting.item_pointer(context, builder, sig.args[0], array, [args[1]], wraparound=False)
        values = builder.load(builder.bitcast(at, bytes_.as_pointer()), align=1)
        before = builder.icmp_unsigned("<", ir.Constant(bytes_, list(range(LANES))),
                                       _splat(builder, builder.trunc(args[2], byte)))
        values = builder.select(before, values, ir.Constant(bytes_, [0] * LANES))
        add = emitting.library_function(
            builder.module, ir.FunctionType(two, [sums]), f"llvm.vector.reduce.add.v{LANES}i16")
        total = builder.call(add, [builder.zext(values, sums)])
        full = builder.icmp_unsigned("==", values, ir.Constant(bytes_, [FULL] * LANES))
        number = builder.ctpop(builder.bitcast(full, ir.IntType(LANES)))
        wide = context.get_value_type(types.int64)
        return context.make_tuple(builder, sig.return_type, [builder.zext(total, wide), number])

    return signature, codegen


# Like numpy.zeros: (length, dtype).
Zeros = Callable[..., np.ndarray]
GROUP = LANES
_LINE_BYTES = 64  # of a cache; a group's degrees are in one line


@dataclass(frozen=True)
class Offsets:
    """Compact offsets of n_vertices rows (entry n_vertices is the end of the last row).

    group : int64[n_groups]; row : uint8[64 * n_groups]; hub : int64[rows of 255 arcs or more, plus groups with such
    rows].
    """

    n_vertices: int
    group: np.ndarray
    row: np.ndarray
    hub: np.ndarray


@inlined
def row_start(group, row, hub, v):
    """Offset of the first arc of vertex v (v = n_vertices gives the number of arcs)."""
    base = group[v >> 6]
    before, full = sum_first(row, v & ~63, v & 63)
    if base < 0:
        base = hub[full - 1 - base]
    return base + before


@inlined
def row_span(group, row, hub, v):
    """(offset of the first arc of vertex v, offset after its last one)."""
    base = group[v >> 6]
    before, full = sum_first(row, v & ~63, v & 63)
    length = np.int64(row[v])
    if base < 0:
        k = full - 1 - base
        base = hub[k]
        if length == FULL:
            length += hub[k + 1] - base
    return base + before, base + before + length


@inlined
def row_length(offsets, v):
    """Number of arcs of vertex v. offsets : (group, row, hub)."""
    group, row, hub = offsets
    length = np.int64(row[v])
    if length == FULL:
        _, full = sum_first(row, v & ~63, v & 63)
        k = full - 1 - group[v >> 6]
        length += hub[k + 1] - hub[k]
    return length


@kernel(uncompiled=uncompiled.following_starts)
def following_starts(group, row, hub, first, out):
    """out[i] = offset of the first arc of vertex first + i, int64[k]; adds degrees instead of a search in each
    group."""
    if len(out) > 0:
        start = row_start(group, row, hub, np.int64(first))
        for i in range(len(out)):
            out[i] = start
            if i + 1 < len(out):
                start += row_length((group, row, hub), np.int64(first) + i)


@kernel(uncompiled=uncompiled.row_starts)
def row_starts(group, row, hub, vertices, out):
    """out[i] = offset of the first arc of vertices[i]; int64[k] each."""
    for i in range(len(vertices)):
        out[i] = row_start(group, row, hub, np.int64(vertices[i]))


def starts_dtype(n_arcs: int) -> np.dtype[Any]:
    """dtype of an array of plain row offsets."""
    return np.dtype(np.uint32 if n_arcs < 1 << 32 else np.int64)


def starts_bytes(n_vertices: int, n_arcs: int) -> int:
    """Bytes of such an array, with the end of the last row."""
    return (n_vertices + 1) * starts_dtype(n_arcs).itemsize


def offsets_bytes(n_vertices: int, n_arcs: int, max_degree: int) -> int:
    """Upper bound of the bytes of Offsets for a graph of these sizes."""
    n_groups = n_vertices // GROUP + 1
    long_rows = min(n_vertices, n_arcs // FULL) if max_degree >= FULL else 0
    return n_groups * (8 + GROUP) + _LINE_BYTES + 8 * (long_rows + min(n_groups, long_rows))


def build_offsets(
    n_vertices: int, pieces: Iterator[np.ndarray], span: tuple[int, int] | None = None, zeros: Zeros = np.zeros
) -> Offsets:
    """Compact offsets from int64 pieces of indptr that concatenate to values first..stop of the span (default: all,
    n_vertices + 1 values). `first` is a multiple of 64; rows outside the span have no arcs. zeros : makes the arrays.

    Raises ValueError if the pieces are not monotone from 0 or have another total length.
    """
    first, stop = span or (0, n_vertices)
    n_groups = n_vertices // GROUP + 1
    group, row = zeros(n_groups, np.int64), _aligned(zeros, n_groups * GROUP)
    hubs: list[np.ndarray] = []
    rest = np.empty(0, np.int64)
    done = first  # the vertex of rest[0]
    for piece in pieces:
        values = np.concatenate((rest, piece))
        if len(values) and (values[0] < 0 or np.any(values[1:] < values[:-1])):
            raise ValueError("row offsets are not monotone")
        if done + len(values) == stop + 1:
            values = np.concatenate((values, np.full(GROUP - (len(values) - 1) % GROUP, values[-1])))
        whole = max(0, len(values) - 1) // GROUP * GROUP
        if whole:
            _add_groups(values[: whole + 1], done // GROUP, group, row, hubs)
        done, rest = done + whole, values[whole:]
    if done != (stop // GROUP + 1) * GROUP or len(rest) != 1:
        raise ValueError(f"row offsets end after {done + len(rest)} of {stop + 1}")
    hub = np.concatenate(hubs) if hubs else np.zeros(0, np.int64)
    return Offsets(n_vertices, group, row, hub)


def _aligned(zeros: Zeros, size: int) -> np.ndarray:
    """uint8[size], aligned to a cache line."""
    room = zeros(size + _LINE_BYTES, np.uint8)
    begin = -room.ctypes.data % _LINE_BYTES
    return room[begin : begin + size]


def _add_groups(values: np.ndarray, first: int, group: np.ndarray, row: np.ndarray, hubs: list[np.ndarray]) -> None:
    """Fill in groups from number `first`. values : int64[64 k + 1], offsets of their rows and the end of the last. hubs
    : receives the entries of groups with long rows."""
    starts, degrees = values[:-1:GROUP], np.diff(values)
    group[first : first + len(starts)] = starts
    long = np.flatnonzero(degrees >= FULL)
    if len(long):
        wide, begin, which = np.unique(long // GROUP, return_index=True, return_inverse=True)
        beyond = np.concatenate(([0], np.cumsum(degrees[long] - FULL)))
        heads = begin + np.arange(len(wide))
        entries = np.empty(len(long) + len(wide), np.int64)
        entries[heads] = starts[wide]
        entries[np.arange(len(long)) + which + 1] = starts[wide[which]] + beyond[1:] - beyond[begin[which]]
        group[first + wide] = -1 - heads - sum(map(len, hubs))
        hubs.append(entries)
    row[first * GROUP : (first + len(starts)) * GROUP] = np.minimum(degrees, FULL, out=degrees)
