"""Steep arcs and paths on a device against those of the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.gpu.engine import count_steep, largest_degree, path_pieces, put_isolated, vertices_of_degree
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs
from tests.simt.devices import DEVICES, SEEDS, device_graph, open_device

pytestmark = pytest.mark.thin(16)

TOP = 0xFFFFFFFF
STAR = naive.graph_of(1500, [(0, v) for v in range(1, 1490)] + [(1489, 1490), (1490, 1491)])


def steep(graph: naive.Graph, values: np.ndarray) -> int:
    """Arcs whose ends differ by more than 1."""
    return sum(abs(int(values[v]) - int(values[w])) > 1 for v, row in enumerate(graph) for w in row)


def column(graph: naive.Graph, source: int) -> np.ndarray:
    """Distances, all bits set where unreached."""
    return np.array(naive.distances(graph, source), np.int64).astype(np.uint32)


def walked(graph: naive.Graph, distances: np.ndarray, target: int) -> list[int]:
    """The path by the rule: the smallest neighbour that is one nearer."""
    path = [target]
    while distances[path[-1]]:
        path.append(min(w for w in graph[path[-1]] if int(distances[w]) + 1 == distances[path[-1]]))
    return path


@pytest.mark.thin(12, sampled=("shape",))
@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("shape", [*odd_graphs(), "large"])
def test_shapes(name: str, shape: str) -> None:
    device = open_device(name)
    graph = {**odd_graphs(), "large": STAR}[shape]
    on_device, source = device_graph(device, graph, np.uint64 if len(graph) % 2 else np.uint32), len(graph) // 2
    distances = column(graph, source)
    values = device.array(distances)
    assert count_steep(device, on_device, values) == 0
    degrees = [len(row) for row in graph]
    assert largest_degree(device, on_device) == (degrees.index(max(degrees)) if any(degrees) else None)
    changed = device.array(distances)
    put_isolated(device, on_device, changed, 9)
    assert device.to_host(changed).tolist() == [v if d else 9 for v, d in zip(distances, degrees, strict=True)]
    for degree in {0, 1, max(degrees), 77}:
        for most in (1, 3, 1 << 16):
            pieces = list(vertices_of_degree(device, on_device, degree, most))
            assert [v for piece in pieces for v in piece.tolist()] == [v for v, d in enumerate(degrees) if d == degree]
            assert all(len(piece) == most for piece in pieces[:-1])
    for target in {source, int(np.argmax(np.where(distances == TOP, -1, distances.astype(np.int64))))}:
        for piece in (1, 3, 8192):
            pieces = list(path_pieces(device, on_device, values, target, piece))
            assert np.concatenate(pieces).tolist() == walked(graph, distances, target)
            assert all(len(part) <= max(1, piece) for part in pieces)


@settings(max_examples=20, deadline=None)
@given(graphs(most=90), st.sampled_from(SEEDS), st.data())
def test_any_values(graph: naive.Graph, seed: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.sampled_from([0, 1, 2, 5, TOP - 1, TOP]), min_size=len(graph), max_size=len(graph)))
    device = open_device(f"shim-{seed}")
    array = np.array(values, np.uint32)
    assert count_steep(device, device_graph(device, graph), device.array(array)) == steep(graph, array)


def test_one_wrong_label_in_a_long_row_is_seen() -> None:
    device, values = open_device("shim-2"), column(STAR, 3)
    on_device = device_graph(device, STAR)
    values[700] += 2
    assert count_steep(device, on_device, device.array(values)) == steep(STAR, values) == 2


@pytest.mark.parametrize("name", ["shim-1", "gpu"])
def test_no_distances_are_noticed(name: str) -> None:
    device, graph = open_device(name), naive.graph_of(4, [(0, 1), (1, 2), (2, 3)])
    on_device = device_graph(device, graph)
    for values, target in (([0, 2, 3, 4], 3), ([0, 1, TOP, TOP], 3)):
        with pytest.raises(RuntimeError, match="no neighbour of vertex"):
            list(path_pieces(device, on_device, device.array(np.array(values, np.uint32)), target))
