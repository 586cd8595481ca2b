"""Diameters, bounds and eccentricities along weights whose searches run on a device: as on the CPU."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import emdiam
from emdiam.errors import DeviceError, InputError
from emdiam.gpu.paths import registry
from emdiam.runs.task import execute, task_of
from tests.simt.devices import open_device

KINDS = [("exact", "pivots"), ("exact", "bounding"), ("approx", "sweep"), ("approx", "clusters"), ("ecc", None)]
ALONG_ARCS = [("exact", "pivots"), ("exact", "graph-diameter"), ("ecc", None)]
WEIGHTS: dict[str, Callable[[random.Random], float]] = {
    "whole": lambda rng: rng.choice([0, 1, 3, 90_000]), "decimal": lambda rng: rng.randrange(1, 5000) / 100,
    "any": lambda rng: rng.random() * 10.0 ** rng.randrange(-9, 9),
}
# What differs by what has searched, and by the moment.
OTHER = ("seconds", "stage_seconds", "edges_scanned", "device", "peak_rss_bytes", "planned_rss_bytes",
         "memory_limit_bytes", "counters", "provenance")


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Where a GPU is asked for, the shim."""
    made = open_device("shim-1")
    monkeypatch.setattr("emdiam.gpu.cupy_device.find_devices", lambda text: (made,))
    return made


def store_of(path: Path, weight: Callable[[random.Random], float], directed: bool = False, seed: int = 3) -> Path:
    """Two large parts and small ones."""
    rng = random.Random(seed)
    pairs = {(rng.randrange(40), rng.randrange(40)) for _ in range(70)}
    pairs |= {(50 + a, 50 + b) for a, b in pairs if a < b < 15} | {(80, 81), (83, 84), (84, 85)}
    lines = [f"{a},{b},{weight(rng)!r}" for a, b in sorted(pairs) if a < b or (directed and a != b)]
    path.with_suffix(".csv").write_text("\n".join(("from,to,km", *lines)) + "\n")
    emdiam.convert(path.with_suffix(".csv"), path, weights="km", directed=directed)
    return path


def found(store: Path, command: str, method: str | None, **options: Any) -> dict[str, Any]:
    """The result without OTHER; its device."""
    result = execute(store, task_of(command, {"method": method, "weighted": True, **options}))
    told = result.to_dict()
    return {"device": told["device"], "details": {k: v for k, v in told["details"].items() if k not in OTHER},
            "told": {k: v for k, v in told.items() if k not in (*OTHER, "details")}}


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize(("command", "method"), KINDS)
def test_as_on_the_cpu(tmp_path: Path, device: Any, command: str, method: str | None, weight: str) -> None:
    store = store_of(tmp_path / "g.zarr", WEIGHTS[weight])
    here, there = (found(store, command, method, device=name) for name in ("cpu", "gpu"))
    assert (here.pop("device"), there.pop("device")) == ("cpu", device.name)
    assert here == there and device.launches > 0
    assert ("rounded_to" in here["details"]) == (weight == "any")


@pytest.mark.parametrize(("command", "method"), ALONG_ARCS)
def test_along_arcs(tmp_path: Path, device: Any, command: str, method: str | None) -> None:
    store = store_of(tmp_path / "g.zarr", WEIGHTS["decimal"], directed=True)
    here, there = (found(store, command, method, device=name, directed=True if method else "out")
                   for name in ("cpu", "gpu"))
    assert (here.pop("device"), there.pop("device")) == ("cpu", device.name)
    assert here == there and device.launches > 0


def test_a_device_that_fails(tmp_path: Path, device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(tmp_path / "g.zarr", WEIGHTS["whole"])
    want = found(store, "exact", "pivots")["told"]
    assert found(store, "exact", "pivots", device="auto") == {**found(store, "exact", "pivots", device="gpu")}
    larger = tmp_path / "larger.zarr"
    emdiam.generate("grid", larger, sides="300x300", weights="uniform:1,9")
    with pytest.raises(InputError, match="needs all arcs in memory"):
        found(larger, "approx", "sweep", device="gpu", arena="640KiB")
    assert "needs all arcs" in found(larger, "approx", "sweep", device="auto", arena="640KiB")["device"]

    def fail(*given: Any) -> None:
        raise DeviceError("it is gone")

    monkeypatch.setattr(registry, "near_far", fail)
    with pytest.raises(DeviceError):
        found(store, "exact", "pivots", device="gpu")
    instead = found(store, "exact", "pivots", device="auto")
    assert instead["told"] == want and instead["device"] == "cpu (it is gone)"


def test_what_is_refused(tmp_path: Path, device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(tmp_path / "g.zarr", WEIGHTS["whole"])
    monkeypatch.setattr("emdiam.gpu.cupy_device.find_devices", lambda text: (device, device))
    with pytest.raises(InputError, match="runs on one GPU"):
        found(store, "exact", "pivots", device="gpu:0,1")
    with pytest.raises(InputError, match="not for weighted graphs"):
        found(store, "exact", "pivots", device="gpu", vram="1GiB")
