"""Levels of a BFS on one rank: expanding what it owns, and handing over what it found of others.

Sparse levels are top-down: neighbours that others own go to their owners, each at most once in a whole search, because
`visited` remembers them. Dense levels are bottom-up: every rank gives the frontier among its vertices to all, and
looks for unvisited vertices of its own that have a neighbour in it; then the others' frontiers are remembered in
`visited` too. A rank whose queue overflows on a sparse level goes over its blocks with bitmaps, which finds the same.
"""

from __future__ import annotations

import time

import numpy as np

from ..stream.pager import Tick
from ..traverse.core import Core
from ..traverse.dense import bottom_up, commit_level, top_down
from ..traverse.sparse import ARCS, COUNT, CURRENT, DENSE, HEAD, LEVEL, MISSED, MISSING, NEXT, NEXT_ARCS, sparse_bfs
from ..traverse.workspace import set_bits
from .frontier_codec import encode_words, list_words

_NONE8, _NONE64 = np.empty(0, np.uint8), np.empty(0, np.uint64)
_FOREVER = 1 << 62


class Frontier:
    """The frontier among the vertices first..stop-1 of this rank, as a list, and the work on it.

    core : over the range's table (table.py).
    vertices : the frontier of a sparse level, int64[k]; that of a dense one is in work.frontier[own].
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self.first, self.stop = first, stop = core.span
        self.own = slice((first + 63) >> 6, (stop + 63) >> 6)
        self.vertices = np.empty(0, np.int64)

    def restart(self) -> None:
        """Nothing is visited but vertices without an edge; what is known of others is forgotten."""
        np.copyto(self._core.work.visited, self._core.table.isolated)
        self.vertices = np.empty(0, np.int64)

    def visit(self, vertices: np.ndarray) -> np.ndarray:
        """Those of `vertices` (int64[k], owned, distinct) that were not visited; they are now."""
        visited = self._core.work.visited
        words, bits = vertices >> 6, np.uint64(1) << (vertices & 63).astype(np.uint64)
        new = vertices[(visited[words] & bits) == 0]
        set_bits(visited, new, len(new))
        return new

    def expand(self) -> tuple[np.ndarray, np.ndarray, int]:
        """One level top-down: (new vertices owned, neighbours of others to be told of, arcs scanned), int64[k]
        each, the second ascending. What is new is visited."""
        if len(self.vertices) == 0:
            return self.vertices, self.vertices, 0
        if len(self.vertices) > self._core.work.capacity:
            return self._sweep_down(self.vertices, np.empty(0, np.int64), 0)
        return self._expand_queue()

    def _expand_queue(self) -> tuple[np.ndarray, np.ndarray, int]:
        core, work = self._core, self._core.work
        state = work.state
        state[: NEXT_ARCS + 1] = 0
        state[COUNT] = len(self.vertices)
        work.queues[0, : len(self.vertices)] = self.vertices
        limits = np.array([1, _FOREVER, _FOREVER], np.int64)
        while True:
            begin = time.thread_time()
            reason = sparse_bfs(core.paging, core.offsets, work.visited, _NONE8, _NONE64, work.queues, work.missed,
                                state, limits)
            core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
            if reason == DENSE or (reason == MISSING and not core.load_missed(int(state[MISSED]))):
                head, count, missed = int(state[HEAD]), int(state[COUNT]), int(state[MISSED])
                rest = np.concatenate((work.queues[0, head:count], work.missed_v[:missed])).astype(np.int64)
                return self._sweep_down(rest, work.queues[1, : state[NEXT]].astype(np.int64), int(state[ARCS]))
            if reason != MISSING:
                break
        found = np.empty(0, np.int64)
        if state[LEVEL] == 1:
            found = np.sort(work.queues[int(state[CURRENT]), : int(state[COUNT])]).astype(np.int64)
        return *self._split(found), int(state[ARCS])

    def _split(self, found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ascending vertices into those of this rank and the rest."""
        low, high = np.searchsorted(found, (self.first, self.stop))
        return found[low:high], np.concatenate((found[:low], found[high:]))

    def _sweep_down(self, rows: np.ndarray, found: np.ndarray, arcs: int) -> tuple[np.ndarray, np.ndarray, int]:
        """The neighbours of `rows` by bitmaps, beside what was found before."""
        work = self._core.work
        np.copyto(work.frontier, work.visited)  # of others: what was known before
        np.copyto(work.before[self.own], work.visited[self.own])
        work.frontier[self.own] = 0
        set_bits(work.frontier, rows, len(rows))
        arcs += self._sweep(False)
        new = work.frontier  # becomes what is visited and was not
        work.before[self.own] ^= work.visited[self.own]
        np.bitwise_xor(work.frontier, work.visited, out=new)
        new[self.own] = work.before[self.own]
        set_bits(new, found, len(found))
        return *self._split(list_words(new, 0, int(np.bitwise_count(new).sum()))), arcs

    def to_words(self) -> None:
        """The list into work.frontier, for a dense level."""
        words = self._core.work.frontier
        words[self.own] = 0
        set_bits(words, self.vertices, len(self.vertices))
        self.vertices = np.empty(0, np.int64)

    def to_list(self) -> None:
        """work.frontier into the list, for a sparse level."""
        words = self._core.work.frontier[self.own]
        self.vertices = list_words(words, self.first, int(np.bitwise_count(words).sum()))

    def message(self) -> np.ndarray:
        """The frontier of a dense level, for the others."""
        return encode_words(self._core.work.frontier[self.own], self.first)

    def look_back(
        self, distances: np.ndarray, level: int, targets: np.ndarray, tick: Tick | None = None
    ) -> tuple[int, int, int, int]:
        """One level bottom-up, with the whole frontier in work.frontier: (vertices, arcs of their rows, targets met,
        arcs scanned). New vertices get their distance, and are in work.frontier[own]; what others have in the
        frontier is remembered as visited. targets : bitmap of all vertices, or of length 0."""
        work, own, core = self._core.work, self.own, self._core
        for part in (slice(0, own.start), slice(own.stop, None)):
            work.visited[part] |= work.frontier[part]
        np.copyto(work.before[own], work.visited[own])
        scanned = self._sweep(True, tick)
        turn, out = np.array([own.start], np.int64), np.zeros(3, np.int64)
        grain = max(64, (own.stop - own.start) // (16 * core.crew.threads))
        end = slice(0, own.stop)

        def run() -> int:
            smallest: int = commit_level(turn, grain, work.visited[end], work.before[end], work.frontier[end],
                                         distances, level, targets, *core.offsets, out)
            return smallest

        core.everywhere(run)
        return int(out[0]), int(out[1]), int(out[2]), scanned

    def _sweep(self, up: bool, tick: Tick | None = None) -> int:
        """Mark in work.visited what the frontier reaches, by reading this rank's blocks; arcs scanned."""
        core, work = self._core, self._core.work
        blocks = core.blocks_with(work.visited if up else work.frontier, up)
        return core.sweep(blocks, bottom_up if up else top_down, work.frontier, work.visited, tick=tick)
