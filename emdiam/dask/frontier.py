"""The frontier of a traversal on one rank: expansion of its vertices, and exchange with other ranks.

Sparse levels are top-down: a rank sends neighbours in other ranges to their owners, each at most once in a search,
since `visited` has a bit for them. Dense levels are bottom-up: every rank sends its part of the frontier to all, and
searches its unvisited vertices for neighbours in the frontier; then `visited` also has the others' frontiers. If the
queue of a rank overflows on a sparse level, it scans its blocks with bitmaps, with the same result.

On a rank with a device, the device does levels of many arcs. The state stays on the CPU, where messages arrive; the
device has the rows of the range (gpu/range_rows.py). The CPU does levels of few arcs and asynchronous searches
(async_bfs.py), which take less time than copying bitmaps.
"""

from __future__ import annotations

import time

import numpy as np

from ..gpu.range_rows import RangeRows
from ..traverse.core import Core
from ..traverse.dense import bottom_up, commit, top_down
from ..traverse.direction import Front
from ..traverse.sparse import sparse_bfs
from ..traverse.workspace import ARCS, COUNT, CURRENT, DENSE, HEAD, LEVEL, MISSED, MISSING, NEXT, NEXT_ARCS, set_bits
from .alltoall import NO_FACTS, OwnerExchange
from .frontier_codec import add_to_words, encode_words, list_words

NO_IDS = np.empty(0, np.int64)
_NONE8, _NONE64 = np.empty(0, np.uint8), np.empty(0, np.uint64)
_FOREVER = 1 << 62


