"""Bounds and candidates on a device against those of the CPU, and Algorithm 1 of papers/001 on top of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.gpu.device import Device
from emdiam.gpu.variants.bfs_dal import bfs_hybrid, bfs_standard
from emdiam.gpu.variants.bounds_dal import DeviceBounds, diameter_by_bounds
from emdiam.traverse.columns import Column
from emdiam.traverse.ram_column import RamColumn
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs
from tests.simt import runner
from tests.simt.devices import DEVICES, SEEDS, device_graph, open_device

pytestmark = pytest.mark.thin(8)

ODD = {name: graph for name, graph in odd_graphs().items() if len(graph) <= 128}
needs_shim = pytest.mark.skipif(not runner.have_compiler(), reason="the shim needs a C++ compiler")


def as_column(graph: naive.Graph, source: int) -> Column:
    """Distances, all bits set where unreached."""
    return RamColumn(np.array(naive.distances(graph, source), np.int64).astype(np.uint32))


class Twin:
    """The bounds with the folds of the CPU, where dropped candidates are closed."""

    def __init__(self, graph: naive.Graph, first: int) -> None:
        self.graph, self.n, self.n_closed = graph, len(graph), 0
        column = as_column(graph, first)
        inside = column.raw() != column.unreached
        self.lower = RamColumn(np.zeros(self.n, np.uint32))
        self.upper = RamColumn(np.where(inside, column.unreached - 1, column.unreached).astype(np.uint32))

    def update(self, source: int) -> None:
        """One BFS."""
        away, eccentricity = as_column(self.graph, source), max(naive.distances(self.graph, source))
        self.lower.tighten_lower(away, eccentricity, 0, self.n)
        self.upper.tighten_upper(away, eccentricity, 0, self.n)
        self.n_closed += int(np.count_nonzero(self.lower.raw() == self.upper.raw()))
        self.largest_lower = int(self.lower.raw().max())
        self.largest_upper = max(self.largest_lower, self.upper.largest(0, self.n))
        self.n_candidates = self.upper.close_known(self.lower, self.largest_lower, self.largest_upper, 0, self.n)

    def select(self, upper: bool) -> int | None:
        """The best open vertex, the smallest among equals."""
        is_open = np.flatnonzero(self.upper.raw() != self.upper.unreached)
        if len(is_open) == 0:
            return None
        values = self.upper.raw()[is_open].astype(np.int64) if upper else -self.lower.raw()[is_open].astype(np.int64)
        return int(is_open[np.argmax(values)])


def compare(device: Device, graph: naive.Graph, sources: list[int], block: int, dtype: type = np.uint32) -> None:
    """Both kinds of bounds after a BFS from each of the sources."""
    twin = Twin(graph, sources[0])
    on_device, bounds = device_graph(device, graph), None
    for source in sources:
        distances, eccentricity = bfs_standard(device, on_device, source, np.dtype(dtype), block)
        bounds = bounds or DeviceBounds(device, distances, block)
        bounds.update(distances, eccentricity)
        twin.update(source)
        is_open = device.to_host(bounds.candidates)
        assert np.array_equal(is_open, (twin.upper.raw() != twin.upper.unreached).astype(np.uint8))
        assert np.array_equal(device.to_host(bounds.lower), twin.lower.raw())
        assert np.array_equal(device.to_host(bounds.upper)[is_open == 1], twin.upper.raw()[is_open == 1])
        assert (bounds.largest_lower, bounds.largest_upper) == (twin.largest_lower, twin.largest_upper)
        assert (bounds.n_candidates, bounds.n_closed) == (twin.n_candidates, twin.n_closed)
        for upper in (True, False):
            assert bounds.select(upper) == twin.select(upper)


@pytest.mark.parametrize("name", DEVICES)
def test_odd_graphs(name: str) -> None:
    device = open_device(name)
    for graph in ODD.values():
        first = len(graph) // 2
        inside = [v for v, d in enumerate(naive.distances(graph, first)) if d >= 0]
        compare(device, graph, [first, inside[0], inside[-1]], 32)


@needs_shim
@settings(max_examples=20, deadline=None)
@given(graphs(most=80), st.sampled_from(SEEDS), st.sampled_from([32, 64, 256]),
       st.sampled_from([np.uint8, np.uint16, np.uint32]), st.data())
def test_random_graphs(graph: naive.Graph, seed: int, block: int, dtype: type, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(graph) - 1))
    inside = [v for v, d in enumerate(naive.distances(graph, first)) if d >= 0]
    more = data.draw(st.lists(st.sampled_from(inside), max_size=3))
    compare(open_device(f"shim-{seed}"), graph, [first, *more], block, dtype)


@pytest.mark.parametrize("seed", SEEDS)
def test_more_vertices_than_threads(seed: int) -> None:
    """256 threads for 610 vertices in two components; the best vertex is in any section."""
    graph = naive.graph_of(610, [(i, i + 1) for i in range(40, 60)] + [(40 + v % 21, v) for v in range(61, 600)])
    compare(open_device(f"shim-{seed}", n_sms=1), graph, [50, 599, 300], 32)


def published(graph: naive.Graph, start: int, upper: bool) -> tuple[int, list[int]]:
    """Algorithm 1 with the folds of the CPU."""
    twin, sources = Twin(graph, start), [start]
    twin.update(start)
    while twin.largest_lower != twin.largest_upper and (source := twin.select(upper)) is not None:
        sources.append(source)
        twin.update(source)
        upper = not upper
    return twin.largest_lower, sources


def largest_distance(graph: naive.Graph, start: int) -> int:
    """Diameter of the component of a vertex."""
    inside = [v for v, d in enumerate(naive.distances(graph, start)) if d >= 0]
    return max(max(naive.distances(graph, v)) for v in inside)


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("name", ["shim-0", "shim-3", "gpu"])
def test_diameters_of_odd_graphs(name: str, upper: bool) -> None:
    """The diameter, and the sources of the published algorithm. Vertex-transitive shapes take most vertices."""
    device = open_device(name)
    for shape in set(ODD) - {"torus", "hypercube"}:
        graph, start = ODD[shape], len(ODD[shape]) // 2
        found = diameter_by_bounds(device, device_graph(device, graph), start, upper=upper)
        assert found == published(graph, start, upper)
        assert found[0] == largest_distance(graph, start)


@needs_shim
@settings(max_examples=10, deadline=None)
@given(graphs(most=60), st.sampled_from(SEEDS), st.booleans())
def test_diameters_of_random_graphs(graph: naive.Graph, seed: int, upper: bool) -> None:
    device = open_device(f"shim-{seed}")
    found = diameter_by_bounds(device, device_graph(device, graph), 0, bfs=bfs_hybrid, upper=upper)
    assert found == published(graph, 0, upper)
    assert found[0] == largest_distance(graph, 0)


@pytest.mark.parametrize("name", ["shim-1", "gpu"])
def test_upper_bounds_that_do_not_fit(name: str) -> None:
    """Distances up to 199 fit uint8, their sums do not: such bounds stay none, and nothing wrong is claimed."""
    device, n = open_device(name), 200
    graph = naive.graph_of(n, [(i, i + 1) for i in range(n - 1)])
    on_device, byte = device_graph(device, graph), np.dtype(np.uint8)
    distances, eccentricity = bfs_standard(device, on_device, 0, byte)
    bounds = DeviceBounds(device, distances)
    bounds.update(distances, eccentricity)
    assert device.to_host(bounds.upper).tolist() == [min(199 + v, 255) for v in range(n)]
    assert device.to_host(bounds.lower).tolist() == [max(v, 199 - v) for v in range(n)]
    assert (bounds.largest_lower, bounds.largest_upper, bounds.n_closed, bounds.n_candidates) == (199, 255, 1, 199)
    found = diameter_by_bounds(device, on_device, 20, lambda *args: bfs_standard(*args, byte))
    assert found[0] == 199


@pytest.mark.parametrize("name", ["shim-2", "gpu"])
def test_nothing_to_select(name: str) -> None:
    device = open_device(name)
    distances, eccentricity = bfs_standard(device, device_graph(device, [[]]), 0)
    bounds = DeviceBounds(device, distances)
    bounds.update(distances, eccentricity)
    assert (bounds.n_candidates, bounds.n_closed) == (0, 1)
    assert bounds.select(True) is None and bounds.select(False) is None
