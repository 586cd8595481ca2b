"""Two rings of vertices in which each has an edge to the next `reach` on either side, joined by a path and with a tail
each: few vertices, any number of arcs, every row computed and every distance known.

Vertices are numbered along the graph: the tail of the first ring, the first ring, the path between, the second ring,
its tail. So the rows of the vertices that decide the diameter lie at the begin, in the middle and at the end of the
store, and a row that is looked for at an offset cut to 32 bits is that of another vertex.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from emdiam.store.layout import StoreRecord
from emdiam.store.writer import StoreWriter


@dataclass(frozen=True)
class Blobs:
    """ring : vertices of either ring, even, more than twice `reach`. path : vertices between. tail : of either tail."""

    ring: int
    reach: int
    path: int = 3
    tail: int = 5

    @property
    def _begins(self) -> tuple[int, int, int, int]:
        """First vertex of the first ring, the path, the second ring and its tail."""
        first = self.tail
        second = first + self.ring + self.path
        return first, first + self.ring, second, second + self.ring

    @property
    def n_vertices(self) -> int:
        return 2 * (self.ring + self.tail) + self.path

    @property
    def n_edges(self) -> int:
        """Those of the rings, and one more on a chain than it has vertices where it lies between."""
        return 2 * self.ring * self.reach + 2 * self.tail + self.path + 1

    @property
    def diameter(self) -> int:
        """From the end of one tail to that of the other: through either ring to the opposite vertex."""
        return 2 * self.tail + 2 * -(-self.ring // 2 // self.reach) + self.path + 1

    @property
    def ends(self) -> set[int]:
        """The two vertices that are so far apart."""
        return {0, self.n_vertices - 1}

    @cached_property
    def _chain(self) -> dict[int, list[int]]:
        """What vertices have beside their rings: the chain from vertex 0 to the last one passes through place 0 of
        either ring and the place opposite."""
        x, between, y, last = self._begins
        half = self.ring // 2
        found: dict[int, list[int]] = {}
        for chain in ([*range(x), x], [x + half, *range(between, y), y], [y + half, *range(last, self.n_vertices)]):
            for v, w in pairwise(chain):
                found.setdefault(v, []).append(w)
                found.setdefault(w, []).append(v)
        return found

    def _ring_of(self, vertex: int) -> int | None:
        """First vertex of its ring; None for one of a chain."""
        x, _, y, _ = self._begins
        return next((begin for begin in (x, y) if begin <= vertex < begin + self.ring), None)

    def row(self, vertex: int) -> np.ndarray:
        """The neighbours of a vertex, ascending, int64."""
        chain = np.array(sorted(self._chain.get(vertex, ())), np.int64)
        begin = self._ring_of(vertex)
        if begin is None:
            return chain
        steps = np.arange(1, self.reach + 1)
        at = vertex - begin
        before = at - steps[::-1]
        after = at + steps
        parts = (after[after >= self.ring] - self.ring, before[before >= 0], after[after < self.ring],
                 before[before < 0] + self.ring)
        row = np.concatenate([part + begin for part in parts])
        return row if not len(chain) else np.sort(np.concatenate([row, chain]))

    def rows(self) -> Iterator[np.ndarray]:
        """All rows in order."""
        return map(self.row, range(self.n_vertices))

    def write(self, store: Path, **options: int) -> Path:
        """Write the store, row by row. options : of StoreWriter."""
        writer = StoreWriter(store, n_vertices=self.n_vertices, **options)
        for row in self.rows():
            writer.append_degrees(np.array([len(row)]))
            writer.append_neighbours(row.astype(writer.id_dtype))
        writer.finish(StoreRecord())
        return store
