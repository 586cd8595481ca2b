"""Wide batches: the eccentricities of up to 2,048 sources, where balls soon fill the graph.

Definition: the ball of a source grows by 1 a level; its eccentricity is its radius after it has grown for the last
time. Balls begin small, one by one. Then a level is one pull over all rows that some source has not seen, without
queues, frontiers or marks of new vertices. Work: all arcs of such rows a level, for all sources together. I/O: a level
reads every block once. Bytes a vertex: b / 4 for b bits, and 0.13 for marks; and a thread 0.13 and a queue.
It pays if most levels are dense, as in random graphs: there a source takes a tenth of the CPU seconds that it takes
in batches of 512. For thin frontiers use multi.py.

In its first levels, the ball of a source among thousands has a few vertices, and would need a pass over all rows. So
every source is first searched with its own queue, as long as it reads few arcs, and its bit is set in the rows of the
vertices that it has met. Balls may have different radii: a level of the batch makes each larger by 1.

Then every row that is not full takes the bits of its neighbours, by vector instructions.

words : uint64[2, n, w], w = 8, 16 or 32. Bit b of words[now, v] is set if v is in the ball of source b as far as it
has grown. A level writes the other plane, so that no row is read while it changes. Planes begin at a multiple of 64
bytes (aligned_words). full : uint64[ceil(n / 64)], bitmap of the rows that every source has seen. In the level after
that, all neighbours of such a row are full as well: its words are not read any more, and need not be in the other
plane.
A row that spans blocks is written by atomic ORs into its words of two levels ago, which are a subset of its words now,
and finished after the sweep (settle_wide).
Source: Then et al., PVLDB 2014 (MS-BFS), here without frontiers and queues: once the balls of thousands of sources meet
every row in every level, marks cost more than they save. Reading scattered rows waits for memory, not for the
processor. So rows are prefetched, and writes bypass the cache if it is too small for a plane.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import emitting, inlined, intrinsic, ir, kernel, types
from ..progress import Tick, no_tick
from ..stream.offsets import row_length, row_span
from .atomics import atomic_add, atomic_or, prefetch
from .core import Core
from .multi import checked_sources, spanning_rows
from .multi_dense import AHEAD
from .rows import hits_to_second, not_in_second, row_walk

LANES = 8  # words of a vector: 64 bytes, a cache line
VECTORS = (1, 2, 4)  # of a row
STRIDE = 8  # arcs after which the code checks whether a row is full


def _word(number: int) -> Any:
    """An integer constant of 64 bits."""
    return ir.IntType(64)(number)


def _vector() -> Any:
    """The type of a vector: LANES words, read at once."""
    return ir.VectorType(ir.IntType(64), LANES)


def aligned_words(*shape: int) -> np.ndarray:
    """Zeros, uint64, beginning at a multiple of 64 bytes."""
    size = int(np.prod(shape))
    whole = np.zeros(size + LANES, np.uint64)
    skip = -whole.ctypes.data % 64 // 8
    return whole[skip : skip + size].reshape(shape)


@intrinsic
def _publish(typingctx: Any) -> Any:
    """A fence: writes that bypassed the cache are visible to other threads after it."""
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


class _RowCode:
    """Emits the code for a row of `count` vectors. data : planes (uint64*), ids, the mask of all sources, and the
    changed bits. numbers : here and there (begin of the planes), v, begin, end, past (bool)."""

    def __init__(self, builder: Any, count: int, data: tuple[Any, ...], numbers: tuple[Any, ...]) -> None:
        self._builder, self._count = builder, count
        self._words, self._ids, self._mask, self._changed = data
        self._here, self._there, self._v, self._begin, self._end, self._past = numbers

    def _row(self, plane: Any, vertex: Any) -> Any:
        b = self._builder
        at = b.add(plane, b.mul(vertex, _word(self._count * LANES)))
        return b.bitcast(b.gep(self._words, [at]), _vector().as_pointer())

    def _load(self, row: Any, k: int) -> Any:
        return self._builder.load(self._builder.gep(row, [_word(k)]), align=8)

    def _store(self, value: Any, row: Any, k: int, past: bool) -> None:
        b = self._builder
        store = b.store(value, b.gep(row, [_word(k)]), align=64 if past else 8)
        if past:
            store.set_metadata("nontemporal", b.module.add_metadata([ir.IntType(32)(1)]))

    def _full(self, row: Any) -> Any:
        """Whether these vectors (one stack slot each) equal the mask."""
        b = self._builder
        mask = b.bitcast(self._mask, _vector().as_pointer())
        left = None
        for k, slot in enumerate(row):
            missing = b.xor(b.load(slot), self._load(mask, k))
            left = missing if left is None else b.or_(left, missing)
        some = b.icmp_unsigned("!=", left, ir.Constant(_vector(), None))
        byte = ir.IntType(LANES)
        return b.icmp_unsigned("==", b.bitcast(some, byte), byte(0))

    def _gather(self, slots: list[Any], at: Any) -> None:
        """OR the rows of the neighbours into the slots, until the last neighbour or until all bits are set."""
        b = self._builder
        ask, look, over = (b.append_basic_block(name) for name in ("wide.ask", "wide.look", "wide.over"))
        b.branch(ask)
        b.position_at_end(ask)
        b.cbranch(b.icmp_signed("<", b.load(at), self._end), look, over)
        b.position_at_end(look)
        begin, stop = b.load(at), b.add(b.load(at), _word(STRIDE))
        stop = b.select(b.icmp_signed("<", stop, self._end), stop, self._end)
        with emitting.for_range(b, begin, stop, _word(1)) as (p, _):
            vertex = b.load(b.gep(self._ids, [p]))
            row = self._row(self._here, b.zext(vertex, p.type) if vertex.type != p.type else vertex)
            for k, slot in enumerate(slots):
                b.store(b.or_(b.load(slot), self._load(row, k)), slot)
        b.store(stop, at)
        b.cbranch(self._full(slots), over, ask)
        b.position_at_end(over)

    def emit(self) -> Any:
        """Emit the code; returns (arc after the last one read, whether the row is now full)."""
        b = self._builder
        slots = [emitting.stack_slot(b, _vector()) for _ in range(self._count)]
        at = emitting.filled_slot(b, self._begin)
        before = self._row(self._here, self._v)
        for k, slot in enumerate(slots):
            b.store(self._load(before, k), slot)
        self._gather(slots, at)
        out, changed = self._row(self._there, self._v), b.bitcast(self._changed, _vector().as_pointer())
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
    """words[there, v] = words[here, v] | words[here, u] for all u of ids[begin:end]; changed |= the new bits.

    arrays : (words uint64[:], ids, mask uint64[w], changed uint64[w]). vectors : number in a row, one of VECTORS.
    planes : (here, there), their begin in words. row : (v, begin, end). past : whether writes bypass the cache. Returns
    (arc after the last one read, whether v is full)."""
    signature = types.Tuple((types.intp, types.boolean))(
        arrays, types.intp, types.UniTuple(types.intp, 2), types.UniTuple(types.intp, 3), types.boolean)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = tuple(context.make_array(kind)(context, builder, builder.extract_value(args[0], i)).data
                     for i, kind in enumerate(sig.args[0]))
        here, there = (builder.extract_value(args[2], i) for i in (0, 1))
        past_bit = builder.trunc(args[4], ir.IntType(1))
        numbers = here, there, *(builder.extract_value(args[3], i) for i in range(3)), past_bit
        at, full = emitting.filled_slot(builder, numbers[3]), emitting.filled_slot(builder, ir.IntType(1)(0))
        for count in VECTORS:
            with builder.if_then(builder.icmp_signed("==", args[1], _word(count))):
                for value, slot in zip(_RowCode(builder, count, data, numbers).emit(), (at, full), strict=True):
                    builder.store(value, slot)
        result = [builder.load(at), context.cast(builder, builder.load(full), types.boolean, types.boolean)]
        return context.make_tuple(builder, sig.return_type, result)

    return signature, codegen


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


_walk_rows = row_walk(not_in_second, _pull_row, hits_to_second)


@kernel
def pull_wide(piece, layout, words, full, mask, total, here, past, changed):
    """Every row that is not full ORs the rows of its neighbours, of plane `here`, into the other plane.

    mask : uint64[w], all sources. total : uint64[w], gets the bits of sources that have reached a new vertex. past :
    whether writes bypass the cache. changed : uint64[w], zeros, of this thread. Returns arcs scanned."""
    arcs = _walk_rows(piece, layout, (words, full, mask, changed, (here, past)))
    for j in range(len(changed)):
        atomic_or(total, j, changed[j])
    _publish()
    return arcs


@kernel
def settle_wide(vertices, words, full, mask, total, here):
    """Finish the rows that span blocks after a pull, on one thread."""
    for i in range(len(vertices)):
        v = np.int64(vertices[i])
        whole = True
        for j in range(words.shape[2]):
            words[1 - here, v, j] |= words[here, v, j]
            total[j] |= words[1 - here, v, j] ^ words[here, v, j]
            whole &= words[1 - here, v, j] == mask[j]
        if whole:
            full[v >> 6] |= np.uint64(1) << np.uint64(v & 63)


WORD_BITS = 64


@inlined
def _grow(paging, offsets, seen, queue, head, tail):
    """Scan the rows of queue[head:tail]; returns (the new tail, arcs of the rows of new vertices)."""
    ids, slot_of, shift = paging
    end, arcs = tail, 0
    for i in range(head, tail):
        p, stop = row_span(offsets[0], offsets[1], offsets[2], np.int64(queue[i]))
        while p < stop:
            block = p >> shift
            base = (np.int64(slot_of[block]) - block) << shift
            last = min(stop, (block + 1) << shift)
            for q in range(base + p, base + last):
                u = np.int64(ids[q])
                bit = np.uint64(1) << np.uint64(u & 63)
                if not seen[u >> 6] & bit:
                    seen[u >> 6] |= bit
                    queue[end] = u
                    end += 1
                    arcs += row_length(offsets, u)
            p = last
    return end, arcs


@kernel
def fill_balls(turn, paging, offsets, sources, words, seen, queue, radii, over):
    """Search the first levels of each source. Threads share the sources, 64 at a time, by `turn`, int64[1]. All blocks
    are in memory.

    sources : int64[k]. words : uint64[n, w], zeros; bit b is set in the ball of source b. seen : uint64[ceil(n / 64)],
    zeros before and after. queue : id[...], of this thread. A ball grows while it reads fewer arcs than the queue has
    entries. radii : int64[k], the largest distance met. over : uint8[k], 1 if the ball is the whole component.
    Returns arcs scanned."""
    total, flat = 0, words.reshape(-1)
    while True:
        first = atomic_add(turn, 0, 1) * WORD_BITS
        if first >= len(sources):
            return total
        for s in range(first, min(first + WORD_BITS, len(sources))):
            queue[0] = sources[s]
            seen[sources[s] >> 6] |= np.uint64(1) << np.uint64(sources[s] & 63)
            head, tail, radius, scanned = 0, 1, 0, 0
            arcs = row_length(offsets, sources[s])
            while scanned + arcs < len(queue):
                scanned += arcs
                end, arcs = _grow(paging, offsets, seen, queue, head, tail)
                head, tail = tail, end
                if head == tail:
                    over[s] = 1
                    break
                radius += 1
            radii[s] = radius
            total += scanned
            for i in range(tail):
                prefetch(flat, np.int64(queue[min(i + AHEAD, tail - 1)]) * words.shape[1] + (s >> 6))
                u = np.int64(queue[i])
                seen[u >> 6] = 0
                words[u, s >> 6] |= np.uint64(1) << np.uint64(s & 63)


WIDTHS = tuple(WORD_BITS * LANES * vectors for vectors in VECTORS)
MOST_WIDE_BITS = WIDTHS[-1]
# The share of all arcs that the search of one ball reads: then it costs about the same as a source of a level of the
# batch (25 ns an arc of a ball, 0.014 an arc of a level and source, measured).
_BALL_SHARE, _LEAST_QUEUE, _MOST_QUEUE = 2048, 64, 1 << 16
# Larger planes are written past the cache.
_CACHE_BYTES = 32 << 20


def wide_bytes(n_vertices: int, bits: int, threads: int) -> int:
    """Bytes of the state of a wide batch of `bits` bits."""
    bitmap = (n_vertices + 63) // 64 * 8
    return 2 * n_vertices * bits // 8 + bitmap + threads * (bitmap + 8 * _MOST_QUEUE) + 4096


def wide_bits(k: int) -> int:
    """Bits of a batch of k sources."""
    return next(bits for bits in WIDTHS if k <= bits)


class WideRun:
    """A wide batch in slices: call `step` until it returns True, then `result`. core : of the engine. sources : at most
    MOST_WIDE_BITS vertices (repeats allowed)."""

    def __init__(self, core: Core, sources: np.ndarray) -> None:
        self._core, self._sources = core, checked_sources(core, sources, MOST_WIDE_BITS)
        n, k = core.table.n_vertices, len(sources)
        self._words = aligned_words(2, n, wide_bits(k) // WORD_BITS)
        self._mask, self._total = (aligned_words(self._words.shape[2]) for _ in range(2))
        self._mask[:] = np.packbits(np.arange(len(self._mask) * WORD_BITS) < k, bitorder="little").view(np.uint64)
        self._full = core.table.isolated.copy()
        self._radii, self._over = np.zeros(k, np.int64), np.zeros(k, np.uint8)
        self._spanning = spanning_rows(core)
        self._here, self._grown = 0, -1

    @property
    def level(self) -> int:
        """Largest distance reached so far."""
        return int(self._radii.max())

    def step(self, tick: Tick = no_tick) -> bool:
        """First the searches of single balls, then one level a step; True when finished."""
        if self._grown < 0:
            self._begin()
            self._grown = 0
            return bool(self._over.all())
        self._grown += 1
        self._pull(tick)
        reached = np.unpackbits(self._total.view(np.uint8), count=len(self._radii), bitorder="little")
        self._radii += reached
        self._here = 1 - self._here
        return not reached.any() or bool((self._full == np.uint64(0xFFFFFFFFFFFFFFFF)).all())

    def _begin(self) -> None:
        core, words = self._core, self._words[0]
        if not core.pager.everything_resident:
            place = np.arange(len(self._sources))
            np.bitwise_or.at(words, (self._sources, place >> 6), np.uint64(1) << (place & 63).astype(np.uint64))
            return
        entries = min(_MOST_QUEUE, max(_LEAST_QUEUE, core.table.n_arcs // _BALL_SHARE))
        turn = np.zeros(1, np.int64)

        def fill() -> int:
            seen, queue = np.zeros_like(self._full), np.empty(entries, core.work.queues.dtype)
            return int(fill_balls(turn, core.paging, core.offsets, self._sources, words, seen, queue, self._radii,
                                  self._over))

        core.counters.add(edges_scanned=sum(core.everywhere(fill)))

    def _pull(self, tick: Tick) -> None:
        core, full, words = self._core, self._full, self._words
        self._total[:] = 0
        past = words[0].nbytes > _CACHE_BYTES
        blocks = core.blocks_with(full, True)

        def pull(*arguments: Any) -> int:
            return int(pull_wide(*arguments, aligned_words(words.shape[2])))

        arcs = core.sweep(blocks, pull, words, full, self._mask, self._total, self._here, past, tick=tick)
        settle_wide(self._spanning, words, full, self._mask, self._total, self._here)
        core.count_sweep(len(blocks), arcs)

    def result(self) -> np.ndarray:
        """int32[k], the eccentricity of each source, after `step` has returned True."""
        self._core.counters.add(traversals=1)
        return self._radii.astype(np.int32)
