"""Closeness and harmonic centrality of all vertices from sums over sources, and the file for them.

Definitions are those of networkx: with r vertices reached from v, v among them, and the sum S of their distances,
closeness is (r - 1) / (n - 1) * (r - 1) / S (Wasserman and Faust's improvement for several components; 0 if no other
vertex is reached). Harmonic centrality is the sum of 1 / d over all others, without normalization. For a sample of k of
the N vertices with an edge, sums are multiplied by (N - 1) / k, or by (N - 1) / (k - 1) if the vertex itself is in the
sample. With probability 1 - p the mean distance in the closeness is then within D sqrt(ln(2 / p) / (2 k)) of the true
one.
Sources: Eppstein, Wang 2004 (Fast approximation of centrality), theorem 2, by Hoeffding's bound; Boldi, Vigna 2014
(Axioms for centrality).
Bytes a vertex: 8 for a store in another order, beside the sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ..engine.interface import Engine
from ..progress import Meter
from ..vertex_tables import PIECE, Piece, write_vertices

# Probability that a mean distance is farther off than stated.
CHANCE = 0.05

# (reached others, sum of distances, sum of inverses), float64[k] each, of vertices int64[k].
Sums = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def mean_error(longest: int, samples: int) -> float:
    """Bound on the error of a vertex's mean distance, except with probability CHANCE."""
    return longest * math.sqrt(math.log(2 / CHANCE) / (2 * max(1, samples)))


def closeness(reached: np.ndarray, total: np.ndarray, n_vertices: int) -> np.ndarray:
    """float64[k]. reached : number of other vertices reached. total : sum of their distances."""
    result = np.zeros(len(total))
    np.divide(reached * reached, total * max(1, n_vertices - 1), out=result, where=total > 0)
    return result


def write_centralities(engine: Engine, path: Path, sums: Sums, meter: Meter) -> None:
    """Write id, closeness and harmonic of every vertex to a file, in increasing order of ids. Raises InputError if
    it cannot be written."""
    meter.begin("write", engine.facts.n_vertices, "vertices")
    try:
        write_vertices(path, _pieces(engine, sums, meter))
    finally:
        meter.end()


def all_centralities(engine: Engine, sums: Sums) -> tuple[np.ndarray, np.ndarray]:
    """Closeness and harmonic of every vertex, float64[n] each, in increasing order of ids."""
    found = tuple(np.empty(engine.facts.n_vertices) for _ in range(2))
    for ranks, *values in _values(engine, sums):
        for whole, part in zip(found, values, strict=True):
            whole[ranks] = part
    return found[0], found[1]


def _pieces(engine: Engine, sums: Sums, meter: Meter) -> Iterator[Piece]:
    """The rows in pieces."""
    for ranks, close, harmonic in _values(engine, sums):
        yield {"id": engine.store.ids_of_ranks(ranks), "closeness": close, "harmonic": harmonic}
        meter.update(int(ranks[-1]) + 1)


def _values(engine: Engine, sums: Sums) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Natural ranks in pieces, ascending, with closeness and harmonic centrality of their vertices."""
    n, placed = engine.facts.n_vertices, _by_rank(engine)
    for start in range(0, n, PIECE):
        ranks = np.arange(start, min(start + PIECE, n))
        reached, total, harmonic = sums(ranks if placed is None else placed[ranks])
        yield ranks, closeness(reached, total, n), harmonic


def _by_rank(engine: Engine) -> np.ndarray | None:
    """The vertex of each natural rank, int64[n]; None if it is the rank itself."""
    if engine.store.is_natural:
        return None
    n = engine.facts.n_vertices
    placed = np.empty(n, np.int64)
    for start in range(0, n, PIECE):
        ids = np.arange(start, min(start + PIECE, n))
        placed[engine.ranks(ids)] = ids
    return placed
