"""Parts of a graph with few arcs between them, by halves: breadth-first levels from a far vertex, cut in the middle.

A part of more than the wanted size is walked from a vertex at the end of it, along arcs in either direction, and cut
where half of its vertices have been met; so on planar-like graphs the cut is about as long as the part is wide. What a
walk does not reach is walked next, so that components stay together where they can. Work: m for every halving.
Source: George and Liu (1979), pseudo-peripheral vertices and level structures.
"""

from __future__ import annotations

import numpy as np

from ...errors import MoreMemoryError
from ...jit import kernel
from ...stream.rows import check_rows
from ...units import format_size
from ..rows import WeightedRows


def undirected(rows: WeightedRows, room_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """(offsets int64[n + 1], heads) of the arcs and their reverse; an edge that has both is there twice. The rows
    themselves where every arc has its reverse, or so it seems by a hash: then nothing else is met. Raises
    MoreMemoryError where others do not fit `room_bytes`."""
    unsorted, balance = check_rows(rows.heads, 0, rows.offsets)
    if unsorted < 0 and balance == 0:
        return rows.offsets, rows.heads
    need = 8 * (rows.n_vertices + 1) + 2 * rows.n_arcs * rows.heads.dtype.itemsize
    if need > room_bytes:
        raise MoreMemoryError(f"separators need {format_size(need)} to find parts, and {format_size(room_bytes)}"
                              " are left", need - room_bytes)
    offsets = np.zeros(rows.n_vertices + 1, np.int64)
    heads = np.empty(2 * rows.n_arcs, rows.heads.dtype)
    fill_both(rows.offsets, rows.heads, offsets, heads)
    return offsets, heads


@kernel
def fill_both(offsets, heads, both, other):
    """both : int64[n + 1], zeros, becomes the offsets of arcs and their reverse, `other` their heads."""
    n = len(offsets) - 1
    for v in range(n):
        both[v + 1] += offsets[v + 1] - offsets[v]
        for p in range(offsets[v], offsets[v + 1]):
            both[np.int64(heads[p]) + 1] += 1
    for v in range(n):
        both[v + 1] += both[v]
    # Rows are filled from their first entry on, which is moved; in the end it is that of the next row.
    for v in range(n):
        for p in range(offsets[v], offsets[v + 1]):
            other[both[v]] = heads[p]
            both[v] += 1
    for v in range(n):
        for p in range(offsets[v], offsets[v + 1]):
            w = np.int64(heads[p])
            other[both[w]] = v
            both[w] += 1
    for v in range(n - 1, -1, -1):
        both[v + 1] = both[v]
    both[0] = 0


def parts_of(rows: WeightedRows, size: int, room_bytes: int) -> np.ndarray:
    """The part of every vertex, int64[n], numbered from 0; parts have at most `size` vertices. room_bytes : see
    `undirected`. Raises MoreMemoryError."""
    n = rows.n_vertices
    offsets, heads = undirected(rows, room_bytes)
    part, n_parts = np.zeros(n, np.int64), 1
    order, seen = np.empty(n, np.int64), np.empty(n, np.bool_)
    waiting = [0]
    while waiting:
        one = waiting[-1]
        members = np.flatnonzero(part == one)
        if len(members) <= max(1, size):
            waiting.pop()
            continue
        walk(offsets, heads, part, members, int(members[0]), seen, order)
        walk(offsets, heads, part, members, int(order[len(members) - 1]), seen, order)
        part[order[len(members) // 2 : len(members)]] = n_parts
        waiting.append(n_parts)
        n_parts += 1
    return part


@kernel
def walk(offsets, heads, part, members, start, seen, order):
    """Breadth-first search within the part of `start`; order[: len(members)] = its members (int64[k]) as they are met.
    Where nothing is left to reach, it goes on from the first member that was not met."""
    one = part[start]
    for v in members:
        seen[v] = False
    seen[start] = True
    order[0] = start
    count, done, rest = 1, 0, 0
    while count < len(members) or done < count:
        if done == count:
            while seen[members[rest]]:
                rest += 1
            seen[members[rest]] = True
            order[count] = members[rest]
            count += 1
        v = order[done]
        done += 1
        for p in range(offsets[v], offsets[v + 1]):
            u = heads[p]
            if part[u] == one and not seen[u]:
                seen[u] = True
                order[count] = u
                count += 1
