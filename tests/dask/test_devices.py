"""Workers with a device each: every verb equals its naive twin, whatever the device does, and what is said of it.

The workers are threads of this process, and their devices run the kernels on the CPU.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partialmethod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import BudgetError, DeviceRoomError, InputError
from emdiam.gpu import cupy_device
from emdiam.gpu.device import DeviceMemory
from emdiam.gpu.range_rows import RangeRows
from emdiam.gpu.setting import Selection
from emdiam.runs.task import execute, task_of
from tests.engine.test_protocol import check_all
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs, write_store
from tests.simt.devices import open_device
from tests.simt.shim_device import ShimDevice

pytest.importorskip("distributed", reason="dask.distributed is not installed")

from emdiam.dask import frontier
from tests.helpers.workers import SOURCES, apart, engine_on_workers

ODD = odd_graphs()
# The others take seconds up to half a minute each, on devices that are a CPU.
SMALL = [name for name, graph in ODD.items() if len(graph) <= 42]
SETTINGS = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
DENSE: dict[str, dict[str, int]] = {"down": {}, "up": {"dense_arcs": 0}}
Asked = list[tuple[str, int]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Devices of workers are those of the tests, and levels of any size are theirs; what was asked for."""
    taken: Asked = []

    def find(text: str, place: int) -> Any:
        taken.append((text, place))
        device = open_device("shim-0")
        device.name = f"GPU {place}"
        return device

    monkeypatch.setattr(cupy_device, "find_share", find)
    monkeypatch.setattr(frontier, "FEW_ARCS", 0)
    monkeypatch.setattr(frontier, "WORD_ARCS", 0)
    return taken


def check(
    path: Path, graph: naive.Graph, workers: int, seed: int, most: int | None = None, **fields: int
) -> None:
    """All verbs on a store of the graph whose vertices are spread over the ranges. most : sources of counts."""
    wide = apart(graph)
    with engine_on_workers(write_store(path, wide), workers, processes=False, device="gpu", **fields) as engine:
        check_all(engine, wide, random.Random(seed), most)


@pytest.mark.thin(30, sampled=("name",))
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("way", DENSE)
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_odd_graphs(tmp_path: Path, asked: Asked, workers: int, way: str, name: str) -> None:
    check(tmp_path / "g.zarr", ODD[name], workers, 7, SOURCES, **DENSE[way])
    assert sorted(asked) == [("gpu", place) for place in range(workers)]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*ODD} - {*SMALL}))
@pytest.mark.parametrize("way", DENSE)
def test_large_odd_graphs(tmp_path: Path, asked: Asked, way: str, name: str) -> None:
    check(tmp_path / "g.zarr", ODD[name], 2, 7, **DENSE[way])


@pytest.mark.slow
@pytest.mark.parametrize("way", DENSE)
@SETTINGS
@given(graph=graphs(most=60), seed=st.integers(0, 2**32))
def test_random_graphs(tmp_path: Path, asked: Asked, way: str, graph: naive.Graph, seed: int) -> None:
    check(tmp_path / "g.zarr", graph, 2, seed, **DENSE[way])


