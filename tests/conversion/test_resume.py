"""A conversion that is stopped anywhere and resumed gives the bytes of one that was not."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from emdiam.checkpoint import folder
from emdiam.checkpoint.folder import Folder
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.conversion.convert import ConvertOptions, write_graph
from emdiam.conversion.ordered import convert_ordered
from emdiam.conversion.orders import ORDERS
from emdiam.conversion.reorder import reorder
from emdiam.conversion.writing import DONE
from emdiam.formats.source import SourceInfo
from emdiam.progress import Event
from emdiam.sorting.scratch import Checkpoint
from emdiam.store import arc_runs
from tests.conftest import ROOT
from tests.helpers.convert_twin import TINY, ListSource
from tests.helpers.open_files import open_files
from tests.helpers.resume_attempts import (
    FEW,
    INPUTS,
    Stop,
    attempt,
    files_of,
    stop_after,
    unbroken,
)
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.thin(6)

@pytest.fixture
def at_rest(tmp_path: Path) -> Iterator[None]:
    """Afterwards: a store and nothing beside it, no thread of ours and no open file more than before."""
    unbroken("declared")  # the files that zarr keeps open for good are open then
    files = open_files()
    yield
    assert [path.name for path in tmp_path.iterdir()] == ["g.zarr"]
    names = {thread.name.split("_")[0] for thread in threading.enumerate()}
    assert not names & {"sort", "merge", "join", "encode", "scan"}
    assert not open_files() - files


def test_a_checkpoint_that_cannot_be_removed_does_not_fail_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(folder: Folder) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Folder, "remove", broken)
    report = attempt("declared", tmp_path)
    assert report.notes[-1].startswith("the store is complete, but its checkpoint stays: ")
    assert "Input/output error" in report.notes[-1] and (tmp_path / "g.zarr").exists()


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("kind", INPUTS)
def test_a_stop_after_every_single_state(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each attempt gets one state further than the one before it."""
    stop_after(monkeypatch, lambda state: DONE not in state)
    report, n_stops = None, 0
    while report is None:
        try:
            report = attempt(kind, tmp_path)
        except Stop:
            n_stops += 1
        assert n_stops < 500
    assert n_stops >= 8 and any("went on from a checkpoint" in note for note in report.notes)
    assert files_of(tmp_path / "g.zarr") == unbroken(kind)
    pairs, _ = INPUTS[kind]
    assert report.pairs_read == len(pairs)
    assert report.record.loops_dropped == sum(a == b for a, b in pairs)


