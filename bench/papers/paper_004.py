"""papers/004, graph algorithms on GPUs: BFS, SSSP and APSP by all their systems, beside serial code.

On a CPU: BFS by a queue (Algorithm 1) against this engine and other libraries; every SSSP method against the sequential
Bellman-Ford from a frontier (Algorithm 5); every method of all pairs. A GPU's figures are those that
python -m bench.gpu kept.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import emdiam
from emdiam.gpu.variants.registry import VARIANTS
from emdiam.paths.methods import METHODS, shortest_paths
from emdiam.paths.pairs.methods import METHODS as PAIRS
from emdiam.paths.paths import SearchOptions
from emdiam.paths.rows import WeightedRows
from emdiam.store.store import open_store
from emdiam.traverse.core import DIRECTIONS

from ..gpu.serial_bounds import UNREACHED, loops
from ..graphs import Graph
from ..peers.run import installed, run_peer
from ..programs import rows_of
from ..rounds import Effort
from ..setting import Setting as BenchSetting
from .cases import SAME_CLASS, STAND_IN, Case, chosen, fetched, graph_named, label
from .gpu import recorded
from .lazy import Lazy, Made
from .numbers import count, ratio, seconds, short
from .page import Figure, Page, Section, Series, Table
from .published_004 import FIGURES, TABLE_2
from .setting import TINY, Setting

TITLE = "Paper 004: Graph algorithms on GPUs (BFS, SSSP, APSP), beside ours"
SOURCE = ("Busato, Bombieri, chapter of Advances in GPU Research and Practice, 2016. NVIDIA Kepler and Maxwell GPUs."
          " Its figures are drawings without numbers; what its text says of them stands beside ours.")
LIMITS = {"tiny": 10.0, "small": 60.0, "full": 3600.0}
CASES = (
    fetched("asia.osm", "asia_osm.mtx"), fetched("USA-road.d-CAL", "USA-road-d.CAL.gr.gz"),
    fetched("msdoor", "msdoor.mtx"),
    fetched("circuit5M_dc", "circuit5M_dc.mtx"), fetched("flickr", "flickr.mtx"),
    fetched("web-NotreDame", "web-NotreDame.txt.gz"), fetched("circuit5M", "circuit5M.mtx"),
    fetched("kron_g500-logn20", "kron_g500-logn20.mtx"),
    Case("asia.osm", graph_named("luxembourg_osm"), STAND_IN, why="a smaller road map of the same source"),
    Case("USA-road.d-CAL", graph_named("USA-road-d.NY"), STAND_IN, why="a smaller road map of the same source"),
    Case("msdoor", graph_named("wave"), STAND_IN, why="another mesh"),
    Case("web-NotreDame", graph_named("cnr-2000"), STAND_IN, why="another web crawl, of as many pages"),
    Case("rmat.3Mv.20Me", Graph("rmat-18-ef8", "", "rmat", 2**18, {"edge_factor": 8}), SAME_CLASS, why="2^18 vertices"),
    Case("flickr", graph_named("MIT8"), STAND_IN, why="a small social network"),
    Case("kron_g500-logn20", Graph("kronecker-16-ef48", "", "kronecker", 2**16, {"edge_factor": 48}), SAME_CLASS,
         why="2^16 vertices"),
)
_TINY = (Case("USA-road.d-CAL", Graph("tiny-grid-20x30", "", "grid", None, {"sides": "20x30"}, diameters=(48, 48)),
              SAME_CLASS),)
SERIAL, SEQUENTIAL = "serial queue", "frontier-bellman-ford"
PEERS = ("scipy", "networkit", "igraph")
_N_SOURCES, _TIMED_SECONDS, _MOST = 4, 2.0, 5
Row = dict[Any, Any]


def run(setting: Setting, names: tuple[str, ...] = ()) -> Page:
    """Measure what is not kept, and lay out the page."""
    cases = list(_TINY) if setting.scale == TINY else chosen(setting, CASES, names)
    rows = [_measure(setting, case) for case in cases]
    pairs = _pairs(setting)
    return Page("004", TITLE, [SOURCE, _LEGEND], [("limit of a peer", f"{setting.seconds:g} s")], [
        Section("The graphs", [_graphs(rows)]),
        Section("Table 2: implementations of BFS", [_table_2()], [_VARIANTS]),
        Section("Figure 5: BFS", [_bfs_table(setting, rows), _figure_5(setting, rows)], [_BFS]),
        Section("Figures 6 and 7: shortest paths from one vertex", [_sssp_table(rows), _work_table(rows),
                                                                    _figure_7(rows)], [_SSSP]),
        Section("Figure 8: all pairs", [_pairs_table(pairs)], [_APSP]),
        Section("Figures 12 to 15: load balancing", [_regimes(rows)], [_BALANCING]),
        recorded(setting.recorded, "On a GPU: Figures 5 and 12 to 15", "persistent", "variants", "regimes",
                 "weighted"),
    ])


_LEGEND = ("Where the paper's graph is not here, another one of its kind stands in. A speedup is over serial"
           " code on the same graph and machine, as the paper's are.")
_VARIANTS = ("The paper's words, and our variants (`--bfs NAME`) with their work. V vertices, E edges, D levels.")
_BFS = ("The serial code is Algorithm 1: one thread, a queue, compiled. Ours: a BFS with distances in RAM, by"
        " each rule of directions (`work` is the default). Others: scipy's breadth_first_order, networkit's"
        " BFS, igraph's distances, GAP's direction-optimizing BFS, which gives parents. Medians over the same"
        " sources. In the paper's figure BFS-4K is the fastest GPU code on every graph.")
_SSSP = ("From the vertex of the largest degree; speedups over the sequential Bellman-Ford from a frontier, as"
         " in Figure 7. Weights are those of the file (USA-road-d), else 1 to 255, drawn by the pair. In the"
         " paper's figure H-BF is the fastest on every graph; on road maps Boost's Dijkstra beats all GPU"
         " codes but H-BF. On a CPU the method with few relaxations wins. Figure 6 is an example of iterations"
         " and relaxations, which the second table counts.")
_APSP = ("A random graph with weights, by every method of section 4. Figure 8 draws the order of tiles in the"
         " blocked Floyd-Warshall. The paper's text: streamed blocks with a lazy minimum are 5 to 10 times as"
         " fast as Katz and Kider, and slower than the elimination of Buluç et al.; all on GPUs.")
_BALANCING = ("The regime of a graph is the mean and the deviation of its rows, the work-items. Seconds of mappings"
              " need a GPU.")


def _measure(setting: Setting, case: Case) -> Row:
    path = setting.cache.store(case.graph)
    keep, name = setting.kept.cell, case.graph.name
    row: Row = {"case": case, "paper": case.paper, "graph": name}
    row["facts"] = keep(lambda: _facts(path), paper="004", graph=name, run="facts")
    row["sources"] = row["facts"]["sources"]
    row[SERIAL] = keep(lambda: _serial(path, row["sources"]), paper="004", graph=name, run=SERIAL)
    for rule in DIRECTIONS:
        for threads in sorted({1, setting.threads}) if rule == "work" else (setting.threads,):
            with Lazy(partial(setting.engine, path, threads, direction=rule)) as engine:
                row[rule, threads] = keep(engine.later(own_bfs, row["sources"]),
                                          paper="004", graph=name, run="bfs", rule=rule, threads=threads)
    for peer in PEERS:
        row[peer] = keep(partial(_peer, setting, peer, path, row["sources"]),
                         paper="004", graph=name, run="bfs", peer=peer)
    row["gapbs"] = keep(lambda: setting.programs.gapbs_bfs(path, row["sources"], setting.threads, setting.seconds),
                        paper="004", graph=name, run="bfs", peer="gapbs")
    rows = Made(partial(weights_of, setting, case.graph, path))
    row["sssp"] = {}
    for method in METHODS:
        row["sssp"][method] = keep(rows.later(_search, method, setting.threads),
                                   paper="004", graph=name, run="sssp", method=method)
    row["sssp"]["scipy"] = keep(rows.later(by_scipy), paper="004", graph=name, run="sssp", method="scipy")
    sums = {method: found["sum"] for method, found in row["sssp"].items() if "sum" in found}
    if len(set(sums.values())) > 1 or len({row[one]["reached"] for one in (SERIAL, ("work", 1))
                                           if "reached" in row[one]}) > 1:
        raise AssertionError(f"{name}: answers differ: {sums}, {row[SERIAL]}")
    return row


def weights_of(setting: Setting, graph: Graph, path: Path) -> WeightedRows:
    """The graph with weights: those of its file, where that is a road map with lengths, else by the pair."""
    if not graph.file.endswith(".gr.gz"):
        return drawn_weights(*rows_of(path))
    target = setting.cache.folder / f"{graph.name}-weights.zarr"
    if not target.exists():
        emdiam.convert(setting.cache.input_of(graph), target, weights=True)
    with open_store(target) as store:
        return WeightedRows.from_store(store, setting.threads)


def drawn_weights(offsets: np.ndarray, neighbours: np.ndarray) -> WeightedRows:
    """Weights of 1 to 255 that depend on the pair alone, the same in both directions."""
    tails = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint64), np.diff(offsets))
    heads = neighbours.astype(np.uint64)
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    mixed = (low * np.uint64(0x9E3779B97F4A7C15)) ^ (high * np.uint64(0xC2B2AE3D27D4EB4F))
    return WeightedRows(offsets, neighbours, (mixed >> np.uint64(32)).astype(np.uint8) % np.uint8(255) + np.uint8(1))


def _facts(path: Path) -> dict[str, Any]:
    offsets, _ = rows_of(path)
    degrees = np.diff(offsets)
    with_edge = np.flatnonzero(degrees)
    sources = [int(np.argmax(degrees)), *np.random.default_rng(1).choice(with_edge, _N_SOURCES - 1).tolist()]
    return {"n": len(degrees), "arcs": int(offsets[-1]), "mean": float(degrees.mean()),
            "deviation": float(degrees.std()),
            "largest": int(degrees.max()), "sources": sources}


def repeated(call: Callable[[], Any]) -> float:
    """Median seconds of a few calls."""
    taken: list[float] = []
    while len(taken) < _MOST and sum(taken) < _TIMED_SECONDS:
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def _serial(path: Path, sources: list[int]) -> dict[str, Any]:
    offsets, neighbours = rows_of(path)
    distances, queue = np.empty(len(offsets) - 1, np.uint32), np.empty(len(offsets) - 1, np.int64)
    steps = loops()
    steps.search(offsets, neighbours, sources[0], distances, queue)  # compiles
    reached = int(np.count_nonzero(distances != UNREACHED))
    taken = [repeated(partial(steps.search, offsets, neighbours, source, distances, queue)) for source in sources]
    return {"median": statistics.median(taken), "reached": reached}


def own_bfs(engine: Any, sources: list[int]) -> dict[str, Any]:
    """Median seconds of a BFS with distances on an engine, from all sources; levels and vertices of the first."""
    found = engine.bfs(sources[0])
    levels, reached = found.levels, int(found.n_reached)
    taken = [repeated(partial(engine.bfs, source)) for source in sources]
    return {"median": statistics.median(taken), "levels": levels, "reached": reached}


def _peer(setting: Setting, peer: str, path: Path, sources: list[int]) -> dict[str, Any]:
    if setting.scale == TINY:
        return {"failure": "not at this scale"}
    if not installed(peer):
        return {"failure": "not installed", "again": True}
    asked = BenchSetting(setting.cache, setting.threads, peer_seconds=setting.seconds,
                         effort=Effort(1, 1, quiet_cores=1e9))
    return run_peer(peer, "bfs", path, asked, sources)


def _search(rows: WeightedRows, method: str, threads: int) -> dict[str, Any]:
    source, options = int(np.argmax(np.diff(rows.offsets))), SearchOptions(threads=threads)
    found = shortest_paths(rows, source, method, options)  # compiles
    there = found.distances[found.has_path]
    return {"median": repeated(lambda: shortest_paths(rows, source, method, options)), "sum": float(there.sum()),
            "relaxations": found.relaxations, "rounds": found.rounds}


def by_scipy(rows: WeightedRows) -> dict[str, Any]:
    """Median seconds of scipy's Dijkstra from the vertex of the largest degree, and the sum of the distances."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    matrix = csr_array((rows.costs.astype(float), rows.heads.astype(np.int32), rows.offsets.astype(np.int32)),
                       shape=(rows.n_vertices,) * 2)
    source = int(np.argmax(np.diff(rows.offsets)))
    found = dijkstra(matrix, indices=source)
    return {"median": repeated(lambda: dijkstra(matrix, indices=source)), "sum": float(found[np.isfinite(found)].sum())}