class RankFrontier:
    """The frontier among the vertices first..stop-1 of this rank, as a list or as a bitmap.

    core : over the range's table (plan.py). alltoall : rounds with other ranks. words : slice, the words of this range
    in a bitmap of all vertices. dense : whether the frontier is in core.work.frontier[words] instead of `vertices`
    (int64[k]). front : state of the choice of directions, and `reached` the number of reached vertices, both of all
    ranks. bias : correction of the choice, learned from searches.
    """

    def __init__(self, core: Core, alltoall: OwnerExchange) -> None:
        self.core, self.alltoall, self.bias = core, alltoall, 1.0
        self.first, self.stop = first, stop = core.span
        self.words = slice((first + 63) >> 6, (stop + 63) >> 6)
        self.restart(0)

    def restart(self, reached: int) -> None:
        """Reset: only vertices without an edge are visited, also of other ranks. reached : number of vertices that the
        traversal starts with."""
        np.copyto(self.core.work.visited, self.core.table.isolated)
        self.vertices, self.dense = NO_IDS, False
        self.front, self.reached = Front(reached, 0, 0), reached

    # -- levels ---------------------------------------------------------------------------------
    def visit(self, vertices: np.ndarray) -> np.ndarray:
        """Visit `vertices` (int64[k], of this range, distinct); return the newly visited ones."""
        visited = self.core.work.visited
        words, bits = vertices >> 6, np.uint64(1) << (vertices & 63).astype(np.uint64)
        new = vertices[(visited[words] & bits) == 0]
        set_bits(visited, new, len(new))
        return new

    def expand(self) -> tuple[np.ndarray, np.ndarray, int]:
        """One level top-down: (new vertices of this range, neighbours to send to other ranks, arcs scanned), int64[k]
        each, the second ascending. Marks new vertices as visited."""
        if len(self.vertices) == 0:
            return self.vertices, self.vertices, 0
        if len(self.vertices) > self.core.work.capacity:
            return self._sweep_down(self.vertices, NO_IDS, 0)
        core, work = self.core, self.core.work
        state = work.state
        state[: NEXT_ARCS + 1] = 0
        state[COUNT] = len(self.vertices)
        work.queues[0, : len(self.vertices)] = self.vertices
        limits = np.array([1, _FOREVER, _FOREVER], np.int64)
        reason = MISSING
        while reason == MISSING:
            begin = time.thread_time()
            reason = sparse_bfs(core.paging, core.offsets, work.visited, _NONE8, _NONE64, work.queues, work.missed,
                                state, limits)
            core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
            if reason == DENSE or (reason == MISSING and not core.load_missed(int(state[MISSED]))):
                head, count, missed = int(state[HEAD]), int(state[COUNT]), int(state[MISSED])
                rest = np.concatenate((work.queues[0, head:count], work.missed_v[:missed])).astype(np.int64)
                return self._sweep_down(rest, work.queues[1, : state[NEXT]].astype(np.int64), int(state[ARCS]))
        new = NO_IDS
        if state[LEVEL] == 1:
            new = np.sort(work.queues[int(state[CURRENT]), : int(state[COUNT])]).astype(np.int64)
        return *self._split(new), int(state[ARCS])

    def _split(self, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Divide ascending vertices into those of this rank and the others."""
        low, high = np.searchsorted(vertices, (self.first, self.stop))
        return vertices[low:high], np.concatenate((vertices[:low], vertices[high:]))

    def _sweep_down(self, rows: np.ndarray, before: np.ndarray, arcs: int) -> tuple[np.ndarray, np.ndarray, int]:
        """As expand, by bitmaps, in addition to the vertices that were reached `before`."""
        work, words = self.core.work, self.words
        np.copyto(work.frontier, work.visited)  # for other ranges: the state before
        np.copyto(work.before[words], work.visited[words])
        work.frontier[words] = 0
        set_bits(work.frontier, rows, len(rows))
        arcs += self._sweep(False)
        new = work.frontier  # becomes the newly visited vertices
        work.before[words] ^= work.visited[words]
        np.bitwise_xor(work.frontier, work.visited, out=new)
        new[words] = work.before[words]
        set_bits(new, before, len(before))
        return *self._split(list_words(new, 0)), arcs

    def look_back(self, distances: np.ndarray, level: int, targets: np.ndarray) -> tuple[int, int, int, int]:
        """One level bottom-up, with the whole frontier in work.frontier: (new vertices, arcs of their rows, targets
        met, arcs scanned). Sets the distances of new vertices, and puts them into work.frontier[words]; marks the
        frontiers of other ranks as visited. targets : bitmap of all vertices, or of length 0."""
        work, words = self.core.work, self.words
        for others in (slice(0, words.start), slice(words.stop, None)):
            work.visited[others] |= work.frontier[others]
        np.copyto(work.before[words], work.visited[words])
        scanned = self._sweep(True)
        return *commit(self.core, distances, level, targets)[:3], scanned

    def _sweep(self, up: bool) -> int:
        """Mark the vertices that the frontier reaches in work.visited, by a scan of this rank's blocks; return the arcs
        scanned."""
        core, work = self.core, self.core.work
        blocks = core.blocks_with(work.visited if up else work.frontier, up)
        return core.sweep(blocks, bottom_up if up else top_down, work.frontier, work.visited)

    # -- exchange -------------------------------------------------------------------------------
    def tell_owners(self, others: np.ndarray, facts: np.ndarray = NO_FACTS) -> tuple[np.ndarray, np.ndarray]:
        """Send `others` (ascending) to their owners as reached: (new vertices of this range by received messages,
        int64[k]; the facts of all ranks). One round."""
        incoming, table = self.alltoall.name(others, facts)
        return np.concatenate([NO_IDS, *(self.visit(ids) for ids in incoming)]), table

    def join_words(self) -> None:
        """Send the frontier of a dense level to all ranks, and receive theirs into work.frontier. One round."""
        words, others = self.core.work.frontier, self.alltoall.others
        message = encode_words(words[self.words], self.first) if others else _NONE8
        incoming, _ = self.alltoall.swap(dict.fromkeys(others, message))
        cuts = (self.alltoall.ranges + 63) >> 6
        for rank, theirs in incoming.items():
            range_words = words[cuts[rank] : cuts[rank + 1]]
            range_words[:] = 0
            add_to_words(theirs, range_words)

    # -- the next level -------------------------------------------------------------------------
    def sum_degrees(self, vertices: np.ndarray) -> int:
        """The sum of the degrees of `vertices`."""
        return self.core.sum_degrees(vertices)

    def count(self, vertices: int, arcs: int) -> None:
        """Count new vertices of all ranks and their arcs."""
        self.reached += vertices
        self.front.vertices, self.front.arcs = vertices, arcs
        self.front.visited_arcs += arcs

    def choose_direction(self) -> None:
        """Choose the direction of the next level, the same on every rank: bottom-up if the frontier of all ranks has
        enough arcs for bitmaps and the rule of traverse/direction.py says so, or if it is too long for lists."""
        front, core = self.front, self.core
        few = core.dense_arcs // 2 if front.bottom_up else core.dense_arcs
        up = front.vertices > 0 and front.turn(core, self.reached, self.bias)
        long = front.vertices > core.work.capacity * self.alltoall.size
        front.bottom_up = front.arcs > few and (up or long)
        words = core.work.frontier
        if front.bottom_up and not self.dense:
            words[self.words] = 0
            set_bits(words, self.vertices, len(self.vertices))
            self.vertices = NO_IDS
        elif self.dense and not front.bottom_up:
            self.vertices = list_words(words[self.words], self.first)
        self.dense = front.bottom_up

    def count_level(self, levels: int, scanned: int, dense: bool = False) -> None:
        """Count levels (once for all ranks), and the arcs that this rank scanned."""
        first = self.alltoall.rank == 0
        self.core.counters.add(levels=levels * first, passes=int(dense and first), dense_levels=int(dense and first),
                               edges_scanned=scanned)


# The device does a sparse level with at least this number of arcs of a rank, plus WORD_ARCS for each word of a bitmap.
FEW_ARCS, WORD_ARCS = 1 << 16, 1


class DeviceFrontier(RankFrontier):
    """A RankFrontier with the rows of the range also on a device."""

    def __init__(self, core: Core, alltoall: OwnerExchange, rows: RangeRows) -> None:
        self._rows = rows
        self._few_arcs = FEW_ARCS + WORD_ARCS * (core.table.n_vertices // 64)
        super().__init__(core, alltoall)

    def expand(self) -> tuple[np.ndarray, np.ndarray, int]:
        """See RankFrontier.expand."""
        if len(self.vertices) and self.sum_degrees(self.vertices) >= self._few_arcs:
            return self._sweep_down(self.vertices, NO_IDS, 0)
        return super().expand()

    def _sweep(self, up: bool) -> int:
        """See RankFrontier._sweep."""
        work, words, begin = self.core.work, self.words, time.thread_time()
        if up:
            new, arcs = self._rows.go_up(work.visited[words], work.frontier)
            work.visited[words] |= new
        else:
            arcs = self._rows.go_down(work.frontier[words], work.visited)
        self.core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
        return arcs
