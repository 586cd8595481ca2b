"""Components over workers: union-find within each range, then between the ranges.

Each rank unites the unseen vertices of its range over arcs that stay in it, and lists the others as pairs (root, root
of another range). On these, the graph of roots that have such arcs, all ranks hook and shortcut together until nothing
changes, O(log roots) iterations by experience, of seven rounds each: the parent of a root falls to the smallest
grandparent among its neighbours. So a label is the smallest vertex of its component, whatever the ranges are.
Bytes a vertex of the range: label and size, an id each, which are columns of the run; beside them 16 for each distinct
pair, of which there are none in graphs whose first traversal reaches all.
Source: Zhang, Azad, Hu, FastSV: a distributed-memory connected component algorithm (2020).

The client sees the same as traverse.components.Components, labels and sizes in columns on the workers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..traverse.components import (
    Component,
    Components,
    describe,
    find_roots,
    flatten,
    label_names,
    scan_unseen,
    smallest_ranks,
    tally,
)
from ..traverse.rows import ALL
from .columns import Columns, WorkerColumn
from .exchange import OwnerExchange, distinct_pairs, least_of_each, range_ranks
from .ranges import virtual_zeros
from .rank import Rank

_PIECE = 1 << 20


def find_parts(rank: Rank, labels: int, sizes: int, reached: int) -> int:
    """Make the columns of the keys `labels` and `sizes` (of the component whose label the vertex is) of what the last
    BFS has not reached; how many components have their label here."""
    seen = rank.core.work.visited[rank.words]
    rank.values[labels] = united(rank, seen, reached)
    rank.values[sizes] = virtual_zeros(rank.core.table.n_vertices, rank.store.id_dtype)
    _count_sizes(rank, rank.values[labels], seen, rank.values[sizes][rank.span])
    return int(np.count_nonzero(rank.values[sizes][rank.span]))


def any_unseen(rank: Rank) -> bool:
    """Whether the last BFS has left out a vertex with an edge."""
    return bool((rank.core.work.visited[rank.words] != ALL).any())


def united(rank: Rank, seen: np.ndarray, reached: int) -> np.ndarray:
    """Label of every vertex of the range, id[n]: the smallest vertex of its component, `reached` for those seen
    (uint64[words of the range]; vertices without an edge are seen). One scan over the blocks of the others."""
    parent = virtual_zeros(rank.core.table.n_vertices, rank.core.work.queues.dtype)
    parent[rank.span] = np.arange(rank.first, rank.stop)
    tails, heads = _unite_own(rank, seen, parent)
    post = OwnerExchange(rank.alltoall, rank.spec.ranges)
    roots, labels = _join(post, parent, tails, heads)
    flatten(parent, seen, np.array([rank.first, rank.stop]), reached, roots, labels)
    return parent


def _unite_own(rank: Rank, seen: np.ndarray, parent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Unite within the range; the distinct arcs (root, head) that leave it, int64[k] each."""
    core, listed = rank.core, _Listed(parent)
    core.work.frontier[rank.words] = seen
    scan_unseen(core, core.work.frontier, parent, lambda arcs: listed.add(arcs.T))
    return listed.distinct()


