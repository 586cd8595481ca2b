"""Searches, batches, bounds and whole runs along arcs on a device: as by the naive twins, and as on the CPU."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emdiam
from emdiam.certificates.run import verify
from emdiam.errors import DeviceRoomError, InputError
from emdiam.gpu.arc_bounds import DeviceArcBounds
from emdiam.gpu.bfs_whole import WholeBfs
from emdiam.gpu.device import Device
from emdiam.gpu.device_column import DeviceColumn
from emdiam.gpu.graph import DeviceGraph
from emdiam.gpu.multi_source import WholeBatch
from emdiam.gpu.setting import Selection
from emdiam.runs.task import execute, task_of
from emdiam.traverse.arc_bounds import ArcBounds
from emdiam.traverse.ram_column import RamColumn
from tests.gpu.test_whole import WAYS
from tests.helpers import naive
from tests.helpers.directed_twins import Arcs, heads_of, odd_digraphs, random_arcs, turned, write_arcs
from tests.runs.test_directed import command
from tests.simt.devices import DEVICES, device_graph, open_device, plain_distances
from tests.simt.shim_device import Failures

KINDS = [("exact", "pivots", True), ("exact", "graph-diameter", True), ("exact", "apsp", True),
         ("approx", "sweep", True), ("ecc", None, "out"), ("ecc", None, "in")]
# What differs by what has searched, and by the moment.
OTHER = ("seconds", "edges_scanned", "levels", "bytes_read", "device", "peak_rss_bytes", "planned_rss_bytes",
         "memory_limit_bytes", "stage_seconds", "counters", "vram", "upload_seconds")


def drawn(seed: int, most: int = 40) -> tuple[int, list[tuple[int, int]]]:
    """A random digraph, and a hub with arcs out and in one that has other ends."""
    n, arcs = random_arcs(random.Random(seed), most)
    hubs = [(n, v) for v in range(0, n, 2)] + [(v, n + 1) for v in range(0, n, 3)]
    return n + 4, [*arcs, *(hubs if seed % 2 else [])]  # and vertices without arcs


def both_ways(device: Device, n: int, arcs: Arcs, dtype: type = np.uint32) -> Iterator[tuple[DeviceGraph, naive.Graph]]:
    """The graph along arcs and against them, on the device and for the twin."""
    heads = [heads_of(n, some) for some in (arcs, turned(arcs))]
    out, back = (device_graph(device, rows, dtype) for rows in heads)
    yield from zip(out.both_ways(back), heads, strict=True)


@pytest.mark.thin(16)
@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(8))
def test_searches(name: str, way: str, seed: int) -> None:
    """Every way of a level, in both directions, among all vertices and among some."""
    device, rng, (n, arcs) = open_device(name), random.Random(seed), drawn(seed, 90)
    for graph, heads in both_ways(device, n, arcs, np.uint64 if seed == 3 else np.uint32):
        search = WholeBfs(device, graph, block=64, **WAYS[way])
        for source in {0, n - 1, rng.randrange(n)}:
            inside = [v == source or rng.random() < 0.8 for v in range(n)]
            among = [[w for w in row if inside[w]] if inside[v] else [] for v, row in enumerate(heads)]
            bits = np.zeros(-(-n // 64) * 64, np.bool_)
            bits[:n] = inside
            outside = device.array(~np.packbits(bits, bitorder="little").view(np.uint32))
            for rows, found in ((heads, search.find(source)), (among, search.find(source, outside=outside))):
                want = naive.distances(rows, source)
                assert plain_distances(device.to_host(found.distances)) == want
                assert (found.levels, found.farthest) == (max(want), want.index(max(want)))
                assert found.complete and found.n_reached == sum(d >= 0 for d in want)


@pytest.mark.thin(6)
@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("cost", [0.0, float("inf"), 2.0])
@pytest.mark.parametrize("wide_row", [2, 256])
def test_batches(name: str, cost: float, wide_row: int) -> None:
    """Pushed, pulled, and by the rule."""
    device = open_device(name)
    for seed in range(4):
        n, arcs = drawn(seed)
        for graph, heads in both_ways(device, n, arcs):
            batch = WholeBatch(device, graph, cost, 64, wide_row)
            sources = [v % n for v in range(0, 3 * n, 1 + seed)][:128]
            assert batch.run(np.array(sources)).tolist() == [max(naive.distances(heads, v)) for v in sources]


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", DEVICES)
def test_bounds(name: str) -> None:
    """All verbs of the bounds beside those in RAM, after each of some folds."""
    device, rng = open_device(name), np.random.default_rng(3)
    for n in (1, 31, 700):
        numbers = rng.integers(0, 3, n).astype(np.uint32)
        mine, want = DeviceArcBounds(device, numbers, n), ArcBounds(numbers, n, np.dtype(np.uint32))
        for _ in range(6):
            side, vertex, far = int(rng.integers(2)), int(rng.integers(n)), int(rng.integers(1, n + 1))
            distances = rng.integers(0, far, n).astype(np.uint32)
            distances[rng.random(n) < 0.3] = np.iinfo(np.uint32).max
            mine.fold(side, vertex, DeviceColumn(device, device.array(distances)), far)
            want.fold(side, vertex, RamColumn(distances), far)
            limit, ids, some = int(rng.integers(n + 1)), rng.permutation(n)[: n // 2], rng.integers(0, n, 5)
            for bounds in (mine, want):
                bounds.put(side, vertex, far - 1)
                bounds.values(side, ids)[ids] -= bounds.values(side, ids)[ids] > 3
                bounds.changed(side, ids)
            for verb, given in (("largest", (side,)), ("n_above", (side, limit)), ("first_largest", ()),
                                ("central", (int(numbers[vertex]), some.tolist())), ("central", (7, []))):
                assert getattr(mine, verb)(*given) == getattr(want, verb)(*given), verb
            for verb, given in (("above", (side, limit)), ("at", (side, some)), ("values", (side,))):
                assert np.array_equal(getattr(mine, verb)(*given), getattr(want, verb)(*given)), verb
            if want.n_above(side, limit):
                assert mine.extreme(side, limit) == want.extreme(side, limit)
    with pytest.raises(OverflowError, match="fewer than 2"):
        DeviceArcBounds(device, numbers, (1 << 32) - 1)


# -- runs ---------------------------------------------------------------------------------------------------
@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Where a GPU is asked for, the shim."""
    made = open_device("shim-1")
    monkeypatch.setattr("emdiam.gpu.cupy_device.find_devices", lambda text: (made,))
    return made


