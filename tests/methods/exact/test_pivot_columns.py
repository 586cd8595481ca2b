"""What pivots say of the memory of candidates and batches, against what numpy allocates for them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import numpy as np
import pytest

from emdiam.engine.interface import Engine
from emdiam.methods.exact.boxes import build_boxes, worst_pair
from emdiam.methods.exact.candidates import Candidates, candidate_bytes, width_for
from emdiam.methods.exact.pivot_columns import PivotColumns
from emdiam.traverse.columns import Column, ListedVertices
from emdiam.traverse.ram_column import RamColumn
from tests.helpers import naive
from tests.helpers.small_engine import engines

# Tables of fixed size: the stacks of searches above all.
SLACK = 512 << 10


@contextmanager
def allocated() -> Iterator[Callable[[], int]]:
    """A function that gives the most bytes that numpy and Python have held at a time since here."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        yield lambda: tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def columns_of(points: np.ndarray) -> list[Column]:
    """A column a pivot."""
    return [RamColumn(np.ascontiguousarray(points[:, i])) for i in range(points.shape[1])]


def scattered(m: int, k: int) -> np.ndarray:
    """Distances at random: every box is cut to the end."""
    return np.random.default_rng(1).integers(1, 250, (m, k)).astype(np.uint8)


def halving(m: int, k: int) -> np.ndarray:
    """Distances of which every cut leaves one or a few on one side: as many boxes as there can be."""
    powers = 1 << np.random.default_rng(2).integers(0, 8, (m, k))
    return np.minimum(powers, 250).astype(np.uint8)


@pytest.mark.parametrize("points_of", [scattered, halving])
@pytest.mark.parametrize(("k", "limit"), [(4, 200), (8, 260)])
def test_candidates_take_what_is_said(points_of: Callable[[int, int], np.ndarray], k: int, limit: int) -> None:
    m = 40_000
    points = points_of(m, k)
    columns, upper = columns_of(points), RamColumn(np.full(m, 255, np.uint8))

    def work(count: int) -> None:
        candidates = Candidates(ListedVertices(np.arange(count)), columns[:-1], 250)
        candidates.add(columns[-1], 250)
        candidates.certify(upper, limit)
        candidates.cover(limit)

    work(100)  # kernels are loaded
    with allocated() as peak:
        work(m)
        taken = peak()
    said = m * candidate_bytes(width_for(k - 1), 1)
    assert said / 4 <= taken <= said + SLACK


def test_there_are_at_most_half_as_many_boxes_as_points() -> None:
    """And with so few the worst pair is still the worst."""
    points = halving(400, 3)
    boxes = build_boxes(points)
    sums = (points[:, None, :].astype(int) + points[None, :, :]).min(axis=2)
    np.fill_diagonal(sums, 0)
    assert len(boxes.begin) <= 200 and worst_pair(boxes, 0).bound == int(sums.max())


def test_distances_that_there_is_no_room_for_are_left_out() -> None:
    m = 1000
    points = scattered(m, 30)
    columns = columns_of(points)
    most = m * candidate_bytes(12, 1)
    candidates = Candidates(ListedVertices(np.arange(m)), columns[:4], 255, most)
    for column in columns[4:]:
        candidates.add(column, 255)
    assert candidates.points.tolist() == points[:, :12].tolist()
    assert candidates.working_bytes <= most
    candidates.keep(np.arange(m) % 2 == 0)  # half of them gone: there is room again
    candidates.add(columns[20], 255)
    assert candidates.points[:, 12].tolist() == points[::2, 20].tolist()


@pytest.mark.parametrize("k", [1, 8, 9, 32])
def test_a_batch_with_columns_takes_what_is_said(k: int) -> None:
    """One that fits by a hair, and what it takes with the columns."""
    n = 30_000
    graph = naive.graph_of(n, [(v, (v * 7 + 1) % n) for v in range(n)] + [(v, (v + 1) % n) for v in range(n)])
    with engines(1 << 12) as make:
        engine = make(graph)
        sources = np.arange(k) * 31
        engine.eccentricities(sources, columns=[engine.new_column(200) for _ in sources])  # compiled and loaded
        pivots = PivotColumns(cast(Engine, engine), 200, engine.new_column(200), 1 << 40, None)
        pivots.budget = next(room for room in range(0, 1 << 30, 4096) if _columns(pivots, room) >= k)
        with allocated() as peak:
            columns = [engine.new_column(200) for _ in sources]
            engine.eccentricities(sources, columns=columns)
            taken = peak()
        assert pivots.budget / 4 <= taken <= pivots.budget + SLACK


def _columns(pivots: PivotColumns, budget: int) -> int:
    pivots.budget = budget
    return pivots.batch_columns(0)