class _Listed:
    """Arcs that leave the range, made distinct by the root of their tail now and then."""

    def __init__(self, parent: np.ndarray) -> None:
        self._parent, self._pieces, self._size, self._limit = parent, list[np.ndarray](), 0, _PIECE

    def add(self, arcs: np.ndarray) -> None:
        """More arcs, int64[2, k]."""
        self._pieces.append(arcs)
        self._size += arcs.shape[1]
        if self._size > self._limit:
            self._pieces = [np.stack(self.distinct())]
            self._size = self._pieces[0].shape[1]
            self._limit = max(_PIECE, 2 * self._size)

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct (root, head)."""
        arcs = np.concatenate([np.empty((2, 0), np.int64), *self._pieces], axis=1)
        roots = np.empty(arcs.shape[1], np.int64)
        find_roots(self._parent, arcs[0].copy(), roots)
        return distinct_pairs(roots, arcs[1])


def _join(
    post: OwnerExchange, parent: np.ndarray, tails: np.ndarray, heads: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Roots of this range with arcs to others (int64[k] ascending), and the smallest root of their components.

    tails : their roots, heads : vertices of others, of the same arcs."""
    def root_of(ids: np.ndarray) -> np.ndarray:
        found = np.empty(len(ids), np.int64)
        find_roots(parent, ids, found)
        return found

    tails, others = distinct_pairs(tails, post.ask_any(heads, root_of))
    roots, at = np.unique(tails, return_inverse=True)
    mine = roots.copy()
    while True:
        above = post.ask_any(mine, _table(roots, mine))
        least = above.copy()
        np.minimum.at(least, at, post.ask_any(others, _table(roots, above)))
        new = np.minimum(mine, least)
        told, _ = post.tell(*least_of_each(mine, least))
        for ids, values in told:
            places = np.searchsorted(roots, ids)
            new[places] = np.minimum(new[places], values)
        changed = post.alltoall.total(np.array([np.count_nonzero(new != mine)], np.int64))
        mine = new
        if not changed[0]:
            return roots, mine


def _table(names: np.ndarray, values: np.ndarray):  # type: ignore[no-untyped-def]
    """The function that gives values[i] for names[i]."""
    return lambda ids: values[np.searchsorted(names, ids)]


def _count_sizes(rank: Rank, labels: np.ndarray, seen: np.ndarray, sizes: np.ndarray) -> None:
    """sizes[label - first] = vertices of the component, for labels of this range; id[stop - first], zeros before."""
    names = label_names(labels, seen, rank.first, rank.stop)
    away = names[(names < rank.first) | (names >= rank.stop)]
    counts = np.zeros(len(away), np.int64)
    tally(labels, seen, np.array([rank.first, rank.stop]), sizes, away, counts)
    told, _ = OwnerExchange(rank.alltoall, rank.spec.ranges).tell(away, counts)
    for ids, amounts in told:
        sizes[ids - rank.first] += amounts.astype(sizes.dtype)


