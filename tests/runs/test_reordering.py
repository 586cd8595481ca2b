"""Stores that are reordered first: the same answers in the user's ids, and nothing is left behind."""

from __future__ import annotations

import gc
import itertools
import os
import random
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

import emdiam
from emdiam.certificates.run import verify
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.cli.plan import _one, plan_text
from emdiam.conversion import reorder as order_room
from emdiam.errors import BudgetError, InputError, MoreMemoryError, StoppedEarly
from emdiam.methods.exact.method import ExactMethod
from emdiam.methods.result import Result
from emdiam.progress import Event, TimeOver
from emdiam.runs import locality
from emdiam.runs.locality import BfsReads, Comparison, Locality, compare
from emdiam.runs.registry import entry_of
from emdiam.runs.reordering import Placing, temporary_store
from emdiam.runs.task import Session, Task, execute, make_task
from emdiam.store.check import check_store
from emdiam.store.place import claim
from emdiam.store.store import open_store
from emdiam.stream import plan
from tests.helpers import naive
from tests.helpers.order_twins import renumbered
from tests.helpers.stores import CHUNK, odd_graphs, write_store

ARENA = 4 * CHUNK * 4


def shuffled(graph: naive.Graph) -> naive.Graph:
    """The same graph, whose ids say nothing."""
    order = list(range(len(graph)))
    random.Random(7).shuffle(order)
    return renumbered(graph, order)


GRAPH = shuffled(odd_graphs()["mesh"])


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shuffled mesh in small chunks, and an empty folder for temporary files."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("emdiam.runs.reordering.MEMORY_FILE_SYSTEMS", ())
    monkeypatch.setattr("emdiam.sorting.scratch.MEMORY_FILE_SYSTEMS", ())
    return write_store(tmp_path / "g.zarr", GRAPH)


def always(method: str = "pivots", **more: Any) -> Task:
    return make_task(method, **{"memory_bytes": 2 << 30, "arena_bytes": ARENA, "reorder": "always", **more})


def left(store: Path) -> list[str]:
    """What is left among the temporary files."""
    return os.listdir(store.parent / "scratch")


def stops_at(phase: str, error: BaseException) -> Callable[[Event], None]:
    """A listener that raises in this phase."""
    def listen(event: Event) -> None:
        if event.phase == phase:
            raise error
    return listen


@pytest.mark.parametrize("method", ["pivots", "fdiam", "ifub", "sweep", "clusters"])
def test_answers_are_in_the_ids_of_the_store_that_was_given(store: Path, method: str) -> None:
    want = max(map(max, (naive.distances(GRAPH, v) for v in range(len(GRAPH)))))
    events: list[Event] = []
    result = execute(store, always(method), events.append)
    assert result.lower <= want <= result.upper
    told = result.details["reordered"]
    assert told["order"] == "cluster" and told["store"] is None and told["bytes_written"] > 0
    assert [event.facts for event in events if event.phase == "reorder"] == [{"why": "as asked"}]
    assert result.seconds["total"] >= result.seconds["reorder"] > 0
    with open_store(store) as opened:
        assert (result.store_digest, result.store_path) == (opened.digest, opened.path)
    assert result.witness is not None
    ends = (result.witness.source, result.witness.target)
    assert naive.distances(GRAPH, ends[0])[ends[1]] >= result.witness.length
    if method in ("pivots", "fdiam", "ifub"):
        path = result.witness.path
        assert result.lower == want == result.upper and path is not None
        assert (path[0], path[-1], len(path)) == (*ends, want + 1)
        assert all(w in GRAPH[v] for v, w in itertools.pairwise(path))
    else:
        as_it_is = execute(store, replace(always(method), reorder="never"))
        assert (as_it_is.lower, as_it_is.upper) == (result.lower, result.upper)
        assert as_it_is.details["reordered"] is None
    assert left(store) == []


