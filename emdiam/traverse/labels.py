"""Label growth: every vertex takes the smallest (distance, owner) that reaches it, block by block.

A label is one unsigned number, distance << bits | owner; the largest number means unreached. An arc
(v, w) offers w the label of v with the distance plus 1; w keeps the smallest offer. There is only one
fixpoint: distance = to the nearest seed, owner = the smallest owner among the seeds at that
distance (by induction over the distance). So cluster growing has the result of round-synchronous rounds
with ties to the smallest master, whatever the order of blocks and threads; with one seed it is BFS.

A pass takes the waiting vertices whose distance is in a window [lowest, lowest + width) and reads
the blocks with their rows, each once. A label lowered during a pass is used at once if its row is
still to come in the same pass and is in one block. Width 1 is round-synchronous growing (every
row is scanned once: the best in RAM). A wider window does several rounds in one pass, which saves
reads at the cost of arcs scanned again (label-correcting, as in Delta-stepping).
Bytes a vertex: 4 or 8, beside the bitmaps of the workspace.
Sources: Meyer, On trade-offs in external-memory diameter-approximation (2008), rounds of cluster
growing; Meyer and Sanders, Delta-stepping (2003), windows.

A label has 4 bytes as long as distance and owner fit, then 8 bytes. In a word of 4 bytes an owner, or group, has only
the bits that it needs, so that distances have the rest; in a word of 8 it has 32. A vector of narrow labels is the
front of the memory of a wide one, the rest of which the system has not yet provided. It is widened in place from its
end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from .atomics import atomic_and, atomic_min, atomic_raise, count_trailing_zeros
from .core import Core
from .rows import buffered_walk, has_bit, lowest_bit

WIDE_BITS = 32
NARROW, WIDE = np.dtype(np.uint32), np.dtype(np.uint64)
_LABELS = "labels of clusters"


def longest_of(dtype: np.dtype[Any], bits: int) -> int:
    """The largest distance beside `bits` bits of a group; the next one is part of "unreached"."""
    return int((1 << 8 * dtype.itemsize - bits) - 2)


def bits_of(n_groups: int) -> int:
    """Bits of the numbers of n_groups groups; the number with all bits set is part of "unreached"."""
    return max(1, n_groups.bit_length())


class LabelVector:
    """Labels of n vertices. The memory that wide labels take beyond narrow ones is from the reserve of `core`.

    memory : uint64[n], of wide labels. values : uint32[n] or uint64[n], of the labels in their current form. bits : of
    a group.
    """

    def __init__(self, core: Core, memory: np.ndarray) -> None:
        self._core, self._memory, self.values, self.bits = core, memory, memory, WIDE_BITS

    @classmethod
    def narrow(cls, core: Core, bits: int) -> LabelVector:
        """Narrow labels with groups of `bits` bits; their values are undefined."""
        vector = cls(core, np.empty(core.table.n_vertices, WIDE))
        vector.values, vector.bits = vector._memory.view(NARROW)[: len(vector._memory)], bits
        core.hold(_LABELS, 0)
        return vector

    @classmethod
    def unreached(cls, core: Core, n_groups: int | None) -> LabelVector:
        """Labels with room for n_groups groups (None: wide ones), all unreached."""
        vector = cls.narrow(core, 0)
        vector.adopt(*((WIDE, WIDE_BITS) if n_groups is None else vector._least(n_groups, 0)))
        vector.values.fill(np.iinfo(vector.values.dtype).max)
        return vector

    @property
    def longest(self) -> int:
        """The largest distance that fits."""
        return longest_of(self.values.dtype, self.bits)

    @property
    def is_wide(self) -> bool:
        """Whether a label has 8 bytes."""
        return self.values.dtype == WIDE

    def _least(self, n_groups: int, distance: int) -> tuple[np.dtype[Any], int]:
        """The least (dtype, bits) with room for n_groups groups, for this distance, and for the next one."""
        bits = bits_of(n_groups)
        narrow = not self.is_wide and bits < WIDE_BITS and distance < longest_of(NARROW, bits)
        return (NARROW, bits) if narrow else (WIDE, WIDE_BITS)

    def adopt(self, dtype: np.dtype[Any], bits: int) -> None:
        """Change to labels of this form; their values are undefined. Raises MoreMemoryError."""
        if dtype == WIDE and not self.is_wide:
            self._core.hold(_LABELS, len(self._memory) * (WIDE.itemsize - NARROW.itemsize))
            self.values = self._memory
        self.bits = bits

    def widen(self) -> None:
        """Change to labels of 8 bytes. Raises MoreMemoryError."""
        narrow, bits = self.values, self.bits
        self.adopt(WIDE, WIDE_BITS)
        widen_labels(narrow, bits, self.values)

    def make_room(self, n_groups: int, distance: int) -> None:
        """Make room for n_groups groups and this distance, if needed. Raises MoreMemoryError."""
        dtype, bits = self._least(n_groups, distance)
        if dtype == WIDE and not self.is_wide:
            self.widen()
        elif bits > self.bits:
            repack_labels(self.values, self.bits, bits)
            self.bits = bits

    def begin_again(self, n_groups: int, distance: int) -> int:
        """Make room for n_groups groups and this distance in labels that will be made from the present ones; returns
        the bits of a group in the present ones. Raises MoreMemoryError."""
        dtype, bits = self._least(n_groups, distance)
        if dtype == WIDE and not self.is_wide:
            self.widen()
        before, self.bits = self.bits, bits
        return before

    def release(self) -> None:
        """Free the labels."""
        self._memory = self.values = np.empty(0, WIDE)
        self._core.hold(_LABELS, 0)


@kernel
def widen_labels(narrow, bits, wide):
    """wide[v] = the label narrow[v] with a group of `bits` bits; narrow is the front of the same memory."""
    shift = np.uint64(bits)
    unreached = np.iinfo(narrow.dtype).max
    for i in range(len(narrow)):
        v = len(narrow) - 1 - i
        label = np.uint64(narrow[v])
        if narrow[v] == unreached:
            wide[v] = np.iinfo(wide.dtype).max
        else:
            wide[v] = (label >> shift << np.uint64(WIDE_BITS)) | (label & ((np.uint64(1) << shift) - np.uint64(1)))


@kernel
def repack_labels(labels, bits, new_bits):
    """Change groups of `bits` bits to new_bits bits in place."""
    shift, new_shift = np.uint64(bits), np.uint64(new_bits)
    unreached = np.iinfo(labels.dtype).max
    for v in range(len(labels)):
        if labels[v] != unreached:
            label = np.uint64(labels[v])
            labels[v] = (label >> shift << new_shift) | (label & ((np.uint64(1) << shift) - np.uint64(1)))


UNREACHED = np.uint64(0xFFFFFFFFFFFFFFFF)
LONGEST = (1 << 32) - 2  # of a label of 8 bytes
FOREVER = 1 << 62
# Measured on shuffled graphs of 2^22 vertices: 2 levels a pass cost no additional arcs and save a fifth of the
# reads; after a pass that uses less than 1/8 of what it reads, a wider window pays.
NARROWEST, WIDEST, THIN = 2, 64, 8
# Number of slots in which offers to vertices of other ranks are combined before they are listed.
SLOTS = 1 << 10
_NO_OFFERS = np.empty((0, 2), np.uint64)


class LabelRun:
    """Label growth in slices: call `step` until it returns True.

    Parameters
    ----------
    core : the engine's core; uses frontier and before of its workspace.
    labels : lowered in place, and widened if a distance needs it. Waiting vertices are the set bits of
        core.work.before.
    width : of a window, in levels; FOREVER takes all waiting vertices in every pass; 0 adapts it between
        NARROWEST and WIDEST to the share of the ids read that was used.

    passes : passes over blocks so far. blocks : number of blocks read in these. level : smallest distance
    that waits.
    """

    def __init__(self, core: Core, labels: LabelVector, width: int) -> None:
        self._core, self._labels, self._width = core, labels, width or NARROWEST
        self._adapts = width == 0
        self.passes = self.blocks = self.level = 0

    def step(self, tick: Tick = no_tick) -> bool:
        """Do one pass; True when no vertex waits. Raises OverflowError beyond LONGEST, MoreMemoryError if labels must
        be wider."""
        core, work, labels = self._core, self._core.work, self._labels
        if core.at_rest is not None:
            core.at_rest(self)
        begin = time.thread_time()
        lowest = int(lowest_waiting(work.before, labels.values, labels.bits))
        if lowest == FOREVER:
            return True
        if lowest >= labels.longest:
            if labels.is_wide:
                raise OverflowError(f"a distance of {lowest} does not fit a label")
            labels.widen()
        self.level = lowest
        limit = min(labels.longest, lowest + self._width)
        take_waiting(work.before, work.frontier, labels.values, labels.bits, limit)
        blocks = core.blocks_with(work.frontier)
        core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)

        words, bounds = (work.frontier, work.before, work.before[:0]), np.array([*core.span, limit, labels.bits])
        arcs = core.gather(blocks, grow_labels, labels.values, words, bounds, new_buffer=lambda: _NO_OFFERS,
                           take=lambda offers: None, tick=tick)
        core.count_sweep(len(blocks), arcs)
        self.passes += 1
        self.blocks += len(blocks)
        if self._adapts:  # a thin frontier reads much for few arcs: more levels at once
            thin = arcs * THIN < len(blocks) << core.table.shift
            self._width = min(WIDEST, 2 * self._width) if thin else max(NARROWEST, self._width // 2)
        return False

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Scalars and arrays for `restore`, between two steps."""
        return ({"width": self._width, "passes": self.passes, "blocks": self.blocks, "level": self.level,
                 "dtype": self._labels.values.dtype.str, "bits": self._labels.bits},
                {"labels": self._labels.values, "waiting": self._core.work.before})

    def restore(self, scalars: dict[str, Any], read: Callable[..., np.ndarray]) -> None:
        """Continue from the result of `state`. read(name, out) puts an array into `out`."""
        self._width, self.passes = scalars["width"], scalars["passes"]
        self.blocks, self.level = scalars["blocks"], scalars["level"]
        self._labels.adopt(np.dtype(scalars["dtype"]), scalars["bits"])
        read("labels", self._labels.values)
        read("waiting", self._core.work.before)


