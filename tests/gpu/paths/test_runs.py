"""emdiam sssp and apsp on a device: the textbook's distances, and what is said where there is no device."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from click.testing import CliRunner

import emdiam
from emdiam.cli import apsp, sssp
from emdiam.errors import InputError
from emdiam.formats.weights import WeightChoice
from emdiam.gpu.paths.all_pairs import ALL_PAIRS, PairsSolver, solver_on
from emdiam.gpu.paths.registry import SEARCHES, searcher_on
from emdiam.gpu.setting import Selection
from emdiam.paths.methods import METHODS
from emdiam.runs.option import DEVICE_SEARCHES
from tests.helpers.device_paths import all_distances, dijkstra, rows_of_arcs
from tests.simt.devices import open_device

GRID = [(v, v + 1) for v in range(30)] + [(v, v + 6) for v in range(25)]
ROWS = rows_of_arcs(31, [arc for a, b in GRID for arc in ((a, b, 1), (b, a, 1))], None)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Where a GPU is asked for, the shim."""
    made = open_device("shim-1")
    monkeypatch.setattr("emdiam.gpu.cupy_device.find_devices", lambda text: (made,))
    return made


def run(*arguments: str) -> Any:
    """The command's result."""
    return CliRunner().invoke(sssp.command, [*arguments, "--quiet"])


def test_the_command_and_the_function(device: Any, tmp_path: Path) -> None:
    store = str(tmp_path / "g.zarr")
    emdiam.convert(np.array(GRID), store)
    want = dijkstra(ROWS, 3)
    for method in ("auto", "harish-edges", "h-bf", "delta-stepping-pairs"):
        found = emdiam.shortest_paths(store, 3, target=29, method=method, device="gpu")
        assert found.distances is not None and found.distances.tolist() == want.tolist()
        assert found.distance == want[29] and found.path is not None and len(found.path) == want[29] + 1
        assert found.device == device.name
        assert found.method == ("near-far" if method == "auto" else method)
    done = run(store, "--source", "3", "--device", "gpu", "--method", "near-far", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["device"] == device.name
    done = run(store, "--source", "3", "--device", "gpu")
    assert f"method: near-far on {device.name}; every edge has the length 1" in done.stdout


def test_a_method_of_a_gpu_needs_one(tmp_path: Path) -> None:
    store = str(tmp_path / "g.zarr")
    emdiam.convert(np.array(GRID), store)
    done = run(store, "--source", "3", "--method", "harish")
    assert isinstance(done.exception, InputError) and "is for a GPU alone: 'harish'; give" in str(done.exception)
    with pytest.raises(InputError, match="is for a GPU alone: .harish.; give device=.gpu."):
        emdiam.shortest_paths(store, 3, method="harish")


def test_the_command_names_every_search() -> None:
    assert set(DEVICE_SEARCHES) == set(SEARCHES) - set(METHODS)
    assert {"delta-stepping", "sorted-buckets", "near-far", "workfront-sweep", "h-bf"} == set(SEARCHES) & set(METHODS)


@pytest.mark.parametrize("method", ["auto", *ALL_PAIRS])
def test_all_pairs_by_the_command(device: Any, tmp_path: Path, method: str) -> None:
    store, out = str(tmp_path / "g.zarr"), str(tmp_path / "d.zarr")
    emdiam.convert(np.array(GRID), store)
    want = all_distances(ROWS)
    assert want is not None
    done = CliRunner().invoke(apsp.command, [store, "--out", out, "--device", "gpu", "--method", method, "--json",
                                             "--quiet"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["device"] == device.name and told["largest_distance"] == want.max()
    assert told["method"] == ("blocked" if method == "auto" else method)
    assert np.array_equal(zarr.open_group(out)["distances"][:], want)


@pytest.mark.parametrize("method", ["lazy-minimum", "recursive", "harish"])
def test_all_pairs_along_weights_and_arcs(device: Any, tmp_path: Path, method: str) -> None:
    """Streamed, and by searches: the matrix that the processors find, with negative weights, floats and decimals."""
    arcs = "".join(f"{v} {(v * 7 + k) % 40} {{}}\n" for v in range(40) for k in (1, 5, 11))
    for name, weight in (("ints", "3"), ("decimals", "0.25"), ("negative", "-1")):
        store, text = tmp_path / f"{name}.zarr", tmp_path / f"{name}.txt"
        lines = arcs.splitlines()
        if name == "negative":  # only downwards, so that there is no cycle
            lines = [line for line in lines if int(line.split()[0]) > int(line.split()[1])]
        text.write_text("\n".join(line.format(weight) for line in lines))
        emdiam.convert(text, store, directed=True, weights=WeightChoice(negative=True))
        found = [CliRunner().invoke(apsp.command, [
            str(store), "--out", str(tmp_path / f"{name}-{run}"), "--device", run, "--method",
            method if run == "gpu" else "floyd-warshall", "--json", "--quiet"]) for run in ("cpu", "gpu")]
        told = [json.loads(one.stdout) for one in found]
        same = ("largest_distance", "unreachable_pairs", "dtype", "directed", "weighted")
        assert [told[0][key] for key in same] == [told[1][key] for key in same] and told[1]["method"] == method
        matrices = [zarr.open_group(str(tmp_path / f"{name}-{run}"))["distances"][:] for run in ("cpu", "gpu")]
        assert np.array_equal(*matrices)


def test_all_pairs_refuses_what_a_device_has_not(device: Any, tmp_path: Path) -> None:
    store, out = str(tmp_path / "g.zarr"), str(tmp_path / "d.zarr")
    emdiam.convert(np.array(GRID), store)
    done = CliRunner().invoke(apsp.command, [store, "--out", out, "--device", "gpu", "--method", "johnson", "--quiet"])
    assert isinstance(done.exception, InputError) and "no such method for all pairs on" in str(done.exception)
    matrix = np.zeros((64, 64), np.int32)
    for total in (1 << 10,):
        with pytest.raises(InputError, match="blocked on a matrix of 64 x 64 distances takes"):
            PairsSolver(open_device("shim-0", total=total)).solve(matrix, "blocked", None)
    with pytest.raises(InputError, match="a matrix is solved on one GPU"):
        solver_on(Selection(device, others=(device,)))
    assert solver_on(Selection(None)) is None


def test_a_search_is_for_one_device() -> None:
    one, other = open_device("shim-0"), open_device("shim-1")
    with pytest.raises(InputError, match="a search from one source runs on one GPU"):
        searcher_on(Selection(one, others=(other,)))
    assert searcher_on(Selection(None)) is None
