"""The min-plus product of matrices: C[i, j] = min(C[i, j], A[i, k] + B[k, j] over all k), in registers.

A block of ROWS rows and VECTORS vectors of C stays in registers while k runs: each step takes VECTORS vectors of B and
ROWS numbers of A, so that vector additions and minima are what the time goes into, not loads. For that A and B are
copied into panels first: ROWS rows of A, or a block's columns of B, one k after another. The code is emitted as vectors
of LLVM, since its own vectoriser keeps no block of C over the loop.
Matrices are C-contiguous, their numbers of rows and columns multiples of EDGE. No sum may overflow (lengths.py).
Source: Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008), for the panels.

Products of parts of matrices by several threads: panels are made, then tiles relaxed, each by whoever takes it.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np

from ...jit import emitting, inlined, intrinsic, ir, kernel, types
from ...stream.threads import Threads
from ...traverse.atomics import atomic_add

# Bytes of a vector register, and how many of them a row of the block has: with 512 bits there are 32 registers.
_WIDE = bool(llvm.get_host_cpu_features().get("avx512f"))
VECTOR_BYTES = 64 if _WIDE else 32
VECTORS = 4 if _WIDE else 2
ROWS = 4
# Every block size divides it: 4 rows, and 16 to 64 columns of 4 bytes, 8 to 32 of 8 bytes.
EDGE = 64


def _index(number: int) -> Any:
    """A constant."""
    return ir.IntType(64)(number)


def _pointer(context: Any, builder: Any, arrays: Any, places: Any, kinds: Any, i: int) -> Any:
    """Where arrays[i] is, from its item places[i] on."""
    array = context.make_array(kinds[i])(context, builder, builder.extract_value(arrays, i))
    return builder.gep(array.data, [builder.extract_value(places, i)])


class _Vectors:
    """Emits code on vectors. kind : LLVM's type of a number."""

    def __init__(self, builder: Any, kind: Any) -> None:
        self._b, self._kind = builder, kind
        self._size = 8 if kind in (ir.IntType(64), ir.DoubleType()) else 4
        self._lanes = VECTOR_BYTES // self._size
        self._vector = ir.VectorType(kind, self._lanes)

    def _at(self, base: Any, index: Any) -> Any:
        """Pointer to the vector that begins at base[index]."""
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
        """row[j] = min(row[j], through + other[j]) for j < items, a multiple of the lanes."""
        b, number = self._b, self._splat(through)
        with emitting.for_range(b, _index(0), items, _index(self._lanes)) as (j, _):
            place = self._at(row, j)
            right = b.load(self._at(other, j), align=self._size)
            b.store(self._shorter(number, right, b.load(place, align=self._size)), place, align=self._size)


class _Block(_Vectors):
    """Emits the code of one block of C. data : pointers to C, to A's panel, to B's. stride : of C."""

    def __init__(self, builder: Any, kind: Any, data: tuple[Any, ...], stride: Any) -> None:
        super().__init__(builder, kind)
        self._data, self._stride = data, stride

    def _entry(self, row: int, vector: int) -> Any:
        b = self._b
        return self._at(self._data[0], b.add(b.mul(self._stride, _index(row)), _index(vector * self._lanes)))

    def _some_differ(self, new: Any, old: Any) -> Any:
        """Whether two vectors differ, a bit."""
        b = self._b
        integers = isinstance(self._kind, ir.IntType)
        differ = b.icmp_unsigned("!=", new, old) if integers else b.fcmp_unordered("!=", new, old)
        bits = ir.IntType(self._lanes)
        return b.icmp_unsigned("!=", b.bitcast(differ, bits), bits(0))

    def emit(self, depth: Any) -> Any:
        """The block, for k from 0 to depth - 1; gives whether an entry fell."""
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
    """C[i, j] = min(C[i, j], A[k, i] + B[k, j] for all k < depth), of ROWS rows i and VECTORS vectors of columns j;
    gives whether an entry fell.

    arrays : (C, A, B), one-dimensional and of one dtype. places : (c, a, b), where the block and the panels begin in
    them. stride : items from a row of C to the next. A's panel has ROWS items for each k, B's a block's columns."""
    signature = types.boolean(arrays, types.UniTuple(types.intp, 3), types.intp, types.intp)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = context.get_value_type(sig.args[0][0].dtype)
        data = tuple(_pointer(context, builder, args[0], args[1], sig.args[0], i) for i in range(3))
        return _Block(builder, kind, data, args[2]).emit(args[3])

    return signature, codegen


@intrinsic
def shorten_row(typingctx: Any, arrays: Any, places: Any, through: Any, items: Any) -> Any:
    """C[j] = min(C[j], through + B[j]) for j < items, a multiple of EDGE. arrays : (C, B), one-dimensional, of the
    dtype of `through`. places : where they begin."""
    signature = types.void(arrays, types.UniTuple(types.intp, 2), arrays[0].dtype, types.intp)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        row, other = (_pointer(context, builder, args[0], args[1], sig.args[0], i) for i in range(2))
        _Vectors(builder, args[2].type).emit_row(row, other, args[2], args[3])
        return context.get_dummy_value()

    return signature, codegen


@inlined
def block_columns(item):
    """Columns of a block, of items of so many bytes."""
    return VECTORS * VECTOR_BYTES // item


