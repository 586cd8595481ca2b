"""All pairs by separators: distances within parts, between the boundaries of parts, and their combination.

The vertices are divided into parts; a vertex with an arc from or to another part is on the boundary of its part. 1. The
distances D_P within each part P, along paths inside it. 2. The boundary graph has the arcs between parts, and arcs of
length D_P between boundary vertices of a part; its distances B equal the distances in the whole graph. 3. A shortest
path from s in P to t in Q leaves P and enters Q at boundary vertices, or stays within P = Q: the minimum of
D_P(s, a) + B(a, b) + D_Q(b, t) and D_P(s, t), by two min-plus products. Steps 1 and 2 use blocked Floyd-Warshall. Work,
with b boundary vertices and parts of p vertices: n p^2 + b^3 + n b^2 / parts + n^2 b / parts. On planar-like graphs b
is about sqrt(n parts); else b is near n, and blocked Floyd-Warshall is better. Memory: n p + b^2 entries. Source:
Djidjev, Thulasidasan, Chapuis, Andonov and Lavenier, Efficient Multi-GPU Computation of All-Pairs Shortest Paths
(2014), whose parts are made by METIS.

Parts with few arcs between them arise by halving: a BFS from a peripheral vertex, cut in the middle.

A part that is too large is searched from a peripheral vertex, along arcs in both directions, and cut after half of its
vertices; so on planar-like graphs the cut is about as long as the part is wide. Unreached vertices are searched next,
so that components stay together if possible. Work: m for each halving.
Source: George and Liu (1979), pseudo-peripheral vertices and level structures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...distinct import distinct
from ...errors import MoreMemoryError
from ...jit import kernel
from ...progress import Tick
from ...stream.rows import check_rows
from ...stream.threads import Threads
from ...units import format_size
from ..rows import WeightedRows
from .arcs import Lengths
from .floyd_warshall import blocked
from .min_plus import Product, all_tiles, padded, tile_edge
from .tiles import RamTiles


def undirected(rows: WeightedRows, room_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """(offsets int64[n + 1], heads) of the arcs and their reverse; an edge with both arcs is there twice. Returns the
    rows themselves if every arc has its reverse, tested by a hash (a wrong test costs only quality). Raises
    MoreMemoryError if new rows do not fit `room_bytes`."""
    unsorted, balance = check_rows(rows.heads, 0, rows.offsets)
    if unsorted < 0 and balance == 0:
        return rows.offsets, rows.heads
    need = 8 * (rows.n_vertices + 1) + 2 * rows.n_arcs * rows.heads.dtype.itemsize
    if need > room_bytes:
        raise MoreMemoryError(f"separators need {format_size(need)} to find parts, and {format_size(room_bytes)}"
                              " are free", need - room_bytes)
    offsets = np.zeros(rows.n_vertices + 1, np.int64)
    heads = np.empty(2 * rows.n_arcs, rows.heads.dtype)
    fill_both(rows.offsets, rows.heads, offsets, heads)
    return offsets, heads


@kernel
def fill_both(offsets, heads, both, other):
    """Set both (int64[n + 1], zeros) to the offsets of the arcs and their reverse, and `other` to their heads."""
    n = len(offsets) - 1
    for v in range(n):
        both[v + 1] += offsets[v + 1] - offsets[v]
        for p in range(offsets[v], offsets[v + 1]):
            both[np.int64(heads[p]) + 1] += 1
    for v in range(n):
        both[v + 1] += both[v]
    # Filling a row advances its offset, which at the end is the offset of the next row.
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
    """BFS within the part of `start`; sets order[: len(members)] to its members (int64[k]) in the order of visits. When
    no reachable vertex remains, it continues from the first unvisited member."""
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


_LEAST_PART = 32


def part_size(n_vertices: int) -> int:
    """Vertices of a part: n^(2/3), so that steps 1 and 2 take about equal time on planar-like graphs."""
    return max(_LEAST_PART, round(n_vertices ** (2 / 3)))


@dataclass
class _Part:
    """vertices : int64[p], ascending. within : dtype[padded p, padded p], distances inside the part. places : int64[b],
    positions of its boundary among the vertices. first : number of its first boundary vertex among all of them."""

    vertices: np.ndarray
    within: np.ndarray
    places: np.ndarray
    first: int = 0


class Separators:
    """Distances by parts, from which rows of the matrix are computed. room_bytes : memory for them. Raises
    MoreMemoryError if it is too small."""

    def __init__(self, rows: WeightedRows, lengths: Lengths, threads: Threads, tick: Tick, room_bytes: int,
                 size: int | None = None) -> None:
        self._lengths, self._threads, self._tick, self._rows = lengths, threads, tick, rows
        self._part_of = parts_of(rows, part_size(rows.n_vertices) if size is None else size, room_bytes)
        on_boundary = np.zeros(rows.n_vertices, np.bool_)
        mark_boundary(rows.offsets, rows.heads, self._part_of, on_boundary)
        self.n_boundary = int(on_boundary.sum())
        self._check_room(room_bytes)
        self._number = np.full(rows.n_vertices, -1, np.int64)
        self._parts = self._closed_parts(on_boundary)
        self._across = self._closed_boundary()

    def _check_room(self, room_bytes: int) -> None:
        """Raise MoreMemoryError if the distances do not fit `room_bytes`."""
        item = self._lengths.dtype.itemsize
        sizes = np.bincount(self._part_of) if len(self._part_of) else np.zeros(1, np.int64)
        items = sum(padded(size) ** 2 for size in sizes.tolist()) + padded(self.n_boundary) ** 2
        widest = max(padded(self.n_boundary), padded(int(sizes.max())))
        need = items * item + Product.panel_bytes(widest, item)
        if need > room_bytes:
            raise MoreMemoryError(
                f"separators need {format_size(need)} for {len(sizes):,} parts with {self.n_boundary:,} vertices"
                f" between them, and {format_size(room_bytes)} are free", need - room_bytes)

    def _closed(self, matrix: np.ndarray) -> np.ndarray:
        """The distances from a padded adjacency matrix, in place."""
        product = Product(self._threads, matrix.dtype, len(matrix))
        blocked(RamTiles(matrix, self._lengths, product, self._tick))
        return matrix

    def _closed_parts(self, on_boundary: np.ndarray) -> list[_Part]:
        """Step 1: the parts, with their inner distances."""
        order = np.argsort(self._part_of, kind="stable")
        cuts = np.flatnonzero(np.diff(self._part_of[order])) + 1
        parts, first = [], 0
        local = np.zeros(len(order), np.int64)
        for vertices in np.split(order, cuts) if len(order) else []:
            local[vertices] = np.arange(len(vertices))
            places = np.flatnonzero(on_boundary[vertices])
            within = self._closed(self._arcs_within(vertices, local))
            parts.append(_Part(vertices, within, places, first))
            self._number[vertices[places]] = np.arange(first, first + len(places))
            first += len(places)
        return parts

    def _arcs_within(self, vertices: np.ndarray, local: np.ndarray) -> np.ndarray:
        """The padded adjacency matrix of a part. local : number of each of its vertices within the part."""
        matrix = np.full((padded(len(vertices)),) * 2, self._lengths.infinity, self._lengths.dtype)
        rows = self._rows
        put_within(matrix, vertices, local, rows.offsets, rows.heads, rows.costs, self._part_of)
        return matrix

    def _closed_boundary(self) -> np.ndarray:
        """Step 2: distances between all boundary vertices, numbered by `_number`."""
        across = np.full((padded(self.n_boundary),) * 2, self._lengths.infinity, self._lengths.dtype)
        for part in self._parts:
            span = slice(part.first, part.first + len(part.places))
            across[span, span] = part.within[np.ix_(part.places, part.places)]
        rows = self._rows
        put_between(across, rows.offsets, rows.heads, rows.costs, self._part_of, self._number)
        return self._closed(across)

    def fill(self, first: int, strip: np.ndarray) -> None:
        """Step 3: set strip[i] to the distances from vertex first + i, dtype[k, n]."""
        strip.fill(self._lengths.infinity)
        owners = self._part_of[first : first + len(strip)]
        for one in distinct(owners).tolist():
            here = np.flatnonzero(owners == one)
            self._fill_part(self._parts[one], strip, here, first + here)
            self._tick()

    def _fill_part(self, part: _Part, strip: np.ndarray, here: np.ndarray, sources: np.ndarray) -> None:
        """Fill the rows `here` of the strip, whose vertices `sources` are in this part."""
        rows = np.searchsorted(part.vertices, sources)
        out = self._times(part.within[np.ix_(rows, part.places)],
                          self._across[part.first : part.first + len(part.places), : self.n_boundary])
        for other in self._parts:
            span = slice(other.first, other.first + len(other.places))
            size = len(other.vertices)
            found = self._times(out[:, span], other.within[other.places, :size])
            if other is part:
                found = np.minimum(found, part.within[rows, :size])
            strip[np.ix_(here, other.vertices)] = found

    def _times(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The min-plus product of two matrices, infinite without a path."""
        out, one, other = (np.full((padded(a), padded(b)), self._lengths.infinity, self._lengths.dtype)
                           for a, b in ((len(left), right.shape[1]), left.shape, right.shape))
        one[: len(left), : left.shape[1]], other[: len(right), : right.shape[1]] = left, right
        if left.size and right.size:
            product = Product(self._threads, out.dtype, max(*out.shape, *one.shape))
            edge = tile_edge(max(out.shape))
            product.relax(out, one, other, all_tiles(out.shape, edge), edge, (0, one.shape[1]))
        return out[: len(left), : right.shape[1]]


