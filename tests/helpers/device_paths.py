"""Weighted graphs for the device and the plainest ways to solve them, over rows with loops and parallel arcs too."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st

from emdiam.gpu.device import Device
from emdiam.gpu.paths.all_pairs import PairsSolver
from emdiam.paths.pairs.arcs import lengths_of
from emdiam.paths.pairs.johnson import potentials
from emdiam.paths.pairs.methods import METHODS, ROWS
from emdiam.paths.pairs.solve import PairsWork, by_rows, in_ram
from emdiam.paths.rows import WeightedRows, unreached
from emdiam.stream.threads import Threads
from tests.helpers.stores import odd_graphs

Arc = tuple[int, int, float]


def rows_of_arcs(n: int, arcs: Iterable[Arc], dtype: type | None = np.uint32, ids: type = np.uint32) -> WeightedRows:
    """These arcs as they are, loops and parallel ones too; dtype None: without weights."""
    ordered = sorted(arcs)
    offsets = np.searchsorted([a for a, _, _ in ordered], np.arange(n + 1)).astype(np.int64)
    weights = None if dtype is None else np.array([w for _, _, w in ordered], dtype)
    return WeightedRows(offsets, np.array([b for _, b, _ in ordered], ids), weights)


def arcs_of(rows: WeightedRows) -> list[Arc]:
    """(tail, head, weight) of every arc."""
    tails = np.repeat(np.arange(rows.n_vertices), np.diff(rows.offsets))
    return list(zip(tails.tolist(), rows.heads.tolist(), rows.costs.tolist(), strict=True))


def dijkstra(rows: WeightedRows, source: int) -> np.ndarray:
    """Distances from `source`, of the rows' type: the textbook's, with a heap of labels."""
    out: list[list[tuple[int, float]]] = [[] for _ in range(rows.n_vertices)]
    for a, b, w in arcs_of(rows):
        out[a].append((b, w))
    found: dict[int, float] = {}
    heap: list[tuple[float, int]] = [(0, source)]
    while heap:
        d, v = heapq.heappop(heap)
        if v not in found:
            found[v] = d
            for u, w in out[v]:
                heapq.heappush(heap, (d + w, u))
    return _as_array(rows, found)


def bellman_ford(rows: WeightedRows, source: int) -> np.ndarray | None:
    """The same where weights may be negative; None for a negative cycle that the source reaches."""
    arcs, found = arcs_of(rows), {source: 0.0 if rows.distance_dtype.kind == "f" else 0}
    for _ in range(rows.n_vertices):
        before = dict(found)
        for a, b, w in arcs:
            if a in found and found[a] + w < found.get(b, np.inf):
                found[b] = found[a] + w
        if before == found:
            return _as_array(rows, found)
    return None


def all_distances(rows: WeightedRows) -> np.ndarray | None:
    """Distances between all pairs, by the textbook's three loops; None for a negative cycle."""
    n = rows.n_vertices
    best = np.full((n, n), np.inf)
    best[np.arange(n), np.arange(n)] = 0
    for a, b, w in arcs_of(rows):
        best[a, b] = min(best[a, b], w)
    for k in range(n):
        best = np.minimum(best, best[:, k : k + 1] + best[k : k + 1])
    if np.any(np.diagonal(best) < 0):
        return None
    dtype = rows.distance_dtype
    found = np.full((n, n), unreached(dtype), dtype)
    np.copyto(found, best, where=np.isfinite(best), casting="unsafe")
    return found


def solved(rows: WeightedRows, device: Device, method: str, tile: int = 32) -> np.ndarray:
    """Distances between all pairs as a command has a device find them, of the rows' type. Raises InputError for a
    negative cycle, OverflowError where a distance may not fit."""
    threads, n = Threads(1, 0), rows.n_vertices
    lengths, negative = lengths_of(rows)
    if negative:
        potentials(rows, 1, lambda: None)
    work = PairsWork(METHODS[method], rows, lengths, threads, lambda: None, PairsSolver(device, tile))
    try:
        if work.method.kind == ROWS:
            matrix = np.empty((n, n), lengths.output_dtype)
            by_rows(work, max(1, n), 0, lambda first, part: matrix.__setitem__(slice(first, first + len(part)), part))
        else:
            matrix = in_ram(work)[0]
    finally:
        threads.close()
    dtype = rows.distance_dtype
    found = np.full((n, n), unreached(dtype), dtype)
    np.copyto(found, matrix, where=matrix != lengths.unreachable, casting="unsafe")
    return found


