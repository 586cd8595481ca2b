"""Breadth-first order: vertices by component, and within it by level of a BFS from the component's hub.

Components are ordered by size, the largest first (of equals, the smallest natural rank), vertices without an edge last.
Vertices of a component are ordered by distance from its hub, the vertex of the largest degree; all ties by natural
rank. Then the ends of an edge are in one level or in neighbouring ones, so that a frontier touches few blocks. Source:
the level structure of Cuthill and McKee (1969), without their order inside a level, which would need the parents.

One BFS for the component of the graph's hub, union-find for the others, and one spread from all their hubs together.
Everything else is passes over all vertices in pieces. Bytes per vertex: 12 and a distance column (1 to 4), besides the
engine's own state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..engine.cpu import CpuEngine
from ..engine.interface import max_degree_vertex
from ..engine.needs import Needs, distance_bytes, traversal_phases
from ..store.layout import sentinel
from ..store.store import Store
from ..traverse.columns import Column
from .orders import natural_parts, pass_bytes, place_by_key

_SEEDS = 1 << 14
_SEED_BYTES = 48


def bfs_needs(store: Store) -> Needs:
    """The memory needs of by_bfs."""
    n, item = store.n_vertices, store.id_dtype.itemsize
    seeds = _SEED_BYTES * (_most_seeds(n) + store.record.chunk_ids)
    passing = pass_bytes(store) + 8 * item

    def number(column: int) -> int:
        return max(2 * item * n + distance_bytes(store, column) + seeds, n * (3 * item + column)) + passing

    return Needs("order bfs", traversal_phases(store, number))


def by_bfs(engine: CpuEngine, seed: int, scratch: str | Path | None = None) -> np.ndarray:
    """The new number of every vertex in breadth-first order, id_dtype[n]. Deterministic; ignores `seed` and `scratch`.

    Raises StoreError, OverflowError for distances that do not fit 32 bits.
    """
    store = engine.store
    start = _graph_hub(engine)
    if start < 0:
        return place_by_key(np.zeros(store.n_vertices, store.id_dtype), 1, store)
    levels = engine.bfs(start).distances
    assert levels is not None
    labels = _Labels(engine, start)
    if labels.largest_other:
        hubs = labels.hubs()
        start_label = int(labels.of[start])
        for seeds in labels.at_hubs(hubs, start_label):
            engine.spread(seeds, np.zeros(len(seeds), np.int64), levels.unreached - 1, levels)
        del hubs
        levels = _widened(engine, levels, labels.largest_other - 1)
    engine.reporter.tick("number")
    return _numbered(labels, levels)


def _graph_hub(engine: CpuEngine) -> int:
    """The vertex of the largest degree, among equals the one of the smallest rank; -1 without edges."""
    if engine.facts.n_arcs == 0:
        return -1
    vertex = max_degree_vertex(engine)
    if engine.store.is_natural:
        return vertex
    largest = int(engine.degrees(np.array([vertex]))[0])
    first = (engine.facts.n_vertices, -1)
    for part, ranks in natural_parts(engine.store):
        hubs = np.flatnonzero(_degrees(engine, part) == largest)
        if len(hubs):
            at = int(hubs[ranks[hubs].argmin()])
            first = min(first, (int(ranks[at]), part.start + at))
    return first[1]


def _degrees(engine: CpuEngine, part: slice) -> np.ndarray:
    return engine.degrees(np.arange(part.start, part.stop))


@dataclass(frozen=True)
class _Alive:
    """Vertices with an edge in one part. at : int64[k], their positions in it. labels, ranks : of these vertices,
    int64[k]."""

    part: slice
    at: np.ndarray
    labels: np.ndarray
    ranks: np.ndarray


class _Labels:
    """Components after a BFS from `start`. of : id_dtype[n], the smallest natural rank in the vertex's component
    (`none` without an edge). largest_other : number of vertices of the largest other component, 0 if there is none."""

    def __init__(self, engine: CpuEngine, start: int) -> None:
        self._engine, self.store = engine, engine.store
        self.none = sentinel(self.store.id_dtype)
        self.largest_other = 0
        components = engine.components(start)
        if components is None:
            self.of = np.full(engine.facts.n_vertices, start, self.store.id_dtype)
        else:
            self.of, self.largest_other = components.labels[:], components.largest_size()
            components.release()
        self._rename()

    def _rename(self) -> None:
        """Replace the engine's labels, each any vertex of the component, with the smallest rank."""
        for part, _ in natural_parts(self.store):
            self.of[part][_degrees(self._engine, part) == 0] = self.none
        first = np.full(len(self.of), self.none, self.of.dtype)
        for alive in self.alive():
            np.minimum.at(first, alive.labels, alive.ranks.astype(first.dtype))
        for alive in self.alive():
            self.of[alive.part][alive.at] = first[alive.labels]

    def alive(self) -> Iterator[_Alive]:
        """The vertices with an edge, part by part."""
        for part, ranks in natural_parts(self.store):
            at = np.flatnonzero(self.of[part] != self.none)
            yield _Alive(part, at, self.of[part][at].astype(np.int64), ranks[at])

    def hubs(self) -> np.ndarray:
        """By label, the rank of the component's vertex of the largest degree (of equals, the smallest rank)."""
        degrees, hubs = np.zeros_like(self.of), np.full_like(self.of, self.none)
        for alive in self.alive():
            np.maximum.at(degrees, alive.labels, self._degrees_of(alive).astype(degrees.dtype))
        for alive in self.alive():
            best = self._degrees_of(alive) == degrees[alive.labels]
            np.minimum.at(hubs, alive.labels[best], alive.ranks[best].astype(hubs.dtype))
        return hubs

    def _degrees_of(self, alive: _Alive) -> np.ndarray:
        return self._engine.degrees(alive.at + alive.part.start)

    def at_hubs(self, hubs: np.ndarray, skipped: int) -> Iterator[np.ndarray]:
        """The hubs of all components except the one with the label `skipped`, int64[k], a bounded number at a time."""
        limit = _most_seeds(len(self.of))
        waiting, count = [np.empty(0, np.int64)], 0
        for alive in self.alive():
            chosen = (hubs[alive.labels] == alive.ranks) & (alive.labels != skipped)
            waiting.append(alive.at[chosen] + alive.part.start)
            count += len(waiting[-1])
            if count >= limit:
                yield np.concatenate(waiting)
                waiting, count = [], 0
        if count:
            yield np.concatenate(waiting)

    def sizes(self) -> np.ndarray:
        """By label, the number of vertices; 0 for other numbers."""
        sizes = np.zeros_like(self.of)
        for alive in self.alive():
            np.add.at(sizes, alive.labels, sizes.dtype.type(1))
        return sizes


