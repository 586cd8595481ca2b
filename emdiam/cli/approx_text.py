"""The answer of `emdiam approx` for people and tables: what is proved, then the estimate of the paper."""

from __future__ import annotations

import csv
import io
from typing import Any

from ..units import format_size
from .exact_text import device_lines, seconds_line, traversals_line
from .forecast_text import forecast_lines
from .memory_text import memory_lines
from .phases import bounds_text, seconds_text

COLUMNS = ("masters", "estimate", "lower", "upper", "ratio", "rounds", "passes", "bytes_read", "seconds")
# Columns of the table for people: name, and head where it is not that.
_HEADS = {"masters": "masters", "lower": "lower", "upper": "upper", "estimate": "paper's estimate", "ratio": "ratio",
          "rounds": "rounds", "passes": "passes", "bytes_read": "bytes read", "seconds": "seconds"}
# The formula of the paper by which a method estimates; docs/algorithms say what is in it.
_FORMULAS = {"clusters": "S + 2 d", "sweep": "the lower bound", "spanning": "twice the height of the tree",
             "fringe": "the upper bound"}
_MOST_FRINGES = 10


def approximation_text(result: dict[str, Any]) -> str:
    """Lines for the result of an approximation, as `Approximation.to_dict()` gives it."""
    return "\n".join([
        *_bound_lines(result), *_cluster_lines(result), *_sweep_lines(result), *_witness_lines(result["witness"]),
        traversals_line(result), *device_lines(result), seconds_line(result), *_stage_lines(result),
        *memory_lines(result), *forecast_lines(result)])


def table_text(results: list[dict[str, Any]]) -> str:
    """A table for several runs, one row each."""
    values = [_row(result) for result in results]
    rows = [list(_HEADS.values()), *([_shown(name, row[name]) for name in _HEADS] for row in values)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def csv_text(results: list[dict[str, Any]]) -> str:
    """The same as CSV with a head, plain numbers, empty where there is none."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_row(result) for result in results)
    return text.getvalue().rstrip("\n")


def _row(result: dict[str, Any]) -> dict[str, Any]:
    own = {"passes": result["details"]["counters"]["passes"], "seconds": round(result["seconds"]["total"], 6)}
    return {name: own.get(name, result.get(name)) for name in COLUMNS}


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name == "bytes_read":
        return format_size(value)
    if name == "seconds":
        return seconds_text(value)
    return f"{value:.4f}" if name == "ratio" else f"{value:,}"


def _bound_lines(result: dict[str, Any]) -> list[str]:
    components, connected = result["n_components"], result["connected"]
    lines = ["connected: not known yet" if connected is None else "connected: yes" if connected
             else f"connected: no, {components:,} components"]
    place = " over all components" if connected is False else ""
    so = f", so D = {result['lower']:,}" if result["exact"] else ""
    lines.append(f"proved{place}: {bounds_text(result['lower'], result['upper'])}{so}")
    if connected is False:
        lines.append("proved of the largest component:"
                     f" {bounds_text(*result['details']['interval_largest_component'])}")
    known, estimate = result["known_diameter"], result["estimate"]
    far = estimate is not None and not result["lower"] <= estimate <= result["upper"]
    lines.append(f"paper's estimate{place} ({result['method']}: {_FORMULAS[result['method']]}): "
                 + ("none yet" if estimate is None else f"{estimate:,}")
                 + (", outside of what is proved" if far else ""))
    if result["ratio"] is not None:
        divisor = result["lower"] if result["exact"] else known
        lines.append(f"ratio: {result['ratio']:.4f} (estimate / {divisor:,})")
    if known is not None and not result["lower"] <= known <= result["upper"]:
        lines.append(f"--known-diameter {known:,} is not the diameter: it lies outside what is proved")
    return lines


def _cluster_lines(result: dict[str, Any]) -> list[str]:
    lines = []
    if result["masters"] is not None:
        lines.append(f"masters: {result['masters']:,}")
    for name, text in (("max_master_distance", "farthest vertex from its master: {:,}"),
                       ("max_master_gap", "farthest masters whose clusters touch: {:,} apart in the condensed graph"),
                       ("rounds", "rounds: {:,}")):
        if result[name] is not None:
            lines.append(text.format(result[name]))
    condensed = result["condensed"]
    if condensed is not None:
        place = "in memory" if condensed["in_memory"] else "on disk"
        again = f", condensed {condensed['levels']} times" if condensed["levels"] > 1 else ""
        lines.append(f"condensed graph: {condensed['n_vertices']:,} vertices, {condensed['n_edges']:,} edges,"
                     f" {place}{again}")
    return lines


def _sweep_lines(result: dict[str, Any]) -> list[str]:
    details = result["details"]
    if details.get("heights"):
        heights = details["heights"]
        end = ", which are distances" if details["converged"] else ""
        return [f"iterations: {details['iterations']:,}; height of the spanning tree: {heights[0]:,}, "
                f"in the end {heights[-1]:,}{end}"]
    if "trees" not in details or "iterations" not in details:
        return []
    lines = [f"iterations: {details['iterations']:,}; diameters of BFS trees: {details['trees']:,}"]
    fringes = details.get("fringes", [])
    if fringes:
        shown = ", ".join(f"{size:,} at distance {distance:,}" for distance, size in fringes[:_MOST_FRINGES])
        lines.append(f"fringes: {shown}" + (", ..." if len(fringes) > _MOST_FRINGES else ""))
    return lines


def _witness_lines(witness: dict[str, Any] | None) -> list[str]:
    if witness is None:
        return []
    return [f"lower bound: {witness['source']} and {witness['target']} are at least {witness['length']:,} edges apart"
            " (checked)"]


def _stage_lines(result: dict[str, Any]) -> list[str]:
    stages = result["details"].get("stage_seconds", {})
    return ["stages: " + ", ".join(f"{name} {seconds_text(value)}" for name, value in stages.items())] if stages else []
