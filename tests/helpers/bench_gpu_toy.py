"""The benchmark for a machine with a GPU at toy size: what its tests share."""

from __future__ import annotations

from typing import Any

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


def few_variants(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """The catalogue's cells are those of these variants, without mappings."""
    monkeypatch.setattr(times.catalogue, "cells", lambda: ((name, "") for name in names))
