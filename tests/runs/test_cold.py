"""A first run, which compiles its kernels, takes no more memory than a later one may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emdiam.generators import generate
from tests.conftest import Run


@pytest.mark.slow
@pytest.mark.parametrize(("command", "method"), [("exact", "pivots"), ("exact", "fdiam"), ("approx", "clusters")])
def test_the_least_budget_has_room_for_compiling(command: str, method: str, tmp_path: Path, emdiam: Run) -> None:
    """On a graph of many components, which meets the most kernels."""
    store = tmp_path / "g.zarr"
    generate("erdos-renyi", store, vertices=1 << 16, parameters={"average_degree": 5})
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    planned = emdiam("plan", store, "--method", method, "--no-probe", "--json", **cache)
    least = str(json.loads(planned.stdout)["minimum_bytes"])
    first, later = (json.loads(emdiam(command, store, "--method", method, "--memory", least, "--json", **cache).stdout)
                    for _ in range(2))
    assert first["seconds"]["compile"] > 0 == later["seconds"]["compile"]
    assert max(first["peak_rss_bytes"], later["peak_rss_bytes"]) <= int(least)
