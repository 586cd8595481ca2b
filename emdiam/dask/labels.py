"""Labels on workers, as the client sees them: the same as traverse.clusters.Labels, 8 bytes a vertex in ranges."""

from __future__ import annotations

import numpy as np

from ..traverse.clusters import Labels
from ..traverse.columns import Column
from ..traverse.labels import OWNER_BITS, UNREACHED
from . import label_verbs as verbs
from .columns import Columns, WorkerColumn
from .rank_group import Group

_OWNER = np.uint64(0xFFFFFFFF)
_PIECE = 1 << 20


class WorkerClusters(Labels):
    """See Labels. columns : of the engine. column : of uint64, that holds the labels. spoiled : whether a restart has
    begun and not ended, so that they are neither clusters nor bounds."""

    def __init__(self, columns: Columns, column: WorkerColumn, masters: np.ndarray) -> None:
        self._columns, self.column, self.masters = columns, column, masters
        self.passes, self.spoiled = 0, False

    @property
    def name(self) -> str:
        """For people."""
        return f"labels in column {self.key}"

    @property
    def key(self) -> int:
        """Of the column, as verbs name it."""
        return self.column.key

    @property
    def _group(self) -> Group:
        return self._columns.group

    def tally(self) -> tuple[np.ndarray, np.ndarray]:
        """See Labels.tally."""
        found = self._group.everyone(verbs.tally_range, self.key, self.n_groups)
        radii, sizes = zip(*found, strict=True)
        return np.max(radii, axis=0), np.sum(sizes, axis=0)

    def farthest_members(self, radii: np.ndarray) -> np.ndarray:
        """See Labels.farthest_members."""
        return _of_smallest_rank(self._group.everyone(verbs.farthest_range, self.key, np.asarray(radii, np.int64)))

    def first_members(self) -> np.ndarray:
        """See Labels.first_members."""
        return _of_smallest_rank(self._group.everyone(verbs.first_range, self.key, self.n_groups))

    def _read(self, vertices: np.ndarray) -> np.ndarray:
        return self.column.take(np.asarray(vertices, np.int64))

    def groups(self, vertices: np.ndarray) -> np.ndarray:
        """See Labels.groups."""
        values = self._read(vertices)
        return np.where(values == UNREACHED, np.int64(-1), (values & _OWNER).astype(np.int64))

    def distances(self, vertices: np.ndarray) -> np.ndarray:
        """See Labels.distances."""
        values = self._read(vertices)
        return np.where(values == UNREACHED, np.int64(-1), (values >> np.uint64(OWNER_BITS)).astype(np.int64))

    def tally_longest(self) -> int:
        """See Labels.tally_longest."""
        return max(self._group.everyone(verbs.longest_range, self.key))

    def places(self) -> np.ndarray:
        """See Labels.places; the array is in RAM of the client."""
        longest = self.tally_longest()
        counts = np.array(self._group.everyone(verbs.count_range, self.key, longest))
        begin = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts.sum(axis=0))[:-1]))
        starts = begin + np.cumsum(counts, axis=0) - counts
        parts = self._group.some(verbs.places_range, {rank: (self.key, mine) for rank, mine in enumerate(starts)})
        return np.concatenate(parts)

    def replace_distances(self, distances: np.ndarray, places: np.ndarray) -> None:
        """See Labels.replace_distances; both arrays are in RAM of the client."""
        for rank in range(self._group.size):
            first, stop = self._group.spec.own(rank)
            for start in range(first, stop, _PIECE):
                new = distances[places[start : min(start + _PIECE, stop)]]
                self._group.some(verbs.replace_range, {rank: (self.key, start, new)})

    def take_column(self) -> Column:
        """See Labels.take_column; the column is on the workers."""
        new = self._columns.new_key()
        self._group.everyone(verbs.take_distances, self.key, new, self._columns.take_unused())
        del self.column
        return self._columns.adopt(new, np.uint32)

    @property
    def raw(self) -> np.ndarray:
        """No array holds these labels: raises TypeError."""
        raise TypeError("these labels are on workers, each its own range")


def _of_smallest_rank(found: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Of (vertices, ranks) of all ranges, -1 where there is none, each group's vertex of smallest rank, int64[k]."""
    vertices, ranks = (np.array(parts) for parts in zip(*found, strict=True))
    ranks[ranks < 0] = np.iinfo(np.int64).max
    best: np.ndarray = vertices[ranks.argmin(axis=0), np.arange(vertices.shape[1])]
    return best
