"""`emdiam generate levels` and `worst-case` from the command line to a store, and their refusals."""

from __future__ import annotations

import json

import pytest

from emdiam.cli.main import group
from emdiam.cli.outcome import run


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Run a command line in tmp_path: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def answer(*arguments):
        capsys.readouterr()
        return run(group, list(arguments)), *capsys.readouterr()

    return answer


@pytest.mark.parametrize("levels,n_levels", [("sqrt", 64), ("linear", 1024), ("2^4", 16)])
def test_levels(call, levels, n_levels):
    code, out, err = call("generate", "levels", "g.zarr", "--vertices", "2^12", "--levels", levels, "--json", "--quiet")
    assert code == 0, err
    report = json.loads(out)
    assert f"levels={n_levels}, " in report["description"] and "layout=random" in report["description"]
    assert report["record"]["n_vertices"] == 4096 and report["known_diameter"] is None
    assert report["record"]["n_edges"] == report["pairs_read"] >= 4095  # no loop and no repeated pair
    code, out, err = call("exact", "g.zarr", "--json", "--quiet")
    assert code == 0, err
    assert n_levels - 1 <= json.loads(out)["diameter"] <= 2 * (n_levels - 1)


@pytest.mark.parametrize("layout", ["random", "natural"])
def test_worst_case(call, layout):
    code, out, err = call("generate", "worst-case", "g.zarr", "--fans", "10,20,30", "--layout", layout, "--json",
                          "--quiet")
    assert code == 0, err
    report = json.loads(out)
    assert (report["record"]["n_vertices"], report["record"]["n_edges"]) == (900, 899)
    assert report["known_diameter"] == 49
    code, out, err = call("exact", "g.zarr", "--json", "--quiet")
    assert code == 0 and json.loads(out)["diameter"] == 49, err


@pytest.mark.parametrize("arguments,message", [
    (("levels", "g.zarr", "--vertices", "10", "--levels", "0"), "levels must be at least 1"),
    (("levels", "g.zarr", "--vertices", "10", "--levels", "11"), "10 vertices can be in 2 to 10 levels"),
    (("levels", "g.zarr", "--vertices", "10", "--levels", "root"), "levels is sqrt, linear or a whole number"),
    (("levels", "g.zarr", "--vertices", "10", "--layout", "none"), "--layout"),
    (("worst-case", "g.zarr", "--fans", "10,100,5k"), "two or three whole numbers"),
    (("worst-case", "g.zarr", "--fans", "10,-100,5"), "at least 1"),
    (("worst-case", "g.zarr"), "needs its size"),
])
def test_refusals(call, tmp_path, arguments, message):
    code, out, err = call("generate", *arguments)
    assert (code, out) == (2, "") and message in err
    assert list(tmp_path.iterdir()) == []
