"""`emdiam approx` and `emdiam plan` for it, end to end; numbers of masters; emdiam.approximate."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import pytest

import emdiam as package
from emdiam.cli.approx import COLUMNS, approximation_text, hint_lines, row_of, runs_text
from emdiam.errors import BudgetError, InputError, StoppedEarly
from emdiam.methods.approx.masters import one_item, parse_masters, resolve_masters
from emdiam.methods.result import Approximation
from emdiam.runs.plan import exact_instead, plan_one
from emdiam.runs.registry import APPROXIMATIONS
from emdiam.runs.task import execute, make_task
from emdiam.store.store import open_store
from emdiam.tables import csv_text
from tests.cli.test_commands import call, parsed, store  # noqa: F401 - call and store are fixtures
from tests.cli.test_text import result as exact_result
from tests.helpers.stores import odd_graphs, write_store

BY_BFS = ("sweep", "fringe")
BAD_MASTERS = ["0", "-1", "2^99", "2^63", "ten", "10%%", "0%", "101%", "%", "-5%", "1.5", "", "8,", ",8", "8,,9",
               "2^8,teh", "nan", "1e400", "2^8;2^9"]


@pytest.fixture
def torus(call) -> str:  # noqa: F811
    """A store of the torus of 12 by 20, diameter 16."""
    assert call("generate", "torus", "torus.zarr", "--sides", "12x20", "--quiet")[0] == 0
    return "torus.zarr"


def answer(call: Any, *arguments: str) -> dict[str, Any]:  # noqa: F811
    return parsed(call("approx", *arguments, "--json", "--quiet"))


# -- numbers of masters ---------------------------------------------------------------------------
def test_masters_are_counts_shares_and_auto():
    assert parse_masters("2^10, 1e6 ,10%,AUTO,7") == [1024, 10**6, "10%", "auto", 7]
    assert parse_masters("auto") == ["auto"] and one_item("12.5 %") == "12.5 %"
    assert parse_masters(str(2**63 - 1)) == [2**63 - 1]
    with pytest.raises(InputError, match="only be one number"):
        one_item("1,2")


@pytest.mark.parametrize("text", BAD_MASTERS)
def test_bad_masters_are_sentences(text: str):
    with pytest.raises(InputError, match=r"(; write it like 2\^20, 10% or auto|2\^63 - 1|whole)"):
        parse_masters(text)


@pytest.mark.parametrize(("item", "n", "count"), [
    (5, 9, 5), ("2^3", 8, 8), ("10%", 30, 3), ("10%", 31, 4), ("0.001%", 30, 1), ("100%", 7, 7), ("33.3%", 1000, 333),
    (" 4 ", 4, 4), ("0.7%", 1000, 7)])
def test_what_masters_mean_for_a_graph(item: int | str, n: int, count: int):
    assert resolve_masters(item, n) == count


@pytest.mark.parametrize("item", [10, "10", 0, -3, "0", "2^99"])
def test_masters_that_a_graph_cannot_have(item: int | str):
    with pytest.raises(InputError):
        resolve_masters(item, 9)


def test_auto_is_not_a_number():
    with pytest.raises(ValueError):
        resolve_masters("auto", 9)


# -- the command ----------------------------------------------------------------------------------
@pytest.mark.parametrize("method", APPROXIMATIONS)
def test_every_method_keeps_the_contract(call, torus: str, method: str):  # noqa: F811
    result = answer(call, torus, "--method", method, "--known-diameter", "16")
    names = {field.name for field in fields(Approximation)} - {"proof", "history"}
    assert set(result) == names | {"memory_limit_exceeded"}
    assert result["method"] == method and result["lower"] <= 16 <= result["upper"]
    assert result["connected"] and result["n_components"] == 1
    assert result["ratio"] == pytest.approx(result["estimate"] / 16)
    assert result["witness"]["length"] == result["lower"] and result["witness"]["path"] is None
    assert result["planned_rss_bytes"] <= result["memory_limit_bytes"]
    assert len(result["store_digest"]) == 32 and result["seconds"]["total"] > 0
    assert result["details"]["counters"]["passes"] > 0 and result["details"]["stage_seconds"]


@pytest.mark.parametrize("method", APPROXIMATIONS)
def test_two_components(call, store: str, method: str):  # noqa: F811
    result = answer(call, store, "--method", method)
    assert (result["connected"], result["n_components"], result["diameter"]) == (False, 2, None)
    assert result["lower"] <= 4 <= result["upper"]
    if result["witness"] is not None:
        assert {result["witness"]["source"], result["witness"]["target"]} <= set(range(10, 15))
    code, out, _ = call("approx", store, "--method", method, "--quiet")
    assert code == 0
    heads = [line.partition(": ")[0] for line in out.splitlines()]
    assert out.startswith("diameter: infinite (2 components)\n") and "method's estimate" in heads
    assert heads[1:3] == ["largest diameter of any component", "diameter of the largest component"]


def test_sweep_of_a_path_is_exact(call):  # noqa: F811
    assert call("generate", "path", "p.zarr", "--vertices", "100", "--quiet")[0] == 0
    result = answer(call, "p.zarr", "--method", "sweep")
    assert (result["exact"], result["diameter"], result["ratio"], result["seed"]) == (True, 99, 1.0, 0)
    code, out, _ = call("approx", "p.zarr", "--method", "sweep", "--quiet")
    assert code == 0
    assert out.splitlines()[:4] == ["diameter: 99 (proved)", "connected: yes",
                                    "witness: 99 and 0 are at least 99 edges apart (checked)",
                                    "method's estimate: 99 (sweep: the lower bound)"]
    assert "ratio: 1.0000 (estimate / 99)" in out.splitlines()


def test_options_reach_the_method(call, torus: str):  # noqa: F811
    one = answer(call, torus, "--method", "sweep")
    many = answer(call, torus, "--method", "sweep", "--iterations", "5", "--seed", "3")
    assert (one["details"]["iterations"], many["details"]["iterations"], many["seed"]) == (1, 5, 3)
    assert many["traversals"]["bfs"] == 10 > one["traversals"]["bfs"]
    assert answer(call, torus, "--method", "fringe", "--iterations", "2")["traversals"]["bfs"] <= 8


@pytest.mark.parametrize("method", BY_BFS)
def test_a_reordered_store_gives_the_same(call, method: str):  # noqa: F811
    assert call("generate", "delaunay", "g.zarr", "--vertices", "2^9", "--seed", "2", "--quiet")[0] == 0
    assert call("reorder", "g.zarr", "h.zarr", "--order", "degree", "--quiet")[0] == 0
    plain, found = (answer(call, name, "--method", method, "--iterations", "4") for name in ("g.zarr", "h.zarr"))
    for field in ("lower", "upper", "estimate", "witness", "traversals"):
        assert found[field] == plain[field], field


def test_clusters_is_the_default(call, torus: str):  # noqa: F811
    result = answer(call, torus)
    assert result["method"] == "clusters" and result["masters"] >= 1
    assert 1 <= result["condensed"]["n_vertices"] == result["masters"] <= 240
    assert 0 <= result["max_master_distance"] <= 16
    assert answer(call, torus, "--masters", "100%", "--seed", "5")["masters"] == 240


def test_several_masters_are_several_runs(call, torus: str):  # noqa: F811
    given = ("--masters", "2^3,10%,240", "--known-diameter", "16")
    runs = answer(call, torus, *given)["runs"]
    assert len(runs) == 3 and runs[2]["masters"] == 240
    code, out, _ = call("approx", torus, *given, "--csv", "--quiet")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [list(row) for row in rows] == [list(COLUMNS)] * 3
    assert [int(row["estimate"]) for row in rows] == [run["estimate"] for run in runs]
    assert rows[2]["masters"] == "240" and float(rows[2]["ratio"]) == runs[2]["ratio"]
    code, out, _ = call("approx", torus, *given, "--quiet")
    assert code == 0 and out.splitlines()[0].split() == [
        "masters", "lower", "upper", "method's", "estimate", "ratio", "rounds", "passes", "bytes", "read", "time"]
    assert [line.split()[1:3] for line in out.splitlines()[1:]] == [
        [str(run["lower"]), str(run["upper"])] for run in runs]
    assert len(out.splitlines()) == 4


@pytest.mark.parametrize("text", BAD_MASTERS)
def test_bad_masters_leave_with_2(call, torus: str, text: str):  # noqa: F811
    code, out, err = call("approx", torus, "--masters", text)
    assert (code, out) == (2, "")
    assert err.startswith("emdiam: ") and err.count("\n") == 1


def test_too_many_masters_are_told_before_the_first_run(call, torus: str):  # noqa: F811
    code, out, err = call("approx", torus, "--masters", "8,241")
    assert (code, out) == (2, "")
    assert err == ("emdiam: there cannot be 241 masters in a graph of 240 vertices;"
                   " ask for fewer, or for a share like 10%\n")


@pytest.mark.parametrize(("method", "more", "name"), [
    ("sweep", ["--masters", "8"], "masters"), ("fringe", ["--euler"], "euler"), ("sweep", ["--levels", "2"], "levels"),
    ("clusters", ["--iterations", "2"], "iterations"),
])
def test_an_option_of_another_method_is_refused(call, torus: str, method: str, more: list[str],  # noqa: F811
                                                name: str):
    code, out, err = call("approx", torus, "--method", method, *more)
    assert (code, out) == (2, "")
    assert f"method {method} has no option: '--{name}'" in err


@pytest.mark.parametrize("arguments", [
    ["--method", "magic"], ["--iterations", "-1"], ["--method", "sweep", "--iterations", "0"], ["--seed", "-1"],
    ["--json", "--csv"], ["--memory", "1MiB", "--method", "sweep"], ["--known-diameter", "long"], ["--threads", "0"],
])
def test_options_that_cannot_be(call, torus: str, arguments: list[str]):  # noqa: F811
    code, out, err = call("approx", torus, *arguments)
    assert (code, '"error"' in out) == (2, "--json" in arguments) and err


def test_stores_that_cannot_be(call, tmp_path: Path):  # noqa: F811
    assert call("approx", "absent.zarr", "--method", "sweep")[0] == 2
    write_store(tmp_path / "empty.zarr", [])
    code, out, err = call("approx", "empty.zarr", "--method", "sweep", "--quiet")
    assert (code, out) == (2, "") and "no vertices" in err


@pytest.mark.parametrize("method", APPROXIMATIONS)
def test_no_edges(call, tmp_path: Path, method: str):  # noqa: F811
    write_store(tmp_path / "g.zarr", odd_graphs()["no-edges"])
    result = answer(call, "g.zarr", "--method", method)
    assert (result["lower"], result["upper"], result["estimate"]) == (0, 0, 0)
    assert (result["exact"], result["n_components"], result["ratio"]) == (True, 7, None)
    assert call("approx", "g.zarr", "--method", method, "--quiet")[0] == 0


def test_a_time_limit_leaves_with_3(call, torus: str):  # noqa: F811
    code, out, err = call("approx", torus, "--method", "sweep", "--quiet", "--time-limit", "0.001ms")
    assert code == 3 and "0 <= D <= 239" in out and "the time limit is over" in err
    assert answer(call, torus, "--method", "sweep", "--time-limit", "8h")["lower"] == 16


def test_stopped_with_an_interval(call, torus: str, monkeypatch: pytest.MonkeyPatch):  # noqa: F811
    from emdiam.engine.cpu import CpuEngine

    def press_ctrl_c(self: CpuEngine, *arguments: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(CpuEngine, "scan", press_ctrl_c)
    code, out, err = call("approx", torus, "--method", "sweep", "--quiet")
    assert code == 3 and "stopped by the user; 16 <= D <= 32 is proved" in err
    assert out.splitlines()[:3] == ["diameter: 16 <= D <= 32 (proved bounds)", "connected: yes",
                                    "method's estimate: 16 (sweep: the lower bound)"]
    code, out, _ = call("approx", torus, "--method", "sweep", "--quiet", "--csv")
    assert code == 3 and out.splitlines()[1].startswith(",16,16,32,,,")


def test_progress_names_the_bounds(call, torus: str):  # noqa: F811
    code, _, err = call("approx", torus, "--method", "fringe")
    assert code == 0 and "step 2 of 3: " in err


# -- plan -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", APPROXIMATIONS)
def test_a_plan_knows_the_approximations(call, torus: str, method: str):  # noqa: F811
    planned = parsed(call("plan", torus, "--method", method, "--json", "--quiet"))
    assert planned["phases"][0]["name"] == "open" and len(planned["phases"]) > 1
    assert planned["planned_rss_bytes"] <= planned["memory_limit_bytes"]


def test_a_plan_of_masters(call, torus: str):  # noqa: F811
    few = parsed(call("plan", torus, "--method", "clusters", "--masters", "2", "--json", "--quiet"))
    many = parsed(call("plan", torus, "--method", "clusters", "--masters", "100%", "--json", "--quiet"))
    assert sum(p["bytes"] for p in many["phases"]) > sum(p["bytes"] for p in few["phases"])
    assert call("plan", torus, "--method", "clusters", "--masters", "2,3")[0] == 2
    assert call("plan", torus, "--method", "pivots", "--masters", "2")[0] == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", [("path", "--vertices", "2^20"), ("kronecker", "--vertices", "2^18", "--seed", "1")])
def test_peaks_stay_below_the_smallest_budget(emdiam, kind: tuple[str, ...]):
    """Columns of 4 bytes on a path; trees, batches and fringes on a Kronecker graph."""
    assert emdiam("generate", kind[0], "g.zarr", *kind[1:], "--quiet").returncode == 0
    for method in BY_BFS:
        plan = emdiam("plan", "g.zarr", "--method", method, "--json", "--memory", "8GiB")
        least = json.loads(plan.stdout)["minimum_bytes"]
        for more in ([], ["--memory", str(least)]):
            done = emdiam("approx", "g.zarr", "--method", method, "--json", "--quiet", "--iterations", "4", *more)
            result = json.loads(done.stdout)
            assert result["peak_rss_bytes"] <= result["planned_rss_bytes"] <= result["memory_limit_bytes"]


# -- Python ---------------------------------------------------------------------------------------
def test_approximate_takes_what_diameter_takes(tmp_path: Path):
    names = nx.path_graph(["a", "b", "c", "d"])
    found = package.approximate(names, method="sweep", memory="2GiB")
    assert (found.lower, found.upper, found.exact) == (3, 3, True)
    assert {found.witness.source, found.witness.target} == {"a", "d"}
    path = write_store(tmp_path / "g.zarr", odd_graphs()["torus"])
    by_path = package.approximate(path, method="fringe", iterations=1, seed=4, known_diameter=8)
    assert (by_path.lower, by_path.upper, by_path.seed, by_path.ratio) == (8, 15, 4, 15 / 8)
    assert package.approximate(([0, 1], [1, 2]), method="sweep").estimate == 2


def test_approximate_by_clusters(tmp_path: Path):
    found = package.approximate(nx.cycle_graph(60), masters="50%", seed=2, scratch=tmp_path)
    assert found.lower <= 30 <= found.upper and found.masters is not None
    assert list(tmp_path.iterdir()) == []


def test_faults_of_the_library(tmp_path: Path):
    path = write_store(tmp_path / "g.zarr", odd_graphs()["torus"])
    with pytest.raises(InputError, match="no such approximation: 'pivots'; choose from: clusters, sweep"):
        make_task("pivots", family="approx")
    with pytest.raises(InputError, match="method sweep has no option: 'masters='; its own are: iterations=, seed="):
        package.approximate(path, method="sweep", masters=3)
    with pytest.raises(InputError, match="method sweep has no option: 'path_file'"):
        package.approximate(path, method="sweep", path_file=tmp_path / "p.txt")
    with pytest.raises(InputError, match="no such approximation"):
        make_task("magic", family="approx")
    with pytest.raises(BudgetError):
        plan_one(path, make_task("sweep", memory_bytes=1 << 20))
    with pytest.raises(StoppedEarly):
        execute(path, make_task("sweep", time_limit=1e-6))


# -- texts ----------------------------------------------------------------------------------------
def approximation(**changes: Any) -> dict[str, Any]:
    """A result of clusters on a connected graph, with changes."""
    details = {"counters": {"passes": 31}, "stage_seconds": {"grow": 0.5, "condense": 0.25},
               "interval_largest_component": [40, 60]}
    cluster = {"estimate": 51, "known_diameter": 50, "ratio": 1.02, "masters": 1024, "max_master_distance": 6,
               "max_master_gap": 11, "rounds": 6,
               "condensed": {"n_vertices": 1024, "n_edges": 9000, "in_memory": False, "levels": 2}}
    return exact_result(**{"method": "clusters", "exact": False, "diameter": None, "lower": 40, "upper": 60,
                           "witness": {"source": 3, "target": "x", "length": 40, "path": None}, "details": details,
                           **cluster, **changes})


def test_the_text_of_clusters():
    assert approximation_text(approximation()).splitlines()[:8] == [
        "diameter: 40 <= D <= 60 (proved bounds)",
        "connected: yes",
        "witness: 3 and x are at least 40 edges apart (checked)",
        "method's estimate: 51 (clusters: S + 2 d)",
        "ratio: 1.0200 (estimate / 50)",
        "masters (cluster centres): 1,024; every vertex is within 6 edges of its master",
        "rounds of growing clusters: 6",
        "condensed graph (cluster graph): 1,024 vertices, 9,000 edges of length at most 11, on disk, condensed 2 times",
    ]
    assert "stages: " not in approximation_text(approximation())
    assert "stages: grow 0.5 s, condense 0.25 s" in approximation_text(approximation(), verbose=True)
    assert "seed: 7" in approximation_text(approximation(seed=7)).splitlines()


@pytest.mark.parametrize("estimate", [39, 61])
def test_an_estimate_outside_of_what_is_proved_is_said_to_be(estimate: int):
    text = approximation_text(approximation(estimate=estimate))
    assert f"\nmethod's estimate: {estimate} (clusters: S + 2 d), outside the proved bounds\n" in text


def test_the_text_of_spanning():
    details = {**approximation()["details"], "iterations": 2, "heights": [900, 700, 65], "converged": True}
    assert "iterations: 2; height of the spanning tree: 900 at first, 65 at the end (a BFS tree)" in approximation_text(
        approximation(details=details))
    assert "65 at the end\n" in approximation_text(approximation(details={**details, "converged": False}))


def test_the_text_of_fringe():
    details = {**approximation()["details"], "iterations": 3, "trees": 2, "fringes": [[9, 1200]] * 11}
    lines = approximation_text(approximation(details=details)).splitlines()
    assert "iterations: 3; BFS trees whose diameter was computed: 2" in lines
    assert "vertices in fringes: " + ", ".join(["1,200 at distance 9"] * 10) + ", ..." in lines


def test_a_known_diameter_that_cannot_be_is_told():
    text = approximation_text(approximation(known_diameter=70, ratio=51 / 70))
    assert "--known-diameter 70 is not the diameter: it is outside the proved bounds" in text


def test_a_run_that_was_stopped_before_it_knew_anything():
    text = approximation_text(approximation(
        connected=None, n_components=None, estimate=None, ratio=None, witness=None, lower=0, upper=4999, masters=None,
        max_master_distance=None, max_master_gap=None, rounds=None, condensed=None))
    assert text.splitlines()[:4] == [
        "largest diameter of any component: 0 <= D <= 4,999 (proved bounds)",
        "diameter of the largest component: 40 <= D <= 60 (proved bounds)", "connected: not known yet",
        "method's estimate: none yet"]
    assert "witness" not in text and "masters" not in text


def test_a_hint_where_exact_is_cheaper():
    assert hint_lines(None) == []
    assert hint_lines((10.0, 1046.2)) == [
        "hint: emdiam exact is probably cheaper here: it reads all edges about 10 times, this run read them 1,046"
        " times"]
    assert hint_lines((29.6, 40.4), 1024)[0].endswith(
        ": it reads all edges about 30 times, the run with 1,024 masters read them 40 times")


def test_the_hint_is_below_the_answer(call, torus: str):  # noqa: F811
    """20 double sweeps and more, where a proof takes some 8 BFS."""
    code, out, _ = call("approx", torus, "--method", "fringe", "--quiet")
    assert code == 0 and out.splitlines()[-1].startswith("hint: emdiam exact is probably cheaper here: ")
    assert "hint" not in call("approx", torus, "--quiet")[1]
    assert "hint" not in call("approx", torus, "--method", "fringe", "--quiet", "--csv")[1]


@pytest.mark.parametrize(("changes", "reads"), [
    ({}, (10.0, 40.0)), ({"edges_scanned": 9 * 256}, None), ({"exact": True}, None), ({"device": "gpu"}, None),
    ({"bytes_read": 1 << 30}, None),  # streamed, and of large diameter
])
def test_exact_instead(tmp_path: Path, changes: dict[str, Any], reads: tuple[float, float] | None):
    path = write_store(tmp_path / "g.zarr", odd_graphs()["torus"])
    run = make_task("fringe", memory_bytes=8 << 30)
    with open_store(path) as opened:
        result: Any = SimpleNamespace(**{"exact": False, "device": "cpu", "edges_scanned": 40 * opened.n_arcs,
                                         "bytes_read": 1, "lower": 16, **changes})
        assert exact_instead(opened, run, result) == reads
        assert opened.indices.stored_bytes is not None
        small = SimpleNamespace(**{**vars(result), "exact": False, "device": "cpu", "lower": 5,
                                   "bytes_read": 3 * opened.indices.stored_bytes})
        assert exact_instead(opened, run, small) == (1.0, 3.0)  # its plan has them all in memory


def test_tables():
    runs = [approximation(), approximation(ratio=None, masters=None)]
    assert csv_text(COLUMNS, map(row_of, runs)).splitlines()[1:] == [
        "1024,51,40,60,1.02,6,31,1048576,1.25", ",51,40,60,,6,31,1048576,1.25"]
    lines = runs_text(runs).splitlines()
    assert lines[1].split() == ["1,024", "40", "60", "51", "1.0200", "6", "31", "1.0", "MiB", "1.2", "s"]
    assert lines[2].split()[0] == "-" and len(set(map(len, lines))) == 1
