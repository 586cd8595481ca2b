"""`emdiam exact`: the exact diameter of a store.

The answer for people says connectedness first, then the diameter and its proof."""

from __future__ import annotations

from typing import Any

import click

from ..runs.registry import EXACT
from . import options
from .answer_lines import device_lines, forecast_lines, memory_lines, seconds_line, traversals_line
from .checkpoint import Runs, checkpoint
from .listener import listening
from .outcome import EmdiamCommand
from .output import answer
from .phases import bounds_text


@click.command(cls=EmdiamCommand)
@options.STORE
@click.option("--method", type=click.Choice(EXACT), default="pivots", show_default=True, help="Exact method.")
@options.stacked(options.memory, options.arena, options.threads, options.as_json, options.gpu, options.workers)
@click.option("--path", type=options.NEW_FILE, metavar="FILE",
              help="Write the witness path to FILE, one vertex id a line. Paths above 10,000 vertices are"
                   " shown nowhere else.")
@click.option("--certificate", type=options.NEW_FILE, metavar="FILE",
              help="Write the proof to FILE, for `emdiam verify`.")
@click.option("--bounds-only", is_flag=True, help="Bounds from a few BFS, without a proof of the diameter.")
@click.option("--gap", type=options.AT_LEAST_0, metavar="G", help="Bounds that differ by at most G are enough.")
@options.stacked(options.time_limit, checkpoint)
@click.option("--seed", type=options.AT_LEAST_0, metavar="N", help="Seed of the random choices of pivots. [default: 0]")
@click.option("--no-batches", "batches", flag_value=False, default=None, help="pivots without multi-source batches.")
@click.option("--scratch", type=options.SCRATCH, metavar="DIR",
              help="Folder for pivot columns that memory has no room for. [default: $TMPDIR or /var/tmp]")
@click.option("--no-winnow", "winnow", flag_value=False, default=None, help="fdiam without Winnow.")
@click.option("--no-eliminate", "eliminate", flag_value=False, default=None, help="fdiam without Eliminate.")
@click.option("--no-chains", "chains", flag_value=False, default=None, help="fdiam without Chain Processing.")
@click.option("--start", type=click.Choice(["max-degree", "first"]), help="Where fdiam begins. [default: max-degree]")
@click.option("--first", type=click.Choice(["upper", "lower"]),
              help="The end of the bounds that bounding takes first. [default: upper]")
@options.batch
@click.option("-k", "--sources", "k", type=options.AT_LEAST_1, metavar="K",
              help="BFS a component of sweep-k. [default: 16]")
@options.stacked(options.evict_page_cache, options.progress)
def command(**given: Any) -> int:
    """Compute the exact diameter of a store.

    Distances are numbers of edges; a path of that length is given as a witness. All connected
    components count: the diameter of a disconnected graph is infinite, and that of its largest
    component and the largest over all components are given beside it.

    Ctrl-C prints the interval that is proved so far and leaves with exit code 3. sweep-k,
    --bounds-only and --gap may answer with an interval.

    With --checkpoint a run that was stopped, even by kill -9, goes on with the same command and
    --resume; at most the traversal that was under way is repeated.
    """
    from ..runs.run import execute, run_with

    runs = Runs(given)
    run = run_with(given["method"], {**options.of_run(given), "checkpoint": runs.checkpoint(0)})
    with runs.shown(lambda results: answer(results[0], result_text, given["as_json"])), listening(given) as listener:
        runs.end(execute(given["store"], run, listener))
    return 0


_ENDS = 4  # ids shown at either end of a path that is too long for a line
_REASONS = {
    "gap": "an interval: as close as --gap asks for",
    "bounds": "an interval: --bounds-only",
    "sources": "an interval: all that so many sources prove",
}
_REMOVED = ("winnow", "eliminate", "chain", "degree_0")


def result_text(result: dict[str, Any]) -> str:
    """Lines for the result of an exact method, as `Result.to_dict()` gives it (the path may have
    been taken out of the witness)."""
    lines = [*_diameter_lines(result), _bounds_line(result), *_witness_lines(result["witness"])]
    if result.get("certificate") is not None:
        lines.append(f"certificate: in {result['certificate']}; check it with `emdiam verify`")
    return "\n".join([*lines, traversals_line(result), *_method_lines(result), *device_lines(result),
                      seconds_line(result), *memory_lines(result), *forecast_lines(result)])


def _diameter_lines(result: dict[str, Any]) -> list[str]:
    components = result["n_components"]
    unproved = "not proved yet" if _reason(result) is None else "not proved"
    if result["connected"]:
        value = f"diameter: {result['diameter']}" if result["exact"] else f"diameter: {unproved}"
        return ["connected: yes", value]
    largest, largest_over_all = result["diameter_largest_component"], result["diameter_max_component"]
    if largest is None or result["connected"] is None:  # what is proved of the component with the most vertices
        interval = bounds_text(*result["details"]["interval_largest_component"])
        largest = interval if _reason(result) is not None else f"not proved yet, {interval}"
    if result["connected"] is None:
        return ["connected: not known yet", "diameter: not proved yet", f"diameter of the largest component: {largest}"]
    return [f"connected: no, {components:,} components", f"diameter: infinite ({components:,} components)",
            f"diameter of the largest component: {largest}", "diameter largest over all components:"
            f" {unproved if largest_over_all is None else largest_over_all}"]


def _reason(result: dict[str, Any]) -> str | None:
    """Why an answer is an interval, if it is one."""
    enough = result.get("details", {}).get("enough")
    return None if enough is None else _REASONS[enough]


def _bounds_line(result: dict[str, Any]) -> str:
    place = " over all components" if result["connected"] is False else ""
    proof = "proved" if result["exact"] else _reason(result) or "stopped early"
    return f"bounds{place}: {bounds_text(result['lower'], result['upper'])} ({proof})"


def _witness_lines(witness: dict[str, Any] | None) -> list[str]:
    if witness is None:
        return []
    lines = [f"witness: {witness['source']} and {witness['target']} are {witness['length']} edges apart"]
    if witness.get("path_file") is not None:
        lines.append(f"path: in {witness['path_file']}, one vertex a line")
    elif witness["path"] is not None:
        ids = [str(vertex) for vertex in witness["path"]]
        lines.append("path: " + (", ".join(ids) if len(ids) <= 3 * _ENDS else
                                 f"{', '.join(ids[:_ENDS])}, ..., {', '.join(ids[-_ENDS:])} (all with --path FILE"
                                 " or --json)"))
    elif witness["length"] >= options.LONGEST_SHOWN_PATH:
        lines.append(f"path: of {witness['length'] + 1:,} vertices, too long to show;"
                     " write it with --path FILE")
    return lines


def _method_lines(result: dict[str, Any]) -> list[str]:
    """The count that papers give, of a method that makes more BFS than they count; shares of what it has settled."""
    count, shares = (result.get("details", {}).get(name) for name in ("published_count", "removed"))
    lines = [] if count is None else [f"BFS as papers count them: {count:,}, without those of the double sweeps"]
    if shares:
        parts = [f"{name.replace('_', ' ')} {100 * shares[name]:.2f} %" for name in _REMOVED if name in shares]
        lines.append("vertices settled without a BFS: " + ", ".join(parts))
    return lines
