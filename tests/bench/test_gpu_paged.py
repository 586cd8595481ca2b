"""Parts of the GPU benchmark that need an engine, at toy size over the shim: pages, exact runs, predictions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.gpu import dal_exact, exact, figure_7, host_engine, inputs, paged, predict, verify
from bench.gpu.__main__ import main, parser
from bench.gpu.dal_paper import TABLE_II, TABLE_III
from bench.gpu.host_engine import HostGraph, MemoryArray, memory_engine
from bench.gpu.paged_levels import MARGIN, VERTEX_BYTES, Levels, opened_pages, ring_bytes, room_for
from bench.gpu.report import markdown, n_wrong
from bench.gpu.serial_bounds import COMPONENTS, PLAIN, diameter_serially, loops
from bench.gpu.setting import Skipped
from emdiam.engine.cpu import CpuEngine
from emdiam.gpu.paged import PagedBfs
from emdiam.gpu.paging_model import TYPICAL, WAYS, LevelNeed, PageNeed
from tests.helpers import naive
from tests.helpers.bench_gpu_toy import TOY, kept_of, toy
from tests.helpers.stores import graphs, odd_graphs
from tests.simt.devices import open_device

ODD = odd_graphs()
FEW = ("one", "no-edges", "path-and-star", "clique-and-path", "grid", "isolated-first", "caterpillar")


def host(graph: naive.Graph) -> HostGraph:
    """The naive graph in arrays."""
    indptr, indices = naive.csr(graph)
    return HostGraph("naive", indptr, indices.astype(np.uint32))


# -- engines in memory --------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FEW)
def test_an_engine_in_memory_has_the_graph(name: str) -> None:
    graph = ODD[name]
    with memory_engine(host(graph), 16, 2) as engine:
        for source in {0, len(graph) - 1}:
            found = engine.bfs(source).distances.gather(np.arange(len(graph)))
            assert found.tolist() == naive.distances(graph, source)


def test_chunks_of_memory_are_filled_up_with_zeros() -> None:
    array = MemoryArray(np.arange(1, 11, dtype=np.uint32), 4)
    rows = np.full((2, 4), 99, np.uint32)
    assert array.n_chunks == 3 and array.fetch(1, list(rows)) == 32 and array.run_length(2, 9) == 1
    assert rows.tolist() == [[5, 6, 7, 8], [9, 10, 0, 0]]


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_engine, "NEEDED", ("numpy", "no_such_module"))
    with pytest.raises(Skipped, match="not installed: no_such_module"):
        host_engine.need_engine()
    row = next(iter(exact.run(toy(), ("grid",))))
    assert row["skipped"] == "not installed: no_such_module" and n_wrong(kept_of(exact=[row])) == 0


# -- pages --------------------------------------------------------------------------------------------------
def test_the_state_of_kronecker_24_fits_an_eighth() -> None:
    """16.8 M vertices and 520 M arcs: 260 MB for state, ring and pages that stay."""
    n, arcs = 1 << 24, 520_000_000
    room = room_for(n, arcs, 1 / 8, 1 << 16)
    assert room.limit == arcs * 4 // 8 and room.state >= 8.375 * n
    page = (4 << 16) << room.page_shift
    assert page == 8 << 20 and room.state + room.ring + room.kept * page <= room.limit


def test_a_room_is_what_a_paged_search_takes() -> None:
    """On a graph of pairs, large enough that bytes a vertex outweigh what is small."""
    n, items = 1 << 18, 1 << 12
    graph = HostGraph("pairs", np.arange(n + 1), (np.arange(n) ^ 1).astype(np.uint32))
    room = room_for(n, n, 1 / 8, items)
    for by_level in (False, True):
        device = open_device("shim-0")
        with memory_engine(graph, items, 1) as engine, \
                opened_pages(device, engine.core, room.page_shift, room.kept, ("copy",), TYPICAL) as there:
            if by_level:
                assert Levels(device, there, 60.0).run(5)[1][0]["found"] == 1
            else:
                assert PagedBfs(device, there).run(5)[1] == 1
        held = room.state - MARGIN + room.ring + room.kept * (4 * items << room.page_shift)
        assert held - (32 << 10) <= device.peak <= held + (32 << 10) < room.limit


@settings(deadline=None)
@given(n=st.integers(1, 10**7), degree=st.integers(0, 100), log=st.integers(6, 18))
def test_rooms_hold_what_they_promise(n: int, degree: int, log: int) -> None:
    room = room_for(n, n * degree, 1 / 8, 1 << log)
    page = (4 << log) << room.page_shift
    assert room.kept >= 0 and room.state >= VERTEX_BYTES * n and page <= max(8 << 20, 4 << log)
    assert room.state + room.ring + room.kept * page <= room.limit
    share = n * degree * 4 // 8
    # More than an eighth only where the vertices leave no room for the smallest ring.
    most, n_blocks = max(0, (2 << 20 >> log).bit_length() - 1), max(1, -(-n * degree >> log))
    least = room.state + min(ring_bytes(n_blocks, 1 << log, 4, shift) for shift in range(most + 1))
    assert room.limit == (share if least <= share else share + least)


def test_levels_have_their_bytes_and_predictions() -> None:
    rows = list(paged.run(toy(), ("grid",)))
    assert [(row["class"], row["from"], row["way"]) for row in rows] == [
        (name, source, way) for name, source in (("grid", "arena"), ("kronecker", "store"))
        for way in ("model", "copy", "gather", "in-place")]
    assert "none is read in place" in rows.pop()["skipped"]
    for row in rows:
        assert row["wrong"] == 0 and row["seconds"] > 0 and row["predicted_seconds"] > 0, row
        assert row["peak_bytes"] <= row["limit_bytes"] and len(row["levels"]) == row["n_levels"]
        for what in paged.BYTES:
            assert row[what] == sum(level[what] for level in row["levels"])
        assert row["levels"][0]["rows"] == 1 and row["levels"][-1]["found"] == 0
        assert sum(level["rows"] for level in row["levels"]) <= row["n"]
    grid = {row["way"]: row for row in rows if row["class"] == "grid"}
    # 64 vertices of a grid of side 8, each a row once: 224 arcs of 4 bytes, but for the corner that is reached last.
    assert grid["gather"]["bytes_gathered"] == 4 * 222 and grid["gather"]["bytes_copied"] == 0
    assert grid["copy"]["bytes_copied"] >= 4 * 222 and grid["copy"]["bytes_gathered"] == 0
    assert grid["in-place"]["bytes_in_place"] > 0
    text = markdown(kept_of(paged=rows))
    assert "## BFS on graphs larger than the device" in text and "grid from arena, model: levels (of 13)" in text


def test_a_wrong_distance_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the comparison with the CPU engine, whose answer is changed here."""
    plain = CpuEngine.bfs

    def changed(self: Any, source: int, **options: Any) -> Any:
        run = plain(self, source, **options)
        run.distances.put(np.array([0]), 7)
        return run

    monkeypatch.setattr(CpuEngine, "bfs", changed)
    rows = list(paged._cells(toy(), "grid", "arena", lambda: paged._in_ram(toy(), "grid")))
    assert [row["wrong"] for row in rows] == [2, 2, 2, 2] and n_wrong(kept_of(paged=rows)) == 8