@kernel
def pack_band_of_rows(matrix, band, edge, begin, end, panels):
    """A band of `edge` rows of the left factor, columns begin to end - 1, into panels of ROWS rows.

    panels : one-dimensional, for all rows; row i, column k goes to (i // ROWS * depth + k - begin) * ROWS + i % ROWS,
    with depth = end - begin."""
    for i in range(band * edge, min((band + 1) * edge, matrix.shape[0])):
        place = i // ROWS * (end - begin) * ROWS + i % ROWS
        for k in range(begin, end):
            panels[place + (k - begin) * ROWS] = matrix[i, k]


@kernel
def pack_band_of_columns(matrix, band, edge, begin, end, panels):
    """A band of `edge` columns of the right factor, rows begin to end - 1, into panels of a block's columns."""
    width = block_columns(matrix.itemsize)
    for j in range(band * edge, min((band + 1) * edge, matrix.shape[1]), width):
        place = j * (end - begin)
        for k in range(begin, end):
            for c in range(width):
                panels[place + c] = matrix[k, j + c]
            place += width


@kernel
def pack_rows(matrix, bands, edge, begin, end, panels, turn):
    """Bands (int64[b]) of rows, each by the thread that takes it. turn : int64[1], 0: counts those that were taken."""
    taken = atomic_add(turn, 0, 1)
    while taken < len(bands):
        pack_band_of_rows(matrix, bands[taken], edge, begin, end, panels)
        taken = atomic_add(turn, 0, 1)


@kernel
def pack_columns(matrix, bands, edge, begin, end, panels, turn):
    """Bands of columns, in the same way."""
    taken = atomic_add(turn, 0, 1)
    while taken < len(bands):
        pack_band_of_columns(matrix, bands[taken], edge, begin, end, panels)
        taken = atomic_add(turn, 0, 1)


@kernel
def relax_tiles(matrix, tiles, edge, rows, columns, depth, turn):
    """Relax tiles of `matrix` by the product of panels, each tile by the thread that takes it; whether an entry fell.

    tiles : int64[m, 2], (row, column) of tiles of `edge` rows and columns, those at the end may be smaller. rows,
    columns : panels of the left and the right factor, by rows and columns of `matrix`. turn : int64[1], 0: counts the
    tiles that were taken."""
    fell, taken = False, atomic_add(turn, 0, 1)
    while taken < len(tiles):
        fell |= relax_tile(matrix, tiles[taken, 0], tiles[taken, 1], edge, rows, columns, depth)
        taken = atomic_add(turn, 0, 1)
    return fell


@kernel
def relax_tile(matrix, row, column, edge, rows, columns, depth):
    """The tile (row, column) of `edge` rows and columns."""
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
    """The same on the whole matrix, from the factors themselves, without the sums of what is infinite in the left one.

    height, width : of the parts that threads take, width a multiple of EDGE. span : (begin, end) of k. infinity : what
    stands for no path, of the dtype."""
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


# Of k at a time: a panel of so many columns of B stays in the cache while all rows go past it.
DEPTH = 256
# Without panels: parts that threads take, and k at a time, so that what they read of B stays in a cache.
_LAZY_HEIGHT, _LAZY_WIDTH, _LAZY_DEPTH = 32, 1024, 128


def padded(number: int) -> int:
    """The next multiple of EDGE."""
    return -(-number // EDGE) * EDGE


def tile_edge(size: int) -> int:
    """Rows of the tiles that threads take, of a matrix of so many: several tiles a thread, of DEPTH rows at most."""
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
        """Bytes that one takes."""
        return 2 * size * DEPTH * item

    def relax(self, matrix: np.ndarray, left: np.ndarray, right: np.ndarray, tiles: np.ndarray, edge: int,
              span: tuple[int, int]) -> bool:
        """Relax the tiles (int64[m, 2], of `edge` rows and columns) of `matrix` by left[:, k] + right[k, :] for the k
        of `span` (begin, end); whether an entry fell. The factors may be the matrix itself: entries that fall meanwhile
        are lengths of paths all the same, and no longer than those before."""
        fell = False
        row_bands, column_bands = (np.unique(tiles[:, axis]) for axis in (0, 1))
        for begin in range(span[0], span[1], DEPTH):
            end = min(begin + DEPTH, span[1])
            self._share(pack_rows, left, row_bands, edge, begin, end, self._rows)
            self._share(pack_columns, right, column_bands, edge, begin, end, self._columns)
            fell |= self._share(relax_tiles, matrix, tiles, edge, self._rows, self._columns, end - begin)
        return fell

    def relax_lazily(self, matrix: np.ndarray, left: np.ndarray, right: np.ndarray, infinity: int | float) -> bool:
        """The same on the whole matrix, without sums of what is infinite in the left factor, and without panels."""
        fell = False
        for begin in range(0, left.shape[1], _LAZY_DEPTH):
            span = begin, min(begin + _LAZY_DEPTH, left.shape[1])
            fell |= self._share(relax_lazily, matrix, left, right, _LAZY_HEIGHT, _LAZY_WIDTH, span,
                                matrix.dtype.type(infinity))
        return fell

    def _share(self, task: Any, *arguments: Any) -> bool:
        """The kernel on all threads; whether it was true on one."""
        turn = np.zeros(1, np.int64)
        return any(self.threads.everywhere(lambda: task(*arguments, turn)))
