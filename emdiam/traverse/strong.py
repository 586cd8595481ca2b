"""Strong and weak components of a graph with directions.

Strong, if all blocks are in memory: Tarjan's depth-first search, one arc after another. It numbers components in
reverse topological order: an arc between two components leads to the one of the smaller number.

Strong, if blocks are streamed: depth first would read a block an arc, so it is done by sweeps. A vertex without an arc
from or to another remaining vertex is a component; it is removed in place, so that long paths are removed at once. The
vertices that a hub reaches and that reach it are a component. For the rest, the colour of a vertex is the largest
vertex that reaches it; the vertices that reach the vertex of their colour within the colour are one component. At the
end the height of a component, the largest number of arcs between components on a path from it, puts them in a reverse
topological order (ties: by a vertex of each). Numbers may differ from Tarjan's, as that order is not unique.

Bytes a vertex: Tarjan 6 ids and 8, by sweeps 4 ids. I/O: Tarjan none; sweeps: two BFS, then a few passes a round.
Sources: Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1972; Fleischer, Hendrickson, Pinar,
On identifying strongly connected components in parallel, 2000 (a hub's component); Orzan, On distributed verification
and verified distribution, 2004 (colours); McLendon et al., Finding strongly connected components in distributed graphs,
J. Parallel Distrib. Comput. 2005 (trimming).
"""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream.offsets import row_span
from .atomics import atomic_add, atomic_and
from .bfs import BfsRun
from .components import flatten, scan_unseen
from .core import Core
from .rows import every_row, has_bit, hits_to_second, in_first, row_walk
from .workspace import bits_at

_SLICE_ARCS = 1 << 25
# Entries of the state of a depth-first search.
_ROOT, _VISITED, _COMPONENTS, _TOP, _DEPTH, _STATE = 0, 1, 2, 3, 4, 5
_DONE, _AGAIN = -1, -2


def strong_bytes(n_vertices: int, id_bytes: int) -> int:
    """Bytes of the state of `strong_components`, its result included."""
    return n_vertices * (6 * id_bytes + 8) + 64


def strong_components(core: Core, tick: Tick = no_tick) -> tuple[np.ndarray, int]:
    """(number of each vertex's component, id[n]; number of components), in reverse topological order."""
    if core.pager.everything_resident:
        return _depth_first(core, tick)
    return _by_sweeps(core, tick)


def weak_components(core: Core, tick: Tick = no_tick) -> tuple[np.ndarray, int]:
    """(smallest vertex of each vertex's weak component, id[n]; number of components), in one sweep."""
    n, none = core.table.n_vertices, np.empty(0, np.int64)
    roots, seen = np.arange(n, dtype=core.work.queues.dtype), np.zeros(len(core.work.visited), np.uint64)
    core.count_sweep(*scan_unseen(core, seen, roots, lambda leaving: None, tick))
    flatten(roots, seen, np.array([0, n]), 0, none, none)
    return roots, int(np.count_nonzero(roots == np.arange(n)))


def _depth_first(core: Core, tick: Tick) -> tuple[np.ndarray, int]:
    n, dtype = core.table.n_vertices, core.work.queues.dtype
    order, low, stack, calls = (np.zeros(n, dtype) for _ in range(4))
    numbers, places = np.full(n, n, dtype), np.empty(n, np.int64)
    state = np.zeros(_STATE, np.int64)
    while tarjan(core.paging, core.offsets, order, low, numbers, stack, calls, places, state, _SLICE_ARCS) != _DONE:
        tick()
    return numbers, int(state[_COMPONENTS])


