"""Label growth: every vertex takes the smallest (distance, owner) that reaches it, block by block.

A label is one uint64, distance << 32 | owner; the largest uint64 means unreached. An arc (v, w)
offers w the label of v with a distance one larger; w keeps the smallest offer. The fixpoint is the
only one: distance = to the nearest seed, owner = the smallest owner among the seeds at that
distance (by induction over the distance). So cluster growing gives what round-synchronous rounds
with ties to the smallest master give, whatever blocks and threads do; with one seed it is BFS.

A pass takes the waiting vertices whose distance lies in a window [lowest, lowest + width) and reads
the blocks with their rows, each once. What is lowered during a pass is used at once when its row is
still to come in the same pass and lies in one block. Width 1 is round-synchronous growing (every
row is scanned once: the best in RAM); a wider window takes several rounds in one pass, which saves
reads and costs arcs scanned again (label-correcting, as in Delta-stepping).
Bytes a vertex: 8, beside the bitmaps of the workspace.
Sources: Meyer, On trade-offs in external-memory diameter-approximation (2008), rounds of cluster
growing; Meyer and Sanders, Delta-stepping (2003), windows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_start
from ..stream.pager import Tick
from .atomics import atomic_add, atomic_and, atomic_min, atomic_raise, count_trailing_zeros
from .core import Core
from .rows import range_mask

UNREACHED = np.uint64(0xFFFFFFFFFFFFFFFF)
OWNER_BITS = 32
LONGEST = (1 << 32) - 2
FOREVER = 1 << 62
# Measured on shuffled graphs of 2^22 vertices: 2 levels a pass cost no arcs and save a fifth of the
# reads; a pass that uses under 1/8 of what it reads is worth a wider window.
NARROWEST, WIDEST, THIN = 2, 64, 8
_STEP = np.uint64(1) << np.uint64(OWNER_BITS)


class LabelRun:
    """Label growth in slices: call `step` until it returns True.

    Parameters
    ----------
    core : the engine's core; frontier and before of its workspace are used.
    labels : uint64[n], lowered in place. waiting vertices : the set bits of core.work.before.
    width : of a window, in levels; FOREVER takes all that waits in every pass; 0 adapts it between
        NARROWEST and WIDEST to how much of what was read was used.

    passes : passes over blocks so far. blocks : that they looked at, in all. level : smallest distance
    that waits.
    """

    def __init__(self, core: Core, labels: np.ndarray, width: int) -> None:
        self._core, self._labels, self._width = core, labels, width or NARROWEST
        self._adapts = width == 0
        self.passes = self.blocks = self.level = 0

    def step(self, tick: Tick | None = None) -> bool:
        """One pass; True when nothing waits any more. Raises OverflowError beyond LONGEST."""
        core, work, table = self._core, self._core.work, self._core.table
        if core.at_rest is not None:
            core.at_rest(self)
        begin = time.thread_time()
        lowest = int(lowest_waiting(work.before, self._labels))
        if lowest == FOREVER:
            return True
        if lowest >= LONGEST:
            raise OverflowError(f"a distance of {lowest} does not fit a label")
        self.level = lowest
        limit = min(FOREVER, lowest + self._width)
        take_waiting(work.before, work.frontier, self._labels, limit)
        blocks = core.blocks_with(work.frontier)
        core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)

        def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
            arcs: int = grow_labels(chunks, position, turn, grain, ids, table.shift, table.first_vertex,
                                    *core.offsets, self._labels, work.frontier, work.before, limit)
            return arcs

        arcs = core.pager.sweep(blocks, run, tick) if len(blocks) else 0
        core.count_sweep(len(blocks), arcs)
        self.passes += 1
        self.blocks += len(blocks)
        if self._adapts:  # a thin frontier reads much for few arcs: more levels at once
            thin = arcs * THIN < len(blocks) << table.shift
            self._width = min(WIDEST, 2 * self._width) if thin else max(NARROWEST, self._width // 2)
        return False

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Scalars and arrays from which `restore` goes on, between two steps."""
        return ({"width": self._width, "passes": self.passes, "blocks": self.blocks, "level": self.level},
                {"labels": self._labels, "waiting": self._core.work.before})

    def restore(self, scalars: dict[str, Any], read: Callable[..., np.ndarray]) -> None:
        """Go on from what `state` gave. read(name, out) puts an array into `out`."""
        self._width, self.passes = scalars["width"], scalars["passes"]
        self.blocks, self.level = scalars["blocks"], scalars["level"]
        read("labels", self._labels)
        read("waiting", self._core.work.before)


