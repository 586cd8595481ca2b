"""Where vertex state is: in memory, on disk where it must be, and on disk where that is asked for."""

from __future__ import annotations

import time
import weakref
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from emdiam.checkpoint.options import CheckpointOptions
from emdiam.cli.plan import plan_text
from emdiam.errors import BudgetError, InputError, MoreMemoryError, without_frames
from emdiam.runs.hops import nothing_yet
from emdiam.runs.plan import plan_run
from emdiam.runs.task import Session, execute, make_task
from emdiam.store.store import open_store
from emdiam.stream.reserve import Reserve
from tests.helpers.stores import odd_graphs, write_store

GRAPH = odd_graphs()["long-caterpillar"]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return write_store(tmp_path / "g.zarr", GRAPH)


def run(**fields: Any) -> Any:
    return make_task("pivots", memory_bytes=4 << 30, **fields)


def no_room(*given: Any, **named: Any) -> NoReturn:
    raise BudgetError("no room for vertex state", remedy="give more")


def test_it_is_in_memory_where_there_is_room(store: Path) -> None:
    assert "vertex_state" not in execute(store, run()).details
    with open_store(store) as opened:
        assert plan_run(opened, run()).disk_bytes == 0


def test_it_is_on_disk_where_there_is_none(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    want = execute(store, run())
    monkeypatch.setattr("emdiam.engine.cpu.make_plan", no_room)
    found = execute(store, run())
    assert found.details["vertex_state"] == "on disk" and found.exact
    assert found.diameter == want.diameter and found.witness == want.witness and found.proof == want.proof
    with open_store(store) as opened:
        plan = plan_run(opened, run())
    assert plan.disk_bytes > 0 and plan.planned_rss_bytes <= plan.memory_limit_bytes
    assert "vertex state on disk" in plan_text(plan.to_dict())
    with pytest.raises(BudgetError, match="no room"):
        execute(store, run(vertex_state="ram"))


@pytest.mark.slow  # runs/test_least.py has one that ends on disk
def test_a_run_that_finds_out_late_begins_again(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where distances take more bytes than was planned, and blocks have none left to give."""
    def widen(self: Reserve, item: int) -> None:
        time.sleep(0.3)
        raise MoreMemoryError("columns take more than there is", 1 << 20)

    monkeypatch.setattr(Reserve, "widen", widen)
    found = execute(store, run())
    assert found.details["vertex_state"] == "on disk" and found.exact
    assert found.seconds["total"] >= found.seconds["solve"] + 0.3
    with pytest.raises(BudgetError, match="more than there is"):
        execute(store, run(vertex_state="ram"))


def test_a_run_that_ends_before_its_method_has_the_seconds_of_all_others(store: Path) -> None:
    """A trade-off reads them."""
    with open_store(store) as opened:
        early = nothing_yet(Session(opened, run()), 1.0)
    assert early.seconds.keys() == execute(store, run()).seconds.keys() - {"startup"}


def test_too_little_memory_for_either_is_refused_with_what_would_do(store: Path) -> None:
    with open_store(store) as opened, pytest.raises(BudgetError, match=r"give at least --memory \d+MiB"):
        plan_run(opened, make_task("pivots", memory_bytes=50 << 20))
    with pytest.raises(BudgetError, match="with vertex state on disk, is"):
        execute(store, make_task("pivots", memory_bytes=50 << 20, vertex_state="disk"))


def test_what_cannot_be_on_disk_is_refused(store: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="auto, ram, disk"):
        execute(store, run(vertex_state="tape"))
    with pytest.raises(InputError, match="does not go with a checkpoint"):
        execute(store, run(vertex_state="disk", checkpoint=CheckpointOptions(tmp_path / "kept")))


def test_nothing_is_left_behind(store: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = execute(store, make_task("fdiam", switches={"scratch": scratch}, memory_bytes=4 << 30, vertex_state="disk"))
    assert found.exact and found.details["scratch_bytes_written"] > 0 and list(scratch.iterdir()) == []


def test_what_was_refused_is_let_go() -> None:
    """Frames of an error, and of those that it came from, hold what was in memory."""
    def failing() -> None:
        held = np.zeros(9)
        watched.append(weakref.ref(held))
        try:
            raise MoreMemoryError("columns", 1)
        except MoreMemoryError:
            raise BudgetError("too small") from None

    watched: list[weakref.ref[np.ndarray]] = []
    try:
        failing()
    except BudgetError as error:
        assert watched[0]() is not None
        refused = without_frames(error)
    assert watched[0]() is None and str(refused) == "too small"