def _most_seeds(n_vertices: int) -> int:
    """Seeds of one spread; limited so that their lists fit the memory plan."""
    return max(_SEEDS, n_vertices // 64)


def _widened(engine: CpuEngine, levels: Column, longest: int) -> Column:
    """`levels` continued to their end, in wider columns if they reach the limit of the narrow one.

    longest : upper bound of all levels.
    """
    while levels.unreached - 1 < longest:
        limit = levels.unreached - 1
        if not len(levels.select("==", limit, most=1)):
            break
        wide = engine.new_column(levels.unreached)
        wide.copy_from(levels)
        levels = wide
        engine.spread(None, limit, levels.unreached - 1, levels)
    return levels


def _numbered(labels: _Labels, levels: Column) -> np.ndarray:
    """New numbers by component, level and rank. The vector of the labels becomes the result."""
    n = len(labels.of)
    sizes = labels.sizes()
    n_components = int(np.count_nonzero(sizes))
    # Other numbers have size 0 and so come after all components.
    number = place_by_key(np.subtract(n, sizes, out=sizes), n + 1)
    first = np.zeros(n_components + 1, number.dtype)
    for alive in labels.alive():
        depths = levels.part(alive.part.start, alive.part.stop)[alive.at].astype(first.dtype)
        np.maximum.at(first, number[alive.labels].astype(np.int64) + 1, depths + first.dtype.type(1))
    np.cumsum(first, out=first, dtype=first.dtype)
    n_keys = int(first[-1])
    for alive in labels.alive():
        keys = np.full(alive.part.stop - alive.part.start, n_keys, first.dtype)
        depths = levels.part(alive.part.start, alive.part.stop)[alive.at]
        keys[alive.at] = first[number[alive.labels]] + depths.astype(first.dtype)
        labels.of[alive.part] = keys
    del number, first, levels
    return place_by_key(labels.of, n_keys + 1, labels.store)
