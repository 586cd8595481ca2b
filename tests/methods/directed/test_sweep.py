"""Bounds on the largest finite distance along arcs, with weights and without, beside all distances."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emdiam
from emdiam.errors import InputError, StoppedEarly
from emdiam.methods.directed import sweep
from emdiam.methods.result import DirectedApproximation, WeightedArcApproximation
from emdiam.paths.rows import WeightedRows
from emdiam.store.store import Store
from tests.conftest import Run
from tests.helpers.many_graphs import by_scipy
from tests.helpers.weighted_arcs import bounds, check_bounds, in_blocks, rows_of, stored, streets
from tests.helpers.weighted_stores import TINY


@pytest.fixture
def few_arcs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Components have more arcs than are looked at together."""
    monkeypatch.setattr(sweep, "_MOST_ARCS", 9)


def check(store: Store, rows: WeightedRows) -> None:
    for weighted in (True, False):
        distances = by_scipy(rows if weighted else WeightedRows(rows.offsets, rows.heads))
        assert distances is not None
        for iterations in (1, 3):
            check_bounds(bounds(store, weighted, iterations=iterations), distances)
        check_bounds(bounds(store, weighted, **in_blocks(store, 8)), distances)


@pytest.mark.usefixtures("tiny_blocks")
def test_a_graph_of_every_kind(tmp_path: Path) -> None:
    for number in range(1_000_000, 1_000_007):
        with stored(tmp_path, rows_of(number), TINY) as store:
            check(store, rows_of(number))


@pytest.mark.usefixtures("tiny_blocks", "few_arcs")
def test_components_that_are_looked_at_in_pieces(tmp_path: Path) -> None:
    for number in range(1_000_007, 1_000_014):
        with stored(tmp_path, rows_of(number), TINY) as store:
            check(store, rows_of(number))


def chains(counts: tuple[int, ...], length: int) -> WeightedRows:
    """Of each number of cycles one behind the other, an arc from each to the next; and a longer one apart, where the
    sweep begins."""
    n, others = sum(counts) * length, np.arange(length + 1)
    tails, starts = np.arange(n), np.arange(0, n, length)
    heads = np.where(tails % length == length - 1, tails - length + 1, tails + 1)
    on = np.delete(starts, np.cumsum(counts) - 1)
    return WeightedRows.from_edges(n + length + 1, np.concatenate([tails, on, n + others]),
                                   np.concatenate([heads, on + length, n + np.roll(others, -1)]), None, directed=True)


def test_components_without_a_middle_are_bounded_by_their_roots(tmp_path: Path) -> None:
    """Of 8 cycles of 10 the largest distance is 9, 7 between cycles, and 9; no search meets them, and detours by roots
    double what is in a cycle."""
    rows = chains((6, 8), 10)
    distances = by_scipy(rows)
    assert distances is not None and distances[np.isfinite(distances)].max() == 25
    with stored(tmp_path, rows) as store:
        found = bounds(store, False)
        assert found.lower <= 25 <= found.upper <= 8 * 18 + 7 and found.n_strong_components == 15


def test_more_sweeps_narrow_bounds(tmp_path: Path) -> None:
    rows = streets(24)
    distances = by_scipy(rows)
    assert distances is not None
    with stored(tmp_path, rows) as store:
        found = [bounds(store, True, iterations=count) for count in (1, 4, 16)]
        for one in found:
            check_bounds(one, distances)
            assert one.traversals.bfs <= 4 * one.details["iterations"]
        assert found[0].upper >= found[1].upper >= found[2].upper and found[0].upper > found[2].upper
        known = bounds(store, True, known_diameter=2 * found[0].lower)
        assert known.ratio == 0.5 and isinstance(known, WeightedArcApproximation)
        assert bounds(store, False, known_diameter=7).known_diameter == 7


@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_of_a_run_without_time(tmp_path: Path, weighted: bool) -> None:
    with stored(tmp_path, streets(8)) as store, pytest.raises(StoppedEarly) as stopped:
        bounds(store, weighted, time_limit=1e-9)
    result = stopped.value.result
    assert result is None or result.lower <= result.upper


def test_from_python_and_the_shell(tmp_path: Path, command: Run) -> None:
    """The same answer; what is for undirected graphs is refused by name."""
    arcs = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]
    found = emdiam.approximate(arcs, directed=True)
    assert isinstance(found, DirectedApproximation) and found.estimate == found.largest_distance == 4
    assert found.diameter is None and found.method == "sweep" and found.directed and not found.weighted
    weighed = emdiam.approximate(np.array([(a, b, 5) for a, b in arcs]), directed=True, weighted=True)
    assert weighed.lower == weighed.upper == 20 and weighed.weighted
    emdiam.convert(arcs, tmp_path / "g.zarr", directed=True)
    for name in ("clusters", "spanning", "fringe"):
        with pytest.raises(InputError, match=f"{name} is for undirected graphs; use method=\"sweep\""):
            emdiam.approximate(tmp_path / "g.zarr", directed=True, method=name)
    more: dict[str, Any]
    for more in ({"masters": 4}, {"seed": 1}, {"device": "gpu"}, {"workers": 2}, {"vertex_state": "disk"},
                 {"checkpoint": tmp_path / "c"}, {"iterations": 0}, {"known_diameter": -1}):
        with pytest.raises(InputError):
            emdiam.approximate(tmp_path / "g.zarr", directed=True, **more)
    text = command("approx", tmp_path / "g.zarr", "--directed").stdout
    assert "diameter: infinite (3 strong components)\nlargest finite distance: 4 (proved)" in text
    assert "method's estimate: 4 (sweep: the lower bound)" in text
    assert command("approx", tmp_path / "g.zarr", "--directed", "--require-connected").returncode == 2
