"""Sums over the distances of every vertex, with searches from many sources at once."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..api import distances


def pairs_of(graph: Any, directed: bool = False, **options: Any) -> dict[int, int] | None:
    """Ordered pairs of different vertices by distance; None if distances are long and therefore counted in ranges.
    options : of emdiam.distances."""
    found = distances(graph, exact=True, directed=directed, **options)
    ways = 1 if directed else 2
    return None if found.histogram_width else {distance: ways * count for distance, count in found.pairs.items()}


def centralities(graph: Any, scratch: str | Path | None = None, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """The closeness and the harmonic centrality of the vertices of an undirected graph, float64[2, k], by increasing
    id, and these ids, int64[k], if they are numbers. options : of emdiam.distances."""
    from pyarrow import parquet

    with TemporaryDirectory(dir=scratch) as folder:
        file = Path(folder) / "centralities.parquet"
        distances(graph, exact=True, out=file, scratch=scratch, **options)
        table = parquet.read_table(file)
    values = np.stack([table[name].to_numpy() for name in ("closeness", "harmonic")])
    return table["id"].to_numpy(), values


def sums_of(closeness: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The sum of the distances from each vertex, int64[n]. Sums are integers, so rounding is exact below 2^50.
    closeness : float64[n], (r - 1) / (n - 1) * (r - 1) / sum. sizes : r, of the components, int64[n]."""
    others = np.square(sizes - 1.0) / max(1, len(sizes) - 1)
    totals = np.divide(others, closeness, out=np.zeros(len(sizes)), where=closeness > 0)
    return np.rint(totals).astype(np.int64)
