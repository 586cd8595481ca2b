"""Section approx: approximations out of core, by the number of masters, beside the paper's figures.

The graph classes of the paper, smaller, and a real web graph. An arena of an eighth of the edges, the
page cache evicted, every cell a process of its own (emdiam tradeoff). The common axis with the paper is
vertices a master: its graphs of 2^28 vertices are larger than ours, the clusters as large. D is that
of an exact run in RAM. Times are single samples, with what others used of the machine meanwhile.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from emdiam.progress import Event
from emdiam.report.cells import cell_task
from emdiam.report.tradeoff import TradeoffOptions, tradeoff
from emdiam.runs.opening import open_engine
from emdiam.runs.tradeoff import ENDED
from emdiam.store.store import open_store

from .cache import evict
from .external import chunk_ids_for, disk_bytes
from .foreign import ForeignWatch
from .graphs import Graph, known
from .published import PAPER, PaperGraph
from .runs import TimeLimit, solve_timed
from .setting import Setting
from .show import Table

TITLE = "Clusters out of core: arena of 1/8 of the edges, page cache evicted, a process each"
ARENA_SHARE = 8
NAMES = ("levels-sqrt", "levels-linear", "worst-case", "cnr-2000")
_PARAMETERS = {"levels-sqrt": ("levels", {"levels": "sqrt"}), "levels-linear": ("levels", {"levels": "linear"}),
               "worst-case": ("worst-case", {"fans": "10,100"})}
# Vertices a master, as powers of two, and masters of the real graph.
_SHARES, _QUICK_SHARES, _QUICK_VERTICES = range(14, 0, -2), (6, 2), 1 << 12
_BLOCKS, _QUICK_BLOCKS = 500, 50
_REAL_MASTERS = "2^4..2^16:4,10%,15%,20%"
METHODS, _QUICK_METHODS = ("sweep", "spanning", "fringe", "clusters"), ("sweep", "clusters")


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row a graph, with its cells."""
    graphs = [(name, graph_of(name, setting)) for name in NAMES if not setting.names or name in setting.names]
    return [_measure(setting, name, graph) for name, graph in graphs if setting.cache.has(graph)]


def graph_of(name: str, setting: Setting) -> Graph:
    """The graph of NAMES, as large as the setting says; a real one as it is."""
    if name not in _PARAMETERS:
        return known()[name]
    vertices = _QUICK_VERTICES if setting.quick else setting.vertices
    graph_class, parameters = _PARAMETERS[name]
    return Graph(f"{name}-{vertices}", "", graph_class, vertices, parameters)


def masters_of(graph: Graph, quick: bool, n_vertices: int) -> str:
    """Numbers of masters, as emdiam.report.tradeoff reads them."""
    if graph.file:
        return _REAL_MASTERS
    shares = _QUICK_SHARES if quick else _SHARES
    return ",".join(str(n_vertices >> power) for power in shares if n_vertices >> power)


def _measure(setting: Setting, name: str, graph: Graph) -> dict[str, Any]:
    path = _in_blocks(setting, graph)
    exact = _in_ram(setting, path)
    with open_store(path) as store:
        n, arena = store.n_vertices, store.n_arcs * store.id_dtype.itemsize // ARENA_SHARE
    watch = _CellWatch()
    evict(path)
    options = TradeoffOptions(
        setting.approximations or (_QUICK_METHODS if setting.quick else METHODS), masters_of(graph, setting.quick, n),
        known_diameter=exact["diameter"], plots=False,
        cells=cell_task(arena_bytes=arena, threads=setting.threads, evict_page_cache=True,
                        time_limit=setting.long_seconds))
    found = tradeoff(path, setting.cache.scratch(f"tradeoff-{graph.name}"), options, watch)
    cells = [{**row, "foreign_cores": watch.cores[row["cell"]]} for row in found.rows]
    return {"graph": graph.name, "kind": name, "n_vertices": n, "n_edges": found.n_edges, "arena_bytes": arena,
            "store_bytes": disk_bytes(path / "indices"), "diameter": found.diameter, "exact": exact, "cells": cells,
            "left_out": found.left_out, "wrong": faults(graph, found.diameter, cells)}


def _in_blocks(setting: Setting, graph: Graph) -> Path:
    """The store; in smaller blocks than usual where an arena of so small a share would have few."""
    path = setting.cache.store(graph)
    with open_store(path) as store:
        chunk_ids = chunk_ids_for(store.n_arcs, _QUICK_BLOCKS if setting.quick else _BLOCKS)
        if chunk_ids >= store.indices.chunk_items:
            return path
    return setting.cache.store(replace(graph, name=f"{graph.name}.chunk-{chunk_ids}", chunk_ids=chunk_ids))


