"""Runs on stores: plans and refusals, files that are whole or not there, results."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import zarr

import emdiam
from emdiam.errors import BudgetError, InputError, StoppedEarly, StoreError
from emdiam.paths.negative_cycle import NegativeCycle
from emdiam.paths.pairs.arcs import StoreArcs, lengths_for, lengths_of
from emdiam.paths.pairs.matrix import open_matrix
from emdiam.paths.pairs.methods import AUTO, METHODS
from emdiam.paths.pairs.plan import DISK, MEMORY, STRIPS, Budget, Pairs, plan_pairs
from emdiam.paths.rows import WeightedRows
from emdiam.progress import Event
from emdiam.store.store import open_store
from tests.conftest import Run
from tests.helpers.pairs_ways import pairs
from tests.helpers.stores import odd_graphs, write_store
from tests.helpers.waiting import PATIENCE
from tests.helpers.weighted_stores import make_weighted_store, some_weighted_graph

MIB = 1 << 20


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    """A store of 270 vertices."""
    return write_store(tmp_path / "mesh.zarr", odd_graphs()["mesh"])


def task(n: int, n_arcs: int, *, unit: bool = True) -> Pairs:
    """What is planned for a graph of these sizes, whose arcs nobody asks for."""
    arcs = SimpleNamespace(n_vertices=n, n_arcs=n_arcs, unit=unit, nbytes=32, rows_bytes=0, piece_bytes=0)
    return Pairs(cast("StoreArcs", arcs), lengths_for(n, floats=False, negative=False), False)


def test_weights_and_result(tmp_path: Path) -> None:
    edges = {pair: abs(int(weight)) for pair, weight in some_weighted_graph("uint8").items()}
    store = make_weighted_store(tmp_path / "g.zarr", edges, n_vertices=40)
    whole = emdiam.all_pairs(store)
    rows = WeightedRows.from_store(open_store(store))
    found, about = pairs(rows, "blocked", "memory")
    assert whole.distances is not None and whole.weighted and not whole.directed and whole.ids == list(range(40))
    there = whole.distances != whole.unreachable
    np.testing.assert_array_equal(np.where(there, whole.distances, np.inf), found)
    assert (whole.largest_distance, whole.unreachable_pairs) == (about.largest, about.unreachable)
    written = emdiam.all_pairs(store, out=tmp_path / "m.zarr")
    assert (written.distances, written.out) == (None, str(tmp_path / "m.zarr"))
    matrix = written.open()
    np.testing.assert_array_equal(matrix.distances[:], whole.distances)
    assert matrix.record.largest_distance == about.largest and "distances" not in written.to_dict()


def test_directions_and_weights(tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text("1 2 5\n2 3 7\n3 1 1\n4 1 2\n")
    emdiam.convert(tmp_path / "e.txt", tmp_path / "g.zarr", directed=True, weights=True)
    result = emdiam.all_pairs(tmp_path / "g.zarr", out=tmp_path / "m.zarr")
    far = result.unreachable
    assert result.directed and result.weighted and (result.largest_distance, result.unreachable_pairs) == (14, 3)
    assert result.open().distances[:].tolist() == [[0, 5, 12, far], [8, 0, 7, far], [1, 6, 0, far], [2, 7, 14, 0]]


def test_string_ids_and_python_graphs(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("source,target\nb,a\nb,c\n")
    emdiam.convert(tmp_path / "e.csv", tmp_path / "g.zarr")
    emdiam.all_pairs(tmp_path / "g.zarr", out=tmp_path / "m.zarr", method="blocked")
    matrix = open_matrix(tmp_path / "m.zarr")
    assert matrix.ids == ["a", "b", "c"] and matrix.distances[0].tolist() == [0, 1, 2]
    assert emdiam.all_pairs([(5, 9), (9, 7)]).ids == [5, 7, 9]


def test_tiles_on_disk_at_half_the_memory_are_the_same_matrix(tmp_path: Path) -> None:
    """Planned for a budget with half of the matrix beside the program."""
    store = tmp_path / "g.zarr"
    emdiam.generate("erdos-renyi", store, vertices=2500, average_degree=8, seed=1)
    with open_store(store) as opened:
        arcs = StoreArcs(opened)
        lengths, _ = lengths_of(arcs)
        half = Budget(100 * MIB + 2500 * 2500 * 2, 100 * MIB, 2, tmp_path / "m.zarr")
        plan = plan_pairs(Pairs(arcs, lengths, False), "blocked", half)
        assert plan.where == DISK and plan.tiles > 4 and plan.planned_rss_bytes <= half.memory_bytes
    # The program takes more or less here or there: memory that is enough for tiles of some size, and not for all.
    least = emdiam.all_pairs(store, method="blocked").planned_rss_bytes
    assert least is not None
    written = emdiam.all_pairs(store, out=tmp_path / "m.zarr", method="blocked", memory=least - 12 * MIB)
    assert written.where == "disk" and written.tiles > 1 and written.details["tiles_written"] >= written.tiles
    np.testing.assert_array_equal(written.open().distances[:], emdiam.all_pairs(store, method="blocked").distances)


def test_plans(tmp_path: Path) -> None:
    base = Budget(8 << 30, 200 * MIB, 2, tmp_path / "m.zarr")
    assert plan_pairs(task(10_000, 40_000), AUTO, base).method == "harish"
    assert plan_pairs(task(10_000, 40_000, unit=False), AUTO, base).method == "johnson"
    assert plan_pairs(task(10_000, 50_000_000), AUTO, base).method == "blocked"
    assert plan_pairs(task(10_000, 40_000), "blocked", base).where == MEMORY
    assert plan_pairs(task(60_000, 40_000), "blocked", base).where == DISK
    assert plan_pairs(task(60_000, 40_000), "harish", base).where == STRIPS


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("to_file", [False, True])
def test_what_works_with_the_least_memory_works_with_more(method: str, to_file: bool, tmp_path: Path) -> None:
    """A plan may take more where there is more, and never more than there is."""
    for n in (1, 5, 64, 300, 1024, 1500, 3000, 20_000):
        def planned(memory: int, n: int = n) -> Any:
            out = tmp_path / "m.zarr" if to_file else None
            return plan_pairs(task(n, 3 * n), method, Budget(memory, 200 * MIB, 2, out))

        with pytest.raises(BudgetError) as refusal:
            planned(MIB)
        least = int(re.findall(r"--memory (\d+)MiB", str(refusal.value))[0]) * MIB
        for more in (0, 1, 1 << 16, MIB, 3 * MIB, 10 * MIB, 50 * MIB, 1 << 30):
            assert planned(least + more).planned_rss_bytes <= least + more, (n, more)


def test_refusals_have_numbers_and_a_remedy(tmp_path: Path, mesh: Path) -> None:
    base = Budget(300 * MIB, 200 * MIB, 2, tmp_path / "m.zarr")
    for method in ("single-kernel", "floyd-warshall"):
        with pytest.raises(BudgetError, match=r"the least is .* GiB.*--method blocked"):
            plan_pairs(task(20_000, 40_000), method, base)
    with pytest.raises(BudgetError, match="name a file for the matrix"):
        plan_pairs(task(20_000, 40_000), "blocked", Budget(300 * MIB, 200 * MIB, 2))
    with pytest.raises(BudgetError, match=r"TiB on disk, and .* free; use emdiam exact .* ecc .* distances"):
        plan_pairs(task(5_000_000, 10_000_000), AUTO, base)
    with pytest.raises(BudgetError, match=r"at least, more than 24 h 00 min; use emdiam exact"):
        plan_pairs(task(500_000, 10**11), "blocked", base)
    with pytest.raises(BudgetError, match=r"at least, more than 1 s; use"):
        plan_pairs(task(20_000, 40_000), "blocked", Budget(300 * MIB, 200 * MIB, 2, None, 1.0))
    with pytest.raises(InputError, match="no such method of all pairs.*did you mean 'blocked'"):
        emdiam.all_pairs(mesh, method="bloked")
    with pytest.raises(BudgetError, match="too small for distances between 270 vertices: the least is"):
        emdiam.all_pairs(mesh, memory=50 * MIB)
    with pytest.raises(BudgetError, match=r"separators need .* parts with .* vertices between them"):
        METHODS["separators"].work(WeightedRows.from_edges(400, range(399), range(1, 400)), lengths_for(
            400, floats=False, negative=False), None, None, 1)
    with pytest.raises(InputError, match="no vertices"):
        emdiam.all_pairs(write_store(tmp_path / "none.zarr", []))
    with pytest.raises(TypeError, match="there is no option speed"):
        emdiam.all_pairs(mesh, speed=3)  # type: ignore[call-arg]


def test_distances_that_do_not_fit(tmp_path: Path) -> None:
    for floats, bound in ((True, 1e308 * 10), (False, 1 << 62)):
        with pytest.raises(OverflowError, match="may not fit 64 bits"):
            lengths_for(bound, floats=floats, negative=False)
    assert lengths_for((1 << 30) - 2, floats=False, negative=False).dtype == np.int32
    assert lengths_for((1 << 30) - 1, floats=False, negative=False).dtype == np.int64
    assert lengths_for(1 << 28, floats=False, negative=True).dtype == np.int64
    store = make_weighted_store(tmp_path / "g.zarr", {(0, 1): 1.7e308, (1, 2): 1.7e308}, n_vertices=3, dtype="float64")
    with pytest.raises(InputError, match=r"may not fit 64 bits; divide the weights"):
        emdiam.all_pairs(store)


def test_a_negative_cycle_is_shown(tmp_path: Path) -> None:
    store = make_weighted_store(tmp_path / "g.zarr", {(0, 1): 4, (1, 2): -3}, n_vertices=3, dtype="int32")
    for method in METHODS:
        with pytest.raises(NegativeCycle, match="-6") as caught:
            emdiam.all_pairs(store, method=method, out=tmp_path / "m.zarr")
        assert set(caught.value.cycle) == {1, 2} and caught.value.weight == -6
        assert not (tmp_path / "m.zarr").exists()


def test_what_does_not_open(tmp_path: Path, mesh: Path) -> None:
    with pytest.raises(StoreError, match="there is no matrix"):
        open_matrix(tmp_path / "nothing.zarr")
    with pytest.raises(StoreError, match="no matrix of distances"):
        open_matrix(mesh)
    out = tmp_path / "m.zarr"
    emdiam.all_pairs(mesh, out=out)
    with pytest.raises(InputError, match="exists"):
        emdiam.all_pairs(mesh, out=out)
    emdiam.all_pairs(mesh, out=out, force=True, method="recursive")
    whole = (out / "zarr.json").read_text()
    for old, new, why in ((':270', ':271', "digest"), ('"format_version":1', '"format_version":2', "upgrade"),
                          ('"emdiam_all_pairs"', '"other"', "no matrix")):
        compact = json.dumps(json.loads(whole), separators=(",", ":"))
        assert old in compact
        (out / "zarr.json").write_text(compact.replace(old, new))
        with pytest.raises(StoreError, match=why):
            open_matrix(out)
    (out / "zarr.json").write_text(whole)
    chunk = out / "distances" / "c" / "0" / "0"
    data = bytearray(chunk.read_bytes())
    data[100] ^= 1
    chunk.write_bytes(data)
    with pytest.raises(ValueError, match="checksum"):
        open_matrix(out).distances[:]
    chunk.unlink()
    with pytest.raises(StoreError, match="1 of 1 chunks are missing"):
        open_matrix(out)


def test_a_stopped_run_leaves_nothing(tmp_path: Path, mesh: Path) -> None:
    def interrupt(event: Event) -> None:
        if event.phase == "solve":
            raise KeyboardInterrupt

    for method in ("blocked", "johnson"):
        with pytest.raises(StoppedEarly, match="nothing was kept"):
            emdiam.all_pairs(mesh, out=tmp_path / "m.zarr", method=method, progress=interrupt)
    with pytest.raises(StoppedEarly, match="time limit is over"):
        emdiam.all_pairs(mesh, out=tmp_path / "m.zarr", method="harish", time_limit=1e-4)
    assert [path.name for path in tmp_path.iterdir()] == ["mesh.zarr"]


def test_a_killed_run_leaves_nothing_that_opens(tmp_path: Path, mesh: Path) -> None:
    """Killed as soon as something is there; the next run takes its place."""
    code = ("import emdiam, sys, os, signal\n"
            "def listen(event):\n"
            "    if event.phase == 'write':\n"
            "        os.kill(os.getpid(), signal.SIGKILL)\n"
            "emdiam.all_pairs('mesh.zarr', out='m.zarr', method='blocked', progress=listen)\n")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, timeout=PATIENCE, check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "m.zarr.partial").is_dir() and not (tmp_path / "m.zarr").exists()
    with pytest.raises(StoreError, match="an unfinished matrix"):
        open_matrix(tmp_path / "m.zarr.partial")
    emdiam.all_pairs(mesh, out=tmp_path / "m.zarr")
    assert open_matrix(tmp_path / "m.zarr").record.largest_distance == 31
    assert not (tmp_path / "m.zarr.partial").exists()


def test_command(tmp_path: Path, command: Run) -> None:
    write_store(tmp_path / "mesh.zarr", odd_graphs()["two-paths"])
    done = command("apsp", "mesh.zarr", "--out", "m.zarr", "--json", "--quiet", "--memory", "4GiB")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {name: told[name] for name in ("method", "n_vertices", "largest_distance", "tiles", "out")} == {
        "method": "blocked", "n_vertices": 50, "largest_distance": 29, "tiles": 1, "out": "m.zarr"}
    assert told["unreachable_pairs"] == 2 * 20 * 30
    text = command("apsp", "mesh.zarr", "--out", "m.zarr", "--force", "--method", "blocked", "--quiet")
    assert "largest distance: 29\npairs: 1,250 with a path, 1,200 without\n" in text.stdout
    assert zarr.open_group(str(tmp_path / "m.zarr"))["distances"].shape == (50, 50)
    again = command("apsp", "mesh.zarr", "--out", "m.zarr", "--quiet")
    assert again.returncode == 2 and "exists" in again.stderr


@pytest.mark.slow
def test_separators_name_a_budget_that_does(tmp_path: Path) -> None:
    """Nobody knows before they are found how large they are."""
    store, out = tmp_path / "g.zarr", tmp_path / "m.zarr"
    emdiam.generate("grid", store, sides="90x90")
    def refused(memory: int) -> tuple[str, int]:
        with pytest.raises(BudgetError) as error:
            emdiam.all_pairs(store, method="separators", out=out, memory=memory * MIB)
        said = str(error.value)
        return said, int(re.search(r"give at least memory=\"(\d+)MiB", said)[1])  # type: ignore[index]

    said, works = refused(50)
    least = round(float(re.search(r"the least is ([0-9.]+) MiB", said)[1]))  # type: ignore[index]
    assert "without small separators" in said and works > least + 100
    said, enough = refused(least + 16)
    assert "separators need" in said and enough < works
    for memory in (enough, works):
        assert emdiam.all_pairs(store, method="separators", out=out, force=True,
                                memory=(memory + 32) * MIB).largest_distance == 178
