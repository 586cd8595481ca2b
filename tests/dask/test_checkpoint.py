"""Checkpoints of runs over workers: they go on with any number of workers, and with none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from emdiam.checkpoint.folder import Folder
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.errors import StoppedEarly
from emdiam.journal.engine import JournalEngine
from emdiam.journal.run import run_facts
from emdiam.journal.vertex_state import RamState
from emdiam.runs.opening import open_engine
from emdiam.runs.registry import METHODS, method_options
from emdiam.store.store import open_store
from tests.dask.test_loss import lose, mesh
from tests.helpers.checkpoint_runs import RUNS, CountingJournal, Planted, comparable
from tests.helpers.stores import write_store
from tests.helpers.workers import MEMORY, engine_on_workers

pytest.importorskip("distributed", reason="dask.distributed is not installed")

_ANSWER = ("lower", "upper", "diameter_largest_component", "n_components", "exact", "estimate")


@contextmanager
def engine_of(path: Path, workers: int) -> Iterator[Any]:
    """An engine over so many workers; 0: the CPU engine."""
    if workers:
        with engine_on_workers(path, workers, processes=False) as engine:
            yield engine
        return
    with open_store(path) as store, open_engine(store, memory_bytes=MEMORY) as engine:
        yield engine


def answer(engine: Any, run: str) -> dict[str, Any]:
    method, switches = RUNS[run]
    told = comparable(METHODS[method].definition().solve(engine, method_options(method, switches)))
    return {name: told[name] for name in _ANSWER if name in told}


@contextmanager
def kept(bare: Any, folder: Path, stop: int | None = None) -> Iterator[Any]:
    """`bare` over the journal in `folder`; Planted after record number `stop` of this run."""
    from emdiam.journal.worker_state import WorkerState

    state = WorkerState(bare) if hasattr(bare, "group") else RamState(bare)
    opened = Folder(folder, options=CheckpointOptions(every=1e9, resume=True))
    try:
        journal = CountingJournal(opened, stop, before=False)
        facts = run_facts(bare)
        try:
            yield JournalEngine(bare, state, journal, opened, facts)
        finally:
            journal.close()
    finally:
        opened.close()


@pytest.mark.thin(8, sampled=("run",))
@pytest.mark.parametrize("run", ["pivots", "fdiam", "bounding", "apsp", "sweep", "clusters", "spanning", "fringe"])
def test_a_run_goes_on_wherever(run: str, tmp_path: Path) -> None:
    path = write_store(tmp_path / "g.zarr", mesh())
    with engine_of(path, 0) as engine:
        want = answer(engine, run)
    ways = [(2, 0), (0, 2), (2, 3)]
    for i, (first, then) in enumerate(ways):
        folder = tmp_path / f"kept-{i}"
        with engine_of(path, first) as engine, kept(engine, folder, 4 + i) as over, pytest.raises(Planted):
            answer(over, run)
        with engine_of(path, then) as engine, kept(engine, folder) as over:
            assert answer(over, run) == want
            assert over.journal.n_before == 4 + i


@pytest.mark.slow
def test_a_lost_run_leaves_what_it_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, folder = write_store(tmp_path / "g.zarr", mesh()), tmp_path / "kept"
    with engine_of(path, 3) as engine:
        want = answer(engine, "pivots")
    with engine_of(path, 3) as engine, kept(engine, folder) as over:
        bfs, calls = over.bfs, list[int]()

        def fatal(*args: Any, **named: Any) -> Any:
            calls.append(1)
            if len(calls) == 3:
                monkeypatch.setattr(type(engine.group), "alive", lambda group: {})
                engine.group._wait = 0.0
                lose(engine, 1)
            return bfs(*args, **named)

        over.bfs = fatal
        with pytest.raises(StoppedEarly, match=r"no other worker .* within 0 s; .* is proved") as stop:
            answer(over, "pivots")
        found: Any = stop.value.result
        assert found.lower <= want["lower"] == want["upper"] <= found.upper and stop.value.exit_code == 3
    monkeypatch.undo()
    with engine_of(path, 2) as engine, kept(engine, folder) as over:
        assert over.journal.n_before > 0
        assert answer(over, "pivots") == want
