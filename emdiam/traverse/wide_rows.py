"""Dense levels of wide batches: every row that is not full takes the bits of its neighbours, by vector instructions.

words : uint64[2, n, w], w = 8, 16 or 32: bit b of words[now, v] is set when v lies in the ball of source b as far as it
has grown. A level writes the other plane, so that no row is read while it changes. Planes begin at a multiple of 64
bytes (aligned_words). full : uint64[ceil(n / 64)], bitmap of the rows that every source has seen. In the level after
that all neighbours of such a row are full as well: it is asked for no more, and need not be in the other plane.
A row that spans blocks is written by atomic ORs into what it had two levels ago, which is never more than it has now,
and finished after the sweep (settle_wide).
Source: Then et al., PVLDB 2014 (MS-BFS), whose frontiers and queues are left out here: once the balls of so many
sources meet every row in every level, marks cost more than they save. Reading rows that lie anywhere waits for memory,
not for the processor; so rows are fetched ahead, and what is written goes past the cache where it is too small for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ..jit import inlined, kernel
from .atomics import atomic_or, prefetch
from .rows import row_walk

LANES = 8  # words of a vector: 64 bytes, a line of the cache
VECTORS = (1, 2, 4)  # of a row
# Arcs ahead of the row at hand whose rows are fetched; arcs after which a row looks whether it is full.
AHEAD, STRIDE = 24, 8
_WORD, _FLAG = ir.IntType(64), ir.IntType(1)
_VECTOR = ir.VectorType(_WORD, LANES)


def aligned_words(*shape: int) -> np.ndarray:
    """Zeros, uint64, that begin at a multiple of 64 bytes."""
    size = int(np.prod(shape))
    whole = np.zeros(size + LANES, np.uint64)
    skip = -whole.ctypes.data % 64 // 8
    return whole[skip : skip + size].reshape(shape)


@intrinsic
def _publish(typingctx: Any) -> Any:
    """What was written past the cache is there for other threads after this."""
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


class _RowCode:
    """Emits the code of a row of `count` vectors. data : of planes (uint64*), ids, the mask of all sources and what has
    changed; numbers : of here and there (where the planes begin), v, begin, end, past (bool)."""

    def __init__(self, builder: Any, count: int, data: tuple[Any, ...], numbers: tuple[Any, ...]) -> None:
        self._builder, self._count = builder, count
        self._words, self._ids, self._mask, self._changed = data
        self._here, self._there, self._v, self._begin, self._end, self._past = numbers

    def _row(self, plane: Any, vertex: Any) -> Any:
        b = self._builder
        at = b.add(plane, b.mul(vertex, _WORD(self._count * LANES)))
        return b.bitcast(b.gep(self._words, [at]), _VECTOR.as_pointer())

    def _load(self, row: Any, k: int) -> Any:
        return self._builder.load(self._builder.gep(row, [_WORD(k)]), align=8)

    def _store(self, value: Any, row: Any, k: int, past: bool) -> None:
        b = self._builder
        store = b.store(value, b.gep(row, [_WORD(k)]), align=64 if past else 8)
        if past:
            store.set_metadata("nontemporal", b.module.add_metadata([ir.IntType(32)(1)]))

    def _full(self, row: Any) -> Any:
        """Whether these vectors (a stack slot each) are the mask."""
        b = self._builder
        mask = b.bitcast(self._mask, _VECTOR.as_pointer())
        left = None
        for k, slot in enumerate(row):
            missing = b.xor(b.load(slot), self._load(mask, k))
            left = missing if left is None else b.or_(left, missing)
        some = b.icmp_unsigned("!=", left, ir.Constant(_VECTOR, None))
        byte = ir.IntType(LANES)
        return b.icmp_unsigned("==", b.bitcast(some, byte), byte(0))

    def _gather(self, slots: list[Any], at: Any) -> None:
        """OR the rows of the neighbours into the slots, until there is none left or nothing more can come."""
        b = self._builder
        ask, look, over = (b.append_basic_block(name) for name in ("wide.ask", "wide.look", "wide.over"))
        b.branch(ask)
        b.position_at_end(ask)
        b.cbranch(b.icmp_signed("<", b.load(at), self._end), look, over)
        b.position_at_end(look)
        begin, stop = b.load(at), b.add(b.load(at), _WORD(STRIDE))
        stop = b.select(b.icmp_signed("<", stop, self._end), stop, self._end)
        with cgutils.for_range_slice(b, begin, stop, _WORD(1)) as (p, _):
            vertex = b.load(b.gep(self._ids, [p]))
            row = self._row(self._here, b.zext(vertex, _WORD) if vertex.type != _WORD else vertex)
            for k, slot in enumerate(slots):
                b.store(b.or_(b.load(slot), self._load(row, k)), slot)
        b.store(stop, at)
        b.cbranch(self._full(slots), over, ask)
        b.position_at_end(over)

    def emit(self) -> Any:
        """The code; gives (arc after the last one looked at, whether the row is full now)."""
        b = self._builder
        slots = [cgutils.alloca_once(b, _VECTOR) for _ in range(self._count)]
        at = cgutils.alloca_once_value(b, self._begin)
        before = self._row(self._here, self._v)
        for k, slot in enumerate(slots):
            b.store(self._load(before, k), slot)
        self._gather(slots, at)
        out, changed = self._row(self._there, self._v), b.bitcast(self._changed, _VECTOR.as_pointer())
        for k, slot in enumerate(slots):
            new = b.xor(b.load(slot), self._load(before, k))
            self._store(b.or_(self._load(changed, k), new), changed, k, False)
        with b.if_else(self._past) as (past, near):
            for branch, flag in ((past, True), (near, False)):
                with branch:
                    for k, slot in enumerate(slots):
                        self._store(b.load(slot), out, k, flag)
        return b.load(at), self._full(slots)


@intrinsic
def _take_row(typingctx: Any, arrays: Any, vectors: Any, planes: Any, row: Any, past: Any) -> Any:
    """words[there, v] = words[here, v] | words[here, u] for all u of ids[begin:end]; changed |= what is new.

    arrays : (words uint64[:], ids, mask uint64[w], changed uint64[w]). vectors : of a row, one of VECTORS. planes :
    (here, there), where they begin in words. row : (v, begin, end). past : whether to write past the cache. Gives (arc
    after the last one looked at, whether v is full)."""
    signature = types.Tuple((types.intp, types.boolean))(
        arrays, types.intp, types.UniTuple(types.intp, 2), types.UniTuple(types.intp, 3), types.boolean)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = tuple(context.make_array(kind)(context, builder, builder.extract_value(args[0], i)).data
                     for i, kind in enumerate(sig.args[0]))
        here, there = (builder.extract_value(args[2], i) for i in (0, 1))
        numbers = here, there, *(builder.extract_value(args[3], i) for i in range(3)), builder.trunc(args[4], _FLAG)
        at, full = cgutils.alloca_once_value(builder, numbers[3]), cgutils.alloca_once_value(builder, _FLAG(0))
        for count in VECTORS:
            with builder.if_then(builder.icmp_signed("==", args[1], _WORD(count))):
                for value, slot in zip(_RowCode(builder, count, data, numbers).emit(), (at, full), strict=True):
                    builder.store(value, slot)
        result = [builder.load(at), context.cast(builder, builder.load(full), types.boolean, types.boolean)]
        return context.make_tuple(builder, sig.return_type, result)

    return signature, codegen


@inlined
def _not_full(state, word):
    return ~state[1][word]


@inlined
def _pull_row(state, ids, v, begin, end, whole):
    words, _, mask, changed, about = state
    here, past = about
    n, w = words.shape[1:]
    flat = words.reshape(-1)
    there = (1 - here) * n * w
    if not whole:
        for p in range(begin, end):
            u = np.int64(ids[p])
            for j in range(w):
                atomic_or(flat, there + v * w + j, words[here, u, j])
        return end - begin, False
    for p in range(min(begin + AHEAD, len(ids)), min(end + AHEAD, len(ids))):
        u = np.int64(ids[p])
        for j in range(0, w, LANES):
            prefetch(flat, (here * n + u) * w + j)
    stop, full = _take_row((flat, ids, mask, changed), w // LANES, (here * n * w, there), (v, begin, end), past)
    return stop - begin, full


@inlined
def _mark_full(state, word, hits):
    atomic_or(state[1], word, hits)


_walk_rows = row_walk(_not_full, _pull_row, _mark_full)


@kernel
def pull_wide(piece, layout, words, full, mask, total, here, past, changed):
    """Every row that is not full ORs the rows of its neighbours, of plane `here`, into the other plane.

    mask : uint64[w], all sources. total : uint64[w], the sources get a bit there that have reached something. past :
    whether to write past the cache. changed : uint64[w], zeros, of this thread. Returns arcs scanned."""
    arcs = _walk_rows(piece, layout, (words, full, mask, changed, (here, past)))
    for j in range(len(changed)):
        atomic_or(total, j, changed[j])
    _publish()
    return arcs


@kernel
def settle_wide(vertices, words, full, mask, total, here):
    """Finish the rows that span blocks after a pull, one thread."""
    for i in range(len(vertices)):
        v = np.int64(vertices[i])
        whole = True
        for j in range(words.shape[2]):
            words[1 - here, v, j] |= words[here, v, j]
            total[j] |= words[1 - here, v, j] ^ words[here, v, j]
            whole &= words[1 - here, v, j] == mask[j]
        if whole:
            full[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