def test_a_large_level_is_the_devices_and_a_small_one_the_processors(
    tmp_path: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clique's level has 90 arcs a vertex, the path's one or two."""
    graph = naive.graph_of(140, [(v, w) for v in range(90) for w in range(v)] + [(v, v + 1) for v in range(89, 139)])
    monkeypatch.setattr(frontier, "FEW_ARCS", 80)
    done: list[int] = []

    def counted(way: Callable[..., Any]) -> Callable[..., Any]:
        def go(rows: RangeRows, *given: np.ndarray) -> Any:
            done.append(int(np.bitwise_count(given[0]).sum()))
            return way(rows, *given)

        return go

    for way in ("go_down", "go_up"):
        monkeypatch.setattr(RangeRows, way, counted(getattr(RangeRows, way)))
    with engine_on_workers(write_store(tmp_path / "g.zarr", graph), 2, processes=False, device="gpu") as engine:
        run = engine.bfs(5)
        assert (run.eccentricity, len(done)) == (51, 3)
        assert run.distances.gather(np.arange(140)).tolist() == naive.distances(graph, 5)
        assert engine.device_name == "1 x GPU 0 + 1 x GPU 1"


@pytest.mark.parametrize("workers", [1, 3])
def test_batches_and_scans_are_the_devices(
    tmp_path: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """Two words of sources over a graph of three ranges, with rows longer than a warp, and steep arcs;
    a device without room leaves both to the processors."""
    graph = naive.graph_of(330, [(v, v + 1) for v in range(299)] + [(9, v) for v in range(40, 290, 3)])
    sources, results = np.arange(0, 330, 4), list[Any]()
    for way in ("pull_masks", "count_steep"):
        monkeypatch.setattr(RangeRows, way, partialmethod(_noted, getattr(RangeRows, way), results))
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on_workers(store, workers, processes=False, device="gpu", dense_arcs=0) as engine:
        want = [max(naive.distances(graph, int(v))) for v in sources]
        assert engine.eccentricities(sources).tolist() == want
        near, labels = naive.distances(graph, 9), engine.bfs(9).distances
        labels.put([50], 7)
        near[50] = 7
        steep = sum(abs(near[v] - near[w]) > 1 for v, row in enumerate(graph) for w in row if near[v] >= 0)
        assert engine.scan("steep-arcs", labels) == steep > 0
        assert len(results) > 2 * workers and None not in results
        monkeypatch.setattr(ShimDevice, "memory", lambda self: DeviceMemory(0, 0))
        assert engine.eccentricities(sources).tolist() == want and engine.scan("steep-arcs", labels) == steep
        assert None in results


def _noted(rows: RangeRows, way: Callable[..., Any], results: list[Any], *given: Any) -> Any:
    results.append(way(rows, *given))
    return results[-1]


def test_a_run_says_what_its_workers_had(tmp_path: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    from emdiam.runs import opening
    from tests.helpers.workers import client

    path = write_store(tmp_path / "g.zarr", naive.graph_of(300, [(v, (v + 1) % 300) for v in range(300)]))
    scheduler = client(2, processes=False).scheduler.address
    options = {"scheduler": scheduler, "device": "gpu", "vram": "64MiB", "worker_memory": "4GiB"}
    result = execute(path, task_of("exact", options))
    assert (result.diameter, result.exact) == (150, True)
    devices = [worker["device"] for worker in result.details["workers"]]
    assert result.device == " + ".join(f"1 x {name}" for name in sorted(set(devices))) and "GPU 0" in devices
    assert all(0 < worker["vram_bytes"] <= 64 << 20 for worker in result.details["workers"])
    assert opening.selection(task_of("exact", {**options, "device": "auto"})).device is None


def test_rows_that_have_no_room_are_refused_with_numbers(tmp_path: Path, asked: Asked) -> None:
    path = write_store(tmp_path / "g.zarr", ODD["clique"])
    with pytest.raises(DeviceRoomError, match=r"arcs take 1\.0\d* MiB on GPU 0, which has 1\.0 MiB"), \
            engine_on_workers(path, 1, processes=False, device="gpu", vram_bytes=1 << 20):
        pass
    assert issubclass(DeviceRoomError, BudgetError)


def test_a_machine_without_a_gpu_is_the_cpu_where_one_was_welcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(text: str, place: int) -> Any:
        raise InputError("no GPU can be used: there is none")

    monkeypatch.setattr(cupy_device, "find_share", absent)
    path = write_store(tmp_path / "g.zarr", ODD["cycle"])
    with engine_on_workers(path, 2, processes=False, device="auto") as engine:
        assert engine.device_name == "2 x cpu (no GPU can be used: there is none)"
        assert engine.bfs(0).eccentricity == max(naive.distances(ODD["cycle"], 0))
    with pytest.raises(InputError, match="no GPU can be used"), \
            engine_on_workers(path, 2, processes=False, device="gpu"):
        pass


@pytest.mark.parametrize(("options", "message"), [
    ({"device": "gpux"}, "a device is gpu or gpu:N"), ({"device": "gpu:1,1"}, "named twice"),
    ({"device": "gpu", "bfs": "auto"}, "for a GPU of this process"), ({"vram": "1GiB"}, "its memory is for a GPU"),
    ({"device": "gpu", "mapping": "two-phase"}, "for a GPU of this process"),
])
def test_what_workers_cannot_have_is_refused(tmp_path: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        execute(write_store(tmp_path / "g.zarr", ODD["cycle"]), task_of("exact", {"workers": 2, **options}))


def test_a_device_of_this_process_is_not_that_of_workers(tmp_path: Path) -> None:
    given = Selection(open_device("shim-0"))
    with pytest.raises(InputError, match="workers look for their devices themselves"):
        execute(write_store(tmp_path / "g.zarr", ODD["cycle"]), task_of("exact", {"workers": 2, "device": given}))


@pytest.mark.parametrize(("text", "place", "number"), [
    ("gpu", 0, 0), ("gpu", 4, 1), ("gpu:2,0", 1, 0), ("gpu:2,0", 2, 2),
])
def test_processes_of_a_machine_take_turns(
    text: str, place: int, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cupy_device, "_import_cupy", lambda: None)
    monkeypatch.setattr(cupy_device, "_count_gpus", lambda cupy: 3)
    monkeypatch.setattr(cupy_device, "_opened", lambda taken: taken)
    assert cupy_device.find_share(text, place) == number  # type: ignore[comparison-overlap]
    with pytest.raises(InputError, match="there is no GPU 3"):
        cupy_device.find_share("gpu:3", 0)
