"""The masks of a batch of sources on the vertices of one rank: the work of a level between exchanges.

As traverse/multi_dense.py, with the frontier in a compact form for messages: a bitmap and the masks of its vertices,
ascending. A mask has w words. Of arrays with the length of the graph, only the rank's rows and words are touched:
- words : unsigned[2, n + 1, w]. Plane SEEN: sources that have seen the vertex; plane NEXT: sources that reach it first
  in this level. Row n: the mask of all sources, and in plane NEXT the sources that reached any vertex.
- marks : uint64[3, ceil(n / 64)]. FULL: seen by every source; FRESH: plane NEXT is not zero; ACTIVE: in the frontier.
- index : position of the mask of a frontier vertex: the bitmap core.work.frontier, and uint32[ceil(n / 64)], number of
  its bits before each word. It covers this range on sparse levels, and all received masks on dense ones.
Bytes a vertex of the range: 3 b / 8 for b sources (seen, next, and at most the frontier) and 0.375 for marks; of other
ranges 3 / 16 on dense levels. Outgoing and incoming masks fit the given memory, in several steps if necessary; sparse
levels take 8 bytes for each arc that leaves the range, of at least one block.
Source: Then et al., PVLDB 2014 (MS-BFS).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..jit import inlined, kernel
from ..stream.offsets import row_length
from ..traverse.atomics import atomic_add, atomic_or, count_ones
from ..traverse.core import Core
from ..traverse.multi import words_for
from ..traverse.multi_dense import see
from ..traverse.rows import bit_walk, buffered_walk, row_walk
from ..traverse.workspace import set_bits
from .plan import virtual_zeros

if TYPE_CHECKING:
    from ..gpu.range_rows import RangeRows

SEEN, NEXT = 0, 1
FULL, FRESH, ACTIVE = 0, 1, 2
MARKS = 3
# Slots of `out` of commit_masks: vertices of the next frontier, arcs of their rows, (target, source) pairs met, arcs of
# rows that became FULL.
VERTICES, ROW_ARCS, MET, CLOSED = 0, 1, 2, 3
OUT = 4
_NO_BITS = np.empty(0, np.uint64)
_LEAST_SENT, _OFFER_BYTES = 4, 16


def row_bytes(bits: int) -> int:
    """Bytes of the mask of a vertex for `bits` sources."""
    dtype, words = words_for(bits)
    return np.dtype(dtype).itemsize * words


def range_bytes(n_vertices: int, bits: int) -> int:
    """Bytes of the state of a batch of `bits` sources on a range of n_vertices, without exchanges."""
    return 3 * n_vertices * row_bytes(bits) + MARKS * n_vertices // 8


class Masks:
    """The state of one batch on one rank.

    core : over the range's table. sources : int64[k], of the whole batch. targets : bitmap of all vertices, valid in
    this range, or of length 0. sinks : addresses of the distance columns, int64[k], and bytes of their items; 0 bytes
    without columns. room : bytes for outgoing masks.
    rows : this range on a device, which pulls, or None.
    masks : of the frontier, unsigned[k, w], ascending by vertex. row_arcs : arcs of its rows. open_arcs : arcs of the
    rows of this range that some source has not seen.
    """

    def __init__(
        self, core: Core, sources: np.ndarray, *, targets: np.ndarray = _NO_BITS,
        sinks: tuple[np.ndarray, int] = (_NO_BITS, 0), room: int = 1 << 20, rows: RangeRows | None = None,
    ) -> None:
        n, k = core.table.n_vertices, len(sources)
        self._core, self._span, self._rows = core, np.array(core.span, np.int64), rows
        self.range_words = slice((core.span[0] + 63) >> 6, (core.span[1] + 63) >> 6)
        self.dtype, self.width = words_for(k)
        self._targets, self._item_bytes = targets, sinks[1]
        self._sinks = np.zeros((2, k), np.int64)
        if sinks[1]:
            self._sinks[1] = sinks[0]
        self.words = virtual_zeros(2 * (n + 1) * self.width, self.dtype).reshape(2, n + 1, self.width)
        self.marks = virtual_zeros(MARKS * ((n + 63) // 64), np.uint64).reshape(MARKS, -1)
        self.marks[FULL, self.range_words] = core.table.isolated[self.range_words]
        self.index = core.work.frontier, virtual_zeros((n + 63) // 64, np.uint32)
        self._offer_limit = room // _OFFER_BYTES
        self._message_limit = max(_LEAST_SENT, room // (4 * (8 + row_bytes(k))))
        self._offers, self._pending = np.empty(0, np.int64), np.empty(0, np.int64)
        self._seed(sources)

    def _seed(self, sources: np.ndarray) -> None:
        bits = self.words.itemsize * 8
        place = np.arange(len(sources))
        value: np.ndarray = (np.uint64(1) << (place % bits).astype(np.uint64)).astype(self.dtype)
        np.bitwise_or.at(self.words[SEEN, -1], place // bits, value)
        here = np.flatnonzero((sources >= self._span[0]) & (sources < self._span[1]))
        np.bitwise_or.at(self.words[SEEN], (sources[here], place[here] // bits), value[here])
        seeds = np.unique(sources[here])
        self.masks = self.words[SEEN, seeds]
        set_bits(self.marks[ACTIVE], seeds, len(seeds))
        full = seeds[(self.masks == self.words[SEEN, -1]).all(axis=1)]
        set_bits(self.marks[FULL], full, len(full))
        begin, end = self._core.table.arcs_between(*self._core.span)
        self.open_arcs = end - begin - int(self._core.degrees(full).sum())
        self.row_arcs = int(self._core.degrees(seeds).sum())

    def put_index(self, first_word: int, words: np.ndarray, first_row: int) -> None:
        """Index `words`, the bitmap from first_word on: the masks of its set bits are rows first_row, ..."""
        span, ones = slice(first_word, first_word + len(words)), np.bitwise_count(words).astype(np.int64)
        self.index[0][span] = words
        self.index[1][span] = first_row + np.cumsum(ones) - ones

    # -- sparse: push masks to neighbours -------------------------------------------------------
    def begin_push(self) -> None:
        """Start to expand the frontier."""
        self.put_index(self.range_words.start, self.marks[ACTIVE, self.range_words], 0)
        self._pending, self.scanned = self._core.blocks_with(self.marks[ACTIVE]), 0

    def push(self) -> tuple[np.ndarray, np.ndarray, bool]:
        """Expand the frontier until a message is full or nothing remains: vertices of other ranges, ascending,
        int64[k], their masks [k, w], and whether something remains."""
        shift = len(self.masks).bit_length()
        if not len(self._offers):
            self._offers = self._sweep(shift)
        ids = self._offers >> shift
        starts = np.flatnonzero(np.diff(ids, prepend=-1))
        count = min(len(starts), self._message_limit)
        end = int(starts[count]) if count < len(starts) else len(ids)
        masks: np.ndarray = np.zeros((count, self.width), self.dtype)
        join_offers(self._offers[:end], shift, self.masks, masks)
        self._offers = self._offers[end:]
        return ids[starts[:count]], masks, bool(len(self._offers) or len(self._pending))

    def _sweep(self, shift: int) -> np.ndarray:
        """Push along the rows of the next blocks; return the offers to other ranges, int64[k] ascending, see
        push_masks."""
        core, offers, size = self._core, [np.empty(0, np.int64)], 0
        limits = np.array([*core.span, shift], np.int64)
        while len(self._pending) and size <= self._offer_limit:
            blocks = self._pending[: max(1, (self._offer_limit - size) >> core.table.shift)]
            self._pending = self._pending[len(blocks) :]
            self.scanned += core.gather(
                blocks, push_masks, self.words, self.marks, self.index, self.masks, limits,
                new_buffer=lambda: np.empty(1 << core.table.shift, np.int64), take=lambda some: offers.append(some))
            size = sum(len(some) for some in offers)
        joined = np.concatenate(offers)
        joined.sort()
        return joined

    def receive(self, vertices: np.ndarray, masks: np.ndarray) -> None:
        """Receive masks of another rank for vertices of this one."""
        receive_masks(vertices, masks, self.words, self.marks)

    # -- dense: pull masks from neighbours ------------------------------------------------------
    def pull(self, masks: np.ndarray) -> int:
        """Pull from (a part of) the frontier of all ranks, whose masks the index locates; see pull_masks. Returns the
        arcs scanned."""
        if self._rows is not None and self.dtype is np.uint64:
            every, (seen, new) = self.words[SEEN, -1], self.words[:, slice(*self._core.span)]
            arcs = self._rows.pull_masks(self.index, masks, every, seen, new)
            if arcs is not None:
                bits = np.packbits(new.any(axis=1), bitorder="little")
                self.marks[FRESH, self.range_words].view(np.uint8)[: len(bits)] |= bits
                return arcs
        blocks = self._core.blocks_with(self.marks[FULL], True)
        return self._core.sweep(blocks, pull_masks, self.words, self.marks, self.index, masks)

    # -- both -----------------------------------------------------------------------------------
    def end_level(self, distance: int) -> tuple[int, np.ndarray]:
        """Mark the vertices reached at this distance as seen, and make them the frontier: (target and source pairs met,
        mask of the sources that reached a vertex of this range, unsigned[w]). Updates row_arcs, open_arcs and masks."""
        out, about = np.zeros(OUT, np.int64), np.array([distance, self._item_bytes], np.int64)
        self.words[NEXT, -1] = 0
        self._core.over_words(lambda turn, grain, end: commit_masks(
            turn, grain, end, self._core.offsets, self.words, self.marks, self._targets, self._sinks, about, out))
        alive = self.words[NEXT, -1].copy()
        active, fresh = self.marks[ACTIVE, self.range_words], self.marks[FRESH, self.range_words]
        self.put_index(self.range_words.start, fresh, 0)
        self.masks = np.empty((int(out[VERTICES]), self.width), self.dtype)
        self._core.over_words(lambda turn, grain, end: take_masks(
            turn, grain, end, self.words, self.marks, self.index, self.masks))
        active[:] = fresh
        fresh[:] = 0
        self.row_arcs = int(out[ROW_ARCS])
        self.open_arcs -= int(out[CLOSED])
        return int(out[MET]), alive


@inlined
def _mask_row(index, u):
    """The row of the mask of vertex u, -1 if u is not in the frontier."""
    bits = index[0][u >> 6]
    bit = np.uint64(1) << np.uint64(u & 63)
    if not bits & bit:
        return np.int64(-1)
    return np.int64(index[1][u >> 6]) + count_ones(bits & (bit - np.uint64(1)))


@inlined
def _active(state, word):
    return state[1][ACTIVE, word]


@inlined
def _push_row(state, ids, v, begin, end, whole):
    words, marks, flat, index, masks, limits, offers, count = state
    n = words.shape[1] - 1
    w = words.shape[2]
    row = _mask_row(index, v)
    for p in range(begin, end):
        u = np.int64(ids[p])
        if u < limits[0] or u >= limits[1]:
            offers[count[0]] = (u << limits[2]) | row
            count[0] += 1
            continue
        hit = False
        for j in range(w):
            new = masks[row, j] & ~words[SEEN, u, j] & ~words[NEXT, u, j]
            if new:
                hit = True
                atomic_or(flat, (NEXT * (n + 1) + u) * w + j, new)
        if hit:
            atomic_or(marks[FRESH], u >> 6, np.uint64(1) << np.uint64(u & 63))
    return end - begin, False


_walk_push = buffered_walk(_active, _push_row)


@kernel
def push_masks(piece, layout, words, marks, index, masks, limits, offers, count):
    """OR the masks of the ACTIVE rows of the blocks into plane NEXT of neighbours in limits[0]..limits[1]-1.

    offers : int64[k], (vertex << limits[2]) + row of the mask, for other neighbours; count : see buffered_walk. Returns
    arcs scanned."""
    state = words, marks, words.reshape(-1), index, masks, limits, offers, count
    return _walk_push(piece, layout, state, len(offers), count)


@kernel
def join_offers(offers, shift, masks, out):
    """Set out[i] to the OR of the masks of the i-th distinct vertex of `offers` (ascending, see push_masks)."""
    at = np.int64(-1)
    for i in range(len(offers)):
        if i == 0 or offers[i] >> shift != offers[i - 1] >> shift:
            at += 1
        for j in range(out.shape[1]):
            out[at, j] |= masks[offers[i] & ((1 << shift) - 1), j]


@kernel
def receive_masks(vertices, masks, words, marks):
    """OR received masks into plane NEXT. vertices : int64[k]; masks : unsigned[k, w]."""
    for i in range(len(vertices)):
        u = vertices[i]
        hit = False
        for j in range(words.shape[2]):
            new = masks[i, j] & ~words[SEEN, u, j]
            hit |= new != 0
            words[NEXT, u, j] |= new
        if hit:
            marks[FRESH, u >> 6] |= np.uint64(1) << np.uint64(u & 63)


@inlined
def _not_full(state, word):
    return ~state[1][FULL, word]


@inlined
def _mark_fresh(state, word, hits):
    atomic_or(state[1][FRESH], word, hits)


@inlined
def _pull_row(state, ids, v, begin, end, whole):
    words, _, flat, index, masks, collected = state
    n = words.shape[1] - 1
    w = words.shape[2]
    for j in range(w):
        collected[j] = words[NEXT, v, j]
    hit = False
    stop = end
    for p in range(begin, end):
        row = _mask_row(index, np.int64(ids[p]))
        if row < 0:
            continue
        hit = True
        want = False
        for j in range(w):
            collected[j] |= masks[row, j]
            want |= (collected[j] | words[SEEN, v, j]) != words[SEEN, n, j]
        if not want:
            stop = p + 1
            break
    if not hit:
        return stop - begin, False
    hit = False
    for j in range(w):
        new = collected[j] & ~words[SEEN, v, j]
        hit |= new != 0
        if whole:
            words[NEXT, v, j] = new
        else:
            atomic_or(flat, (NEXT * (n + 1) + v) * w + j, new)
    return stop - begin, hit


_walk_pull = row_walk(_not_full, _pull_row, _mark_fresh)


@kernel
def pull_masks(piece, layout, words, marks, index, masks):
    """For every vertex of the blocks that some source has not seen, OR the masks of its neighbours in (a part of) the
    frontier into plane NEXT, until all sources have reached it. Returns the arcs scanned. Writes rows that span blocks
    atomically, since two threads may process pieces."""
    collected = np.zeros(words.shape[2], words.dtype)
    return _walk_pull(piece, layout, (words, marks, words.reshape(-1), index, masks, collected))


@inlined
def _fresh(state, word):
    return state[1][FRESH, word]


@inlined
def _commit(state, v, word, bit):
    words, marks, targets, sinks, about, offsets, alive, sums = state
    wanted = len(targets) > 0 and (targets[word] & bit) != 0
    full, met = see(words, NEXT, v, alive, sinks, about[0], about[1], wanted)
    degree = row_length(offsets, v)
    if wanted:
        sums[MET] += met
    if full:
        marks[FULL, word] |= bit
        sums[CLOSED] += degree
    return degree


@inlined
def _take(state, v, word, bit):
    words, _, index, masks = state
    at = _mask_row(index, v)
    for j in range(words.shape[2]):
        masks[at, j] = words[NEXT, v, j]
        words[NEXT, v, j] = 0
    return 0


_walk_commit, _walk_take = bit_walk(_fresh, _commit), bit_walk(_fresh, _take)


@kernel
def commit_masks(turn, grain, stop_word, offsets, words, marks, targets, sinks, about, out):
    """Add plane NEXT of the FRESH vertices below word stop_word to plane SEEN; threads share this pass.

    targets : bitmap or of length 0. sinks : int64[2, k], in row 1 the addresses of distance columns. about : int64[2],
    the distance and the bytes of a column's item (0: no columns). out : int64[OUT], added to."""
    n = words.shape[1] - 1
    w = words.shape[2]
    alive = np.zeros(w, words.dtype)
    sums = np.zeros(OUT, np.int64)
    sums[VERTICES], sums[ROW_ARCS] = _walk_commit(
        turn, grain, stop_word, (words, marks, targets, sinks, about, offsets, alive, sums))
    flat = words.reshape(-1)
    for j in range(w):
        atomic_or(flat, (NEXT * (n + 1) + n) * w + j, alive[j])
    for i in range(OUT):
        atomic_add(out, i, sums[i])


@kernel
def take_masks(turn, grain, stop_word, words, marks, index, masks):
    """Copy plane NEXT of the FRESH vertices to their rows of `masks`; threads share this pass."""
    _walk_take(turn, grain, stop_word, (words, marks, index, masks))
