"""papers/001, Fast Diameter Computation of Large Sparse Graphs using GPUs: Tables II and III, Figures 7 to 10.

On a CPU: the algorithm by bounds in plain serial code (bench/gpu/serial_bounds.py, with the candidates of the paper),
and the same method of this package on one thread and on all. A GPU's figures are those that python -m bench.gpu kept.
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import emdiam

from ..gpu.dal_paper import TABLE_II, TABLE_III
from ..gpu.serial_bounds import COMPONENTS, UNREACHED, diameter_serially, loops
from ..graphs import Graph
from ..programs import rows_of
from .cases import SAME_CLASS, STAND_IN, Case, chosen, fetched, graph_named, label
from .gpu import recorded
from .largest import largest_component
from .lazy import Lazy
from .numbers import count, ratio, short
from .page import Figure, Page, Section, Series, Table
from .published_001 import GRAPHS, KINDS
from .setting import TINY, Setting
from .solving import solved, timed

TITLE = "Paper 001: Fast Diameter Computation of Large Sparse Graphs using GPUs, beside ours"
SOURCE = ("Dal, Kosters, Takes, PDP 2014. NVIDIA GTX 480 against one core of an Intel Xeon E5620; the largest"
          " components of graphs of the SNAP collection.")
LIMITS = {"tiny": 2.0, "small": 20.0, "full": 3600.0}
_FILES = {
    "Amazon0601": "amazon0601.txt.gz", "as-skitter": "as-skitter.txt.gz", "cit-Patents": "cit-Patents.txt.gz",
    "com-amazon": "com-amazon.ungraph.txt.gz", "com-dblp": "com-dblp.ungraph.txt.gz",
    "com-LiveJournal": "com-lj.ungraph.txt.gz", "com-youtube": "com-youtube.ungraph.txt.gz",
    "Email-EuAll": "email-EuAll.txt.gz", "roadNet-CA": "roadNet-CA.txt.gz", "roadNet-PA": "roadNet-PA.txt.gz",
    "roadNet-TX": "roadNet-TX.txt.gz", "soc-LiveJournal1": "soc-LiveJournal1.txt.gz",
    "soc-Pokec": "soc-pokec-relationships.txt.gz", "web-BerkStan": "web-BerkStan.txt.gz",
    "web-Google": "web-Google.txt.gz", "web-NotreDame": "web-NotreDame.txt.gz", "web-Stanford": "web-Stanford.txt.gz",
    "WikiTalk": "wiki-Talk.txt.gz",
}
CASES = (
    *(fetched(name, file) for name, file in _FILES.items()),
    Case("soc-Pokec", graph_named("MIT8"), STAND_IN, why="a small social network"),
    Case("com-LiveJournal", graph_named("facebook_combined"), STAND_IN, why="a small social network"),
    Case("Email-EuAll", graph_named("email-Enron"), STAND_IN, why="another network of e-mails"),
    Case("WikiTalk", graph_named("wiki-Vote"), STAND_IN, why="another network of the same site"),
    Case("cit-Patents", graph_named("cit-HepPh"), STAND_IN, why="citations of papers"),
    Case("web-NotreDame", graph_named("cnr-2000"), STAND_IN, why="another web crawl, of as many pages"),
    Case("roadNet-PA", graph_named("USA-road-d.NY"), STAND_IN, why="another road map"),
    Case("roadNet-TX", graph_named("luxembourg_osm"), STAND_IN, why="another road map"),
    Case("as-skitter", graph_named("internet"), STAND_IN, why="a smaller map of the Internet"),
    Case("com-dblp", graph_named("PGPgiantcompo"), STAND_IN, why="who signs whose key, in place of who writes with"
                                                                 " whom"),
)
_TINY = (Case("roadNet-PA", Graph("tiny-grid-20x30", "", "grid", None, {"sides": "20x30"}, diameters=(48, 48)),
              SAME_CLASS),
         Case("soc-Pokec", Graph("tiny-rmat-8", "", "rmat", 2**8, {"edge_factor": 8}), SAME_CLASS))
# What the stages of our engine are called in the paper's Table III.
STAGES = {"eccentricity": ("eccentricity",), "bounds": ("updating bounds", "updating candidates",
                                                        "candidate selection")}
Row = dict[Any, Any]


def run(setting: Setting, names: tuple[str, ...] = ()) -> Page:
    """Measure what is not kept, and lay out the page."""
    cases = list(_TINY) if setting.scale == TINY else chosen(setting, CASES, names)
    rows = [_measure(setting, case) for case in cases]
    return Page("001", TITLE, [SOURCE, _LEGEND], [("limit of a run", f"{setting.seconds:g} s")], [
        Section("Table II: the graphs", [_graphs(rows)], [_CLUSTERING]),
        Section("Table II: diameter, iterations, seconds, speedup", [_table_2(setting, rows)], [_COUNTING]),
        Section("Table III: components", [_table_3(rows)], [_COMPONENTS]),
        Section("Figure 7: D90 / D against the speedup", [_figure_7(rows)], [_SUITED]),
        Section("Figure 8: speedup by graph", [_figure_8(setting, rows)], [_BARS]),
        Section("Figure 10: vertices left and active, level by level", _figure_10(rows), [_LEVELS]),
        recorded(setting.recorded, "On a GPU: Tables II and III, Figures 8 to 10", "exact", "dal-exact", "dal"),
    ])


_LEGEND = ("Where the paper's graph is not here, another one of its kind stands in: its figures show its size"
           " and need not agree. Seconds are of this CPU, the paper's T of a GPU.")
_CLUSTERING = ("The paper's C, its average clustering coefficient, is triangles / edges in every row, to four"
               " digits; beside it stands the mean of the clustering coefficients 2 t / (d (d - 1)) of all vertices."
               " D90: the distance that 90 % of the pairs do not exceed, interpolated, from 1,024 sources, or all. The"
               " paper's edges of road networks and of soc-LiveJournal1 are arcs.")
_COUNTING = ("Iterations: BFS until the largest lower bound is the largest upper bound. Serial: the paper's"
             " algorithm in plain code on one thread. The paper does not say with which vertex it begins nor how"
             " it breaks ties; the serial code begins at the vertex of the largest degree, and `exact --method"
             " bounding` breaks ties by degree. S: seconds of the serial code over ours, both on this CPU; for"
             " runs of milliseconds it varies by a factor of two or more.")
_COMPONENTS = ("Means over the graphs. The paper's are of the variant Pointers. The serial code has all five"
               " components; this package measures two stages, and `bounds` has the last three components in one"
               " pass, so its speedup stands in each of those rows.")


_SUITED = ("The points are D90 / D and S of Table II. The paper finds that D90 / D near 0.4 suits a GPU, and that a"
           " very small one, as of web graphs with a long tail, does not.")
_BARS = ("The points are the columns S of Table II. The paper draws bars of its six variants and prints none; the"
         " variants need a GPU.")
_LEVELS = ("The paper draws Amazon0601 and describes roadNet-PA, with the run time of its two kernels by level, which"
           " needs a GPU. On one thread a level takes time about as its arcs.")


def _measure(setting: Setting, case: Case) -> Row:
    path = largest_component(setting.cache.store(case.graph))
    keep, name = setting.kept.cell, case.graph.name
    row: Row = {"case": case, "paper": case.paper, "graph": name}
    row["profile"] = keep(lambda: _profile(path, setting), paper="001", graph=name, run="profile")
    row["serial"] = keep(lambda: _serial(path, setting.seconds), paper="001", graph=name, run="serial")
    row["levels"] = keep(lambda: _levels(path), paper="001", graph=name, run="levels")
    for threads in sorted({1, setting.threads}):
        with Lazy(partial(setting.engine, path, threads)) as engine:
            row[threads] = keep(engine.later(timed, "bounding", setting.seconds),
                                paper="001", graph=name, run="bounding", threads=threads)
    answers = {row["serial"].get("diameter")} | {row[t]["upper"] for t in (1, setting.threads) if row[t]["exact"]}
    if len(answers - {None}) > 1:
        raise AssertionError(f"{name}: diameters {answers}")
    return row


def _profile(path: Path, setting: Setting) -> dict[str, Any]:
    found = emdiam.profile(path, threads=setting.threads, sample=setting.at(64, 1024, 1024), time_limit=setting.seconds)
    return {"n": found.n_vertices, "m": found.n_edges, "triangles": found.triangles,
            "clustering": found.average_clustering, "effective": found.effective_diameter, "diameter": found.diameter,
            "mean": found.mean}


def _serial(path: Path, limit: float) -> dict[str, Any]:
    """Iterations, diameter, and seconds of each component of the serial code; {"failure": why} where it is stopped."""
    offsets, neighbours = rows_of(path)
    start = int(np.argmax(np.diff(offsets)))
    diameter_serially(np.array([0, 1, 2]), np.array([1, 0], neighbours.dtype), 0)  # compiles
    end = time.monotonic() + limit

    def stop() -> None:
        if time.monotonic() > end:
            raise TimeoutError

    try:
        found = diameter_serially(offsets, neighbours, start, stop=stop)
    except TimeoutError:
        return {"failure": f"> {limit:g} s"}
    return {"diameter": found.diameter, "iterations": len(found.sources), "seconds": found.seconds,
            "total": sum(found.seconds.values())}


def _levels(path: Path) -> dict[str, Any]:
    """Of a BFS from the vertex of the largest degree, by level: shares of the vertices that are active and left, and of
    the arcs that are looked at."""
    offsets, neighbours = rows_of(path)
    degrees = np.diff(offsets)
    distances, queue = np.empty(len(degrees), np.uint32), np.empty(len(degrees), np.int64)
    loops().search(offsets, neighbours, int(np.argmax(degrees)), distances, queue)
    near = distances != UNREACHED
    active = np.bincount(distances[near]) / len(degrees)
    arcs = np.bincount(distances[near], weights=degrees[near]) / max(1, len(neighbours))
    return {"active": active.tolist(), "left": (1 - np.cumsum(active)).clip(0).tolist(), "arcs": arcs.tolist()}


# -- tables ------------------------------------------------------------------------------------------------------
def _graphs(rows: list[Row]) -> Table:
    header = ["paper's graph", "ours", "", "n, paper", "n", "m, paper", "m", "triangles, paper", "triangles",
              "C, paper", "triangles / m", "mean clustering", "D90, paper", "D90", "what differs"]
    cells = []
    for row in rows:
        theirs, ours, case = GRAPHS[row["paper"]], row["profile"], row["case"]
        cells.append([f"{row['paper']} ({KINDS[theirs.kind]})", row["graph"], case.how, count(theirs.vertices),
                      count(ours["n"]),
                      count(theirs.edges), count(ours["m"]), count(theirs.triangles), count(ours["triangles"]),
                      f"{theirs.clustering:.4f}", f"{ours['triangles'] / max(1, ours['m']):.4f}",
                      short(ours["clustering"]),
                      short(TABLE_II[row["paper"]].effective), short(ours["effective"]), case.why or "nothing"])
    missing = [name for name in GRAPHS if name not in {row["paper"] for row in rows}]
    return Table("Table II, graphs", header, cells, [
        f"Neither the graph nor a stand-in is here: {', '.join(missing)}." if missing else "All are here."])


def _speedup(row: Row, threads: int) -> float | None:
    mine = solved(row[threads])
    return row["serial"]["total"] / mine if mine and "total" in row["serial"] else None


def _table_2(setting: Setting, rows: list[Row]) -> Table:
    many = setting.threads
    header = ["paper's graph, ours", "D, paper", "D", "iterations, paper", "iterations, serial", "iterations, ours",
              "T ms, paper's GPU", "T ms, serial", "T ms, 1 thread", f"T ms, {many} threads", "S, paper's GPU",
              "S, 1 thread",
              f"S, {many} threads"]
    cells = []
    for row in rows:
        theirs, serial = TABLE_II[row["paper"]], row["serial"]
        cells.append([label(row), count(theirs.diameter), count(row["profile"]["diameter"]), count(theirs.iterations),
                      count(serial.get("iterations")), count(row[many].get("traversals")),
                      f"{theirs.milliseconds:,.0f}",
                      _ms(serial.get("total")), _ms(solved(row[1])), _ms(solved(row[many])), f"{theirs.speedup:.2f}",
                      ratio(_speedup(row, 1), 1), ratio(_speedup(row, many), 1)])
    return Table("Table II", header, cells)


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{1000 * value:,.1f}"


def _table_3(rows: list[Row]) -> Table:
    done = [row for row in rows if "total" in row["serial"]]
    header = ["component", "GPU: share, paper", "GPU: speedup, paper", "serial code: share", "this package: share",
              "this package: speedup, 1 thread"]
    cells = []
    for name in COMPONENTS:
        stage = next((stage for stage, names in STAGES.items() if name in names), None)
        shares = [100 * row["serial"]["seconds"][name] / max(row["serial"]["total"], 1e-9) for row in done]
        own = [(row, row[1]["stage_seconds"].get(stage, 0.0)) for row in done if stage and row[1]["exact"]]
        gains = [sum(row["serial"]["seconds"][one] for one in STAGES[stage]) / mine for row, mine in own if stage
                 and mine]
        whole = [100 * mine / max(row[1]["solve_seconds"], 1e-9) for row, mine in own]
        theirs = TABLE_III[name]
        cells.append([name, f"{theirs[0]:.2f} %", f"{theirs[1]:.2f}", f"{statistics.fmean(shares):.2f} %" if shares
                      else "-",
                      f"{statistics.fmean(whole):.2f} %{' (stage bounds)' if stage == 'bounds' else ''}" if whole
                      else "part of no stage",
                      f"{statistics.fmean(gains):.2f}" if gains else "-"])
    return Table("Table III", header, cells)


def _figure_7(rows: list[Row]) -> Figure:
    mine = sorted((row["profile"]["effective"] / row["profile"]["diameter"], gain) for row in rows
                  if row["profile"]["diameter"] and row["profile"]["effective"]
                  and (gain := _speedup(row, max(k for k in row if isinstance(k, int)))) is not None)
    paper = sorted((one.effective / one.diameter, one.speedup) for one in TABLE_II.values())
    return Figure("Figure 7", "points", "D90 / D", "speedup over serial code", [
        Series("this package on this CPU", [round(x, 4) for x, _ in mine], [y for _, y in mine]),
        Series("GPU, paper", [round(x, 4) for x, _ in paper], [y for _, y in paper], True)], "y",
                  tabled=True)


def _figure_8(setting: Setting, rows: list[Row]) -> Figure:
    names = [label(row) for row in rows]
    return Figure("Figure 8", "bars", "graph", "speedup over serial code", [
        Series("this package, 1 thread", names, [_speedup(row, 1) for row in rows]),
        Series(f"this package, {setting.threads} threads", names, [_speedup(row, setting.threads) for row in rows]),
        Series("GPU (Table II), paper", names, [TABLE_II[row["paper"]].speedup for row in rows], True)],
        tabled=True)


def _figure_10(rows: list[Row]) -> list[Table | Figure]:
    """Of the stand-ins of Amazon0601 (else the first small world) and roadNet-PA."""
    roads = [row for row in rows if GRAPHS[row["paper"]].kind == 6]
    others = [row for row in rows if GRAPHS[row["paper"]].kind != 6]
    best = sorted(others, key=lambda row: (row["paper"] != "Amazon0601", row["paper"] != "cit-Patents"))
    found: list[Table | Figure] = []
    for row in (*best[:1], *roads[:1]):
        levels = row["levels"]
        x = list(range(len(levels["active"])))
        step = max(1, len(x) // 100)
        found.append(Figure(f"Figure 10: {label(row)}", "lines", "level", "per cent", [
            Series(name, x[::step], [100 * value for value in levels[key]][::step])
            for key, name in (("left", "vertices left"), ("active", "vertices active"),
                              ("arcs", "arcs looked at, top-down"))]))
    return found