def _pairs(setting: Setting) -> dict[str, dict[str, Any]]:
    """Every method of all pairs, and scipy, on one graph."""
    n = setting.at(64, 1024, 4096)
    graph = setting.cache.folder / f"pairs-{n}.zarr"
    if not graph.exists():
        emdiam.generate("erdos-renyi", graph, vertices=n, seed=1, weights="uniform:1,255", average_degree=16)
    small = setting.cache.folder / "pairs-64.zarr"
    if not small.exists():
        emdiam.generate("erdos-renyi", small, vertices=64, seed=1, weights="uniform:1,255", average_degree=16)

    def measure(method: str) -> dict[str, Any]:
        emdiam.all_pairs(small, method=method, threads=setting.threads)  # compiles
        found = emdiam.all_pairs(graph, method=method, threads=setting.threads)
        assert found.distances is not None, "the matrix is in memory"
        return {"n": n, "median": found.seconds["solve"], "sum": _sum_of(found.distances, found.unreachable)}

    made = {method: setting.kept.cell(partial(measure, method), paper="004", graph=graph.stem, run="apsp",
                                      method=method) for method in PAIRS}
    made["scipy"] = setting.kept.cell(lambda: _floyd_by_scipy(graph, n), paper="004", graph=graph.stem, run="apsp",
                                      method="scipy")
    if len({found["sum"] for found in made.values() if "sum" in found}) > 1:
        raise AssertionError(f"distances between all pairs differ: {made}")
    return made