@kernel
def lowest_waiting(waiting, labels, owner_bits):
    """Smallest distance of a waiting vertex, or FOREVER."""
    best = FOREVER
    for word in range(len(waiting)):
        bits = waiting[word]
        while bits:
            v = (word << 6) + count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            best = min(best, np.int64(np.uint64(labels[v]) >> np.uint64(owner_bits)))
    return best


@kernel
def take_waiting(waiting, taken, labels, owner_bits, limit):
    """Move the waiting vertices with a distance below `limit` to `taken` (overwritten)."""
    for word in range(len(waiting)):
        bits = waiting[word]
        kept = np.uint64(0)
        while bits:
            low = lowest_bit(bits)
            v = (word << 6) + count_trailing_zeros(bits)
            bits ^= low
            if np.int64(np.uint64(labels[v]) >> np.uint64(owner_bits)) >= limit:
                kept |= low
        taken[word] = waiting[word] & ~kept
        waiting[word] = kept


@inlined
def _taken_or_waiting(state, word):
    return state[0][word] | state[1][word]


@inlined
def _offer_along_row(state, ids, v, begin, end, whole):
    taken, waiting, settled, labels, bounds, slots, offers, count = state
    first, stop, owner_bits = bounds[0], bounds[1], np.uint64(bounds[3])
    bit = np.uint64(1) << np.uint64(v & 63)
    now = (taken[v >> 6] & bit) != 0
    if whole and waiting[v >> 6] & bit:
        if now or np.int64(np.uint64(labels[v]) >> owner_bits) < bounds[2]:
            atomic_and(waiting, v >> 6, ~bit)
            now = True
    if not now:
        return 0, False
    offer = labels.dtype.type(labels[v] + (np.uint64(1) << owner_bits))
    for p in range(begin, end):
        w = np.int64(ids[p])
        if w < first or w >= stop:
            if not has_bit(settled, w):
                _list_offer(slots, offers, count, w, offer)
        elif offer < labels[w] and offer < atomic_min(labels, w, offer):
            atomic_raise(waiting, w >> 6, np.uint64(1) << np.uint64(w & 63))
    return end - begin, False


