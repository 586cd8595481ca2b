"""The engine protocol over a device: every verb of a GpuEngine equals its naive twin."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import BudgetError, InputError
from emdiam.gpu.setting import OnDevice, Selection, select_device
from emdiam.gpu.variants.registry import VARIANTS
from emdiam.methods.exact import strategy
from emdiam.methods.exact.bounding import BoundingOptions, bounding
from emdiam.methods.exact.pivots import pivots
from tests.engine.test_protocol import check_all
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store
from tests.simt.devices import DEVICES, open_device

pytestmark = pytest.mark.thin(6)

SHAPES = {name: graph for name, graph in odd_graphs().items() if len(graph) <= 128}
FEW = ("one", "no-edges", "edge", "clique-and-path", "path-and-star", "grid", "isolated-first")
SETTINGS = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.thin(7, sampled=("name",))
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", FEW)
def test_odd_graphs(tmp_path: Path, device: str, name: str) -> None:
    setting = OnDevice(open_device(device))
    with engine_on(write_store(tmp_path / "g.zarr", SHAPES[name]), device=setting) as engine:
        check_all(engine, SHAPES[name], random.Random(7))


@SETTINGS
@given(graph=graphs(most=80), seed=st.integers(0, 2**32))
def test_random_graphs(tmp_path: Path, graph: naive.Graph, seed: int) -> None:
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on(store, "streamed", device=OnDevice(open_device(f"shim-{seed % 4}"))) as engine:
        check_all(engine, graph, random.Random(seed))


@pytest.mark.slow
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["in-ram", "streamed"])
@pytest.mark.parametrize("name", odd_graphs())
def test_all_odd_graphs(tmp_path: Path, kind: str, device: str, name: str) -> None:
    graph = odd_graphs()[name]
    store = write_store(tmp_path / "g.zarr", graph)
    # A batch from all 300 vertices of the path has as many levels, and takes 97 million steps.
    on_device = OnDevice(open_device(device, step_limit=1 << 28))
    with engine_on(store, kind, device=on_device) as engine:
        check_all(engine, graph, random.Random(3))


@pytest.mark.parametrize("bfs", VARIANTS)
def test_every_variant_carries_the_engine(tmp_path: Path, bfs: str) -> None:
    graph = SHAPES["clique-and-path"]
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on(store, device=OnDevice(open_device("shim-2"), bfs)) as engine:
        for source in (0, 30):
            want = naive.distances(graph, source)
            run = engine.bfs(source)
            assert run.distances.gather(np.arange(len(graph))).tolist() == want
            assert (run.eccentricity, run.n_reached) == (max(want), sum(d >= 0 for d in want))
            assert engine.bfs(source, radius=2).n_reached == sum(0 <= d <= 2 for d in want)


def without_costs(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what may differ: seconds, how arcs were looked at, whence distances of the witness are."""
    kept = {name: value for name, value in result["details"].items()
            if name != "counters" and not name.endswith("_seconds")}
    costs = ("seconds", "edges_scanned", "bytes_read", "levels", "details")
    return {**{name: value for name, value in result.items() if name not in costs}, "details": kept}


