"""Dense levels: one step of a level-synchronous traversal over blocks in storage order.

Frontier and visited set are bitmaps. A step walks over blocks (chunks of `indices`): top-down
over frontier rows, bottom-up over unvisited rows, each clipped to the block, so that a hub row
may span blocks. New vertices are only marked in `visited`; `commit_level` then compares it with the
visited set before the level. So the next frontier does not depend on the order of threads and blocks.
Threads share the counter `turn` and take `grain` blocks at a time.

Work: each level looks at an arc in one direction. I/O: a level reads a block at most once.
Sources: Beamer, Asanovic, Patterson, Direction-optimizing BFS (2012); F-Diam, Algorithm 2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream.offsets import row_length
from .atomics import atomic_add, atomic_or, count_ones, count_trailing_zeros
from .bfs_whole import WholeLevels
from .rows import has_bit, hits_to_second, in_first, not_in_second, row_walk
from .workspace import (
    ARCS,
    COUNT,
    CURRENT,
    FARTHEST,
    HEAD,
    LEVEL,
    NEXT,
    PROFILE,
    REACHED,
    TARGETS,
    clear_bits,
    count_level,
    list_bits,
)

if TYPE_CHECKING:
    from .bfs import BfsRun, Mode
    from .core import BlockSweep, Core


@inlined
def _mark_neighbours(state, ids, v, begin, end, whole):
    visited = state[1]
    for p in range(begin, end):
        w = np.int64(ids[p])
        bit = np.uint64(1) << np.uint64(w & 63)
        if not visited[w >> 6] & bit:
            atomic_or(visited, w >> 6, bit)
    return end - begin, False


@inlined
def in_frontier_row(state, ids, v, begin, end, whole):
    """(arcs scanned, whether one leads into the frontier)."""
    for p in range(begin, end):
        if has_bit(state[0], np.int64(ids[p])):
            return p + 1 - begin, True
    return end - begin, False


_walk_down = row_walk(in_first, _mark_neighbours)
_walk_up = row_walk(not_in_second, in_frontier_row, hits_to_second)


@kernel
def top_down(piece, layout, frontier, visited):
    """Mark the neighbours of frontier rows in `visited` (atomically). Returns arcs scanned."""
    return _walk_down(piece, layout, (frontier, visited))


@kernel
def bottom_up(piece, layout, frontier, visited):
    """Mark unvisited vertices that have a frontier neighbour in `visited`. Returns arcs scanned."""
    return _walk_up(piece, layout, (frontier, visited))


@kernel
def commit_level(turn, grain, visited, before, frontier, dist, level, targets, group, row, hub,
                 out):
    """Next frontier = visited - before; write its distances; before = visited.

    dist : unsigned[n] or length 0 (no distances wanted). targets : bitmap or length 0.
    out : int64[3], added to atomically: vertices, arcs of their rows, targets met. Returns the
    smallest new vertex this thread has seen.
    """
    n_words = len(visited)
    vertices = 0
    arcs = 0
    met = 0
    smallest = np.int64(0x7FFFFFFFFFFFFFFF)
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= n_words:
            break
        for word in range(begin, min(begin + grain, n_words)):
            new = visited[word] & ~before[word]
            frontier[word] = new
            if not new:
                continue
            before[word] = visited[word]
            vertices += count_ones(new)
            if len(targets):
                met += count_ones(new & targets[word])
            smallest = min(smallest, (word << 6) + count_trailing_zeros(new))
            while new:
                v = (word << 6) + count_trailing_zeros(new)
                new &= new - np.uint64(1)
                arcs += row_length((group, row, hub), v)
                if len(dist):
                    dist[v] = level
    atomic_add(out, 0, vertices)
    atomic_add(out, 1, arcs)
    atomic_add(out, 2, met)
    return smallest


def level_sweep(core: Core, up: bool) -> BlockSweep:
    """The sweep that marks in work.visited the vertices that the frontier reaches; its result is the number of arcs
    scanned. Its blocks have a relevant row; they are of the reverse if `up`."""
    work, rows = core.work, core.reverse if up else core
    blocks = rows.blocks_with(work.visited if up else work.frontier, up)
    return rows.level_over(blocks, bottom_up if up else top_down, work.frontier, work.visited)


def commit(core: Core, dist: np.ndarray, level: int, targets: np.ndarray) -> tuple[int, int, int, int]:
    """Turn newly visited vertices of the span into the next frontier (see commit_level).

    Returns (vertices, arcs of their rows, targets met, smallest vertex).
    """
    work, out = core.work, np.zeros(3, np.int64)

    def run(turn: np.ndarray, grain: int, end: int) -> int:
        smallest: int = commit_level(turn, grain, work.visited[:end], work.before[:end], work.frontier[:end], dist,
                                     level, targets, *core.offsets, out)
        return smallest

    smallest = min(core.over_words(run))
    return int(out[0]), int(out[1]), int(out[2]), int(smallest)


class DenseLevels:
    """Levels of many arcs: bitmaps, all threads, one level a step. See BfsRun."""

    def __init__(self, run: BfsRun) -> None:
        self._run = run
        self._rows = run.core  # the core of the last sweep

    def enter(self) -> Mode:
        """Continue from queues with bitmaps. If the queue is half expanded, the rest of it is the frontier, and
        vertices found so far in this level count as not visited before it, so that commit sees them."""
        run, core, work = self._run, self._run.core, self._run.core.work
        state, front = work.state, run.front
        queue, found = work.queues[state[CURRENT], : state[COUNT]], int(state[NEXT])
        state[FARTHEST] = queue.min()
        work.frontier_from_queue()
        np.copyto(work.before, work.visited)
        clear_bits(work.before, work.queues[1 - state[CURRENT]], found)
        if len(run.targets):  # commit counts the targets of this level again
            state[TARGETS] += int(np.bitwise_count(work.visited & ~work.before & run.targets).sum())
        front.vertices, front.arcs = len(queue), core.sum_degrees(queue)
        front.visited_arcs += front.arcs
        return self

    def step(self, tick: Tick = no_tick) -> Mode | None:
        """One level by a sweep over blocks."""
        run = self._run
        if run.at_limit():
            return run.end(False)
        sweep = self.begin_sweep()
        arcs = self._rows.take(sweep, tick)
        run.core.count_sweep(len(sweep.blocks), arcs)
        return self.end_sweep(arcs)

    def begin_sweep(self) -> BlockSweep:
        """The sweep that marks in work.visited the vertices that the frontier reaches; its result is the number of arcs
        scanned. Several BFS may do their sweeps together."""
        run = self._run
        up, sweep = run.aside.sweep(run.front.turn(run.core, int(run.core.work.state[REACHED]), run.learned.bias))
        self._rows = run.core.reverse if up else run.core
        return sweep or level_sweep(run.core, up)

    def end_sweep(self, scanned: int) -> Mode | None:
        """Continue after the sweep. scanned : its result."""
        run = self._run
        scanned += run.aside.close()
        run.learned = replace(run.learned, bias=run.front.learned(run.core, scanned, run.learned.bias))
        return self.end_level(scanned)

    def end_level(self, scanned: int) -> Mode | None:
        """Continue with the vertices marked in work.visited. scanned : arcs read for this level."""
        run, core, work, front = self._run, self._run.core, self._run.core.work, self._run.front
        run.used.add(DenseLevels)
        state, level = work.state, run.level + 1
        state[ARCS] += scanned
        vertices, arcs, met, smallest = commit(core, run.distances, level, run.targets)
        if vertices == 0:
            return run.end(True)
        if run.profile:
            run.level_counts.append(vertices)
        front.vertices, front.arcs = vertices, arcs
        front.visited_arcs += arcs
        state[LEVEL], state[FARTHEST] = level, smallest
        state[REACHED] += vertices
        count_level(state, PROFILE, level, vertices)
        state[TARGETS] -= met
        if len(run.targets) and state[TARGETS] <= 0:
            return run.end(False)
        if not len(run.targets) and WholeLevels.possible(core):
            return run.whole.resume()
        if arcs >= core.dense_arcs // 2 or vertices > work.capacity or run.aside.is_better:
            return run.aside if run.aside.whole else self
        run.aside.drop()
        state[CURRENT] = state[HEAD] = 0
        state[COUNT] = list_bits(work.frontier, work.queues[0])
        front.visited_arcs -= arcs  # counted again when their rows are expanded
        return run.sparse
