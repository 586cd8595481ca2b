"""Euler tours of a rooted forest, and every k-th entry of them, computed from parents only, in RAM.

Definition: the tour of a tree lists a vertex when it enters it, and again after each of its
children, which it visits in increasing natural rank: 2 size - 1 entries, the root at position 0.
Let s(c) be the number of vertices in the subtree of c. A child c of v is at
    pos(c) = pos(v) + 1 + sum of 2 s(b) over the children b of v of smaller rank,
and v again at pos(c) + 2 s(c) - 1. So all positions follow from sizes and parents, and a vertex is
chosen if one of its positions is a multiple of k. Two neighbours on the tour are neighbours in the
graph: every vertex is less than k steps from a chosen one.
I/O: none. Work: O(n). Bytes a vertex with uint32 ids: parents, sizes, children and positions, 16, and 4
for vertices by rank in a reordered store; positions take 8 bytes from 2^31 vertices on.
Source: Meyer, On trade-offs in external-memory diameter-approximation (2008); Ajwani, Beckmann, Meyer,
Veith (2012), section 2, parametrized approximations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..traverse.workspace import list_bits
from .rooted import in_slices
from .spanning import SpanningForest

_PIECE = 1 << 17


def euler_bytes(n_vertices: int, id_bytes: int) -> int:
    """Bytes of vertex state of euler_masters, parents included."""
    return n_vertices * (3 * id_bytes + 2 * _position_dtype(n_vertices).itemsize) + n_vertices // 8 + (1 << 20)


def _position_dtype(n_vertices: int) -> np.dtype[Any]:
    """The dtype of positions on a tour, which has at most 2 n - 1 entries; its largest value is no position."""
    return np.dtype(np.uint32 if 2 * n_vertices < 1 << 32 else np.uint64)


def euler_masters(
    forest: SpanningForest, spacing: int, ranks: np.ndarray, tick: Tick = no_tick
) -> np.ndarray:
    """The vertices on every `spacing`-th entry of the Euler tour of every tree with an edge, from
    position 0 on: int64[k], distinct, ascending by rank, at least one a tree.

    ranks : natural rank of every vertex, id[n], or length 0 if every vertex is its own rank. Raises InputError
    for a spacing below 1.
    """
    if spacing < 1:
        raise InputError("masters are at least one entry of the tour apart", text=str(spacing))
    parents = forest.raw
    n, dtype = len(parents), _position_dtype(len(parents))
    sizes, children = np.ones(n, parents.dtype), np.zeros(n, dtype)
    in_slices(n, tell_children, (parents, children), tick)
    in_slices(n, fold_sizes, (parents, children, sizes), tick)
    children[:] = 0
    positions, by_rank = np.empty(n, dtype), _by_rank(ranks)
    in_slices(n, offsets_in_parents, (parents, sizes, by_rank, children, positions), tick)
    del children
    bitmap = np.zeros((n + 63) // 64, np.uint64)
    in_slices(n, climb_positions, (parents, positions, bitmap), tick)
    bitmap[:] = 0
    in_slices(n, choose, (parents, sizes, positions, spacing, ranks, bitmap), tick)
    del sizes, positions
    masters = np.empty(int(np.bitwise_count(bitmap).sum()), np.int64)
    list_bits(bitmap, masters)
    for begin in range(0, len(masters) if len(ranks) else 0, _PIECE):
        masters[begin : begin + _PIECE] = by_rank[masters[begin : begin + _PIECE]]
    return masters


def _by_rank(ranks: np.ndarray) -> np.ndarray:
    """The vertices by rank, id[n]; length 0 if every vertex is its own rank."""
    by_rank = np.empty_like(ranks)
    for begin in range(0, len(ranks), _PIECE):
        part = ranks[begin : begin + _PIECE]
        by_rank[part] = np.arange(begin, begin + len(part), dtype=ranks.dtype)
    return by_rank


@kernel
def tell_children(parents, children, start, stop):
    """children[parent of v] += 1 for v in [start, stop)."""
    for v in range(start, stop):
        p = np.int64(parents[v])
        if p != v:
            children[p] = np.int64(children[p]) + 1


@kernel
def fold_sizes(parents, children, sizes, start, stop):
    """From every vertex in [start, stop) whose children are all folded, add sizes upwards.

    children : number not yet folded; the largest value marks a vertex that is itself folded."""
    for leaf in range(start, stop):
        v = np.int64(leaf)
        while children[v] == 0 and np.int64(parents[v]) != v:
            p = np.int64(parents[v])
            children[v] = np.iinfo(children.dtype).max
            sizes[p] = np.int64(sizes[p]) + np.int64(sizes[v])
            children[p] = np.int64(children[p]) - 1
            v = p


@kernel
def offsets_in_parents(parents, sizes, by_rank, passed, offsets, start, stop):
    """offsets[v] = position of v minus that of its parent, for the vertices of ranks [start, stop).

    passed : entries below each vertex that its children of smaller rank take."""
    for rank in range(start, stop):
        v = np.int64(by_rank[rank]) if len(by_rank) else np.int64(rank)
        p = np.int64(parents[v])
        if p == v:
            offsets[v] = 0
        else:
            before = np.int64(passed[p])
            offsets[v] = before + 1
            passed[p] = before + 2 * np.int64(sizes[v])


@kernel
def climb_positions(parents, positions, known, start, stop):
    """Turn offsets into positions for the vertices in [start, stop) and all above them.

    known : bitmap of finished vertices."""
    for bottom in range(start, stop):
        v = np.int64(bottom)
        total = np.int64(0)
        while not (known[v >> 6] >> np.uint64(v & 63)) & np.uint64(1):
            p = np.int64(parents[v])
            if p == v:
                known[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
            else:
                total += np.int64(positions[v])
                v = p
        total += np.int64(positions[v])
        v = np.int64(bottom)
        while not (known[v >> 6] >> np.uint64(v & 63)) & np.uint64(1):
            known[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
            offset = np.int64(positions[v])
            positions[v] = total
            total -= offset
            v = np.int64(parents[v])


@kernel
def choose(parents, sizes, positions, spacing, ranks, chosen, start, stop):
    """Set the bits, by rank, of vertices with a position that is a multiple of `spacing`, as far as it follows from the
    vertices v in [start, stop): v at its own position, its parent after v. Leaves out trees without an edge."""
    for v in range(start, stop):
        p = np.int64(parents[v])
        at = np.int64(positions[v])
        if at % spacing == 0 and (p != v or sizes[v] > 1):
            _set_bit(chosen, ranks, v)
        if p != v and (at + 2 * np.int64(sizes[v]) - 1) % spacing == 0:
            _set_bit(chosen, ranks, p)


@inlined
def _set_bit(bitmap, ranks, v):
    rank = np.int64(ranks[v]) if len(ranks) else np.int64(v)
    bitmap[rank >> 6] |= np.uint64(1) << np.uint64(rank & 63)
