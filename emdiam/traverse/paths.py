"""Witness paths: walking down a distance column, and the two independent checks of a witness.

That d(s, t) = D is proved without trusting any traversal: a label that is 0 at s, D at t and
differs by at most 1 across every arc shows d >= D (one scan); a path of D edges, each found in
the store, shows d <= D.

Chains lead from a vertex of degree 1 along vertices of degree 2 to the first of another degree. Only the one or two
arcs of each vertex on the way are read, and blocks are loaded when needed (F-Diam, section 4.3 and Algorithm 4).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ..distinct import distinct
from ..errors import StoreError
from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream import uncompiled as rows_uncompiled
from ..stream.offsets import row_span
from ..stream.pager import Pager
from . import uncompiled
from .core import Core
from .rows import every_row, row_walk

_PIECE = 1 << 16


@kernel(uncompiled=uncompiled.walk_down)
def walk_down(dist, paging, offsets, ranks, span, path, state):
    """From vertex state[0], always to the neighbour of smallest rank that is nearer by one, until distance 0.

    dist : of all vertices, correct in the span (int64[2], first and end). ranks : rank of every vertex of the span,
    or length 0 if every vertex is its own rank. path : int64[k], gets the vertices of the walk. state : int64[4] =
    vertex, next arc (-1: first of the row), entries written, best neighbour so far (-1: none). Returns -1
    when done or when `path` is full, -2 if no neighbour is nearer (the column is no distance column), -3 at a row with
    a neighbour outside the span, else the missing block.
    """
    ids, slot_of, shift = paging
    group, row, hub = offsets
    first, stop = span[0], span[1]
    state[2] = 0
    while dist[state[0]] > 0 and state[2] < len(path):
        v = state[0]
        start, end = row_span(group, row, hub, v)
        p = state[1] if state[1] >= 0 else start
        while p < end and (state[3] < 0 or len(ranks) > 0):  # rows ascend: without ranks the first is it
            block = p >> shift
            slot = np.int64(slot_of[block])
            if slot < 0:
                state[1] = p
                return block
            w = np.int64(ids[(slot << shift) + p - (block << shift)])
            if w < first or w >= stop:
                state[1] = state[3] = -1
                return -3
            if np.int64(dist[w]) + 1 == np.int64(dist[v]) and (
                    state[3] < 0 or ranks[w - first] < ranks[state[3] - first]):
                state[3] = w
            p += 1
        if state[3] < 0:
            return -2
        path[state[2]] = state[3]
        state[0] = state[3]
        state[1] = state[3] = -1
        state[2] += 1
    return -1


def path_pieces(
    core: Core, dist: np.ndarray, target: int, ranks: np.ndarray | None = None
) -> Iterator[np.ndarray]:
    """The vertices of a shortest path from `target` down to the source of `dist`, target first,
    in pieces of at most 65,536 (int64).

    Every step goes to the nearer neighbour of smallest rank (id[n]; default: of smallest number).
    Raises RuntimeError if dist is no distance column."""
    order, span = np.empty(0, core.work.queues.dtype) if ranks is None else ranks, np.array(core.span)
    path = np.empty(min(_PIECE, len(dist)), np.int64)
    state = np.array([target, -1, 0, -1], np.int64)
    yield np.array([target], np.int64)
    while dist[state[0]] > 0:
        block = walk_down(dist, core.paging, core.offsets, order, span, path, state)
        if block == -2:
            raise RuntimeError(f"no neighbour of vertex {int(state[0])} is nearer to the source")
        if state[2]:
            yield path[: state[2]].copy()
        if block >= 0:
            core.pager.load(np.array([block]))


@kernel(uncompiled=True)
def find_edges(heads, low, high, ids, slot_of, shift, blocks):
    """Binary search for heads[i] in the row from low[i] to high[i].

    low, high : int64[k], narrowed; low = -1 - p once found at p. blocks : int64[k], gets the missing blocks. Returns
    their number.
    """
    asked = 0
    for i in range(len(heads)):
        while 0 <= low[i] < high[i]:
            middle = (low[i] + high[i]) >> 1
            block = middle >> shift
            slot = np.int64(slot_of[block])
            if slot < 0:
                blocks[asked] = block
                asked += 1
                break
            w = np.int64(ids[(slot << shift) + middle - (block << shift)])
            if w == heads[i]:
                low[i] = -1 - middle
            elif w < heads[i]:
                low[i] = middle + 1
            else:
                high[i] = middle
    return asked


@kernel(uncompiled=rows_uncompiled.row_bounds)
def row_bounds(group, row, hub, vertices, low, high):
    """low, high = first arc and end of the rows of `vertices`, int64[k] each."""
    for i in range(len(vertices)):
        low[i], high[i] = row_span(group, row, hub, np.int64(vertices[i]))


def read_rows(core: Core, vertices: np.ndarray) -> list[np.ndarray]:
    """Neighbours of each of `vertices` (int64[k]), int64 ascending. For a few vertices: each row
    is copied block by block."""
    return copied_rows(core.pager, core.table.shift, *_bounds(core, vertices))


def copied_rows(pager: Pager, shift: int, starts: np.ndarray, ends: np.ndarray) -> list[np.ndarray]:
    """The rows with these bounds (int64[k] each), int64 each."""
    if pager.everything_resident:
        bounds = [0, *np.cumsum(ends - starts).tolist()]
        joined = np.empty(bounds[-1], np.int64)
        join_rows(starts, ends, pager.arena.ids, pager.arena.slot_of, shift, joined)
        return [joined[begin:end] for begin, end in pairwise(bounds)]
    rows = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        row = np.empty(end - start, np.int64)
        at = start
        while at < end:
            block = at >> shift
            pager.load(np.array([block]))
            stop = min(end, (block + 1) << shift)
            first = at - (block << shift)
            row[at - start : stop - start] = pager.arena.row(int(pager.arena.slot_of[block]))[first : first + stop - at]
            at = stop
        rows.append(row)
    return rows


@kernel(uncompiled=True)
def join_rows(starts, ends, ids, slot_of, shift, out):
    """Write the rows with these bounds to `out`, one after another; all blocks are in the arena."""
    count = 0
    for i in range(len(starts)):
        for p in range(starts[i], ends[i]):
            block = p >> shift
            out[count] = ids[(np.int64(slot_of[block]) << shift) + p - (block << shift)]
            count += 1


def _bounds(core: Core, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(first arc, end) of the rows of `vertices`, int64[k] each."""
    low, high = np.empty(len(vertices), np.int64), np.empty(len(vertices), np.int64)
    row_bounds(*core.offsets, vertices, low, high)
    return low, high


