"""Section ecc: the eccentricity of every vertex, in RAM, by bounds and pairs and by other libraries.

Seconds are those of the solution alone, the median over rounds; a run that takes longer than runs.LONG_SECONDS is not
repeated. The others run a BFS from every vertex, each library in a process of its own with its limit; one whose pace on
some vertices says that it would take more than twice its limit is not run to its end. All vectors of eccentricities are
compared.
"""

from __future__ import annotations

import time
from typing import Any

from emdiam.methods.eccentricity.result import EccentricityResult
from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store

from .graphs import Graph, graphs_of
from .peers.eccentricities import digest
from .peers.run import installed, run_peer
from .rounds import Lap, measure_paired
from .runs import Solver, Trace, facts_of, faults
from .setting import Setting

TITLE = "All eccentricities in RAM: sources, seconds to solve"
_METHOD, _KEPT = "eccentricities", {"keep": True}
_PEERS = ("networkit", "igraph")


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row a graph."""
    return [_measure(setting, graph) for graph in graphs_of("ecc", setting.quick, setting.names)
            if setting.cache.has(graph)]


def _measure(setting: Setting, graph: Graph) -> dict[str, Any]:
    path = setting.cache.store(graph)
    with (open_store(path) as store,
          open_engine(store, method=_METHOD, switches=_KEPT, threads=setting.threads) as engine):
        row = {"graph": graph.name, "n_vertices": store.n_vertices, "n_edges": store.n_arcs // 2,
               "limit_seconds": setting.long_seconds, "load_seconds": engine.load_seconds, **own_run(setting, engine)}
    if setting.peers:
        row["peers"] = {name: run_peer(name, _METHOD, path, setting) for name in _PEERS if installed(name)}
    return row | verdict(graph, row)


def own_run(setting: Setting, engine: Any) -> dict[str, Any]:
    """Facts and timing of the own method. value : digest of the eccentricities, None if it was stopped. cpu_seconds :
    of all threads, the least of the runs, with what is made of the answer after the solution."""
    solver = Solver(engine, _METHOD, setting.long_seconds, Trace(engine), **_KEPT)
    used: list[float] = []

    def lap() -> Lap:
        begin = time.process_time()
        one = solver()
        used.append(time.process_time() - begin)
        return one

    timing = measure_paired({"own": lap}, setting.effort)["own"]
    result = solver.result
    assert isinstance(result, EccentricityResult)
    value = digest(result.lower_bounds) if result.exact and result.lower_bounds is not None else None
    return {**facts_of(result), "all_sources": result.sources, "share": result.sources / engine.facts.n_vertices,
            "radius": result.radius, "value": value, "cpu_seconds": min(used), "jit_seconds": solver.jit,
            **timing.to_dict()}


def verdict(graph: Graph, row: dict[str, Any]) -> dict[str, Any]:
    """wrong : what contradicts what. speedups : seconds of each of the others that finished / own seconds."""
    ended = {name: peer for name, peer in row.get("peers", {}).items() if "value" in peer}
    values = {peer["value"] for peer in ended.values()} | ({row["value"]} - {None})
    wrong = faults(graph, [(_METHOD, row)])
    if len(values) > 1:
        wrong.append("eccentricities differ: " + ", ".join(
            f"{name} {value[:8]}" for name, value in [("own", row["value"] or "unknown"), *(
                (name, peer["value"]) for name, peer in ended.items())]))
    return {"wrong": wrong, "speedups": {name: peer["median"] / row["median"] for name, peer in ended.items()
                                         if row["exact"]}}


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells."""
    header = ["graph", "n", "m", "radius", "D", "sources", "sources / n", "BFS", "multi-source", "own s", "own CPU s",
              *(f"{name} s" for name in _PEERS), *(f"{name} / own" for name in _PEERS), "foreign cores"]
    return header, [_cells(row) for row in rows]


def _cells(row: dict[str, Any]) -> list[str]:
    peers = row.get("peers", {})
    seconds = f"{row['median']:.3f}" if row["exact"] else f"> {row['limit_seconds']:g}"
    diameter = str(row["upper"]) if row["exact"] else f"{row['lower']}..{row['upper']}"
    return [row["graph"], f"{row['n_vertices']:,}", f"{row['n_edges']:,}", str(row["radius"] or "-"),
            diameter + (" WRONG" if row["wrong"] else ""), f"{row['all_sources']:,}", f"{row['share']:.2%}",
            f"{row['bfs']:,}", f"{row['multi_source']:,}", seconds, f"{row['cpu_seconds']:.3f}",
            *(_peer_seconds(peers.get(name, {})) for name in _PEERS),
            *(f"{row['speedups'][name]:.1f}" if name in row["speedups"] else "-" for name in _PEERS),
            f"{row['foreign_cores']:.2f}{'' if row['quiet'] else ' *'}"]


def _peer_seconds(peer: dict[str, Any]) -> str:
    """Its seconds, and those of the processor; of one that was stopped, its limit and what its pace says."""
    if "median" in peer:
        return f"{peer['median']:.3f} ({peer['cpu_seconds']:.0f} CPU)"
    expected = f" (~{peer['expected_seconds']:,.0f})" if "expected_seconds" in peer else ""
    return str(peer.get("failure", "-")) + expected


def notes(rows: list[dict[str, Any]]) -> list[str]:
    """Lines below the table."""
    lines = [f"{row['graph']}: WRONG: {fault}" for row in rows for fault in row["wrong"]]
    speedups = [speedup for row in rows for speedup in row["speedups"].values()]
    if speedups:
        lines.append(f"the others finished {len(speedups)} times, and took at least {min(speedups):.1f} x the own "
                     "seconds")
    lines.append("> S s (~T): not finished in S s; by the pace of some it would take T; *: no quiet round")
    return lines
