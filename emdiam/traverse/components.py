"""Connected components other than a known one: their description, and union-find over a range of vertices.

In one process hidden.py finds components. Workers label the vertices of their ranges with the kernels below, with 4
bytes a vertex for labels and 4 for sizes, for uint32 ids. A label is the smallest vertex of its component.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream.offsets import row_length
from .core import Core
from .rows import buffered_walk, has_bit, not_in_first

_PIECE = 1 << 20
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Component:
    """root : its label. first, last : a range that contains its vertices. size : number of vertices. hub :
    smallest vertex of the largest degree."""

    root: int
    first: int
    last: int
    size: int
    hub: int


class Components(ABC):
    """Components with at least one edge that were not reached by the last BFS.

    labels : indexed by ranges of vertices, gives their labels; `reached_label` for the component that was reached;
    length 0 after release. n_others : number of components.
    """

    def __init__(self, labels: Any, reached_label: int, n_others: int) -> None:
        self.labels, self.reached_label, self.n_others = labels, reached_label, n_others
        self._listed: list[Component] | None = None
        self._left_out = 0

    @abstractmethod
    def n_pairs(self) -> int:
        """Pairs of vertices within the components, valid until a component has been returned or left out."""

    @abstractmethod
    def _largest(self, size: int, most: int) -> tuple[np.ndarray, np.ndarray]:
        """(labels ascending, sizes) of the `most` largest components of more than `size` vertices, int64[k] each."""

    @abstractmethod
    def _describe(self, roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(largest vertices, hubs) of the components with these labels; their sizes are then removed."""

    @abstractmethod
    def _larger(self, size: int, most: int) -> int:
        """Number of components with more than `size` vertices, counted up to `most` + 1."""

    @abstractmethod
    def _largest_left(self) -> int:
        """Vertices of the largest component whose size has not been removed."""

    def larger_than(self, size: int, most: int = 1 << 16) -> list[Component]:
        """Components of more than `size` vertices that were not returned before, largest first (ties by root), at most
        `most`. None is smaller than one remaining for the next call, unless more than `most` share a size."""
        if self._listed is not None:
            found = [c for c in self._listed if c.size > size][:most]
            self._listed = [c for c in self._listed if c.size <= size or c not in found]
            return found
        roots, counts = self._largest(size, most)
        if len(roots) == 0:
            return []
        last, hubs = self._describe(roots)
        listed = [Component(int(r), int(r), int(x), int(c), int(h))
                  for r, x, c, h in zip(roots, last, counts, hubs, strict=True)]
        return sorted(listed, key=lambda c: (-c.size, c.root))

    def compact(self, size: int, most: int = 1 << 14) -> None:
        """If at most `most` components have more than `size` vertices, keep a list of these and free labels and sizes.
        From then on smaller ones only count as having at most `size`."""
        if self._listed is None and len(self.labels) and self._larger(size, most) <= most:
            listed = self.larger_than(size, most)
            self._left_out = self._largest_left()
            self._listed = listed
            self.release()

    @property
    def label_bytes(self) -> int:
        """Bytes of the pool that labels take; 0 if the plan has a reserve for them."""
        return 0

    def release(self) -> None:
        """Free labels and sizes, but not n_others."""
        self.labels = np.empty(0, self.labels.dtype)

    def largest_size(self) -> int:
        """Vertices of the largest component not returned yet (0 if none)."""
        if self._listed is not None:
            return max([self._left_out, *(c.size for c in self._listed)])
        return self._largest_left() if len(self.labels) else 0