def answer(store: Path, kind: tuple[str, str | None, Any], **options: Any) -> dict[str, Any]:
    """The result without OTHER."""
    name, method, directed = kind
    result = execute(store, task_of(name, {"method": method, "directed": directed, **options})).to_dict()
    details = {key: value for key, value in result["details"].items() if key not in OTHER}
    return {**{key: value for key, value in result.items() if key not in OTHER}, "details": details}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("least", [0, pytest.param(33, marks=pytest.mark.slow)])
def test_runs_are_as_on_the_cpu(tmp_path: Path, device: Any, kind: tuple[str, str | None, Any], least: int) -> None:
    graphs = [*((n, arcs) for _, n, arcs in odd_digraphs()), *map(drawn, range(10))]
    for n, arcs in graphs:
        if (n >= 33) != (least >= 33):
            continue
        write_arcs(arcs, tmp_path / "g.zarr", n)
        before = device.launches
        assert answer(tmp_path / "g.zarr", kind, device="gpu") == answer(tmp_path / "g.zarr", kind)
        assert device.launches > before or not arcs


def test_a_certificate_verifies(tmp_path: Path, device: Any) -> None:
    for seed in range(3):
        n, arcs = drawn(seed, 120)
        write_arcs(arcs, tmp_path / "g.zarr", n)
        files = [tmp_path / name for name in ("cpu.json", "gpu.json")]
        for file in files:
            answer(tmp_path / "g.zarr", KINDS[0], device=file.stem, certificate=file)
            assert verify(file, tmp_path / "g.zarr").verified
        assert files[0].read_bytes() == files[1].read_bytes()