def _in_ram(setting: Setting, path: Path) -> dict[str, Any]:
    """D over all components by pivots with all edges in RAM, None if there is no time for it, and the
    seconds."""
    with open_store(path) as store, open_engine(store, threads=setting.threads,
                                                progress=TimeLimit(setting.long_seconds)) as engine:
        result, _ = solve_timed(engine, "pivots", setting.long_seconds)
    return {"diameter": result.diameter_max_component if result.exact else None, "seconds": result.seconds["solve"]}


def faults(graph: Graph, diameter: int | None, cells: list[dict[str, Any]]) -> list[str]:
    """Bounds without the diameter between them, and a diameter that is not the known one."""
    if diameter is None:
        return []
    found = [f"{cell['cell']}: {diameter:,} is outside of its {cell['lower']:,}..{cell['upper']:,}"
             for cell in cells if cell["lower"] is not None and not cell["lower"] <= diameter <= cell["upper"]]
    if graph.diameters and diameter != graph.diameters[1]:
        found.append(f"D {diameter:,}, known: {graph.diameters[1]:,}")
    return found


class _CellWatch:
    """A listener that keeps the foreign load (cores) of every cell, whose names the phases are."""

    def __init__(self) -> None:
        self.cores: dict[str, float] = {}
        self._watch = ForeignWatch()

    def __call__(self, event: Event) -> None:
        if event.finished:
            self.cores[event.phase] = self._watch.cores
        else:
            self._watch = ForeignWatch()


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells: clusters, a line a number of masters."""
    header = ["graph", "D", "n / masters", "masters", "estimate", "ratio", "lower", "upper", "rounds", "d", "vertex d",
              "condensed n", "condensed m"]
    return header, [_answer_cells(row, cell) for row in rows for cell in clusters_of(row)]


def clusters_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Its cells of clusters, fewest masters first."""
    return sorted((cell for cell in row["cells"] if cell["method"] == "clusters"),
                  key=lambda cell: int(cell["masters_expected"]))


def _answer_cells(row: dict[str, Any], cell: dict[str, Any]) -> list[str]:
    diameter = _number(row["diameter"]) + (" WRONG" if row["wrong"] else "")
    names = ("lower", "upper", "rounds", "max_master_gap", "max_master_distance", "condensed_vertices",
             "condensed_edges")
    return [row["graph"], diameter, _number(_share(row, cell), ",.1f"), _number(cell["masters"]),
            _number(cell["estimate"]), _ratio(cell), *(_number(cell[name]) for name in names)]


def more(rows: list[dict[str, Any]]) -> list[Table]:
    """What clusters cost, the other methods, and both beside the paper's tables."""
    return [_prices(rows), _others(rows), _other_ratios(rows), _beside(rows)]


def _prices(rows: list[dict[str, Any]]) -> Table:
    stages = ("load", "grow", "condense", "shortest_paths", "upper_bound", "lower_bound", "verify")
    header = ["graph", "n / masters", "to estimate s", "total s", *(f"{name.replace('_', ' ')} s" for name in stages),
              "MB read", "x edges", "peak MB", "planned MB", "foreign cores"]
    cells = [[row["graph"], _number(_share(row, cell), ",.1f"), _number(cell["seconds_estimate"], ".2f"), _time(cell),
              *(_number(cell[f"seconds_{name}"], ".2f") for name in stages), *_read(row, cell), *_memory(cell),
              f"{cell['foreign_cores']:.2f}"] for row in rows for cell in clusters_of(row)]
    return Table("What they cost", header, cells)


def _others(rows: list[dict[str, Any]]) -> Table:
    header = ["graph", "method", "estimate", "ratio", "lower", "upper", "seconds", "MB read", "x edges", "peak MB",
              "planned MB", "foreign cores"]
    cells = []
    for row in rows:
        for cell in row["cells"]:
            if cell["method"] != "clusters":
                cells.append([row["graph"], cell["method"], _number(cell["estimate"]), _ratio(cell),
                              _number(cell["lower"]), _number(cell["upper"]), _time(cell), *_read(row, cell),
                              *_memory(cell), f"{cell['foreign_cores']:.2f}"])
        if row["exact"]["diameter"] is not None:
            found = _number(row["exact"]["diameter"])
            cells.append([row["graph"], "exact, in RAM", found, "1.00000", found, found,
                          _number(row["exact"]["seconds"], ".2f"), *["-"] * 5])
    return Table("Methods without masters", header, cells)


def _other_ratios(rows: list[dict[str, Any]]) -> Table:
    """Tables 1 and 2: ratios, and time over that of the double sweep."""
    header = ["graph, the paper's", "sweep", "paper", "spanning", "paper", "fringe", "paper", "spanning / sweep time",
              "paper"]
    cells = []
    for row in rows:
        paper = PAPER[row["kind"]]
        line = [f"{row['graph']}, {paper.name}"]
        for method in ("sweep", "spanning", "fringe"):
            line += [_ratio(_only(row, method)), f"{getattr(paper, method) / paper.diameter:.4f}"]
        cells.append([*line, _number(_times_sweep(row, _only(row, "spanning")), ".3f"),
                      f"{paper.spanning_hours / paper.sweep_hours:.3f}"])
    return Table("Beside Tables 1 and 2 of the paper: ratios to D, and time", header, cells)


