"""What a device's engine gives is what the CPU's gives, and what it leaves to the CPU is done there."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.certificates.run import verify
from emdiam.certificates.writing import claims_of, write_certificate
from emdiam.engine.reporter import Reporter
from emdiam.gpu.components import DeviceComponents
from emdiam.gpu.paging_model import TYPICAL
from emdiam.gpu.setting import OnDevice
from emdiam.methods.approx.clusters import ClusterOptions, clusters
from emdiam.methods.exact.bounding import bounding
from emdiam.methods.exact.fdiam import fdiam
from emdiam.methods.exact.pivots import pivots
from emdiam.store.store import open_store
from emdiam.traverse.hidden import HiddenComponents
from tests.engine.test_protocol import check_components
from tests.gpu.test_components import many_parts
from tests.gpu.test_engine import without_costs
from tests.gpu.test_labels import outcome
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store
from tests.simt.devices import open_device

pytestmark = pytest.mark.thin(6)

GRAPHS = odd_graphs()
SETTINGS = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.thin(6, sampled=("name",))
@pytest.mark.parametrize("solve", [pivots, fdiam, bounding])
@pytest.mark.parametrize("name", ["grid", "clique-and-path", "caterpillar", "tree", "no-edges"])
def test_exact_results_equal_those_of_the_cpu(
        tmp_path: Path, name: str, solve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that counts how often it is looked at, since pivots choose by time."""
    looks = count()
    monkeypatch.setattr(Reporter, "clock", lambda self: float(next(looks)))
    store = write_store(tmp_path / "g.zarr", GRAPHS[name])
    with engine_on(store) as engine:
        want = solve(engine).to_dict()
    with engine_on(store, device=OnDevice(open_device("shim-3"))) as engine:
        found = solve(engine).to_dict()
    assert without_costs(found) == without_costs(want)


@pytest.mark.parametrize("paged", [False, True])
@pytest.mark.parametrize("name", ["grid", "path-and-star", "tree"])
def test_certificates_of_a_device_are_verified_by_the_cpu(tmp_path: Path, name: str, paged: bool) -> None:
    path = write_store(tmp_path / "g.zarr", GRAPHS[name])
    setting = OnDevice(open_device("shim-1"), model=TYPICAL, paged=paged)
    with engine_on(path, device=setting) as engine:
        result = pivots(engine)
        assert engine.graph.resident is not paged
    assert result.proof is not None
    with open_store(path) as store:
        write_certificate(tmp_path / "c.json", result.proof, claims_of(result), store, threads=1)
    report = verify(tmp_path / "c.json", path, memory_bytes=2 << 30)
    assert report.verified


@SETTINGS
@given(graph=graphs(most=60), seed=st.integers(0, 2**32), data=st.data())
def test_clusters_equal_those_of_the_cpu(tmp_path: Path, graph: naive.Graph, seed: int, data: st.DataObject) -> None:
    joined = [v for v, row in enumerate(graph) if row]
    masters = sorted(data.draw(st.lists(st.sampled_from(joined), unique=True, max_size=5))) if joined else []
    most = data.draw(st.sampled_from([None, 0, 1, 2, 5]))
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on(store) as engine:
        want = outcome(engine, masters, most)
    with engine_on(store, device=OnDevice(open_device(f"shim-{seed % 4}"))) as engine:
        assert outcome(engine, masters, most) == want


@pytest.mark.slow
@pytest.mark.parametrize("name", ["no-edges", "grid", "clique-and-path", "pairs", "two-paths"])
def test_approximations_equal_those_of_the_cpu(tmp_path: Path, name: str) -> None:
    store = write_store(tmp_path / "g.zarr", GRAPHS[name])
    options = ClusterOptions(masters=1 if name == "no-edges" else 3, seed=5)
    found = []
    for setting in (None, OnDevice(open_device("shim-2"))):
        with engine_on(store, method="clusters", device=setting) as engine:
            result = clusters(engine, options)
            found.append({key: value for key, value in result.to_dict().items()
                          if key not in ("seconds", "details", "bytes_read", "edges_scanned")})
    assert found[1] == found[0]


def test_the_cpu_grows_where_the_device_has_no_room(tmp_path: Path) -> None:
    graph = GRAPHS["grid"]
    device = open_device("shim-0", total=8 << 20)
    with engine_on(write_store(tmp_path / "g.zarr", graph), device=OnDevice(device)) as engine:
        want = outcome(engine, [3, 77], None)
        filled = engine.device.empty(engine.device.memory().free - (32 << 10), np.uint8)
        launches = engine.device.launches
        assert outcome(engine, [3, 77], None) == want and engine.device.launches == launches
        del filled
        assert outcome(engine, [3, 77], None) == want and engine.device.launches > launches


def test_a_device_without_room_and_checkpoints_have_components_on_the_host(tmp_path: Path) -> None:
    graph = many_parts()
    path = write_store(tmp_path / "g.zarr", graph)
    with engine_on(path, device=OnDevice(open_device("shim-0"))) as engine:
        engine.bfs(0)
        there, here = engine.components(0), engine.components_here(0)
        assert isinstance(there, DeviceComponents) and isinstance(here, HiddenComponents)
        assert there.larger_than(1) == here.larger_than(1) and there.n_pairs() > 0
    room = engine.vram.planned_bytes - engine.vram.pool_bytes
    with engine_on(path, device=OnDevice(open_device("shim-0"), vram_bytes=room + 100)) as engine:
        check_components(engine, graph, 0)
        assert engine.graph.resident and isinstance(engine.components(0), HiddenComponents)


@pytest.mark.parametrize("limit", [0, 3, 5, 40])
def test_sources_that_dominate_are_those_of_the_cpu(tmp_path: Path, limit: int) -> None:
    graph = naive.graph_of(300, [*nx.random_regular_graph(4, 260, 1).edges, *((260 + v, 261 + v) for v in range(9))])
    store, vertices = write_store(tmp_path / "g.zarr", graph), np.random.default_rng(2).permutation(300)
    found = []
    for device in (None, OnDevice(open_device("shim-0"))):
        with engine_on(store, device=device) as engine:
            bound = engine.new_column(254)
            assert engine.bfs(7, into=bound).n_reached == 260
            found.append([part.tolist() for part in engine.dominating(vertices, 1, bound, limit, 20)])
    assert found[0] == found[1]
