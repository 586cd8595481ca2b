"""Components on a device, against the naive twin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from emdiam.gpu.components import DeviceComponents
from emdiam.gpu.device_column import DeviceColumn
from emdiam.gpu.setting import OnDevice
from tests.engine.test_protocol import check_components
from tests.helpers import naive
from tests.helpers.stores import engine_on, write_store
from tests.simt.devices import DEVICES, device_graph, open_device


def many_parts() -> naive.Graph:
    """Trees, cycles, cliques and isolated vertices with numbers that say nothing, and a random graph of many parts."""
    parts = [nx.star_graph(90), nx.cycle_graph(70), nx.complete_graph(40), nx.path_graph(130), nx.empty_graph(9),
             nx.gnm_random_graph(400, 250, 3), *[nx.path_graph(2)] * 20]
    whole = nx.convert_node_labels_to_integers(nx.disjoint_union_all(parts))
    order = np.random.default_rng(1).permutation(len(whole)).tolist()
    return naive.graph_of(len(whole), [(order[a], order[b]) for a, b in whole.edges])


@pytest.mark.parametrize("name", DEVICES)
def test_many_parts(tmp_path: Path, name: str) -> None:
    graph = many_parts()
    path = write_store(tmp_path / "g.zarr", graph)
    largest = max(naive.components(graph), key=len)
    with engine_on(path, device=OnDevice(open_device(name))) as engine:
        for source in (largest[0], next(v for v, row in enumerate(graph) if not row)):
            check_components(engine, graph, source)
        engine.bfs(largest[0])
        found = engine.components(largest[0])
        assert isinstance(found, DeviceComponents) and found.label_bytes == 8 * len(graph)
        assert found.labels[5:5].size == 0 and int(found.labels[largest[0] : largest[0] + 1][0]) == largest[0]
        check_first(engine, found)
        twice = [found.larger_than(1, most=3) for _ in range(2)]
        sizes = sorted((len(part) for part in naive.components(graph) if part != largest), reverse=True)
        assert [one.size for some in twice for one in some] == sizes[:6] and found.largest_size() == sizes[6]
        found.compact(1)
        assert found.label_bytes == 0 and len(found.larger_than(1)) == found.n_others - 6


def check_first(engine: Any, components: DeviceComponents) -> None:
    """The first vertex of a value in a component, by labels on the device and by a copy of them."""
    n, rng = engine.facts.n_vertices, np.random.default_rng(7)
    column = engine.new_column(1000)
    for value in (3, 4, 900):
        column.put(rng.choice(n, n // 8, replace=False), value)
    copy = components.labels[:]
    for label in {int(copy[v]) for v in rng.choice(n, 20)}:
        for wanted in ((3,), (4, 900), (column.unreached, 3), (77,)):
            for start, stop in ((0, None), (n // 3, n - 5), (n - 1, n), (n, None), (9, 9)):
                want = column.first(wanted, start, stop, copy, label)
                assert column.first(wanted, start, stop, components.labels, label) == want
    assert column.first((4,), 5) == min(v for v in np.flatnonzero(column.part(0, n) == 4) if v >= 5)


def test_wide_ids() -> None:
    device = open_device("shim-2")
    graph = naive.graph_of(90, nx.disjoint_union(nx.path_graph(40), nx.star_graph(49)).edges)
    found = DeviceComponents(device, device_graph(device, graph, np.uint64), device.array(np.zeros(2, np.uint64)), 90)
    assert found.n_others == 2 and found.labels[:].tolist() == [0] * 40 + [40] * 50
    column = DeviceColumn(device, device.array(np.arange(90, dtype=np.uint32) % 50))
    assert [column.first((45,), 0, None, found.labels, label) for label in (0, 40, 90)] == [-1, 45, -1]
    assert [(one.last, one.hub) for one in found.larger_than(1)] == [(89, 40), (39, 1)]