def first_of_parts(rank: Rank, labels: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each component of unseen vertices the one of smallest natural rank, where that is of this range: (vertices,
    ranks), int64[k] each, ascending by vertex."""
    names = label_names(labels, seen, rank.first, rank.stop)
    best = np.full((len(names), 2), -1, np.int64)
    smallest_ranks(labels, seen, np.array([rank.first, rank.stop]), range_ranks(rank), names, best)
    post = OwnerExchange(rank.alltoall, rank.spec.ranges)
    told, _ = post.tell(names, best[:, 0].copy())
    ids = np.concatenate([np.empty(0, np.int64), *(pair[0] for pair in told)])
    ranks = np.concatenate([np.empty(0, np.int64), *(pair[1] for pair in told)])
    owned, least = least_of_each(ids, ranks)
    mine = best[post.ask(names, _table(owned, least)) == best[:, 0]]
    mine = mine[np.argsort(mine[:, 1])]
    return mine[:, 1].copy(), mine[:, 0].copy()


# -- what the client asks of the columns --------------------------------------------------------------
def largest_parts(rank: Rank, key: int, size: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(labels, sizes) of the components of more than `size` vertices, largest first (ties by label), at most `most`,
    of those whose label is of this range; int64[k] each."""
    sizes = rank.values[key][rank.span]
    roots = np.flatnonzero(sizes > size)
    counts = sizes[roots].astype(np.int64)
    order = np.lexsort((roots, -counts))[:most]
    return roots[order] + rank.first, counts[order]


def count_larger(rank: Rank, key: int, size: int) -> int:
    """How many components of more than `size` vertices have their label here."""
    return int(np.count_nonzero(rank.values[key][rank.span] > size))


def largest_size(rank: Rank, key: int) -> int:
    """Vertices of the largest component whose label is here; 0 if there is none."""
    return int(rank.values[key][rank.span].max(initial=0))


def describe_parts(rank: Rank, labels: int, sizes: int, roots: np.ndarray) -> np.ndarray:
    """int64[3, k]: largest vertex, hub, and its degree, of each of the components `roots` (ascending) in this range,
    -1 where it has none; their sizes are forgotten."""
    rank.values[sizes][roots[(roots >= rank.first) & (roots < rank.stop)]] = 0
    found = np.full((3, len(roots)), -1, np.int64)
    describe(rank.values[labels], roots.copy(), *rank.core.offsets, np.array([rank.first, rank.stop]), *found)
    return found


class WorkerLabels(NDArrayOperatorsMixin):
    """Labels of all vertices, as an array that is fetched where it is looked at; Column.first takes them by key.

    column : that holds them."""

    def __init__(self, column: WorkerColumn) -> None:
        self._column, self.key, self.dtype = column, column.key, column.dtype

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, wanted: slice) -> np.ndarray:
        """Labels of consecutive vertices, a copy."""
        start, stop, step = wanted.indices(len(self))
        if step != 1:
            raise ValueError("labels are fetched for consecutive vertices")
        return self._column.part(start, stop)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:].astype(dtype or self.dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        given = [item[:] if isinstance(item, WorkerLabels) else item for item in inputs]
        return getattr(ufunc, method)(*given, **options)


class WorkerComponents(Components):
    """See Components. labels : WorkerLabels, an empty array once they are released. sizes : of the component whose
    label a vertex is."""

    def __init__(
        self, columns: Columns, labels: WorkerLabels, sizes: WorkerColumn, n_others: int, reached_label: int
    ) -> None:
        self._columns, self._group = columns, columns.group
        self.labels: Any = labels
        self._count: WorkerColumn | None = sizes
        self.reached_label, self.n_others = reached_label, n_others
        self._listed: list[Component] | None = None
        self._left_out = 0

    def larger_than(self, size: int, most: int = 1 << 16) -> list[Component]:
        """See Components.larger_than."""
        if self._listed is not None:
            return super().larger_than(size, most)
        if self._count is None:
            return []
        found = self._group.everyone(largest_parts, self._count.key, size, most)
        roots, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.lexsort((roots, -counts))[:most]
        order = order[np.argsort(roots[order])]
        roots, counts = roots[order], counts[order]
        if len(roots) == 0:
            return []
        told = np.array(self._group.everyone(describe_parts, self.labels.key, self._count.key, roots))
        last, degrees = told[:, 0].max(axis=0), told[:, 2]
        hubs = told[degrees.argmax(axis=0), 1, np.arange(len(roots))]  # the first of equals has the smaller vertices
        listed = [Component(int(r), int(r), int(x), int(c), int(h))
                  for r, x, c, h in zip(roots, last, counts, hubs, strict=True)]
        return sorted(listed, key=lambda c: (-c.size, c.root))

    def compact(self, size: int, most: int = 1 << 14) -> None:
        """See Components.compact."""
        if self._listed is None and self._count is not None and sum(
                self._group.everyone(count_larger, self._count.key, size)) <= most:
            listed = self.larger_than(size, most)
            self._left_out = self.largest_size()
            self._listed = listed
            self.release()

    @property
    def label_bytes(self) -> int:
        """Bytes of labels and sizes on all workers that are still held."""
        return 0 if self._count is None else 2 * len(self._count) * self._count.dtype.itemsize

    def release(self) -> None:
        """See Components.release."""
        self.labels, self._count = np.empty(0, self.labels.dtype), None

    def largest_size(self) -> int:
        """See Components.largest_size."""
        if self._listed is not None:
            return super().largest_size()
        return 0 if self._count is None else max(self._group.everyone(largest_size, self._count.key))
