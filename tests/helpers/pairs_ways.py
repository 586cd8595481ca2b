"""All pairs by any method in any way, for tests, and their slow twin."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from emdiam.paths.pairs.arcs import Lengths, lengths_of
from emdiam.paths.pairs.matrix import MatrixWriter
from emdiam.paths.pairs.methods import METHODS, ROWS, TILES
from emdiam.paths.pairs.solve import MatrixFigures, PairsWork, by_rows, in_ram, on_disk, write_rows
from emdiam.paths.rows import WeightedRows
from emdiam.stream.threads import Threads
from tests.helpers.path_twins import Graph, bellman_ford

INFINITE = float("inf")
# (method, way): all that there are. Tiles of 64 rows on disk; strips of 7.
WAYS = [(name, way) for name, method in METHODS.items()
        for way in ("memory", *(["disk"] if method.kind == TILES else ["strips"] if method.kind == ROWS else []))]
_ROOM = 1 << 30


def twin(graph: Graph) -> list[list[float]] | None:
    """Distances from every vertex; None where there is a negative cycle."""
    rows = [bellman_ford(graph, source) for source in range(graph[0])]
    return None if any(row is None for row in rows) else rows  # type: ignore[return-value]


def shown(matrix: np.ndarray, lengths: Lengths) -> np.ndarray:
    """float64 distances, infinite where the matrix says that there is no path."""
    out = matrix.astype(np.float64)
    out[matrix == lengths.unreachable] = INFINITE
    return out


def pairs(rows: WeightedRows, method: str, way: str, folder: Path | None = None,
          threads: int = 2) -> tuple[np.ndarray, MatrixFigures]:
    """Distances between all pairs, float64[n, n]. folder : an empty one, of "disk" and "strips"."""
    lengths, _ = lengths_of(rows)
    pool = Threads(threads, 0)
    try:
        work = PairsWork(METHODS[method], rows, lengths, pool, lambda: None)
        if way == "memory":
            matrix, found = _in_memory(work)
            return shown(matrix, lengths), found
        assert folder is not None
        chunk = (64, 64) if way == "disk" else (7, 50)
        writer = MatrixWriter(folder / "matrix.zarr", rows.n_vertices, lengths, chunk, force=True, whole=way == "disk")
        try:
            found = (on_disk(work, writer)[0] if way == "disk" else
                     by_rows(work, 7, _ROOM, lambda first, part: write_rows(writer, first, part)))
            span = 0, rows.n_vertices
            return shown(writer.read(span, span), lengths), found
        finally:
            writer.abort()
    finally:
        pool.close()


def _in_memory(work: PairsWork) -> tuple[np.ndarray, MatrixFigures]:
    """The matrix, as rows all at once where the method has rows."""
    if work.method.kind != ROWS:
        return in_ram(work)
    kept: list[np.ndarray] = []
    n = work.arcs.n_vertices
    found = by_rows(work, max(1, n), _ROOM, lambda first, part: kept.append(part))
    return kept[0] if kept else np.empty((0, 0), work.lengths.dtype), found
