"""A proved interval of the mean distance, from the distances of a few sources.

Sources come in pairs: a random vertex, whose distances give lower bounds, and, for upper bounds, the vertex halfway on
a shortest path from it to another random vertex, since many shortest paths pass there. With more sources the first ones
are the same. They divide the vertices into cells (certificates/cells.py), and the bounds are those of
certificates/mean.py, which proves them again with separate code.

Passes: two BFS a source, since the cells must be known before sums over them. Bytes a vertex: the id dtype and two
columns. Work: the square of the number of cells for each source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..certificates.cells import Cells
from ..certificates.documents import MeanClaims
from ..certificates.mean import fraction_bits, mean_interval
from ..engine.interface import Engine, max_degree_vertex
from ..jit import kernel
from ..traverse.columns import Column
from .result import ProvedMean
from .sources import sampled_sources


@dataclass(frozen=True)
class MeanProof:
    """sources : vertices, in the order in which they divide cells. claims : see MeanClaims."""

    claims: MeanClaims
    sources: list[int]

    @property
    def proved(self) -> ProvedMean:
        """The proved interval, as shown to users."""
        claims = self.claims
        return ProvedMean(*mean_interval(claims.sum_lower, claims.sum_upper, claims.n_pairs), len(self.sources))


def prove_mean(engine: Engine, n_sources: int, seed: int) -> MeanProof:
    """The proof by n_sources sources, or by all vertices with an edge if there are no more. Raises TimeOver."""
    return _MeanBounds(engine).solve(n_sources, seed)


class _MeanBounds:
    """One run. sources : those so far. longest : the largest distance from any of them."""

    def __init__(self, engine: Engine) -> None:
        self._engine, facts = engine, engine.facts
        self._cells = Cells(facts.n_vertices, engine.store.id_dtype)
        self.sources: list[int] = []
        self.longest = 0

    def solve(self, n_sources: int, seed: int) -> MeanProof:
        """Divide cells by all sources, then compute sums."""
        rest = self._component_sizes()
        for source in self._drawn(n_sources, seed):
            run = self._engine.bfs(source)
            self.sources.append(source)
            assert run.distances is not None and run.eccentricity is not None
            self.longest = max(self.longest, run.eccentricity)
            self._column = run.distances
            self._cells.divide(_values(self._column))
            self._engine.reporter.tick("certificate", sources=len(self.sources))
        sums = np.empty((len(self.sources), len(self._cells.sizes)), np.int64)
        for row, source in zip(sums, self.sources, strict=True):
            column = self._engine.bfs(source).distances
            assert column is not None
            row[:] = self._cells.sums(_values(column))
            self._engine.reporter.tick("certificate")
        return MeanProof(self._claims(rest, sums), self.sources)

    def _component_sizes(self) -> Counter[int]:
        """Number of components with an edge for each number of vertices."""
        engine = self._engine
        if not engine.facts.n_arcs:
            return Counter()
        hub = max_degree_vertex(engine)
        sizes = Counter([engine.bfs(hub, distances=False).n_reached])
        others = engine.components(hub)
        while others is not None and (some := others.larger_than(0)):
            sizes.update(component.size for component in some)
        if others is not None:
            others.release()
        return sizes

    def _drawn(self, n_sources: int, seed: int) -> Iterator[int]:
        """Distinct sources; the distances from the last one are in `_column`."""
        drawn = sampled_sources(self._engine, seed, 2 * n_sources).tolist() if self._engine.facts.n_arcs else []
        seen: set[int] = set()
        for place, name in enumerate([*drawn, *drawn[1::2]]):  # the second part is used only in small graphs
            source = self._middle(name) if place % 2 and place < len(drawn) else name
            if source not in seen:
                seen.add(source)
                yield source
            if len(seen) == n_sources:
                return

    def _middle(self, end: int) -> int:
        """The vertex halfway from `end` to the last source; `end` itself if it is in another component."""
        if self._column.gather([end])[0] < 0:
            return end
        path = np.concatenate(list(self._engine.path_pieces(self._column, end, by_rank=True)))
        return int(path[len(path) // 2])

    # -- bounds ---------------------------------------------------------------------------------
    def _claims(self, rest: Counter[int], sums: np.ndarray) -> MeanClaims:
        """The claims of the proof. rest : numbers of components by size. sums : int64[sources, cells]."""
        sizes = self._cells.sizes
        n_components = self._engine.facts.n_isolated + sum(rest.values())
        n_pairs = sum(count * (size * (size - 1) // 2) for size, count in rest.items())
        least = most = 0
        waiting = np.ones(len(sums), bool)
        while waiting.any():
            inside = sums[int(waiting.argmax())] >= 0
            mine = sums[:, inside.argmax()] >= 0
            waiting &= ~mine
            size = int(sizes[inside].sum())
            rest[size] -= 1
            low, high = _bounds_of(sums[mine][:, inside], sizes[inside], self.longest)
            least, most = least + low, most + min(high, _longest_sum(size))
        for size, count in rest.items():
            least, most = least + count * size * (size - 1), most + count * _longest_sum(size)
        least = max(n_pairs, least - self._engine.facts.n_arcs // 2)
        return MeanClaims(n_components, n_pairs, least, most, self.longest)


def _values(column: Column) -> np.ndarray:
    """A copy of a column in memory."""
    n = len(column)
    found = np.empty(n, column.dtype)
    for start in range(0, n, column.piece):
        stop = min(start + column.piece, n)
        found[start:stop] = column.part(start, stop)
    return found


def _longest_sum(size: int) -> int:
    """The sum of all distances in a path of `size` vertices."""
    return (size - 1) * size * (size + 1) // 6


def _bounds_of(sums: np.ndarray, sizes: np.ndarray, longest: int) -> tuple[int, int]:
    """Bounds on the sum of all distances in a component. sums : int64[sources, cells]. longest : the largest
    distance from any source."""
    bits = fraction_bits(longest)
    whole = sums // sizes
    means = ((whole << bits) + ((sums - whole * sizes << bits) // sizes)).astype(
        np.int32 if longest < 1 << 30 else np.int64)
    rows = np.empty((2, len(sizes)), np.int64)
    add_up(means, sizes, means.dtype.type(2 << bits), rows)
    within = [size * (size - 1) // 2 for size in sizes.tolist()]
    least = sum(count * (2 << bits) for count in within)
    most = sum(2 * count * (mean + 1) for count, mean in zip(within, means.min(axis=0).tolist(), strict=True))
    low, high = (sum(size * row for size, row in zip(sizes.tolist(), some, strict=True)) for some in rows.tolist())
    return -(-(least + low) // (1 << bits)), (most + high) >> bits


@kernel
def add_up(means, sizes, two, rows):
    """rows[0, a], rows[1, a] = bounds on the mean sum of distances of a vertex of cell a to those of later cells.
    means : [sources, cells]."""
    cells = means.shape[1]
    apart = np.empty(cells, means.dtype)
    through = np.empty(cells, means.dtype)
    for a in range(cells):
        apart[a:] = two + 1
        through[a:] = np.iinfo(means.dtype).max
        for s in range(means.shape[0]):
            mean = means[s, a]
            for b in range(a + 1, cells):
                apart[b] = max(apart[b], abs(mean - means[s, b]))
                through[b] = min(through[b], mean + means[s, b])
        low = high = np.int64(0)
        for b in range(a + 1, cells):
            low += sizes[b] * np.int64(apart[b] - 1)
            high += sizes[b] * np.int64(through[b] + 2)
        rows[0, a] = low
        rows[1, a] = high