def test_a_paged_search_that_takes_too_long_is_passed_over() -> None:
    setting = toy()
    setting.sizes = replace(TOY, paged_seconds=0.0)
    rows = list(paged._cells(setting, "grid", "arena", lambda: paged._in_ram(setting, "grid")))
    assert all("stopped after 1 levels" in row["skipped"] for row in rows)


def test_drivers_of_pages_and_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify.catalogue, "cells", lambda: ())
    some = {name: (verify.DRIVERS[name][0][-1:], verify.DRIVERS[name][1]) for name in ("paged", "labels")}
    monkeypatch.setattr(verify, "DRIVERS", some)
    monkeypatch.setattr(verify, "N_SOURCES", 2)
    rows = list(verify.run(toy(), ("circuit",), ("uint32",)))
    assert [(row["subject"], row.get("wrong")) for row in rows] == [("paged", 0), ("labels", 0)]
    assert rows[0]["checked"] == 16 and rows[1]["checked"] == 1


# -- exact runs ---------------------------------------------------------------------------------------------
def test_exact_methods_are_those_of_the_cpu() -> None:
    rows = list(exact.run(toy(), ("grid",)))
    assert [row["method"] for row in rows] == list(exact.METHODS)
    for row in rows:
        assert row["wrong"] == 0 and row["diameter"] == 8 and row["speedup"] > 0 and row["traversals"] > 0
    assert "| grid | 25 | 40 | pivots | 8 |" in markdown(kept_of(exact=rows))


