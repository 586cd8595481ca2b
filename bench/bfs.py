"""Section bfs: one BFS in RAM from sources in the giant component.

Columns: the default direction rule with and without a distance column, the other rules (see
traverse/direction.py), and peers. The rate is stored arcs of the graph / median seconds of a BFS, for
emdiam and for peers. The BFS of the GAP suite (`--program gapbs-bfs=PATH`) finds parents where ours finds distances.
"""

from __future__ import annotations

from typing import Any

from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store
from emdiam.traverse.core import DIRECTIONS

from .graphs import Graph, graphs_of
from .peers.run import installed, run_peer
from .rounds import measure
from .setting import Setting
from .small import mean
from .sources import giant_sources

TITLE = "BFS in RAM, million stored arcs a second (median over sources)"
_GAP, _PEERS = "GAP", ("networkit", "scipy", "igraph")
_DEFAULT, *_OTHERS = DIRECTIONS
_IGRAPH_ARCS = 1_000_000  # its Python BFS builds lists of all vertices: large graphs only wait


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row a graph: sizes, sources, timings by rule, timings of peers."""
    return [_measure(setting, graph) for graph in graphs_of("bfs", setting.quick, setting.names)
            if setting.cache.has(graph)]


def _measure(setting: Setting, graph: Graph) -> dict[str, Any]:
    path = setting.cache.store(graph)
    row: dict[str, Any] = {"graph": graph.name, "rules": {}}
    sources: list[int] = []
    for rule in DIRECTIONS:
        with open_store(path) as store, open_engine(store, threads=setting.threads, direction=rule) as engine:
            if not sources:
                sources, reached = giant_sources(engine, setting.n_sources)
                if graph.graph_class == "path":
                    sources = [0]
                row |= {"n_vertices": store.n_vertices, "n_arcs": store.n_arcs, "n_reached": reached,
                        "in_ram": engine.plan.in_ram, "sources": sources}
            row["rules"][rule] = _timed(setting, engine, sources, distances=True)
            if rule == _DEFAULT:
                row["without_distances"] = _timed(setting, engine, sources, distances=False)
    if setting.peers:
        row["peers"] = {name: run_peer(name, "bfs", path, setting, sources) for name in _peers(row["n_arcs"])}
        if setting.programs is not None:
            found = setting.programs.gapbs_bfs(path, sources, setting.threads, setting.peer_seconds)
            row["peers"][_GAP] = found if "failure" in found else {**found, "median": found["solve"]}
    return row


def _peers(n_arcs: int) -> list[str]:
    return [name for name in _PEERS if installed(name) and (name != "igraph" or n_arcs <= _IGRAPH_ARCS)]


def _timed(setting: Setting, engine: Any, sources: list[int], distances: bool) -> dict[str, Any]:
    """The timing of a BFS, and levels of one from the first source."""
    engine.bfs(sources[0], distances=distances)
    before = engine.reporter.stats()
    levels = engine.bfs(sources[0], distances=distances).levels
    scanned = (engine.reporter.stats() - before).edges_scanned
    timing = measure([lambda s=s: engine.bfs(s, distances=distances) for s in sources], setting.effort)
    return {**timing.to_dict(), "levels": levels, "edges_scanned": scanned,
            "arcs_per_second": engine.facts.n_arcs / timing.median, "levels_per_second": levels / timing.median}


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells."""
    header = ["graph", "n", "arcs", f"rule {_DEFAULT}", "no distances", *(f"rule {r}" for r in _OTHERS),
              "levels/s", *_PEERS, _GAP, "x networkit", "x GAP", "foreign cores"]
    return header, [_cells(row) for row in rows]


def _cells(row: dict[str, Any]) -> list[str]:
    default, peers = row["rules"][_DEFAULT], row.get("peers", {})
    rates = {name: row["n_arcs"] / found["median"] for name, found in peers.items() if "median" in found}
    shown = [_million(rates[n]) if n in rates else peers.get(n, {}).get("failure", "-") for n in (*_PEERS, _GAP)]
    against = [f"{default['arcs_per_second'] / rates[n]:.2f}" if n in rates else "-" for n in (_PEERS[0], _GAP)]
    return [row["graph"], f"{row['n_vertices']:,}", f"{row['n_arcs']:,}",
            _million(default["arcs_per_second"]), _million(row["without_distances"]["arcs_per_second"]),
            *(_million(row["rules"][rule]["arcs_per_second"]) for rule in _OTHERS),
            f"{default['levels_per_second']:,.0f}", *shown, *against, f"{default['foreign_cores']:.2f}"]


def notes(rows: list[dict[str, Any]]) -> list[str]:
    """Lines below the table."""
    ratios = {row["graph"]: row["peers"][_GAP]["median"] / row["rules"][_DEFAULT]["median"] for row in rows
              if "median" in row.get("peers", {}).get(_GAP, {})}
    below = ", ".join(name for name, ratio in ratios.items() if ratio < 1) or "none"
    return [f"seconds, GAP / ours: geometric mean {mean(list(ratios.values())):.2f} over {len(ratios)} graphs; below"
            f" 1.0: {below}"] if ratios else []


def _million(rate: float) -> str:
    return f"{rate / 1e6:,.1f}"
