"""What is made of the cells of a trade-off: bounds, ratios, the Pareto front, tables and plots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.batch.attempt import FAILED, STOPPED
from emdiam.errors import EmdiamError
from emdiam.report.cells import Cell, CellRecord
from emdiam.report.tradeoff_table import bounds, front, loss, markdown_text, ratio_text
from emdiam.runs.tradeoff import COLUMNS
from emdiam.tables import csv_text
from tests.helpers.tradeoff_cells import record, result, summary_of


def naive_front(points: list[tuple[int, int]]) -> set[int]:
    """Points that no other one is at least as good as in both and better in one."""
    return {i for i, (cost, off) in enumerate(points)
            if not any(a <= cost and b <= off and (a, b) != (cost, off) for a, b in points)}


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=30))
@settings(max_examples=200, deadline=None)
def test_the_front_against_its_definition(points: list[tuple[int, int]]):
    found = front(points)
    assert set(found) == naive_front(points) and len(set(found)) == len(found)
    assert [points[i] for i in found] == sorted(points[i] for i in found)


def test_the_front_of_cells():
    cells = [record(Cell("clusters", k, 0), estimate=estimate, seconds=seconds, bytes_read=read)
             for k, estimate, seconds, read in ((1, 24, 1.0, 9), (2, 8, 2.0, 9), (3, 15, 3.0, 4), (4, 30, 4.0, 1))]
    summary = summary_of(*cells, record(Cell("sweep", None, 0), STOPPED, estimate=12, seconds=0.5, bytes_read=0),
                         record(Cell("fringe", None, 0), estimate=0, seconds=0.5), known=12)
    assert [row["ratio"] for row in summary.rows[:5]] == [2.0, 8 / 12, 1.25, 2.5, 1.0]
    assert [loss(row["ratio"]) for row in summary.rows[:2]] == [2.0, 1.5]
    assert [row["on_front_seconds"] for row in summary.rows] == [True, True, True, False, None, None]
    assert [row["on_front_bytes"] for row in summary.rows] == [False, False, True, True, None, None]
    assert "No other run both searches for less time and is closer than: clusters-masters-1-seed-0," in (
        markdown_text(summary))


def test_the_diameter_is_proved_by_cells_together_or_given():
    sweep, fringe = record(Cell("sweep", None, 0), lower=12), record(Cell("fringe", None, 0), upper=12)
    found = summary_of(sweep, fringe, known=12)
    assert (found.diameter, found.diameter_from, found.messages) == (12, "proved", [])
    assert found.rows[0]["ratio"] == found.rows[0]["ratio_least"] == found.rows[0]["ratio_most"] == 15 / 12
    wrong = summary_of(sweep, fringe, known=13)
    assert wrong.diameter == 12 and wrong.messages == [
        "13 is not the diameter, so no ratio is of it: 12 <= D <= 12 is proved"]
    given_one = summary_of(sweep, known=14)
    assert (given_one.diameter, given_one.diameter_from) == (14, "given")
    assert "D = 14 (given)" in markdown_text(given_one)
    outside = summary_of(sweep, known=21)
    assert outside.diameter is None and len(outside.messages) == 1 and outside.rows[0]["ratio"] is None


def test_ratios_are_intervals_while_the_diameter_is_not_known():
    found = summary_of(record(Cell("sweep", None, 0)))
    assert (found.rows[0]["ratio_least"], found.rows[0]["ratio_most"]) == (0.75, 1.5)
    text = markdown_text(found)
    assert "0.7500 .. 1.5000" in text and "\n10 <= D <= 20 (proved bounds): the largest diameter" in text
    assert found.rows[0]["on_front_seconds"] is None and "No other run" not in text
    zero = summary_of(record(Cell("sweep", None, 0), lower=0))
    assert zero.rows[0]["ratio_most"] is None and "0.7500 .." in markdown_text(zero)
    nothing = summary_of(record(Cell("sweep", None, 0), FAILED), known=3)
    assert (nothing.lower, nothing.diameter) == (None, 3) and nothing.rows[0]["ratio"] is None
    point = summary_of(record(Cell("sweep", None, 0), lower=0, upper=0, estimate=0))
    assert point.diameter == 0 and point.rows[0]["ratio"] is None


def test_an_exact_run_estimates_only_what_it_proves():
    proved = summary_of(record(Cell("exact"), lower=12, upper=12)).rows[0]
    assert (proved["seconds"], proved["seconds_estimate"], proved["seconds_compile"]) == (2.0, 2.0, 9)
    assert (proved["estimate"], proved["ratio"], proved["masters"], proved["traversals"]) == (12, 1.0, None, 3)
    assert summary_of(record(Cell("exact"), STOPPED)).rows[0]["estimate"] is None


def test_cells_that_contradict_each_other_are_our_fault():
    cells = [record(Cell("sweep", None, 0), lower=13), record(Cell("fringe", None, 0), upper=12)]
    with pytest.raises(EmdiamError, match="at least 13 and at most 12"):
        bounds(cells)
    assert bounds([]) == (None, None)


def test_several_seeds_are_told_apart():
    cells = [record(Cell(method, masters, seed, label), condensed=None)
             for seed in (0, 1) for method, masters, label in (("clusters", 8, "~2^3"), ("sweep", None, ""))]
    text = markdown_text(summary_of(*cells, record(Cell("exact"), lower=12, upper=12)))
    assert "| ~2^3, seed 0 | ~2^3, seed 1 |" in text and "| sweep, seed 1 " in text and "| exact " in text
    assert csv_text(COLUMNS, summary_of(*cells).rows).count("\n") == 5


@pytest.mark.parametrize(("value", "text"), [(1.0, "1.0000"), (1.00014, "1.000140"), (2.5, "2.5000"), (0.97, "0.9700")])
def test_ratios_have_enough_digits(value: float, text: str):
    assert ratio_text(value) == text


def test_the_front_is_of_the_search_alone():
    """A run that loads for long, in a cold cache for one, is as good as it searches."""
    def timed(masters: int, total: float, startup: float, estimate: int) -> CellRecord:
        seconds = {"total": total, "solve": 1.0, "compile": 0.0, "load": startup, "verify": 0.0, "startup": startup}
        return replace(record(Cell("clusters", masters, 0)), result=result(estimate=estimate) | {"seconds": seconds})

    rows = summary_of(timed(1, 5.0, 4.5, 14), timed(2, 2.0, 0.25, 15), known=12).rows
    assert [(row["seconds_startup"], row["seconds_search"]) for row in rows] == [(4.5, 0.5), (0.25, 1.75)]
    assert [row["on_front_seconds"] for row in rows] == [True, False]
    cold = result() | {"seconds": {"total": 5.0, "solve": 1.0, "compile": 3.5, "load": 4.0, "verify": 0.0}}
    (row,) = summary_of(replace(record(Cell("clusters", 1, 0)), result=cold)).rows
    assert row["seconds_estimate"] == row["seconds"] == 1.5  # compiled while it was loaded


def test_plots_without_the_diameter(tmp_path: Path):
    pytest.importorskip("matplotlib")
    from emdiam.report.tradeoff import draw

    cells = [record(Cell("sweep", None, seed), seconds=1.0 + seed, bytes_read=9 - seed) for seed in (0, 1)]
    files = draw(summary_of(*cells), tmp_path)
    assert [path.stem for path in files[::2]] == ["quality-seconds", "quality-bytes"]
    assert "Pareto" not in files[0].read_text() and "estimate (edges" in files[0].read_text()


def test_plots_of_little(tmp_path: Path):
    """One point, points at one price, and masters that are all alike show nothing."""
    pytest.importorskip("matplotlib")
    from emdiam.report.tradeoff import draw

    assert draw(summary_of(record(Cell("sweep", None, 0), FAILED)), tmp_path) == []
    point = record(Cell("clusters", 1, 0), lower=0, upper=0, estimate=0, bytes_read=0, masters=None)
    assert draw(summary_of(point), tmp_path) == []
    same = [record(Cell("clusters", 4, seed), masters=4, known=None) for seed in (0, 1)]
    summary = summary_of(*same, known=12)
    assert draw(summary, tmp_path) == [] and "reads less" not in markdown_text(summary)
