"""From the cells of a trade-off to its rows and tables: figures, ratios, and the Pareto front.

Tables are Markdown, laid out like those of the paper, and CSV. Clusters have a column for every number of masters
(Table 3), with the time by stage below (Table 4); each method without masters has a row (Tables 1 and 2). Source:
Ajwani, Beckmann, Meyer, Veith, I/O-efficient approximation of graph diameters by parallel cluster growing (2012),
section 4."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import EmdiamError
from ..runs.tradeoff import COLUMNS, ENDED, FRONTS, Tradeoff
from ..tables import table_text
from ..units import format_count, format_fine_seconds, format_size
from .cells import CLUSTERS, EXACT, Cell, CellRecord

# Stages of clusters in a table, with the stages of the result in each; the first ones lead to the estimate, the last
# two prove bounds.
STAGES = {"grow": ("masters", "grow"), "condense": ("condense",), "shortest_paths": ("shortest paths",),
          "upper_bound": ("upper bound",), "lower_bound": ("lower bound",)}
TO_ESTIMATE = ("grow", "condense", "shortest_paths")
KNOWN, PROVED = "given", "proved"


def bounds(records: Sequence[CellRecord]) -> tuple[int | None, int | None]:
    """The best lower and upper bound proved by any cell; None if there is no such bound. Raises EmdiamError if they
    contradict each other."""
    results = [record.result for record in records if record.result is not None]
    if not results:
        return None, None
    lower, upper = max(result["lower"] for result in results), min(result["upper"] for result in results)
    if lower > upper:
        raise EmdiamError(f"runs have proved that the diameter is at least {lower:,} and at most {upper:,}: this is a"
                          " fault of emdiam: please report it with the folder of the cells")
    return lower, upper


def fill(summary: Tradeoff, cells: Sequence[tuple[Cell, CellRecord]], known_diameter: int | None) -> None:
    """Fill the bounds, the diameter and the rows from the cells. Raises EmdiamError like `bounds`."""
    summary.lower, summary.upper = bounds([record for _, record in cells])
    if summary.lower is not None and summary.lower == summary.upper:
        summary.diameter, summary.diameter_from = summary.lower, PROVED
    if known_diameter is not None:
        if summary.lower is not None and summary.upper is not None and not (
                summary.lower <= known_diameter <= summary.upper):
            summary.messages.append(f"{known_diameter:,} is not the diameter, so no ratio is of it:"
                                    f" {summary.lower:,} <= D <= {summary.upper:,} is proved")
        elif summary.diameter is None:
            summary.diameter, summary.diameter_from = known_diameter, KNOWN
    summary.rows = [_row(summary, cell, record) for cell, record in cells]
    _put_over_bfs(summary.rows)
    passed = [row["cell"] for row in summary.rows if row["memory_limit_exceeded"]]
    if passed:
        summary.messages.append(f"the peak passed --memory in {', '.join(passed)}: this is a fault of emdiam, please"
                                " report it with the store")
    rated = [row for row in summary.rows if row["status"] == ENDED and row["ratio"]]
    for column, cost in FRONTS.items():
        chosen = front([(row[cost], loss(row["ratio"])) for row in rated])
        for place, row in enumerate(rated):
            row[column] = place in chosen


def _put_over_bfs(rows: Sequence[dict[str, Any]]) -> None:
    """Add the time to the estimate in units of a BFS, if a sweep has measured a BFS (Tables 1 and 2 of the paper)."""
    one = {row["seed"]: row["seconds_estimate"] / row["traversals"] for row in rows
           if row["method"] == "sweep" and row["status"] == ENDED and row["traversals"]}
    for row in rows:
        if row["status"] == ENDED and one.get(row["seed"]):
            row["time_over_bfs"] = row["seconds_estimate"] / one[row["seed"]]


def _row(summary: Tradeoff, cell: Cell, record: CellRecord) -> dict[str, Any]:
    row = dict.fromkeys(COLUMNS)
    row |= {"cell": cell.name, "method": cell.method, "masters_label": cell.label or None,
            "masters_expected": cell.masters, "seed": cell.seed, "status": record.status, "reason": record.reason}
    if record.result is not None:
        row |= _figures(cell, record.result)
        row |= _ratios(row["estimate"], summary)
    return row


def _figures(cell: Cell, result: dict[str, Any]) -> dict[str, Any]:
    """The figures of a result."""
    same = ("lower", "upper", "edges_scanned", "bytes_read", "peak_rss_bytes", "planned_rss_bytes",
            "memory_limit_bytes", "memory_limit_exceeded", "masters", "max_master_gap", "max_master_distance", "rounds")
    condensed, traversals = result.get("condensed") or {}, result["traversals"]
    exact = result["lower"] if result["exact"] else None
    return {
        **{name: result.get(name) for name in same}, **_seconds(cell, result),
        "estimate": exact if cell.method == EXACT else result["estimate"],
        **{f"condensed_{column}": condensed.get(name) for column, name in (
            ("vertices", "n_vertices"), ("edges", "n_edges"), ("in_memory", "in_memory"), ("levels", "levels"))},
        "traversals": traversals["bfs"] + traversals["multi_source"],
        "passes": result["details"].get("counters", {}).get("passes"),
    }


def _seconds(cell: Cell, result: dict[str, Any]) -> dict[str, float | None]:
    """Wall seconds, by stage if the method is clusters. The first cell compiles for all cells, so compilation is
    subtracted from the total; no stage includes it. The time to the estimate includes loading, probing and reordering,
    but not the stages after the estimate."""
    seconds, stages = result["seconds"], result["details"].get("stage_seconds", {})
    spent = {name: sum(stages.get(stage, 0.0) for stage in of) for name, of in STAGES.items()}
    after = seconds["verify"] + sum(time for name, time in spent.items() if name not in TO_ESTIMATE)
    startup = seconds.get("startup", seconds["load"] + seconds["compile"])
    result_seconds: dict[str, float | None] = {
        "seconds_startup": startup, "seconds_search": max(seconds["total"] - startup, 0.0),
        "seconds": seconds["total"] - seconds["compile"], "seconds_load": seconds["load"],
        "seconds_compile": seconds["compile"],
        "seconds_estimate": max(seconds["total"] - seconds["compile"] - after, 0.0),
        "seconds_verify": seconds["verify"]}
    if cell.method == CLUSTERS:
        result_seconds |= {f"seconds_{name}": value for name, value in spent.items()}
    return result_seconds


def _ratios(estimate: int | None, summary: Tradeoff) -> dict[str, float | None]:
    """Ratios of the estimate to the diameter, or to its bounds; None if the diameter is (or may be) 0."""
    if estimate is None or summary.lower is None or summary.upper is None:
        return {}
    if summary.diameter is not None:
        ratio = estimate / summary.diameter if summary.diameter else None
        return {"ratio": ratio, "ratio_least": ratio, "ratio_most": ratio}
    return {"ratio_least": estimate / summary.upper, "ratio_most": estimate / summary.lower if summary.lower else None}


def loss(ratio: float) -> float:
    """The factor by which an estimate is too large or too small; infinite for an estimate of 0."""
    return max(ratio, 1 / ratio) if ratio else math.inf


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Positions of the points (cost, loss) on the front, cheapest first.

    A point is on it if no other point is at most as large in both and smaller in one; equal points are all on it.
    """
    best: tuple[float, float] | None = None
    chosen = []
    for i in sorted(range(len(points)), key=lambda k: points[k]):
        if best is None or points[i][1] < best[1] or points[i] == best:
            best = points[i]
            chosen.append(i)
    return chosen