def test_commands_and_functions(tmp_path: Path, device: Any) -> None:
    write_arcs([(v, (v + 1) % 40) for v in range(40)] + [(3, 30)], tmp_path / "g.zarr", 40)
    found = json.loads(command(
        "exact", tmp_path / "g.zarr", "--directed", "--device", "gpu", "--vram", "8MiB", "--json"))
    vram = found["details"]["vram"]
    assert (found["device"], found["diameter"], vram["resident"]) == (device.name, 39, True)
    assert vram["peak_bytes"] <= vram["planned_bytes"] == vram["limit_bytes"] == 8 << 20
    known = emdiam.eccentricities(tmp_path / "g.zarr", directed="in", device="gpu")
    assert known.diameter == 39 and known.device == device.name
    assert emdiam.diameter(tmp_path / "g.zarr", directed=True, device="auto").device == device.name
    assert execute(tmp_path / "g.zarr", task_of("distances", {"directed": True})).device == "cpu"


def test_memory_is_planned(tmp_path: Path, device: Any) -> None:
    """Refused with the least that would do, which does."""
    for kind in KINDS:
        n, arcs = drawn(5, 300)
        write_arcs(arcs, tmp_path / "g.zarr", n)
        with pytest.raises(DeviceRoomError, match=r"along arcs the least is 1.0 MiB = .* arcs of both directions \+ .*"
                                                  r" give at least --vram 2MiB, or compute on the CPU"):
            answer(tmp_path / "g.zarr", kind, device="gpu", vram="100KiB")
        device.peak = device.used
        answer(tmp_path / "g.zarr", kind, device="gpu", vram="2MiB")
        assert device.peak <= 2 << 20


def test_no_search_copies_a_column(tmp_path: Path, device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the host, or from it: bounds and distances stay. What is as long as a column moves a few times in a run:
    numbers of components, bounds and distances from pivots of all remaining vertices, distances of the check."""
    n, rng = 1500, random.Random(1)
    arcs = [(v, (v + 1) % n) for v in range(n)] + [(rng.randrange(n), rng.randrange(n)) for _ in range(2 * n)]
    write_arcs(arcs, tmp_path / "g.zarr", n)
    copied, to_host, array = list[int](), device.to_host, device.array
    monkeypatch.setattr(device, "to_host", lambda one: [copied.append(one.nbytes), to_host(one)][1])
    monkeypatch.setattr(device, "array", lambda one: [copied.append(one.nbytes), array(one)][1])
    result = execute(tmp_path / "g.zarr", task_of("exact", {"directed": True, "device": "gpu", "sweeps": 0}))
    assert result.exact and result.traversals.bfs >= 60
    assert sum(nbytes >= 4 * n for nbytes in copied) <= 16


def test_a_device_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n, arcs = drawn(7)
    write_arcs(arcs, tmp_path / "g.zarr", n)
    for failures, message in ((Failures(gone_at=3), "failed in the middle"), (Failures(no_kernels=True), "cannot run")):
        broken = open_device("shim-0", failures=failures)
        task = task_of("exact", {"directed": True, "device": Selection(broken, or_cpu=True)})
        result = execute(tmp_path / "g.zarr", task)
        assert result.exact and result.device.startswith("cpu (") and message in result.device
    small = open_device("shim-0", total=4000)
    result = execute(tmp_path / "g.zarr", task_of("ecc", {"directed": "out", "device": Selection(small, or_cpu=True)}))
    assert "is too small" in result.device
    two = Selection(open_device("shim-0"), others=(open_device("shim-1"),))
    with pytest.raises(InputError, match="a search along arcs runs on one GPU"):
        execute(tmp_path / "g.zarr", task_of("exact", {"directed": True, "device": two}))
    for options in ({"bfs": "merrill"}, {"mapping": "threads"}, {"workers": 2}):
        with pytest.raises(InputError, match="not for graphs with directions"):
            task_of("exact", {"directed": True, "device": "gpu", **options})
    with pytest.raises(InputError, match="its memory are for a GPU"):
        execute(tmp_path / "g.zarr", task_of("exact", {"directed": True, "vram": "1GiB"}))
