"""Real graphs over workers: the same diameters, distances and certificates as on one machine."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import numpy as np
import pytest

from emdiam.conversion.convert import ConvertOptions, convert
from emdiam.dask.setting import OnCluster
from emdiam.engine.cpu import CpuEngine
from emdiam.engine.interface import max_degree_vertex
from emdiam.engine.reporter import Reporter
from emdiam.methods.result import Result
from emdiam.runs.opening import open_engine
from emdiam.runs.task import execute, make_task
from emdiam.store.store import open_store
from tests.methods.approx.test_data import DIAMETERS, INDEX

pytest.importorskip("distributed", reason="dask.distributed is not installed")
import dask

from tests.helpers.workers import MEMORY, client, engine_on_workers, tls_settings

pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(not DIAMETERS, reason="the folder of real graphs (../shared/data) is absent")]


def solved(store: Path, method: str, workers: int | None, certificate: Path | None = None) -> Result:
    """The result on this machine alone, or over workers that are kept between tests."""
    if workers is None:
        return execute(store, make_task(method, memory_bytes=MEMORY, certificate=certificate))
    shared = OnCluster(client(workers).scheduler.address, workers, worker_memory_bytes=MEMORY, worker_threads=1)
    with dask.config.set(tls_settings(workers)):
        return execute(store, make_task(method, memory_bytes=MEMORY, cluster=shared, certificate=certificate))


def figures(result: Result) -> tuple[object, ...]:
    """What may not depend on where a run was done."""
    witness = result.witness
    return (result.diameter, result.lower, result.upper, result.n_components,
            None if witness is None else (witness.source, witness.target))


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Stores of the real graphs, made when they are first asked for."""
    folder = tmp_path_factory.mktemp("stores")

    class Stores(dict[str, Path]):
        def __missing__(self, name: str) -> Path:
            path = folder / f"{len(self)}.zarr"
            convert([INDEX.parent / name], path, options=ConvertOptions())
            self[name] = path
            return path

    return Stores()


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("name", DIAMETERS)
def test_diameters_and_certificates(
    stores: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, workers: int
) -> None:
    """With a clock that only counts how often it is looked at, and without searches side by side, which workers do not
    have, since pivots choose what is cheaper."""
    monkeypatch.setattr(CpuEngine, "_apart", 0)
    monkeypatch.setattr(Reporter, "clock", lambda self: next(self.__dict__.setdefault("_looks", count())) / 100)
    here = solved(stores[name], "pivots", None, tmp_path / "here.json")
    there = solved(stores[name], "pivots", workers, tmp_path / "there.json")
    assert figures(there) == figures(here)
    assert there.diameter_max_component == DIAMETERS[name]
    assert (tmp_path / "here.json").read_bytes() == (tmp_path / "there.json").read_bytes()


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("name", DIAMETERS)
def test_distances(stores: dict[str, Path], name: str, workers: int) -> None:
    with open_store(stores[name]) as store, open_engine(store, memory_bytes=MEMORY) as local, \
            engine_on_workers(stores[name], workers) as engine:
        for source in (max_degree_vertex(local), store.n_vertices // 3):
            here, there = local.bfs(source), engine.bfs(source)
            assert (here.eccentricity, here.n_reached, here.farthest) == (
                there.eccentricity, there.n_reached, there.farthest)
            assert here.distances is not None and there.distances is not None
            ids = np.arange(store.n_vertices)
            assert np.array_equal(here.distances.gather(ids), there.distances.gather(ids))
