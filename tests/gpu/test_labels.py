"""Label growth on a device: the same labels as naive rounds."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import DTypeLike

from emdiam.gpu.components import grow_labels, growth_bytes
from emdiam.gpu.device import Device
from emdiam.gpu.paged import PagedGraph
from emdiam.gpu.paging_model import COPY, GATHER, IN_PLACE, TYPICAL, WAYS
from emdiam.gpu.setting import OnDevice
from tests.helpers import naive
from tests.helpers.cluster_twins import grow_twin, masters_everywhere
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store
from tests.simt.devices import DEVICES, device_graph, open_device

pytestmark = pytest.mark.thin(4)

GRAPHS = odd_graphs()
FEW = ("one", "no-edges", "edge", "star", "grid", "torus", "clique-and-path", "pairs", "isolated-first")
SETTINGS = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
UNREACHED = np.uint64(0xFFFFFFFFFFFFFFFF)


def packed(pairs: list[tuple[int, int]]) -> list[int]:
    """(owner, distance), or (-1, -1), as labels."""
    return [int(UNREACHED) if owner < 0 else distance << 32 | owner for owner, distance in pairs]


def seeded(n: int, seeds: list[int]) -> np.ndarray:
    labels = np.full(n, UNREACHED, np.uint64)
    labels[seeds] = np.arange(len(seeds), dtype=np.uint64)
    return labels


def check_growth(device: Device, graph: naive.Graph, seeds: list[int], dtype: DTypeLike = np.uint32) -> None:
    labels = seeded(len(graph), seeds)
    ticks: list[int] = []
    whole, levels = grow_labels(device, device_graph(device, graph, dtype), labels, np.array(seeds, np.int64),
                                lambda: ticks.append(1), block=64)
    want = grow_twin(graph, seeds)
    assert labels.tolist() == packed(want)
    assert whole and levels == len(ticks) == 1 + max((distance for _, distance in want), default=-1)


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("device", DEVICES)
def test_odd_graphs(device: str, name: str) -> None:
    graph = GRAPHS[name]
    n = len(graph)
    # The last first: owners come in another order than vertices, and some share an edge.
    check_growth(open_device(device), graph, sorted({n - 1, n // 2, n // 3, 0}, reverse=True))


@SETTINGS
@given(graph=graphs(most=60), seed=st.integers(0, 2**32), data=st.data())
def test_random_graphs(graph: naive.Graph, seed: int, data: st.DataObject) -> None:
    seeds = data.draw(st.lists(st.integers(0, len(graph) - 1), unique=True, min_size=1, max_size=6))
    dtype = (np.uint32, np.uint64)[seed % 2]
    check_growth(open_device(f"shim-{seed % 4}"), graph, seeds, dtype)


def test_many_meet_at_one_vertex() -> None:
    """All leaves of a star offer the centre a label at once: the smallest owner wins."""
    graph, seeds = GRAPHS["star"], list(range(len(GRAPHS["star"]) - 1, 0, -1))
    for name in DEVICES[:4]:
        labels = seeded(len(graph), seeds)
        device = open_device(name)
        grow_labels(device, device_graph(device, graph), labels, np.array(seeds))
        assert int(labels[0]) == 1 << 32


@pytest.mark.parametrize("most", [0, 1, 5, 40, 41, 100])
def test_growth_stops_after_so_many_rounds(most: int) -> None:
    device, graph = open_device("shim-0"), GRAPHS["cycle"]
    labels = seeded(len(graph), [7])
    whole, levels = grow_labels(device, device_graph(device, graph), labels, np.array([7]), most_rounds=most)
    far = len(graph) // 2
    # A vertex at distance `most` would still have to be expanded, even where nothing is behind it.
    assert (whole, levels) == ((True, far + 1) if most > far else (False, most))
    distances = labels[labels != UNREACHED] >> np.uint64(32)
    assert int(distances.max()) == min(most, far) and len(distances) == min(len(graph), 2 * most + 1)


def test_what_does_not_fit_the_graph_is_refused() -> None:
    device = open_device("shim-0")
    grow = partial(grow_labels, device, device_graph(device, GRAPHS["edge"]))
    for labels in (np.zeros(3, np.uint64), np.zeros(2, np.int64)):
        with pytest.raises(ValueError, match=r"labels of 2 vertices are uint64\[2\]"):
            grow(labels, np.array([0]))
    for seed in (-1, 2):
        with pytest.raises(ValueError, match="a seed is no vertex"):
            grow(np.zeros(2, np.uint64), np.array([seed]))


def outcome(engine: Any, masters: list[int], most: int | None) -> tuple[Any, ...] | None:
    labels = engine.grow_clusters(np.array(masters, np.int64), most)
    if labels is None:
        return None
    everyone = np.arange(engine.facts.n_vertices)
    pairs = list(zip(labels.groups(everyone).tolist(), labels.distances(everyone).tolist(), strict=True))
    return packed(pairs), labels.masters.tolist(), labels.passes


@SETTINGS
@given(graph=graphs(most=60), seed=st.integers(0, 2**32), data=st.data())
def test_clusters(tmp_path: Path, graph: naive.Graph, seed: int, data: st.DataObject) -> None:
    """Of an engine, which gives each component without a master one."""
    joined = [v for v, row in enumerate(graph) if row]
    masters = sorted(data.draw(st.lists(st.sampled_from(joined), unique=True, max_size=5))) if joined else []
    device = OnDevice(open_device(f"shim-{seed % 4}"))
    with engine_on(write_store(tmp_path / "g.zarr", graph), device=device) as engine:
        found = outcome(engine, masters, None)
    everywhere = masters_everywhere(graph, masters)
    assert found is not None and found[:2] == (packed(grow_twin(graph, everywhere)), everywhere)


def taken(device: Device, graph: naive.Graph) -> tuple[int, int]:
    """Bytes that a growth takes beside the graph, and those that it says it takes."""
    there = device_graph(device, graph)
    before = device.memory()
    grow_labels(device, there, seeded(there.n_vertices, [0]), np.array([0]))
    return device.peak - (before.total - before.free), growth_bytes(there)


def test_growing_takes_no_more_than_it_says() -> None:
    found = [taken(open_device("shim-0"), naive.graph_of(n, [(0, v) for v in range(1, n)])) for n in (100, 1100)]
    assert all(took <= said for took, said in found)
    # The rest is for what does not grow with the graph, and for pages.
    more, said_more = (found[1][i] - found[0][i] for i in range(2))
    assert 0.8 * said_more < more <= said_more


@pytest.mark.parametrize("ways", [(COPY,), (GATHER,), (IN_PLACE,), WAYS], ids="-".join)
@pytest.mark.parametrize("name", ["path-and-star", "grid"])
def test_clusters_of_paged_graphs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, ways: tuple[str, ...],
) -> None:
    monkeypatch.setattr("emdiam.gpu.vram.PAGE_BYTES", 1 << 9)
    monkeypatch.setattr("emdiam.gpu.vram.LARGER", 0)
    graph, masters = GRAPHS[name], [2, 9]
    store, kind = write_store(tmp_path / "g.zarr", graph), "in-ram" if ways == (IN_PLACE,) else "streamed"
    device = open_device("shim-3", late=3)
    with engine_on(store, kind, device=OnDevice(device, model=TYPICAL, paged=True, ways=ways)) as engine:
        assert isinstance(engine.graph, PagedGraph)
        found = outcome(engine, masters, None)
    everywhere = masters_everywhere(graph, masters)
    assert found is not None and found[:2] == (packed(grow_twin(graph, everywhere)), everywhere)
