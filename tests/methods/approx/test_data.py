"""Proved bounds of all approximations hold on every real graph, in RAM and streamed, with equal figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from emdiam.conversion.convert import ConvertOptions, convert
from emdiam.runs.task import execute, make_task
from emdiam.store.store import open_store
from tests.conftest import ROOT

INDEX = ROOT.parent / "shared" / "data" / "INDEX.md"
RUNS = [
    ("sweep", {"iterations": 2}), ("spanning", {}), ("fringe", {"iterations": 1}), ("clusters", {}),
    ("clusters", {"masters": "16"}), ("clusters", {"masters": "1%"}), ("clusters", {"masters": "10%", "levels": 2}),
    ("clusters", {"masters": "5%", "euler": True}), ("clusters", {"masters": "50%"}),
]


def diameters() -> dict[str, int]:
    """The largest diameter over all components of every graph of the index that is one file; empty where there is
    none."""
    found = {}
    for line in INDEX.read_text(encoding="utf-8").splitlines() if INDEX.is_file() else []:
        cells = [cell.strip(" *").replace(",", "") for cell in line.strip("|").split("|")]
        if len(cells) > 5 and cells[2].isdigit() and (INDEX.parent / cells[0]).is_file():
            found[cells[0]] = max(int(re.match(r"\d+", cell).group()) for cell in cells[7:9])  # type: ignore[union-attr]
    return found


DIAMETERS = diameters()
pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(not DIAMETERS, reason="the folder of real graphs (../shared/data) is absent")]


@pytest.mark.parametrize("name", DIAMETERS)
def test_bounds_of_real_graphs(tmp_path: Path, name: str):
    store = tmp_path / "g.zarr"
    convert([INDEX.parent / name], store, options=ConvertOptions(chunk_ids=1 << 12))
    with open_store(store) as opened:
        arena = max(opened.n_arcs * 4 // 8, 64 << 12)
    for method, switches in RUNS:
        found = []
        for arena_bytes in (None, arena):
            run = make_task(method, switches=switches, memory_bytes=4 << 30, arena_bytes=arena_bytes)
            result = execute(store, run)
            assert result.lower <= DIAMETERS[name] <= result.upper, (method, switches)
            found.append((result.lower, result.upper, result.estimate))
        if switches or method != "clusters":  # auto depends on the memory
            assert found[0] == found[1], (method, switches)


@pytest.mark.parametrize(("name", "height", "iterations"), [("cnr-2000.parquet", 29, 8), ("internet.egr", 16, 8)])
def test_spanning_trees_of_real_graphs(tmp_path: Path, name: str, height: int, iterations: int):
    """They are as high as the eccentricity of their roots after so few iterations."""
    store = tmp_path / "g.zarr"
    convert([INDEX.parent / name], store)
    result = execute(store, make_task("spanning", switches={"iterations": iterations}))
    assert result.details["heights"][-1] == height and result.estimate == 2 * height
