"""The frontier of a traversal on one rank: expanding what it has, and exchanging what concerns others.

Sparse levels are top-down: neighbours that others own go to their owners, each at most once in a whole search, because
`visited` remembers them. Dense levels are bottom-up: every rank gives the frontier among its vertices to all, and
looks for unvisited vertices of its own that have a neighbour in it; then the others' frontiers are remembered in
`visited` too. A rank whose queue overflows on a sparse level goes over its blocks with bitmaps, which reaches the same.

The frontier of a rank that has a device: levels of many arcs are done there.

Whatever a rank knows stays on its CPU, where others tell it of more; the device has the rows of the range
(gpu/range_rows.py). A level of few arcs, and searches without rounds for levels (async_bfs.py), are done by the CPU,
which takes less for them than bitmaps on their way.
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
    """The frontier among the vertices first..stop-1 of this rank, as a list or as a bitmap, and the work on it.

    core : over the range's table (plan.py). alltoall : rounds with the others.
    words : slice, the words of this range in a bitmap of all vertices. dense : whether the frontier is in
    core.work.frontier[words], and not in `vertices` (int64[k]). front : what directions are chosen from, and `reached`,
    vertices so far, both of all ranks. bias : what searches learn of them.
    """

    def __init__(self, core: Core, alltoall: OwnerExchange) -> None:
        self.core, self.alltoall, self.bias = core, alltoall, 1.0
        self.first, self.stop = first, stop = core.span
        self.words = slice((first + 63) >> 6, (stop + 63) >> 6)
        self.restart(0)

    def restart(self, reached: int) -> None:
        """Nothing is visited but vertices without an edge; what is known of others is forgotten. reached : vertices
        that the traversal begins with."""
        np.copyto(self.core.work.visited, self.core.table.isolated)
        self.vertices, self.dense = NO_IDS, False
        self.front, self.reached = Front(reached, 0, 0), reached

    # -- levels ---------------------------------------------------------------------------------
    def visit(self, vertices: np.ndarray) -> np.ndarray:
        """Those of `vertices` (int64[k], of this range, distinct) that were not visited; they are now."""
        visited = self.core.work.visited
        words, bits = vertices >> 6, np.uint64(1) << (vertices & 63).astype(np.uint64)
        new = vertices[(visited[words] & bits) == 0]
        set_bits(visited, new, len(new))
        return new

    def expand(self) -> tuple[np.ndarray, np.ndarray, int]:
        """One level top-down: (new vertices of this range, neighbours to tell others of, arcs scanned), int64[k]
        each, the second ascending. What is new is visited."""
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
        """Ascending vertices into those of this rank and the rest."""
        low, high = np.searchsorted(vertices, (self.first, self.stop))
        return vertices[low:high], np.concatenate((vertices[:low], vertices[high:]))

    def _sweep_down(self, rows: np.ndarray, before: np.ndarray, arcs: int) -> tuple[np.ndarray, np.ndarray, int]:
        """The neighbours of `rows` by bitmaps, beside those that were reached `before`."""
        work, words = self.core.work, self.words
        np.copyto(work.frontier, work.visited)  # of others: what was known before
        np.copyto(work.before[words], work.visited[words])
        work.frontier[words] = 0
        set_bits(work.frontier, rows, len(rows))
        arcs += self._sweep(False)
        new = work.frontier  # becomes what is visited and was not
        work.before[words] ^= work.visited[words]
        np.bitwise_xor(work.frontier, work.visited, out=new)
        new[words] = work.before[words]
        set_bits(new, before, len(before))
        return *self._split(list_words(new, 0)), arcs

    def look_back(self, distances: np.ndarray, level: int, targets: np.ndarray) -> tuple[int, int, int, int]:
        """One level bottom-up, with the whole frontier in work.frontier: (vertices, arcs of their rows, targets met,
        arcs scanned). New vertices get their distance, and are in work.frontier[words]; what others have in the
        frontier is remembered as visited. targets : bitmap of all vertices, or of length 0."""
        work, words = self.core.work, self.words
        for others in (slice(0, words.start), slice(words.stop, None)):
            work.visited[others] |= work.frontier[others]
        np.copyto(work.before[words], work.visited[words])
        scanned = self._sweep(True)
        return *commit(self.core, distances, level, targets)[:3], scanned

    def _sweep(self, up: bool) -> int:
        """Mark in work.visited what the frontier reaches, by reading this rank's blocks; arcs scanned."""
        core, work = self.core, self.core.work
        blocks = core.blocks_with(work.visited if up else work.frontier, up)
        return core.sweep(blocks, bottom_up if up else top_down, work.frontier, work.visited)

    # -- exchange -------------------------------------------------------------------------------
    def tell_owners(self, others: np.ndarray, facts: np.ndarray = NO_FACTS) -> tuple[np.ndarray, np.ndarray]:
        """Tell the owners of `others` (ascending) that they are reached: (new vertices of this range by what others
        tell, int64[k]; the facts of all ranks). One round."""
        incoming, table = self.alltoall.name(others, facts)
        return np.concatenate([NO_IDS, *(self.visit(ids) for ids in incoming)]), table

    def join_words(self) -> None:
        """Give the frontier of a dense level to all, and take theirs into work.frontier. One round."""
        words, others = self.core.work.frontier, self.alltoall.others
        message = encode_words(words[self.words], self.first) if others else _NONE8
        incoming, _ = self.alltoall.swap(dict.fromkeys(others, message))
        cuts = (self.alltoall.ranges + 63) >> 6
        for rank, theirs in incoming.items():
            range_words = words[cuts[rank] : cuts[rank + 1]]
            range_words[:] = 0
            add_to_words(theirs, range_words)

    # -- what comes next ------------------------------------------------------------------------
    def sum_degrees(self, vertices: np.ndarray) -> int:
        """Arcs of the rows of `vertices`."""
        return self.core.sum_degrees(vertices)

    def count(self, vertices: int, arcs: int) -> None:
        """So many vertices, with so many arcs, are new on all ranks."""
        self.reached += vertices
        self.front.vertices, self.front.arcs = vertices, arcs
        self.front.visited_arcs += arcs

    def choose_direction(self) -> None:
        """Go on bottom-up where the frontier of all ranks has enough arcs to be worth bitmaps and the rule of
        traverse/direction.py says so, or where it is too long for lists; the same on every rank."""
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
        """Count levels once for all ranks, and the arcs that this one scanned."""
        first = self.alltoall.rank == 0
        self.core.counters.add(levels=levels * first, passes=int(dense and first), dense_levels=int(dense and first),
                               edges_scanned=scanned)


# Arcs of a rank's rows from which a sparse level is worth the way to the device, and more for a word of a bitmap.
FEW_ARCS, WORD_ARCS = 1 << 16, 1


class DeviceFrontier(RankFrontier):
    """A RankFrontier with the rows of the range on a device, too."""

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