def _beside(rows: list[dict[str, Any]]) -> Table:
    """Tables 3 and 4, by vertices a master."""
    header = ["graph, the paper's", "n / masters", "paper", "ratio", "paper", "d", "paper", "(estimate - D) / d",
              "paper", "time / sweep time", "paper", "condensed m / m", "paper"]
    cells = [[f"{row['graph']}, {PAPER[row['kind']].name}", _number(_share(row, cell), ",.1f"),
              *_beside_cells(row, cell, PAPER[row["kind"]])] for row in rows for cell in clusters_of(row)]
    return Table("Beside Tables 3 and 4 of the paper", header, cells)


def _beside_cells(row: dict[str, Any], cell: dict[str, Any], paper: PaperGraph) -> list[str]:
    edges = None if cell["condensed_edges"] is None else cell["condensed_edges"] / row["n_edges"]
    own = [_ratio(cell), _number(cell["max_master_gap"]),
           _number(excess(cell["estimate"], row["diameter"], cell["max_master_gap"]), ".2f"),
           _number(_times_sweep(row, cell), ".3f"), _number(edges, ".3f")]
    theirs = paper.nearest(_share(row, cell))
    if theirs is None:
        published = ["-"] * 6
    else:
        share = None if theirs.edges is None or paper.edges is None else theirs.edges / paper.edges
        published = [f"{paper.share(theirs):,.1f}", f"{theirs.ratio:g}", f"{theirs.d:,}",
                     _number(excess(theirs.estimate, paper.diameter, theirs.d), ".2f"),
                     f"{theirs.hours / paper.sweep_hours:.3f}", _number(share, ".3f")]
    return published[:1] + [text for pair in zip(own, published[1:], strict=True) for text in pair]


def excess(estimate: int | None, diameter: int | None, d: int | None) -> float | None:
    """By how many d an estimate is too large: it does not depend on the size of a graph as its ratio does."""
    return None if estimate is None or diameter is None or not d else (estimate - diameter) / d


def _only(row: dict[str, Any], method: str) -> dict[str, Any] | None:
    return next((cell for cell in row["cells"] if cell["method"] == method), None)


def _times_sweep(row: dict[str, Any], cell: dict[str, Any] | None) -> float | None:
    """Seconds until the estimate is known, loading left out, in units of those of the double sweep; None
    if either did not end."""
    sweep = _only(row, "sweep")
    if cell is None or sweep is None or cell["status"] != ENDED or sweep["status"] != ENDED:
        return None
    own, its = (one["seconds_estimate"] - one["seconds_load"] for one in (cell, sweep))
    return float(own / max(its, 1e-9))


def _share(row: dict[str, Any], cell: dict[str, Any]) -> float:
    return float(row["n_vertices"] / int(cell["masters_expected"]))


def _time(cell: dict[str, Any]) -> str:
    return ("> " if cell["status"] == "stopped" else "") + _number(cell["seconds"], ".2f")


def _ratio(cell: dict[str, Any] | None) -> str:
    return "-" if cell is None else _number(cell["ratio"], ".5f")


def _read(row: dict[str, Any], cell: dict[str, Any]) -> list[str]:
    """MB read, and how often the edges on disk that is."""
    if cell["bytes_read"] is None:
        return ["-", "-"]
    return [f"{cell['bytes_read'] / 1e6:,.1f}", f"{cell['bytes_read'] / row['store_bytes']:.1f}"]


def _memory(cell: dict[str, Any]) -> list[str]:
    """Peak and plan, MB; a star where the peak is above."""
    if cell["peak_rss_bytes"] is None:
        return ["-", "-"]
    above = " *" if cell["peak_rss_bytes"] > cell["planned_rss_bytes"] else ""
    return [f"{cell['peak_rss_bytes'] / 1e6:,.0f}{above}", f"{cell['planned_rss_bytes'] / 1e6:,.0f}"]


def _number(value: float | None, form: str = ",") -> str:
    return "-" if value is None else format(value, form)


def notes(rows: list[dict[str, Any]]) -> list[str]:
    """Lines below the tables."""
    lines = [f"{row['graph']}: WRONG: {fault}" for row in rows for fault in row["wrong"]]
    lines += [f"{row['graph']}: {cell['cell']} {cell['status']}: {cell['reason']}"
              for row in rows for cell in row["cells"] if cell["status"] != ENDED]
    return [*lines, "d: largest distance between masters whose clusters touch; vertex d: of a vertex to its master; "
            "time / sweep time: until the estimate, without loading and what proves bounds; >: stopped by the time "
            "limit; *: peak above plan; paper: sk-2005 has about 50 million vertices"]
