"""Section small: the diameter of graphs of 4,000 to 100,000 vertices, generated twins of usual kinds (twins.py), beside
all programs and libraries that are here. The searches take milliseconds: what a traversal costs beside its kernel shows
here, and in whole commands what a start costs."""

from __future__ import annotations

import math
import statistics
from typing import Any

from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store

from .graphs import Graph, graphs_of
from .peers.measure import contradictions, library, own, program
from .programs import DIAMETERS
from .setting import Setting
from .show import Table

TITLE = "Exact diameter of small graphs in RAM: milliseconds to solve, milliseconds of whole commands"
# A library, and the most (vertices x arcs) with which it is asked: igraph runs a BFS from every vertex.
_LIBRARIES = {"networkit": 1 << 62, "igraph": 2 * 10**9}
_OWN = "emdiam"
# A peer counts as faster where this package takes more than so many times its seconds, and so many more.
FACTOR, SLACK_SECONDS = 1.1, 0.002
# Whose whole commands ours are compared with.
COMMANDS = ("F-Diam", "teexGraph")
_NONE = {"failure": "-"}


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row a graph."""
    return [measured(setting, graph) for graph in graphs_of("small", setting.quick, setting.names)]


def measured(setting: Setting, graph: Graph) -> dict[str, Any]:
    """The row of a graph. tools : by name, what each has found. wrong : answers that contradict each other."""
    path, most = setting.cache.store(graph), 3 * setting.effort.rounds
    threads, limit = setting.threads, setting.peer_seconds
    with open_store(path) as store, open_engine(store, threads=threads) as engine:
        row: dict[str, Any] = {"graph": graph.name, "n_vertices": store.n_vertices, "n_edges": store.n_arcs // 2}
        tools = {_OWN: own(engine, path, threads, limit, most)}
    if setting.peers:
        if setting.programs is not None:
            tools |= {name: program(setting.programs, name, path, threads, limit, most) for name in DIAMETERS}
        work = row["n_vertices"] * 2 * row["n_edges"]
        tools |= {name: library(name, "diameter", path, threads, limit) for name, largest in _LIBRARIES.items()
                  if work <= largest}
    wrong = contradictions(tools, graph.diameters or (None, None))
    return {**row, "tools": tools, "wrong": [wrong] if wrong else []}


def best(row: dict[str, Any], name: str) -> tuple[str, float] | None:
    """The peer with the least `solve` or `seconds`, and those; None where no peer has an answer."""
    others = {tool: found[name] for tool, found in row["tools"].items()
              if tool != _OWN and "failure" not in found and name in found}
    return min(others.items(), key=lambda one: one[1]) if others else None


def faster(row: dict[str, Any]) -> bool:
    """Whether a peer solves it in less time, by more than FACTOR and SLACK_SECONDS."""
    found = best(row, "solve")
    return found is not None and row["tools"][_OWN]["solve"] > FACTOR * found[1] + SLACK_SECONDS


def _tools(rows: list[dict[str, Any]]) -> list[str]:
    """Those that have an answer somewhere."""
    named = dict.fromkeys(tool for row in rows for tool in row["tools"])
    return [tool for tool in named if any("solve" in row["tools"].get(tool, {}) for row in rows)]


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells of solving."""
    tools = _tools(rows)
    header = ["graph", "n", "m", "D", "traversals", *(f"{tool} ms" for tool in tools), "best peer", "best / ours"]
    cells = []
    for row in rows:
        mine, found = row["tools"][_OWN], best(row, "solve")
        answer = f"{mine['diameter']}" + (" WRONG" if row["wrong"] else "")
        last = ["-", "-"] if found is None else [found[0], f"{found[1] / mine['solve']:.2f}" + " *" * faster(row)]
        cells.append([row["graph"], f"{row['n_vertices']:,}", f"{row['n_edges']:,}", answer, f"{mine['traversals']:,}",
                      *(_milliseconds(row["tools"].get(tool, _NONE), "solve") for tool in tools), *last])
    return header, cells


def more(rows: list[dict[str, Any]]) -> list[Table]:
    """Whole commands."""
    tools = _tools(rows)
    cells = [[row["graph"], *(_milliseconds(row["tools"].get(tool, _NONE), "seconds") for tool in tools)]
             for row in rows]
    return [Table("Milliseconds of whole commands", ["graph", *tools], cells)]


def _milliseconds(found: dict[str, Any], name: str) -> str:
    return str(found["failure"]) if "failure" in found else f"{1000 * found[name]:.2f}" if name in found else "-"


def notes(rows: list[dict[str, Any]]) -> list[str]:
    """Lines below the tables."""
    lines = [f"{row['graph']}: WRONG: {fault}" for row in rows for fault in row["wrong"]]
    ratios = [found[1] / row["tools"][_OWN]["solve"] for row in rows if (found := best(row, "solve")) is not None]
    if ratios:
        lines.append(f"solve, best peer / ours: geometric mean {mean(ratios):.2f} over {len(ratios)} graphs, least"
                     f" {min(ratios):.2f}")
        slower = ", ".join(row["graph"] for row in rows if faster(row)) or "none"
        lines.append(f"*: a peer is faster by more than {FACTOR} x and {1000 * SLACK_SECONDS:.0f} ms: {slower}")
    compared = {tool: commands(rows, tool) for tool in COMMANDS}
    lines += [f"whole commands, ours / {tool}: geometric mean {mean(some):.2f} over {len(some)} graphs"
              for tool, some in compared.items() if some]
    if all(compared.values()):
        both = [ratio for some in compared.values() for ratio in some]
        lines.append(f"whole commands, ours / {' and '.join(COMMANDS)}: geometric mean {mean(both):.2f}")
    return lines


def commands(rows: list[dict[str, Any]], tool: str) -> list[float]:
    """Seconds of our command over those of a tool, of the graphs on which both have an answer."""
    pairs = [(row["tools"][_OWN], row["tools"].get(tool, _NONE)) for row in rows]
    return [mine["seconds"] / theirs["seconds"] for mine, theirs in pairs
            if "failure" not in theirs and "seconds" in mine]


def mean(ratios: list[float]) -> float:
    """Their geometric mean."""
    return math.exp(statistics.fmean(map(math.log, ratios)))
