"""The rule by which a level of a BFS goes top-down or bottom-up, as a choice of the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from emdiam.errors import InputError
from emdiam.generators import generate
from emdiam.runs import opening
from emdiam.runs.option import DIRECTIONS
from emdiam.runs.task import execute, task_of
from emdiam.traverse import bfs_whole
from tests.conftest import Run


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some levels are dense, hubs have most of the arcs."""
    target = tmp_path_factory.mktemp("direction") / "g.zarr"
    generate("rmat", target, vertices=2**16, seed=1, parameters={"edge_factor": 8})
    return target


@pytest.mark.parametrize("rule", DIRECTIONS)
def test_every_rule_gives_the_same_answer_and_is_the_one_that_is_asked(
    store: Path, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules, kernel = set[str](), bfs_whole.bfs_whole

    def noted(*arguments: Any) -> Any:
        rules.add(DIRECTIONS[arguments[-2][bfs_whole.RULE]])
        return kernel(*arguments)

    want = execute(store, task_of("exact", {}, "fdiam"))
    monkeypatch.setattr(bfs_whole, "bfs_whole", noted)
    found = execute(store, task_of("exact", {"direction": rule}, "fdiam"))
    assert rules == {rule} and found.exact
    assert (found.diameter_max_component, found.traversals.bfs) == (want.diameter_max_component, want.traversals.bfs)


def test_the_command_takes_it(store: Path, command: Run) -> None:
    done = command("exact", store, "--method", "fdiam", "--direction", "paper", "--json", "--quiet")
    assert done.returncode == 0 and json.loads(done.stdout)["exact"]


def test_a_rule_of_another_name_is_refused(store: Path) -> None:
    with pytest.raises(InputError, match="unknown direction rule"):
        execute(store, task_of("exact", {"direction": "sideways"}, "fdiam"))


@pytest.mark.parametrize("other", [{"workers": 2}, {"vertex_state": "disk"}])
def test_workers_and_vertex_state_on_disk_have_none(store: Path, other: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="direction"):
        execute(store, task_of("exact", {"direction": "paper", **other}, "fdiam"))


def test_a_run_that_has_one_keeps_vertex_state_in_memory(store: Path) -> None:
    run = task_of("exact", {"direction": "paper"}, "fdiam")
    assert opening.state_of(run, opening.selection(run)) == "ram"
