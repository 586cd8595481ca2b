"""Components over workers: union-find within each range, then between ranges.

Each rank unites the unseen vertices of its range along arcs inside it, and lists other arcs as pairs (root, root of
another range). On the graph of these pairs all ranks hook and shortcut together until nothing changes: the parent of a
root falls to the smallest grandparent of its neighbours. In practice this takes O(log roots) iterations of seven rounds
each. So a label is the smallest vertex of its component, for any division into ranges.
Bytes a vertex of the range: label and size, an id each, in columns of the run; and 16 for each distinct pair (none if
the first traversal reaches all vertices).
Source: Zhang, Azad, Hu, FastSV: a distributed-memory connected component algorithm (2020).

The client has the interface of traverse.components.Components, with labels and sizes in columns on the workers.
"""

from __future__ import annotations

import numpy as np

from ..traverse.components import (
    Components,
    describe,
    find_roots,
    flatten,
    label_names,
    largest_sizes,
    pairs_within,
    scan_unseen,
    smallest_ranks,
    tally,
)
from ..traverse.rows import ALL
from .alltoall import Answer, OwnerExchange, distinct_pairs, least_of_each, range_ranks
from .columns import Columns, WorkerColumn
from .plan import virtual_zeros
from .rank import Rank

_PIECE = 1 << 20


def label_components(rank: Rank, labels: int, sizes: int, reached: int) -> int:
    """Create the columns `labels` and `sizes` of the vertices that the last BFS did not reach; a component's size is at
    the vertex that is its label. Returns the number of components with their label in this range, -1 if all ranks have
    only reached vertices."""
    seen = rank.core.work.visited[rank.words]
    if not rank.alltoall.total(np.array([np.count_nonzero(seen != ALL)]))[0]:
        return -1
    rank.values[labels] = united(rank, seen, reached)
    rank.values[sizes] = virtual_zeros(rank.core.table.n_vertices, rank.store.id_dtype)
    _count_sizes(rank, rank.values[labels], seen, rank.values[sizes][rank.span])
    return int(np.count_nonzero(rank.values[sizes][rank.span]))


def united(rank: Rank, seen: np.ndarray, reached: int) -> np.ndarray:
    """The label of every vertex of the range, id[n]: the smallest vertex of its component; `reached` for seen vertices.
    seen : uint64[words of the range], with vertices without an edge. Scans the blocks of unseen vertices once."""
    core, span = rank.core, np.array([rank.first, rank.stop])
    parent = virtual_zeros(core.table.n_vertices, core.work.queues.dtype)
    parent[rank.span] = np.arange(rank.first, rank.stop)
    leaving = _LeavingArcs(parent)
    core.work.frontier[rank.words] = seen
    _, scanned = scan_unseen(core, core.work.frontier, parent, lambda arcs: leaving.add(arcs.T))
    core.counters.add(passes=int(core.span[0] == 0), edges_scanned=scanned)
    roots, labels = _join(rank.alltoall, parent, *leaving.distinct())
    flatten(parent, seen, span, reached, roots, labels)
    return parent


class _LeavingArcs:
    """Arcs that leave the range, deduplicated by the root of their tail from time to time."""

    def __init__(self, parent: np.ndarray) -> None:
        self._parent, self._pieces, self._size, self._limit = parent, list[np.ndarray](), 0, _PIECE

    def add(self, arcs: np.ndarray) -> None:
        """Add arcs, int64[2, k]."""
        self._pieces.append(arcs)
        self._size += arcs.shape[1]
        if self._size > self._limit:
            self._pieces = [np.stack(self.distinct())]
            self._size = self._pieces[0].shape[1]
            self._limit = max(_PIECE, 2 * self._size)

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct pairs (root, head)."""
        arcs = np.concatenate([np.empty((2, 0), np.int64), *self._pieces], axis=1)
        return distinct_pairs(_roots(self._parent, arcs[0].copy()), arcs[1])


def _roots(parent: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    roots = np.empty(len(vertices), np.int64)
    find_roots(parent, vertices, roots)
    return roots


def _join(
    alltoall: OwnerExchange, parent: np.ndarray, tails: np.ndarray, heads: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The roots of this range with arcs to other ranges (int64[k] ascending), and the smallest roots of their
    components.

    tails : roots of the tails; heads : vertices of other ranges, of the same arcs."""
    tails, others = distinct_pairs(tails, alltoall.ask_any(heads, lambda ids: _roots(parent, ids)))
    roots, at = np.unique(tails, return_inverse=True)
    labels = roots.copy()
    while True:
        above = alltoall.ask_any(labels, _table(roots, labels))
        least = above.copy()
        np.minimum.at(least, at, alltoall.ask_any(others, _table(roots, above)))
        new = np.minimum(labels, least)
        incoming, _ = alltoall.tell(*least_of_each(labels, least))
        for ids, values in incoming:
            places = np.searchsorted(roots, ids)
            new[places] = np.minimum(new[places], values)
        changed = alltoall.total(np.array([np.count_nonzero(new != labels)], np.int64))
        labels = new
        if not changed[0]:
            return roots, labels


