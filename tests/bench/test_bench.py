"""The benchmarks work: timing, foreign load, cache, sections on tiny graphs, the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from bench import bfs, convert, foreign, rounds, streamed, twins
from bench.__main__ import main, parser, setting_of
from bench.cache import Cache, cached_share, evict
from bench.foreign import ForeignWatch
from bench.graphs import GENERATED, QUICK, REAL, SECTIONS, TWINS, graphs_of, known
from bench.peers.csr import read_csr
from bench.peers.run import installed, run_peer
from bench.programs import rows_of
from bench.replay import Recorder, cold_seconds
from bench.rounds import Effort, Lap, measure, measure_paired
from bench.streamed import floor
from emdiam.generators import CLASSES
from emdiam.store.store import open_store
from tests.helpers.bench_setting import quick_setting

GRID = next(graph for graph in QUICK if graph.graph_class == "grid")
RMAT = next(graph for graph in QUICK if graph.graph_class == "rmat")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """A cache of its own; no real graphs."""
    folder = tmp_path_factory.mktemp("cache")
    return Cache(folder, folder / "absent")


def test_measure_takes_the_median_over_all_calls(monkeypatch: pytest.MonkeyPatch):
    clock = [0.0]
    lasts = iter([1.0, 7.0, 2.0, 4.0, 3.0, 9.0])

    def call() -> None:
        clock[0] += next(lasts)

    monkeypatch.setattr(rounds, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    timing = measure([call] * 3, Effort(2, 2, quiet_cores=1e9, least_seconds=0))
    assert (timing.n_calls, timing.median, timing.best, timing.quiet) == (6, 3.5, 1.0, True)


def test_measure_keeps_noisy_rounds_only_for_want_of_quiet_ones():
    calls: list[int] = []
    timing = measure([lambda: calls.append(1)], Effort(3, 4, quiet_cores=-1.0, least_seconds=0))
    assert len(calls) == timing.n_calls == 4 and not timing.quiet


def test_short_calls_are_repeated_until_a_round_lasted(monkeypatch: pytest.MonkeyPatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(rounds, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    timing = measure([lambda: setattr(clock, "now", clock.now + 0.25)], Effort(1, 1, 1e9, least_seconds=1.5))
    assert (timing.n_calls, timing.median) == (6, 0.25)


def test_paired_calls_take_turns_and_long_ones_run_once():
    order: list[str] = []

    def call(name: str, laps: list[float], again: bool = True) -> Lap:
        order.append(name)
        return Lap(laps.pop(0), again)

    short, long = [1.0, 3.0, 2.0], [60.0]
    timings = measure_paired({"short": lambda: call("short", short), "long": lambda: call("long", long, False)},
                             Effort(3, 3, quiet_cores=1e9, least_seconds=0))
    assert order == ["short", "long", "short", "short"]
    assert (timings["short"].median, timings["short"].n_calls) == (2.0, 3)
    assert (timings["long"].median, timings["long"].n_calls) == (60.0, 1)


def test_paired_rounds_count_as_quiet_for_each_call_by_itself(monkeypatch: pytest.MonkeyPatch):
    loads = iter([0.9, 0.0, 0.0])
    monkeypatch.setattr(rounds, "ForeignWatch", lambda: SimpleNamespace(cores=next(loads)))
    times = iter([5.0, 1.0, 2.0])
    timings = measure_paired({"a": lambda: Lap(next(times)), "b": lambda: Lap(9.0, again=False)},
                             Effort(2, 4, quiet_cores=0.1, least_seconds=0))
    assert timings["a"].quiet and timings["a"].median == 1.5 and timings["a"].foreign_cores == 0.0
    assert not timings["b"].quiet and timings["b"].foreign_cores == 0.9


def test_foreign_load_is_what_others_use():
    busy = "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass\n"
    other = subprocess.Popen([sys.executable, "-c", busy])
    try:
        watch = ForeignWatch()
        time.sleep(0.6)
        with_other = watch.cores
    finally:
        other.kill()
        other.wait()
    assert 0.2 < with_other <= (os.cpu_count() or 1) + 0.5


def test_the_own_load_is_not_foreign(monkeypatch: pytest.MonkeyPatch):
    machine, own, clock = iter([100.0, 106.0]), iter([10.0, 13.0]), iter([0.0, 2.0])
    monkeypatch.setattr(foreign, "_machine_busy_seconds", lambda: next(machine))
    monkeypatch.setattr(foreign, "own_cpu_seconds", lambda: next(own))
    monkeypatch.setattr(foreign, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    assert ForeignWatch().cores == pytest.approx((6 - 3) / 2)


def test_the_lists_of_graphs_agree_with_each_other():
    names = [graph.name for graph in (*REAL, *GENERATED, *TWINS, *QUICK)]
    assert len(set(names)) == len(names)
    assert {name for section in SECTIONS.values() for name in section} <= set(names)
    assert all(graph.graph_class in CLASSES for graph in (*GENERATED, *QUICK))
    assert graphs_of("bfs", quick=False, names=("wave",)) == [known()["wave"]]
    assert graphs_of("exact", quick=True) == list(QUICK)
    large = known()["rmat-24-ef16"]
    assert large not in graphs_of("external", quick=False)
    assert large in graphs_of("external", quick=False, large=True)
    assert graphs_of("external", quick=False, names=(large.name,)) == [large]
    assert set(SECTIONS["exact"]) >= {graph.name for graph in REAL} and len(SECTIONS["exact"]) == 30
    assert len(SECTIONS["seeds"]) == 16 and all(known()[name].design for name in SECTIONS["seeds"])


@pytest.mark.parametrize("kind", twins.KINDS)
def test_a_twin_is_the_same_again_and_mostly_in_one_piece(kind: str, tmp_path: Path):
    graph = replace(known()[f"{kind}-4000"], name=kind, vertices=500)
    assert all(np.array_equal(*ends) for ends in zip(twins.pairs_of(kind, 500), twins.pairs_of(kind, 500), strict=True))
    with open_store(Cache(tmp_path, tmp_path).store(graph)) as store:
        offsets, heads = rows_of(tmp_path / f"{kind}.zarr")
        assert 400 < store.n_vertices < 700 and store.n_arcs > store.n_vertices
    matrix = scipy.sparse.csr_array((np.ones(len(heads)), heads, offsets), shape=(store.n_vertices, store.n_vertices))
    labels = scipy.sparse.csgraph.connected_components(matrix)[1]
    assert np.bincount(labels).max() > 0.7 * store.n_vertices


def test_the_known_diameters_are_those_of_the_index(data_folder: Path):
    lines = [line.split("|") for line in (data_folder / "INDEX.md").read_text().splitlines()]
    rows = {cells[1].strip(): cells for cells in lines if len(cells) > 9}
    for graph in REAL:
        largest, every = (int(cell.replace("*", "").split()[0]) for cell in rows[graph.file][8:10])
        assert graph.diameters == (largest, every), graph.name
        assert (data_folder / graph.file).is_file()


def test_a_store_is_made_once(cache: Cache):
    path = cache.store(GRID)
    before = (path / "zarr.json").stat().st_mtime_ns
    assert cache.store(GRID) == path and (path / "zarr.json").stat().st_mtime_ns == before
    assert not cache.has(REAL[0])
    with open_store(path) as store:
        assert store.n_vertices == 2000 and store.indices.chunk_items == GRID.chunk_ids


def test_edge_files_hold_the_listed_pairs(cache: Cache):
    import pyarrow.parquet as pq

    text = np.loadtxt(cache.edge_file(GRID, ".txt"), dtype=np.int64)
    table = pq.read_table(cache.edge_file(GRID, ".parquet"))
    assert text.shape == (3910, 2)
    assert np.array_equal(text[:, 0], table["src"]) and np.array_equal(text[:, 1], table["dst"])


def test_a_shuffled_graph_is_the_same_in_another_order(cache: Cache):
    path = cache.store(replace(GRID, name="shuffled", shuffled=True))
    with open_store(path) as shuffled, open_store(cache.store(GRID)) as plain:
        degrees = [np.sort(np.diff(read_csr(str(store.path)).indptr)) for store in (shuffled, plain)]
        assert shuffled.n_vertices == plain.n_vertices == 2000 and shuffled.n_arcs == plain.n_arcs
        assert shuffled.indices.chunk_items == GRID.chunk_ids
    assert np.array_equal(*degrees)
    bandwidth = [abs(np.subtract(*read_csr(str(path)).nonzero())).max() for path in (path, cache.store(GRID))]
    assert bandwidth[0] > 1000 > bandwidth[1] == 50


def test_evict_empties_the_page_cache(tmp_path: Path):
    (tmp_path / "file").write_bytes(os.urandom(8 << 20))
    warm = cached_share(tmp_path)
    evict(tmp_path)
    cold = cached_share(tmp_path)
    if warm is None or cold is None or cold == warm == 1.0:
        pytest.skip("this file system keeps or hides its page cache")
    assert warm == 1.0 and cold < 0.7


def test_bfs_section(cache: Cache):
    (row,) = bfs.run(quick_setting(cache, GRID.name))
    header, cells = bfs.table([row])
    assert row["n_reached"] == row["n_vertices"] == 2000 and row["in_ram"]
    assert row["rules"]["paper"]["levels"] == row["rules"]["work"]["levels"] >= 44
    assert row["rules"]["work"]["arcs_per_second"] == pytest.approx(7820 / row["rules"]["work"]["median"])
    assert len(header) == len(cells[0]) and cells[0][0] == GRID.name
    beside = {**row, "peers": {"GAP": {"median": row["rules"]["work"]["median"] / 2}, "scipy": {"failure": "-"}}}
    assert bfs.notes([row]) == [] and dict(zip(*(header, bfs.table([beside])[1][0]), strict=True))["x GAP"] == "0.50"
    assert bfs.notes([beside]) == [f"seconds, GAP / ours: geometric mean 0.50 over 1 graphs; below 1.0: {GRID.name}"]


@pytest.mark.slow
def test_streamed_section(cache: Cache):
    rows = streamed.run(quick_setting(cache, RMAT.name))
    assert [row["task"] for row in rows] == ["bfs", "exact"]
    for row in rows:
        assert row["arena_bytes"] <= row["raw_csr_bytes"] // 10 and row["arena_blocks"] < row["n_blocks"]
        assert row["counters"]["bytes_read"] > 0 and row["cold_disk_seconds"] > 0
        assert row["exact"] and row["answer"] > 0
        assert 0 < row["ram_seconds"] < row["ram_total_seconds"] and 0 < row["total_seconds"]
        assert row["total_to_ram"] == pytest.approx(row["total_seconds"] / row["ram_total_seconds"])
    header, cells = streamed.table(rows)
    assert all(len(header) == len(line) for line in cells)
    assert streamed.run(quick_setting(cache, "quick-path-2^13")) == []  # too few blocks to be streamed


def test_the_floor_is_the_slower_of_disk_and_half_the_cpu():
    disk = floor(seconds=3.0, cold=2.0, counted_cpu=3.0, process_cpu=3.2)
    assert disk["bound_by"] == "disk" and disk["ratio"] == pytest.approx(1.5)
    cpu = floor(seconds=3.0, cold=1.0, counted_cpu=4.0, process_cpu=6.0)
    assert cpu["bound_by"] == "cpu" and cpu["ratio"] == pytest.approx(1.5)
    assert cpu["ratio_process_cpu"] == pytest.approx(1.0)


def test_the_replay_reads_the_same_bytes(cache: Cache):
    with open_store(cache.store(RMAT)) as store:
        recorder = Recorder(store.indices)
        rows = np.empty((3, store.indices.chunk_items), store.id_dtype)
        total = recorder.fetch(0, list(rows)) + recorder.fetch(7, list(rows[:1]))
        assert recorder.reads == [(0, 3), (7, 1)]
        seconds, n_bytes = cold_seconds(store, recorder.reads, 2)
    assert n_bytes == total > 0 and seconds > 0


@pytest.mark.slow
def test_convert_section(cache: Cache):
    rows = convert.run(quick_setting(cache, GRID.name))
    assert [row["format"] for row in rows] == ["parquet", "edgelist"]
    assert all(row["pairs"] == row["n_edges"] == 3910 for row in rows)
    assert all(0 < row["peak_rss_bytes"] <= row["memory_limit_bytes"] == 1 << 30 for row in rows)
    assert not (cache.folder / "converted.zarr").exists()


@pytest.mark.parametrize("library", [
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("networkit", "igraph")), "scipy"])
def test_peers_run_a_bfs(cache: Cache, library: str):
    if not installed(library):
        pytest.skip(f"{library} is not installed")
    found = run_peer(library, "bfs", cache.store(GRID), quick_setting(cache), [0, 1999])
    assert found["n_calls"] >= 2 and found["median"] > 0


def test_a_peer_that_fails_or_is_slow_is_said(cache: Cache):
    failed = run_peer("scipy", "diameter", cache.store(GRID), quick_setting(cache))
    assert failed["failure"] == "failed (1)" and "diameter" in failed["message"]
    slow = run_peer("scipy", "bfs", cache.store(GRID), replace(quick_setting(cache), peer_seconds=0.05), [0])
    assert slow == {"failure": "> 0 s"}


def test_the_command_prints_tables_and_keeps_json(
    cache: Cache, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    target = tmp_path / "new" / "figures.json"
    arguments = ["--quick", "--no-peers", "--solve-seconds", "600", "--only", "exact", "--graph", GRID.name,
                 "--json", str(target), "--cache", str(cache.folder)]
    assert main(arguments) == 0
    assert GRID.name in capsys.readouterr().out
    kept = json.loads(target.read_text())
    assert list(kept["sections"]) == ["exact"]
    assert kept["sections"]["exact"][0]["runs"]["pivots"]["exact"]
    assert kept["machine"]["usable_cores"] >= 1 and "numba" in kept["machine"]["versions"]
    assert str(cache.folder) not in target.read_text()
    assert main(["--from", str(target), "--cache", str(cache.folder)]) == 0
    assert GRID.name in capsys.readouterr().out
    row = kept["sections"]["exact"][0]
    row["wrong"] = ["diameters [1, 2]"]
    target.write_text(json.dumps(kept))
    assert main(["--from", str(target), "--cache", str(cache.folder)]) == 1
    assert "WRONG: diameters [1, 2]" in capsys.readouterr().out


def test_the_effort_of_a_full_run_comes_from_the_command_line(tmp_path: Path):
    given = parser().parse_args(["--rounds", "2", "--attempts", "5", "--quiet-cores", "0.3", "--methods", "all",
                                 "--solve-seconds", "7", "--long-seconds", "8", "--large", "--cache", str(tmp_path)])
    asked = setting_of(given)
    assert asked.effort == Effort(2, 5, 0.3) and asked.peers and asked.large
    assert (asked.solve_seconds, asked.long_seconds, asked.methods) == (7.0, 8.0, "all")