@kernel
def lowest_waiting(waiting, labels):  # type: ignore[no-untyped-def]
    """Smallest distance of a waiting vertex, or FOREVER."""
    best = FOREVER
    for word in range(len(waiting)):
        bits = waiting[word]
        while bits:
            v = (word << 6) + count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            best = min(best, np.int64(labels[v] >> np.uint64(OWNER_BITS)))
    return best


@kernel
def take_waiting(waiting, taken, labels, limit):  # type: ignore[no-untyped-def]
    """Move the waiting vertices with a distance below `limit` to `taken` (overwritten)."""
    for word in range(len(waiting)):
        bits = waiting[word]
        kept = np.uint64(0)
        while bits:
            low = bits & (~bits + np.uint64(1))
            v = (word << 6) + count_trailing_zeros(bits)
            bits ^= low
            if np.int64(labels[v] >> np.uint64(OWNER_BITS)) >= limit:
                kept |= low
        taken[word] = waiting[word] & ~kept
        waiting[word] = kept


@kernel
def grow_labels(chunks, position, turn, grain, ids, shift, first_vertex, group, row, hub, labels, taken,
                waiting, limit):  # type: ignore[no-untyped-def]
    """Offer the labels of taken rows, and of waiting ones that lie in one block, along their arcs.

    Returns arcs scanned. A row's waiting bit is cleared before its label is read, and a label is
    lowered before the bit is set, so that no lowering is lost."""
    arcs = 0
    n_vertices = first_vertex[len(first_vertex) - 1]
    n_arcs = row_start(group, row, hub, n_vertices)
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= len(chunks):
            return arcs
        for k in range(begin, min(begin + grain, len(chunks))):
            low = chunks[k] << shift
            high = min(low + (1 << shift), n_arcs)
            base = position[k] - low
            first = first_vertex[chunks[k]]
            last = min(first_vertex[chunks[k] + 1], n_vertices - 1)
            for word in range(first >> 6, (last >> 6) + 1):
                mask = range_mask(word, first, last)
                bits = (taken[word] | waiting[word]) & mask
                while bits:
                    bit = bits & (~bits + np.uint64(1))
                    v = (word << 6) + count_trailing_zeros(bits)
                    # What is lowered from here on by this very block may wait further on in this word.
                    start = row_start(group, row, hub, v)
                    end = row_start(group, row, hub, v + 1)
                    whole = start >= low and end <= high
                    now = (taken[word] & bit) != 0
                    if whole and waiting[word] & bit:
                        if now or np.int64(labels[v] >> np.uint64(OWNER_BITS)) < limit:
                            atomic_and(waiting, word, ~bit)
                            now = True
                    if now:
                        offer = labels[v] + _STEP
                        start = max(start, low)
                        end = min(end, high)
                        arcs += max(end - start, 0)
                        for p in range(base + start, base + end):
                            w = np.int64(ids[p])
                            if offer < labels[w] and offer < atomic_min(labels, w, offer):
                                atomic_raise(waiting, w >> 6, np.uint64(1) << np.uint64(w & 63))
                    mask &= ~(bit | (bit - np.uint64(1)))
                    bits = (taken[word] | waiting[word]) & mask