@inlined
def _list_offer(slots, offers, count, w, offer):
    """List an offer to a vertex of another rank, or lower the one in its slot."""
    i = w & (SLOTS - 1)
    if slots[i, 0] == np.uint64(w):
        slots[i, 1] = min(slots[i, 1], offer)
        return
    if slots[i, 0] != UNREACHED:
        offers[count[0], 0] = slots[i, 0]
        offers[count[0], 1] = slots[i, 1]
        count[0] += 1
    slots[i, 0] = w
    slots[i, 1] = offer


_walk_offering = buffered_walk(_taken_or_waiting, _offer_along_row, again=True)


@kernel
def grow_labels(piece, layout, labels, words, bounds, offers, count):
    """Offer the labels of taken rows, and of waiting ones that are in one block, along their arcs.

    words : (taken, waiting, settled), bitmaps; settled vertices of other ranks get no offers. bounds : int64[4], first
    and end of the span, end of the window, bits of an owner. offers : uint64[k, 2], (vertex of another rank, label), of
    length 0 if the span is the whole graph, else SLOTS longer than a block. count : see buffered_walk.
    Returns arcs scanned. A row's waiting bit is cleared before its label is read, and a label is lowered before the bit
    is set, so that no lowering is lost. A vertex lowered in a block may be processed later in the same word of it."""
    taken, waiting, settled = words
    slots = np.full((SLOTS if len(offers) else 0, 2), UNREACHED, np.uint64)
    state = taken, waiting, settled, labels, bounds, slots, offers, count
    arcs = _walk_offering(piece, layout, state, len(offers) - SLOTS if len(offers) else -1, count)
    for i in range(len(slots)):
        if slots[i, 0] != UNREACHED:
            offers[count[0], 0] = slots[i, 0]
            offers[count[0], 1] = slots[i, 1]
            count[0] += 1
    return arcs


@kernel
def take_offers(ids, offers, labels, waiting):
    """Lower labels[ids[i]] to offers[i] (int64[k], uint64[k]) if that is smaller; these vertices then wait."""
    for i in range(len(ids)):
        w = ids[i]
        if offers[i] < labels[w]:
            labels[w] = offers[i]
            waiting[w >> 6] |= np.uint64(1) << np.uint64(w & 63)
