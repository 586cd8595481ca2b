"""The benchmark's section approx, and the paper's figures beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench import approx
from bench.__main__ import parser, setting_of
from bench.cache import Cache
from bench.graphs import known
from bench.published import PAPER
from bench.setting import QUICK_EFFORT, Setting
from emdiam.report.cells import parse_grid


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """A cache of its own; no real graphs."""
    folder = tmp_path_factory.mktemp("cache")
    return Cache(folder, folder / "absent")


@pytest.fixture(scope="module")
def row(cache: Cache) -> dict[str, Any]:
    """The worst case of clusters, small."""
    (found,) = approx.run(Setting(cache, quick=True, names=("worst-case",), effort=QUICK_EFFORT))
    return found


def text_of(rows: list[dict[str, Any]]) -> str:
    """All cells of all tables and the notes; lines are as long as their headers."""
    tables = [approx.table(rows), *((table.header, table.rows) for table in approx.more(rows))]
    assert all(len(header) == len(line) for header, lines in tables for line in lines)
    return "\n".join([*(" ".join(line) for _, lines in tables for line in lines), *approx.notes(rows)])


@pytest.mark.slow
def test_the_section(row: dict[str, Any]):
    assert row["n_vertices"] == 37 * 110 and row["diameter"] == row["exact"]["diameter"] == 36 + 2 * 10
    assert row["wrong"] == [] and row["arena_bytes"] == 2 * row["n_edges"] * 4 // 8
    assert [cell["cell"] for cell in row["cells"]] == [
        "sweep-seed-0", "clusters-masters-63-seed-0", "clusters-masters-1017-seed-0"]
    for cell in row["cells"]:
        assert cell["status"] == "ended" and cell["lower"] <= 56 <= cell["upper"] and cell["foreign_cores"] >= 0
        assert cell["bytes_read"] > row["store_bytes"] and cell["ratio"] == cell["estimate"] / 56
        assert cell["peak_rss_bytes"] <= cell["planned_rss_bytes"]
    text = text_of([row])
    assert "WRONG" not in text and "exact, in RAM" in text and "64.6" in text and "4.62" in text


@pytest.mark.slow
def test_cells_that_did_not_end_and_wrong_ones_are_told(row: dict[str, Any]):
    sweep, clusters = row["cells"][0], row["cells"][1]
    empty = dict.fromkeys(clusters) | {name: clusters[name] for name in ("cell", "method", "masters_expected",
                                                                         "foreign_cores")}
    failed = empty | {"status": "failed", "reason": "too small"}
    stopped = clusters | {"status": "stopped", "reason": "the time is over"}
    text = text_of([row | {"cells": [sweep | {"status": "stopped", "reason": "late"}, failed, stopped]}])
    assert "failed: too small" in text and "stopped: the time is over" in text
    assert f"> {clusters['seconds']:.2f}" in text
    wrong = approx.faults(known()["cnr-2000"], 33, [clusters | {"lower": 34, "upper": 40}])
    assert wrong == [f"{clusters['cell']}: 33 is outside of its 34..40", "D 33, known: 34"]
    assert approx.faults(known()["cnr-2000"], None, [clusters]) == []
    text = text_of([row | {"diameter": None, "exact": {"diameter": None, "seconds": 9.0}, "wrong": wrong}])
    assert "- WRONG" in text and "exact, in RAM" not in text


@pytest.mark.slow
def test_one_method_alone(cache: Cache):
    (row,) = approx.run(Setting(cache, quick=True, names=("worst-case",), effort=QUICK_EFFORT,
                                approximations=("spanning",)))
    assert [cell["cell"] for cell in row["cells"]] == ["spanning-seed-0"] and row["wrong"] == []
    assert "1.6319" in text_of([row])


def test_masters_follow_from_the_vertices(cache: Cache):
    graph = approx.graph_of("levels-sqrt", Setting(cache))
    assert (graph.name, graph.vertices) == ("levels-sqrt-4194304", 1 << 22)
    assert parse_grid(approx.masters_of(graph, False, 1 << 22)) == [1 << k for k in range(8, 21, 2)]
    assert parse_grid(approx.masters_of(graph, False, 1 << 12)) == [1 << k for k in range(0, 11, 2)]
    real = parse_grid(approx.masters_of(known()["cnr-2000"], False, 325_557))
    assert real == [*(1 << k for k in range(4, 17, 2)), "10%", "15%", "20%"]


def test_the_command_line_takes_the_size_and_the_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    given = parser().parse_args(["--vertices", "2^12", "--graph", "worst-case", "--approximation", "spanning",
                                 "--cache", str(tmp_path)])
    setting = setting_of(given)
    assert (setting.vertices, setting.names, setting.approximations) == (4096, ("worst-case",), ("spanning",))
    assert approx.graph_of("worst-case", setting).vertices == 4096
    with pytest.raises(SystemExit):
        parser().parse_args(["--vertices", "many"])
    assert "not a count" in capsys.readouterr().err


def test_the_published_figures_agree_with_each_other():
    """What the paper tells twice: estimates and ratios, within what it rounds."""
    assert set(PAPER) == set(approx.NAMES)
    for paper in PAPER.values():
        masters = [cell.masters for cell in paper.cells]
        assert masters == [masters[0] * 4**k for k in range(len(masters))]
        for cell in paper.cells:
            assert cell.estimate / paper.diameter == pytest.approx(cell.ratio, abs=0.011), (paper.name, cell.masters)
        distances = [cell.d for cell in paper.cells]
        assert paper.name == "sk-2005" or distances == sorted(distances, reverse=True)


def test_the_nearest_published_cell():
    paper = PAPER["levels-sqrt"]
    assert [paper.nearest(2.0**k).masters for k in (16, 4, 2, 2.9)] == [1 << 12, 1 << 24, 1 << 26, 1 << 26]
    assert paper.nearest(2.0**17.5) is None and paper.nearest(1.9) is None


def test_the_excess_in_units_of_d():
    assert approx.excess(16_413, 16_385, 14) == 2.0 and approx.excess(9, 10, 2) == -0.5
    assert approx.excess(None, 3, 1) is approx.excess(3, None, 1) is approx.excess(3, 3, 0) is None
