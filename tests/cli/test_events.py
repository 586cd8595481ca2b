"""Events: what the library sends, and the file of --events."""

from __future__ import annotations

import itertools
import json
import re
import resource
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam._version import __version__
from emdiam.cli.outcome import AT_ONCE, TURNS_AT_ONCE, EventLog, begin_log, stored_record
from emdiam.engine.reporter import MOST_PROFILES, TraversalEvents
from emdiam.errors import InputError
from emdiam.progress import Allowance, Event, shared
from emdiam.runs.registry import EXACT
from emdiam.runs.task import execute, make_task
from emdiam.store.store import open_store
from emdiam.stream.counters import Counters
from emdiam.traverse.workspace import BINS, count_labels, count_level, thinned
from tests.helpers import naive
from tests.helpers.exact_twins import BY_MATRIX
from tests.helpers.stores import engine_on, odd_graphs, write_store
from tests.helpers.waiting import PATIENCE

pytestmark = pytest.mark.thin(4, sampled=("arguments", "command", "phases"))

KEYS = {
    "begin": {"schema", "command", "version", "arguments", "store_digest", "process"},
    "progress": {"phase", "done", "total", "unit", "finished", "facts"},
    "end": {"exit_code", "sentence"},
}
SHARED = {"record", "run", "at", "time", "kernel_seconds"}
TRAVERSAL = {"phase", "kind", "seconds", "levels", "arcs", "bytes_read", "number"}
MORE = {"source", "sources", "eccentricity", "reached", "profile", "lower", "upper", "active", "open"}


def records_of(file: Path) -> list[dict[str, Any]]:
    """The records of a file, each checked against the schema."""
    records = [json.loads(line) for line in file.read_text().splitlines()]
    for record in records:
        rest = set(record) - SHARED
        assert set(record) >= SHARED
        if record["record"] == "traversal":
            assert rest >= TRAVERSAL and rest - TRAVERSAL <= MORE
        else:
            assert rest == KEYS[record["record"]]
    return records


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    """A grid of 30 x 40, of diameter 68."""
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(30, 40))
    return write_store(tmp_path / "grid.zarr", naive.graph_of(len(graph), graph.edges))


def events_of(store: Path, method: str, **more: Any) -> list[Event]:
    """What an exact run sends."""
    events: list[Event] = []
    execute(store, make_task(method, memory_bytes=4 << 30, **more), events.append)
    return events


# -- profiles -----------------------------------------------------------------------------------
@given(st.lists(st.integers(1, 9), min_size=1, max_size=5 * BINS))
@settings(max_examples=30, deadline=None)
def test_profiles_keep_every_vertex_in_few_bins(counts: list[int]):
    state = np.zeros(3 + 1 + BINS, np.int64)
    for level, vertices in enumerate(counts):
        count_level(state, 3, level, vertices)
    profile = thinned(state, 3, len(counts) - 1)
    width = 1
    while (len(counts) - 1) // width >= BINS:
        width *= 2
    assert profile == [[first, sum(counts[first : first + width])] for first in range(0, len(counts), width)]
    labels = np.repeat(np.arange(len(counts)), counts).astype(np.uint32)
    again = np.full_like(state, 7)
    count_labels(np.append(labels, np.uint32(2**32 - 1)), 2**32 - 1, len(counts) - 1, again, 3)
    assert np.array_equal(again[3:], state[3:])


@pytest.mark.parametrize("kind", ["in-ram", "in-ram-dense", "streamed", "streamed-windows", "streamed-dense"])
def test_a_bfs_tells_its_profile(tmp_path: Path, kind: str):
    """However its levels are run, against networkx."""
    for number, graph in enumerate(odd_graphs().values()):
        hub = max(range(len(graph)), key=lambda v: len(graph[v]))
        wanted = np.bincount([length for length in naive.distances(graph, hub) if length >= 0]).tolist()
        with engine_on(write_store(tmp_path / f"{number}.zarr", graph), kind, progress=list[Event]().append) as engine:
            events = TraversalEvents()
            engine.reporter.traversals = events
            engine.bfs(hub)
            found = events.take({})
        assert found["profile"] == [list(pair) for pair in enumerate(wanted)]
        assert (found["source"], found["eccentricity"], found["reached"]) == (hub, len(wanted) - 1, sum(wanted))


