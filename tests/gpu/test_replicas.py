"""Several devices: the same eccentricities and distances as one, whoever finds them, and whatever fails."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import DeviceError
from emdiam.gpu.device import Device
from emdiam.gpu.multi_source import WholeBatch
from emdiam.gpu.replicas import Replicas
from emdiam.gpu.setting import OnDevice, Selection, select_device
from emdiam.methods.exact.pivots import pivots
from tests.engine.test_protocol import check_all
from tests.gpu.test_engine import without_costs
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store
from tests.helpers.waiting import PATIENCE
from tests.simt.devices import device_graph, open_device, plain_distances
from tests.simt.shim_device import Failures

pytestmark = pytest.mark.thin(4)

GRAPHS = odd_graphs()
SETTINGS = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def replicas(graph: naive.Graph, devices: list[Device]) -> Replicas:
    return Replicas([(device, device_graph(device, graph)) for device in devices])


def shims(count: int, seed: int = 0, **options: Any) -> list[Device]:
    return [open_device(f"shim-{(seed + number) % 4}", **options) for number in range(count)]


@SETTINGS
@given(graph=graphs(most=40), seed=st.integers(0, 2**32), count=st.integers(1, 3), k=st.integers(0, 150),
       batch=st.sampled_from([1, 20, 64, 128, 512]), columns=st.booleans())
def test_distances_do_not_depend_on_the_number_of_devices(
    graph: naive.Graph, seed: int, count: int, k: int, batch: int, columns: bool,
) -> None:
    sources = np.random.default_rng(seed).integers(0, len(graph), k)
    devices = shims(count, seed)
    first = devices[0]
    arrays = [first.array(np.full(len(graph), 0xFFFFFFFF, np.uint32)) for _ in sources] if columns else None
    levels: list[int] = []
    if k > 5 * batch:
        sources, arrays = sources[: 5 * batch], None if arrays is None else arrays[: 5 * batch]
    found = replicas(graph, devices).eccentricities(
        sources, None, arrays, batch, lambda level, begin: levels.append(level))
    truth = [naive.distances(graph, int(source)) for source in sources]
    assert found.tolist() == [max(row) for row in truth]
    assert levels == [1 + int(found[at : at + batch].max()) for at in range(0, len(sources), batch)]
    for row, array in zip(truth, arrays or [], strict=False):
        assert plain_distances(first.to_host(array)) == row


@pytest.mark.parametrize(("count", "k", "batch", "sizes"), [
    (1, 300, 128, [128, 128, 44]), (2, 300, 128, [128, 128, 44]), (2, 512, 512, [256, 256]),
    (3, 512, 512, [192, 192, 128]), (2, 100, 512, [64, 36]), (2, 60, 512, [60]), (3, 200, 128, [64, 64, 64, 8]),
])
def test_how_sources_are_cut(
    monkeypatch: pytest.MonkeyPatch, count: int, k: int, batch: int, sizes: list[int],
) -> None:
    taken: list[int] = []

    def note(self: WholeBatch, sources: np.ndarray, targets: Any, columns: Any) -> np.ndarray:
        taken.append(len(sources))
        return np.zeros(len(sources), np.int32)

    monkeypatch.setattr(WholeBatch, "run", note)
    shared = replicas(GRAPHS["edge"], shims(count))
    shared.eccentricities(np.zeros(k, np.int64), None, None, batch, lambda levels, begin: None)
    assert sorted(taken) == sorted(sizes)
    taken.clear()  # a batch that stops at targets is never cut
    shared.eccentricities(np.zeros(k, np.int64), np.zeros(1, np.uint64), None, batch, lambda levels, begin: None)
    assert sorted(taken) == sorted(min(batch, k - at) for at in range(0, k, batch))


def test_every_device_has_a_thread_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    together, places = threading.Barrier(3), dict[int, int]()

    def meet(self: WholeBatch, sources: np.ndarray, targets: Any, columns: Any) -> np.ndarray:
        together.wait(timeout=PATIENCE)  # comes back only when three are here
        places[id(self.device)] = threading.get_ident()
        return np.zeros(len(sources), np.int32)

    devices = shims(3)
    shared = replicas(GRAPHS["edge"], devices)
    monkeypatch.setattr(WholeBatch, "run", meet)
    shared.eccentricities(np.zeros(6, np.int64), None, None, 2, lambda levels, begin: None)
    assert set(places) == {id(device) for device in devices} and len(set(places.values())) == 3
    assert places[id(devices[0])] == threading.get_ident()


def test_batches_with_targets_return_the_same() -> None:
    graph = GRAPHS["lollipop"]
    targets = np.array([1 << 30 | 1], np.uint64)
    found = []
    for count in (1, 2, 3):
        shared = replicas(graph, shims(count))
        sources = np.arange(len(graph))
        found.append(shared.eccentricities(sources, targets, None, 16, lambda levels, begin: None).tolist())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("lost", [0, 1])
def test_a_device_that_fails_ends_the_work_of_all(lost: int) -> None:
    graph = GRAPHS["path"]
    devices = [open_device("shim-0", failures=Failures(gone_at=1 if number == lost else None)) for number in range(2)]
    shared, ended = replicas(graph, devices), list[int]()
    with pytest.raises(DeviceError, match="it is gone"):
        shared.eccentricities(np.arange(300), None, None, 64, lambda levels, begin: ended.append(levels))
    assert len(ended) < 5


def test_an_error_of_the_caller_ends_the_work() -> None:
    class Over(Exception):
        pass

    def stop(levels: int, begin: float) -> None:
        raise Over

    devices = shims(2)
    with pytest.raises(Over):
        replicas(GRAPHS["grid"], devices).eccentricities(np.arange(126), None, None, 8, stop)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", ["one", "clique-and-path", "grid"])
def test_an_engine_on_several_devices(tmp_path: Path, name: str, count: int) -> None:
    store = write_store(tmp_path / "g.zarr", GRAPHS[name])
    first, *others = shims(count)
    with engine_on(store, device=OnDevice(first, others=tuple(others))) as engine:
        check_all(engine, GRAPHS[name], random.Random(7))


@pytest.mark.parametrize("name", ["grid", "caterpillar"])
def test_exact_results_are_those_of_one_device(tmp_path: Path, name: str) -> None:
    store = write_store(tmp_path / "g.zarr", GRAPHS[name])
    found = []
    for count in (1, 2):
        first, *others = shims(count, seed=2)
        with engine_on(store, device=OnDevice(first, others=tuple(others))) as engine:
            found.append(without_costs(pivots(engine).to_dict()))
    assert found[1] == found[0]


def test_batches_are_as_wide_as_the_smallest_device_has_room_for(tmp_path: Path) -> None:
    graph = GRAPHS["grid"]
    store = write_store(tmp_path / "g.zarr", graph)
    first, second = open_device("shim-0"), open_device("shim-1", total=(1 << 20) + 16_000)
    with engine_on(store, device=OnDevice(first, others=(second,))) as engine:
        assert engine.vram.resident and 0 < engine.vram.pool_bytes < 6_000 and engine.facts.batch_bits == 64
        found = engine.eccentricities(np.arange(len(graph)))
    assert found.tolist() == [max(naive.distances(graph, v)) for v in range(len(graph))]


def test_names_of_several_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = shims(2)
    monkeypatch.setattr("emdiam.gpu.cupy_device.find_devices", lambda text: {"gpu:0,1": (first, second)}[text])
    selected = select_device("gpu:0,1")
    assert selected == Selection(first, others=(second,)) and selected.name == "shim, seed 0 + shim, seed 1"
