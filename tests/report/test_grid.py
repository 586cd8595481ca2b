"""The cells of a trade-off: which there are, and each as a process of its own."""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.batch.attempt import DONE, FAILED, STOPPED, outcome
from emdiam.errors import InputError
from emdiam.report import cells
from emdiam.report.cells import Cell, cell_task, make_grid, parse_grid
from emdiam.runs.tradeoff import ENDED
from tests.helpers.tradeoff_cells import record, result, scripted


# -- the grid -------------------------------------------------------------------------------------
@pytest.mark.parametrize(("text", "items"), [
    ("2^8..2^24:4", [4**k for k in range(4, 13)]), ("2^8..2^11", [256, 1024]), ("1..1:2", [1]), ("7", [7]),
    ("3..100:5", [3, 15, 75]), ("2^8, 10% ,auto,8..32:2,16", [256, "10%", "auto", 8, 16, 32]),
    ("1e3 .. 1e5 : 10", [1000, 10**4, 10**5]),
])
def test_masters_are_items_and_ranges(text: str, items: list[int | str]):
    assert parse_grid(text) == items


@pytest.mark.parametrize(("text", "message"), [
    ("", "missing"), ("2^8..", "missing"), ("..2^8", "missing"), ("2^8..2^4", "upwards"), ("8..16:1", "2 or more"),
    ("8..16:x", "not a count"), ("8..16:", "not a count"), ("10%..20%", "one count to another"),
    ("8..auto", "one count to"), ("0..8", "at least one"), ("8..2^64", "too large"), ("8,,9", "missing"),
    ("a..b", "not a number"), ("8..16..32", "not a number"), ("8..16:2:2", "not a count"), ("4..8:2.5", "whole"),
    ("8..16:-4", "2 or more"),
])
def test_masters_that_cannot_be(text: str, message: str):
    with pytest.raises(InputError, match=message):
        parse_grid(text)


@given(st.integers(1, 10**6), st.integers(0, 10**9), st.integers(2, 50))
@settings(max_examples=50, deadline=None)
def test_a_range_against_its_definition(first: int, more: int, factor: int):
    last = first + more
    expected = [first * factor**k for k in range(64) if first * factor**k <= last]
    assert parse_grid(f"{first}..{last}:{factor}") == expected


def test_the_cells_of_a_grid():
    grid = make_grid(["sweep", "clusters", "sweep"], [8, "10%", 100, 16, "auto", 512], [3, 5, 3], 160, exact=True)
    one = [Cell("sweep", None, 3), Cell("clusters", 8, 3), Cell("clusters", 16, 3), Cell("clusters", 100, 3),
           Cell("clusters", "auto", 3)]
    assert list(grid.cells) == [Cell("exact"), *one, *(Cell(c.method, c.masters, 5) for c in one)]
    assert [cell.label for cell in grid.cells[1:6]] == ["", "~2^3", "10%", "~100", "auto"]
    assert grid.left_out == ("~2^9 masters are more than the 160 vertices",)
    names = [cell.name for cell in grid.cells]
    assert len(set(names)) == len(names) and names[:3] == ["exact", "sweep-seed-3", "clusters-masters-8-seed-3"]


@pytest.mark.parametrize(("methods", "masters", "seeds", "message"), [
    (["magic"], [8], [0], "no such approximation"), ([], [8], [0], "no method"), (["sweep"], [8], [], "a seed"),
    (["sweep"], [8], [-1], "a seed"), (["clusters"], [300], [0], "no run is possible: .* 200 vertices"),
])
def test_grids_that_cannot_be(methods: list[str], masters: list[int | str], seeds: list[int], message: str):
    with pytest.raises(InputError, match=message):
        make_grid(methods, masters, seeds, 200)


def test_masters_of_other_methods_do_not_matter():
    assert make_grid(["fringe"], [300], [0], 200).cells == (Cell("fringe", None, 0),)
    assert make_grid([], [], [0], 200, exact=True).cells == (Cell("exact"),)


