"""Labels of clusters on disk: see Labels in engine/interface.py. Passes go over ranges of vertices.

I/O: 8 bytes a vertex for every verb that looks at all. Bytes: 8 a vertex of a range; a few words a group, as the
method has them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import MoreMemoryError
from ..jit import kernel
from ..traverse.clusters import replace_labels, take_distances, tally_labels
from ..traverse.columns import Column
from ..traverse.labels import UNREACHED, WIDE_BITS
from .columns import DiskColumn, WordFile
from .queues import Space
from .ranks import NaturalRanks

# Of a word of labels: the number of the group.
GROUP = np.uint64((1 << WIDE_BITS) - 1)


class DiskLabels:
    """See Labels. words : (distance, group) of every vertex, as in traverse/labels.py."""

    def __init__(self, space: Space, words: WordFile, masters: np.ndarray, ranks: NaturalRanks) -> None:
        self.space, self.words, self.masters, self._ranks = space, words, masters, ranks

    @property
    def n_groups(self) -> int:
        """See Labels."""
        return len(self.masters)

    def parts(self) -> Iterator[tuple[int, np.ndarray]]:
        """(first vertex, words) of all vertices, range by range."""
        for _, first, stop in self.space.ranges.each():
            yield first, self.words[first:stop]

    def tally(self) -> tuple[np.ndarray, np.ndarray]:
        """See Labels."""
        radii, sizes = np.zeros(self.n_groups, np.int64), np.zeros(self.n_groups, np.int64)
        for _, words in self.parts():
            tally_labels(words, WIDE_BITS, radii, sizes)
        return radii, sizes

    def farthest_members(self, radii: np.ndarray) -> np.ndarray:
        """See Labels."""
        return self._first_members(np.asarray(radii, np.int64))

    def first_members(self) -> np.ndarray:
        """See Labels."""
        return self._first_members(np.empty(0, np.int64))

    def _first_members(self, radii: np.ndarray) -> np.ndarray:
        """The vertex of smallest rank in each group, at distance radii[g] unless there are none."""
        members, best = np.full((2, self.n_groups), -1, np.int64)
        for first, words in self.parts():
            first_by_rank(words, self._ranks.part(first, first + len(words)), first, radii, members, best)
        return members

    def groups(self, vertices: np.ndarray) -> np.ndarray:
        """See Labels."""
        words = self.words.take(np.asarray(vertices, np.int64))
        return np.where(words == UNREACHED, np.int64(-1), (words & GROUP).astype(np.int64))

    def places(self) -> np.ndarray:
        """Raises MoreMemoryError: there is no room for an entry a vertex in the process; the labels are gone."""
        self.release()
        raise MoreMemoryError("the external engine has no room for numbers of all vertices", 8 * self.space.ranges.n)

    def replace_distances(self, distances: np.ndarray, places: np.ndarray) -> None:
        """See Labels."""
        for first, words in self.parts():
            replace_labels(words, WIDE_BITS, distances, places[first : first + len(words)])
            self.words[first : first + len(words)] = words

    def take_column(self) -> Column:
        """See Labels; of uint32."""
        column = DiskColumn(self.space.scratch, self.space.ranges.n, np.uint32, page=self.space.page)
        for first, words in self.parts():
            narrow = words.view(np.uint32)[: len(words)]
            take_distances(words, WIDE_BITS, narrow)
            column.set_part(first, narrow)
        self.release()
        return column

    def release(self) -> None:
        """See Labels."""
        self.words = WordFile(self.space.scratch, 0)


@kernel
def first_by_rank(labels, ranks, first, radii, members, best):
    """members[g], best[g] = vertex of smallest rank in group g, and that rank; -1 before. radii : int64[groups], the
    distance that it has, or length 0 for any."""
    for i in range(len(labels)):
        if labels[i] == UNREACHED:
            continue
        group = np.int64(labels[i] & GROUP)
        if len(radii) and np.int64(labels[i] >> np.uint64(WIDE_BITS)) != radii[group]:
            continue
        if best[group] < 0 or ranks[i] < best[group]:
            best[group] = ranks[i]
            members[group] = first + i
