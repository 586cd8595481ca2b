"""Section exact: the diameter by own methods and by other libraries, in RAM.

The own methods share one engine, in paired rounds (see rounds.measure_paired): medians of their
solve seconds. A run that hits the time limit, or takes longer than runs.LONG_SECONDS, is not
repeated. The others answer the same question, the largest finite distance over all components, in
a process of their own. All answers are compared with each other and with the known diameters.
"""

from __future__ import annotations

import math
from typing import Any

from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store

from .graphs import Graph, graphs_of
from .peers.run import installed, run_peer
from .rounds import measure_paired
from .runs import CLASSICS, OWN, Solver, Trace, facts_of, faults
from .setting import Setting
from .show import Table, millions

TITLE = "Exact diameter in RAM: traversals, seconds to solve, million arcs scanned"
# Peer and the most (vertices x arcs) with which it is asked: igraph runs a BFS from every vertex,
# networkx is Python throughout.
_PEERS = {"networkit": 1 << 62, "igraph": 30 * 10**9, "networkx": 10**9}
_FACTOR, _SLACK_SECONDS = 1.1, 0.05
_LEAST_FDIAM_SECONDS = 0.5  # of the graphs in the mean: shorter ones compare constants


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row a graph."""
    return [measured(setting, graph) for graph in graphs_of("exact", setting.quick, setting.names)
            if setting.cache.has(graph)]


def measured(setting: Setting, graph: Graph) -> dict[str, Any]:
    """The row of a graph."""
    path = setting.cache.store(graph)
    row: dict[str, Any] = {"graph": graph.name, "known": graph.diameters, "published_bfs": graph.published,
                           "limit_seconds": setting.solve_seconds}
    with open_store(path) as store, open_engine(store, threads=setting.threads) as engine:
        row |= {"n_vertices": store.n_vertices, "n_edges": store.n_arcs // 2,
                "load_seconds": engine.load_seconds}
        row |= own_runs(setting, engine)
    if setting.peers:
        work = row["n_vertices"] * 2 * row["n_edges"]
        asked = [name for name, most in _PEERS.items() if installed(name) and work <= most]
        row["peers"] = {name: run_peer(name, "diameter", path, setting) for name in asked}
    return row | verdict(graph, row)


def own_runs(setting: Setting, engine: Any) -> dict[str, Any]:
    """Facts and timing of each own method, and the trace of pivots."""
    names = (*OWN, *CLASSICS) if setting.methods == "all" else OWN
    trace = Trace(engine)
    solvers = {name: Solver(engine, name, setting.solve_seconds, trace) for name in names}
    timings = measure_paired(solvers, setting.effort)
    runs = {}
    for name, solver in solvers.items():
        runs[name] = {**facts_of(solver.result), "jit_seconds": solver.jit, **timings[name].to_dict()}
    return {"runs": runs, "trace": solvers["pivots"].trace}


def verdict(graph: Graph, row: dict[str, Any]) -> dict[str, Any]:
    """wrong : what contradicts what. diameters : (of the largest component, over all). fastest : of
    the others, those that finished. ratio : seconds of pivots by its seconds. close : pivots is at
    most a little slower."""
    runs, peers = row["runs"], row.get("peers", {})
    wrong = faults(graph, list(runs.items()))
    exact = {name: run for name, run in runs.items() if run["exact"]}
    answer = next((run["diameters"] for run in exact.values()), [None, None])
    wrong += [f"{name}: {peer['value']}, own: {answer[1]}" for name, peer in peers.items()
              if "value" in peer and answer[1] not in (None, peer["value"])]
    others = {name: run["median"] for name, run in exact.items() if name != "pivots"}
    others |= {name: peer["median"] for name, peer in peers.items() if "median" in peer}
    fastest = min(others, key=lambda name: others[name], default=None)
    best = others[fastest] if fastest else math.inf
    mine = runs["pivots"]["median"] if "pivots" in exact else math.inf
    return {
        "wrong": wrong, "diameters": answer, "fastest": fastest,
        "ratio": mine / best if fastest and mine < math.inf else None,
        "close": mine <= _FACTOR * best + _SLACK_SECONDS if mine < math.inf else False,
    }


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells."""
    header = ["graph", "n", "m", "D", "pivots", "sources", "pivots s", "fdiam BFS", "fdiam s", "M arcs p",
              "M arcs f", *(f"{name} s" for name in _PEERS), "fastest", "ratio", "close", "foreign cores"]
    return header, [_cells(row) for row in rows]


