"""Longest distances, eccentricities and counts of distances along the arcs of many random digraphs, beside scipy.

A graph meets every method in RAM, and one of the exact ones, eccentricities of one direction and the count of distances
over blocks of 8 arcs, four of each direction in memory."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from emdiam.distribution.directed import distances_directed
from emdiam.runs.directed import DIRECTED, eccentricities_directed, solve_directed
from emdiam.sssp.rows import WeightedRows
from emdiam.store.store import open_store
from tests.helpers.directed_answers import check_distances, check_eccentricities, check_longest
from tests.helpers.directed_twins import random_arcs
from tests.helpers.graph_diameter_twin import sources_of
from tests.helpers.many_graphs import EVERY_KIND, SHAPES, arcs_of, by_scipy, campaign, drawn
from tests.helpers.weighted_stores import TINY, write_rows

MEMORY, ARENA = 4 << 30, 8 * TINY * 4
DIRECTIONS = ("out", "in")
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
        streamed, turn = {**options, "arena": ARENA}, int(draws.integers(6))
        with open_store(write_rows(folder / "g.zarr", rows, directed=True, chunk_ids=TINY), directed=True) as store:
            for method in DIRECTED:
                check_longest(solve_directed(store, method, options), matrix)
            bare = solve_directed(store, "graph-diameter", {**options, "sweeps": 0})
            check_longest(bare, matrix)
            if rows.n_arcs:
                arcs = [(a, b) for a, b, _ in arcs_of(rows)]
                assert sources_of(rows.n_vertices, arcs, 0) == (bare.details["published_count"], bare.lower)
            check_longest(solve_directed(store, DIRECTED[turn % 3], streamed), matrix)
            for direction in DIRECTIONS:
                check_eccentricities(eccentricities_directed(store, direction, {**options, "keep": True}), matrix)
            check_eccentricities(
                eccentricities_directed(store, DIRECTIONS[turn % 2], {**streamed, "keep": True}), matrix)
            for ways in (options, streamed):
                check_distances(distances_directed(store, {**ways, "exact": True}), matrix)


@pytest.mark.usefixtures("tiny_blocks")
def test_a_graph_of_every_shape(tmp_path: Path) -> None:
    many(EVERY_KIND[: 2 * len(SHAPES)], tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_blocks")
@campaign(10)
def test_many_digraphs(numbers: range, tmp_path: Path) -> None:
    many(numbers, tmp_path)
