"""Section sssp: shortest paths from one vertex along weights, in RAM, beside other libraries, and streamed.

The source is the vertex of the highest degree. Seconds are those of the search alone, in turns, each the median over
rounds: own `auto` with all threads, scipy's Dijkstra, networkit's, and, where the environment names the program sssp
of the GAP benchmark suite (GAPBS_SSSP), its Delta-stepping with the best of a few Deltas and as many threads: that
searches again and again, and is compared with own searches that follow each other as well. Distances are compared.
Streamed: `emdiam sssp` as a function, in RAM and with an arena of a tenth of the raw rows, whole runs; of the store as
the file has it, and of what `emdiam reorder --order cluster` makes of it.
Generated graphs have whole numbers of 1 to 255 as weights, drawn at random, the same every time.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import emdiam
from emdiam.cli.process import settle_malloc
from emdiam.paths.methods import shortest_paths
from emdiam.paths.paths import SearchOptions
from emdiam.paths.rows import WeightedRows
from emdiam.runs.task import execute, task_of
from emdiam.store.store import open_store

from .graphs import Graph, graphs_of
from .rounds import Lap, measure_paired
from .setting import Setting

TITLE = "Shortest paths from one vertex along weights: seconds in RAM, beside others, and streamed"
SHARE, WEIGHTS = 10, "uniform:1,255"
DELTAS = (0.5, 2, 8)  # times the own Delta
_TRIAL = re.compile(r"^Trial Time:\s*([\d.]+)", re.MULTILINE)


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row a graph."""
    return [_measure(setting, graph) for graph in graphs_of("sssp", setting.quick, setting.names)
            if setting.cache.has(graph)]


def weighted_store(setting: Setting, graph: Graph) -> Path:
    """The store of the graph with weights, made once; of a real one those of its file. Blocks are small enough that a
    tenth of the rows has some."""
    target = setting.cache.folder / f"{graph.name}-weights.zarr"
    if not target.exists():
        if graph.file:
            emdiam.convert(setting.cache.input_of(graph), target, weights=True, chunk=1 << 13)
        else:
            emdiam.generate(graph.graph_class, target, vertices=graph.vertices, seed=graph.seed, weights=WEIGHTS,
                            chunk=graph.chunk_ids or None, **graph.parameters)
    return target


def _measure(setting: Setting, graph: Graph) -> dict[str, Any]:
    path = weighted_store(setting, graph)
    with open_store(path) as store:
        rows = WeightedRows.from_store(store, setting.threads)
        source = int(np.argmax(np.diff(rows.offsets)))
        (name,) = store.user_ids(np.array([source]))
    calls: dict[str, Callable[[], np.ndarray]] = {
        "own": lambda: shortest_paths(rows, source, options=SearchOptions(threads=setting.threads)).distances}
    if setting.peers:
        calls |= _peers(rows, source)
    expected = calls["own"]()
    wrong = [name for name, call in calls.items() if name != "own" and not _equal(call(), expected)]
    timings = measure_paired({name: _timed(call) for name, call in calls.items()}, setting.effort)
    row: dict[str, Any] = {
        "graph": graph.name, "n_vertices": rows.n_vertices, "n_arcs": rows.n_arcs, "source": source, "wrong": wrong,
        "seconds": {name: timing.to_dict() for name, timing in timings.items()}}
    row["gapbs"] = _gapbs(setting, rows, source) if setting.peers else None
    own = timings["own"].median
    row["speedups"] = {peer: timing.median / own for peer, timing in timings.items() if peer != "own"}
    if row["gapbs"] is not None:
        search_again = _timed(calls["own"])
        row["own_in_a_row"] = _middle([search_again().seconds for _ in range(_trials(setting))])
        row["speedups"]["gapbs"] = row["gapbs"]["median"] / row["own_in_a_row"]["median"]
    row["in_clusters"] = _streamed(setting, clustered(path), rows.nbytes, name)
    return row | _streamed(setting, path, rows.nbytes, name)


def clustered(path: Path) -> Path:
    """The store with near vertices in the same blocks, made once."""
    target = path.with_name(f"{path.stem}-cluster.zarr")
    if not target.exists():
        emdiam.reorder(path, target, "cluster")
    return target


def _trials(setting: Setting) -> int:
    """Searches that follow each other."""
    return 4 * setting.effort.rounds


