"""The first levels of a wide batch: the ball of each source by itself, while it is small.

The ball of one source of thousands has a few vertices in its first levels, and a pass over all rows would be for these
alone. So every source is searched with a queue of its own, as far as the arcs it looks at stay few, and its bit is set
in the rows of what it has met. Balls may have different radii: a level of the batch makes each larger by 1.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from ..stream.offsets import row_length, row_span
from .atomics import atomic_add, prefetch
from .wide_rows import AHEAD

WORD_BITS = 64


@inlined
def _grow(paging, offsets, seen, queue, head, tail):
    """Look at the rows of queue[head:tail]; (the new tail, arcs of the rows of what is new)."""
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
    """Threads share the sources, 64 at a time, by `turn`, int64[1]. All blocks are in memory.

    sources : int64[k]. words : uint64[n, w], zeros, get bit b where the ball of source b is. seen : uint64[ceil(n /
    64)], zeros before and after; queue : id[...], of this thread. A ball grows while it looks at fewer arcs than the
    queue has entries. radii : int64[k], the largest distance met. over : uint8[k], 1 where nothing else is to be met.
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
