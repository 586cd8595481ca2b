"""python -m bench.peers: this package beside others, whole commands included: a page of tables and figures.

The diameter by F-Diam, Graph-Diameter, teexGraph, weighted-diameter, networkit and igraph, one BFS by GAP, networkit,
scipy and igraph, one search along weights by GAP and scipy. What is not installed or built is a row that says so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from emdiam import __version__
from emdiam.errors import InputError
from emdiam.store.store import open_store

from ..arguments import add_programs, programs_of
from ..cache import Cache
from ..graphs import QUICK, REAL, Graph, known
from ..papers.__main__ import with_facts, write
from ..papers.kept import Kept
from ..papers.lazy import Lazy, Made
from ..papers.markdown import DRAWINGS
from ..papers.paper_004 import weights_of
from ..papers.setting import SMALL, Setting
from ..programs import DIAMETERS
from . import searches
from .measure import contradictions, library, own, program
from .pages import page

_BENCH = Path(__file__).resolve().parents[1]
GENERATED = ("delaunay-2^18", "geometric-2^18", "grid-800^2", "kronecker-20-ef16", "rmat-18-ef8", "watts-strogatz-2^17")
# igraph runs a BFS from every vertex: the most (vertices x arcs) with which it is asked.
_IGRAPH_WORK, _IGRAPH_BFS_ARCS = 2 * 10**9, 1_000_000
_FEW_ARCS = 4_000_000  # above, a search along weights is left out: its files and matrices take longer than the rest


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    made.add_argument("--resume", type=Path, metavar="DIR", help="keep every cell in DIR, and go on from those that are"
                                                                 " there")
    made.add_argument("--seconds", type=float, default=20.0, metavar="S", help="limit of a command (default: 20)")
    made.add_argument("--graph", action="append", default=[], metavar="NAME", help="only this graph (again for more)")
    made.add_argument("--quick", action="store_true", help="tiny graphs: does it work?")
    made.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), metavar="N")
    add_programs(made)
    made.add_argument("--cache", type=Path, metavar="DIR", default=_BENCH / ".cache")
    made.add_argument("--data", type=Path, metavar="DIR", default=_BENCH.parents[1] / "shared" / "data")
    made.add_argument("--out", type=Path, metavar="DIR", default=_BENCH / "results" / "reproduction",
                      help="folder of the pages (default: bench/results/reproduction)")
    made.add_argument("--html", type=Path, metavar="DIR", default=_BENCH.parent / DRAWINGS,
                      help=f"folder of the page with the figures drawn (default: {DRAWINGS})")
    made.add_argument("--json", type=Path, metavar="FILE", help="where all figures go, too")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 0, 1 if diameters contradict each other, 2 where the options are at fault."""
    given = parser().parse_args(arguments)
    run = {"peers": True, "seconds": given.seconds, "threads": given.threads, "quick": given.quick,
           "version": __version__}
    try:
        kept = Kept(given.resume, run, lambda line: print(line, file=sys.stderr, flush=True))
        cache = Cache(given.cache, given.data)
        setting = Setting(SMALL, given.seconds, given.threads, cache, programs_of(given, cache), kept, given.data,
                          _BENCH / "results")
        graphs = QUICK if given.quick else (*REAL, *(known()[name] for name in GENERATED))
        rows = [measured(setting, graph) for graph in graphs
                if cache.has(graph) and (not given.graph or graph.name in given.graph)]
    except InputError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps({"run": run, "sessions": kept.sessions, "rows": rows}, indent=1) + "\n")
    command = "python -m bench.peers" + (" --quick" if given.quick else "")
    made = with_facts(page(setting, rows, len(graphs)), command, given.threads, kept)
    for file in write(made, "python -m bench.peers", given.out, given.html):
        print(file)
    wrong = [f"{row['graph']}: {row['wrong']}" for row in rows if row["wrong"]]
    for line in wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    return 1 if wrong else 0


def measured(setting: Setting, graph: Graph) -> dict[str, Any]:
    """All cells of a graph: diameter, bfs and weighted by tool; wrong : answers that contradict each other."""
    store, keep = setting.cache.store(graph), partial(setting.kept.cell, graph=graph.name)
    with open_store(store) as opened:
        row: dict[str, Any] = {"graph": graph.name, "n": opened.n_vertices, "arcs": opened.n_arcs}
    with Lazy(partial(setting.engine, store, setting.threads)) as engine:
        row["diameter"] = _diameters(setting, store, engine, row, keep)
        sources = keep(lambda: {"sources": _sources(engine.get())}, what="sources")["sources"]
        row["bfs"] = _bfs(setting, store, engine, row, sources, keep)
    row["weighted"] = _weighted(setting, graph, store, keep) if row["arcs"] <= _FEW_ARCS else {}
    sums = {found["sum"] for found in row["weighted"].values() if "sum" in found}
    wrong = contradictions(row["diameter"], graph.diameters or (None, None))
    row["wrong"] = wrong or ("shortest paths differ" if len(sums) > 1 else "")
    return row


def _diameters(setting: Setting, store: Path, engine: Lazy, row: dict[str, Any], keep: Any) -> dict[str,
                                                                                                    dict[str, Any]]:
    threads, limit, found = setting.threads, setting.seconds, {}
    found["emdiam"] = keep(engine.later(own, store, threads, limit), what="diameter", tool="emdiam")
    for name in DIAMETERS:
        found[name] = keep(partial(program, setting.programs, name, store, threads, limit),
                           what="diameter", tool=name)
    for name in ("networkit", "igraph"):
        if name == "igraph" and row["n"] * row["arcs"] > _IGRAPH_WORK:
            found[name] = {"failure": "left out: a BFS from every vertex"}
            continue
        found[name] = keep(partial(library, name, "diameter", store, threads, limit),
                           what="diameter", tool=name)
    return found


def _sources(engine: Any) -> list[int]:
    """The hub, and about three vertices at random."""
    return [int(v) for v in (*engine.highest_degrees(1), *engine.sample_vertices(1, 3))]


def _bfs(setting: Setting, store: Path, engine: Lazy, row: dict[str, Any], sources: list[int], keep: Any) -> dict[str,
                                                                                                                  Any]:
    found = {"emdiam": keep(engine.later(searches.bfs, sources), what="bfs", tool="emdiam"),
             "GAP": keep(lambda: setting.programs.gapbs_bfs(store, sources, setting.threads, setting.seconds),
                         what="bfs", tool="GAP")}
    for name in ("networkit", "scipy", "igraph"):
        if name == "igraph" and row["arcs"] > _IGRAPH_BFS_ARCS:
            found[name] = {"failure": "left out: lists of Python"}
            continue
        found[name] = keep(partial(library, name, "bfs", store, setting.threads, setting.seconds, sources),
                           what="bfs", tool=name)
    return found


def _weighted(setting: Setting, graph: Graph, store: Path, keep: Any) -> dict[str, Any]:
    rows = Made(partial(weights_of, setting, graph, store))
    return {
        "emdiam": keep(rows.later(searches.weighted, setting.threads), what="weighted", tool="emdiam"),
        "GAP": keep(rows.later(searches.weighted_by_gap, setting.programs, setting.cache.folder, setting.threads,
                               setting.seconds), what="weighted", tool="GAP"),
        "scipy": keep(rows.later(searches.weighted_by_scipy), what="weighted", tool="scipy")}


if __name__ == "__main__":
    sys.exit(main())