def _cells(row: dict[str, Any]) -> list[str]:
    mine, fdiam, peers = row["runs"]["pivots"], row["runs"]["fdiam"], row.get("peers", {})
    shown = [_peer_seconds(peers.get(name, {})) for name in _PEERS]
    ratio = "-" if row["ratio"] is None else f"{row['ratio']:.2f}"
    quiet = "" if mine["quiet"] else " *"
    return [row["graph"], f"{row['n_vertices']:,}", f"{row['n_edges']:,}", _diameter(row),
            _traversals(mine), f"{mine['sources']:,}", _seconds(row, mine), f"{fdiam['bfs']:,}",
            _seconds(row, fdiam), millions(mine["edges_scanned"]), millions(fdiam["edges_scanned"]), *shown,
            row["fastest"] or "-", ratio, "yes" if row["close"] else "no",
            f"{mine['foreign_cores']:.2f}{quiet}"]


def _diameter(row: dict[str, Any]) -> str:
    answer, mine = row["diameters"][1], row["runs"]["pivots"]
    shown = f"{mine['lower']}..{mine['upper']}" if answer is None else str(answer)
    return shown + (" WRONG" if row["wrong"] else "")


def _traversals(run: dict[str, Any]) -> str:
    """Traversals, of which so many multi-source."""
    return f"{run['traversals']:,}" + (f" ({run['multi_source']:,})" if run["multi_source"] else "")


def _seconds(row: dict[str, Any], run: dict[str, Any]) -> str:
    return f"{run['median']:.3f}" if run["exact"] else f"> {row['limit_seconds']:g}"


def _peer_seconds(peer: dict[str, Any]) -> str:
    return f"{peer['median']:.3f}" if "median" in peer else str(peer.get("failure", "-"))


def more(rows: list[dict[str, Any]]) -> list[Table]:
    """All own methods side by side, if the classics were measured."""
    if not any("apsp" in row["runs"] for row in rows):
        return []
    header = ["graph", "D", *(f"{name}{what}" for name in (*OWN, *CLASSICS) for what in (" s", ""))]
    cells = []
    for row in rows:
        runs = [row["runs"].get(name) for name in (*OWN, *CLASSICS)]
        shown = [(_seconds(row, run), f"{run['traversals']:,}") if run else ("-", "-") for run in runs]
        cells.append([row["graph"], _diameter(row), *(text for pair in shown for text in pair)])
    return [Table("The same by all own methods: seconds and traversals", header, cells)]


def notes(rows: list[dict[str, Any]]) -> list[str]:
    """Lines below the table."""
    lines = [f"{row['graph']}: WRONG: {fault}" for row in rows for fault in row["wrong"]]
    pairs = [(_fdiam_seconds(row), row["runs"]["pivots"]["median"]) for row in rows
             if _fdiam_seconds(row) >= _LEAST_FDIAM_SECONDS and row["runs"]["pivots"]["exact"]]
    if pairs:
        lines.append(f"fdiam s / pivots s: geometric mean {speedup(pairs):.2f} over {len(pairs)} graphs on "
                     f"which fdiam takes {_LEAST_FDIAM_SECONDS} s or more (the limit where it did not end)")
    lines.append(f"close: pivots s <= {_FACTOR} x the fastest other + {_SLACK_SECONDS} s; pivots (k): k of "
                 "the traversals are multi-source; M arcs: scanned by pivots and by fdiam; *: no quiet round")
    return lines


def _fdiam_seconds(row: dict[str, Any]) -> float:
    """Its median, or the limit if it did not end."""
    found = row["runs"]["fdiam"]
    return float(found["median"] if found["exact"] else row["limit_seconds"])


def speedup(pairs: list[tuple[float, float]]) -> float:
    """Geometric mean of first / second."""
    return math.exp(sum(math.log(slow / max(fast, 1e-9)) for slow, fast in pairs) / len(pairs))