def _table(names: np.ndarray, values: np.ndarray) -> Answer:
    """A function that returns values[i] for names[i]."""
    return lambda ids: values[np.searchsorted(names, ids)]


def _count_sizes(rank: Rank, labels: np.ndarray, seen: np.ndarray, sizes: np.ndarray) -> None:
    """Set sizes[label - first] to the size of the component, for labels of this range. sizes : id[stop - first],
    zeros."""
    names = label_names(labels, seen, rank.first, rank.stop)
    away = names[(names < rank.first) | (names >= rank.stop)]
    counts = np.zeros(len(away), np.int64)
    tally(labels, seen, np.array([rank.first, rank.stop]), sizes, away, counts)
    for ids, amounts in rank.alltoall.tell(away, counts)[0]:
        sizes[ids - rank.first] += amounts.astype(sizes.dtype)


def smallest_of_components(rank: Rank, labels: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of this range that have the smallest natural rank of a component of unseen vertices: (vertices,
    ranks), int64[k] each, ascending by vertex."""
    names = label_names(labels, seen, rank.first, rank.stop)
    best = np.full((len(names), 2), -1, np.int64)
    smallest_ranks(labels, seen, np.array([rank.first, rank.stop]), range_ranks(rank), names, best)
    pairs, _ = rank.alltoall.tell(names, best[:, 0].copy())
    roots, least = least_of_each(*(np.concatenate([np.empty(0, np.int64), *(pair[i] for pair in pairs)])
                                   for i in (0, 1)))
    best = best[rank.alltoall.ask(names, _table(roots, least)) == best[:, 0]]
    best = best[np.argsort(best[:, 1])]
    return best[:, 1].copy(), best[:, 0].copy()


# -- queries of the client on the columns -------------------------------------------------------------
def largest_components(rank: Rank, key: int, size: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(labels, sizes) of at most `most` components of more than `size` vertices whose label is in this range, largest
    first, equal ones by label; int64[k] each."""
    roots, counts = largest_sizes(rank.values[key][rank.span], size, most)
    return roots + rank.first, counts


def pairs_of_components(rank: Rank, key: int) -> int:
    """The number of pairs of vertices within components whose label is in this range."""
    return pairs_within(rank.values[key][rank.span])


def describe_components(rank: Rank, labels: int, sizes: int, roots: np.ndarray) -> np.ndarray:
    """int64[3, k]: largest vertex, hub, and degree of the hub in this range for each of the components `roots`
    (ascending), -1 without a vertex; drops their sizes."""
    rank.values[sizes][roots[(roots >= rank.first) & (roots < rank.stop)]] = 0
    facts = np.full((3, len(roots)), -1, np.int64)
    describe(rank.values[labels], roots.copy(), *rank.core.offsets, np.array([rank.first, rank.stop]), *facts)
    return facts


class WorkerComponents(Components):
    """See Components. labels : a WorkerColumn, an empty array after `release`. sizes : a WorkerColumn, with the size of
    a component at the vertex that is its label."""

    def __init__(
        self, columns: Columns, labels: WorkerColumn, sizes: WorkerColumn, n_others: int, reached_label: int
    ) -> None:
        super().__init__(labels, reached_label, n_others)
        self._columns, self._group = columns, columns.group
        self._count: WorkerColumn | None = sizes

    def n_pairs(self) -> int:
        """See Components.n_pairs."""
        assert self._count is not None
        return sum(self._group.everyone(pairs_of_components, self._count.key))

    def _largest(self, size: int, most: int) -> tuple[np.ndarray, np.ndarray]:
        if self._count is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        pairs = self._group.everyone(largest_components, self._count.key, size, most)
        roots, counts = (np.concatenate(each) for each in zip(*pairs, strict=True))
        order = np.lexsort((roots, -counts))[:most]
        order = order[np.argsort(roots[order])]
        return roots[order], counts[order]

    def _describe(self, roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert self._count is not None
        facts = np.array(self._group.everyone(describe_components, self.labels.key, self._count.key, roots))
        last, degrees = facts[:, 0].max(axis=0), facts[:, 2]
        return last, facts[degrees.argmax(axis=0), 1, np.arange(len(roots))]  # of equals the first rank: smaller vertex

    def _larger(self, size: int, most: int) -> int:
        return 0 if self._count is None else len(self._count.select(">", size, most + 1))

    def _largest_left(self) -> int:
        return 0 if self._count is None else max(0, self._count.largest(0, len(self._count)))

    @property
    def label_bytes(self) -> int:
        """Bytes of labels and sizes on all workers, until they are released."""
        return 0 if self._count is None else 2 * len(self._count) * self._count.dtype.itemsize

    def release(self) -> None:
        """See Components.release."""
        super().release()
        self._count = None
