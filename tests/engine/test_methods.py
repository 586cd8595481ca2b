"""Every method on every kind of engine, on one graph: exact methods equal brute force, and what others bound holds."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from emdiam.gpu import vram
from emdiam.gpu.paging_model import TYPICAL
from emdiam.gpu.setting import OnDevice
from emdiam.runs.registry import EXACT, METHODS, method_options
from tests.helpers import naive
from tests.helpers.stores import CHUNK, ENGINES, EXTERNAL, engine_on, write_store
from tests.simt.devices import open_device

# A mesh of 256 vertices with a tail of 20, a path of 9, and 15 vertices alone: more vertices than the graphs have that
# compile kernels, and more arcs than a streamed engine's arena. With the tail no method needs a BFS from every vertex.
# Where thousands of threads are followed one by one, a mesh of 100 has to do.
SIDES = {False: 16, True: 10}
KINDS = (*ENGINES, *EXTERNAL, "shim", "shim-paged", "workers")
# Few sources at once, so that runs have several batches.
SWITCHES: dict[str, dict[str, Any]] = {"apsp": {"batch": 64}, "korf": {"batch": 64}, "clusters": {"masters": 9}}


def open_kind(path: Path, kind: str, method: str) -> AbstractContextManager[Any]:
    """An engine of helpers.stores (for the method, where that matters), on the shim of a GPU, or over two workers in
    threads of this process."""
    if kind == "workers":
        pytest.importorskip("distributed", reason="dask.distributed is not installed")
        from tests.helpers.workers import engine_on_workers

        return engine_on_workers(path, 2, processes=False)
    if kind == "shim":
        return engine_on(path, device=OnDevice(open_device("shim-1")))
    if kind == "shim-paged":
        device = open_device("shim-1", resident=256)
        return engine_on(path, "streamed", device=OnDevice(device, model=TYPICAL, paged=True))
    return engine_on(path, kind, method=method) if kind in EXTERNAL else engine_on(path, kind)


@cache
def graph_and_longest(small: bool) -> tuple[naive.Graph, int]:
    """The graph, and the largest distance in it, which is within the mesh and its tail."""
    side = SIDES[small]
    corner = side * side - 1
    mesh = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    tails = [(corner + v, corner + v + 1) for v in (*range(20), *range(21, 29))]
    graph = naive.graph_of(side * side + 44, [*mesh.edges, *tails])
    return graph, max(max(naive.distances(graph, v)) for v in range(side * side + 20))


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """Both graphs, by whether it is the small one."""
    folder = tmp_path_factory.mktemp("store")
    return {small: write_store(folder / f"{side}.zarr", graph_and_longest(small)[0]) for small, side in SIDES.items()}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_method(stores: dict[bool, Path], kind: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, longest = graph_and_longest(small := kind == "shim-paged")
    monkeypatch.setattr(vram, "PAGE_BYTES", 16 * CHUNK)
    monkeypatch.setattr(vram, "LARGER", 0)
    with open_kind(stores[small], kind, method) as engine:
        result = METHODS[method].definition().solve(engine, method_options(method, SWITCHES.get(method, {})))
    assert result.method == method and result.n_components == 17
    assert result.lower <= longest <= result.upper
    if method in EXACT and method != "sweep-k":
        assert result.lower == result.upper == result.diameter_max_component == longest
    found = result.witness
    assert found is not None and naive.distances(graph, found.source)[found.target] == found.length == result.lower