def test_a_graph_that_does_not_fit_is_refused_with_numbers(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", SHAPES["clique"])
    device = open_device("shim-0", total=4000)
    message = (r"3.9 KiB of shim, seed 0 is too small: the least is 1.0 MiB = 124 B offsets \+ 1.0 MiB vertex state \+ "
               r".* pages; give at least --vram 2MiB, or compute on the CPU with --device cpu")
    with pytest.raises(BudgetError, match=message), engine_on(store, device=OnDevice(device)):
        pass


@pytest.mark.parametrize("first", ["upper", "lower"])
@pytest.mark.parametrize("bfs", ["standard", "dal-hybrid:layout=matrix"])
def test_bounds_and_candidates_of_the_paper(tmp_path: Path, bfs: str, first: str) -> None:
    """Where a variant of papers/001 is named, bounding keeps them as the paper does, in every component."""
    for name in FEW:
        shape = SHAPES[name]
        store = write_store(tmp_path / f"{name}.zarr", shape)
        with engine_on(store, method="bounding") as plain, engine_on(
                store, device=OnDevice(open_device("shim-2"), bfs), method="bounding") as engine:
            assert engine.facts.keeps_candidates and not plain.facts.keeps_candidates
            found, want = (bounding(one, BoundingOptions(first=first)) for one in (engine, plain))
        assert (found.diameter, found.diameter_max_component, found.exact) == (
            want.diameter, want.diameter_max_component, True), name


@pytest.mark.parametrize(("search", "message"), [
    ({"bfs": "nothing"}, "no such variant.*'nothing'.*persistent"), ({"bfs": "luo", "mapping": "x"}, "no such load"),
    ({"bfs": "harish", "mapping": "threads"}, "harish has a load balancing of its own")])
def test_a_search_that_cannot_be(tmp_path: Path, search: dict[str, str], message: str) -> None:
    store = write_store(tmp_path / "g.zarr", SHAPES["edge"])
    with pytest.raises(InputError, match=message), engine_on(store, device=OnDevice(open_device("shim-0"), **search)):
        pass


def test_selecting_a_device() -> None:
    assert select_device("cpu") == Selection(None) and select_device("cpu").name == "cpu"
    with pytest.raises(InputError, match="a device is gpu or gpu:N: 'gpus'"):
        select_device("gpus")
    selected = select_device("auto")
    if selected.device is None:
        assert selected.note.startswith("no GPU can be used") and selected.name == f"cpu ({selected.note})"
        with pytest.raises(InputError, match=r"no GPU can be used.*emdiam\[cuda\]"):
            select_device("gpu")


@pytest.mark.parametrize("share", [16, 1 << 40])
def test_a_witness_is_checked_by_distances_that_are_kept_where_there_is_room(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: int) -> None:
    monkeypatch.setattr("emdiam.gpu.engine._SPARE_SHARE", share)
    path = write_store(tmp_path / "g.zarr", odd_graphs()["grid"])
    with engine_on(path, device=OnDevice(open_device("shim-0"))) as engine:
        searches, real = list[int](), engine.bfs

        def counted(source: int, **options: Any) -> Any:
            searches.append(source)
            return real(source, **options)

        monkeypatch.setattr(engine, "bfs", counted)
        result = pivots(engine)
        assert len(searches) == result.traversals.bfs + (share != 16)
        assert result.exact and result.witness is not None and result.witness.length == result.diameter


# -- wide batches -------------------------------------------------------------------------------------------
def test_wide_batches_on_the_device_prove_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph that needs covering, by wide batches wherever they may be, on one device and on two."""
    monkeypatch.setattr(strategy, "WIDE_FROM", 10)
    monkeypatch.setattr(strategy.Costs, "_wide_seconds", lambda self, sources: 0.0)
    monkeypatch.setattr(strategy.Costs, "covering_pays", lambda self, verdict, gain: True)  # whatever time it takes
    graph = naive.graph_of(700, nx.random_regular_graph(3, 700, 4).edges)
    diameter = max(max(naive.distances(graph, v)) for v in range(len(graph)))
    for devices in (["shim-1"], ["shim-0", "shim-2"]):
        first, *others = [open_device(name) for name in devices]
        on_device = OnDevice(first, others=tuple(others))
        with engine_on(write_store(tmp_path / f"{len(devices)}.zarr", graph), device=on_device) as engine:
            real, asked = engine.wide_eccentricities, list[int]()

            def counted(sources: np.ndarray, bits: int, asked: list[int] = asked, real: Any = real) -> np.ndarray:
                asked.append(bits)
                found: np.ndarray = real(sources, bits)
                return found

            monkeypatch.setattr(engine, "wide_eccentricities", counted)
            result = pivots(engine)
            assert asked and result.exact and result.diameter == diameter