def test_the_certificate_is_of_the_store_that_was_given(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    execute(store, always(certificate=file))
    assert verify(file, store, memory_bytes=2 << 30).verified


@pytest.mark.parametrize("method", ["fdiam", "sweep", "clusters"])
def test_every_method_can_say_where(store: Path, tmp_path: Path, method: str) -> None:
    here = tmp_path / "here"
    here.mkdir()
    seen: set[str] = set()
    made: list[object] = []

    def listen(event: Event) -> None:
        if event.phase == "merge":
            seen.update(path.name.split("-")[1] for path in here.iterdir())
            made.extend(left(store))

    execute(store, always(method, switches={"scratch": here}), listen)
    assert seen == {"reordered"} and made == [] and os.listdir(here) == []


def test_what_is_in_memory_or_in_order_stays_as_it_is(store: Path, tmp_path: Path) -> None:
    assert execute(store, always(arena_bytes=None)).details["reordered"] is None
    order_room.reorder(store, tmp_path / "near.zarr", "cluster", options=order_room.ConvertOptions(chunk_ids=CHUNK))
    assert execute(tmp_path / "near.zarr", always()).details["reordered"] is None


def test_the_reordered_store_can_be_kept(store: Path, tmp_path: Path) -> None:
    place = tmp_path / "near.zarr"
    result = execute(store, always(keep_reordered=place))
    with open_store(place) as opened:
        check_store(opened)
        assert opened.record.ordering == "cluster" and opened.digest == result.details["reordered"]["digest"]
    with pytest.raises(InputError, match="the target exists"):
        execute(store, always(keep_reordered=place))
    assert left(store) == []


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs hear of every level, and every BFS counts as one that surely pays."""
    monkeypatch.setattr("emdiam.engine.reporter._EVENT_SECONDS", 0.0)
    monkeypatch.setattr(locality, "LOCAL_READS", 0.1)
    monkeypatch.setattr(Comparison, "pays", property(lambda comparison: True))


@pytest.mark.parametrize("method", ["pivots", "clusters"])  # clusters: BFS for a lower bound
def test_a_run_that_finds_its_ids_not_local_begins_again(
    store: Path, eager: None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def no_room(*arguments: Any) -> None:
        raise MoreMemoryError("arcs in the order of labels", 1)

    monkeypatch.setattr("emdiam.engine.cpu.CpuEngine.restart", lambda *arguments: False)
    monkeypatch.setattr("emdiam.methods.approx.cluster_bounds._in_order", no_room)
    with caplog.at_level("INFO", "emdiam"):
        result = execute(store, always(method, reorder="auto"))
    told = result.details["reordered"]
    assert result.exact and told["locality"]["local"] is False and told["look_bytes"] > 0
    assert "ids are not local: one BFS" in caplog.text and "reordering first (about" in caplog.text
    assert result.seconds["look"] > 0 and left(store) == []


def test_without_room_a_run_goes_on_as_it_is(
    store: Path, eager: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("emdiam.sorting.scratch.free_bytes", lambda folder: 0)
    with caplog.at_level("INFO", "emdiam"):
        result = execute(store, always(reorder="auto"))
    assert result.exact and result.details["reordered"] is None and caplog.text.count("not reordered: ") == 1
    with pytest.raises(BudgetError, match="are needed for"):
        execute(store, always())
    assert left(store) == []


def test_a_disk_that_fills_up_costs_only_time(store: Path, eager: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any, **options: Any) -> None:
        raise BudgetError("no room left")

    monkeypatch.setattr(order_room, "reorder", full)
    assert execute(store, always(reorder="auto")).exact
    with pytest.raises(BudgetError, match="no room left"):
        execute(store, always())
    assert left(store) == []


def test_too_little_memory_is_refused_with_the_numbers(store: Path) -> None:
    # The run or its reordering says so first, as the process of the tests is large or small.
    with pytest.raises(BudgetError, match=r"--memory .* is too small: the least is|give at least --memory \d+MiB"):
        execute(store, always(memory_bytes=400 << 20, threads=1024))


@pytest.mark.parametrize(("error", "said"), [(KeyboardInterrupt(), "stopped by the user"), (TimeOver(), "the time")])
@pytest.mark.parametrize("phase", ["grow clusters", "merge"])
def test_a_stop_while_the_store_is_reordered_leaves_nothing(
    store: Path, phase: str, error: BaseException, said: str
) -> None:
    with pytest.raises(StoppedEarly, match=f"{said}.*the store was reordered; 0 <= D <= ") as stop:
        execute(store, always(), stops_at(phase, error))
    result = stop.value.result
    assert isinstance(result, Result) and (result.lower, result.upper) == (0, len(GRAPH) - 1)
    assert result.seconds["total"] >= result.seconds["reorder"] > 0
    assert left(store) == []


def test_a_stop_then_has_what_was_seen_before(store: Path, eager: None) -> None:
    with pytest.raises(StoppedEarly) as stop:
        execute(store, always(reorder="auto"), stops_at("merge", KeyboardInterrupt()))
    result = stop.value.result
    assert isinstance(result, Result) and 0 < result.lower < result.upper and left(store) == []
    assert result.seconds["look"] > 0 and result.details["reordered"] is None


@pytest.mark.parametrize("where", ["bfs", "open"])
def test_a_stop_right_after_it_has_that_too(
    store: Path, eager: None, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the first BFS on the reordered store, or before that."""
    found: list[int] = []
    stopped = ExactMethod.stopped
    monkeypatch.setattr(ExactMethod, "stopped",
                        lambda *given: (found.append(given[0].engine.reporter.level or 0), stopped(*given))[1])
    phases: list[str] = []

    def listen(event: Event) -> None:
        phases.append(event.phase)
        if where == "bfs" and phases[-1] == "bfs" and "merge" in phases:
            raise TimeOver

    if where == "open":
        from emdiam.runs import opening
        was = opening.open_for
        monkeypatch.setattr(opening, "open_for", lambda *given, **named: over() if "merge" in phases
                            else was(*given, **named))
    with pytest.raises(StoppedEarly, match=r"time limit is over.* <= D <= .* is proved") as stop:
        execute(store, always(reorder="auto"), listen)
    result = stop.value.result
    assert isinstance(result, Result) and found[0] > 0 and result.lower == max(found) > 0
    assert f"{result.lower:,} <= D <= {result.upper:,}" in str(stop.value) and result.seconds["reorder"] > 0
    assert left(store) == []


def over() -> NoReturn:
    raise TimeOver


@pytest.mark.parametrize("resumable", [False, True])
def test_what_has_written_the_store_is_gone_when_memory_is_planned(
    store: Path, tmp_path: Path, resumable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New numbers and sort buffers, which are as large as the graph, are no part of the program."""
    made: list[weakref.ref[Any]] = []
    alive: list[bool] = []
    measured, begin = plan.program_bytes, order_room._Reordering.__init__

    def init(writing: Any, *given: Any) -> None:
        made.append(weakref.ref(writing))
        begin(writing, *given)

    def program_bytes() -> int:
        alive.extend(one() is not None for one in made)
        return measured()

    monkeypatch.setattr(order_room._Reordering, "__init__", init)

    monkeypatch.setattr(plan, "program_bytes", program_bytes)
    gc.disable()
    try:
        execute(store, always(checkpoint=CheckpointOptions(tmp_path / "ck") if resumable else None))
    finally:
        gc.enable()
    assert alive and not any(alive)


def test_kernels_of_the_look_are_not_counted_again(
    store: Path, eager: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the process held when it began is what the plans of both steps begin with, but for what it kept since."""
    programs: list[int] = []
    planned = plan.make_plan

    def make_plan(*given: Any, **named: Any) -> Any:
        programs.append(plan.program_bytes() if named.get("program") is None else named["program"])
        return planned(*given, **named)

    held = iter([300 << 20])
    for module in ("stream.plan", "conversion.reorder"):
        monkeypatch.setattr(f"emdiam.{module}.program_bytes", lambda: next(held, 350 << 20))
    monkeypatch.setattr("emdiam.engine.cpu.make_plan", make_plan)
    execute(store, always(reorder="auto"))
    assert len(programs) >= 5 and set(programs[1:]) == {300 << 20}


def test_what_a_killed_run_has_left_goes_with_the_next(store: Path) -> None:
    scratch = store.parent / "scratch"
    for name in ("killed", "at-work"):
        (scratch / f"emdiam-reordered-{name}.partial" / "graph.zarr.partial").mkdir(parents=True)
    handle = claim(scratch / "emdiam-reordered-at-work.partial")
    (scratch / "emdiam-reordered-thesis.partial").mkdir()
    (scratch / "emdiam-reordered-thesis.partial" / "chapter.tex").write_text("x")
    with temporary_store(scratch):
        assert len(left(store)) == 3
    os.close(handle)
    assert sorted(left(store)) == ["emdiam-reordered-at-work.partial", "emdiam-reordered-thesis.partial"]


@pytest.mark.parametrize("phase", ["order", "merge", "verify"])
def test_a_run_with_a_checkpoint_finds_the_store_again(store: Path, tmp_path: Path, phase: str) -> None:
    """Stopped while it finds the order, writes the store, or solves on it."""
    folder = tmp_path / "ck"
    with pytest.raises(StoppedEarly, match="--resume continues from"):
        execute(store, always(checkpoint=CheckpointOptions(folder, every=0.001)), stops_at(phase, KeyboardInterrupt()))
    phases: list[str] = []
    resumed = always(checkpoint=CheckpointOptions(folder, resume=True), reorder="auto")
    result = execute(store, resumed, lambda event: phases.append(event.phase))
    assert result.exact and result.details["reordered"]["order"] == "cluster"
    assert ("grow clusters" in phases) == (phase == "order") and ("merge" in phases) == (phase != "verify")
    if phase == "verify":
        assert result.details["checkpoint"]["resumed"] > 0
    assert not folder.exists() and left(store) == []


def test_a_checkpoint_of_a_run_that_began_again(store: Path, tmp_path: Path, eager: None) -> None:
    """What was noted of the store as it is, is dropped, and the place of the reordered store may be named."""
    folder, place = tmp_path / "ck", tmp_path / "near.zarr"
    run = always(reorder="auto", checkpoint=CheckpointOptions(folder, every=0.001), keep_reordered=place)
    with pytest.raises(StoppedEarly):
        execute(store, run, stops_at("verify", KeyboardInterrupt()))
    again = replace(run, checkpoint=CheckpointOptions(folder, resume=True))
    result = execute(store, again)
    want = execute(store, replace(run, checkpoint=None, keep_reordered=None))
    assert (result.lower, result.upper, result.witness) == (want.lower, want.upper, want.witness)
    assert place.exists() and not folder.exists()


def test_a_run_that_was_begun_as_the_store_is_goes_on_so(store: Path, tmp_path: Path) -> None:
    run = always(reorder="never", checkpoint=CheckpointOptions(tmp_path / "ck"))
    with pytest.raises(StoppedEarly):
        execute(store, run, stops_at("verify", KeyboardInterrupt()))
    result = execute(store, always(checkpoint=CheckpointOptions(tmp_path / "ck", resume=True)))
    assert result.exact and result.details["reordered"] is None and result.details["checkpoint"]["resumed"] > 0


def test_what_cannot_be_asked_for(store: Path) -> None:
    with pytest.raises(InputError, match="auto, never or always"):
        execute(store, always(reorder="sometimes"))
    with open_store(store) as opened, pytest.raises(InputError, match="the CPU of this process alone"):
        Placing(Session(opened, always()), False, None)


def test_a_plan_compares_both_ways(store: Path, eager: None, monkeypatch: pytest.MonkeyPatch) -> None:
    one, = emdiam.plan(store, method="pivots", arena=ARENA)
    assert one.locality is not None and one.comparison is not None and one.forecast is not None
    with open_store(store) as opened:
        stored = opened.indices.stored_bytes
        assert stored is not None
    assert one.comparison.as_it_is_bytes == pytest.approx(one.forecast.reads * stored, rel=0.01)
    text = plan_text(_one(one))
    assert "\norder: ids are not local: one BFS" in text and "a run does so by itself" in text
    assert "\nas it is: about" in text and "\nreordered first: about" in text
    # Where the probe is not over in time, what it has read by then is told all the same.
    def stop(engine: Any, blocks: int) -> None:
        engine.reporter.tick("bfs")
        engine.bfs(0)
        raise TimeOver

    monkeypatch.setattr("emdiam.runs.probe.probe_graph", stop)
    one, = emdiam.plan(store, method="pivots", arena=ARENA)
    assert one.probe is None and one.locality is not None and one.locality.local is False
    assert emdiam.plan(store, method="pivots")[0].locality is None


def heartbeat(arcs: int, n_bytes: int, number: int = 0, phase: str = "bfs") -> Event:
    level = {"level": 1} if phase == "bfs" else {}
    return Event(phase, arcs, None, "arcs", {"bytes_read": n_bytes, "traversals": number, **level})


def test_what_a_bfs_reads_is_told_by_its_events(store: Path) -> None:
    with open_store(store) as opened:
        stored, arcs = opened.indices.stored_bytes, opened.n_arcs
        assert stored is not None
        reads, told = BfsReads(opened), []
        both = BfsReads(opened, told.append)
        for event in (heartbeat(5, stored, phase="load"), heartbeat(10, 2 * stored),
                      heartbeat(10 + arcs // 10, 12 * stored)):
            reads(event)
            both(event)
        found = reads.locality
        assert found is not None and len(told) == 3
        assert found.share == pytest.approx(0.1, rel=0.1) and found.reads == pytest.approx(10 / found.share)
        assert found.local is False and "would read the store about 1" in str(found)
        # The next BFS is counted from its beginning; one that is over says more than one under way.
        reads(heartbeat(4 * arcs, 40 * stored, 1))
        reads(Event("components", kind="traversal", facts={
            "kind": "bfs", "eccentricity": 9, "bytes_read": 3 * stored, "seconds": 1.0}))
        assert reads.locality == Locality(3.0, 1.0, 1.0)
        assert reads.locality.local and str(reads.locality) == "ids are local: one BFS reads the store 3.0 times"
        assert Locality(3000.0, 9.0, 0.001).local is False and Locality(6.0, 9.0, 0.5).local is None
        early = Locality(50.0, 9.0, 0.01)
        assert early.local is None and "not over in time" in str(early)
        model = entry_of("pivots").definition().cost_model(opened, always().options)
        assert compare(opened, model, Locality(200.0, 60.0, 1.0)).pays
        assert not compare(opened, model, Locality(2.0, 0.1, 1.0)).pays
