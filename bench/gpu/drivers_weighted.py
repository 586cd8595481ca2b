"""Checks of shortest paths along weights: every search, on every layout, and every method for all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import twins
from .host_engine import need_engine
from .weighted import distances_between_all

if TYPE_CHECKING:
    from .verify import Subject

# Largest graphs on which a matrix is made; vertices, the first of each graph, between which all pairs are found.
MOST_CELLS, SOME_VERTICES = 1 << 24, 70
_WEIGHTS = 64
# Types of weights that are checked.
DTYPES: tuple[Any, ...] = (np.uint32, np.float32, np.float64)


def weights_of(n_arcs: int, dtype: Any) -> np.ndarray:
    """A weight for each arc: integers of 0 to 63, or eighths of them, whose sums are exact in every order."""
    drawn = np.random.default_rng(1).integers(0, _WEIGHTS, n_arcs)
    return (drawn if np.dtype(dtype).kind == "u" else drawn / 8).astype(dtype)


def _rows(subject: Subject, dtype: Any) -> Any:
    """The subject's graph with weights, in RAM."""
    return _with_weights(*subject.rows, subject.graph.id_dtype, dtype)


def _with_weights(offsets: np.ndarray, heads: np.ndarray, id_dtype: Any, dtype: Any) -> Any:
    need_engine()
    from emdiam.paths.rows import WeightedRows

    return WeightedRows(offsets, heads.astype(id_dtype), weights_of(heads.size, dtype))


def first_rows(offsets: np.ndarray, heads: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Offsets int64[k + 1] and heads int64[] of the graph of the first k = n vertices, or of all there are."""
    k = min(n, offsets.size - 1)
    inside = heads[: offsets[k]] < k
    upto = np.concatenate(([0], np.cumsum(inside)))
    return upto[offsets[: k + 1]], heads[: offsets[k]][inside]


def _right(found: np.ndarray, want: np.ndarray) -> bool:
    """Whether distances are those of the twin, float64 with infinity where there is no path."""
    none = np.inf if found.dtype.kind == "f" else np.iinfo(found.dtype).max
    return bool(np.array_equal(np.where(found == none, np.inf, found.astype(np.float64)), want))


def searches(subject: Subject, mapping: str) -> Iterator[bool]:
    """Distances by every search of the catalogue, along integers and floats."""
    for dtype in DTYPES:
        rows = _rows(subject, dtype)
        from emdiam.gpu.paths.registry import SEARCHES, device_paths
        from emdiam.paths.paths import SearchOptions

        source = subject.sources[0]
        want = twins.lengths(rows.offsets, subject.rows[1], rows.weights, source)
        degrees = np.diff(rows.offsets)
        for name in SEARCHES:
            wide = rows.heads.itemsize > 4 or rows.weights.itemsize > 4
            large = {"harish-matrix": degrees.size, "harish-list-matrix": int(degrees.max()) + 32}.get(name, 0)
            if degrees.size * large <= MOST_CELLS and not ("pair" in name and wide):
                yield _right(device_paths(rows, source, subject.setting.device, name).distances, want)
        # With so narrow buckets that some lie beyond those that there are.
        narrow = SearchOptions(delta=1)
        yield _right(device_paths(rows, source, subject.setting.device, "delta-stepping", narrow).distances, want)


def sweep(subject: Subject, mapping: str) -> Iterator[bool]:
    """Distances by workfront sweep with each load balancing, and by H-BF where it takes it."""
    rows = _rows(subject, np.uint32)
    from emdiam.gpu.paths.hbf import hbf
    from emdiam.gpu.paths.near_far import workfront_sweep
    from emdiam.gpu.paths.weighted_graph import upload_rows
    from emdiam.gpu.registry import HBF_MAPPINGS

    device = subject.setting.device
    weighted = upload_rows(device, rows)
    for source in subject.sources:
        want = twins.lengths(rows.offsets, subject.rows[1], rows.weights, source)
        yield _right(workfront_sweep(device, weighted, source, mapping=mapping).distances, want)
        if mapping in HBF_MAPPINGS:
            yield _right(hbf(device, weighted, source, mapping=mapping).distances, want)


def all_pairs(subject: Subject, mapping: str) -> Iterator[bool]:
    """Distances between all pairs by every method, on the graph of the first vertices."""
    offsets, heads = first_rows(*subject.rows, SOME_VERTICES)
    for dtype in DTYPES:
        rows = _with_weights(offsets, heads, subject.graph.id_dtype, dtype)
        from emdiam.gpu.paths.all_pairs import ALL_PAIRS, PairsSolver
        from emdiam.gpu.registry import TILES

        want = np.array([twins.lengths(offsets, heads, rows.weights, source) for source in range(offsets.size - 1)])
        for method in ALL_PAIRS:
            for tile in TILES:
                solver = PairsSolver(subject.setting.device, tile)
                yield _right(distances_between_all(rows, solver, method)[0], want)