def all_edges_exist(core: Core, tails: np.ndarray, heads: np.ndarray) -> bool:
    """True if every (tails[i], heads[i]) is an arc of the store."""
    return heads_in_rows(core.pager, core.table.shift, heads, *_bounds(core, tails))


def heads_in_rows(pager: Pager, shift: int, heads: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
    """True if every heads[i] is in the row from low[i] to high[i] (int64[k] each). Overwrites low and high."""
    blocks = np.empty(len(heads), np.int64)
    while True:
        asked = find_edges(heads, low, high, pager.arena.ids, pager.arena.slot_of, shift, blocks)
        if asked == 0:
            return bool((low < 0).all())
        pager.load(distinct(blocks[:asked]))


@inlined
def _count_steep(state, ids, v, begin, end, whole):
    values, heads, low = state
    mine = np.int64(values[v])
    steep = 0
    for p in range(begin, end):
        at = np.int64(ids[p]) - low
        if np.uint64(at) < np.uint64(len(heads)) and abs(np.int64(heads[at]) - mine) > 1:
            steep += 1
    return steep, False


_walk_steep = row_walk(every_row, _count_steep)


@kernel
def steep_arcs(piece, layout, values, heads, low):
    """Number of arcs to the vertices low, low + 1, ..., whose values are `heads`, with values that differ by more than
    1 (two unreached ends do not differ). values : of all vertices, correct in the span."""
    return _walk_steep(piece, layout, (values, heads, low))


@inlined
def _count_steep_below(state, ids, v, begin, end, whole):
    values = state[0]
    mine = np.int64(values[v])
    steep = 0
    for p in range(begin, end):
        w = np.int64(ids[p])
        if w > v:
            break
        steep += abs(np.int64(values[w]) - mine) > 1
    return steep, False


_walk_steep_below = row_walk(every_row, _count_steep_below)


@kernel(uncompiled=uncompiled.steep_edges)
def steep_edges(piece, layout, values):
    """Number of edges, each in the row of its larger end, whose values differ by more than 1 (two unreached ends do not
    differ)."""
    return _walk_steep_below(piece, layout, (values,))


@inlined
def _count_steps_over(state, ids, v, begin, end, whole):
    values, unreached = state
    mine = np.int64(values[v])
    steep = 0
    if mine < unreached:
        for p in range(begin, end):
            other = np.int64(values[np.int64(ids[p])])
            steep += other > mine + 1 or other == unreached
    return steep, False


_walk_steps = row_walk(every_row, _count_steps_over)


@kernel
def steep_steps(piece, layout, values, unreached):
    """Number of arcs from a vertex with a value to one whose value is larger by more than 1, or unreached."""
    return _walk_steps(piece, layout, (values, unreached))


class SteepWatch:
    """Counts steep edges of `label` in blocks that are read for another purpose, each once. A watcher of a Pager.

    seen : bool[blocks], those counted. steep : number of steep edges."""

    def __init__(self, core: Core, label: np.ndarray) -> None:
        self._layout, self.label, self._lock = core.layout, label, threading.Lock()
        self.seen, self.steep = np.zeros(core.table.n_blocks, bool), 0

    def __call__(self, blocks: np.ndarray, position: np.ndarray, ids: np.ndarray) -> None:
        new = ~self.seen[blocks]
        count = int(np.count_nonzero(new))
        if count:
            piece = blocks[new], position[new], np.zeros(1, np.int64), count, ids
            steep = int(steep_edges(piece, self._layout, self.label))
            with self._lock:
                self.seen[blocks[new]] = True
                self.steep += steep


def count_steep(core: Core, label: np.ndarray, tick: Tick = no_tick, watch: SteepWatch | None = None) -> int:
    """Number of arcs that span more than one step of `label`: one scan of all blocks, except those that `watch`, of the
    same label, has seen.

    An edge is checked in one direction. That it is stored in both, and that rows ascend, is checked when a block is
    first read (stream/rows.py), which all blocks have been after the scan."""
    blocks, before = (core.blocks, 0) if watch is None else (core.blocks[~watch.seen[core.blocks]], watch.steep)
    steep = before + core.sweep(blocks, steep_edges, label, tick=tick)
    core.counters.add(passes=1, edges_scanned=core.table.n_arcs)
    return 2 * steep


@kernel
def follow(walks, pending, paging, offsets, span, wanted):
    """Advance every chain i with pending[i] as long as it is in the span and as far as resident blocks allow.

    walks : int64[k, 4], number, vertex, vertex before (-1 at the start), length. pending : uint8[k], 0 at its end.
    span : int64[2], first vertex and end. wanted : uint8[blocks], gets 1 for missing blocks. Returns the number of
    walks that wait for a block, or -1 - v for a vertex v whose neighbour does not have v as a neighbour: a walk could
    then run for ever.
    """
    ids, slot_of, shift = paging
    group, row, hub = offsets
    waiting = 0
    mask = (1 << shift) - 1
    for i in range(len(walks)):
        while pending[i]:
            v = walks[i, 1]
            if v < span[0] or v >= span[1]:
                break
            start, end = row_span(group, row, hub, v)
            degree = end - start
            if walks[i, 2] >= 0 and degree != 2:
                pending[i] = 0
                break
            low = start >> shift
            high = (start + degree - 1) >> shift
            if slot_of[low] < 0 or slot_of[high] < 0:
                wanted[low] = 1
                wanted[high] = 1
                waiting += 1
                break
            w = np.int64(ids[(np.int64(slot_of[low]) << shift) + (start & mask)])
            if walks[i, 2] >= 0:
                other = np.int64(ids[(np.int64(slot_of[high]) << shift) + ((start + 1) & mask)])
                if w == walks[i, 2]:
                    w = other
                elif other != walks[i, 2]:
                    return -1 - walks[i, 2]
            walks[i, 2] = v
            walks[i, 1] = w
            walks[i, 3] += 1
    return waiting


def start_walks(tips: np.ndarray) -> np.ndarray:
    """Chains that begin at `tips`, vertices of degree 1: int64[k, 4] for `follow`."""
    walks = np.zeros((len(tips), 4), np.int64)
    walks[:, 0], walks[:, 1], walks[:, 2] = np.arange(len(tips)), tips, -1
    return walks


def follow_within(core: Core, walks: np.ndarray, tick: Tick = no_tick) -> np.ndarray:
    """Advance the chains, in place, as long as they are in the core's span; returns uint8[k], 1 for chains that have
    not ended. tick : called meanwhile. Raises StoreError for rows that are not symmetric."""
    pending, span = np.ones(len(walks), np.uint8), np.array(core.span)
    wanted = np.zeros(len(core.paging[1]), np.uint8)
    while True:
        waiting = follow(walks, pending, core.paging, core.offsets, span, wanted)
        if waiting < 0:
            raise one_way(-1 - waiting)
        if waiting == 0:
            return pending
        core.pager.load(np.flatnonzero(wanted), tick)
        wanted.fill(0)
        tick()


def follow_chains(core: Core, tips: np.ndarray, tick: Tick = no_tick) -> tuple[np.ndarray, np.ndarray]:
    """Ends and lengths of the chains that start at `tips` (vertices of degree 1, int64[k]).

    Returns (end int64[k], length int64[k] in edges, at least 1). Raises StoreError for rows that are not symmetric.
    """
    walks = start_walks(tips)
    follow_within(core, walks, tick)
    return walks[:, 1].copy(), walks[:, 3].copy()


def one_way(vertex: int) -> StoreError:
    """The error for an edge of this vertex that its other end does not have."""
    return StoreError(f"an edge of vertex {vertex} is stored in one direction only",
                      remedy="the store is damaged: convert the graph again")