# -- one cell -------------------------------------------------------------------------------------
def test_the_command_of_a_cell():
    options = cell_task(7, True, 2, "there", memory_bytes=1 << 30, arena_bytes=4096, threads=3, evict_page_cache=True,
                        time_limit=90.0)
    shared = [f"--memory={1 << 30}", "--arena=4096", "--threads=3", "--time-limit=90.000000s", "--evict-page-cache",
              "--json", "--quiet"]
    start = [sys.executable, "-m", "emdiam"]
    assert cells.command_of("g", Cell("clusters", 64, 5), options) == [
        *start, "approx", "g", "--method=clusters", "--seed=5", "--masters=64", "--euler", "--levels=2",
        "--scratch=there", *shared]
    assert cells.command_of("g", Cell("fringe", None, 5), options) == [
        *start, "approx", "g", "--method=fringe", "--seed=5", "--iterations=7", "--scratch=there", *shared]
    assert cells.command_of("g", Cell("exact"), options) == [*start, "exact", "g", "--scratch=there", *shared]
    assert cells.command_of("g", Cell("sweep", None, 0), cell_task()) == [
        *start, "approx", "g", "--method=sweep", "--seed=0", "--threads=2", "--json", "--quiet"]
    own = {"weighted": True, "vertex_state": "disk", "reorder": "never", "device": "gpu"}
    options = cell_task(own=own)
    shared = ["--vertex-state=disk", "--reorder=never", "--weighted", "--device=gpu", "--threads=2", "--json",
              "--quiet"]
    assert cells.command_of("g", Cell("sweep", None, 0), options) == [
        *start, "approx", "g", "--method=sweep", *shared]
    assert cells.command_of("g", Cell("exact"), options) == [*start, "exact", "g", *shared]


def test_along_weights_some_methods_are_left_out():
    grid = make_grid(["spanning", "sweep", "clusters"], [4], [0], 200, weighted=True)
    assert [cell.method for cell in grid.cells] == ["sweep", "clusters"]
    assert grid.left_out == ("spanning does not go along weights",)


@pytest.mark.parametrize(("process", "expected"), [
    ((0, '{"a": 1}\n', "warning"), (DONE, None, {"a": 1})),
    ((3, '{"a": 1}\n', "x\nemdiam: the time limit is over\n"), (STOPPED, "the time limit is over", {"a": 1})),
    ((3, "", "emdiam: the time limit is over"), (STOPPED, "the time limit is over", None)),
    ((2, "", "emdiam: the budget\nof which\n"), (FAILED, "the budget", None)),
    ((2, "", "Error: no\n"), (FAILED, "no", None)), ((1, '{"a": 1}', "emdiam: fault"), (FAILED, "fault", None)),
    ((0, "", ""), (FAILED, "left with exit code 0 and no answer", None)),
    ((0, "{", ""), (FAILED, "its answer is not JSON", None)), ((-11, "", ""), (FAILED, "ended by SIGSEGV", None)),
    ((-9, "", ""), (FAILED, "ended by SIGKILL, perhaps for want of memory", None)),
])
def test_what_became_of_a_process(process: tuple[int, str, str], expected: tuple[Any, ...]):
    status, _, reason, answer = outcome(*process)
    assert (status, reason, answer) == expected


def test_a_process_that_does_not_stop_is_ended(monkeypatch: pytest.MonkeyPatch):
    for name in ("_GRACE_SECONDS", "_ANSWER_SECONDS", "_END_SECONDS"):
        monkeypatch.setattr(cells, name, 0.2)
    deaf = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(3600)"
    for script, code in (("import time\ntime.sleep(3600)", -signal.SIGTERM), (deaf, -signal.SIGKILL)):
        scripted(monkeypatch, script)
        found = cells.run_cell("g", "d", Cell("sweep", None, 0), cell_task(time_limit=0.2))
        assert (found.status, found.result, found.time_limit) == (FAILED, None, 0.2)
        assert found.reason == "it did not stop by itself within 0 s" and found.exit_code in (code, -signal.SIGTERM)


def test_a_cell_of_another_store_is_no_cell(monkeypatch: pytest.MonkeyPatch):
    scripted(monkeypatch, f"print('''{json.dumps(result())}''')")
    assert cells.run_cell("g", "d", Cell("sweep", None, 0), cell_task()).status == ENDED
    with pytest.raises(InputError, match="the store has changed"):
        cells.run_cell("g", "e", Cell("sweep", None, 0), cell_task())


@pytest.mark.parametrize(("status", "old", "new", "retry", "again"), [
    (ENDED, 5.0, 9.0, True, False), (STOPPED, 5.0, 5.0, False, False), (STOPPED, 5.0, 4.0, False, False),
    (STOPPED, 5.0, 5.5, False, True), (STOPPED, 5.0, None, False, True), (STOPPED, 5.0, 5.0, True, True),
    (FAILED, 5.0, 9.0, False, False), (FAILED, None, None, False, False), (FAILED, None, None, True, True),
])
def test_which_cells_are_run_again(status: str, old: float | None, new: float | None, retry: bool, again: bool):
    assert record(Cell("sweep", None, 0), status, limit=old).counts(new, retry) is not again
