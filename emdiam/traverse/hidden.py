"""Connected components of the vertices that a first traversal has not reached: union-find in one scan, in one column.

The hidden vertices (with an edge, not reached) are numbered in order. A root is the smallest vertex of its component.
After all are united, the root's entry is the size of the component, marked by a bit, and every other entry is its root.
Bytes: 4 for each hidden vertex (8 if there are 2^31 or more), and 5/32 a vertex for the bitmap and its counts; nothing
if all vertices were reached. I/O: one pass over the blocks with a hidden row; none if the BFS has put those rows aside.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream.offsets import row_length
from . import uncompiled
from .atomics import count_ones, count_trailing_zeros
from .components import Components, keep_largest, pairs_within
from .core import Core
from .rows import has_bit, in_first, row_walk
from .rows_aside import neighbour_at, record_at

_PIECE = 1 << 18
_LABELS = "labels of components"
# Words of the bitmap for each entry of the table of preceding bits.
_WORDS = 4


class HiddenComponents(Components):
    """Components of the hidden vertices.

    words : uint64 bitmap of them, with clear bits beyond the last vertex. entries : unsigned[hidden vertices], see
    above; None: computed by a scan. reached_label : of all other vertices.
    """

    def __init__(
        self, core: Core, words: np.ndarray, entries: np.ndarray | None, reached_label: int, tick: Tick = no_tick
    ) -> None:
        self._core, self.words = core, words
        self._before = np.empty(-(-len(words) // _WORDS), np.int64)
        count = int(count_before(words, self._before))
        small = count < 1 << 31
        self._mark = 1 << 31 if small else 1 << 62
        core.hold(_LABELS, words.nbytes + self._before.nbytes + count * (4 if small else 8))
        self.entries = np.arange(count, dtype=np.uint32 if small else np.uint64) if entries is None else entries
        if entries is None:
            self._unite(tick)
        super().__init__(HiddenLabels(self), reached_label,
                         sum(len(roots) for roots, _ in self._sizes()))

    def _unite(self, tick: Tick) -> None:
        """Compute the entries, from the rows that the BFS has put aside, or else by one scan."""
        if not self._unite_left():
            self._unite_by_scan(tick)
        count_members(self.entries, self._mark)

    def _unite_left(self) -> bool:
        """Unite the ends of hidden rows put aside; False if not all were put aside."""
        left = self._core.work.rows_aside
        records = None if left is None else left.records
        if records is None:
            return False
        arcs = int(unite_left(*records, self.words, self._before, self.entries))
        self._core.counters.add(edges_scanned=arcs)
        return arcs == int(arcs_of(self.words, self._core.offsets))

    def _unite_by_scan(self, tick: Tick) -> None:
        lock = threading.Lock()

        def unite_alone(*arguments: Any) -> int:
            with lock:  # union-find is serial; other threads fetch and decode meanwhile
                arcs: int = unite_hidden(*arguments)
                return arcs

        core = self._core
        arcs = core.sweep(core.blocks_with(self.words), unite_alone, self.words, self._before, self.entries, tick=tick)
        core.counters.add(passes=1, edges_scanned=arcs)

    def _sizes(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(number of the root, size) of the components, in pieces, int64[k] each; size 0 once returned."""
        for start in range(0, len(self.entries), _PIECE):
            part = self.entries[start : start + _PIECE].astype(np.int64)
            roots = np.flatnonzero(part >= self._mark)
            yield roots + start, part[roots] - self._mark

    def n_pairs(self) -> int:
        """See Components.n_pairs."""
        return sum(pairs_within(sizes) for _, sizes in self._sizes())

    def _largest(self, size: int, most: int) -> tuple[np.ndarray, np.ndarray]:
        pieces = ((roots[sizes > size], sizes[sizes > size]) for roots, sizes in self._sizes())
        roots, sizes = keep_largest(pieces, most)
        vertices = np.empty(len(roots), np.int64)
        vertices_at(self.words, self._before, roots, vertices)
        return vertices, sizes

    def _describe(self, roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers = np.empty(len(roots), np.int64)
        numbers_of(self.words, self._before, roots, numbers)
        self.entries[numbers] = self._mark
        last, hubs, degrees = np.full((3, len(roots)), -1, np.int64)
        describe_hidden(self.words, self.entries, self._mark, numbers, self._core.offsets, last, hubs, degrees)
        return last, hubs

    def _larger(self, size: int, most: int) -> int:
        return sum(int(np.count_nonzero(sizes > size)) for _, sizes in self._sizes())

    def _largest_left(self) -> int:
        return max((int(sizes.max(initial=0)) for _, sizes in self._sizes()), default=0)

    def release(self) -> None:
        """See Components.release."""
        super().release()
        self.words = self._before = np.empty(0, np.uint64)
        self.entries = self.entries[:0].copy()
        self._core.hold(_LABELS, 0)

    def decoded(self, start: int, stop: int) -> np.ndarray:
        """Labels of vertices start..stop-1, id[k]."""
        labels = np.empty(max(0, stop - start), self._core.work.queues.dtype)
        decode_labels(self.words, self._before, self.entries, self._mark, self.reached_label, start, labels)
        return labels

    def first_by_rank(self, ranks: np.ndarray) -> np.ndarray:
        """int64[n_others, 2]: the smallest natural rank in each component, and its vertex. ranks : id[n], or length 0
        if every vertex is its own rank."""
        roots = np.concatenate([np.empty(0, np.int64), *(roots for roots, _ in self._sizes())])
        best = np.full((len(roots), 2), -1, np.int64)
        smallest_hidden(self.words, self.entries, self._mark, roots, ranks, best)
        return best


class HiddenLabels:
    """Labels of all vertices, computed on demand: labels[start:stop] is id[k]."""

    def __init__(self, components: HiddenComponents) -> None:
        self._components = components
        self.dtype = components._core.work.queues.dtype

    def __len__(self) -> int:
        return self._components._core.table.n_vertices

    def __getitem__(self, part: slice) -> np.ndarray:
        start, stop, _ = part.indices(len(self))
        return self._components.decoded(start, stop)


def find_components(core: Core, reached: int, tick: Tick = no_tick) -> HiddenComponents | None:
    """Components other than the one that the last complete BFS reached (its bitmap is in the workspace).

    `reached` is a vertex of that one. Returns None if every vertex with an edge was reached.
    """
    visited = core.work.visited
    if bool((visited == 0xFFFFFFFFFFFFFFFF).all()):
        return None
    return HiddenComponents(core, ~visited, None, reached, tick)


@kernel(uncompiled=uncompiled.count_before)
def count_before(words, before):
    """before[i] = number of set bits before word _WORDS i, int64; returns the total."""
    count = 0
    for word in range(len(words)):
        if word % _WORDS == 0:
            before[word // _WORDS] = count
        count += np.int64(count_ones(words[word]))
    return count


@inlined
def _number(words, before, v):
    """Number of the hidden vertex v, which is the number of smaller ones."""
    word = v >> 6
    number = before[word // _WORDS]
    for i in range(word // _WORDS * _WORDS, word):
        number += np.int64(count_ones(words[i]))
    return number + np.int64(count_ones(words[word] & ((np.uint64(1) << np.uint64(v & 63)) - np.uint64(1))))


@inlined
def _vertex(words, before, number):
    """The hidden vertex with this number."""
    group = np.searchsorted(before, number, side="right") - 1
    word = group * _WORDS
    left = number - before[group]
    here = np.int64(count_ones(words[word]))
    while left >= here:
        left -= here
        word += 1
        here = np.int64(count_ones(words[word]))
    bits = words[word]
    for _ in range(left):
        bits &= bits - np.uint64(1)
    return (word << 6) + count_trailing_zeros(bits)


@inlined
def _find(entries, i):
    while np.int64(entries[i]) != i:
        entries[i] = entries[np.int64(entries[i])]
        i = np.int64(entries[i])
    return i


@inlined
def _unite_row(state, ids, v, begin, end, whole):
    words, before, entries = state
    root = _find(entries, _number(words, before, v))
    for p in range(begin, end):
        w = np.int64(ids[p])
        # The row of the smaller end has the edge as well. An edge stored in one direction only is reported by the
        # pager.
        if w < v or not has_bit(words, w):
            continue
        other = _find(entries, _number(words, before, w))
        if other < root:
            entries[root] = other
            root = other
        elif root < other:
            entries[other] = root
    return end - begin, False


_walk_hidden = row_walk(in_first, _unite_row)


@kernel(uncompiled=uncompiled.unite_hidden)
def unite_hidden(piece, layout, words, before, entries):
    """Unite the ends of all arcs of hidden rows; the smaller root wins. One thread at a time. Returns arcs scanned."""
    return _walk_hidden(piece, layout, (words, before, entries))


@kernel
def unite_left(place, fills, words, before, entries):
    """As unite_hidden, for the hidden rows that a BFS has put aside (rows_aside.py). Returns their arcs."""
    arcs = 0
    ids = np.empty(place.shape[1], np.int64)
    for segment in range(len(place)):
        row = place[segment]
        at = np.int64(0)
        while at < fills[segment]:
            v, p, at = record_at(row, at)
            count, w = 0, v
            while p < at:
                w, p = neighbour_at(row, p, w)
                ids[count] = w
                count += 1
            if has_bit(words, v):
                arcs += _unite_row((words, before, entries), ids, v, 0, count, False)[0]
    return arcs


@kernel
def arcs_of(words, offsets):
    """Number of arcs in the rows of these vertices."""
    arcs = 0
    for word in range(len(words)):
        bits = words[word]
        while bits:
            arcs += row_length(offsets, (word << 6) + count_trailing_zeros(bits))
            bits &= bits - np.uint64(1)
    return arcs


@kernel(uncompiled=True)
def count_members(entries, mark):
    """Turn union-find into final entries: roots, which come first in their components, count their members."""
    for i in range(len(entries)):
        root = np.int64(entries[i])
        if root == i:
            entries[i] = mark + 1
            continue
        if np.int64(entries[root]) < mark:
            root = np.int64(entries[root])
        entries[i] = root
        entries[root] += 1


@inlined
def _root(entries, mark, i):
    entry = np.int64(entries[i])
    return i if entry >= mark else entry


@kernel(uncompiled=uncompiled.numbers_of)
def numbers_of(words, before, vertices, numbers):
    """numbers[i] = number of the hidden vertex vertices[i], int64[k]."""
    for i in range(len(vertices)):
        numbers[i] = _number(words, before, vertices[i])


@kernel(uncompiled=uncompiled.vertices_at)
def vertices_at(words, before, numbers, vertices):
    """vertices[i] = the hidden vertex with the number numbers[i], int64[k]."""
    for i in range(len(numbers)):
        vertices[i] = _vertex(words, before, numbers[i])


@kernel(uncompiled=uncompiled.decode_labels)
def decode_labels(words, before, entries, mark, reached, start, labels):
    """labels[i] = label of vertex start + i: the smallest vertex of its component, `reached` if it is not hidden."""
    known = np.int64(-1)
    label = np.int64(-1)
    i = _number(words, before, start) if len(labels) else np.int64(0)
    for k in range(len(labels)):
        if not has_bit(words, start + k):
            labels[k] = reached
            continue
        root = _root(entries, mark, i)
        if root != known:
            known = root
            label = _vertex(words, before, root)
        labels[k] = label
        i += 1


@kernel(uncompiled=uncompiled.describe_hidden)
def describe_hidden(words, entries, mark, roots, offsets, last, hub, degree):
    """last[k], hub[k], degree[k] = largest vertex, smallest vertex of the largest degree, and that degree, of the
    component with the root roots[k] (numbers, int64[k] ascending)."""
    i = 0
    for word in range(len(words)):
        bits = words[word]
        while bits:
            v = (word << 6) + count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            root = _root(entries, mark, i)
            i += 1
            k = np.searchsorted(roots, root)
            if k < len(roots) and roots[k] == root:
                last[k] = v
                mine = row_length(offsets, v)
                if mine > degree[k]:
                    degree[k] = mine
                    hub[k] = v


@kernel(uncompiled=uncompiled.smallest_hidden)
def smallest_hidden(words, entries, mark, roots, ranks, best):
    """best[k, 0], best[k, 1] = the smallest natural rank, and its vertex, of the component with the root roots[k]
    (numbers, int64[k] ascending, all of them); -1 before."""
    i = 0
    for word in range(len(words)):
        bits = words[word]
        while bits:
            v = (word << 6) + count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            rank = np.int64(ranks[v]) if len(ranks) else v
            k = np.searchsorted(roots, _root(entries, mark, i))
            i += 1
            if best[k, 0] < 0 or rank < best[k, 0]:
                best[k, 0] = rank
                best[k, 1] = v
