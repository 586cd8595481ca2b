"""`emdiam approx`: bounds on the diameter that are proved, and an estimate.

The answer for people says what is proved, then the estimate of the paper."""

from __future__ import annotations

from typing import Any

import click

from ..errors import InputError
from ..runs.registry import APPROXIMATIONS
from ..tables import csv_text, table_text
from ..units import format_seconds, format_size
from . import options
from .answer_lines import device_lines, forecast_lines, memory_lines, seconds_line, seconds_text, traversals_line
from .checkpoint import Runs, checkpoint
from .listener import listening
from .outcome import EmdiamCommand
from .output import answer, emit
from .phases import bounds_text


@click.command(cls=EmdiamCommand)
@options.STORE
@click.option("--method", type=click.Choice(APPROXIMATIONS), default="clusters", show_default=True,
              help="Approximation.")
@click.option("--masters", metavar="M",
              help="Expected number of masters of clusters: a count, a share of the vertices like 10%, or auto."
                   " Several with commas, as 2^10,2^14,10%, are a run each. [default: auto]")
@click.option("--seed", type=options.AT_LEAST_0, metavar="N", help="Seed of all random choices. [default: 0]")
@click.option("--euler", flag_value=True, default=None,
              help="Masters of clusters along an Euler tour too, so that none is far from its vertices.")
@options.levels
@click.option("--iterations", type=options.AT_LEAST_0, metavar="N",
              help="Iterations of sweep, fringe or spanning, at most. [default: the method's]")
@click.option("--known-diameter", type=options.AT_LEAST_0, metavar="D",
              help="Largest diameter over all components, for the ratio estimate / D.")
@options.stacked(options.memory, options.arena, options.threads, options.gpu, options.workers, options.spill)
@options.stacked(options.time_limit, checkpoint, options.as_json)
@click.option("--csv", "as_csv", is_flag=True, help="Print a table as CSV, one row a run.")
@options.stacked(options.evict_page_cache, options.progress)
def command(**given: Any) -> int:
    """Prove bounds on the diameter of a store, and estimate it.

    The bounds are proved: a pair of vertices is at least as far apart as the lower one says, and no pair farther than
    the upper one. The estimate is that of the paper's formula for the method; it may lie outside of them. All connected
    components count: both are about the largest distance over all of them.

    With several --masters, there is a run for each of them and a table at the end; as JSON
    {"runs": [...]}. Ctrl-C prints what is proved so far and leaves with exit code 3.

    With --checkpoint a run that was stopped, even by kill -9, goes on with the same command and --resume.
    """
    from ..methods.approx.masters import AUTO, parse_masters, resolve_masters
    from ..runs.run import execute, run_with
    from ..store.store import open_store

    if given["as_json"] and given["as_csv"]:
        raise InputError("an answer is JSON or CSV, not both", remedy="leave --json or --csv out")
    masters = [] if given["masters"] is None else parse_masters(given["masters"])
    several, asked = len(masters) > 1, options.of_run(given)
    runs = Runs(given, several)
    with open_store(given["store"], evict_page_cache=given["evict_page_cache"]) as store, runs.shown(
            lambda results: _answer(results, given, several)):
        for item in masters:  # a number that cannot be is refused before the first run
            if item != AUTO and store.n_vertices:
                resolve_masters(item, store.n_vertices)
        for number, count in enumerate(masters or [None]):
            run = run_with(given["method"], {**asked, "masters": count, "checkpoint": runs.checkpoint(number)})
            with listening(given) as listener:
                runs.end(execute(store, run, listener))
    return 0


def _answer(results: list[dict[str, Any]], given: dict[str, Any], several: bool) -> None:
    if given["as_csv"]:
        emit(csv_text(COLUMNS, map(row_of, results)).rstrip("\n"))
    elif several:
        answer({"runs": results}, lambda _: runs_text(results), given["as_json"])
    else:
        answer(results[0], approximation_text, given["as_json"])


COLUMNS = ("masters", "estimate", "lower", "upper", "ratio", "rounds", "passes", "bytes_read", "seconds")
# Columns of the table for people: name and head.
_HEADS = {"masters": "masters", "lower": "lower", "upper": "upper", "estimate": "paper's estimate", "ratio": "ratio",
          "rounds": "rounds", "passes": "passes", "bytes_read": "bytes read", "seconds": "seconds"}
# The formula of the paper by which a method estimates; docs/algorithms say what is in it.
_FORMULAS = {"clusters": "S + 2 d", "sweep": "the lower bound", "spanning": "twice the height of the tree",
             "fringe": "the upper bound"}
_FRINGES_SHOWN = 10


def approximation_text(result: dict[str, Any]) -> str:
    """Lines for the result of an approximation, as `Approximation.to_dict()` gives it."""
    witness, stages = result["witness"], result["details"].get("stage_seconds")
    lines = [*_bound_lines(result), *_cluster_lines(result), *_sweep_lines(result["details"])]
    if witness is not None:
        lines.append(f"lower bound: {witness['source']} and {witness['target']} are at least"
                     f" {witness['length']:,} edges apart (checked)")
    lines += [traversals_line(result), *device_lines(result), seconds_line(result)]
    lines += [f"stages: {seconds_text(stages)}"] if stages else []
    return "\n".join([*lines, *memory_lines(result), *forecast_lines(result)])


def runs_text(results: list[dict[str, Any]]) -> str:
    """A table for several runs, one row each."""
    rows = [[_shown(name, row[name]) for name in _HEADS] for row in map(row_of, results)]
    return table_text(list(_HEADS.values()), rows, left=())


def row_of(result: dict[str, Any]) -> dict[str, Any]:
    """The COLUMNS of a result; None where it has none."""
    figures = {"passes": result["details"]["counters"]["passes"], "seconds": round(result["seconds"]["total"], 6)}
    return {name: result.get(name) for name in COLUMNS} | figures


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name == "bytes_read":
        return format_size(value)
    if name == "seconds":
        return format_seconds(value)
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


def _sweep_lines(details: dict[str, Any]) -> list[str]:
    """Of sweep, spanning and fringe."""
    heights, fringes = details.get("heights"), details.get("fringes")
    if heights:
        end = ", which are distances" if details["converged"] else ""
        return [f"iterations: {details['iterations']:,}; height of the spanning tree: {heights[0]:,}, "
                f"in the end {heights[-1]:,}{end}"]
    if "trees" not in details or "iterations" not in details:
        return []
    lines = [f"iterations: {details['iterations']:,}; diameters of BFS trees: {details['trees']:,}"]
    if fringes:
        shown = ", ".join(f"{size:,} at distance {distance:,}" for distance, size in fringes[:_FRINGES_SHOWN])
        lines.append(f"fringes: {shown}" + (", ..." if len(fringes) > _FRINGES_SHOWN else ""))
    return lines
