"""`emdiam exact --method ...` and the options that go with methods and limits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emdiam.runs import registry
from tests.cli.test_commands import call, parsed  # noqa: F401 - call is a fixture

EXACT = [method for method in registry.EXACT if method != "sweep-k"]


@pytest.fixture
def torus(call) -> str:  # noqa: F811
    """A store of the torus of 12 by 20, diameter 16."""
    assert call("generate", "torus", "g.zarr", "--sides", "12x20", "--quiet")[0] == 0
    return "g.zarr"


def answer(call: Any, *arguments: str) -> dict[str, Any]:  # noqa: F811
    return parsed(call("exact", *arguments, "--json", "--quiet"))


@pytest.mark.parametrize("method", EXACT)
def test_every_method_gives_the_diameter(call, torus: str, method: str):  # noqa: F811
    result = answer(call, torus, "--method", method)
    assert (result["method"], result["diameter"], result["exact"]) == (method, 16, True)
    assert result["details"]["interval_largest_component"] == [16, 16]
    assert result["planned_rss_bytes"] <= result["memory_limit_bytes"]


@pytest.mark.parametrize(("method", "more"), [
    ("bounding", ["--batch", "8"]), ("bounding", ["--first", "lower"]), ("ifub", ["--batch", "8"]),
    ("korf", ["--batch", "64"]), ("apsp", ["--batch", "512"]), ("fdiam", ["--start", "first"]),
])
def test_options_of_methods(call, torus: str, method: str, more: list[str]):  # noqa: F811
    result = answer(call, torus, "--method", method, *more)
    assert result["diameter"] == 16
    if "--batch" in more:
        assert result["traversals"]["multi_source_sources"] > 0


def test_sweep_k_answers_with_an_interval(call, torus: str):  # noqa: F811
    result = answer(call, torus, "--method", "sweep-k", "--sources", "3")
    assert result["lower"] == 16 < result["upper"] and not result["exact"] and result["diameter"] is None
    assert result["traversals"]["bfs"] == 3 and result["details"]["additive_error"] == result["upper"] - 16
    code, out, _ = call("exact", torus, "--quiet", "--method", "sweep-k", "-k", "3")
    assert code == 0
    assert out.splitlines()[0] == (
        f"diameter: 16 <= D <= {result['upper']} (proved bounds; -k asks for no more BFS)")
    assert "witness: " in out


def test_the_count_of_the_papers_stands_beside_all_bfs(call, torus: str):  # noqa: F811
    result = answer(call, torus, "--method", "graph-diameter")
    count = result["details"]["published_count"]
    assert count + 2 <= result["traversals"]["bfs"] <= count + 20
    code, out, _ = call("exact", torus, "--quiet", "--method", "graph-diameter")
    assert code == 0 and f"BFS as papers count them: {count:,} (sweeps left out, small components not)\n" in out
    assert "as papers count" not in call("exact", torus, "--quiet", "--method", "ifub")[1]


def test_bounds_only_and_gap(call, torus: str):  # noqa: F811
    code, out, _ = call("exact", torus, "--quiet", "--bounds-only")
    assert code == 0
    assert out.splitlines()[0] == "diameter: 16 <= D <= 32 (proved bounds; --bounds-only asks for no more)"
    code, out, _ = call("exact", torus, "--quiet", "--gap", "20")
    assert code == 0 and "(proved bounds; --gap asks for no more)" in out
    assert answer(call, torus, "--gap", "0")["diameter"] == 16


def test_an_interval_of_the_largest_component_is_told(call, tmp_path):  # noqa: F811
    lines = [f"{v} {v + 1}" for v in range(40)] + ["100 101", "101 102"]
    (tmp_path / "edges.txt").write_text("\n".join(lines))
    assert call("convert", "edges.txt", "h.zarr", "--quiet")[0] == 0
    code, out, _ = call("exact", "h.zarr", "--quiet", "--method", "sweep-k", "-k", "1")
    assert code == 0
    told = [line for line in out.splitlines() if line.startswith("diameter of the largest component: ")]
    assert len(told) == 1 and told[0].endswith(" <= D <= 40 (proved bounds)")


def test_a_time_limit_leaves_with_3(call, torus: str):  # noqa: F811
    code, out, err = call("exact", torus, "--quiet", "--time-limit", "0.001ms")
    assert code == 3 and "0 <= D <= 239" in out
    assert "the time limit is over" in err
    assert answer(call, torus, "--time-limit", "8h")["diameter"] == 16
    assert call("exact", torus, "--time-limit", "soon")[0] == 2


@pytest.mark.parametrize(("method", "more", "name"), [
    ("bounding", ["--no-winnow"], "no-winnow"), ("bounding", ["--no-eliminate"], "no-eliminate"),
    ("apsp", ["--no-chains"], "no-chains"), ("ifub", ["--order", "random"], "order"),
    ("korf", ["--first", "upper"], "first"), ("graph-diameter", ["--batch", "2"], "batch"),
    ("fdiam", ["-k", "2"], "sources"), ("apsp", ["--no-batches"], "no-batches"),
])
def test_an_option_of_another_method_is_refused(call, torus: str, method: str, more: list[str],  # noqa: F811
                                                name: str):
    code, out, err = call("exact", torus, "--method", method, *more)
    assert (code, out) == (2, "")
    assert f"method {method} has no option: '--{name}'" in err


def test_a_plan_knows_method_and_batch(call, torus: str):  # noqa: F811
    one = parsed(call("plan", torus, "--json", "--method", "bounding"))
    many = parsed(call("plan", torus, "--json", "--method", "bounding", "--batch", "64"))
    grown = [b["bytes"] - a["bytes"] for a, b in zip(one["phases"], many["phases"], strict=True)]
    assert [phase["name"] for phase in one["phases"]] == ["open", "bfs", "components", "solve", "verify"]
    # 64 columns of 1 byte (less than 256 vertices), three planes of 64 bits, and marks.
    assert grown[3] > 240 * 62 + 240 * 24 and grown[:3] == [0, 0, 0]
    assert call("plan", torus, "--method", "fdiam", "--batch", "2")[0] == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", [("path", "--vertices", "2^20"), ("kronecker", "--vertices", "2^18", "--seed", "1")])
def test_peaks_stay_below_the_smallest_budget(emdiam, kind: tuple[str, ...]):
    """Columns of 4 bytes on a path; a run that the time limit ends has told its peak as well."""
    assert emdiam("generate", kind[0], "g.zarr", *kind[1:], "--quiet").returncode == 0
    for method in registry.EXACT:
        for batch in ([], ["--batch", "20"]):
            plan = emdiam("plan", "g.zarr", "--method", method, *batch, "--json", "--memory", "8GiB")
            if plan.returncode == 2 and batch:
                continue  # a method without batches
            least = json.loads(plan.stdout)["minimum_bytes"]
            done = emdiam("exact", "g.zarr", "--method", method, *batch, "--json", "--quiet", "--memory", str(least),
                          "--time-limit", "5s")
            result = json.loads(done.stdout)
            assert result["peak_rss_bytes"] <= least, (method, batch)
