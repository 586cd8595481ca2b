"""Components of the vertices that a BFS has not reached, without arrays that have an entry for every vertex: union-find
range by range.

Ranges of vertices are processed from the last to the first. In a range the edges within it are united in RAM; the
smallest vertex of each part leads it. Some edges lead from the part to vertices of earlier ranges. The smallest of
these vertices, p, becomes the part's parent; each other edge, to a vertex w, becomes an edge between w and p and is
passed to the range of w. So all earlier ranges stay as connected as they were. The totals of the part (size, largest
vertex, hub, and vertex of smallest rank) are passed to p as well. A part without a smaller neighbour is a component,
led by its smallest vertex. Then labels are passed in the other direction, from the first range to the last.

I/O, with e edges of hidden vertices, h of these vertices and b the bytes of an id: 8 e (1 + p) written and twice that
read, p being the average number of ranges that an edge is passed to (at most their number less one, and its logarithm
for vertices in random order: see Dementiev et al.); (4 + b) h written and read; and at most 80 h for parts whose parent
is in an earlier range. Bytes: 64 per vertex of a range; the rooms of three buckets.

Source: Dementiev, Sanders, Schultes, Sibeyn, Engineering an external memory minimum spanning tree algorithm (2004):
nodes are removed in a fixed order and their edges passed on; here ranges take the place of single nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..traverse.components import Components, _find, pairs_within
from .buckets import Sink
from .columns import WordFile
from .queues import Space, Table

# Columns of a record, and of the totals of parts.
_SIZE, _LAST, _DEGREE, _HUB, _RANK, _FIRST, _SUMS = range(7)
_NONE = np.int64(1) << 62
_NOT_HIDDEN = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True)
class Hidden:
    """The graph to label. send : sends the number of every hidden vertex along its arcs to larger vertices.
    members(first, stop) : whether each vertex of a range is hidden, bool[k]. facts(first, stop) : degrees and natural
    ranks of its vertices, int64[k] each."""

    send: Callable[[Sink], object]
    members: Callable[[int, int], np.ndarray]
    facts: Callable[[int, int], tuple[np.ndarray, np.ndarray]]


class ExternalComponents(Components):
    """See Components. table : a row (root, sizes and so on) for every component; size 0 means that it was returned."""

    def __init__(self, labels: WordFile, reached_label: int, table: Table) -> None:
        super().__init__(labels, reached_label, len(table))
        self._table = table

    def n_pairs(self) -> int:
        """See Components."""
        return sum(pairs_within(rows[:, 1 + _SIZE]) for _, rows in self._table.pieces())

    def _largest(self, size: int, most: int) -> tuple[np.ndarray, np.ndarray]:
        best = np.empty((0, 2), np.int64)
        for _, rows in self._table.pieces():
            best = np.concatenate((best, rows[rows[:, 1 + _SIZE] > size, :2]))
            best = best[np.lexsort((best[:, 0], -best[:, 1]))[:most]]
        best = best[np.argsort(best[:, 0])]
        return best[:, 0], best[:, 1]

    def _describe(self, roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        last, hubs = np.full((2, len(roots)), -1, np.int64)
        for start, rows in self._table.pieces():
            at = np.minimum(np.searchsorted(roots, rows[:, 0]), len(roots) - 1)
            wanted = np.flatnonzero(roots[at] == rows[:, 0])
            last[at[wanted]], hubs[at[wanted]] = rows[wanted, 1 + _LAST], rows[wanted, 1 + _HUB]
            rows[wanted, 1 + _SIZE] = 0
            if len(wanted):
                self._table.replace(start, rows)
        return last, hubs

    def _larger(self, size: int, most: int) -> int:
        return sum(int(np.count_nonzero(rows[:, 1 + _SIZE] > size)) for _, rows in self._table.pieces())

    def _largest_left(self) -> int:
        return max((int(rows[:, 1 + _SIZE].max()) for _, rows in self._table.pieces()), default=0)

    def first_by_rank(self) -> np.ndarray:
        """int64[n_others, 2]: the smallest natural rank in each component, and its vertex."""
        return np.concatenate([np.empty((0, 2), np.int64),
                               *(rows[:, 1 + _RANK : 3 + _RANK] for _, rows in self._table.pieces())])

    def described(self) -> tuple[np.ndarray, ...]:
        """(labels, sizes, hubs, smallest ranks, their vertices), int64[n_others] each; valid until a component is
        returned."""
        rows = np.concatenate([np.empty((0, 5), np.int64), *(
            rows[:, [0, 1 + _SIZE, 1 + _HUB, 1 + _RANK, 1 + _FIRST]] for _, rows in self._table.pieces())])
        return tuple(np.ascontiguousarray(values) for values in rows.T)

    def release(self) -> None:
        """See Components."""
        super().release()
        self._table.clear()


def external_components(
    space: Space, hidden: Hidden, reached: int, tick: Tick = no_tick,
) -> ExternalComponents | None:
    """The components of the hidden vertices, or None without hidden vertices. reached : label of all other vertices."""
    union = _Union(space, hidden, reached)
    hidden.send(union)
    if len(union.edges) == 0:
        return None
    for number in reversed(range(space.ranges.count)):
        union.unite(number)
        tick()
    union.edges.close()
    labels = WordFile(space.scratch, space.ranges.n, space.key, reached, space.page)
    for number in range(space.ranges.count):
        union.label(number, labels)
        tick()
    union.close()
    return ExternalComponents(labels, reached, union.table)


class _Union:
    """The passes down and up through the ranges. leaders : offset in its range of the leader of every hidden vertex.
    reached : label of the other vertices. table : the complete components so far."""

    def __init__(self, space: Space, hidden: Hidden, reached: int) -> None:
        self._ranges, self._hidden, self._reached, self._lock = space.ranges, hidden, reached, Lock()
        self._bits = np.uint64(max(1, (space.ranges.n - 1).bit_length()))
        self.edges, self._parts, self._labels = space.queues(), space.queues(2 + _SUMS), space.queues(2)
        self._leaders = WordFile(space.scratch, space.ranges.n, np.uint32, int(_NOT_HIDDEN),
                                 space.page)
        self.table = Table(space.scratch, 1 + _SUMS, max(1, space.room // (1 + _SUMS)))

    def add(self, keys: np.ndarray, values: np.ndarray | None = None) -> None:
        """Add edges between hidden vertices, given by their larger and smaller ends."""
        assert values is not None
        with self._lock:
            self._put_edges(keys.astype(np.int64), values)

    def _put_edges(self, larger: np.ndarray, smaller: np.ndarray) -> None:
        offsets = larger & (self._ranges.width - 1)
        self.edges.put(larger >> self._ranges.shift,
                       (offsets.astype(np.uint64) << self._bits) | smaller.astype(np.uint64))

    def unite(self, number: int) -> None:
        """Unite the vertices of a range, and pass on the edges that leave it."""
        first, stop = self._ranges.bounds(number)
        members = self._hidden.members(first, stop)
        if not members.any():
            return
        leader = np.arange(stop - first, dtype=np.uint32)
        low = np.full(stop - first, _NONE, np.int64)
        for words in self.edges.read(number):
            unite_range(words[:, 0], self._bits, first, leader, low)
        leads_out = bool(settle_leaders(leader, low))
        for words in self.edges.read(number) if leads_out else ():
            larger, smaller = np.empty((2, len(words)), np.int64)
            count = leaving_edges(words[:, 0], self._bits, first, leader, low, larger, smaller)
            self._put_edges(larger[:count], smaller[:count])
        self._add_up(number, members, leader, low)
        leader[~members] = _NOT_HIDDEN
        self._leaders[first:stop] = leader

    def _add_up(self, number: int, members: np.ndarray, leader: np.ndarray, low: np.ndarray) -> None:
        """Pass the totals of all parts of a range to the ranges of their parents, or to the table."""
        first, stop = self._ranges.bounds(number)
        sums = np.zeros((stop - first, _SUMS), np.int64)
        add_vertices(leader, members, first, *self._hidden.facts(first, stop), sums)
        for rows in self._parts.read(number):
            add_parts(leader, rows.view(np.int64), first, sums)
        leads = np.flatnonzero(members & (leader == np.arange(stop - first)))
        rows = np.column_stack((low[leads], leads + first, sums[leads]))
        whole = rows[:, 0] == _NONE
        self.table.append(rows[whole, 1:])
        rest = rows[~whole]
        self._parts.put(rest[:, 0] >> self._ranges.shift, rest.view(np.uint64))

    def label(self, number: int, labels: WordFile) -> None:
        """Label a range after all earlier ones, and send labels to later ranges."""
        first, stop = self._ranges.bounds(number)
        leader = self._leaders[first:stop].astype(np.int64)
        members = leader != _NOT_HIDDEN
        if not members.any():
            return
        names = np.arange(first, stop)
        for rows in self._labels.read(number):
            names[rows[:, 0].view(np.int64) - first] = rows[:, 1].view(np.int64)
        names[members] = names[leader[members]]
        for rows in self._parts.read(number):
            above, child = rows[:, 0].view(np.int64), rows[:, 1].view(np.int64)
            answers = np.column_stack((child, names[above - first]))
            self._labels.put(child >> self._ranges.shift, answers.view(np.uint64))
        names[~members] = self._reached
        labels[first:stop] = names.astype(labels.dtype)

    def close(self) -> None:
        """Drop everything except the table."""
        for queues in (self.edges, self._parts, self._labels):
            queues.close()


@kernel
def unite_range(words, bits, first, leader, low):
    """Unite the ends of the edges within a range; low[v] = the smallest earlier vertex that an edge of v leads to.

    words : uint64[k], (offset of the larger end, smaller end); bits : of the smaller end. leader : uint32[k],
    union-find.
    """
    mask = (np.uint64(1) << bits) - np.uint64(1)
    for i in range(len(words)):
        a = np.int64(words[i] >> bits)
        w = np.int64(words[i] & mask)
        if w < first:
            low[a] = min(low[a], w)
            continue
        one = _find(leader, a)
        other = _find(leader, w - first)
        if one < other:
            leader[other] = one
        elif other < one:
            leader[one] = other


@kernel
def settle_leaders(leader, low):
    """Set leader[v] to the leader itself, and low[leader] to the smallest of its part; returns whether any part has an
    edge to an earlier range."""
    leads_out = False
    for v in range(len(leader)):
        one = _find(leader, np.int64(v))
        leader[v] = one
        low[one] = min(low[one], low[v])
        leads_out |= low[one] != _NONE
    return leads_out


@kernel
def leaving_edges(words, bits, first, leader, low, larger, smaller):
    """Replace the edges that leave a part for w by edges (w, p), p being the part's smallest such vertex; returns their
    number."""
    mask = (np.uint64(1) << bits) - np.uint64(1)
    count = 0
    for i in range(len(words)):
        w = np.int64(words[i] & mask)
        p = low[np.int64(leader[np.int64(words[i] >> bits)])]
        if w < first and w != p:
            larger[count] = w
            smaller[count] = p
            count += 1
    return count


@inlined
def _add(sums, i, size, last, degree, hub, rank, vertex):
    if sums[i, _SIZE] == 0 or rank < sums[i, _RANK]:
        sums[i, _RANK] = rank
        sums[i, _FIRST] = vertex
    if sums[i, _SIZE] == 0 or degree > sums[i, _DEGREE] or (degree == sums[i, _DEGREE] and hub < sums[i, _HUB]):
        sums[i, _DEGREE] = degree
        sums[i, _HUB] = hub
    sums[i, _SIZE] += size
    sums[i, _LAST] = max(sums[i, _LAST], last)


@kernel
def add_vertices(leader, members, first, degrees, ranks, sums):
    """Add the hidden vertices of a range to the totals of their parts, int64[k, 6]."""
    for v in range(len(leader)):
        if members[v]:
            _add(sums, np.int64(leader[v]), np.int64(1), first + v, degrees[v], first + v, ranks[v], first + v)


@kernel
def add_parts(leader, rows, first, sums):
    """Add parts of later ranges to their parents' parts. rows : int64[k, 8], (parent vertex, leader of the part,
    totals)."""
    for i in range(len(rows)):
        _add(sums, np.int64(leader[rows[i, 0] - first]), rows[i, 2 + _SIZE], rows[i, 2 + _LAST], rows[i, 2 + _DEGREE],
             rows[i, 2 + _HUB], rows[i, 2 + _RANK], rows[i, 2 + _FIRST])