@kernel
def mark_boundary(offsets, heads, part_of, on_boundary):
    """Set on_boundary[v] for both ends of every arc between two parts."""
    for v in range(len(offsets) - 1):
        for p in range(offsets[v], offsets[v + 1]):
            w = np.int64(heads[p])
            if part_of[v] != part_of[w]:
                on_boundary[v] = on_boundary[w] = True


@kernel
def put_within(matrix, vertices, local, offsets, heads, costs, part_of):
    """Set matrix[i, local[w]] to the weight of the arc from vertices[i] to w, if both are in the part; 0 on the
    diagonal."""
    for i in range(len(vertices)):
        v = vertices[i]
        for p in range(offsets[v], offsets[v + 1]):
            w = np.int64(heads[p])
            if part_of[v] == part_of[w] and costs[p] < matrix[i, local[w]]:
                matrix[i, local[w]] = costs[p]
        matrix[i, i] = 0


@kernel
def put_between(across, offsets, heads, costs, part_of, number):
    """Lower across[number[v], number[w]] to the weight of the arc (v, w), for arcs between two parts."""
    for v in range(len(offsets) - 1):
        for p in range(offsets[v], offsets[v + 1]):
            w = np.int64(heads[p])
            if part_of[v] != part_of[w] and costs[p] < across[number[v], number[w]]:
                across[number[v], number[w]] = costs[p]
