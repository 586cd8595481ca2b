"""The least memory that is named works, in processes of their own: by the refusal of a tiny budget, and by `emdiam
plan` of a graph that was looked at. `python -m bench.memory.least` measures all commands and methods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.memory.cells import named_bytes
from bench.memory.eight import EIGHT
from bench.memory.graphs import write_edges
from bench.memory.process import Ended, call
from emdiam.api import convert, generate
from emdiam.conversion.convert import ConvertOptions
from emdiam.conversion.reorder import check_reordering
from emdiam.errors import BudgetError
from emdiam.runs import hops
from emdiam.runs.option import ORDERS
from emdiam.runs.task import execute, make_task
from emdiam.store.store import open_store
from emdiam.stream.plan import Known, program_bytes

# Distances of 2 bytes, and of 4; of so many vertices that wider columns take more than the blocks can give.
COMB, PATH = 3069, 1 << 20
COMMANDS = {
    "sweep": ("approx", "comb", "--method", "sweep"), "pivots": ("exact", "path", "--method", "pivots"),
    "fdiam": ("exact", "path", "--method", "fdiam"), "comb": ("exact", "comb", "--method", "pivots"),
    "ram": ("exact", "path", "--vertex-state", "ram"),
    "distances": ("distances", "comb", "--sample", "8"), "cluster": ("reorder", "comb", "--order", "cluster"),
    "degree": ("reorder", "comb", "--order", "degree")}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("deep")
    write_edges(folder / "comb.txt", EIGHT["comb"](PATH))
    convert(folder / "comb.txt", folder / "comb.zarr")
    generate("path", folder / "path.zarr", vertices=PATH)
    return {name: folder / f"{name}.zarr" for name in ("comb", "path")}


def run(stores: dict[str, Path], name: str, memory: int) -> Ended:
    command, graph, *options = COMMANDS[name]
    target = [str(stores["comb"].with_name("new.zarr")), "--force"] if command == "reorder" else []
    return call([command, str(stores[graph]), *target, *options, "--memory", str(memory), "--json"])


def checked(ended: Ended, memory: int) -> dict[str, Any]:
    """The answer of a run that was not refused, and kept to its memory."""
    assert ended.code == 0 and ended.peak_bytes <= memory, ended.err
    answer: dict[str, Any] = json.loads(ended.out)
    assert answer["planned_rss_bytes"] <= memory
    return answer


@pytest.mark.parametrize("name", [
    "pivots", *(pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS if name != "pivots")])
def test_what_the_first_refusal_names(stores: dict[str, Path], name: str) -> None:
    refused = run(stores, name, 1 << 20)
    least = named_bytes(refused.said)
    assert refused.code == 2 and least is not None
    answer = checked(run(stores, name, least), least)
    if "diameter" in answer and COMMANDS[name][1] == "path":
        assert answer["diameter"] == PATH - 1


def test_what_the_plan_names_after_a_look(stores: dict[str, Path]) -> None:
    """It has seen that distances take 2 bytes, and no more."""
    seen, unseen = (json.loads(call(["plan", str(stores["comb"]), "--method", "pivots", "--json", *look]).out)
                    for look in ((), ("--no-probe",)))
    assert seen["narrow_bytes"] < seen["minimum_bytes"] < seen["wide_bytes"]
    assert unseen["minimum_bytes"] == unseen["wide_bytes"]


@pytest.mark.slow
def test_what_the_plan_names_works(stores: dict[str, Path]) -> None:
    least = json.loads(call(["plan", str(stores["comb"]), "--method", "pivots", "--json"]).out)["minimum_bytes"]
    assert checked(run(stores, "comb", least), least)["diameter"] == COMB


def test_a_plan_of_all_methods_names_what_a_run_of_the_first_does(stores: dict[str, Path]) -> None:
    """Modules of the others, among them 40 MiB to compile with, are not counted."""
    of_all, alone = (named_bytes(call([command, str(stores["path"]), "--memory", "1MiB"]).said)
                     for command in ("plan", "exact"))
    assert of_all is not None and alone is not None
    assert abs(of_all - alone) < 12 << 20


@pytest.mark.parametrize("order", ORDERS)
def test_a_refused_order_names_what_all_its_stages_take(stores: dict[str, Path], tmp_path: Path, order: str) -> None:
    program = program_bytes()
    with open_store(stores["comb"]) as store:
        def check(memory: int) -> None:
            check_reordering(store, tmp_path / "new.zarr", order, ConvertOptions(memory_bytes=memory), program)

        with pytest.raises(BudgetError) as refusal:
            check(1 << 20)
        least = named_bytes(str(refusal.value))
        assert least is not None
        check(least)


def test_an_attempt_that_knows_more_follows_one_that_found_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where even the fourth finds more, vertex state goes on disk."""
    from emdiam.errors import MoreMemoryError
    from emdiam.stream.reserve import Reserve

    known: list[Known | None] = []
    attempt = hops._solve

    def solve(*given: Any) -> Any:
        known.append(given[5])
        return attempt(*given)

    def hold(self: Reserve, what: str, n_bytes: int) -> None:
        raise MoreMemoryError(f"{what} take more than there is", 1, reserve_bytes=1000 * len(known))

    monkeypatch.setattr(hops, "_solve", solve)
    monkeypatch.setattr(Reserve, "hold", hold)
    generate("percolated", tmp_path / "g.zarr", sides="30x30", p=0.3)
    with open_store(tmp_path / "g.zarr") as store:
        found = execute(store, make_task("pivots", memory_bytes=2 << 30))
    assert found.exact and not found.connected and found.details["vertex_state"] == "on disk"
    assert [one and one.reserve_bytes for one in known] == [None, 1000, 2000, 3000, 4000]
