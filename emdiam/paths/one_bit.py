"""Shortest paths with the arcs on disk and one bit a vertex in RAM: what is settled.

Dijkstra's algorithm with a queue that forgets nothing. An arc from a settled vertex puts (label, head) into the queue
unless the bit of the head is set; the smallest entry settles its vertex, or is dropped where the bit is set already. So
no label is looked up, and the distances that the caller gets are written once and never read. The queue has a heap in
RAM; when that is full, its larger half, in order, becomes a run in a scratch file. A page of the run with the
smallest first label comes back before the heap gives an entry beyond that label.

Entries less than the least weight beyond the smallest are all final. They are settled together, and their rows relaxed
by the blocks: first in those that the arena has, then in others as they are read, in threads. Vertices that are settled
one after another should have their rows near each other, so the order cluster (conversion/order_cluster.py) comes
first. Meyer and Osipov too keep the rows of clusters together, and hold those of a cluster in hot pools from when its
first vertex is settled to the last; the arena holds blocks, by when they were used last, and is no hot pool.

Entries are at most m, one for each arc whose head is not settled. Work: m log(room). I/O: 16 bytes an entry that does
not fit, written once or more and read as often; for every group the blocks with its rows that are not there. Bytes: 1/8
a vertex, 72 an entry of the room (16 for the heap, 6 for what is relaxed, the rest while a run is made), which takes a
quarter of the arena at most; 8 a page on disk.
Source: Meyer, Osipov, Design and implementation of a practical I/O-efficient shortest paths algorithm (2009); Ajwani,
Beckmann, Meyer, Veith (2012), section 3 (SE SSSP); Sanders, Fast priority queues for cached memory (2000), for runs.
"""

from __future__ import annotations

import heapq
from typing import ClassVar, cast

import numpy as np

from ..jit import inlined, kernel
from ..sorting.scratch import Scratch, ScratchFile
from ..stream.offsets import row_span
from .blocks import ArcBlocks
from .paths import SearchOptions
from .relaxing import ONE, ONES, longer
from .semi_external import SemiExternalPaths

# Why settle_in_order comes back: the smallest entry may be in a run, blocks are not there, the heap is full, or so many
# arcs were relaxed.
_LOW, _MISSING, _FULL, _SLICE = range(4)
_SLICE_ARCS = 1 << 22
_ENTRY_BYTES, _MOST_ENTRIES = 72, 1 << 20


class Queue:
    """Entries (label, vertex). keys, vertices : uint64[room], int64[room], a heap of the first `size`. bound : nothing
    in a run is smaller. page : entries that come back at a time. n_runs : that were written."""

    page: ClassVar[int] = 1 << 9

    def __init__(self, scratch: Scratch, room: int) -> None:
        room = max(room, 4 * self.page)
        self.keys, self.vertices, self.size = np.empty(room, np.uint64), np.empty(room, np.int64), 0
        self.n_runs, self._scratch, self._file = 0, scratch, cast("ScratchFile | None", None)
        self._heads: list[tuple[int, int, int, np.ndarray]] = []  # (first label, place, page, first labels of pages)

    @property
    def bound(self) -> np.uint64:
        """See above; all ones where no run is left."""
        return np.uint64(self._heads[0][0]) if self._heads else ONES

    def spill(self, settled: np.ndarray) -> None:
        """Write the larger half of the heap, without what is settled."""
        order = np.argsort(self.keys[: self.size], kind="stable")
        self.keys[: self.size], self.vertices[: self.size] = self.keys[order], self.vertices[order]
        self.size, end = self.size // 2, self.size
        self.write(self.keys[self.size : end], self.vertices[self.size : end], settled)

    def write(self, keys: np.ndarray, vertices: np.ndarray, settled: np.ndarray) -> None:
        """Make a run of entries in order, without what is settled."""
        waits = np.flatnonzero(settled[vertices >> 6] >> (vertices & 63).astype(np.uint64) & ONE == 0)
        if not len(waits):
            return
        rows = np.column_stack((keys[waits], vertices[waits].view(np.uint64)))
        if self._file is None:
            self._file = self._scratch.file()
        first = rows[:: self.page, 0].copy()
        heapq.heappush(self._heads, (int(first[0]), self._file.append(rows), len(rows), first))
        self.n_runs += 1

    def fill(self) -> None:
        """Put the page with the smallest label into the heap, which has room for it."""
        assert self._file is not None
        _, place, left, first = heapq.heappop(self._heads)
        rows = np.empty((min(left, self.page), 2), np.uint64)
        self._file.read_array(place, rows)
        self.size = put_rows(rows, self.keys, self.vertices, self.size)
        if left > len(rows):
            heapq.heappush(self._heads, (int(first[1]), place + rows.nbytes, left - len(rows), first[1:]))

    def close(self) -> None:
        """Remove the runs."""
        if self._file is not None:
            self._file.close()


