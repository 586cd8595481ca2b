"""`emdiam approx`: proved bounds on the diameter, and an estimate.

The text answer shows the proved bounds, then the estimate of the paper, then the cost."""

from __future__ import annotations

from typing import Any

import click

from ..errors import InputError
from ..tables import csv_text, table_text
from ..units import format_count, format_fine_seconds, format_size
from . import options
from .answer_lines import (
    ROUNDED_REASON,
    device_lines,
    diameter_lines,
    memory_lines,
    proved_text,
    seconds_line,
    seconds_text,
    seed_lines,
    strong_lines,
    task_lines,
    traversals_line,
)
from .checkpoint import Runs
from .inputs import opened
from .listener import listening
from .outcome import EmdiamCommand
from .output import answer, emit


@click.command(cls=EmdiamCommand)
@options.GRAPH
@options.of("approx")
def command(**values: Any) -> int:
    """Estimate the diameter of a graph, with proved bounds.

    The bounds are proved: some pair of vertices is at least as far apart as the lower bound, and no pair is farther
    apart than the upper one. The estimate is that of the method's paper, and may be outside the bounds. On a
    disconnected graph, both are about the largest diameter of any component; with --directed about the largest finite
    distance from a vertex to one that it reaches.

    A list of --masters makes a run of each, and a table; as JSON {"runs": [...]}. Ctrl-C prints the bounds proved so
    far and leaves with exit code 3.

    With --checkpoint the same command with --resume continues a run that was stopped, even by kill -9.
    """
    from ..methods.approx.masters import AUTO, parse_masters, resolve_masters
    from ..runs.plan import exact_instead

    if values["as_json"] and values["as_csv"]:
        raise InputError("an answer is JSON or CSV, not both", remedy="leave --json or --csv out")
    masters = [] if values["masters"] is None else parse_masters(values["masters"])
    several, asked = len(masters) > 1, options.with_device(values)
    if several and values["keep_reordered"] is not None:
        raise InputError("a reordered store is kept of a single run only", text="--keep-reordered",
                         remedy="make it first: emdiam reorder")
    runs, hints = Runs(values, several), list[str]()
    with (runs.shown(lambda results: _answer(results, hints, values, several)), listening(values) as listener,
          opened("approx", values, listener, bool(values["directed"])) as (store, finish)):
        for item in masters:  # an invalid number is refused before the first run
            if item != AUTO and store.n_vertices:
                resolve_masters(item, store.n_vertices)
        for number, count in enumerate(masters or [None]):
            task = options.task_given("approx", asked, runs.checkpoint(number), masters=count)
            result = finish(store, task, listener)
            runs.end(result)
            if not (values["as_json"] or values["as_csv"] or values["weighted"] or values["directed"]):
                hints += hint_lines(exact_instead(store, task, result), result.masters if several else None)
    return 0


def _answer(results: list[dict[str, Any]], hints: list[str], values: dict[str, Any], several: bool) -> None:
    if values["as_csv"]:
        emit(csv_text(COLUMNS, map(row_of, results)).rstrip("\n"))
    elif several:
        answer({"runs": results}, lambda _: "\n".join([runs_text(results), *hints]), values["as_json"])
    else:
        answer(results[0], lambda result: "\n".join([approximation_text(result, values["verbose"]), *hints]),
               values["as_json"])


COLUMNS = ("masters", "estimate", "lower", "upper", "ratio", "rounds", "passes", "bytes_read", "seconds")
# Columns of the text table: name and heading.
_HEADS = {"masters": "masters", "lower": "lower", "upper": "upper", "estimate": "method's estimate", "ratio": "ratio",
          "rounds": "rounds", "passes": "passes", "bytes_read": "bytes read", "seconds": "time"}
# The formula of each method's estimate, from its paper; docs/algorithms defines the symbols.
_FORMULAS = {"clusters": "S + 2 d", "sweep": "the lower bound", "spanning": "twice the height of the tree",
             "fringe": "the upper bound"}
_ALONG_WEIGHTS = {"clusters": "the upper bound", "sweep": "the lower bound"}
_FRINGES_SHOWN = 10


def approximation_text(result: dict[str, Any], verbose: bool = False) -> str:
    """Lines for the result of an approximation, from `Approximation.to_dict()`."""
    witness, stages = result["witness"], seconds_text(result["details"].get("stage_seconds") or {})
    rounded = ROUNDED_REASON if result["details"].get("rounded_to") else ""
    lines = (strong_lines(result, proved_text(result["lower"], result["upper"], rounded)) if result.get("directed") else
             diameter_lines(result))
    if witness is not None:
        lines.append(f"witness: {witness['source']} and {witness['target']} are at least"
                     f" {_length(result, witness['length'])} apart (checked)")
    lines += [*task_lines(result), *_estimate_lines(result), *_cluster_lines(result), *_sweep_lines(result["details"]),
              *seed_lines(result), traversals_line(result), *device_lines(result, verbose), seconds_line(result)]
    lines += [f"stages: {stages}"] if verbose and stages else []
    return "\n".join([*lines, *memory_lines(result, verbose)])