def _sum_of(distances: np.ndarray, unreachable: int | None) -> float:
    there = np.isfinite(distances) if unreachable is None else distances != unreachable
    return float(distances[there].astype(np.float64).sum())


def _floyd_by_scipy(graph: Path, n: int) -> dict[str, Any]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import floyd_warshall

    with open_store(graph) as store:
        rows = WeightedRows.from_store(store, 1)
    matrix = csr_array((rows.costs.astype(float), rows.heads.astype(np.int32), rows.offsets.astype(np.int32)),
                       shape=(n, n))
    begin = time.perf_counter()
    found = floyd_warshall(matrix)
    return {"n": n, "median": time.perf_counter() - begin, "sum": _sum_of(found, None)}


# -- tables ------------------------------------------------------------------------------------------------------
def _graphs(rows: list[Row]) -> Table:
    header = ["graph of the paper", "ours", "", "n", "arcs", "largest component, or what the hub reaches",
              "levels from the hub",
              "what differs"]
    cells = [[row["paper"], row["graph"], row["case"].how, count(row["facts"]["n"]), count(row["facts"]["arcs"]),
              count(row[SERIAL]["reached"]), count(row["work", 1]["levels"]), row["case"].why or "nothing"]
             for row in rows]
    return Table("Graphs", header, cells, ["The paper prints no sizes."])