Row = dict[str, Any]


def differ(rows: Sequence[Row], column: str) -> bool:
    """Whether the finished cells have different figures in the column, so that it can distinguish them."""
    return len({row[column] for row in rows if row["status"] == ENDED}) > 1


# (heading of a line of a table, its column, function from a figure to its text)
Line = tuple[str, str, Callable[[Any], str]]


def count_text(value: int | str) -> str:
    """A count with separators; "auto" unchanged."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def ratio_text(value: float) -> str:
    """A ratio with enough digits to show its difference from 1, between four and six."""
    return f"{value:.4f}" if abs(value - 1) >= 0.001 or value == 1 else f"{value:.6f}"


ANSWER: tuple[Line, ...] = (
    ("proved lower bound", "lower", count_text), ("proved upper bound", "upper", count_text),
    ("method's estimate", "estimate", count_text), ("approximation ratio", "ratio", ratio_text),
    ("time of the search", "seconds_search", format_fine_seconds),
)
PRICE: tuple[Line, ...] = (
    ("start-up", "seconds_startup", format_fine_seconds),
    ("read", "bytes_read", format_size), ("peak memory", "peak_rss_bytes", format_size),
    ("planned memory", "planned_rss_bytes", format_size),
)
OF_CLUSTERS: tuple[Line, ...] = (
    ("masters chosen", "masters", count_text), *ANSWER,
    ("time to the estimate", "seconds_estimate", format_fine_seconds),
    ("the same, in BFS", "time_over_bfs", "{:.2f}".format),
    ("largest distance of adjacent masters (d)", "max_master_gap", count_text),
    ("largest distance of a vertex from its master", "max_master_distance", count_text),
    ("rounds", "rounds", count_text), ("vertices in the condensed graph", "condensed_vertices", count_text),
    ("edges in the condensed graph", "condensed_edges", count_text), *PRICE,
)
OF_STAGES: tuple[Line, ...] = tuple(
    (name.replace("_", " "), f"seconds_{name}", format_fine_seconds) for name in ("load", *STAGES, "verify"))


def markdown_text(summary: Tradeoff) -> str:
    """The text of all tables, with a heading above, and the missing cells below."""
    clusters = [row for row in summary.rows if row["method"] == CLUSTERS]
    others = [row for row in summary.rows if row["method"] != CLUSTERS]
    seeds = {row["seed"] for row in summary.rows if row["seed"] is not None}
    parts = [_head(summary)]
    if clusters:
        parts += ["## Clusters, by the number of masters", _across("masters", OF_CLUSTERS, clusters, len(seeds) > 1),
                  "## Where the time of clusters goes", _across("masters", OF_STAGES, clusters, len(seeds) > 1)]
    if others:
        parts += ["## Methods without masters", _down(others, len(seeds) > 1)]
    fronts = [_front_line(summary, column, what)
              for column, what in zip(FRONTS, ("searches for less time", "reads less"), strict=True)
              if differ(summary.rows, FRONTS[column]) and any(row[column] for row in summary.rows)]
    if fronts:
        parts.append("\n".join(fronts))
    missing = _missing(summary)
    return "\n\n".join([*parts, *(["## Not in the tables", "\n".join(missing)] if missing else [])]) + "\n"


def _head(summary: Tradeoff) -> str:
    if summary.diameter is not None:
        source = "given" if summary.diameter_from == KNOWN else "proved"
        answer, ratios = f"D = {summary.diameter:,} ({source})", "; ratios are estimate / D"
    elif summary.lower is None:
        answer, ratios = "No run has proved anything about D", ""
    else:
        answer = f"{summary.lower:,} <= D <= {summary.upper:,} (proved bounds)"
        ratios = "; ratios are estimate / D, as intervals while D is not known"
    return (f"# Trade-off: {summary.store_name}\n\n{answer}: the largest diameter of any component of a graph with"
            f" {format_count(summary.n_vertices, 'vertex', 'vertices')} and {format_count(summary.n_edges, 'edge')}"
            f"{ratios}.")


def _across(corner: str, lines: Sequence[Line], rows: Sequence[Row], with_seed: bool) -> str:
    """A table with a column per cell."""
    head = [corner, *(_name(str(row["masters_label"]), row, with_seed) for row in rows)]
    cells = [[name, *(_figure(row, column, text) for row in rows)] for name, column, text in lines]
    return table_text(head, cells, (0,), "pipe")


def _down(rows: Sequence[Row], with_seed: bool) -> str:
    """A table with a row per cell."""
    lines = (*ANSWER, *PRICE)
    head = ["method", *(name for name, _, _ in lines)]
    cells = [[_name(row["method"], row, with_seed), *(_figure(row, *line[1:]) for line in lines)] for row in rows]
    return table_text(head, cells, (0,), "pipe")


def _name(name: str, row: Row, with_seed: bool) -> str:
    name += f", seed {row['seed']}" if with_seed and row["seed"] is not None else ""
    return name if row["status"] == ENDED else f"{name} ({row['status']})"


def _figure(row: Row, column: str, text: Callable[[Any], str]) -> str:
    if column == "ratio" and row["ratio"] is None and row["ratio_least"] is not None:
        limit = row["ratio_most"]
        return f"{ratio_text(row['ratio_least'])} .. {'' if limit is None else ratio_text(limit)}".rstrip()
    return "-" if row[column] is None else text(row[column])


def _front_line(summary: Tradeoff, column: str, what: str) -> str:
    chosen = sorted((row for row in summary.rows if row[column]), key=lambda row: float(row[FRONTS[column]]))
    return f"- No other run both {what} and is closer than: " + ", ".join(row["cell"] for row in chosen) + "."


def _missing(summary: Tradeoff) -> list[str]:
    lines = [f"- {sentence}." for sentence in summary.left_out]
    lines += [f"- {row['cell']}: {row['status']}: {row['reason']}." for row in summary.rows if row["status"] != ENDED]
    if len(summary.rows) < summary.n_cells:
        lines.append(f"- {summary.n_cells - len(summary.rows):,} of {summary.n_cells:,} runs have not been made.")
    return lines
