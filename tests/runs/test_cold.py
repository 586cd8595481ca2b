"""A first run, which compiles its kernels, takes no more memory than a later one may."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
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


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    ("sssp", "--source", "0", "--out", "t.csv"), ("sssp", "--source", "0", "--method", "near-far"),
    ("exact", "--weighted"), ("approx", "--weighted"), ("ecc", "--weighted", "--out", "t.parquet"), ("ecc",),
    ("exact", "--directed"), ("ecc", "--directed", "out"), ("distances", "--out", "t.parquet"),
    ("distances", "--hyperball", "6"), ("distances", "--directed"), ("apsp", "--out", "m.zarr", "--method", "blocked"),
    ("apsp", "--out", "m.zarr", "--method", "separators")], ids=" ".join)
def test_the_least_budget_that_is_named_has_room_for_compiling(options: tuple[str, ...], tmp_path: Path,
                                                               emdiam: Run) -> None:
    """The same of commands that are planned when they run."""
    command, *more = options
    store, vertices = tmp_path / "g.zarr", 1 << 10 if command in ("apsp", "ecc") else 1 << 16
    if "--directed" in more:
        pairs = np.random.default_rng(1).integers(0, vertices, (3 * vertices, 2))
        np.savetxt(tmp_path / "arcs.txt", pairs, "%d")
        emdiam("convert", "arcs.txt", store, "--directed", "--quiet").check_returncode()
    else:
        generate("erdos-renyi", store, vertices=vertices, parameters={"average_degree": 5}, weights="uniform:1,100")
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run = (command, store, *more, "--json", "--quiet", *(["--force"] if command == "apsp" else []))
    named = re.search(r"--memory (\d+)MiB", emdiam(*run, "--memory", "1MiB", **cache).stderr)
    assert named is not None
    for _ in range(2):
        done = emdiam(*run, "--memory", f"{named[1]}MiB", **cache)
        assert json.loads(done.stdout)["peak_rss_bytes"] <= int(named[1]) << 20, done.stderr
