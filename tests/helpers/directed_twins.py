"""Digraphs and their naive twins: plain BFS, components by reachability, a store of a list of arcs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from emdiam.conversion.convert import ConvertOptions, ConvertReport, write_graph
from emdiam.formats.source import SourceInfo
from emdiam.sorting.plan import SortPlan
from tests.helpers import naive
from tests.helpers.convert_twin import ROOMY, ListSource

Arcs = Sequence[tuple[int, int]]


def write_arcs(arcs: Sequence[tuple[Any, Any]], target: Path, n: int | None = None, *, plan: SortPlan = ROOMY,
               chunk_ids: int = 64, **about: Any) -> ConvertReport:
    """A store with directions at `target`, of vertices 0 to n - 1 or of the ids that occur."""
    return write_graph(ListSource(arcs, SourceInfo(n_vertices=n, **about)), target, options=ConvertOptions(
        plan=plan, scratch=target.parent, force=True, directed=True, chunk_ids=chunk_ids))


def heads_of(n: int, arcs: Arcs) -> list[list[int]]:
    """The heads of the arcs out of every vertex, ascending, without loops."""
    heads: list[set[int]] = [set() for _ in range(n)]
    for tail, head in arcs:
        if tail != head:
            heads[tail].add(head)
    return [sorted(row) for row in heads]


def turned(arcs: Arcs) -> list[tuple[int, int]]:
    """The arcs the other way round."""
    return [(head, tail) for tail, head in arcs]


def all_distances(n: int, arcs: Arcs) -> list[list[int]]:
    """The matrix of distances, -1 where there is no path."""
    heads = heads_of(n, arcs)
    return [naive.distances(heads, source) for source in range(n)]


def strong_components(matrix: list[list[int]]) -> list[int]:
    """The smallest vertex of the strong component of every vertex, by the definition."""
    n = len(matrix)
    return [min(v for v in range(n) if matrix[u][v] >= 0 <= matrix[v][u]) for u in range(n)]


def random_arcs(rng: random.Random, most: int = 40) -> tuple[int, list[tuple[int, int]]]:
    """A random digraph with loops and parallel arcs, of one of several kinds: sparse or dense, acyclic, with long
    cycles, nearly symmetric."""
    n = rng.randint(1, most)
    kind, m = rng.randrange(5), rng.randint(0, 3 * n)
    arcs = [(rng.randrange(n), rng.randrange(n)) for _ in range(m)]
    if kind == 1:
        arcs = [(min(arc), max(arc)) for arc in arcs]
    elif kind == 2:
        begin = rng.randrange(n)
        arcs = arcs[: n // 4] + [(v, v + 1) for v in range(begin, n - 1)] + [(n - 1, begin)]
    elif kind == 3:
        arcs += turned(arcs)[: len(arcs) - rng.randint(0, 2)]
    elif kind == 4:
        arcs = [(v, (v + rng.randint(1, 2)) % n) for v in range(n)]
    return n, arcs


def odd_digraphs() -> Iterator[tuple[str, int, list[tuple[int, int]]]]:
    """(name, vertices, arcs) of small digraphs that are special."""
    yield "no vertices with arcs", 3, []
    yield "one vertex", 1, []
    yield "one loop", 1, [(0, 0)]
    yield "one arc", 2, [(1, 0)]
    yield "two-cycle", 2, [(0, 1), (1, 0)]
    yield "path", 70, [(v, v + 1) for v in range(69)]
    yield "path back", 70, [(v + 1, v) for v in range(69)]
    yield "cycle", 70, [(v, (v + 1) % 70) for v in range(70)]
    yield "two cycles, one way between", 20, [
        *((v, (v + 1) % 10) for v in range(10)), *((10 + v, 10 + (v + 1) % 10) for v in range(10)), (3, 17)]
    yield "star out", 80, [(0, v) for v in range(1, 80)]
    yield "star in", 80, [(v, 0) for v in range(1, 80)]
    yield "star both ways", 80, [arc for v in range(1, 80) for arc in ((v, 0), (0, v))]
    yield "clique", 12, [(u, v) for u in range(12) for v in range(12)]
    yield "tournament", 12, [(u, v) for u in range(12) for v in range(u)]
    yield "torus", 25, [(5 * r + c, 5 * ((r + a) % 5) + (c + b) % 5)
                        for r in range(5) for c in range(5) for a, b in ((0, 1), (1, 0))]
    yield "hypercube up", 32, [(v, v | 1 << b) for v in range(32) for b in range(5) if not v >> b & 1]
    yield "de Bruijn", 64, [(v, (2 * v + b) % 64) for v in range(64) for b in (0, 1)]
    yield "bow tie", 30, [*((v, 10) for v in range(10)), *((10 + v, 10 + (v + 1) % 10) for v in range(10)),
                          *((15, v) for v in range(20, 30))]
