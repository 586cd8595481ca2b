"""The parts of the benchmark for a machine with a GPU, at toy size over the shim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.gpu import compiling, dal, drivers_weighted, facts, floor, inputs, regimes, sanitize, times, twins, verify
from bench.gpu.measured_bfs import LevelRecord
from bench.gpu.opening import PretendedCuda
from bench.gpu.report import markdown, n_wrong
from bench.gpu.tables import read_table
from bench.gpu.watch import Watched
from emdiam.gpu.direction_table import PERSISTENT
from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.registry import ENTRIES
from emdiam.gpu.variants.bfs_frontier import bfs_frontier
from emdiam.gpu.variants.registry import VARIANTS
from tests.helpers import naive
from tests.helpers.bench_gpu_toy import TOY, few_variants, kept_of, toy
from tests.simt.devices import open_device


# -- inputs and twins ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", sorted({*inputs.VERIFIED, *inputs.TIMED}))
def test_inputs_are_undirected_rows(name: str) -> None:
    setting = toy()
    made = inputs.graph_of(setting, name, {**inputs.TIMED, **inputs.VERIFIED}[name](setting))
    offsets, neighbours = inputs.host_rows(setting, made.graph)
    tails = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    pairs = set(zip(tails.tolist(), neighbours.tolist(), strict=True))
    assert len(pairs) == neighbours.size > 0 and all(a != b and (b, a) in pairs for a, b in pairs)
    assert np.array_equal(made.degrees, np.diff(offsets)) and made.key["m"] * 2 == neighbours.size
    assert neighbours.max() < made.key["n"]


def test_rows_are_those_of_the_naive_graph() -> None:
    edges = [(0, 1), (1, 0), (2, 2), (4, 1), (1, 4), (0, 4)]
    u, v = (np.array(side, np.int64) for side in zip(*edges, strict=True))
    offsets, neighbours = inputs.rows_of(np, 6, u, v)
    indptr, indices = naive.csr(naive.graph_of(6, edges))
    assert offsets.tolist() == indptr.tolist() and neighbours.tolist() == indices.tolist()


def test_kronecker_draws_the_quadrants_as_graph500_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "PIECE", 1000)  # more than one piece
    n, u, v = inputs.kronecker(np, 10)
    assert n == 1024 and len(u) == len(v) == 16 << 10
    degrees = np.sort(np.bincount(np.concatenate((u, v)), minlength=n))
    # A vertex keeps all its high bits 0 with (a + b) ** 10: the largest row has about 2 m 0.76 ** 10 ends.
    assert 0.7 < degrees[-1] / (2 * len(u) * 0.76**10) < 1.3 and np.count_nonzero(degrees == 0) > 50


def test_the_twins_are_the_naive_ones() -> None:
    graph = naive.graph_of(9, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (6, 7)])
    offsets, neighbours = naive.csr(graph)
    for source in range(9):
        found = twins.distances(offsets, neighbours, source)
        assert [-1 if d == twins.UNREACHED else int(d) for d in found] == naive.distances(graph, source)
    assert twins.diameter(offsets, neighbours, 0) == 3
    start = np.full(9, twins.UNREACHED, np.uint32)
    found = twins.lowered(offsets, neighbours, start, np.array([4, 6]), np.array([1, 0]), 3)
    expected = naive.spread(graph, [4, 6], [1, 0], 3)
    assert [None if d == twins.UNREACHED else int(d) for d in found] == expected


# -- parts over the shim ------------------------------------------------------------------------------------
def test_facts_say_what_is_missing() -> None:
    rows = {row["what"]: row for row in facts.run(toy(no_cuda="no CUDA here"))}
    assert rows["device"]["value"]["n_sms"] == 2
    for what in ("copy on the device", "launch", "launch and wait", "read of device memory"):
        assert rows[what]["value"] > 0, what
    for what in ("pinned host to device", "device to pinned host", "read of mapped host memory", "child launches"):
        assert rows[what]["skipped"] == "no CUDA here"
    assert not [row for row in rows.values() if "failure" in row]


@pytest.mark.parametrize(("empty", "full", "microseconds"), [(2.0, 5.0, 3e6), (2.0, 1.5, 0.0)])
def test_a_barrier_costs_what_the_launch_takes_longer_with_it(
    monkeypatch: pytest.MonkeyPatch, empty: float, full: float, microseconds: float,
) -> None:
    times = iter([empty, full])
    monkeypatch.setattr(facts, "median_seconds",
                        lambda device, call, repeats, before: (before(), call(), next(times))[2])
    setting = toy(no_cuda="no CUDA here")
    assert facts._barrier(setting, 2)["value"] * setting.sizes.barriers == pytest.approx(microseconds)


def test_facts_of_cuda_are_measured_by_what_is_injected(monkeypatch: pytest.MonkeyPatch) -> None:
    device = open_device("shim-0")
    monkeypatch.setattr(facts.shutil, "which", lambda name: None)
    rows = {row["what"]: row for row in facts.run(toy(device=device, cuda=PretendedCuda(device)))}
    assert rows["device"]["value"]["runtime"] == 13000
    for what in ("pinned host to device", "device to pinned host", "read of mapped host memory"):
        assert rows[what]["value"] > 0 and rows[what]["unit"] == "GB/s"
    assert "nvcc" in rows["child launches"]["skipped"] and "nvidia-smi" in rows["clocks"]["skipped"]


def test_a_read_that_returns_something_else_is_a_failure() -> None:
    class Twos(PretendedCuda):
        def mapped(self, n: int) -> Any:
            return self.device.array(np.full(n, 2, np.uint64))

    device = open_device("shim-0")
    (row,) = [row for row in facts.run(toy(device=device, cuda=Twos(device))) if "mapped" in row["what"]]
    assert "the sum of 512 ones came out as 1024" in row["failure"]


def test_compile_reports_each_build_that_fails() -> None:
    good = ("variants/bfs_dal.cu", "bfs_standard", {"VERTEX": "u32", "INDEX": "u32", "DISTANCE": "u8"})
    rows = list(compiling.run(toy(), [good, ("variants/bfs_dal.cu", "nothing", good[2])]))
    assert "no entry nothing" in rows[0]["failure"] and rows[1]["builds"] == 2
    assert {file for file, _, _ in compiling.builds()} == {entry.file for entry in ENTRIES}


def test_variants_and_drivers_are_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """And they launch every entry that there is; with all mappings a slow test (test_gpu_run.py)."""
    device = Watched(open_device("shim-0"))
    monkeypatch.setattr(verify, "N_SOURCES", 2)
    monkeypatch.setattr("bench.gpu.catalogue.MAPPINGS", {"two-phase": MAPPINGS["two-phase"]})
    some = {name: (mappings[:1], check) for name, (mappings, check) in verify.DRIVERS.items()}
    monkeypatch.setattr(verify, "DRIVERS", some)
    monkeypatch.setattr(drivers_weighted, "DTYPES", (np.uint32,))
    rows = list(verify.run(toy(device=device), ("kronecker", "web"), ("uint32",)))
    assert [row for row in rows if row.get("wrong") != 0] == []
    assert {row["subject"] for row in rows} == {*VARIANTS, *verify.DRIVERS}
    assert all(row["checked"] > 0 for row in rows)
    assert {(entry.file, entry.entry) for entry in ENTRIES} - device.entries == set()


def test_a_wrong_result_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def off_by_one(device: Any, graph: Any, source: int, **options: Any) -> Any:
        distances, eccentricity = bfs_frontier(device, graph, source, **options)
        host = device.to_host(distances)
        host[-1] ^= 1
        return device.array(host), eccentricity

    wrong = {"frontier": replace(VARIANTS["frontier"], run=off_by_one)}
    monkeypatch.setattr("bench.gpu.catalogue.VARIANTS", wrong)
    monkeypatch.setattr("bench.gpu.catalogue.find_variant", lambda name: (wrong[name], {}))
    monkeypatch.setattr(verify, "DRIVERS", {})
    rows = list(verify.run(toy(), ("path",), ("uint32",)))
    assert len(rows) == 1 + len(MAPPINGS) and all(row["wrong"] == row["checked"] == 3 for row in rows)
    assert n_wrong(kept_of(verify=rows)) == 3 * len(rows)


def test_variants_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    few_variants(monkeypatch, "dal-pointers", "auto")
    rows = list(times.run(toy(), ("web", "grid")))
    assert [(row["class"], row["variant"]) for row in rows] == [
        (name, variant) for name in ("web", "grid") for variant in ("dal-pointers", "auto")]
    for row in rows:
        assert row["wrong"] == 0 and row["runs"] == 1 and row["seconds"] > 0 and row["gteps"] > 0
        assert row["launches"] > 0 and row["us_per_level"] > 0
    # 36 vertices of a grid of side 6, whose component has all 60 edges.
    assert rows[3]["n"] == 36 and rows[3]["m"] == 60
    assert rows[3]["gteps"] * 1e9 * rows[3]["seconds"] == pytest.approx(60)


def test_a_cell_that_takes_too_long_is_marked_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    few_variants(monkeypatch, "standard", "harish")
    setting = toy()
    setting.sizes = replace(TOY, cell_seconds=0.0)
    rows = list(times.run(setting, ("grid",)))
    assert [row["variant"] for row in rows] == ["standard", "harish"]
    assert all("stopped after" in row["slow"] and "limit 0 s" in row["slow"] for row in rows)
    assert "stopped after" in markdown(kept_of(variants=rows)) and n_wrong(kept_of(variants=rows)) == 0


def test_cells_without_time_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    few_variants(monkeypatch, "standard")
    (row,) = times.run(toy(seconds=-1.0), ("grid",))
    assert row["skipped"] == "no time was left"


def test_persistent_gives_microseconds_a_level() -> None:
    rows = list(times.run_persistent(toy()))
    assert [row["variant"] for row in rows] == ["persistent", "auto", "luo"]
    assert all(row["us_per_level"] > 0 and row["wrong"] == 0 for row in rows)


def test_floor_has_each_step() -> None:
    (row,) = floor.run(toy(), ("kronecker",))
    assert row["wrong"] == 0 and row["gteps"] > 0 and 0 < row["share"] < 10
    assert row["floor_us"] == pytest.approx(sum(step["floor_us"] for step in row["steps"]))
    assert all(step["bytes"] > 0 for step in row["steps"])


def test_least_bytes_are_those_of_the_formulas() -> None:
    def bytes_of(direction: str, **changes: Any) -> int:
        record = LevelRecord(1, 1, direction, "", 3, 40, 50, 1e-6)
        return floor.Step(record, **{"rows": 3, "found": 10, "unreached": 20, "n": 6400, "id_bytes": 4,
                                     "offset_bytes": 8, **changes}).least_bytes()

    # Queues, offsets, distances, sectors of 40 arcs in 3 rows, bitmap (capped at n / 8).
    assert bytes_of("top-down") == 4 * 13 + 96 + 320 + 160 + 28 * 3 + 800
    assert bytes_of("persistent") == 4 * 13 + 96 + 320 + 160 + 28 * 3 + 32 * 40
    assert bytes_of("bottom-up") == 3200 + 640 + 320 + 4 * 50 + 28 * 20
    assert bytes_of("bottom-up", n=64) == 32 + 512 + 256 + 4 * 50 + 28 * 20
    assert bytes_of("bottom-up", n=64, offset_bytes=4) == 32 + 256 + 256 + 4 * 50 + 28 * 20


def test_steps_count_what_the_distances_say() -> None:
    distances = np.array([0, 1, 1, 2, 3, twins.UNREACHED, twins.UNREACHED], np.uint32)
    degrees = np.array([2, 2, 2, 3, 1, 0, 1])
    records = [LevelRecord(0, 2, "persistent", "", 1, 6, 6, 1.0), LevelRecord(2, 2, "bottom-up", "", 1, 3, 2, 1.0)]
    first, second = floor.steps_of(records, distances, degrees, 4, 4)
    assert (first.rows, first.found, first.unreached) == (3, 3, 5)
    assert (second.rows, second.found, second.unreached) == (2, 1, 2)


def test_dal_has_both_figures() -> None:
    rows = list(dal.run(toy()))
    nine = [row for row in rows if row["figure"] == 9]
    assert {(row["length"], row["active"]) for row in nine} == {(4, 8), (4, 64), (40, 8), (40, 64)}
    assert all(row["wrong"] == 0 and row["speedup"] > 0 for row in rows if row["figure"] == 9)
    for row in rows:
        if row["figure"] == 10:
            assert row["wrong"] == 0 and len(row["levels"]) == row["n_levels"]
            for way in ("thread", "warp"):
                assert sum(level[way] for level in row["levels"]) <= 100.0001
    grid = rows[-1]
    assert sum(level["active"] for level in grid["levels"]) == pytest.approx(100) and grid["levels"][-1]["left"] == 0


def test_regimes_lead_to_a_table_of_choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = {name: MAPPINGS[name] for name in ("threads", "dynamic-warps", "two-phase")}
    monkeypatch.setattr(regimes, "MAPPINGS", some)
    rows = list(regimes.run(toy(out=tmp_path), ("circuit",)))
    assert not [row for row in rows if "failure" in row]
    assert [row["mapping"] for row in rows if row.get("class") == "circuit"] == list(some)
    frontiers = [row for row in rows if "us" in row]
    assert len(frontiers) == 4 * len(some)
    for size in {(row["rows"], row["arcs"]) for row in frontiers}:
        assert len({row["reached"] for row in frontiers if (row["rows"], row["arcs"]) == size}) == 1
    file = tmp_path / "direction_table.json"
    table = read_table(file)
    assert rows[-1]["measurements"] == len(frontiers) and rows[-1]["text"] == file.read_text()
    assert {rule.way for rule in table.rules} <= {*some, PERSISTENT} and "shim" in table.measured


def test_a_tool_that_is_absent_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sanitize, "find_sanitizer", lambda: None)
    rows = list(sanitize.run(toy()))
    assert [row["tool"] for row in rows] == ["memcheck", "synccheck", "initcheck", "racecheck"]
    assert all("not on this machine" in row["skipped"] for row in rows)


def test_what_a_sanitizer_finds_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho '========= ERROR SUMMARY: 3 errors'\n")
    tool.chmod(0o755)
    monkeypatch.setattr(sanitize, "find_sanitizer", lambda: str(tool))
    rows = list(sanitize.run(toy()))
    assert [row["errors"] for row in rows] == [3] * 4 and n_wrong(kept_of(sanitize=rows)) == 4
    tool.write_text("#!/bin/sh\necho Device not supported\n")
    rows = list(sanitize.run(toy()))
    assert [row["errors"] for row in rows] == [None] * 4 and n_wrong(kept_of(sanitize=rows)) == 4
    assert "Device not supported" in markdown(kept_of(sanitize=rows))


def test_tests_on_the_device_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(command: list[str], seconds: float, environment: Mapping[str, str]) -> str:
        assert environment == {"EMDIAM_ONLY_GPU": "1"}
        assert any((sanitize.ROOT / command[-1]).glob("test_*.py"))
        return "...\n2 failed, 30 passed, 5 deselected in 3s\n"

    monkeypatch.setattr(sanitize, "_run", said)
    (row,) = sanitize.run_tests(toy())
    assert row["errors"] == 2 and row["counts"] == {"failed": 2, "passed": 30, "deselected": 5}
