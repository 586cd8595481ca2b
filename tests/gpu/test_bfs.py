"""BFS on a device gives the naive distances, under every order of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.gpu.device import Device
from emdiam.gpu.variants.bfs_dal import bfs_standard
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs
from tests.simt.devices import DEVICES, SEEDS, device_graph, open_device, plain_distances

pytestmark = pytest.mark.thin(8)

ODD = odd_graphs()
# Types of ids and of distances, each with a build.
TYPES = ((np.uint32, np.uint32), (np.uint32, np.uint16), (np.uint64, np.uint8))


def check(device: Device, graph: naive.Graph, source: int, dtype: type = np.uint32, ids: type = np.uint32,
          block: int = 64) -> None:
    """bfs_standard against the naive distances."""
    distances, eccentricity = bfs_standard(device, device_graph(device, graph, ids), source, np.dtype(dtype), block)
    want = naive.distances(graph, source)
    assert plain_distances(device.to_host(distances)) == want
    assert eccentricity == max(want)


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("shape", ODD)
def test_odd_graphs(shape: str, name: str) -> None:
    graph = ODD[shape]
    for source in {0, len(graph) // 2, len(graph) - 1}:
        check(open_device(name), graph, source)


@settings(max_examples=25, deadline=None)
@given(graphs(most=128), st.sampled_from(SEEDS), st.sampled_from(TYPES), st.sampled_from([32, 64, 256]), st.data())
def test_random_graphs(graph: naive.Graph, seed: int, types: tuple[type, type], block: int,
                       data: st.DataObject) -> None:
    source, (ids, dtype) = data.draw(st.integers(0, len(graph) - 1)), types
    check(open_device(f"shim-{seed}"), graph, source, dtype, ids, block)


@pytest.mark.parametrize("name", ["shim-0", "gpu"])
def test_distances_that_do_not_fit(name: str) -> None:
    """With uint8 one value is for unreached vertices, so 254 is the largest distance."""
    for n in (254, 255):
        check(open_device(name), naive.graph_of(n, [(i, i + 1) for i in range(n - 1)]), 0, np.uint8)
    device = open_device(name)
    path = device_graph(device, naive.graph_of(256, [(i, i + 1) for i in range(255)]))
    with pytest.raises(OverflowError, match="a distance above 254 does not fit uint8"):
        bfs_standard(device, path, 0, np.dtype(np.uint8))


def test_rows_with_loops_and_repeated_neighbours() -> None:
    """Device graphs need not be simple."""
    rows = [[0, 1, 1], [0, 0, 2, 1], [1, 2, 2], []]
    for seed in SEEDS:
        check(open_device(f"shim-{seed}"), rows, 0)
