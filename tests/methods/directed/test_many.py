"""Longest distances, eccentricities and counts of distances along the arcs of many random digraphs, beside scipy.

A graph meets every exact method and the eccentricities of both directions in RAM; over blocks of 8 arcs, four of each
direction in memory, one exact method and one direction by turns; and the count of distances in RAM or over blocks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from emdiam.engine.directed import DirectedEngine
from emdiam.methods.directed.apsp import DirectedApsp, Eccentricities, EccentricitiesIn
from emdiam.methods.directed.graph_diameter import DirectedGraphDiameter
from emdiam.methods.directed.method import DirectedMethod, DirectedOptions, phases
from emdiam.methods.directed.metric import ArcMetric
from emdiam.methods.directed.pivots import DirectedPivots
from emdiam.methods.run import solved
from emdiam.paths.rows import WeightedRows
from emdiam.runs.arcs import opened
from emdiam.store.store import open_store
from tests.helpers.directed_answers import check_distances, check_eccentricities, check_longest
from tests.helpers.directed_twins import random_arcs
from tests.helpers.graph_diameter_twin import sources_of
from tests.helpers.many_graphs import EVERY_KIND, SHAPES, arcs_of, by_scipy, campaign, drawn
from tests.helpers.tasks import along_arcs, distances_directed
from tests.helpers.weighted_arcs import bounds, check_bounds
from tests.helpers.weighted_stores import TINY, write_rows

MEMORY, ARENA = 4 << 30, 8 * TINY * 4
METHODS, DIRECTIONS = (DirectedPivots, DirectedGraphDiameter, DirectedApsp), (Eccentricities, EccentricitiesIn)
_MOST = 60


def rows_of(number: int) -> WeightedRows:
    """Every other graph is of kinds that digraphs alone have: with long cycles, or nearly symmetric."""
    if number % 2:
        return drawn(number // 2, _MOST, ("unit",), (True,)).rows
    n, arcs = random_arcs(random.Random(number), _MOST)
    ends = np.array(arcs, np.int64).reshape(-1, 2)
    return WeightedRows.from_edges(n, ends[:, 0], ends[:, 1], directed=True)


def many(numbers: range, folder: Path) -> None:
    for number in numbers:
        rows, draws = rows_of(number), np.random.default_rng([number, 1])
        found = by_scipy(rows)
        assert found is not None
        matrix = np.where(np.isinf(found), -1, found).astype(np.int64)
        options = {"memory": MEMORY, "threads": int(draws.integers(1, 3))}
        streamed, turn = {**options, "arena": ARENA}, int(draws.integers(12))
        with open_store(write_rows(folder / "g.zarr", rows, directed=True, chunk_ids=TINY), directed=True) as store:
            with opened(along_arcs(store, options), phases(store, 10, 8), batches=True) as engine:
                check_methods(engine, matrix, METHODS, DIRECTIONS)
                bare = solved(DirectedGraphDiameter(ArcMetric(engine), DirectedOptions(sweeps=0)))
                check_longest(bare, matrix)
            if rows.n_arcs:
                arcs = [(a, b) for a, b, _ in arcs_of(rows)]
                assert sources_of(rows.n_vertices, arcs, 0) == (bare.details["published_count"], bare.lower)
            with opened(along_arcs(store, streamed), phases(store, 10, 8), batches=True) as engine:
                check_methods(engine, matrix, METHODS[turn % 3 : turn % 3 + 1], DIRECTIONS[turn % 2 : turn % 2 + 1])
            for more in ({}, {"arena": ARENA}):
                check_bounds(bounds(store, False, iterations=1 + turn % 3, memory=MEMORY, **more), found)
            check_distances(distances_directed(store, {**(streamed if turn < 6 else options), "exact": True}), matrix)


def check_methods(engine: DirectedEngine, matrix: np.ndarray, methods: Sequence[type[DirectedMethod]],
                  directions: Sequence[type[Eccentricities]]) -> None:
    """Longest distances by these methods, eccentricities of these directions."""
    for method in methods:
        check_longest(solved(method(ArcMetric(engine), DirectedOptions())), matrix)
    for direction in directions:
        run = direction(ArcMetric(engine), DirectedOptions())
        check_eccentricities(run.with_eccentricities(solved(run), keep=True), matrix)


@pytest.mark.usefixtures("tiny_blocks")
def test_a_graph_of_every_shape(tmp_path: Path) -> None:
    many(EVERY_KIND[: 2 * len(SHAPES)], tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_blocks")
@campaign(10)
def test_many_digraphs(numbers: range, tmp_path: Path) -> None:
    many(numbers, tmp_path)