def test_different_answers_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = exact.Case._run

    def changed(self: Any, engine: Any, method: str) -> Any:
        found, seconds = plain(self, engine, method)
        return ({**found, "upper": found["upper"] + 1} if engine is self._gpu else found), seconds

    monkeypatch.setattr(exact.Case, "_run", changed)
    monkeypatch.setattr(exact, "TURNS", (("fdiam",),))
    (row,) = exact.run(toy(), ("grid",))
    assert row["wrong"] == 1 and row["differ"] == "upper" and n_wrong(kept_of(exact=[row])) == 1


def test_an_exact_run_has_a_limit() -> None:
    setting = toy()
    setting.sizes = replace(TOY, exact_seconds=-1.0)
    assert all("limit -1 s" in row["slow"] for row in exact.run(setting, ("grid",)))


# -- bounding -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FEW)
def test_serial_bounding_on_odd_graphs(name: str) -> None:
    check_serial(ODD[name])


@settings(max_examples=40, deadline=None)
@given(graph=graphs(most=40))
def test_serial_bounding_on_random_graphs(graph: naive.Graph) -> None:
    check_serial(graph)


def check_serial(graph: naive.Graph) -> None:
    """Compiled and in numpy: the diameter of the component of the hub, by the same sources."""
    made = host(graph)
    near = [v for v, d in enumerate(naive.distances(graph, made.hub)) if d >= 0]
    diameter = max(max(naive.distances(graph, v)) for v in near)
    for first in (True, False):
        runs = [diameter_serially(made.offsets, made.neighbours, made.hub, first, steps) for steps in (loops(), PLAIN)]
        assert [run.diameter for run in runs] == [diameter, diameter]
        assert runs[0].sources == runs[1].sources and len(set(runs[0].sources)) == len(runs[0].sources)


def test_bounding_has_the_tables_and_the_points(tmp_path: Path) -> None:
    rows = list(dal_exact.run(toy(out=tmp_path), ("kronecker", "grid"), ("dal-pointers", "dal-hybrid")))
    drawing = rows.pop()
    assert [(row["class"], row["variant"]) for row in rows] == [
        (name, variant) for name in ("kronecker", "grid") for variant in ("dal-pointers", "dal-hybrid")]
    for row in rows:
        assert row["wrong"] == 0 and row["speedup"] > 0 and 0 < row["ratio"] <= 1
        assert [part["component"] for part in row["components"]] == list(COMPONENTS) == list(TABLE_III)
        for share in ("gpu_share", "cpu_share"):
            assert sum(part[share] for part in row["components"]) == pytest.approx(100)
    assert rows[-1]["diameter"] == 8
    text = markdown(kept_of(**{"dal-exact": [*rows, drawing]}))
    assert "| cit-Patents | 0.427 | 21.1 | papers/001 |" in text and "| 97.1 | 5.55 |" in text
    assert drawing.get("points") == 4 or "matplotlib" in drawing["skipped"]
    if "file" in drawing:
        assert (tmp_path / figure_7.NAME).read_text().startswith("<?xml")


def test_other_sources_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = dal_exact.diameter_serially
    monkeypatch.setattr(dal_exact, "diameter_serially", lambda *args, **more: plain(*args, False, **more))
    row = next(iter(dal_exact.run(toy(), ("grid",), ("dal-pointers",))))
    assert row["wrong"] == 2 and row["iterations"] > 1


def test_the_effective_diameter_is_interpolated() -> None:
    # 1, 5 and 10 pairs within 0, 1 and 2: nine of ten lie within 2 - 1 / 5.
    assert dal_exact.interpolated(np.array([1, 4, 5])) == pytest.approx(1.8)
    assert dal_exact.interpolated(np.array([1])) == 0.0
    path = host(ODD["path"])
    far = [abs(a - b) for a in range(300) for b in range(300)]
    assert abs(dal_exact.effective_diameter(path, 300) - np.quantile(far, 0.9)) < 1


def test_the_papers_figures() -> None:
    assert len(TABLE_II) == 18 and max(row.speedup for row in TABLE_II.values()) == 21.11
    assert sum(share for share, _ in TABLE_III.values()) == pytest.approx(100, abs=0.02)
    with pytest.raises(Skipped, match="no folder"):
        figure_7.draw(None, [])


