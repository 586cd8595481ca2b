"""Triangles at every vertex, exactly, by the forward algorithm over oriented rows.

Definition: an edge leads from the end of smaller (degree, number) to the other, its head; a vertex has at most
sqrt(2 m) heads. A triangle has one vertex u with both others as heads, v and w, where w is a head of v too. It is
met once, when w is found both in the sorted heads of u and in those of v. Out of core the vertices are taken in ranges
whose oriented rows fit the room. A pair of ranges is in memory at a time, that of u and that of v, so that c ranges
read the store c + 1 times, each time all vertices twice.
Work: O(m^1.5). Bytes a vertex: 32 (triangles, numbers of heads, begins of rows), and in the room 4 or 8 for each edge
of the ranges in memory.
Sources: Schank, Wagner 2005 (forward); Latapy 2008 (compact-forward); Hu, Tao, Chung 2013 (ranges of edges in memory
against a scan); Chiba, Nishizeki 1985 (the bound).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from ..errors import MoreMemoryError
from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream.offsets import row_length
from .atomics import atomic_add
from .core import Core
from .multi import spanning_rows
from .rows import every_row, row_walk

_GRAIN = 64


def triangle_bytes(n_vertices: int) -> int:
    """Bytes of the arrays with an entry for each vertex."""
    return 32 * (n_vertices + 1)


@dataclass(frozen=True)
class OrientedRows:
    """The heads of the vertices first..stop-1, sorted: heads[starts[v - first]:starts[v - first + 1]]."""

    first: int
    starts: np.ndarray
    heads: np.ndarray

    @property
    def raw(self) -> tuple[int, np.ndarray, np.ndarray]:
        """The fields in the form that kernels take."""
        return self.first, self.starts, self.heads


def count_triangles(core: Core, room: int, tick: Tick = no_tick) -> np.ndarray:
    """Triangles at every vertex, int64[n]. room : bytes for oriented rows. Raises MoreMemoryError if those of two
    vertices do not fit."""
    n, item = core.table.n_vertices, core.work.queues.dtype.itemsize
    counts, triangles = np.zeros(n, np.int64), np.zeros(n, np.int64)
    arcs = core.sweep(core.blocks, count_heads, counts, core.offsets, tick=tick)
    core.counters.add(passes=1, edges_scanned=arcs)
    bounds = _ranges(np.cumsum(counts), room // item, item)
    spans = list(itertools.pairwise(bounds))
    for span in spans:
        second = _oriented(core, counts, span, tick)
        for other in spans:
            rows = second if other == span else _oriented(core, counts, other, tick)
            _meet_all(core, rows, second, triangles)
            tick()
    return triangles


def _meet_all(core: Core, rows: OrientedRows, second: OrientedRows, triangles: np.ndarray) -> None:
    """Count the triangles of vertices u of `rows` and v of `second`."""
    turn = np.zeros(1, np.int64)
    core.everywhere(lambda: meet(turn, _GRAIN, rows.raw, second.raw, triangles))


def _ranges(ends: np.ndarray, room: int, item: int) -> list[int]:
    """Bounds of ranges of vertices: one range of all, if their heads (ends : their number up to each vertex) fit the
    room; else ranges with at most half of the room each."""
    n = len(ends)
    if int(ends[-1]) <= room:
        return [0, n]
    bounds = [0]
    while bounds[-1] < n:
        base = int(ends[bounds[-1] - 1]) if bounds[-1] else 0
        stop = int(np.searchsorted(ends, base + room // 2, side="right"))
        if stop == bounds[-1]:
            missing = (2 * (int(ends[stop]) - base) - room) * item
            raise MoreMemoryError("triangles need the rows of two vertices at a time, which", missing)
        bounds.append(stop)
    return bounds


def _oriented(core: Core, counts: np.ndarray, span: tuple[int, int], tick: Tick) -> OrientedRows:
    """The oriented rows of the vertices span[0]..span[1]-1."""
    first, stop = span
    starts = np.zeros(stop - first + 1, np.int64)
    np.cumsum(counts[first:stop], out=starts[1:])
    heads = np.empty(int(starts[-1]), core.work.queues.dtype)
    spanning = spanning_rows(core)
    spanning = spanning[(first <= spanning) & (spanning < stop)]
    table = core.table
    low, high = np.searchsorted(table.first_vertex[1:], first), np.searchsorted(table.first_vertex[:-1], stop)
    arcs = core.sweep(np.arange(low, high), fill_heads, np.array(span), starts, heads, spanning,
                      np.zeros(len(spanning), np.int64), core.offsets, tick=tick)
    core.counters.add(passes=1, edges_scanned=arcs)
    for v in (spanning - first).tolist():  # their pieces arrived in any order
        heads[starts[v] : starts[v + 1]].sort()
    return OrientedRows(first, starts, heads)


@inlined
def _leads(offsets, v, degree, w):
    """Whether w is a head of v, which has degree `degree`."""
    other = row_length(offsets, w)
    return other > degree or (other == degree and w > v)


@inlined
def _count_row(state, ids, v, begin, end, whole):
    counts, offsets = state
    degree = row_length(offsets, v)
    found = np.int64(0)
    for p in range(begin, end):
        if _leads(offsets, v, degree, np.int64(ids[p])):
            found += 1
    if whole:
        counts[v] = found
    else:
        atomic_add(counts, v, found)
    return end - begin, False


_walk_count = row_walk(every_row, _count_row)


@kernel
def count_heads(piece, layout, counts, offsets):
    """counts[v] = heads of v; int64[n], zeros. Returns arcs scanned."""
    return _walk_count(piece, layout, (counts, offsets))


@inlined
def _fill_row(state, ids, v, begin, end, whole):
    span, starts, heads, spanning, filled, offsets = state
    if v < span[0] or v >= span[1] or begin == end:
        return 0, False
    degree = row_length(offsets, v)
    at = starts[v - span[0]]
    if not whole:
        found = np.int64(0)
        for p in range(begin, end):
            if _leads(offsets, v, degree, np.int64(ids[p])):
                found += 1
        at += atomic_add(filled, np.searchsorted(spanning, v), found)
    for p in range(begin, end):
        if _leads(offsets, v, degree, np.int64(ids[p])):
            heads[at] = ids[p]
            at += 1
    return end - begin, False


_walk_fill = row_walk(every_row, _fill_row)


@kernel
def fill_heads(piece, layout, span, starts, heads, spanning, filled, offsets):
    """Write the heads of the vertices of a span, in any order for rows that span blocks (spanning, int64[k]; filled :
    zeros). Returns arcs scanned."""
    return _walk_fill(piece, layout, (span, starts, heads, spanning, filled, offsets))


@kernel
def meet(turn, grain, rows, second, triangles):
    """Count the triangles u, v, w with u in `rows` and v in `second`, at all three vertices; threads share the work."""
    first, starts, heads = rows
    low, begins, others = second
    while True:
        start = atomic_add(turn, 0, grain)
        if start >= len(starts) - 1:
            return
        for i in range(start, min(start + grain, len(starts) - 1)):
            here = np.int64(0)
            for p in range(starts[i], starts[i + 1]):
                at = np.int64(heads[p]) - low
                if at < 0 or at >= len(begins) - 1:
                    continue
                found = np.int64(0)
                one, two = starts[i], begins[at]
                while one < starts[i + 1] and two < begins[at + 1]:
                    a, b = heads[one], others[two]
                    if a == b:
                        atomic_add(triangles, np.int64(a), np.int64(1))
                        found += 1
                    one += a <= b
                    two += b <= a
                if found:
                    atomic_add(triangles, at + low, found)
                    here += found
            if here:
                atomic_add(triangles, i + first, here)
