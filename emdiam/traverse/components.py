"""Connected components of what a first traversal has not reached: union-find in one scan.

Bytes a vertex: 4 (parent) + 4 (sizes), for uint32 ids, only while there is more than one
component with an edge. I/O: one pass over the blocks that hold an unreached row. A label is the
smallest vertex of its component.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numba import njit

from ..jit import kernel
from ..stream.offsets import row_start
from ..stream.pager import Tick
from .core import Core
from .rows import range_mask


@dataclass(frozen=True)
class Component:
    """root : its label. first, last : a range that holds its vertices. size : vertices. hub :
    smallest vertex of the largest degree."""

    root: int
    first: int
    last: int
    size: int
    hub: int


class Components:
    """Components with at least one edge that were not reached by the last BFS, plus labels.

    labels : id[n], label of every vertex with an edge (unreached ones; the reached component has
    the label `reached_label`). n_others : how many there are.
    """

    def __init__(self, core: Core, labels: np.ndarray, sizes: np.ndarray, reached_label: int) -> None:
        self._core, self.labels, self._sizes = core, labels, sizes
        self.reached_label = reached_label
        self.n_others = int(np.count_nonzero(sizes))
        self._listed: list[Component] | None = None
        self._left_out = 0

    def larger_than(self, size: int, most: int = 1 << 16) -> list[Component]:
        """Components of more than `size` vertices that were not returned before, largest first
        (ties by root); at most `most` of them, none smaller than those left for the next call
        unless more than `most` share a size."""
        if self._listed is not None:
            found = [c for c in self._listed if c.size > size][:most]
            self._listed = [c for c in self._listed if c.size <= size or c not in found]
            return found
        roots = np.flatnonzero(self._sizes > size)
        if len(roots) == 0:
            return []
        order = np.lexsort((roots, -self._sizes[roots].astype(np.int64)))[:most]
        chosen = np.sort(roots[order])
        counts = self._sizes[chosen].astype(np.int64)
        self._sizes[chosen] = 0
        last, hub = np.zeros(len(chosen), np.int64), np.zeros(len(chosen), np.int64)
        describe(self.labels, chosen, *self._core.offsets, last, hub)
        found = [
            Component(int(r), int(r), int(x), int(c), int(h))
            for r, x, c, h in zip(chosen, last, counts, hub, strict=True)
        ]
        return sorted(found, key=lambda c: (-c.size, c.root))

    def compact(self, size: int, most: int = 1 << 14) -> None:
        """Keep a list of the components of more than `size` vertices, and free labels and sizes,
        if there are at most `most` of them. Smaller ones only count as `size` at most from then on."""
        if self._listed is None and int(np.count_nonzero(self._sizes > size)) <= most:
            listed = self.larger_than(size, most)
            self._left_out = int(self._sizes.max()) if len(self._sizes) else 0
            self._listed = listed
            self.release()

    @property
    def label_bytes(self) -> int:
        """Bytes of labels and sizes that are still held."""
        return int(self.labels.nbytes + self._sizes.nbytes)

    def release(self) -> None:
        """Free labels and sizes; n_others stays."""
        self.labels = self._sizes = np.empty(0, self.labels.dtype)

    def largest_size(self) -> int:
        """Vertices of the largest component not returned yet (0 if none)."""
        if self._listed is not None:
            return max([self._left_out, *(c.size for c in self._listed)])
        return int(self._sizes.max()) if len(self._sizes) else 0


def find_components(core: Core, reached: int, tick: Tick | None = None) -> Components | None:
    """Components beside the one the last complete BFS reached (its bitmap is in the workspace).

    `reached` is a vertex of that one. Returns None if every vertex with an edge was reached.
    """
    table, work = core.table, core.work
    visited = work.visited
    if bool((visited == 0xFFFFFFFFFFFFFFFF).all()):
        return None
    parent = np.arange(table.n_vertices, dtype=work.queues.dtype)
    lock = threading.Lock()

    def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
        with lock:  # union-find is serial; fetching and decoding go on beside it
            arcs: int = unite(chunks, position, turn, ids, table.shift, table.first_vertex, table.n_arcs,
                              *core.offsets, visited, parent)
            return arcs

    arcs = core.pager.sweep(core.blocks_with(visited, True), run, tick)
    core.counters.add(passes=1, edges_scanned=arcs)
    sizes = np.zeros(table.n_vertices, parent.dtype)
    flatten(parent, visited, reached, sizes)
    return Components(core, parent, sizes, reached)


@njit(inline="always")
def _find(parent, v):  # type: ignore[no-untyped-def]
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = np.int64(parent[v])
    return v


@kernel
def unite(chunks, position, turn, ids, shift, first_vertex, n_arcs, group, row, hub, visited,
          parent):  # type: ignore[no-untyped-def]
    """Unite the ends of all arcs of unvisited rows in these blocks; the smaller root wins.

    Returns arcs scanned. Takes all blocks that `turn` has left (it runs on one thread)."""
    arcs = 0
    n_last = first_vertex[len(first_vertex) - 1]
    begin = turn[0]
    turn[0] = len(chunks)
    for k in range(begin, len(chunks)):
        low = chunks[k] << shift
        high = min(low + (1 << shift), n_arcs)
        base = position[k] - low
        first = first_vertex[chunks[k]]
        last = min(first_vertex[chunks[k] + 1], n_last - 1)
        for word in range(first >> 6, (last >> 6) + 1):
            bits = ~visited[word] & range_mask(word, first, last)
            if not bits:
                continue
            for b in range(64):
                if not (bits >> np.uint64(b)) & np.uint64(1):
                    continue
                v = (word << 6) + b
                start = max(row_start(group, row, hub, v), low)
                end = min(row_start(group, row, hub, v + 1), high)
                root = _find(parent, v)
                for p in range(base + start, base + end):
                    other = _find(parent, np.int64(ids[p]))
                    if other < root:
                        parent[root] = other
                        root = other
                    elif root < other:
                        parent[other] = root
                arcs += max(end - start, 0)
    return arcs


@kernel
def flatten(parent, visited, reached, sizes):  # type: ignore[no-untyped-def]
    """parent = label of every vertex; sizes[label] = vertices of the unvisited components."""
    for v in range(len(parent)):
        if (visited[v >> 6] >> np.uint64(v & 63)) & np.uint64(1):
            parent[v] = reached
        else:
            root = np.int64(parent[v])
            if root != v:
                root = np.int64(parent[root])
                parent[v] = root
            sizes[root] += 1


@kernel
def describe(labels, roots, group, row, hub_offsets, last, hub):  # type: ignore[no-untyped-def]
    """last[i], hub[i] = largest vertex, and smallest vertex of the largest degree, of roots[i].

    roots : int64[k], ascending."""
    degree = np.full(len(roots), -1, np.int64)
    for v in range(roots[0], len(labels)):
        label = np.int64(labels[v])
        i = np.searchsorted(roots, label)
        if i < len(roots) and roots[i] == label:
            last[i] = v
            mine = row_start(group, row, hub_offsets, v + 1) - row_start(group, row, hub_offsets, v)
            if mine > degree[i]:
                degree[i] = mine
                hub[i] = v