def _as_array(rows: WeightedRows, found: dict[int, float]) -> np.ndarray:
    dtype = rows.distance_dtype
    distances = np.full(rows.n_vertices, unreached(dtype), dtype)
    distances[list(found)] = list(found.values())
    return distances


def random_arcs(seed: int, n: int, m: int, weights: Sequence[float], directed: bool = True) -> list[Arc]:
    """m arcs between random vertices, loops and parallel ones among them; undirected: both of every edge."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (m, 2)).tolist()
    arcs = [(a, b, weights[i]) for (a, b), i in zip(ends, rng.integers(0, len(weights), m).tolist(), strict=True)]
    return arcs if directed else arcs + [(b, a, w) for a, b, w in arcs]


def odd_rows(dtype: type | None = np.uint32) -> dict[str, WeightedRows]:
    """The odd graphs with weights, zeros among them, some directed, and shapes that weights make odd."""
    found = {}
    for name, graph in odd_graphs().items():
        if len(graph) <= 100:
            arcs = [(a, b, float((a * b + a + b) % 7)) for a, row in enumerate(graph) for b in row]
            found[name] = rows_of_arcs(len(graph), arcs, dtype)
    few, zero = (1, 2, 5, 40), (0, 0, 1)
    found |= {
        "star": rows_of_arcs(100, [arc for v in range(100) if v != 7 for arc in ((7, v, v % 9), (v, 7, v % 9))], dtype),
        "loops and parallel": rows_of_arcs(5, [(0, 0, 0), (0, 1, 9), (0, 1, 4), (1, 1, 1), (1, 2, 0), (2, 1, 0),
                                               (2, 3, 2), (2, 3, 2), (3, 0, 1)], dtype),
        "zero cycle": rows_of_arcs(4, [(0, 2, 3), (2, 1, 0), (1, 2, 0), (1, 3, 0), (3, 2, 0)], dtype),
        "detours": rows_of_arcs(40, [*((v, v + 1, 1) for v in range(39)), *((0, v, 3.0 * v) for v in range(2, 40))],
                                dtype),
        "one way": rows_of_arcs(6, [(5, 4, 1), (4, 3, 1), (3, 2, 1), (2, 1, 1)], dtype),
        "random directed": rows_of_arcs(60, random_arcs(1, 60, 200, few), dtype),
        "random zeros": rows_of_arcs(50, random_arcs(2, 50, 120, zero, directed=False), dtype),
        "random sparse": rows_of_arcs(64, random_arcs(3, 64, 60, few, directed=False), dtype),
    }
    return found


@st.composite
def drawn_rows(draw: st.DrawFn, dtypes: Sequence[type | None] = (None, np.uint8, np.uint32, np.float32, np.float64),
               negative: bool = False, ids: Sequence[type] = (np.uint32, np.uint32, np.uint64)) -> WeightedRows:
    """Random arcs, loops and parallel ones among them, directed or not, with weights and ids of some dtype."""
    dtype, n = draw(st.sampled_from(dtypes)), draw(st.integers(1, 40))
    kind = np.dtype(dtype or np.uint8).kind
    least = -3 if negative else 0
    numbers = {"f": st.floats(least, 1e6, width=32) | st.sampled_from([0.1, 0.2, 0.3, 1e-30]),
               "i": st.integers(least, 50), "u": st.integers(0, 255) if dtype is not np.uint32 else st.integers(
                   0, 9) | st.integers(0, (1 << 32) - 1)}[kind]
    ends = st.integers(0, n - 1)
    arcs = draw(st.lists(st.tuples(ends, ends, numbers), max_size=4 * n))
    if draw(st.booleans()) and not negative:
        arcs = arcs + [(b, a, w) for a, b, w in arcs]
    return rows_of_arcs(n, arcs, dtype, draw(st.sampled_from(ids)))