# -- predictions --------------------------------------------------------------------------------------------
@settings(max_examples=40, deadline=None)
@given(graph=graphs(most=60), data=st.data())
def test_what_pages_are_asked_for(graph: naive.Graph, data: st.DataObject) -> None:
    made, block, shift = host(graph), 8, data.draw(st.integers(0, 2))
    active = np.array(data.draw(st.lists(st.booleans(), min_size=len(graph), max_size=len(graph))))
    m = len(made.neighbours)
    if m == 0:
        return
    n_pages = -(-m // (block << shift))
    blocks, rows, sectors = np.zeros(n_pages, int), np.zeros(n_pages, int), np.zeros(n_pages, int)
    touched = set()
    for v in np.flatnonzero(active).tolist():
        seen = set()
        for arc in range(int(made.offsets[v]), int(made.offsets[v + 1])):
            rows[arc // (block << shift)] += 4
            touched.add(arc // block)
            if arc // 8 not in seen:
                sectors[arc // (block << shift)] += 1
            seen.add(arc // 8)
    for one in touched:
        blocks[one >> shift] += 4 * min(block, m - one * block)
    found = predict.asked(made, active, block, shift)
    assert [part.tolist() for part in found] == [blocks.tolist(), rows.tolist(), sectors.tolist()]


def test_a_level_takes_the_cheapest_way_of_each_page() -> None:
    pages = tuple(np.array(part) for part in ([1 << 20, 0, 1 << 20], [1 << 20, 0, 64], [1 << 15, 0, 2]))
    row = predict.level_row(pages, WAYS, 4)
    assert (row["copy"], row["gather"], row["in-place"]) == (4 << 20, 0, 4 * 2 * 32)
    want = TYPICAL.seconds("copy", PageNeed(1 << 20, 0, 0)) + TYPICAL.seconds("in-place", PageNeed(0, 0, 2))
    assert row["seconds"] == pytest.approx(4 * want + 2 * TYPICAL.round_trip) and row["up"] == 0
    up = predict.level_row(pages, WAYS, 4, LevelNeed(10, 1000, 0.5, 4))
    assert up["seconds"] == pytest.approx(4 * TYPICAL.seconds_up(LevelNeed(10, 1000, 0.5, 4)) + 2 * TYPICAL.round_trip)
    assert up["up"] == 4 * 10 * (32 + 8) and up["copy"] == up["in-place"] == 0
    assert predict.level_row(pages, WAYS, 4, LevelNeed(10**9, 10**9, 1e-9, 4)) == row


def test_what_going_up_would_ask() -> None:
    graph = naive.graph_of(7, [(0, 1), (0, 2), (1, 3), (2, 3), (5, 6)])
    need = predict.need_up(host(graph), np.array(naive.distances(graph, 0)), 1)
    assert need == LevelNeed(3, 4, 0.4, 4)  # 3, and 5 and 6, of ten arcs


def test_predictions_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--predict", "12", "--out", str(tmp_path / "new")]) == 0
    kept = json.loads((tmp_path / "new" / "predicted.json").read_text())
    text = (tmp_path / "new" / "predicted.md").read_text()
    assert capsys.readouterr().out == text + "\n" == predict.markdown(kept) + "\n"
    assert text.startswith("# Predicted, not measured") and "no GPU was there" in text
    assert [row["way"] for row in kept["paged"]] == ["model", *WAYS] and kept["paged"][0]["n"] == 1 << 24
    best = min(row["seconds"] for row in kept["paged"][1:])
    assert kept["paged"][0]["seconds"] <= best * 1.0001
    assert [row["method"] for row in kept["exact"]] == list(exact.METHODS) and kept["exact"][0]["n"] == 1 << 22
    assert all(row["floor_seconds"] > 0 for row in kept["exact"])
    assert all(0 < row["round_trips"] < row["launches"] + 100 and row["host_bytes"] > 0 for row in kept["exact"])
    assert "| launches and fills | round trips |" in text


def test_a_scale_to_predict_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert parser().parse_args(["--predict"]).predict == 20 and parser().parse_args([]).predict is None
    for wrong in ("x", "11", "25"):
        with pytest.raises(SystemExit):
            parser().parse_args(["--predict", wrong])
    assert "a scale is 12 to 24: 'x'" in capsys.readouterr().err


def test_graphs_on_the_host_are_those_on_the_device() -> None:
    setting = toy()
    made = inputs.host_graph(setting, "web", 40)
    there = inputs.graph_of(setting, "web", inputs.web(np, 40)).graph
    offsets, neighbours = inputs.host_rows(setting, there)
    assert np.array_equal(made.offsets, offsets) and np.array_equal(made.neighbours, neighbours)
    assert made.key == {"class": "web", "n": 40, "m": len(neighbours) // 2}