# -- the journal --------------------------------------------------------------------------------
def test_a_traversal_is_told_once_and_with_the_bounds_after_it():
    journal = TraversalEvents()
    assert journal.take({}) is None
    journal.begin(Counters(traversals=4, bytes_read=10))
    journal.end("bfs", Counters(traversals=5, bytes_read=17, levels=3), source=1)
    told = journal.take({"lower": 2, "upper": 9, "level": 3})
    assert told is not None and told.pop("seconds") >= 0
    assert told == {"kind": "bfs", "source": 1, "levels": 3, "arcs": 0, "bytes_read": 7, "number": 5,
                    "lower": 2, "upper": 9}
    assert journal.take({"lower": 2}) is None


def test_very_many_traversals_are_thinned_and_those_that_change_bounds_are_kept():
    journal, told = TraversalEvents(), []
    for number in range(2000):
        journal.begin(Counters())
        journal.end("bfs", Counters(), profile=lambda: [[0, 1]])
        told.append(journal.take({"lower": number // 20, "upper": 100}))
    kept = [event for event in told if event is not None]
    assert 150 <= len(kept) < 500
    assert {event["lower"] for event in kept} == set(range(100))
    assert MOST_PROFILES <= sum("profile" in event for event in kept) <= MOST_PROFILES + 1


def test_an_allowance_bounds_a_burst_and_a_rate():
    now = [0.0]
    allowance = Allowance(3, 2.0, lambda: now[0])
    assert [allowance.take() for _ in range(5)] == [True] * 3 + [False] * 2
    now[0] = 1.0
    assert [allowance.take() for _ in range(3)] == [True, True, False]
    now[0] = 99.0
    assert [allowance.take() for _ in range(4)] == [True] * 3 + [False]


@pytest.mark.parametrize("method", [name for name in EXACT if name not in BY_MATRIX])
def test_every_exact_method_tells_bounds_that_close_in(grid: Path, method: str):
    events = [event for event in events_of(grid, method) if event.kind == "traversal"]
    bounds = [(event.facts["lower"], event.facts["upper"]) for event in events if "lower" in event.facts]
    assert len(bounds) >= 3
    assert all(one[0] <= two[0] <= 68 <= two[1] <= one[1] for one, two in itertools.pairwise(bounds))
    assert bounds[0][0] > 0, "the bounds are those after the traversal"


def test_every_listener_hears_every_event():
    one: list[Event] = []
    two: list[Event] = []
    shared(one.append, two.append)(Event("bfs"))
    assert one == two == [Event("bfs")]


# -- the file -----------------------------------------------------------------------------------
def test_a_run_is_recorded_from_what_was_asked_to_how_it_ended(grid: Path, tmp_path: Path, command):
    assert command("exact", grid, "--events", "e.jsonl", "--quiet", "--gap", "2").returncode == 0
    begin, *middle, end = records_of(tmp_path / "e.jsonl")
    with open_store(grid) as store:
        assert begin["store_digest"] == store.digest
    assert (begin["record"], begin["command"], begin["version"]) == ("begin", "exact", __version__)
    assert begin["arguments"]["store"] == str(grid) and begin["arguments"]["gap"] == 2
    assert (end["record"], end["exit_code"], end["sentence"]) == ("end", 0, None)
    assert {record["record"] for record in middle} == {"progress", "traversal"}
    assert {record["run"] for record in (*middle, end)} == {begin["run"]}
    times = [record["at"] for record in (begin, *middle, end)]
    assert times == sorted(times)
    profiles = [record["profile"] for record in middle if record["record"] == "traversal" and "profile" in record]
    assert profiles and all(sum(count for _, count in profile) == 1200 for profile in profiles)


@pytest.mark.parametrize(("arguments", "name", "phases"), [
    (["convert", "edges.txt", "new.zarr"], "convert", {"read", "merge"}),
    (["generate", "path", "new.zarr", "--vertices", "100"], "generate path", {"read", "merge"}),
    (["reorder", "grid.zarr", "new.zarr", "--order", "bfs"], "reorder", {"load", "number"}),
    (["info", "grid.zarr", "--check"], "info", {"check indptr", "check indices"}),
    (["approx", "grid.zarr"], "approx", {"grow clusters", "condense", "lower bound"}),
    (["approx", "grid.zarr", "--method", "spanning"], "approx", {"spanning tree"}),
])
def test_every_long_command_records_its_phases(
    grid: Path, two_components: Path, tmp_path: Path, command, arguments: list[str], name: str, phases: set[str]
):
    done = command(*arguments, "--events", "e.jsonl", "--quiet")
    assert done.returncode == 0, done.stderr
    begin, *middle, end = records_of(tmp_path / "e.jsonl")
    assert (begin["command"], end["exit_code"]) == (name, 0)
    assert {record["phase"] for record in middle} >= phases


def test_a_failure_is_recorded_with_its_sentence(tmp_path: Path, emdiam):
    done = emdiam("exact", "nothing.zarr", "--events", "e.jsonl")
    begin, end = records_of(tmp_path / "e.jsonl")
    assert begin["store_digest"] is None
    assert (done.returncode, end["exit_code"]) == (2, 2)
    assert done.stderr == f"emdiam: {end['sentence']}\n"
    assert "there is no such store" in end["sentence"]


@pytest.mark.slow
def test_a_run_that_is_stopped_is_recorded_with_its_interval(tmp_path: Path, emdiam):
    assert emdiam("generate", "torus", "t.zarr", "--sides", "400x400").returncode == 0
    done = emdiam("exact", "t.zarr", "--method", "fdiam", "--time-limit", "6s", "--events", "e.jsonl")
    end = records_of(tmp_path / "e.jsonl")[-1]
    assert done.returncode == end["exit_code"] == 3
    assert re.fullmatch(r"the time limit is over; [\d,]+ <= D <= [\d,]+ is proved", end["sentence"])


def test_a_usage_error_writes_no_record(tmp_path: Path, command):
    assert command("exact", "g.zarr", "--threads", "0", "--events", "e.jsonl").returncode == 2
    assert not (tmp_path / "e.jsonl").exists()


def test_runs_are_appended_and_a_torn_line_is_left_behind(tmp_path: Path):
    file = tmp_path / "e.jsonl"
    file.write_text('{"record": "progress", "run": "0", "at"')
    for _ in range(2):
        log = begin_log(file, "exact", {"store": None, "path": Path("x"), "share": np.float64(0.5)})
        log.end(0, None)
    torn, *lines = file.read_text().splitlines()
    assert torn.endswith('"at"')
    assert [json.loads(line)["record"] for line in lines] == ["begin", "end"] * 2
    assert json.loads(lines[0])["arguments"] == {"store": None, "path": "x", "share": 0.5}
    assert json.loads(lines[0])["run"] != json.loads(lines[2])["run"]


def test_a_chatty_run_is_thinned(tmp_path: Path):
    log = EventLog(tmp_path / "e.jsonl")
    for number in range(10_000):
        log(Event("even" if number % 2 else "odd", number))
    log.end(0, None)
    assert len(records_of(tmp_path / "e.jsonl")) <= AT_ONCE + TURNS_AT_ONCE + 50


def test_threads_never_mix_their_lines(tmp_path: Path):
    log = EventLog(tmp_path / "e.jsonl")
    def chat() -> None:
        for number in range(300):
            log(Event("bfs", kind="traversal", facts={
                "kind": "bfs", "seconds": 0.0, "levels": number, "arcs": 0, "bytes_read": 0, "number": number,
                "profile": [[0, 1]] * 500}))
    threads = [threading.Thread(target=chat) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.end(0, None)
    assert len(records_of(tmp_path / "e.jsonl")) == 1201


def test_a_full_disk_ends_the_record_and_not_the_run(grid: Path, tmp_path: Path):
    """The process may write files of 4,000 bytes, as if the disk were full then."""
    done = subprocess.run(
        [sys.executable, "-m", "emdiam", "exact", str(grid), "--json", "--quiet", "--events", "e.jsonl"],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["diameter"] == 68
    assert done.stderr == "warning: no more events are written to e.jsonl (File too large)\n"
    whole = [json.loads(line) for line in (tmp_path / "e.jsonl").read_text().splitlines()[:-1]]
    assert whole[0]["record"] == "begin"


def test_a_file_that_cannot_be_opened_is_refused_before_the_work(tmp_path: Path, grid: Path, command):
    done = command("exact", grid, "--events", "no/such/folder.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "events cannot be written (No such file or directory)" in done.stderr
    with pytest.raises(InputError):
        EventLog(tmp_path)


def test_the_digest_is_read_without_the_store(grid: Path, tmp_path: Path):
    with open_store(grid) as store:
        assert stored_record(str(grid))["chunk_digest"] == store.digest
    assert stored_record(str(tmp_path)) == stored_record("https://example.org/g.zarr") == {}
