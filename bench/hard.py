"""Section hard: graphs on which many vertices have nearly the same eccentricity.

Seconds to solve, traversals and sources of pivots, in RAM. Where the time limit comes first there is the
interval, how many vertices were still open (may have a larger eccentricity) in the course of time, and, from the pace
of the second half, when the last would be settled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store

from .foreign import ForeignWatch
from .graphs import Graph, graphs_of
from .runs import Trace, facts_of, faults, solve_timed
from .setting import Setting
from .show import Table

TITLE = "Hard graphs: pivots in RAM"
_SAMPLES = 8  # points of the course that are printed


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row a graph."""
    return [_measure(setting, graph) for graph in graphs_of("hard", setting.quick, setting.names, setting.large)
            if setting.cache.has(graph)]


def _measure(setting: Setting, graph: Graph) -> dict[str, Any]:
    limit = setting.long_seconds
    with open_store(setting.cache.store(graph)) as store, open_engine(store, threads=setting.threads) as engine:
        trace, watch = Trace(engine), ForeignWatch()
        trace.start()
        result, jit = solve_timed(engine, "pivots", limit)
        trace.finish(result)
        row = {"graph": graph.name, "n_vertices": store.n_vertices, "n_edges": store.n_arcs // 2,
               "limit_seconds": limit, "foreign_cores": watch.cores, "jit_seconds": jit,
               **facts_of(result), "trace": trace.rows()}
    return {**row, "projected_seconds": None if result.exact else projected(row["trace"]),
            "wrong": faults(graph, [("pivots", row)])}


def course(trace: Sequence[Sequence[Any]]) -> list[tuple[float, int]]:
    """(seconds, open vertices) of the points of a trace at which they were counted."""
    return [(seconds, n_open) for seconds, _, _, _, n_open in trace if n_open is not None]


def projected(trace: Sequence[Sequence[Any]]) -> float | None:
    """Seconds from the start after which no vertex is open, if they go on to be settled as in the
    second half of the time; None without a count, or if none was settled in it."""
    points = course(trace)
    if not points:
        return None
    end, left = points[-1]
    middle = max((point for point in points if point[0] <= end / 2), default=points[0])
    settled, seconds = middle[1] - left, end - middle[0]
    return end + left * seconds / settled if settled > 0 and seconds > 0 else None


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells."""
    header = ["graph", "n", "m", "D", "solve s", "traversals", "BFS", "multi-source", "sources", "open at the end",
              "projected s", "foreign cores"]
    return header, [_cells(row) for row in rows]


def _cells(row: dict[str, Any]) -> list[str]:
    answer = str(row["lower"]) if row["exact"] else f"{row['lower']}..{row['upper']}"
    seconds = f"{row['solve_seconds']:.3f}" if row["exact"] else f"> {row['limit_seconds']:g}"
    points, projection = course(row["trace"]), row["projected_seconds"]
    left = "0" if row["exact"] else f"{points[-1][1]:,}" if points else "-"
    return [row["graph"], f"{row['n_vertices']:,}", f"{row['n_edges']:,}",
            answer + (" WRONG" if row["wrong"] else ""), seconds, f"{row['traversals']:,}", f"{row['bfs']:,}",
            f"{row['multi_source']:,}", f"{row['sources']:,}", left,
            "-" if projection is None else f"{projection:,.0f}", f"{row['foreign_cores']:.2f}"]


def more(rows: list[dict[str, Any]]) -> list[Table]:
    """Open vertices in the course of time, of the graphs that have such a course."""
    shown = [(row["graph"], course(row["trace"])) for row in rows]
    cells = [[graph, *_samples(points)] for graph, points in shown if len(points) > 1]
    if not cells:
        return []
    header = ["graph", *(f"{k + 1}/{_SAMPLES}" for k in range(_SAMPLES))]
    return [Table("Open vertices after so much of the time", header, cells)]


def _samples(points: list[tuple[float, int]]) -> list[str]:
    """The last count at each eighth of the time, with its second."""
    texts = []
    for k in range(1, _SAMPLES + 1):
        now = points[-1][0] * k / _SAMPLES
        before = [point for point in points if point[0] <= now]
        texts.append(f"{before[-1][1]:,} ({now:.3g} s)" if before else "-")
    return texts


def notes(rows: list[dict[str, Any]]) -> list[str]:
    """Lines below the tables."""
    return [f"{row['graph']}: WRONG: {fault}" for row in rows for fault in row["wrong"]]