def hint_lines(reads: tuple[float, float] | None, masters: int | None = None) -> list[str]:
    """A line if exact would probably have been cheaper. reads : the result of runs.plan.exact_instead. masters : of
    this run, if there are several runs."""
    if reads is None:
        return []
    run = "this run" if masters is None else f"the run with {format_count(masters, 'master')}"
    return [f"hint: emdiam exact is probably cheaper here: it reads all edges about {reads[0]:,.0f} times,"
            f" {run} read them {reads[1]:,.0f} times"]


def runs_text(results: list[dict[str, Any]]) -> str:
    """A table with one row per run."""
    rows = [[_shown(name, row[name]) for name in _HEADS] for row in map(row_of, results)]
    return table_text(list(_HEADS.values()), rows, left=())


def row_of(result: dict[str, Any]) -> dict[str, Any]:
    """The COLUMNS of a result; None for missing values."""
    figures = {"passes": result["details"].get("counters", {}).get("passes"),
               "seconds": round(result["seconds"]["total"], 6)}
    return {name: result.get(name) for name in COLUMNS} | figures


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name == "bytes_read":
        return format_size(value)
    if name == "seconds":
        return format_fine_seconds(value)
    return f"{value:.4f}" if name == "ratio" else f"{value:,}"


def _estimate_lines(result: dict[str, Any]) -> list[str]:
    lower, upper, known, estimate = (result[name] for name in ("lower", "upper", "known_diameter", "estimate"))
    formula = f"({result['method']}: {(_ALONG_WEIGHTS if _weighs(result) else _FORMULAS)[result['method']]})"
    if estimate is None:
        lines = ["method's estimate: none yet"]
    else:
        far = "" if lower <= estimate <= upper else ", outside the proved bounds"
        lines = [f"method's estimate: {estimate:,} {formula}{far}"]
    if result["ratio"] is not None:
        lines.append(f"ratio: {result['ratio']:.4f} (estimate / {lower if result['exact'] else known:,})")
    if known is not None and not lower <= known <= upper:
        lines.append(f"--known-diameter {known:,} is not the diameter: it is outside the proved bounds")
    return lines


def _weighs(result: dict[str, Any]) -> bool:
    """Whether lengths are sums of weights."""
    return result.get("weighted", False)


def _length(result: dict[str, Any], length: float) -> str:
    """A length as text, with its unit if it has one."""
    return f"{length:,}" if _weighs(result) else format_count(int(length), "edge")


def _cluster_lines(result: dict[str, Any]) -> list[str]:
    masters, condensed = result["masters"], result["condensed"]
    lines = []
    if masters is not None:
        far = result["max_master_distance"]
        lines.append(f"masters (cluster centres): {masters:,}"
                     + ("" if far is None else f"; every vertex is within {_length(result, far)} of its master"))
    if result["rounds"] is not None:
        lines.append(f"{'stages' if _weighs(result) else 'rounds'} of growing clusters: {result['rounds']:,}")
    if condensed is not None:
        gap = result["max_master_gap"]
        parts = [format_count(condensed["n_vertices"], "vertex", "vertices"), format_count(condensed["n_edges"], "edge")
                 + ("" if gap is None else f" of length at most {gap:,}"),
                 "in memory" if condensed["in_memory"] else "on disk"]
        if condensed["levels"] > 1:
            parts.append(f"condensed {condensed['levels']:,} times")
        lines.append(f"condensed graph (cluster graph): {', '.join(parts)}")
    return lines


def _sweep_lines(details: dict[str, Any]) -> list[str]:
    """Lines of sweep, spanning and fringe."""
    heights, fringes = details.get("heights"), details.get("fringes")
    if heights:
        end = " (a BFS tree)" if details["converged"] else ""
        return [f"iterations: {details['iterations']:,}; height of the spanning tree: {heights[0]:,} at first,"
                f" {heights[-1]:,} at the end{end}"]
    if "trees" not in details or "iterations" not in details:
        return []
    lines = [f"iterations: {details['iterations']:,}; BFS trees whose diameter was computed: {details['trees']:,}"]
    if fringes:
        shown = ", ".join(f"{size:,} at distance {distance:,}" for distance, size in fringes[:_FRINGES_SHOWN])
        lines.append(f"vertices in fringes: {shown}" + (", ..." if len(fringes) > _FRINGES_SHOWN else ""))
    return lines