def _middle(seconds: list[float]) -> dict[str, Any]:
    """The median of them, and the least."""
    return {"median": sorted(seconds)[len(seconds) // 2], "best": min(seconds)}


def _equal(found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether distances are the same; others have infinity, or the largest float, where there is no path."""
    there = expected != np.iinfo(expected.dtype).max
    return bool(np.array_equal(found[there], expected[there]) and not (found[~there] < 1e300).any())


def _timed(call: Callable[[], np.ndarray]) -> Callable[[], Lap]:
    """The call, timed."""
    def lap() -> Lap:
        begin = time.perf_counter()
        call()
        return Lap(time.perf_counter() - begin)

    return lap


def _peers(rows: WeightedRows, source: int) -> dict[str, Callable[[], np.ndarray]]:
    """Searches of the libraries that are here."""
    calls: dict[str, Callable[[], np.ndarray]] = {}
    if importlib.util.find_spec("scipy"):
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        matrix = csr_array((rows.costs.astype(float), rows.heads.astype(np.int32), rows.offsets.astype(np.int32)),
                           shape=(rows.n_vertices, rows.n_vertices))
        calls["scipy"] = lambda: dijkstra(matrix, indices=source)
    if importlib.util.find_spec("networkit"):
        import networkit

        tails = np.repeat(np.arange(rows.n_vertices), np.diff(rows.offsets))
        once = tails < rows.heads
        pairs = tails[once], rows.heads[once].astype(np.int64)
        graph = networkit.GraphFromCoo((rows.costs[once].astype(float), pairs), n=rows.n_vertices, weighted=True)

        def search_there() -> np.ndarray:
            found = networkit.distance.Dijkstra(graph, source, False)
            found.run()
            return np.array(found.getDistances(asarray=True))

        calls["networkit"] = search_there
    return calls


def _gapbs(setting: Setting, rows: WeightedRows, source: int) -> dict[str, Any] | None:
    """The median of its trials with the best Delta; None where the program is not named."""
    program = os.environ.get("GAPBS_SSSP")
    if program is None:
        return None
    file = setting.cache.folder / "sssp.wsg"
    pairs = np.empty((rows.n_arcs, 2), np.int32)
    pairs[:, 0], pairs[:, 1] = rows.heads, rows.costs
    with open(file, "wb") as out:
        for part in (np.zeros(1, np.uint8), np.array([rows.n_arcs, rows.n_vertices]), rows.offsets, pairs):
            out.write(part.tobytes())
    usual = 2 * float(rows.costs.mean()) * rows.n_vertices / rows.n_arcs
    best: dict[str, Any] | None = None
    for delta in sorted({max(1, round(usual * share)) for share in DELTAS}):
        done = subprocess.run(
            [program, "-f", str(file), "-d", str(delta), "-r", str(source), "-n", str(_trials(setting))],
            env={**os.environ, "OMP_NUM_THREADS": str(setting.threads)}, capture_output=True, text=True, check=True)
        found = {"delta": delta, **_middle([float(one) for one in _TRIAL.findall(done.stdout)])}
        best = found if best is None or found["median"] < best["median"] else best
    file.unlink()
    return best


def _streamed(setting: Setting, path: Path, raw_bytes: int, source: int | str) -> dict[str, Any]:
    """Whole runs in RAM and with an arena of a tenth of the raw rows, in a process of their own whose memory is handled
    as that of the command is. source : its id of the user's."""
    done = subprocess.run([sys.executable, "-m", "bench.sssp", str(path), str(source), str(raw_bytes // SHARE),
                           str(setting.threads), str(setting.effort.rounds)], check=True, stdout=subprocess.PIPE)
    results: dict[str, Any] = json.loads(done.stdout)
    return results


def whole_runs(path: str, source: str, arena: int, threads: int, rounds: int) -> dict[str, Any]:
    """Of each the fastest of the rounds, which take turns."""
    results: dict[str, Any] = {}
    for _ in range(rounds + 1):  # the first compiles
        for name, most in (("in_ram", None), ("streamed", arena)):
            cpu = time.process_time()
            result = execute(path, task_of("sssp", {"source": source, "arena": most, "threads": threads}))
            found = {"seconds": result.seconds["total"], "cpu_seconds": time.process_time() - cpu,
                     "bytes_read": result.bytes_read, "relaxations": result.relaxations,
                     "largest_distance": result.largest_distance}
            if name not in results or found["seconds"] < results[name]["seconds"]:
                results[name] = found
    results["ratio"] = results["streamed"]["seconds"] / results["in_ram"]["seconds"]
    results["cpu_ratio"] = results["streamed"]["cpu_seconds"] / results["in_ram"]["cpu_seconds"]
    return results


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells."""
    others = ("gapbs", "scipy", "networkit")
    header = ["graph", "n", "arcs", "own s", *(f"{name} / own" for name in others), "gapbs Delta", "run in RAM s",
              "streamed s", "ratio", "CPU ratio", "in clusters s", "ratio", "largest distance", "foreign cores"]
    return header, [_cells(row, others) for row in rows]


def _cells(row: dict[str, Any], others: tuple[str, ...]) -> list[str]:
    own, gapbs, clusters = row["seconds"]["own"], row["gapbs"], row["in_clusters"]
    return [row["graph"], f"{row['n_vertices']:,}", f"{row['n_arcs']:,}",
            "WRONG" if row["wrong"] else f"{own['median']:.4f}",
            *(f"{row['speedups'][name]:.1f}" if name in row["speedups"] else "" for name in others),
            "" if gapbs is None else str(gapbs["delta"]), f"{row['in_ram']['seconds']:.3f}",
            f"{row['streamed']['seconds']:.3f}", f"{row['ratio']:.2f}", f"{row['cpu_ratio']:.2f}",
            f"{clusters['streamed']['seconds']:.3f}", f"{clusters['ratio']:.2f}",
            str(row["streamed"]["largest_distance"]), f"{own['foreign_cores']:.2f}"]


if __name__ == "__main__":
    settle_malloc()
    store, vertex, *numbers = sys.argv[1:]
    print(json.dumps(whole_runs(store, vertex, *map(int, numbers))))
