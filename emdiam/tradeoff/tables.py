"""The tables of a trade-off, as Markdown in the shape of the paper's, and as CSV.

Clusters have a column for every number of masters (Table 3), and their time by stage below (Table 4);
methods without masters have a row each (Tables 1 and 2).
Source: Ajwani, Beckmann, Meyer, Veith, I/O-efficient approximation of graph diameters by parallel
cluster growing (2012), section 4.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any

from ..units import format_size
from .cells import ENDED
from .grid import CLUSTERS
from .summary import COLUMNS, FRONTS, KNOWN, Tradeoff

Row = dict[str, Any]
# (what a line of a table is headed, its column, how a figure is written)
Line = tuple[str, str, Callable[[Any], str]]


def count_text(value: int | str) -> str:
    """A count with separators; "auto" as it is."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def seconds_text(value: float) -> str:
    """Seconds with three digits, never as a power of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 else "0.000"


def ratio_text(value: float) -> str:
    """A ratio with as many digits as show how far it is from 1, four at least and six at most."""
    return f"{value:.4f}" if abs(value - 1) >= 0.001 or value == 1 else f"{value:.6f}"


ANSWER: tuple[Line, ...] = (
    ("proved lower bound", "lower", count_text), ("proved upper bound", "upper", count_text),
    ("paper's estimate", "estimate", count_text), ("approximation ratio", "ratio", ratio_text),
    ("time [s]", "seconds", seconds_text),
)
PRICE: tuple[Line, ...] = (
    ("read", "bytes_read", format_size), ("peak RSS", "peak_rss_bytes", format_size),
    ("planned RSS", "planned_rss_bytes", format_size),
)
OF_CLUSTERS: tuple[Line, ...] = (
    ("masters chosen", "masters", count_text), *ANSWER,
    ("time to the estimate [s]", "seconds_estimate", seconds_text),
    ("d, between masters whose clusters touch", "max_master_gap", count_text),
    ("largest distance of a vertex to its master", "max_master_distance", count_text),
    ("rounds", "rounds", count_text), ("vertices in the condensed graph", "condensed_vertices", count_text),
    ("edges in the condensed graph", "condensed_edges", count_text), *PRICE,
)
STAGES: tuple[Line, ...] = tuple(
    (f"{name.replace('_', ' ')} [s]", f"seconds_{name}", seconds_text)
    for name in ("load", "grow", "condense", "shortest_paths", "upper_bound", "lower_bound", "verify"))


def csv_text(summary: Tradeoff) -> str:
    """A row a cell with the COLUMNS, plain numbers, empty where there is none."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(summary.rows)
    return text.getvalue()


def markdown_text(summary: Tradeoff) -> str:
    """All tables, what they are about above them, what is missing below; a text of lines."""
    clusters = [row for row in summary.rows if row["method"] == CLUSTERS]
    others = [row for row in summary.rows if row["method"] != CLUSTERS]
    seeds = {row["seed"] for row in summary.rows if row["seed"] is not None}
    parts = [_head(summary)]
    if clusters:
        parts += ["## Clusters, by the number of masters", _across("masters", OF_CLUSTERS, clusters, len(seeds) > 1),
                  "## Where the time of clusters goes", _across("masters", STAGES, clusters, len(seeds) > 1)]
    if others:
        parts += ["## Methods without masters", _down(others, len(seeds) > 1)]
    if any(row[column] for row in summary.rows for column in FRONTS):
        parts.append("\n".join(_front_line(summary, column, what)
                               for column, what in zip(FRONTS, ("seconds", "bytes read"), strict=True)))
    missing = _missing(summary)
    return "\n\n".join([*parts, *(["## Not in the tables", "\n".join(missing)] if missing else [])]) + "\n"


def _head(summary: Tradeoff) -> str:
    if summary.diameter is not None:
        source = "given" if summary.diameter_from == KNOWN else "proved"
        diameter = f"Ratios are of the largest distance over all components, D = {summary.diameter:,} ({source})."
    elif summary.lower is None:
        diameter = "No cell has proved anything about D, the largest distance over all components."
    else:
        diameter = (f"The largest distance over all components is not known: {summary.lower:,} <= D <= "
                    f"{summary.upper:,} is proved, and ratios are intervals.")
    return f"# Trade-off\n\n{summary.n_vertices:,} vertices, {summary.n_edges:,} edges. {diameter}"


def _across(corner: str, lines: Sequence[Line], rows: Sequence[Row], with_seed: bool) -> str:
    """A column a cell."""
    head = [corner, *(_name(str(row["masters_label"]), row, with_seed) for row in rows)]
    return _table([head, *([name, *(_figure(row, column, text) for row in rows)] for name, column, text in lines)])


def _down(rows: Sequence[Row], with_seed: bool) -> str:
    """A row a cell."""
    lines = (*ANSWER, *PRICE)
    head = ["method", *(name for name, _, _ in lines)]
    return _table([head, *([_name(row["method"], row, with_seed), *(_figure(row, *line[1:]) for line in lines)]
                           for row in rows)])


def _name(name: str, row: Row, with_seed: bool) -> str:
    name += f", seed {row['seed']}" if with_seed and row["seed"] is not None else ""
    return name if row["status"] == ENDED else f"{name} ({row['status']})"


def _figure(row: Row, column: str, text: Callable[[Any], str]) -> str:
    if column == "ratio" and row["ratio"] is None and row["ratio_least"] is not None:
        most = row["ratio_most"]
        return f"{ratio_text(row['ratio_least'])} .. {'' if most is None else ratio_text(most)}".rstrip()
    return "-" if row[column] is None else text(row[column])


def _table(cells: Sequence[Sequence[str]]) -> str:
    """Markdown, padded so that it can be read as it is: the first column to the left, figures to the right."""
    widths = [max(3, *(len(line[i]) for line in cells)) for i in range(len(cells[0]))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    padded = [[line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))]
              for line in (cells[0], rule, *cells[1:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in padded)


def _front_line(summary: Tradeoff, column: str, what: str) -> str:
    chosen = sorted((row for row in summary.rows if row[column]), key=lambda row: float(row[FRONTS[column]]))
    return f"- By {what} no other run is better than: " + ", ".join(row["cell"] for row in chosen) + "."


def _missing(summary: Tradeoff) -> list[str]:
    lines = [f"- {sentence}." for sentence in summary.left_out]
    lines += [f"- {row['cell']}: {row['status']}: {row['reason']}." for row in summary.rows if row["status"] != ENDED]
    if len(summary.rows) < summary.n_cells:
        lines.append(f"- {summary.n_cells - len(summary.rows):,} of {summary.n_cells:,} cells have not been run.")
    return lines
