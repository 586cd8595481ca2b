"""The diameter with heights against all pairs, its bounds when stopped, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from emdiam.errors import BudgetError
from emdiam.methods.weighted import candidates as height_candidates
from emdiam.methods.weighted.candidates import HeightCandidates
from emdiam.methods.weighted.heights import HeightDiameter, HeightLimits, height_diameter, least_bytes
from emdiam.paths.arcs import ArcsInRam, arcs_of, components_of
from emdiam.paths.paths import SearchOptions
from emdiam.sorting.scratch import Scratch
from tests.helpers import weighted_naive as naive

many = settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TALL = (1 << 32) - 1


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path, tmp_path / "g.zarr")
    yield made
    made.close()


def in_ram(graph: naive.Graph) -> ArcsInRam:
    """Arcs in RAM for searches."""
    return ArcsInRam(naive.in_ram(graph), SearchOptions())


def check(graph: naive.Graph, heights: list[int], found: HeightDiameter, want: int) -> None:
    """Bounds hold, and the pair has the lower one."""
    assert found.lower <= want <= found.upper
    a, b = found.ends
    if a >= 0:
        far = naive.distances(graph, [a])[b]
        assert a != b and far is not None and heights[a] + far + heights[b] == found.lower
    else:
        assert found == HeightDiameter(0, 0, 0, (-1, -1)) and want == 0


HEIGHTS = st.integers(0, 3) | st.integers(0, 90) | st.integers(0, TALL)


@many
@given(graph=naive.graphs(), data=st.data())
@example(graph=(1, []), data=None)
@example(graph=(3, []), data=None)
def test_diameters(scratch: Scratch, graph: naive.Graph, data: st.DataObject | None) -> None:
    n = graph[0]
    heights = data.draw(st.lists(HEIGHTS, min_size=n, max_size=n)) if data else [TALL] * n
    want = naive.tallest(graph, heights)
    tall = np.array(heights, np.uint32)
    with closing(naive.on_disk(graph, scratch, 5)) as disk:
        for made in (naive.in_ram(graph), disk):
            parts = components_of(made)
            with closing(arcs_of(made, 12 * 5 * 4, SearchOptions())) as arcs:
                found = height_diameter(arcs, tall)
                check(graph, heights, found, want)
                assert found.lower == found.upper
                assert height_diameter(arcs, tall, parts.roots[parts.component]) == found
    for most in (1, 2, 3, 5):
        stopped = height_diameter(in_ram(graph), tall, limits=HeightLimits(most))
        check(graph, heights, stopped, want)
        assert stopped.traversals <= most and (stopped.lower == want or stopped.upper > stopped.lower)


@pytest.mark.parametrize("seed", range(12))
def test_many_components_of_some_size(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges: list[naive.Edge] = []
    n = 0
    for part in range(5):
        size, more = naive.grid(5, seed + part) if part % 2 else naive.large(25, 30, seed + part)
        edges += [(n + a, n + b, w) for a, b, w in more]
        n += size
    order = rng.permutation(n)
    graph = n, [(int(order[a]), int(order[b]), w) for a, b, w in edges]
    heights = rng.integers(0, [1, 20, 200][seed % 3], n).tolist()
    want = naive.tallest(graph, heights)
    found = height_diameter(in_ram(graph), np.array(heights, np.uint32))
    check(graph, heights, found, want)
    assert found.lower == found.upper == want and found.traversals < n // 2


@pytest.mark.parametrize("most_bytes", [1, 2, 50])
@pytest.mark.parametrize("seed", range(3))
def test_little_memory_for_columns(seed: int, most_bytes: int) -> None:
    graph = naive.large(60, 90, seed, 9)
    heights = np.random.default_rng(seed).integers(0, 6, 60)
    limits = HeightLimits(200, most_bytes * least_bytes(60))
    found = height_diameter(in_ram(graph), heights.astype(np.uint32), limits=limits)
    assert found.lower == found.upper == naive.tallest(graph, heights.tolist())


def test_a_column_without_room_is_refused() -> None:
    heights, component = np.zeros(10, np.uint32), np.zeros(10, np.int32)
    candidates = HeightCandidates(np.arange(10), component, heights, 3 * 10 * 4 * 2)
    dist = np.arange(10, dtype=np.uint32)
    assert [candidates.add(dist) for _ in range(3)] == [True, True, False]
    assert not HeightCandidates(np.arange(10), component, heights, 3 * 10 * 4).add(dist.astype(np.uint64) << 40)


def test_columns_of_both_widths_and_unreached() -> None:
    """A pivot that does not reach a component says nothing there, before and after points get wider."""
    none32, none64 = TALL, (1 << 64) - 1
    candidates = HeightCandidates(np.arange(4), np.array([0, 0, 1, 1], np.int32), np.zeros(4, np.uint32), 1 << 20)
    candidates.add(np.array([0, 7, none32, none32], np.uint32))
    candidates.add(np.array([none64, none64, 0, 1 << 40], np.uint64))
    upper = np.full(4, 1 << 50)
    found = [(pair.component, pair.bound, sorted(pair.ends)) for pair in candidates.certify(upper, 0)]
    assert found == [(0, 7, [0, 1]), (1, 1 << 40, [2, 3])]
    found = [(pair.component, pair.bound) for pair in candidates.certify(upper, 7)]
    assert found == [(1, 1 << 40)]
    assert candidates.certify(upper, 1 << 40) == [] and candidates.certify(upper, 1 << 40) == []


@pytest.mark.parametrize("work", [0, 5, 40])
def test_a_search_of_pairs_that_is_cut_short_still_bounds(work: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(height_candidates, "_WORK", work)
    graph = naive.large(80, 120, 3, 20)
    heights = np.random.default_rng(4).integers(0, 9, 80)
    want = naive.tallest(graph, heights.tolist())
    for most in (3, 6, 200):
        found = height_diameter(in_ram(graph), heights.astype(np.uint32), limits=HeightLimits(most))
        check(graph, heights.tolist(), found, want)
    assert found.lower == want


def test_too_little_memory_or_no_traversal() -> None:
    arcs = in_ram(naive.grid(10, 1))
    with pytest.raises(BudgetError, match=r"8.5 KiB of memory cannot prove .* of 100 vertices; give 8.6 KiB"):
        height_diameter(arcs, np.zeros(100, np.uint32), limits=HeightLimits(9, least_bytes(100) - 60))
    with pytest.raises(ValueError, match="at least one traversal"):
        height_diameter(arcs, np.zeros(100, np.uint32), limits=HeightLimits(0))


def test_few_traversals_where_pivots_pay() -> None:
    side = 60
    graph = naive.grid(side, 5)
    found = height_diameter(in_ram(graph), np.ones(side * side, np.uint32))
    assert found.lower == found.upper and found.traversals <= 20
