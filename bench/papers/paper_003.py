"""papers/003, I/O-efficient approximation of graph diameters by parallel cluster growing: Tables 1 to 4.

A cell is a process of its own (`emdiam approx`, by report/tradeoff.py), out of core: an arena of an eighth of the
edges, or the paper's 4 GiB at full scale, and the page cache evicted. The common axis with the paper is vertices a
master.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from emdiam.methods.approx.condensed import SEMI_EXTERNAL
from emdiam.report.cells import cell_task
from emdiam.report.tradeoff import TradeoffOptions, tradeoff
from emdiam.runs.task import Task
from emdiam.runs.tradeoff import ENDED
from emdiam.store.store import open_store

from ..approx import excess
from ..cache import evict
from ..commands import run_command
from ..external import chunk_ids_for, disk_bytes
from ..graphs import Graph
from ..published import PAPER, PaperCell, PaperGraph
from ..runs import solve_timed
from .cases import graph_named
from .numbers import count, ratio, short
from .page import Figure, Page, Section, Series, Table
from .recorded import growth, recorded_runs
from .setting import FULL, TINY, Setting

TITLE = "Paper 003: I/O-efficient approximation of graph diameters by parallel cluster growing, beside ours"
SOURCE = ("Ajwani, Beckmann, Meyer, Veith, 2012. Intel dual core E6750 at 2.66 GHz, 4 GB, four hard disks; graphs of"
          " 2^28 vertices, and the web crawl sk-2005 (50 million vertices, 1.8 billion edges).")
LIMITS = {"tiny": 20.0, "small": 200.0, "full": 8 * 3600.0}
ARENA_SHARE, FULL_MEMORY = 8, 4 << 30
_BLOCKS, _LEAST_BLOCK = 500, 64
SK_2005 = "sk-2005.mtx"
CLASSES = {"levels-sqrt": ("levels", {"levels": "sqrt"}), "levels-linear": ("levels", {"levels": "linear"}),
           "worst-case": ("worst-case", {"fans": "10,100"})}
KINDS = ("cnr-2000", *CLASSES)
# With the clustering phase of the paper's BFS: the store is put into the order of clusters first.
_CLUSTERED = ("--reorder", "always")
# Other columns: name -> method, its options, and the field of PaperGraph with its estimate and hours.
METHODS: dict[str, tuple[str, tuple[str, ...], str, str | None]] = {
    "sweep": ("sweep", _CLUSTERED, "sweep", "sweep_hours"),
    "EM BFS": ("sweep", (*_CLUSTERED, "--vertex-state", "disk"), "sweep", "sweep_hours"),
    "SPAN": ("spanning", ("--root", "random"), "spanning", "spanning_hours"),
    "fringe": ("fringe", _CLUSTERED, "fringe", None),
}
SEEDS: dict[str, range] = {"SPAN": range(5)}
Row = dict[str, Any]


def run(setting: Setting, names: tuple[str, ...] = ()) -> Page:
    """Measure what is not kept, and lay out the page."""
    rows = [_measure(setting, kind, graph) for kind in KINDS if not names or kind in names
            if (graph := _graph(setting, kind)) is not None]
    return Page("003", TITLE, [SOURCE, _LEGEND], [("limit of a cell", f"{setting.seconds:g} s"), _memory(setting)], [
        Section("The graphs", [_graphs(rows)]),
        Section("Table 1: diameters approximated", [_table_1(rows)], [_SPAN]),
        Section("Table 2: running times", [_table_2(rows)], [_TIMES]),
        Section("Tables 3 and 4: clusters by the number of masters",
                [*map(_table_3, rows), _table_4(rows), _figure_3(rows), _figure_times(rows)], [_MASTERS]),
        Section("At the paper's size", [_full(setting), _growth(setting)], [_AT_SIZE]),
    ])


_LEGEND = ("Rows are compared by vertices a master, so that clusters are as large as the paper's. D is that of"
           " an exact run; a ratio is the estimate over D. Our hours are wall seconds / 3600 of one process,"
           " without loading kernels, on smaller graphs: compare ratios between columns of one machine.")
_SPAN = ("SPAN: a minimum spanning tree of random weights, refined, its height doubled. The paper's root is arbitrary:"
         " ours is the median of five random ones (`--root random --seed 0` to 4). EM BFS: the double sweep with vertex"
         " state on disk, once the store is in the order of clusters (`--vertex-state disk --reorder always`), as the"
         " paper's external BFS; sweep, fringe: with vertex state in RAM. The paper's fringe ran in 64 GB of RAM.")
_TIMES = ("Bytes are read from the store, and for EM BFS from scratch files. The paper prints hours only.")
_MASTERS = ("Time is until the estimate is known: growing, condensing, shortest paths, without the proof of"
            " bounds. d is the largest distance between two masters whose clusters touch; (estimate - D) / d"
            " depends less on the size of the graph than the ratio, since the estimate adds 2 d.")
_AT_SIZE = ("Runs that were made once and kept in bench/results, with their commands.")


def _memory(setting: Setting) -> tuple[str, str]:
    return ("memory", "--memory 4GiB, as the paper's machine" if setting.scale == FULL else
            f"arena of 1/{ARENA_SHARE} of the edges, page cache evicted before every cell and behind every read")


def vertices(setting: Setting) -> int:
    """Of the generated graphs."""
    return int(setting.at(1 << 10, 1 << 22, 1 << 28)) if setting.vertices is None else setting.vertices


def _graph(setting: Setting, kind: str) -> Graph | None:
    """The graph of a kind: made, real, or None where its file is not there."""
    if kind in CLASSES:
        graph_class, parameters = CLASSES[kind]
        return Graph(f"{kind}-{vertices(setting)}", "", graph_class, vertices(setting), parameters)
    if setting.scale == TINY:
        return Graph("tiny-rmat-10", "", "rmat", 2**10, {"edge_factor": 8})
    real = setting.real / SK_2005
    graph = Graph("sk-2005", file=str(real.resolve())) if real.is_file() else graph_named(kind)
    return graph if setting.cache.has(graph) else None


def _measure(setting: Setting, kind: str, graph: Graph) -> Row:
    path = _in_blocks(setting, graph)
    with open_store(path) as store:
        n, m, arena = store.n_vertices, store.n_arcs // 2, store.n_arcs * store.id_dtype.itemsize // ARENA_SHARE
    keep = setting.kept.cell
    row: Row = {"kind": kind, "graph": graph.name, "n": n, "m": m,
                "store_bytes": disk_bytes(path / "indices")}
    exact = keep(lambda: _exact(setting, path), paper="003", graph=graph.name, run="exact")
    diameter = exact.get("diameter")
    row |= {"exact": exact, "D": diameter, "masters": {}}
    sizes = cell_task(memory_bytes=FULL_MEMORY if setting.scale == FULL else None,
                      arena_bytes=None if setting.scale == FULL else arena, threads=setting.threads,
                      evict_page_cache=True, time_limit=setting.seconds)
    for masters in masters_of(PAPER[kind], n)[:1 if setting.scale == TINY else None]:
        row["masters"][masters] = keep(partial(_cell, setting, path, "clusters", masters, diameter, sizes),
                                       paper="003", graph=graph.name, run="clusters", masters=masters)
    row["table 4"] = {masters: keep(partial(_command, setting, path, arena, (
        "--method", "clusters", "--masters", str(masters), "--condensed-sssp", SEMI_EXTERNAL)),
        paper="003", graph=graph.name, run=f"clusters {SEMI_EXTERNAL}", masters=masters)
        for masters in masters_of(PAPER[kind], n, table_4=True)[:1 if setting.scale == TINY else None]}
    for name, (method, options, _, _) in METHODS.items():
        if setting.scale == TINY and name != "sweep":
            row[name] = {"failure": "not at this scale"}
            continue
        row[name] = median_cell([
            keep(partial(_command, setting, path, arena, ("--method", method, *options, "--seed", str(seed))),
                 paper="003", graph=graph.name, run=name, seed=seed) for seed in SEEDS.get(name, range(1))])
    wrong = [name for name, cell in (*((one, row[one]) for one in METHODS), *row["masters"].items(),
                                     *row["table 4"].items())
             if diameter is not None and cell.get("lower") is not None
             and not cell["lower"] <= diameter <= cell["upper"]]
    if wrong:
        raise AssertionError(f"{graph.name}: {diameter} is outside of the bounds of {wrong}")
    return row


def median_cell(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """The cell with the middle estimate, and `range`, the smallest and the largest one; one without an estimate where
    half of them have none."""
    ended = sorted((cell for cell in cells if cell.get("estimate") is not None), key=lambda cell: cell["estimate"])
    if 2 * len(ended) <= len(cells):
        return next(cell for cell in cells if cell.get("estimate") is None)
    return {**ended[len(ended) // 2], "range": (ended[0]["estimate"], ended[-1]["estimate"])}


def masters_of(paper: PaperGraph, n: int, table_4: bool = False) -> list[int]:
    """As many masters a vertex as the paper has, at least 4. table_4 : in that table alone."""
    return sorted({max(1, round(n * cell.masters / paper.vertices)) for cell in paper.cells
                   if n * cell.masters / paper.vertices >= 4 and (cell.edges is not None or not table_4)})


def _in_blocks(setting: Setting, graph: Graph) -> Path:
    """The store; in smaller blocks than usual where an arena of so small a share would have few."""
    path = setting.cache.store(graph)
    with open_store(path) as store:
        chunk_ids = max(_LEAST_BLOCK, chunk_ids_for(store.n_arcs, _BLOCKS))
        if chunk_ids >= store.indices.chunk_items or setting.scale == FULL:
            return path
    return setting.cache.store(replace(graph, name=f"{graph.name}.chunk-{chunk_ids}", chunk_ids=chunk_ids))


def _exact(setting: Setting, path: Path) -> dict[str, Any]:
    """D by pivots, in RAM; at full scale within the memory of the paper."""
    if setting.scale == FULL:
        words = [sys.executable, "-m", "emdiam", "exact", path, "--memory", str(FULL_MEMORY), "--threads",
                 setting.threads,
                 "--json", "--quiet"]
        found = _json(words, setting.seconds)
        return {"diameter": found.get("diameter_max_component"), **found}
    with setting.engine(path, setting.threads) as engine:
        result, _ = solve_timed(engine, "pivots", 10 * setting.seconds)
    return {"diameter": result.diameter_max_component if result.exact else None, "seconds": result.seconds["solve"]}


def _cell(setting: Setting, path: Path, method: str, masters: int, diameter: int | None,
          sizes: Task) -> dict[str, Any]:
    """A row of emdiam.report.tradeoff; {"failure": why} where the cell failed."""
    evict(path)
    options = TradeoffOptions((method,), str(masters), known_diameter=diameter, plots=False, cells=sizes)
    (row,) = tradeoff(path, setting.cache.scratch("papers-tradeoff"), options).rows
    if row["status"] not in (ENDED, "stopped"):
        return {"failure": f"{row['status']}: {row['reason']}"}
    return {name: row[name] for name in ("status", "estimate", "ratio", "lower", "upper", "seconds", "seconds_estimate",
            "seconds_load", "bytes_read", "peak_rss_bytes", "max_master_gap", "rounds", "condensed_vertices",
            "condensed_edges", "condensed_in_memory", "seconds_shortest_paths")}


def _command(setting: Setting, path: Path, arena: int, options: tuple[str, ...]) -> dict[str, Any]:
    """The same figures by a command with these options."""
    evict(path)
    size = ("--memory", str(FULL_MEMORY)) if setting.scale == FULL else ("--arena", str(arena))
    words = [sys.executable, "-m", "emdiam", "approx", path, *size, "--threads", setting.threads,
             "--evict-page-cache", "--time-limit", f"{setting.seconds:g}s", "--json", "--quiet",
             *options]
    found = _json(words, 2 * setting.seconds + 60)
    if "failure" in found:
        return found
    whole = found["seconds"]["total"] - found["seconds"]["compile"]
    return {"status": found["status"], "estimate": found["estimate"], "lower": found["lower"], "upper": found["upper"],
            "seconds": whole, "seconds_estimate": whole, "seconds_load": found["seconds"]["load"],
            "bytes_read": found["bytes_read"], "peak_rss_bytes": found["peak_rss_bytes"],
            "scratch_bytes_written": found["details"].get("scratch_bytes_written"),
            "stages": found["details"].get("stage_seconds"), "paths": found["details"].get("path_searches"),
            "condensed": found.get("condensed"), "max_master_gap": found.get("max_master_gap")}


def _json(words: list[Any], limit: float) -> dict[str, Any]:
    """What a command printed, with `status`; {"failure": why} without an answer."""
    done = run_command(words, limit)
    if done.code not in (0, 3) or not done.out.strip():
        return {"failure": done.failure or "no answer"}
    return {**json.loads(done.out), "status": ENDED if done.code == 0 else "stopped"}


# -- tables ------------------------------------------------------------------------------------------------------
def _graphs(rows: list[Row]) -> Table:
    header = ["paper's graph", "ours", "n, paper", "n", "m, paper", "m", "D, paper", "D", "what differs"]
    cells = []
    for row in rows:
        paper = PAPER[row["kind"]]
        differs = ("another, smaller web crawl" if row["graph"] == "cnr-2000" else "nothing"
                   if row["graph"] == "sk-2005" else
                   f"the same class, smaller by {paper.vertices / row['n']:,.0f}; ids in random order in both"
                   if row["n"] < paper.vertices else "the same class and size, own random numbers")
        cells.append([paper.name, row["graph"], count(paper.vertices), count(row["n"]), count(paper.edges),
                      count(row["m"]),
                      count(paper.diameter), count(row["D"]), differs])
    return Table("Graphs", header, cells, ["The paper's generator has one level more than ours for an equal number of"
                                           " levels."])


def _label(row: Row) -> str:
    return f"{row['graph']} ({PAPER[row['kind']].name})"


def _over(row: Row, cell: dict[str, Any]) -> str:
    """Estimate / D; what stopped it else."""
    if "failure" in cell:
        return str(cell["failure"])
    if cell["status"] != ENDED or cell["estimate"] is None:
        return f"stopped: {cell['lower']:,} .. {cell['upper']:,}"
    return ratio(cell["estimate"], row["D"]) if row["D"] is None else f"{cell['estimate'] / row['D']:.4f}"


def _table_1(rows: list[Row]) -> Table:
    header = ["graph", "D", *(text for name in METHODS for text in (f"{name}, paper", f"{name}, ratio",
                                                                    f"{name}, estimate"))]
    cells = []
    for row in rows:
        paper, line = PAPER[row["kind"]], [_label(row), count(row["D"])]
        for name, (_, _, field, _) in METHODS.items():
            line += [f"{getattr(paper, field) / paper.diameter:.4f}", _over(row, row[name]),
                     count(row[name].get("estimate"))]
        cells.append(line)
    return Table("Table 1, as ratios to D", header, cells, _spans(rows))


def _spans(rows: list[Row]) -> list[str]:
    """How far the estimates of SPAN are apart."""
    found = [f"{row['graph']} {low / row['D']:.2f} and {high / row['D']:.2f}" for row in rows
             if row["D"] and "range" in row["SPAN"] for low, high in (row["SPAN"]["range"],)]
    text = ("SPAN, the smallest and the largest ratio of the five roots: {}. Twice the height of a BFS tree is D to 2"
            " D, on levels by the place of its root (1.5 D in the mean); a higher tree was refined less far.")
    return [text.format("; ".join(found))] if found else []


def _took(cell: dict[str, Any]) -> str:
    """Hours; > where it was stopped."""
    if "failure" in cell or cell.get("seconds") is None:
        return "-"
    return ("> " if cell["status"] != ENDED else "") + f"{cell['seconds'] / 3600:.4f}"


def _table_2(rows: list[Row]) -> Table:
    header = ["graph", "EM BFS hours, paper", "EM BFS hours", "sweep hours", "SPAN hours, paper", "SPAN hours",
              "SPAN / sweep, paper", "SPAN / sweep", "EM BFS GB read", "EM BFS GB scratch", "sweep GB read",
              "SPAN GB read",
              "fringe GB read", "exact in RAM hours"]
    cells = []
    for row in rows:
        paper = PAPER[row["kind"]]
        cells.append([_label(row), f"{paper.sweep_hours:.2f}", _took(row["EM BFS"]), _took(row["sweep"]),
                      f"{paper.spanning_hours:.2f}", _took(row["SPAN"]),
                      f"{paper.spanning_hours / paper.sweep_hours:.2f}",
                      _per_sweep(row, row["SPAN"], "seconds"), _gigabytes(row["EM BFS"], "bytes_read"),
                      _gigabytes(row["EM BFS"], "scratch_bytes_written"), _gigabytes(row["sweep"]),
                      _gigabytes(row["SPAN"]),
                      _gigabytes(row["fringe"]), _hours_of(row["exact"])])
    return Table("Table 2, and bytes", header, cells, [
        ">: stopped by the limit."])


def _hours_of(exact: dict[str, Any]) -> str:
    value = exact.get("seconds")
    value = value["total"] if isinstance(value, dict) else value
    return "-" if value is None else f"{value / 3600:.4f}"


def _gigabytes(cell: dict[str, Any], name: str = "bytes_read") -> str:
    value = cell.get(name)
    return "-" if value is None else f"{value / 1e9:,.2f}"


def _per_sweep(row: Row, cell: dict[str, Any], name: str = "seconds_estimate", base: str = "sweep") -> str:
    """Seconds of a cell over those of the double sweep in memory, or of EM BFS."""
    sweep = row[base]
    if any(one.get("status") != ENDED or one.get(name) is None for one in (cell, sweep)):
        return "-"
    return ratio(cell[name], sweep[name])


def _nearest(row: Row, masters: int) -> PaperCell | None:
    return PAPER[row["kind"]].nearest(row["n"] / masters)


def _table_3(row: Row) -> Table:
    paper = PAPER[row["kind"]]
    header = ["vertices a master", "masters, paper", "masters", "estimate / D, paper", "estimate / D", "d, paper", "d",
              "(estimate - D) / d, paper", "(estimate - D) / d", "hours, paper", "seconds", "time / EM BFS, paper",
              "time / EM BFS", "time / sweep",
              "condensed m / m, paper", "condensed m / m", "GB read", "bounds"]
    cells = []
    for masters, cell in row["masters"].items():
        theirs = _nearest(row, masters)
        share = None if theirs is None or theirs.edges is None or not paper.edges else theirs.edges / paper.edges
        cells.append([
            short(row["n"] / masters), f"2^{math.log2(theirs.masters):.0f}" if theirs else "-", count(masters),
            f"{theirs.ratio:g}" if theirs else "-", _over(row, cell), count(theirs.d) if theirs else "-",
            count(cell.get("max_master_gap")),
            short(excess(theirs.estimate, paper.diameter, theirs.d)) if theirs else "-",
            short(excess(cell.get("estimate"), row["D"], cell.get("max_master_gap"))),
            f"{theirs.hours:.2f}" if theirs else "-", short(cell.get("seconds_estimate")),
            f"{theirs.hours / paper.sweep_hours:.3f}" if theirs else "-",
            _per_sweep(row, cell, base="EM BFS"), _per_sweep(row, cell), short(share),
            short(None if cell.get("condensed_edges") is None else cell["condensed_edges"] / row["m"]),
            _gigabytes(cell),
            f"{cell['lower']:,} .. {cell['upper']:,}" if cell.get("lower") is not None else "-"])
    return Table(_label(row), header, cells, [*_fewer(row), *_condensed(row)])


def _table_4(rows: list[Row]) -> Table:
    header = ["graph", "vertices a master", "masters, paper", "masters", "estimate / D, paper", "estimate / D",
              "condensed m / m, paper", "condensed m / m", "seconds", "of these shortest paths", "GB read",
              "GB scratch", "arcs relaxed / (2 m), all searches"]
    cells = []
    for row in rows:
        paper = PAPER[row["kind"]]
        for masters, cell in row["table 4"].items():
            theirs, condensed = _nearest(row, masters), cell.get("condensed") or {}
            share = None if theirs is None or theirs.edges is None or not paper.edges else theirs.edges / paper.edges
            edges, relaxed = condensed.get("n_edges"), (cell.get("paths") or {}).get("arcs_scanned")
            cells.append([
                _label(row), short(row["n"] / masters), f"2^{math.log2(theirs.masters):.0f}" if theirs else "-",
                count(masters), f"{theirs.ratio:g}" if theirs else "-", _over(row, cell), short(share),
                short(edges / row["m"] if edges else None), short(cell.get("seconds_estimate")),
                short((cell.get("stages") or {}).get("shortest paths")), _gigabytes(cell),
                _gigabytes(cell, "scratch_bytes_written"), short(relaxed / (2 * edges) if edges else None)])
    return Table("Table 4: shortest paths with one bit a vertex, the condensed graph on disk", header, cells, [
        f"By `approx --method clusters --condensed-sssp {SEMI_EXTERNAL}`; seconds of whole commands, with the proof of"
        " bounds. The paper's worst case has no such cells."])


def _fewer(row: Row) -> list[str]:
    """The cells of the paper that would have fewer than 4 masters here."""
    paper = PAPER[row["kind"]]
    cells = [one for one in paper.cells if row["n"] * one.masters / paper.vertices < 4]
    return [f"Of the paper alone, 2^{math.log2(one.masters):.0f} masters: {paper.share(one):,.0f} vertices a master,"
            f" estimate / D {one.ratio:g}, d {one.d:,}, {one.hours:.2f} hours." for one in cells]


def _condensed(row: Row) -> list[str]:
    """Which cells had their condensed graph on disk, as those of Table 4."""
    disk = [count(masters) for masters, cell in row["masters"].items() if cell.get("condensed_in_memory") is False]
    return [f"Shortest paths on disk, with labels in RAM: {', '.join(disk)} masters." if disk else
            "All condensed graphs fitted in memory, as in Table 3."]


def _points(row: Row, name: str) -> tuple[list[float], list[float | None]]:
    kept = [(row["n"] / masters, cell) for masters, cell in row["masters"].items() if cell.get("estimate") and row["D"]]
    return [round(share, 2) for share, _ in kept], [
        cell["estimate"] / row["D"] if name == "ratio" else cell["seconds_estimate"] for _, cell in kept]


def _figure_3(rows: list[Row]) -> Figure:
    series = []
    for row in rows:
        paper = PAPER[row["kind"]]
        series.append(Series(row["graph"], *_points(row, "ratio")))
        series.append(Series(f"{paper.name}, paper", [round(paper.share(one), 2) for one in paper.cells],
                             [one.ratio for one in paper.cells], True))
    return Figure("Estimate / D by vertices a master", "lines", "vertices a master", "estimate / D", series, "xy",
                  tabled=True)


def _figure_times(rows: list[Row]) -> Figure:
    series = []
    for row in rows:
        x, seconds = _points(row, "seconds")
        base = row["EM BFS"].get("seconds_estimate") if row["EM BFS"].get("status") == ENDED else None
        series.append(Series(row["graph"], x, [None if base is None or y is None else y / base for y in seconds]))
        paper = PAPER[row["kind"]]
        series.append(Series(f"{paper.name}, paper", [round(paper.share(one), 2) for one in paper.cells],
                             [one.hours / paper.sweep_hours for one in paper.cells], True))
    return Figure("Time over that of EM BFS, by vertices a master", "lines", "vertices a master", "time / EM BFS",
                  [one for one in series if any(y is not None for y in one.y)], "xy", [
                      "Of a graph whose EM BFS was stopped by the limit there are no points of ours."], tabled=True)


# -- runs that were kept -----------------------------------------------------------------------------------------
def _full(setting: Setting) -> Table:
    header = ["graph", "n", "m", "method", "masters", "memory GiB", "answer", "hours", "GB read", "peak GiB",
              "paper: hours (EM BFS, best clusters)", "from"]
    cells = []
    for one in recorded_runs(setting.recorded):
        paper = PAPER.get(one.kind)
        best = "-" if paper is None else f"{paper.sweep_hours:.2f}, {min(cell.hours for cell in paper.cells):.2f}"
        cells.append([one.kind, count(one.vertices), count(one.edges), one.method, count(one.masters),
                      "-" if one.memory_bytes is None else f"{one.memory_bytes / 2**30:.2f}", one.answer,
                      f"{one.seconds / 3600:.3f}", "-" if one.bytes_read is None else f"{one.bytes_read / 1e9:,.1f}",
                      "-" if one.peak_bytes is None else f"{one.peak_bytes / 2**30:.2f}", best, one.file])
    return Table("Runs at 2^26 and 2^28 vertices", header, cells, [
        "The paper's hours are of 2^28 vertices, and its answers are estimates; D is proved."])


def _growth(setting: Setting) -> Table:
    rows = [[kind, method, ", ".join(f"2^{math.log2(n):.4g}" for n in sizes), f"n^{seconds:.2f}",
             "-" if read is None else f"n^{read:.2f}", _at_28(sizes, last, seconds)]
            for kind, method, sizes, seconds, read, last in growth(recorded_runs(setting.recorded))]
    return Table("Fitted growth", ["graph", "method, vertices a master", "sizes", "seconds grow as",
                                   "bytes read grow as",
                                   "hours at 2^28, measured or by the fit"], rows, [
        "Least squares of the logarithms over all sizes of a class and method."])


def _at_28(sizes: Iterable[int], last: float, power: float) -> str:
    largest = max(sizes)
    hours = last * (2**28 / largest) ** power / 3600
    return f"{hours:.2f}" + ("" if largest >= 2**28 else " (fit)")