def _table_2() -> Table:
    header = ["implementation", "work, paper", "space, paper", "parallelism", "hubs apart", "duplicates",
              "synchronization",
              "our variants", "their work"]
    cells = [[name, one.work, one.space, one.parallelism, one.high_degree, one.duplicates, one.synchronization,
              ", ".join(one.ours), VARIANTS[one.ours[0]].work] for name, one in TABLE_2.items()]
    return Table("Table 2", header, cells)


def _time(found: dict[str, Any]) -> str:
    value = found.get("median", found.get("solve"))
    return str(found.get("failure", "-")) if value is None else f"{1000 * value:,.2f}"


def _gain(row: Row, found: dict[str, Any]) -> float | None:
    value = found.get("median", found.get("solve"))
    return row[SERIAL]["median"] / value if value else None


def _columns(setting: Setting, row: Row) -> dict[str, dict[str, Any]]:
    """What is compared with the serial code."""
    many = setting.threads
    found = {"ours, 1 thread": row["work", 1], f"ours, {many} threads": row["work", many]}
    found |= {f"rule {rule}": row[rule, many] for rule in DIRECTIONS if rule != "work"}
    return {**found, **{peer: row[peer] for peer in PEERS}, "GAP": row["gapbs"]}


def _bfs_table(setting: Setting, rows: list[Row]) -> Table:
    header, cells = ["graph of the paper, ours", "serial queue ms"], []
    for row in rows:
        columns = _columns(setting, row)
        cells.append([label(row), _time(row[SERIAL]), *(text for found in columns.values()
                                                         for text in (_time(found), ratio(_gain(row, found), 1)))])
    for name in _columns(setting, rows[0]) if rows else ():
        header += [f"{name} ms", "speedup"]
    return Table("BFS: milliseconds, and speedup over the serial queue", header, cells)


