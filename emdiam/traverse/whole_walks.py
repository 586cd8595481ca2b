"""The walks of bfs_whole.py over the rows of one level: top-down over a queue or a bitmap, by one thread or by all, and
bottom-up. Row v is ids[starts[v] : starts[v + 1]]."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import inlined
from ..stream.offsets import FULL
from .atomics import atomic_or, count_ones, count_trailing_zeros, prefetch
from .shared_levels import hand_over

_AHEAD = 4
_LONG = 8  # arcs read of a row after which the processor's own prefetching is of no use for the next row


@inlined
def _length(rows, v):
    """Arcs of vertex v."""
    _, starts, degrees = rows
    length = np.int64(degrees[v])
    if length == FULL:
        length = np.int64(starts[v + 1]) - np.int64(starts[v])
    return length


@inlined
def _mark(bitmap, w, bit):
    """Set the bit; True, since no other thread sets it."""
    bitmap[w >> 6] |= bit
    return True


@inlined
def _mark_shared(bitmap, w, bit):
    """Set the bit; returns whether this thread was the first to set it."""
    return not atomic_or(bitmap, w >> 6, bit) & bit


@inlined
def _queue(target, count, w, bit):
    if count < len(target):
        target[count] = w
    return count + 1


@inlined
def _queue_shared(target, count, w, bit):
    buffer, following, shared = target
    buffer[count] = w
    count += 1
    if count == len(buffer):
        hand_over(buffer, count, following, shared)
        count = 0
    return count


@inlined
def _set_bit(target, count, w, bit):
    target[w >> 6] |= bit
    return count + 1


@inlined
def _set_bit_shared(target, count, w, bit):
    atomic_or(target, w >> 6, bit)
    return count + 1


def _visitor(mark: Any, put: Any) -> Any:
    """visit(rows, found, level, p, end, target, count) reaches the heads of arcs p..end-1. It returns the new count of
    entries in the target and the number of arcs in the rows of new vertices."""
    @inlined
    def visit(rows, found, level, p, end, target, count):
        ids = rows[0]
        visited, dist = found
        arcs = 0
        for q in range(p, end):
            w = np.int64(ids[q])
            bit = np.uint64(1) << np.uint64(w & 63)
            if not visited[w >> 6] & bit and mark(visited, w, bit):
                if len(dist):
                    dist[w] = level
                arcs += _length(rows, w)
                count = put(target, count, w, bit)
        return count, arcs

    return visit


def _over_queue(visit: Any) -> Any:
    """expand(rows, found, level, current, part, target, count): top-down from current[part[0] : part[1]], if the target
    has `count` entries. It returns the number of entries in the target, of arcs of new vertices, and of arcs read."""
    @inlined
    def expand(rows, found, level, current, part, target, count):
        ids, starts, _ = rows
        arcs = scanned = 0
        v = np.int64(current[part[0]])
        p, end = np.int64(starts[v]), np.int64(starts[v + 1])
        for i in range(part[0], part[1]):
            begin, stop = p, end
            # Rows are scattered: prefetch for the next ones while this one is visited.
            if i + 1 < part[1]:
                v = np.int64(current[i + 1])
                p, end = np.int64(starts[v]), np.int64(starts[v + 1])
                prefetch(ids, p)
                prefetch(starts, np.int64(current[min(i + _AHEAD, part[1] - 1)]))
            count, more = visit(rows, found, level, begin, stop, target, count)
            arcs += more
            scanned += stop - begin
        return count, arcs, scanned

    return expand


def _over_words(visit: Any) -> Any:
    """The same from the vertices of the words current[part[0] : part[1]] of a bitmap."""
    @inlined
    def expand(rows, found, level, current, part, target):
        ids, starts, _ = rows
        count = arcs = scanned = p = end = 0
        for word in range(part[0], part[1]):
            bits = current[word]
            while bits:
                v = (word << 6) + count_trailing_zeros(bits)
                bits &= bits - np.uint64(1)
                begin, stop = p, end
                p, end = np.int64(starts[v]), np.int64(starts[v + 1])
                prefetch(ids, p)
                count, more = visit(rows, found, level, begin, stop, target, count)
                arcs += more
                scanned += stop - begin
        count, more = visit(rows, found, level, p, end, target, count)
        return count, arcs + more, scanned + end - p

    return expand


@inlined
def climb(rows, found, level, current, part, target):
    """Bottom-up over words part[0]..part[1]-1, to which no other thread writes. Returns new vertices, arcs of their
    rows, arcs read."""
    ids, starts, _ = rows
    visited, dist = found
    count = arcs = scanned = read = 0
    for word in range(part[0], part[1]):
        new, rest = np.uint64(0), ~visited[word]
        while rest:
            bit = rest & (np.uint64(0) - rest)
            v = (word << 6) + count_trailing_zeros(rest)
            rest ^= bit
            if read > _LONG and rest:
                prefetch(ids, np.int64(starts[(word << 6) + count_trailing_zeros(rest)]))
            begin, end = np.int64(starts[v]), np.int64(starts[v + 1])
            p = begin
            while p < end:
                w = np.int64(ids[p])
                p += 1
                if current[w >> 6] >> np.uint64(w & 63) & np.uint64(1):
                    new |= bit
                    arcs += end - begin
                    if len(dist):
                        dist[v] = level
                    break
            read = p - begin
            scanned += read
        count += count_ones(new)
        visited[word] |= new
        target[word] = new
    return count, arcs, scanned


@inlined
def list_heads(rows, found, level, current, n_rows, target):
    """Top-down from current[:n_rows], as long as `target` has room for all heads of the next row, without a branch for
    an arc: it cannot be predicted which arc is the first to meet a vertex. Returns as `expand`, and the rows done."""
    ids, starts, _ = rows
    visited, dist = found
    count = arcs = scanned = row = 0
    v = np.int64(current[0])
    p, end = np.int64(starts[v]), np.int64(starts[v + 1])
    while row < n_rows and count + end - p <= len(target):
        begin, stop = p, end
        row += 1
        if row < n_rows:
            v = np.int64(current[row])
            p, end = np.int64(starts[v]), np.int64(starts[v + 1])
            prefetch(ids, p)
        for q in range(begin, stop):
            w = np.int64(ids[q])
            word, place = visited[w >> 6], np.uint64(w & 63)
            target[count] = w
            count += np.int64(~word >> place & np.uint64(1))
            visited[w >> 6] = word | np.uint64(1) << place
        scanned += stop - begin
    for i in range(count):
        w = np.int64(target[i])
        if len(dist):
            dist[w] = level
        begin = np.int64(starts[w])
        arcs += np.int64(starts[w + 1]) - begin
        prefetch(ids, begin)
    return count, arcs, scanned, row


walk_queue, walk_words = _over_queue(_visitor(_mark, _queue)), _over_words(_visitor(_mark, _set_bit))
walk_queue_shared = _over_queue(_visitor(_mark_shared, _queue_shared))
walk_words_shared = _over_words(_visitor(_mark_shared, _set_bit_shared))
