"""The benchmark for a machine with a GPU at toy size: what its tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench.gpu import times
from bench.gpu.setting import Row, Setting
from bench.gpu.sizes import SIZES
from tests.simt.devices import open_device

TOY = SIZES["toy"]


def toy(**changes: Any) -> Setting:
    """A setting over the shim."""
    device = changes.pop("device", None) or open_device("shim-0")
    return Setting(device, TOY, **changes)


def kept_of(**rows: list[Row]) -> dict[str, Any]:
    """What a run keeps, with these rows of parts."""
    return {"device": "gpu:0", "scale": "toy", "started": "now",
            "parts": {name: {"rows": some, "seconds": 1.0, "failure": ""} for name, some in rows.items()}}


class FakeCuda:
    """Stands for what only CUDA has."""

    def __init__(self, device: Any) -> None:
        self.device = device

    def versions(self) -> dict[str, Any]:
        return {"runtime": 13000}

    def pinned(self, n: int) -> np.ndarray:
        return np.ones(n, np.uint64)

    def to_pinned(self, array: Any, host: np.ndarray) -> None:
        host[:] = self.device.to_host(array)

    def mapped(self, n: int) -> Any:
        return self.device.array(np.ones(n, np.uint64))

    def forget(self) -> None:
        """Nothing is kept for reuse."""

    def use(self) -> None:
        """There is one device."""


def few_variants(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """The catalogue's cells are those of these variants, without mappings."""
    monkeypatch.setattr(times.catalogue, "cells", lambda: ((name, "") for name in names))