def _figure_5(setting: Setting, rows: list[Row]) -> Figure:
    names = [label(row) for row in rows]
    series = [Series(name, names, [_gain(row, _columns(setting, row)[name]) for row in rows])
              for name in (_columns(setting, rows[0]) if rows else ())]
    return Figure("Figure 5: speedup of BFS over the serial queue", "bars", "graph", "speedup", series, "y",
                  tabled=True)


def _sssp_table(rows: list[Row]) -> Table:
    header, cells = ["graph of the paper, ours", f"{SEQUENTIAL} ms"], []
    others = [name for name in (*METHODS, "scipy") if name != SEQUENTIAL]
    for name in others:
        header += [f"{name} ms", "speedup"]
    for row in rows:
        base, line = row["sssp"][SEQUENTIAL], [label(row), _time(row["sssp"][SEQUENTIAL])]
        for name in others:
            found = row["sssp"][name]
            line += [_time(found), ratio(base.get("median"), found.get("median"))]
        cells.append(line)
    return Table("SSSP: milliseconds, and speedup over the sequential Bellman-Ford from a frontier", header, cells, [
        "scipy: its Dijkstra. All methods found the same distances."])


def _work_table(rows: list[Row]) -> Table:
    header, cells = ["graph of the paper, ours", "arcs"], []
    for name in METHODS:
        header += [f"{name}: relaxations / arcs", "rounds"]
    for row in rows:
        line = [label(row), count(row["facts"]["arcs"])]
        for name in METHODS:
            found = row["sssp"][name]
            line += [short(found["relaxations"] / max(1, row["facts"]["arcs"])) if "relaxations" in found else "-",
                     count(found.get("rounds"))]
        cells.append(line)
    return Table("SSSP: relaxations and iterations (Figure 6)", header, cells)


def _figure_7(rows: list[Row]) -> Figure:
    names = [label(row) for row in rows]
    series = [Series(name, names, [
        row["sssp"][SEQUENTIAL]["median"] / row["sssp"][name]["median"] if "median" in row["sssp"][name] else None
        for row in rows]) for name in (*METHODS, "scipy") if name != SEQUENTIAL]
    return Figure("Figure 7: speedup over the sequential Bellman-Ford from a frontier", "bars", "graph", "speedup",
                  series, "y", tabled=True)


def _pairs_table(found: dict[str, dict[str, Any]]) -> Table:
    plain = found["floyd-warshall"].get("median")
    cells = [[name, PAIRS[name].summary if name in PAIRS else "scipy.sparse.csgraph.floyd_warshall",
              count(one.get("n")),
              seconds(one.get("median")), ratio(plain, one.get("median"))] for name, one in found.items()]
    return Table("All pairs", ["method", "what", "n", "seconds", "speedup over the three loops"], cells, [
        "All methods found the same distances. The graph is sparse, which suits searches; the others take as long on a"
        " dense one."])


def _regimes(rows: list[Row]) -> Table:
    header = ["graph of the paper, ours", "mean row", "deviation", "longest row"]
    cells = [[label(row), short(row["facts"]["mean"]), short(row["facts"]["deviation"]),
              count(row["facts"]["largest"])]
             for row in rows]
    return Table("Work-items of the graphs", header, cells, [
        f"{name} of the paper, {graph}: the fastest is {best}, then {after}." for name,
        (graph, best, after) in FIGURES.items()])