def pairs_within(sizes: np.ndarray) -> int:
    """The sum of s (s - 1) / 2 over the sizes; it may have more than 64 bits."""
    total = 0
    for start in range(0, len(sizes), _BLOCK):
        some = sizes[start : start + _BLOCK]
        some = some[some > 1].astype(np.int64)
        large = some >= 1 << 16  # there are few of these
        small = some[~large]
        total += int((small * (small - 1) // 2).sum()) + sum(s * (s - 1) // 2 for s in some[large].tolist())
    return total


def largest_sizes(sizes: np.ndarray, size: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(places, sizes) of at most `most` entries above `size`, largest first (ties: by place), int64[k] each."""
    places = np.flatnonzero(sizes > size)
    counts = sizes[places].astype(np.int64)
    order = np.lexsort((places, -counts))[:most]
    return places[order], counts[order]


def keep_largest(pieces: Iterable[tuple[np.ndarray, np.ndarray]], most: int) -> tuple[np.ndarray, np.ndarray]:
    """The `most` largest of (names ascending, sizes), from pieces, int64[k] each; names ascending."""
    names, sizes = np.empty(0, np.int64), np.empty(0, np.int64)
    for more, their in pieces:
        names, sizes = np.concatenate((names, more)), np.concatenate((sizes, their))
        if len(names) > most:
            order = np.sort(np.lexsort((names, -sizes))[:most])
            names, sizes = names[order], sizes[order]
    return names, sizes


def scan_unseen(
    core: Core, seen: np.ndarray, parent: np.ndarray, take: Callable[[np.ndarray], None], tick: Tick = no_tick
) -> tuple[int, int]:
    """Unite, in `parent`, the ends of arcs of unseen rows within the span; `take` gets arcs that leave the span.
    Returns the number of blocks and arcs read.

    seen : bitmap, parent : id[n], both correct in the span. take : called with int64[k, 2], (vertex, head)."""
    whole = core.span == (0, core.table.n_vertices)
    span, lock = np.array(core.span), threading.Lock()
    ends = np.empty((0 if whole else 1 << core.table.shift, 2), np.int64)

    def unite_alone(*arguments: Any) -> int:
        with lock:  # union-find is serial; other threads fetch and decode meanwhile
            arcs: int = unite(*arguments)
            *_, buffer, count = arguments
            if count[0]:
                take(buffer[: count[0]].copy())
                count[0] = 0
            return arcs

    blocks = core.blocks_with(seen, True)
    return len(blocks), core.gather(blocks, unite_alone, seen, parent, span, new_buffer=lambda: ends, take=take,
                                    tick=tick)


def label_names(labels: np.ndarray, seen: np.ndarray, first: int, stop: int) -> np.ndarray:
    """The distinct labels of the unseen vertices of first..stop-1, int64[k] ascending. seen : see flatten."""
    names = np.empty(0, np.int64)
    for start in range(first, stop, _PIECE):
        end = min(start + _PIECE, stop)
        bits = seen[(start - first) >> 6 : -(-(end - first) // 64)].view(np.uint8)
        hidden = np.unpackbits(bits, bitorder="little", count=end - start) == 0
        names = np.union1d(names, labels[start:end][hidden].astype(np.int64))
    return names


@inlined
def _find(parent, v):
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = np.int64(parent[v])
    return v


@inlined
def join(parent, root, v):
    """Join the sets of `root` (a root) and v; returns the root of both, the smaller one."""
    other = _find(parent, v)
    if other < root:
        parent[root] = other
        return other
    if root < other:
        parent[other] = root
    return root


@inlined
def _unite_row(state, ids, v, begin, end, whole):
    _, parent, span, leaving, count = state
    root = _find(parent, v)
    for p in range(begin, end):
        w = np.int64(ids[p])
        if w < span[0] or w >= span[1]:
            leaving[count[0], 0] = v
            leaving[count[0], 1] = w
            count[0] += 1
            continue
        root = join(parent, root, w)
    return end - begin, False


_walk_unseen = buffered_walk(not_in_first, _unite_row)


@kernel
def unite(piece, layout, seen, parent, span, leaving, count):
    """Unite the ends of all arcs of unseen rows within the span; the smaller root wins. One thread at a time.

    span : int64[2], first vertex and end. leaving : int64[k, 2], for arcs that leave it (length 0: none does). count :
    see buffered_walk. Returns arcs scanned."""
    return _walk_unseen(piece, layout, (seen, parent, span, leaving, count), len(leaving) if len(leaving) else -1,
                        count)


@kernel
def find_roots(parent, vertices, roots):
    """roots[i] = the root of vertices[i], int64[k] each."""
    for i in range(len(vertices)):
        roots[i] = _find(parent, vertices[i])


# The bitmap `seen` of the kernels below begins with the word of the first vertex of the span.
@kernel
def flatten(parent, seen, span, reached, roots, labels):
    """parent[v] = label of every vertex of the span: `reached` if v was seen, labels[i] if its root is roots[i]
    (int64[k] ascending), else its root."""
    first, stop = span[0], span[1]
    for v in range(first, stop):
        if has_bit(seen, v - first):
            parent[v] = reached
            continue
        root = np.int64(parent[v])
        if root != v:  # smaller vertices of the span have their label already
            parent[v] = parent[root]
        elif len(roots):
            i = lower_bound(roots, v, 0, len(roots))
            if i < len(roots) and roots[i] == v:
                parent[v] = labels[i]


@kernel
def tally(labels, seen, span, sizes, away, counts):
    """Count the unseen vertices of the span by label: in sizes[label - first] if the label is in the span, else in
    counts[i] if it is away[i] (int64[k] ascending)."""
    first, stop = span[0], span[1]
    for v in range(first, stop):
        if has_bit(seen, v - first):
            continue
        label = np.int64(labels[v])
        if first <= label < stop:
            sizes[label - first] += 1
        else:
            counts[lower_bound(away, label, 0, len(away))] += 1


@kernel
def describe(labels, roots, group, row, hub_offsets, span, last, hub, degree):
    """last[i], hub[i], degree[i] = largest vertex, smallest vertex of the largest degree, and that degree, of component
    roots[i] (int64[k] ascending) in the span; -1 before, and if it has no vertex there."""
    for v in range(max(span[0], roots[0]), span[1]):
        label = np.int64(labels[v])
        i = lower_bound(roots, label, 0, len(roots))
        if i < len(roots) and roots[i] == label:
            mine = row_length((group, row, hub_offsets), v)
            if mine == 0:
                continue
            last[i] = v
            if mine > degree[i]:
                degree[i] = mine
                hub[i] = v


@kernel
def smallest_ranks(labels, seen, span, ranks, names, best):
    """best[i, 0], best[i, 1] = the smallest natural rank, and its vertex, of component names[i] (int64[k]
    ascending, all labels of unseen vertices) in the span; -1 before, and if it has no vertex there. ranks : of the
    span, or length 0 if every vertex is its own rank."""
    first, stop = span[0], span[1]
    for v in range(first, stop):
        if has_bit(seen, v - first):
            continue
        rank = np.int64(ranks[v - first]) if len(ranks) else v
        i = lower_bound(names, np.int64(labels[v]), 0, len(names))
        if best[i, 0] < 0 or rank < best[i, 0]:
            best[i, 0] = rank
            best[i, 1] = v


@inlined
def lower_bound(values, value, low, high):
    """The first index of low..high-1 with a value not below `value`, else `high`. values : ascending there.

    np.searchsorted does the same, but takes a quarter of a second to compile."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
