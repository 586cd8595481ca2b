"""The min-plus product of matrices: C[i, j] = min(C[i, j], A[i, k] + B[k, j] over all k), in registers.

A block of ROWS rows and VECTORS vectors of C stays in registers for all k: each step loads VECTORS vectors of B and
ROWS numbers of A, so vector additions and minima take the time, not loads. For this A and B are first copied into
panels of ROWS rows of A, or the columns of a block of B, ordered by k. The code is emitted as LLVM vectors, since
LLVM's vectoriser does not keep a block of C in registers over the loop. Matrices are C-contiguous, with multiples of
EDGE rows and columns. No sum may overflow (arcs.py).
Source: Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008), for the panels.

Products of parts of matrices on several threads: threads make the panels, and then relax tiles in turn.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np

from ...distinct import distinct
from ...jit import emitting, inlined, intrinsic, ir, kernel, types
from ...stream.threads import Threads
from ...traverse.atomics import atomic_add

# Bytes of a vector register, and vectors in a row of the block: AVX-512 has 32 registers.
_WIDE = bool(llvm.get_host_cpu_features().get("avx512f"))
VECTOR_BYTES = 64 if _WIDE else 32
VECTORS = 4 if _WIDE else 2
ROWS = 4
# A multiple of all block sizes: 4 rows, and 16 to 64 columns of 4 bytes, 8 to 32 of 8 bytes.
EDGE = 64


def _index(number: int) -> Any:
    """A constant."""
    return ir.IntType(64)(number)


def _pointer(context: Any, builder: Any, arrays: Any, places: Any, kinds: Any, i: int) -> Any:
    """A pointer to item places[i] of arrays[i]."""
    array = context.make_array(kinds[i])(context, builder, builder.extract_value(arrays, i))
    return builder.gep(array.data, [builder.extract_value(places, i)])


class _Vectors:
    """Emits vector code. kind : the LLVM type of a number."""

    def __init__(self, builder: Any, kind: Any) -> None:
        self._b, self._kind = builder, kind
        self._size = 8 if kind in (ir.IntType(64), ir.DoubleType()) else 4
        self._lanes = VECTOR_BYTES // self._size
        self._vector = ir.VectorType(kind, self._lanes)

    def _at(self, base: Any, index: Any) -> Any:
        """A pointer to the vector that starts at base[index]."""
        b = self._b
        return b.bitcast(b.gep(base, [index]), self._vector.as_pointer())

    def _splat(self, number: Any) -> Any:
        """A vector of this number."""
        b, nothing = self._b, ir.Constant(self._vector, ir.Undefined)
        first = b.insert_element(nothing, number, ir.IntType(32)(0))
        return b.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), self._lanes), None))

    def _shorter(self, left: Any, right: Any, best: Any) -> Any:
        """min(best, left + right)."""
        b = self._b
        if isinstance(self._kind, ir.IntType):
            total = b.add(left, right)
            return b.select(b.icmp_signed("<", total, best), total, best)
        total = b.fadd(left, right)
        return b.select(b.fcmp_ordered("<", total, best), total, best)

    def emit_row(self, row: Any, other: Any, through: Any, items: Any) -> None:
        """Emit row[j] = min(row[j], through + other[j]) for j < items, a multiple of the vector length."""
        b, number = self._b, self._splat(through)
        with emitting.for_range(b, _index(0), items, _index(self._lanes)) as (j, _):
            place = self._at(row, j)
            right = b.load(self._at(other, j), align=self._size)
            b.store(self._shorter(number, right, b.load(place, align=self._size)), place, align=self._size)


class _Block(_Vectors):
    """Emits the code of one block of C. data : pointers to C, to the panel of A, to the panel of B. stride : of C."""

    def __init__(self, builder: Any, kind: Any, data: tuple[Any, ...], stride: Any) -> None:
        super().__init__(builder, kind)
        self._data, self._stride = data, stride

    def _entry(self, row: int, vector: int) -> Any:
        b = self._b
        return self._at(self._data[0], b.add(b.mul(self._stride, _index(row)), _index(vector * self._lanes)))

    def _some_differ(self, new: Any, old: Any) -> Any:
        """A bit, whether two vectors differ."""
        b = self._b
        integers = isinstance(self._kind, ir.IntType)
        differ = b.icmp_unsigned("!=", new, old) if integers else b.fcmp_unordered("!=", new, old)
        bits = ir.IntType(self._lanes)
        return b.icmp_unsigned("!=", b.bitcast(differ, bits), bits(0))

    def emit(self, depth: Any) -> Any:
        """Emit the block for k from 0 to depth - 1; return whether an entry fell."""
        b, (_, a, panel) = self._b, self._data
        slots = {(row, v): emitting.stack_slot(b, self._vector) for row in range(ROWS) for v in range(VECTORS)}
        for place, slot in slots.items():
            b.store(b.load(self._entry(*place), align=self._size), slot)
        with emitting.for_each(b, depth) as loop:
            start = b.mul(loop.index, _index(VECTORS * self._lanes))
            columns = [b.load(self._at(panel, b.add(start, _index(v * self._lanes))), align=self._size)
                       for v in range(VECTORS)]
            for row in range(ROWS):
                number = self._splat(b.load(b.gep(a, [b.add(b.mul(loop.index, _index(ROWS)), _index(row))])))
                for v in range(VECTORS):
                    slot = slots[row, v]
                    b.store(self._shorter(number, columns[v], b.load(slot)), slot)
        fell = ir.IntType(1)(0)
        for place, slot in slots.items():
            new, entry = b.load(slot), self._entry(*place)
            fell = b.or_(fell, self._some_differ(new, b.load(entry, align=self._size)))
            b.store(new, entry, align=self._size)
        return fell


@intrinsic
def relax_block(typingctx: Any, arrays: Any, places: Any, stride: Any, depth: Any) -> Any:
    """C[i, j] = min(C[i, j], A[k, i] + B[k, j] for all k < depth), for ROWS rows i and VECTORS vectors of columns j;
    return whether an entry fell.

    arrays : (C, A, B), one-dimensional, of one dtype. places : (c, a, b), first items of the block and the panels.
    stride : items from one row of C to the next. For each k, the panel of A has ROWS items, and the panel of B the
    columns of a block."""
    signature = types.boolean(arrays, types.UniTuple(types.intp, 3), types.intp, types.intp)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = context.get_value_type(sig.args[0][0].dtype)
        data = tuple(_pointer(context, builder, args[0], args[1], sig.args[0], i) for i in range(3))
        return _Block(builder, kind, data, args[2]).emit(args[3])

    return signature, codegen


@intrinsic
def shorten_row(typingctx: Any, arrays: Any, places: Any, through: Any, items: Any) -> Any:
    """C[j] = min(C[j], through + B[j]) for j < items, a multiple of EDGE. arrays : (C, B), one-dimensional, of the
    dtype of `through`. places : their first items."""
    signature = types.void(arrays, types.UniTuple(types.intp, 2), arrays[0].dtype, types.intp)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        row, other = (_pointer(context, builder, args[0], args[1], sig.args[0], i) for i in range(2))
        _Vectors(builder, args[2].type).emit_row(row, other, args[2], args[3])
        return context.get_dummy_value()

    return signature, codegen


@inlined
def block_columns(item):
    """Columns of a block, for items of `item` bytes."""
    return VECTORS * VECTOR_BYTES // item


@kernel
def pack_band_of_rows(matrix, band, edge, begin, end, panels):
    """Pack a band of `edge` rows of the left factor, columns begin to end - 1, into panels of ROWS rows.

    panels : one-dimensional, for all rows; row i, column k goes to (i // ROWS * depth + k - begin) * ROWS + i % ROWS,
    with depth = end - begin."""
    for i in range(band * edge, min((band + 1) * edge, matrix.shape[0])):
        place = i // ROWS * (end - begin) * ROWS + i % ROWS
        for k in range(begin, end):
            panels[place + (k - begin) * ROWS] = matrix[i, k]


@kernel
def pack_band_of_columns(matrix, band, edge, begin, end, panels):
    """Pack a band of `edge` columns of the right factor, rows begin to end - 1, into panels of a block's columns."""
    width = block_columns(matrix.itemsize)
    for j in range(band * edge, min((band + 1) * edge, matrix.shape[1]), width):
        place = j * (end - begin)
        for k in range(begin, end):
            for c in range(width):
                panels[place + c] = matrix[k, j + c]
            place += width


@kernel
def pack_rows(matrix, bands, edge, begin, end, panels, turn):
    """Pack bands (int64[b]) of rows, which threads take in turn. turn : int64[1], 0, counts taken bands."""
    taken = atomic_add(turn, 0, 1)
    while taken < len(bands):
        pack_band_of_rows(matrix, bands[taken], edge, begin, end, panels)
        taken = atomic_add(turn, 0, 1)


@kernel
def pack_columns(matrix, bands, edge, begin, end, panels, turn):
    """Pack bands of columns; see pack_rows."""
    taken = atomic_add(turn, 0, 1)
    while taken < len(bands):
        pack_band_of_columns(matrix, bands[taken], edge, begin, end, panels)
        taken = atomic_add(turn, 0, 1)


@kernel
def relax_tiles(matrix, tiles, edge, rows, columns, depth, turn):
    """Relax tiles of `matrix`, which threads take in turn, by the product of panels; return whether an entry fell.

    tiles : int64[m, 2], (row, column) of tiles of `edge` rows and columns; the last ones may be smaller. rows, columns
    : panels of the left and the right factor, by rows and columns of `matrix`. turn : int64[1], 0, counts taken
    tiles."""
    fell, taken = False, atomic_add(turn, 0, 1)
    while taken < len(tiles):
        fell |= relax_tile(matrix, tiles[taken, 0], tiles[taken, 1], edge, rows, columns, depth)
        taken = atomic_add(turn, 0, 1)
    return fell


@kernel
def relax_tile(matrix, row, column, edge, rows, columns, depth):
    """Relax the tile (row, column) of `edge` rows and columns."""
    top, left = row * edge, column * edge
    flat = matrix.reshape(-1)
    height, stride = matrix.shape
    width = block_columns(matrix.itemsize)
    fell = False
    for j in range(left, min(left + edge, stride), width):
        for i in range(top, min(top + edge, height), ROWS):
            fell |= relax_block((flat, rows, columns), (i * stride + j, i * depth, j * depth), stride, depth)
    return fell


@kernel
def relax_lazily(matrix, left, right, height, width, span, infinity, turn):
    """Relax the whole matrix from the factors without panels, skipping infinite entries of the left factor.

    height, width : size of the parts that threads take, width a multiple of EDGE. span : (begin, end) of k. infinity :
    the value for no path, of the dtype."""
    fell = False
    rows, stride = matrix.shape
    flat, other, before = matrix.reshape(-1), right.reshape(-1), np.empty(width, matrix.dtype)
    parts = (stride + width - 1) // width
    while True:
        taken = atomic_add(turn, 0, 1)
        top, first = taken // parts * height, taken % parts * width
        if top >= rows:
            return fell
        items = min(width, stride - first)
        for i in range(top, min(top + height, rows)):
            before[:items] = matrix[i, first : first + items]
            for k in range(span[0], span[1]):
                if left[i, k] < infinity:
                    shorten_row((flat, other), (i * stride + first, k * stride + first), left[i, k], items)
            for j in range(items):
                fell |= before[j] != matrix[i, first + j]


@kernel
def close_tile(matrix, first, last, begin, end):
    """Floyd-Warshall on the tile of rows and columns first to last - 1, in place, for k from begin to end - 1."""
    flat, stride = matrix.reshape(-1), matrix.shape[1]
    for k in range(begin, end):
        for i in range(first, last):
            places = i * stride + first, k * stride + first
            shorten_row((flat, flat), places, matrix[i, k], last - first)


# Range of k at a time: a panel of this depth of B stays in the cache for all rows.
DEPTH = 256
# Without panels: sizes of the parts that threads take, and range of k, so that the part of B stays in a cache.
_LAZY_HEIGHT, _LAZY_WIDTH, _LAZY_DEPTH = 32, 1024, 128


def padded(number: int) -> int:
    """The next multiple of EDGE."""
    return -(-number // EDGE) * EDGE


def tile_edge(size: int) -> int:
    """Rows of the tiles of a matrix of `size` rows: at most DEPTH, and several tiles a thread."""
    return max(EDGE, min(DEPTH, padded(size // 16)))


def all_tiles(shape: tuple[int, ...], edge: int) -> np.ndarray:
    """(row, column) of all tiles of a matrix, int64[m, 2]."""
    counts = tuple(-(-side // edge) for side in shape)
    return np.argwhere(np.ones(counts, np.bool_))


class Product:
    """C = min(C, A x B) on threads, for matrices of one dtype of at most `size` rows and columns.

    Bytes: see panel_bytes."""

    def __init__(self, threads: Threads, dtype: np.dtype[Any], size: int) -> None:
        self.threads = threads
        self._rows, self._columns = (np.empty(size * DEPTH, dtype) for _ in range(2))

    @staticmethod
    def panel_bytes(size: int, item: int) -> int:
        """Bytes of the panels of a Product."""
        return 2 * size * DEPTH * item

    def relax(self, matrix: np.ndarray, left: np.ndarray, right: np.ndarray, tiles: np.ndarray, edge: int,
              span: tuple[int, int]) -> bool:
        """Relax the tiles (int64[m, 2], of `edge` rows and columns) of `matrix` by left[:, k] + right[k, :] for k in
        `span` (begin, end); return whether an entry fell. The factors may be the matrix itself: an entry that falls
        meanwhile is the length of a path too, and smaller than before."""
        fell = False
        row_bands, column_bands = (distinct(tiles[:, axis]) for axis in (0, 1))
        for begin in range(span[0], span[1], DEPTH):
            end = min(begin + DEPTH, span[1])
            self._share(pack_rows, left, row_bands, edge, begin, end, self._rows)
            self._share(pack_columns, right, column_bands, edge, begin, end, self._columns)
            fell |= self._share(relax_tiles, matrix, tiles, edge, self._rows, self._columns, end - begin)
        return fell

    def relax_lazily(self, matrix: np.ndarray, left: np.ndarray, right: np.ndarray, infinity: int | float) -> bool:
        """Relax the whole matrix without panels, skipping infinite entries of the left factor."""
        fell = False
        for begin in range(0, left.shape[1], _LAZY_DEPTH):
            span = begin, min(begin + _LAZY_DEPTH, left.shape[1])
            fell |= self._share(relax_lazily, matrix, left, right, _LAZY_HEIGHT, _LAZY_WIDTH, span,
                                matrix.dtype.type(infinity))
        return fell

    def _share(self, task: Any, *arguments: Any) -> bool:
        """Run the kernel on all threads; return whether it was true on one of them."""
        turn = np.zeros(1, np.int64)
        return any(self.threads.everywhere(lambda: task(*arguments, turn)))
