"""Random graphs with directions and weights, and what runs along both answer, beside all distances (float64[n, n],
infinite without a path)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from emdiam.methods.directed.eccentricities import WeightedArcEccentricities
from emdiam.methods.result import DirectedApproximation, WeightedArcResult
from emdiam.paths.rows import WeightedRows
from emdiam.runs.task import execute, task_of
from emdiam.store.store import Store, open_store
from tests.helpers.many_graphs import WEIGHTS, arcs_of, drawn
from tests.helpers.weighted_stores import arena_bytes, write_rows

KINDS = [kind for kind in WEIGHTS if kind not in ("unit", "negative", "negative floats", "cycles")]
METHODS = ("pivots", "graph-diameter", "apsp")
_MOST = 60


def rows_of(number: int) -> WeightedRows:
    """The graph of this number; weights of every seventh have digits that sums of float64 have no room for."""
    if number % 7 < 6:
        return drawn(number, _MOST, KINDS, (True,)).rows
    rows, random = drawn(number, _MOST, ("float64",), (True,)).rows, np.random.default_rng([number, 3])
    weights = random.random(rows.n_arcs) * 10.0 ** random.integers(-6, 4, rows.n_arcs)
    return WeightedRows(rows.offsets, rows.heads, weights)


def streets(side: int, seed: int = 8) -> WeightedRows:
    """A grid of side x side crossings, strongly connected: a tenth of its streets go one way, but for those around
    it."""
    random, at = np.random.default_rng(seed), np.arange(side * side).reshape(side, side)
    tails = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    heads = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    back = random.random(len(tails)) < 0.9
    ring = np.concatenate([at[0], at[1:, -1], at[-1, -2::-1], at[-2:0:-1, 0]])
    tails, heads = (np.concatenate([one, other[back], around]) for one, other, around in (
        (tails, heads, np.roll(ring, -1)), (heads, tails, ring)))
    return WeightedRows.from_edges(side * side, tails, heads, random.integers(1, 100, len(tails)).astype(np.uint8),
                                   directed=True)


@contextmanager
def stored(folder: Path, rows: WeightedRows, block_arcs: int = 64) -> Iterator[Store]:
    """The rows as a store, in blocks of so many arcs."""
    with open_store(write_rows(folder / "g.zarr", rows, directed=True, chunk_ids=block_arcs), directed=True) as store:
        yield store


def in_blocks(store: Store, blocks: int = 8) -> dict[str, Any]:
    """Options by which arcs are read in blocks, so many of which are in memory."""
    return {"arena": arena_bytes(store, blocks), "memory": 4 << 30}


def longest(store: Store, method: str, **options: Any) -> WeightedArcResult:
    """The largest finite distance along weighted arcs."""
    found: WeightedArcResult = execute(store, task_of("exact", {
        "directed": True, "weighted": True, "method": method, **options}))
    return found


def eccentricities(store: Store, direction: str, **options: Any) -> WeightedArcEccentricities:
    """All eccentricities along weighted arcs, with those of all vertices."""
    found: WeightedArcEccentricities = execute(store, task_of("ecc", {
        "directed": direction, "weighted": True, "keep": True, **options}))
    return found


def bounds(store: Store, weighted: bool, **options: Any) -> DirectedApproximation:
    """Bounds on the largest finite distance, along arcs or weighted arcs."""
    found: DirectedApproximation = execute(store, task_of("approx", {
        "directed": True, "weighted": weighted, **options}))
    return found


def check_bounds(result: DirectedApproximation, distances: np.ndarray) -> None:
    """They hold, and the lower one is a distance. Sums of the twin are rounded."""
    largest, unit = float(distances[np.isfinite(distances)].max()), result.details.get("rounded_to", 0)
    room = 1e-12 if unit else 0
    assert result.lower <= largest * (1 + room) and largest * (1 - room) <= result.upper
    assert result.estimate == result.lower and result.exact == (result.lower == result.upper)
    strong = bool(np.isfinite(distances).all())
    assert result.strongly_connected == strong and (not result.exact or result.largest_distance == result.lower)
    witness = result.witness
    assert witness is not None and witness.path is None and witness.length == result.lower
    assert distances[witness.source, witness.target] == pytest.approx(
        result.lower, rel=1e-12, abs=2 * result.n_vertices * unit)


def check_interval(result: WeightedArcResult, largest: float) -> None:
    """It holds, and is a single number where sums are exact. Sums of the twin are rounded."""
    if result.details.get("rounded_to"):
        assert result.lower <= largest * (1 + 1e-12) and largest * (1 - 1e-12) <= result.upper
        assert result.upper - result.lower <= result.n_vertices * result.details["rounded_to"] * (1 + 1e-9)
    else:
        assert result.exact and result.lower == result.upper == result.largest_distance == largest


def check_longest(result: WeightedArcResult, rows: WeightedRows, distances: np.ndarray) -> None:
    """The largest finite distance, and a path of that length."""
    strong = bool(np.isfinite(distances).all())
    largest = float(distances[np.isfinite(distances)].max())
    check_interval(result, largest)
    assert result.strongly_connected == strong and result.directed and result.weighted
    assert result.diameter == (result.largest_distance if strong else None)
    witness, weights = result.witness, {(a, b): w for a, b, w in arcs_of(rows)}
    assert witness is not None and witness.path is not None
    length = sum(weights[arc] for arc in zip(witness.path, witness.path[1:], strict=False))
    assert length == pytest.approx(largest, rel=1e-12 if result.details.get("rounded_to") else 0, abs=1e-9 * largest)
    assert distances[witness.source, witness.target] == pytest.approx(largest, rel=1e-9)


def check_eccentricities(result: WeightedArcEccentricities, distances: np.ndarray) -> None:
    """Of a run that keeps them; radius and centre as networkx has them, of strongly connected graphs."""
    finite = np.where(np.isfinite(distances), distances, 0)
    want = (finite.T if result.direction == "in" else finite).max(axis=1)
    assert result.lower_bounds is not None and result.upper_bounds is not None
    if result.details.get("rounded_to"):
        assert (result.lower_bounds <= want * (1 + 1e-12)).all() and (want * (1 - 1e-12) <= result.upper_bounds).all()
        return
    assert result.exact and not result.unresolved and sum(result.histogram.values()) == len(want)
    assert (result.lower_bounds == want).all() and (result.upper_bounds == want).all()
    assert result.periphery is not None and result.periphery.ids == np.flatnonzero(want == want.max()).tolist()
    if not np.isfinite(distances).all():
        assert result.radius is None and result.center is None and result.diameter is None
        return
    by_vertex = dict(enumerate(want.tolist()))
    graph = nx.DiGraph([(0, 0)])
    assert result.center is not None and result.radius == nx.radius(graph, e=by_vertex)
    assert result.center.ids == nx.center(graph, e=by_vertex) and result.diameter == nx.diameter(graph, e=by_vertex)
