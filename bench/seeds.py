"""Section seeds: traversals of pivots over five seeds, against the figures of its design.

A seed makes another graph of a generated class whose edges are random; elsewhere it is the seed of
pivots itself. The median over the seeds may exceed the design's figure by a fifth, or by two. Where
F-Diam needs more than 20 BFS (on the first of the graphs), pivots must not scan more arcs.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store

from .graphs import Graph, graphs_of
from .runs import facts_of, faults, solve
from .setting import Setting
from .show import millions

TITLE = "Traversals of pivots over seeds, against the design; million arcs scanned"
SEEDS, _QUICK_SEEDS = (1, 2, 3, 4, 5), (1, 2)
_FACTOR, _SLACK = 1.2, 2
_FEW_BFS = 20
_SAME_EDGES = ("path", "grid", "torus", "hypercube")  # classes in which a generator's seed changes nothing


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row a graph."""
    return [_measure(setting, graph) for graph in graphs_of("seeds", setting.quick, setting.names)
            if setting.cache.has(graph)]


def variants(setting: Setting, graph: Graph) -> Iterator[tuple[Path, int]]:
    """(store, seed of pivots) of each run; the store with seed 1 is the one that other sections use."""
    for seed in _QUICK_SEEDS if setting.quick else SEEDS:
        if graph.file or graph.graph_class in _SAME_EDGES:
            yield setting.cache.store(graph), seed
        elif seed == graph.seed:
            yield setting.cache.store(graph), 0
        else:
            yield setting.cache.store(replace(graph, name=f"{graph.name}.seed-{seed}", seed=seed)), 0


def _measure(setting: Setting, graph: Graph) -> dict[str, Any]:
    runs, wrong = [], []
    fdiam: dict[str, Any] | None = None
    for path, seed in variants(setting, graph):
        with open_store(path) as store, open_engine(store, threads=setting.threads) as engine:
            runs.append(facts_of(solve(engine, "pivots", setting.long_seconds, seed=seed)))
            pair = [("pivots", runs[-1])]
            if fdiam is None:
                fdiam = facts_of(solve(engine, "fdiam", setting.solve_seconds))
                pair.append(("fdiam", fdiam))
            wrong += faults(graph, pair)
    assert fdiam is not None
    return {"graph": graph.name, "wrong": wrong, "runs": runs, "fdiam": fdiam, **verdict(graph.design, runs, fdiam)}


def verdict(design: int, runs: list[dict[str, Any]], fdiam: dict[str, Any]) -> dict[str, Any]:
    """median : traversals. few : at most the limit (None without a design's figure, False if a run did
    not end). edges : median of the arcs scanned. lean : at most those of F-Diam; None where F-Diam
    needs few BFS, or was stopped before it had scanned as many."""
    median, edges = (statistics.median(run[name] for run in runs) for name in ("traversals", "edges_scanned"))
    limit = max(_FACTOR * design, design + _SLACK)
    ended = all(run["exact"] for run in runs)
    lean: bool | None = ended and edges <= fdiam["edges_scanned"]
    if fdiam["bfs"] <= _FEW_BFS or (not lean and ended and not fdiam["exact"]):
        lean = None
    return {"median": median, "design": design or None, "limit": limit if design else None,
            "few": (ended and median <= limit) if design else None, "edges": edges, "lean": lean}


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells."""
    header = ["graph", "traversals by seed", "median", "design", "limit", "holds", "multi-source", "sources",
              "M arcs, pivots", "M arcs, fdiam", "fdiam BFS", "not more"]
    return header, [_cells(row) for row in rows]


def _cells(row: dict[str, Any]) -> list[str]:
    runs, fdiam = row["runs"], row["fdiam"]
    more = "" if fdiam["exact"] else "> "
    return [
        row["graph"] + (" WRONG" if row["wrong"] else ""),
        " ".join(str(run["traversals"]) + ("" if run["exact"] else "+") for run in runs),
        f"{row['median']:g}", *(f"{row[name]:.4g}" if row[name] else "-" for name in ("design", "limit")),
        _yes(row["few"]), " ".join(str(run["multi_source"]) for run in runs),
        f"{statistics.median(run['sources'] for run in runs):,.0f}", millions(row["edges"]),
        more + millions(fdiam["edges_scanned"]), f"{more}{fdiam['bfs']:,}", _yes(row["lean"]),
    ]


def _yes(held: bool | None) -> str:
    return "-" if held is None else "yes" if held else "no"


def notes(rows: list[dict[str, Any]]) -> list[str]:
    """Lines below the table."""
    lines = [f"{row['graph']}: WRONG: {fault}" for row in rows for fault in row["wrong"]]
    return [*lines, f"limit: the larger of {_FACTOR} x design and design + {_SLACK}; a number with + did not end; "
            f"not more: pivots scans at most the arcs of fdiam, asked where fdiam needs more than {_FEW_BFS} BFS"]
