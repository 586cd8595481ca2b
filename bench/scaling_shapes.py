"""Shapes of graphs for the cost model of workers: measured on a store, kept with the figures."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from emdiam.dask.plan import balanced_ranges
from emdiam.engine.interface import Engine
from emdiam.store.array_reader import read_slice
from emdiam.store.store import Store

from .external import disk_bytes
from .scaling_model import Shape

RANGES = (2, 4, 16, 64, 256)
_ROWS_AT_ONCE = 1 << 20


def level_arcs(engine: Engine, source: int) -> np.ndarray:
    """int64[levels, 2]: vertices and arcs of their rows on each level of a BFS from `source`."""
    run = engine.bfs(source)
    assert run.distances is not None and run.eccentricity is not None
    found = np.zeros((run.eccentricity + 1, 2), np.int64)
    for start in range(0, engine.facts.n_vertices, _ROWS_AT_ONCE):
        vertices = np.arange(start, min(engine.facts.n_vertices, start + _ROWS_AT_ONCE))
        distances = run.distances.gather(vertices)
        inside = distances >= 0
        found[:, 0] += np.bincount(distances[inside], minlength=len(found))
        np.add.at(found[:, 1], distances[inside], engine.degrees(vertices)[inside])
    return found


def measured_shape(store: Store, engine: Engine, source: int, *, name: str, stretch: float = 0.0) -> Shape:
    """The shape of the graph of `store` by a BFS from `source`; holds its arcs in RAM. See Shape for `stretch`."""
    indptr = read_slice(store.indptr, 0, store.n_vertices + 1)
    neighbours = read_slice(store.indices, 0, store.n_arcs)
    run = engine.bfs(source)
    assert run.distances is not None
    distances = run.distances.gather(np.arange(store.n_vertices))
    cuts = {parts: balanced_ranges(store, parts) for parts in RANGES}
    borders = {parts: _borders(indptr, neighbours, ranges) for parts, ranges in cuts.items()}
    return Shape(
        name=name, n_vertices=store.n_vertices, n_arcs=store.n_arcs,
        levels=tuple((int(v), int(a)) for v, a in level_arcs(engine, source)),
        crossing={parts: found[0] for parts, found in borders.items()},
        borders={parts: found[1] for parts, found in borders.items()},
        balance={parts: _balance(indptr, distances, ranges) for parts, ranges in cuts.items()},
        hub_share=float(np.diff(indptr).max()) / store.n_arcs,
        bytes_per_arc=disk_bytes(Path(store.path) / "indices") / store.n_arcs,
        stretch=stretch)


def _borders(indptr: np.ndarray, neighbours: np.ndarray, ranges: np.ndarray) -> tuple[float, float]:
    """(share of arcs that lead out of their range, pairs of a range and a neighbour outside, a vertex)."""
    n, crossing, pairs = len(indptr) - 1, 0, 0
    for first, stop in zip(ranges[:-1].tolist(), ranges[1:].tolist(), strict=True):
        met = neighbours[indptr[first] : indptr[stop]]
        outside = (met < first) | (met >= stop)
        seen = np.zeros(n, bool)
        seen[met[outside]] = True
        crossing += int(np.count_nonzero(outside))
        pairs += int(np.count_nonzero(seen))
    return crossing / len(neighbours), pairs / n


def _balance(indptr: np.ndarray, distances: np.ndarray, ranges: np.ndarray) -> float:
    """Arcs of the fullest range on each level, summed, over those of the mean range."""
    parts = len(ranges) - 1
    rank = np.repeat(np.arange(parts), np.diff(ranges))
    inside = distances >= 0
    cell = distances[inside] * parts + rank[inside]
    arcs = np.bincount(cell, np.diff(indptr)[inside], (int(distances.max()) + 1) * parts).reshape(-1, parts)
    total = float(arcs.sum())
    return float(arcs.max(axis=1).sum()) * parts / total if total else 1.0


def to_plain(shape: Shape) -> dict[str, Any]:
    """The shape as JSON keeps it."""
    return asdict(shape)


def from_plain(kept: dict[str, Any]) -> Shape:
    """The shape that JSON kept."""
    tables = {name: {int(parts): float(value) for parts, value in kept[name].items()}
              for name in ("crossing", "borders", "balance", "rounds", "again")}
    levels = tuple((float(v), float(a)) for v, a in kept["levels"])
    known = {name: value for name, value in kept.items() if name != "copy_bytes"}  # of older figures
    return Shape(**{**known, **tables, "levels": levels})