class _Left:
    """The vertices whose component is not yet known, as a bitmap, and the components found, id[n]: a vertex of each
    (n: none)."""

    def __init__(self, core: Core, tick: Tick) -> None:
        n, dtype = core.table.n_vertices, core.work.queues.dtype
        self._core, self._tick = core, tick
        self.active = np.full((n + 63) // 64, 0xFFFFFFFFFFFFFFFF, np.uint64)
        if n % 64:
            self.active[-1] >>= np.uint64(-n % 64)
        self.active &= ~(core.table.isolated | core.reverse.table.isolated)  # vertices without an arc out, or in
        self.roots, self._colours = np.arange(n, dtype=dtype), np.empty(n, dtype)
        self.roots[self._listed(self.active)] = n

    @property
    def some(self) -> bool:
        return bool(self.active.any())

    def trim(self, most: int) -> None:
        """Remove vertices without an arc from or to another remaining vertex, up to `most` times, as long as there are
        many. A path whose ids rise or fall along it is removed at once."""
        core, n = self._core, len(self.roots)
        for _ in range(most):
            if sum(self._sweep(rows, rows.blocks_with(self.active), peel, self.active, self.roots)
                   for rows in (core, core.reverse)) < n // 64 + 1:
                return

    def take_hub(self) -> None:
        """Find and remove the component of a vertex with many arcs."""
        out, back = self._core, self._core.reverse
        hub, most = -1, 0
        for first in range(0, len(self.roots), 1 << 16):
            ids = np.arange(first, min(first + (1 << 16), len(self.roots)))
            arcs = out.degrees(ids) * back.degrees(ids) * bits_at(self.active, ids)
            at = int(arcs.argmax())
            if int(arcs[at]) > most:
                hub, most = first + at, int(arcs[at])
        if hub < 0:
            return
        both = self.active.copy()
        for rows in (out, back):
            run = BfsRun(rows, hub, distances=False)
            run.stay_within(self.active)
            while not run.step(self._tick):
                pass
            run.result()
            both &= rows.work.visited
        both &= self.active
        self.roots[self._listed(both)] = hub
        self.active &= ~both

    def take_colours(self) -> None:
        """Find and remove the component of every vertex that no larger vertex reaches."""
        core, colours, n = self._core, self._colours, len(self.roots)
        colours[:] = np.arange(n, dtype=colours.dtype)
        back = core.reverse.blocks_with(self.active)
        while self._sweep(core.reverse, back, raise_colours, self.active, colours):
            pass
        reached = self.active & np.packbits(
            np.pad(colours == np.arange(n, dtype=colours.dtype), (0, -n % 64)), bitorder="little").view(np.uint64)
        out = core.blocks_with(self.active)
        while self._sweep(core, out, reach_back, self.active, reached, colours):
            pass
        where = self._listed(reached)
        self.roots[where] = colours[where]
        self.active &= ~reached

    def _listed(self, bits: np.ndarray) -> np.ndarray:
        """A bitmap as bool[n]."""
        return np.unpackbits(bits.view(np.uint8), bitorder="little", count=len(self._colours)).view(bool)

    def _sweep(self, rows: Core, blocks: np.ndarray, *arguments: Any) -> int:
        amount = rows.sweep(blocks, *arguments, tick=self._tick)
        rows.count_sweep(len(blocks), 0)
        self._tick()  # a sweep may be too short to tick, and there may be many
        return amount


def _by_sweeps(core: Core, tick: Tick) -> tuple[np.ndarray, int]:
    left = _Left(core, tick)
    left.trim(3)
    left.take_hub()
    left.trim(3)
    while left.some:
        left.take_colours()
        left.trim(1)
    roots, heights = left.roots, left._colours
    heights[:] = 0
    turns = cycle((raise_heights_back, raise_heights))  # a path with rising, or falling, ids needs one of either
    while left._sweep(core, core.blocks, next(turns), roots, heights):
        pass
    found = np.flatnonzero(roots == np.arange(len(roots), dtype=roots.dtype))
    ranked = found[np.lexsort((found, heights[found]))]
    heights[ranked] = np.arange(len(ranked), dtype=heights.dtype)  # numbers from now on
    np.take(heights, roots, out=roots)
    return roots, len(ranked)


@kernel
def tarjan(paging, offsets, order, low, numbers, stack, calls, places, state, most_arcs):
    """Continue a depth-first search over all vertices for about most_arcs arcs; returns -1 when it is done, else -2.

    order : id[n], from 1 on, 0 for vertices not yet met. low, stack, calls : id[n], places : int64[n], of the search.
    numbers : id[n], of components, n if not yet known. state : int64[_STATE]. All blocks are
    in the arena."""
    ids, slot_of, shift = paging
    group, row, hub = offsets
    n = len(order)
    arcs = np.int64(0)
    while True:
        depth = state[_DEPTH]
        if depth == 0:
            while state[_ROOT] < n and order[state[_ROOT]] != 0:
                state[_ROOT] += 1
            if state[_ROOT] == n:
                return _DONE
            if arcs > most_arcs:
                return _AGAIN
            _enter(state[_ROOT], offsets, order, low, stack, calls, places, state)
            continue
        v = np.int64(calls[depth - 1])
        p = places[depth - 1]
        end = row_span(group, row, hub, v)[1]
        begin, lowest, child = p, low[v], np.int64(-1)
        while p < end:
            block = p >> shift
            w = np.int64(ids[(np.int64(slot_of[block]) << shift) + p - (block << shift)])
            p += 1
            if order[w] == 0:
                child = w
                break
            if numbers[w] == n and order[w] < lowest:
                lowest = order[w]
        arcs += p - begin + 1
        places[depth - 1] = p
        low[v] = lowest
        if child >= 0:
            _enter(child, offsets, order, low, stack, calls, places, state)
            continue
        state[_DEPTH] = depth - 1
        if lowest == order[v]:
            while True:
                state[_TOP] -= 1
                w = np.int64(stack[state[_TOP]])
                numbers[w] = state[_COMPONENTS]
                if w == v:
                    break
            state[_COMPONENTS] += 1
        elif low[np.int64(calls[depth - 2])] > lowest:
            low[np.int64(calls[depth - 2])] = lowest
        if arcs > most_arcs:
            return _AGAIN


@inlined
def _enter(v, offsets, order, low, stack, calls, places, state):
    state[_VISITED] += 1
    order[v] = state[_VISITED]
    low[v] = state[_VISITED]
    stack[state[_TOP]] = v
    state[_TOP] += 1
    calls[state[_DEPTH]] = v
    places[state[_DEPTH]] = row_span(offsets[0], offsets[1], offsets[2], v)[0]
    state[_DEPTH] += 1


@inlined
def _peel(state, ids, v, begin, end, whole):
    active, roots = state
    for p in range(begin, end):
        w = np.int64(ids[p])
        if w != v and has_bit(active, w):
            return 0, False
    if not whole:  # the rest of the row is in another block; colours will find its component
        return 0, False
    atomic_and(active, v >> 6, ~(np.uint64(1) << np.uint64(v & 63)))
    roots[v] = v
    return 1, False


_walk_peel = row_walk(in_first, _peel)


@kernel
def peel(piece, layout, active, roots):
    """Remove active vertices without an active end in their row, one after another; returns their number.

    A vertex of a cycle always has an active next vertex in it. So threads may remove vertices at the same time."""
    return _walk_peel(piece, layout, (active, roots))


@inlined
def _raise_colour(state, ids, v, begin, end, whole):
    active, colours = state
    mine = colours[v]
    largest = mine
    for p in range(begin, end):
        w = np.int64(ids[p])
        if has_bit(active, w) and colours[w] > largest:
            largest = colours[w]
    if largest > mine:
        colours[v] = largest
        return 1, False
    return 0, False


_walk_colours = row_walk(in_first, _raise_colour)


@kernel
def raise_colours(piece, layout, active, colours):
    """Every active vertex takes the largest colour of itself and the active ends of its row; returns the number raised.

    Two threads may write a colour of a row in two blocks at the same time. The next sweep then finds the lost update,
    and only a sweep that raises none is the last."""
    return _walk_colours(piece, layout, (active, colours))


@inlined
def _waits(state, word):
    return state[0][word] & ~state[1][word]


@inlined
def _reaches(state, ids, v, begin, end, whole):
    _, reached, colours = state
    for p in range(begin, end):
        w = np.int64(ids[p])
        if has_bit(reached, w) and colours[w] == colours[v]:
            return 1, True
    return 0, False


_walk_back = row_walk(_waits, _reaches, hits_to_second)


@kernel
def reach_back(piece, layout, active, reached, colours):
    """Mark in `reached` the active vertices with an end of their row there that has their colour; returns their
    number."""
    return _walk_back(piece, layout, (active, reached, colours))


@inlined
def _raise_height(state, ids, v, begin, end, whole):
    roots, heights = state
    mine = np.int64(roots[v])
    highest = before = heights[mine]
    for p in range(begin, end):
        other = np.int64(roots[np.int64(ids[p])])
        if other != mine and heights[other] >= highest:
            highest = heights[other] + 1
    if highest > before:
        heights[mine] = highest
        return 1, False
    return 0, False


_walk_heights, _walk_heights_back = row_walk(every_row, _raise_height), row_walk(every_row, _raise_height, back=True)


@kernel
def raise_heights(piece, layout, roots, heights):
    """Raise the height of a component above that of components that its rows lead to; returns the number of raises. As
    raise_colours."""
    return _walk_heights(piece, layout, (roots, heights))


@kernel
def raise_heights_back(piece, layout, roots, heights):
    """As raise_heights, from the last row to the first."""
    return _walk_heights_back(piece, layout, (roots, heights))


@inlined
def _count_inner(state, ids, v, begin, end, whole):
    numbers, counts = state
    count = np.uint32(0)
    for p in range(begin, end):
        count += np.uint32(numbers[np.int64(ids[p])] == numbers[v])
    atomic_add(counts, v, count)
    return end - begin, False


_walk_inner = row_walk(every_row, _count_inner)


@kernel
def count_inner(piece, layout, numbers, counts):
    """Count the arcs of every row whose ends have the same number. Returns arcs scanned."""
    return _walk_inner(piece, layout, (numbers, counts))
