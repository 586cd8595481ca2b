"""Checkpoints of runs on a device: one that is stopped anywhere goes on to the same result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emdiam.checkpoint.options import CheckpointOptions
from emdiam.errors import InputError
from emdiam.gpu.setting import OnDevice, Selection
from emdiam.methods.exact.strategy import Costs
from emdiam.runs.task import execute, make_task
from tests.helpers.checkpoint_runs import RUNS, Kept, Planted
from tests.helpers.stores import engine_on, write_store
from tests.journal.test_journal import same_answer, tangle
from tests.simt.devices import open_device

# Most verbs, and spreads, and labels; the others are slow.
QUICK = ("fdiam", "clusters-auto")


@pytest.fixture(scope="module", params=["resident", "paged"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = write_store(tmp_path_factory.mktemp("stores") / "g.zarr", tangle())
    with engine_on(path, device=OnDevice(open_device("shim-0"), paged=request.param == "paged")) as opened:
        assert opened.graph.resident == (request.param == "resident")
        yield opened


@pytest.mark.parametrize("run", [run if run in QUICK else pytest.param(run, marks=pytest.mark.slow) for run in RUNS])
def test_a_run_that_stops_at_any_verb_goes_on_to_the_same_result(engine: Any, run: str, tmp_path: Path) -> None:
    kept = Kept(engine, tmp_path / "whole", run)
    whole, total = kept.run(), kept.journal.written
    assert kept.journal.n_before == 0 and total >= 2
    assert kept.run() == whole and kept.journal.written == 0  # all of it from the journal
    for stop in sorted({1, (total + 1) // 2, total}):
        kept = Kept(engine, tmp_path / f"at-{stop}", run)
        with pytest.raises(Planted):
            kept.run(stop, before=stop % 2 == 0)
        assert same_answer(kept.run(), whole)
        assert kept.journal.n_before == stop - (stop % 2 == 0)


def test_a_run_with_wide_batches_goes_on(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not engine.graph.resident:
        pytest.skip("wide batches are of graphs that stay")
    monkeypatch.setattr(Costs, "covering_pays", lambda *_: True)
    monkeypatch.setattr(Costs, "visits", lambda self, cover, gain: False)
    monkeypatch.setattr(Costs, "wide_bits", lambda self, cover, gain: 3)
    kept = Kept(engine, tmp_path / "whole", "pivots")
    whole, total = kept.run(), kept.journal.written
    kept = Kept(engine, tmp_path / "stopped", "pivots")
    with pytest.raises(Planted):
        kept.run(total // 2, before=False)
    assert same_answer(kept.run(), whole) and kept.journal.n_before == total // 2


def test_neither_goes_on_with_what_the_other_has_left(tmp_path: Path) -> None:
    store, folder = write_store(tmp_path / "g.zarr", tangle()), tmp_path / "kept"
    on_device = Selection(open_device("shim-0"))

    def run(device: Any, resume: bool) -> Any:
        return execute(store, make_task("pivots", device=device, memory_bytes=2 << 30, checkpoint=CheckpointOptions(
            folder, resume=resume, keep=True)))

    found = run(on_device, False)
    assert found.exact and found.details["checkpoint"]["resumed"] == 0
    again = run(on_device, True)
    assert (again.diameter, again.device) == (found.diameter, found.device)
    assert again.details["checkpoint"]["resumed"] > 0 and again.traversals == found.traversals
    with pytest.raises(InputError, match="device"):
        run("cpu", True)
