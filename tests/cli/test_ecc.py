"""`emdiam ecc`: its answer, its file, and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet
import pytest

from emdiam.durable import write_whole
from emdiam.methods.eccentricity import eccentricities as module
from tests.cli.test_commands import call, parsed  # noqa: F401 - call is a fixture

CONTRACT = {"n_vertices", "n_edges", "connected", "n_components", "radius", "diameter", "diameter_largest_component",
            "diameter_max_component", "center", "periphery", "histogram", "exact", "unresolved", "traversals",
            "memory_limit_bytes", "planned_rss_bytes", "peak_rss_bytes", "seconds", "version", "store_digest"}


@pytest.fixture
def grid(call) -> str:  # noqa: F811
    """A store of the grid of 4 by 7."""
    assert call("generate", "grid", "g.zarr", "--sides", "4x7", "--quiet")[0] == 0
    return "g.zarr"


def test_answer(call, grid: str):  # noqa: F811
    result = parsed(call("ecc", grid, "--json", "--quiet"))
    assert CONTRACT <= result.keys()
    assert (result["radius"], result["diameter"], result["exact"], result["unresolved"]) == (5, 9, True, 0)
    assert result["center"] == {"size": 2, "ids": [10, 17]}
    assert result["periphery"] == {"size": 4, "ids": [0, 6, 21, 27]}
    assert result["histogram"] == {"5": 2, "6": 6, "7": 8, "8": 8, "9": 4}
    assert result["traversals"].keys() == {"bfs", "multi_source", "multi_source_sources", "partial"}
    code, out, _ = call("ecc", grid, "--quiet")
    assert code == 0 and out.splitlines()[:4] == [
        "radius: 5 (proved)", "centre: 2 vertices: 10, 17", "diameter: 9 (proved)",
        "periphery: 4 vertices: 0, 6, 21, 27"]


def test_radius_and_centre(call, grid: str):  # noqa: F811
    radius = parsed(call("ecc", grid, "--radius", "--json", "--quiet"))
    assert (radius["radius"], radius["center"], radius["diameter"], radius["histogram"]) == (5, None, None, {})
    centre = parsed(call("ecc", grid, "--center", "--json", "--quiet"))
    assert centre["center"] == {"size": 2, "ids": [10, 17]} and centre["periphery"] is None
    assert call("ecc", grid, "--radius", "--quiet")[1].splitlines()[0] == "radius: 5 (proved)"


def test_components(call):  # noqa: F811
    write_whole("e.txt", "1 2\n2 3\n8 9\n")
    assert call("convert", "e.txt", "e.zarr", "--quiet")[0] == 0
    result = parsed(call("ecc", "e.zarr", "--json", "--quiet", "--out", "e.parquet"))
    assert (result["radius"], result["diameter"], result["diameter_max_component"]) == (1, None, 2)
    assert result["center"]["ids"] == [2] and result["out"] == "e.parquet"
    rows = pyarrow.parquet.read_table("e.parquet").to_pydict()
    assert rows["id"] == [1, 2, 3, 8, 9] and rows["eccentricity"] == [2, 1, 2, 1, 1]
    assert len(set(rows["component"][:3])) == 1 and rows["component"][3] == rows["component"][4] in (8, 9)
    assert call("ecc", "e.zarr", "--quiet", "--require-connected")[0] == 2
    assert "infinite (2 components)" in call("ecc", "e.zarr", "--quiet")[1]


def test_a_run_that_is_stopped_says_what_is_proved(call, grid: str, monkeypatch: pytest.MonkeyPatch):  # noqa: F811
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.AllEccentricities, "traverse", stop)
    code, out, err = call("ecc", grid, "--json", "--quiet", "--out", "e.parquet")
    result = json.loads(out)
    assert (code, result["exact"], result["radius"]) == (3, False, None) and 0 < result["unresolved"] <= 28
    assert "stopped by the user" in err
    assert pyarrow.parquet.read_table("e.parquet").column_names == ["id", "lower", "upper", "component"]
    lines = call("ecc", grid, "--quiet")[1].splitlines()
    assert lines[0] == "radius: not proved" and lines[1].startswith("diameter: ")
    assert lines[1].endswith(f"{result['lower']} <= D <= {result['upper']} (proved bounds)")


def test_a_run_goes_on_from_its_checkpoint(call, grid: str, monkeypatch: pytest.MonkeyPatch):  # noqa: F811
    whole = parsed(call("ecc", grid, "--json", "--quiet"))
    real, left = module.AllEccentricities.traverse, [2]

    def few(self, *args):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        real(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(module.AllEccentricities, "traverse", few)
        assert call("ecc", grid, "--json", "--quiet", "--checkpoint", "ck")[0] == 3
    again = parsed(call("ecc", grid, "--json", "--quiet", "--checkpoint", "ck", "--resume"))
    assert again["details"]["checkpoint"]["resumed"] > 2 and not Path("ck").exists()
    for name in ("radius", "histogram", "center", "periphery", "traversals", "sources"):
        assert again[name] == whole[name]


def test_a_file_that_cannot_be_written(call, grid: str):  # noqa: F811
    assert call("ecc", grid, "--quiet", "--out", "missing/e.parquet")[0] == 2