class OneBitPaths(SemiExternalPaths):
    """See SemiExternalPaths. options : with `queue`, where runs go. runs : of the queue, that were written so far."""

    def __init__(self, arcs: ArcBlocks, arena_bytes: int, options: SearchOptions) -> None:
        assert options.queue is not None
        self._scratch, self.runs = options.queue, 0
        least = min(2, arcs.n_blocks) * arcs.arc_bytes * arcs.block_arcs
        spare = max(0, min(arena_bytes // 4, arena_bytes - least))
        self._room = min(_MOST_ENTRIES, spare // _ENTRY_BYTES)
        super().__init__(arcs, arena_bytes - spare, options)
        self._batch = max(1, len(self._free) // 2)

    def settle(self, labels: np.ndarray, seeds: np.ndarray) -> None:
        """See SemiExternalPaths. Labels of 32 bits that a distance does not fit get the largest below all ones."""
        self.counters.searches += 1
        if not self._arcs.n_blocks:
            return
        settled = np.zeros(-(-len(labels) // 64), np.uint64)
        queue = Queue(self._scratch, self._room)
        for some in np.array_split(seeds, -(-len(seeds) // len(queue.keys)) or 1):  # in no more memory than a spill
            queue.write(np.zeros(len(some), np.uint64), some, settled)
        rows = np.empty((2, len(queue.keys) // 4), np.int64), np.empty(len(queue.keys) // 4, np.uint64)
        limits = np.array([0, int(np.iinfo(labels.dtype).max) - 1, 0], np.uint64)
        least = np.array([self._arcs.least_weight], self._arcs.distance_dtype)
        state = np.zeros(4, np.int64)
        try:
            while True:
                limits[0], state[1] = queue.bound, queue.size
                why = settle_in_order(self.arena, self._slots, self._used, self._arcs.block_arcs, least, queue.keys,
                                      queue.vertices, rows, settled, labels, limits, state, _SLICE_ARCS,
                                      self.counters.rounds)
                queue.size = int(state[1])
                self._tick()
                if why == _MISSING:
                    self._bring(rows[0][0, : state[2]] // self._arcs.block_arcs)
                elif why == _FULL or (why == _LOW and queue.size + queue.page > len(queue.keys)):
                    queue.spill(settled)
                elif why == _LOW and queue.bound == ONES:
                    break
                elif why == _LOW:
                    queue.fill()
        finally:
            self.counters.arcs_scanned += int(state[0])
            self.runs += queue.n_runs
            queue.close()

    def _bring(self, blocks: np.ndarray) -> None:
        """Read blocks that are not there, the first ones, as many as half of the arena holds."""
        lowest_of = np.full(self._arcs.n_blocks, ONES)  # as labels that wait
        lowest_of[blocks] = 0
        self._next_blocks(lowest_of, 1)
        self._arrive()


@kernel
def put_rows(rows, keys, vertices, size):
    """Put rows (label, vertex) into the heap of `size` entries; how many it has then."""
    for i in range(len(rows)):
        push_entry(keys, vertices, size, rows[i, 0], np.int64(rows[i, 1]))
        size += 1
    return size


@inlined
def push_entry(keys, vertices, size, key, v):
    """Put an entry into a heap of `size`."""
    at = size
    while at:
        above = (at - 1) >> 1
        if keys[above] <= key:
            break
        keys[at] = keys[above]
        vertices[at] = vertices[above]
        at = above
    keys[at] = key
    vertices[at] = v


@inlined
def drop_first(keys, vertices, size):
    """Take the first entry of a heap out, which has `size` then."""
    key = keys[size]
    v = vertices[size]
    at = np.int64(0)
    below = np.int64(1)
    while below < size:
        below += below + 1 < size and keys[below + 1] < keys[below]
        if key <= keys[below]:
            break
        keys[at] = keys[below]
        vertices[at] = vertices[below]
        at = below
        below = 2 * at + 1
    keys[at] = key
    vertices[at] = v


@kernel
def settle_in_order(arena, slots, used, block_arcs, least, keys, vertices, rows, settled, labels, limits, state, most,
                    now):
    """Settle vertices by their labels, write those, and relax their rows; why it comes back, at the latest after `most`
    arcs.

    least : the least weight, [1]. rows : those that are relaxed, int64[2, k], next arc and end,
    and uint64[k], labels. limits : uint64[3], what no run is below, the largest label that fits, the end of a group.
    state : int64[4], arcs relaxed, entries of the heap, rows, and whether a group is being added to them. used : of
    blocks, `now` of those that are."""
    stop = state[0] + most
    while True:
        if state[3]:
            settle_group(arena, keys, vertices, rows, settled, labels, limits, state)
            if state[2] < len(rows[1]) and limits[0] < limits[2]:
                return _LOW
            state[3] = 0
        if not relax_rows(arena, slots, used, block_arcs, keys, vertices, rows, settled, state, now):
            return _FULL
        if state[2]:
            return _MISSING
        if state[0] >= stop:
            return _SLICE
        if state[1] == 0 or keys[0] > limits[0]:
            return _LOW
        limits[2] = max(longer(keys[0], least[0]), keys[0] + ONE)
        state[3] = 1


@inlined
def settle_group(arena, keys, vertices, rows, settled, labels, limits, state):
    """Settle the vertices of entries below the end of the group, and add their rows, as far as there is room."""
    while state[1] and keys[0] < limits[2] and keys[0] <= limits[0] and state[2] < len(rows[1]):
        label = keys[0]
        v = vertices[0]
        state[1] -= 1
        drop_first(keys, vertices, state[1])
        bit = ONE << np.uint64(v & 63)
        if settled[v >> 6] & bit == 0:
            settled[v >> 6] |= bit
            labels[v] = min(label, limits[1])
            begin, end = row_span(arena[2], arena[3], arena[4], v)
            if begin < end:
                rows[0][0, state[2]] = begin
                rows[0][1, state[2]] = end
                rows[1][state[2]] = label
                state[2] += 1


@inlined
def relax_rows(arena, slots, used, block_arcs, keys, vertices, rows, settled, state, now):
    """Relax what blocks that are there have of the rows; False where the heap is full. What is left of them, and rows
    that are left, are the first ones then."""
    ids, costs = arena[0], arena[1]
    places, labels = rows
    left = np.int64(0)
    for i in range(state[2]):
        p = places[0, i]
        while p < places[1, i] and slots[p // block_arcs] >= 0:
            block = p // block_arcs
            slot = slots[block]
            used[block] = now
            base = block * block_arcs
            begin = p
            end = min(places[1, i], base + block_arcs)
            while p < end and state[1] < len(keys):
                u = np.int64(ids[slot, p - base])
                if settled[u >> 6] >> np.uint64(u & 63) & ONE == 0:
                    push_entry(keys, vertices, state[1], longer(labels[i], costs[slot, p - base]), u)
                    state[1] += 1
                p += 1
            state[0] += p - begin
            if p < end:
                places[0, i] = p
                return False
        end = places[1, i]
        places[0, i] = end
        places[0, left] = p
        places[1, left] = end
        labels[left] = labels[i]
        left += p < end
    state[2] = left
    return True
