"""The figures of a paging model: on a device with stated rates they come out, within the memory that is planned."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.gpu.host_engine import HostGraph, memory_engine
from emdiam.gpu.page_cache import MEASURED_BYTES, STRIDE, PageCache, measure, read_sectors
from emdiam.gpu.paging_model import TYPICAL
from emdiam.gpu.setting import OnDevice
from emdiam.gpu.vram import plan_vram
from emdiam.runs.registry import METHODS
from emdiam.store.store import open_store
from tests.helpers.stores import engine_on, odd_graphs, write_store
from tests.simt import runner
from tests.simt.devices import open_device

BLOCK = 1 << 16


def pairs(n: int) -> HostGraph:
    """n vertices in pairs: n arcs."""
    return HostGraph("pairs", np.arange(n + 1), (np.arange(n) ^ 1).astype(np.uint32))


@pytest.mark.skipif(not runner.have_compiler(), reason=f"the shim needs the C++ compiler {runner.CXX}")
@pytest.mark.parametrize(("copy_rate", "place_rate"), [(50e9, 25e9), (6e9, 1e9)])
def test_the_rates_of_a_device_come_out(copy_rate: float, place_rate: float) -> None:
    """Within 3 %: pages of 2 MiB, each copy and launch with 1 us beside its bytes."""
    from tests.simt.timed_device import TimedDevice

    device = TimedDevice(copy_rate, place_rate, 1e-6)
    with memory_engine(pairs(BLOCK * 16), BLOCK, 1) as engine:
        pages = PageCache(device, engine.core, 3, 0)
        try:
            before = device.used
            model = measure(device, engine.core, pages)
        finally:
            pages.close()
    assert model.copy_rate == pytest.approx(copy_rate, rel=0.03)
    assert model.place_rate == pytest.approx(place_rate, rel=0.03)
    assert device.copied == 3 * MEASURED_BYTES  # from an arena of 4 MiB
    assert device.peak - before <= 64
    assert min(model.gather_rate, model.round_trip) > 0 and model.call == TYPICAL.call


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
@pytest.mark.parametrize("n", [1, 4, 6, 999])
def test_each_sector_is_read_once(dtype: type, n: int) -> None:
    assert n % STRIDE
    device, items = open_device("shim-2"), 32 // np.dtype(dtype).itemsize
    values = np.random.default_rng(n).integers(0, 1 << 31, 1000 * items).astype(dtype)
    total = device.array(np.zeros(1, np.uint64))
    read_sectors(device, device.array(values), n, total)
    assert int(device.to_host(total)[0]) == int(values[: n * items : items].sum(dtype=np.uint64))


@pytest.mark.parametrize("kind", ["in-ram", "streamed"])
@pytest.mark.parametrize("name", ["one-edge", "no-edges", "clique"])
def test_measuring_stays_within_the_plan(tmp_path: Path, kind: str, name: str) -> None:
    """On graphs far smaller than what is to be measured, in the least memory that is accepted."""
    graph = [[1], [0]] if name == "one-edge" else odd_graphs()[name]
    store, device = write_store(tmp_path / "g.zarr", graph), open_device("shim-1", late=3)
    with open_store(store) as opened:
        least = plan_vram(opened, OnDevice(device, paged=True), METHODS["fdiam"].definition().device).least_bytes
    with engine_on(store, kind, device=OnDevice(device, paged=True, vram_bytes=least), method="fdiam") as engine:
        model = engine.graph.model
        assert device.peak <= engine.vram.planned_bytes <= least
    if name == "no-edges":
        assert model == TYPICAL
    else:
        assert min(model.copy_rate, model.gather_rate, model.round_trip) > 0
    if name == "one-edge" or kind == "streamed":
        assert model.place_rate == TYPICAL.place_rate
