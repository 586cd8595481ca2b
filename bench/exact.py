"""Section exact: the diameter by F-Diam, in RAM, and by other libraries.

Traversals are counted as the paper counts (eccentricity BFS and Winnow). The diameters that are
known are checked: a wrong one makes the run fail.
"""

from __future__ import annotations

import time
from typing import Any

from emdiam.errors import StoppedEarly
from emdiam.exact.fdiam import FdiamOptions, fdiam
from emdiam.exact.result import Result
from emdiam.graph.store import open_store
from emdiam.progress import Event
from emdiam.session import open_engine

from .foreign import ForeignWatch
from .graphs import Graph, graphs_of
from .peers.run import installed, run_peer
from .setting import Setting

TITLE = "Exact diameter, seconds to solve (whole graph in RAM)"
# Peer and the most (vertices x arcs) with which it is asked: igraph runs a BFS from every vertex,
# networkx is Python throughout.
_PEERS = {"networkit": 1 << 62, "igraph": 30 * 10**9, "networkx": 10**9}


class TimeLimit:
    """A progress listener that ends a run after some seconds, as Ctrl-C would."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def __call__(self, event: Event) -> None:
        if time.monotonic() > self._end:
            raise KeyboardInterrupt


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row a graph."""
    return [_measure(setting, graph) for graph in graphs_of("exact", setting.quick, setting.names)
            if setting.cache.has(graph)]


def _measure(setting: Setting, graph: Graph) -> dict[str, Any]:
    path = setting.cache.store(graph)
    result, foreign = _best_attempt(setting, path)
    row = {**row_of(graph, result), "foreign_cores": foreign}
    if setting.peers:
        work = result.n_vertices * 2 * result.n_edges
        asked = [name for name, most in _PEERS.items() if installed(name) and work <= most]
        row["peers"] = {name: run_peer(name, "diameter", path, setting) for name in asked}
    return row


def _best_attempt(setting: Setting, path: Any) -> tuple[Result, float]:
    """The first quiet run of at most effort.attempts; if there is none, the one with least foreign
    load."""
    done: list[tuple[Result, float]] = []
    while len(done) < setting.effort.attempts:
        watch, limit = ForeignWatch(), TimeLimit(setting.solve_seconds)
        with open_store(path) as store, open_engine(store, threads=setting.threads, progress=limit) as engine:
            result = solve(engine)
            result.seconds["compile"], result.seconds["load"] = engine.compile_seconds, engine.load_seconds
            done.append((result, watch.cores))
        if done[-1][1] <= setting.effort.quiet_cores or not result.exact:
            return done[-1]  # a run at the time limit is not worth another one
    return min(done, key=lambda one: one[1])


def solve(engine: Any) -> Result:
    """The exact result, or the interval at the time limit."""
    try:
        return fdiam(engine, FdiamOptions())
    except StoppedEarly as stop:
        assert isinstance(stop.result, Result)
        return stop.result


def row_of(graph: Graph, result: Result) -> dict[str, Any]:
    """What is kept of a result (no path), checked against the known diameters."""
    found = (result.diameter_largest_component, result.diameter_max_component)
    wrong = result.exact and bool(graph.diameters) and found != graph.diameters
    return {
        "graph": graph.name, "n_vertices": result.n_vertices, "n_edges": result.n_edges,
        "exact": result.exact, "lower": result.lower, "upper": result.upper,
        "diameters": found, "known": graph.diameters, "wrong": wrong,
        "traversals": result.traversals.bfs, "partial": result.traversals.partial,
        "published_traversals": graph.published, "levels": result.levels,
        "edges_scanned": result.edges_scanned, "seconds": result.seconds, "details": result.details,
    }


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells."""
    header = ["graph", "n", "edges", "D(lcc)", "D(all)", "traversals", "F-Diam", "solve s", *_PEERS,
              "foreign cores"]
    return header, [_cells(row) for row in rows]


def _cells(row: dict[str, Any]) -> list[str]:
    peers = row.get("peers", {})
    shown = [f"{p['median']:.3f}" + _differs(p, row) if "median" in p else p.get("failure", "-")
             for p in (peers.get(name, {}) for name in _PEERS)]
    largest, every = (str(d) if d is not None else "-" for d in row["diameters"])
    if not row["exact"]:
        every = f"{row['lower']}..{row['upper']}"
    return [row["graph"], f"{row['n_vertices']:,}", f"{row['n_edges']:,}", largest,
            every + (" WRONG" if row["wrong"] else ""), f"{row['traversals']:,}",
            str(row["published_traversals"] or "-"), f"{row['seconds']['solve']:.3f}", *shown,
            f"{row['foreign_cores']:.2f}"]


def _differs(peer: dict[str, Any], row: dict[str, Any]) -> str:
    """A remark where a peer's diameter of the largest component is another one."""
    return "" if not row["exact"] or peer["value"] == row["diameters"][0] else f" (D = {peer['value']})"