@pytest.mark.usefixtures("at_rest")
@pytest.mark.parametrize("kind", INPUTS)
def test_a_stop_before_and_after_the_renaming(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, pytest.raises(Stop):
        stop_after(patch, lambda state: DONE in state)
        attempt(kind, tmp_path)
    assert not (tmp_path / "g.zarr").exists()
    with monkeypatch.context() as patch, pytest.raises(Stop):
        stop_after(patch, lambda state: "report" in state)
        attempt(kind, tmp_path)
    assert files_of(tmp_path / "g.zarr") == unbroken(kind)
    report = attempt(kind, tmp_path)
    assert any("complete already" in note for note in report.notes)
    assert report.pairs_read == len(INPUTS[kind][0])
    assert files_of(tmp_path / "g.zarr") == unbroken(kind)


def stops_of(work: Callable[[], Any]) -> int:
    """How often `work` stops until it ends."""
    for n_stops in range(500):
        try:
            work()
        except Stop:
            continue
        return n_stops
    raise AssertionError("it makes no headway")


GRAPH = [(a, b) for a, b in FEW if a != b]


@pytest.mark.parametrize("order", ["natural", "degree", "bfs", "cluster"])
def test_reordering_stopped_after_every_single_state(
    order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, target = tmp_path / "old.zarr", tmp_path / "new.zarr"
    write_graph(ListSource(GRAPH, SourceInfo()), store, options=ConvertOptions(chunk_ids=64))
    if order == "natural":
        reorder(store, tmp_path / "degree.zarr", "degree", options=ConvertOptions(chunk_ids=64))
        store = tmp_path / "degree.zarr"
    monkeypatch.setattr(arc_runs, "RUN_ARCS", 64)
    plan = replace(TINY, run_keys=64, least_run_keys=64)
    options = ConvertOptions(plan=plan, chunk_ids=64, scratch=tmp_path)
    reorder(store, target, order, options=options)
    whole = files_of(target)
    target.rename(tmp_path / "unbroken.zarr")
    kept = CheckpointOptions(tmp_path / "kept", every=0, resume=True)
    options = replace(options, scratch=None, checkpoint=kept)
    places = count_calls(monkeypatch, order)
    with monkeypatch.context() as patch:
        stop_after(patch, lambda state: DONE not in state)
        n_stops = stops_of(lambda: reorder(store, target, order, options=options))
    assert n_stops >= 8 and len(places) <= 1
    assert files_of(target) == whole
    assert not (tmp_path / "kept").exists() and not (tmp_path / "new.zarr.partial").exists()


def count_calls(monkeypatch: pytest.MonkeyPatch, order: str) -> list[str]:
    """A list that gets longer each time that the order is found anew."""
    calls: list[str] = []
    chosen = ORDERS[order]

    def counted(*given: Any) -> np.ndarray:
        calls.append(order)
        return chosen.place(*given)

    monkeypatch.setitem(ORDERS, order, replace(chosen, place=counted))
    return calls


def test_converting_into_an_order_stopped_after_every_single_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = tmp_path / "edges.txt"
    edges.write_text("".join(f"{a} {b}\n" for a, b in FEW))
    target = tmp_path / "g.zarr"
    plan = replace(TINY, run_keys=64, least_run_keys=64)
    convert_ordered([edges], target, "degree", options=ConvertOptions(plan=plan, chunk_ids=64, scratch=tmp_path))
    whole = files_of(target)
    target.rename(tmp_path / "unbroken.zarr")
    options = ConvertOptions(plan=plan, chunk_ids=64,
                             checkpoint=CheckpointOptions(tmp_path / "kept", every=0, resume=True))
    with monkeypatch.context() as patch:
        stop_after(patch, lambda state: DONE not in state)
        n_stops = stops_of(lambda: convert_ordered([edges], target, "degree", options=options))
    assert n_stops >= 16
    assert files_of(target) == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.txt", "g.zarr", "unbroken.zarr"]


@pytest.mark.parametrize("phase", ["read", "sort", "relabel", "merge", "write"])
@pytest.mark.parametrize("kind", INPUTS)
def test_a_stop_in_any_phase(kind: str, tmp_path: Path, phase: str) -> None:
    """Also with the states only that are kept in any case, and with other batches afterwards."""
    def interrupt(event: Event) -> None:
        if event.phase == phase:
            raise KeyboardInterrupt

    for every in (0.0, 1e9):
        try:
            attempt(kind, tmp_path, progress=interrupt, every=every)
        except KeyboardInterrupt:
            assert not (tmp_path / "g.zarr").exists()
        else:
            assert phase == "relabel" and kind in ("declared", "offset", "compact", "partitions")
            shutil.rmtree(tmp_path / "g.zarr")
    attempt(kind, tmp_path)
    assert files_of(tmp_path / "g.zarr") == unbroken(kind)
    assert not (tmp_path / "kept").exists() and not (tmp_path / "g.zarr.partial").exists()


def test_the_first_states_come_sooner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After 10 seconds, then as long after the last one as the work before it took, then every 5 minutes."""
    now, saved = 0.0, list[float]()
    monkeypatch.setattr(folder, "time", SimpleNamespace(perf_counter=lambda: now))
    checkpoint = Checkpoint(tmp_path / "kept", {"input": "x"}, CheckpointOptions(tmp_path / "kept"))
    while now < 1300:
        if checkpoint.due:
            checkpoint.save({})
            saved.append(now)
        now += 1.0
    checkpoint.release()
    assert saved == [10, 20, 40, 80, 160, 320, 620, 920, 1220]
    hurried = Checkpoint(tmp_path / "hurried", {}, CheckpointOptions(tmp_path / "hurried", every=3))
    now += 3
    assert hurried.due
    hurried.release()


@pytest.mark.usefixtures("at_rest")
def test_a_stop_before_the_first_state_leaves_nothing(tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt("declared", tmp_path, progress=interrupt)
    assert list(tmp_path.iterdir()) == []
    report = attempt("declared", tmp_path)
    assert any("began anew" in note for note in report.notes)


CHILD = """
import sys
from dataclasses import replace
from pathlib import Path
from emdiam.conversion.convert import ConvertOptions, write_graph
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.formats.source import SourceInfo
from tests.helpers.convert_twin import ListSource
from tests.conversion.test_stages import SMALL, random_pairs
target, kind = Path(sys.argv[1]), sys.argv[2]
pairs = random_pairs(20_000, 60_000)
if kind == "wide":
    pairs = [(a << 40, b) for a, b in pairs]
if kind == "strings":
    pairs = [(f"v{a}", f"v{b}") for a, b in pairs]
info = {"declared": SourceInfo(n_vertices=20_000), "strings": SourceInfo(id_kind="string")}.get(kind, SourceInfo())
plan = replace(SMALL, block_keys=256, merge_keys_alone=1 << 15, table_ids=9000, string_bytes=1 << 17)
options = ConvertOptions(plan=plan, codec="none", chunk_ids=1024,
                         checkpoint=CheckpointOptions(target.with_name("kept"), 0.05, True))
print("started", flush=True)
print(write_graph(ListSource(pairs, info, per_batch=500), target, options=options).notes)
"""


def child(target: Path, kind: str) -> subprocess.Popen[str]:
    running = subprocess.Popen([sys.executable, "-c", CHILD, str(target), kind], cwd=ROOT, text=True,
                               stdout=subprocess.PIPE)
    assert running.stdout is not None and running.stdout.readline() == "started\n"
    return running


def kill_at_random_moments(folder: Path, kind: str, times: int) -> None:
    """Kill a conversion, and each that goes on from it, `times` in all."""
    target, chance = folder / "g.zarr", random.Random(times)
    began = time.perf_counter()
    assert child(target, kind).wait(PATIENCE) == 0
    whole, want = time.perf_counter() - began, files_of(target)
    n_killed = 0
    while n_killed < times:
        shutil.rmtree(target)
        while not target.exists() and n_killed < times:
            running = child(target, kind)
            time.sleep(chance.uniform(0, whole / 2))
            running.kill()
            running.communicate(timeout=PATIENCE)
            n_killed += 1
        # Also where it was killed when the store was there already.
        left = (folder / "kept").exists() or not target.exists()
        said, _ = child(target, kind).communicate(timeout=PATIENCE) if left else ("", None)
        assert "damaged" not in said
        assert files_of(target) == want
        assert [path.name for path in folder.iterdir()] == ["g.zarr"]


@pytest.mark.parametrize("kind", ["compact", pytest.param("wide", marks=pytest.mark.slow)])
def test_kill_at_a_few_random_moments(tmp_path: Path, kind: str) -> None:
    kill_at_random_moments(tmp_path, kind, 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["declared", "compact", "wide", "strings"])
def test_kill_at_25_random_moments(tmp_path: Path, kind: str) -> None:
    kill_at_random_moments(tmp_path, kind, 25)
