"""Diameters, eccentricities, bounds, distances and certificates of many random graphs without weights and directions,
beside scipy.

A graph meets every exact method in RAM, and pivots and eccentricities over blocks of 8 arcs; and runs that begin with
the proof of the graph before one edge of it went."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emdiam
from emdiam.errors import InputError
from emdiam.paths.rows import WeightedRows
from emdiam.runs.registry import EXACT
from tests.helpers.many_graphs import by_igraph, by_networkx, by_scipy, campaign, drawn
from tests.helpers.weighted_stores import TINY

_MOST = 90
OPEN = ("sweep-k",)  # ends with an interval


def edges_of(rows: WeightedRows) -> np.ndarray:
    """Both ends of every edge once, int64[m, 2]; without loops."""
    tails = np.repeat(np.arange(rows.n_vertices), np.diff(rows.offsets))
    return np.stack([tails, rows.heads], 1)[tails < rows.heads].astype(np.int64)


def check_exact(result: Any, far: np.ndarray, connected: bool) -> None:
    """far : eccentricities."""
    assert result.lower <= far.max() <= result.upper and result.lower == result.witness.length
    assert result.method in OPEN or (result.exact and result.lower == result.upper), result.method
    if not result.exact:
        return
    assert result.connected == connected and (result.diameter == far.max() if connected else True)


def many(numbers: range, folder: Path) -> None:
    for number in numbers:
        rows, random = drawn(number, _MOST, ("unit",), (False,)).rows, np.random.default_rng([number, 2])
        edges, distances = edges_of(rows), by_scipy(rows)
        if not len(edges):
            continue
        assert distances is not None
        if number % 10 == 0:
            assert (by_networkx(rows) == distances).all() and (by_igraph(rows) == distances).all()
        finite = np.isfinite(distances)
        known = np.unique(edges)  # vertices without an edge are in no list of edges
        far = np.where(finite, distances, 0).max(axis=1)[known]
        store, proof, connected = folder / "g.zarr", folder / "c.json", bool(finite[known][:, known].all())
        emdiam.convert((edges[:, 0], edges[:, 1]), store, chunk=TINY, force=True)
        for method in EXACT:
            check_exact(emdiam.exact(store, method=method, threads=int(random.integers(1, 3))), far, connected)
        check_exact(emdiam.exact(store, certificate=proof, arena="128B"), far, connected)
        assert emdiam.verify(proof, store).verified
        every = emdiam.eccentricities(store, keep=True, certificate=folder / "e.json")
        assert every.lower_bounds.tolist() == every.upper_bounds.tolist() == far.tolist()
        assert emdiam.verify(folder / "e.json", store).verified
        counted = emdiam.distances(store, exact=True)
        lengths = distances[finite & (np.arange(len(distances)) < np.arange(len(distances))[:, None])]
        assert list(counted.pairs.values()) == np.unique(lengths, return_counts=True)[1].tolist()
        left = np.delete(edges, random.integers(len(edges)), axis=0)
        if len(left):
            check_warm(folder / "new.zarr", left, proof, folder / "e.json")


def check_warm(store: Path, edges: np.ndarray, proof: Path, proof_of_all: Path) -> None:
    """The graph of these edges, with the proofs of an earlier one and without."""
    emdiam.convert((edges[:, 0], edges[:, 1]), store, chunk=TINY, force=True)
    fresh = emdiam.exact(store)
    try:
        warm = emdiam.exact(store, from_proof=proof)
    except InputError as error:
        assert "the graph has no vertex" in str(error)
        return
    assert (warm.lower, warm.upper, warm.diameter_largest_component) == (
        fresh.lower, fresh.upper, fresh.diameter_largest_component)
    every = emdiam.eccentricities(store, keep=True)
    again = emdiam.eccentricities(store, keep=True, from_proof=proof_of_all)
    assert every.lower_bounds.tolist() == again.lower_bounds.tolist() == again.upper_bounds.tolist()


@pytest.mark.usefixtures("tiny_blocks")
def test_a_few_graphs(tmp_path: Path) -> None:
    many(range(1_000_000, 1_000_006), tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_blocks")
@campaign(10)
def test_many_graphs(numbers: range, tmp_path: Path) -> None:
    many(numbers, tmp_path)
