"""`emdiam exact`: the exact diameter of a store.

The text answer shows the diameter first, then its proof, then the cost."""

from __future__ import annotations

from typing import Any

import click

from ..tables import table_text
from ..units import format_count
from . import options
from .answer_lines import (
    MOST_IDS,
    ROUNDED_REASON,
    certificate_lines,
    device_lines,
    diameter_lines,
    memory_lines,
    proved_text,
    seconds_line,
    seed_lines,
    strong_lines,
    task_lines,
    traversals_line,
    vertices_text,
)
from .checkpoint import running
from .outcome import EmdiamCommand


@click.command(cls=EmdiamCommand)
@options.GRAPH
@options.of("exact")
def command(**values: Any) -> int:
    """Compute the exact diameter of a graph.

    Distances are numbers of edges, and the answer has a shortest path of that length. The diameter of a disconnected
    graph is infinite; then the largest diameter of any component, and that of the largest component, are given too.
    With --directed it is infinite unless the graph is strongly connected; the largest finite distance from a vertex to
    one that it reaches is given in any case.

    Ctrl-C prints the bounds proved so far and leaves with exit code 3. --bounds-only, --gap and sweep-k may answer with
    bounds, too.

    With --checkpoint the same command with --resume continues a run that was stopped, even by kill -9; at most one
    traversal is repeated.
    """
    with running("exact", values, result_text) as (solve, end):
        end(solve())
    return 0


# Why the answer of a complete run is bounds.
_REASONS = {"gap": "--gap asks for no more", "bounds": "--bounds-only asks for no more",
            "sources": "-k asks for no more BFS"}
# How F-Diam settles vertices without a BFS: name in the result, and in the text.
_REMOVED = {"winnow": "winnow", "eliminate": "eliminate", "chain": "chain", "degree_0": "isolated"}


def result_text(result: dict[str, Any], verbose: bool = False) -> str:
    """Lines for the result of an exact method, from `to_dict()` of a Result or a DirectedResult (its witness may lack
    the path)."""
    enough, rounded = (result.get("details", {}).get(name) for name in ("enough", "rounded_to"))
    reason, along_arcs = "stopped early" if enough is None else _REASONS[enough], result.get("directed", False)
    lines = (strong_lines(result, proved_text(result["lower"], result["upper"], ROUNDED_REASON if rounded else reason))
             if along_arcs else [*diameter_lines(result, reason), *_component_lines(result)])
    lines += _witness_lines(result["witness"], result.get("weighted", False), "at least " if rounded else "")
    return "\n".join([*lines, *task_lines(result), *certificate_lines(result), traversals_line(result),
                      *_method_lines(result), *device_lines(result, verbose),
                      *(seed_lines(result) if verbose and not along_arcs else ()), seconds_line(result),
                      *memory_lines(result, verbose)])


def _component_lines(result: dict[str, Any]) -> list[str]:
    """The list of --components."""
    rows = result.get("details", {}).get("components")
    if not rows:
        return []
    others = result["n_components"] - len(rows)
    table = table_text(("component of", "vertices", "diameter"), [
        (str(row["vertex"]), f"{row['vertices']:,}", proved_text(row["lower"], row["upper"])) for row in rows],
        left=(0, 2))
    return [table, *([f"and {format_count(others, 'more component')}"] if others else [])]


def _witness_lines(witness: dict[str, Any] | None, weighted: bool = False, least: str = "") -> list[str]:
    """The pair and its path. least : "at least " if its length is a bound."""
    if witness is None:
        return []
    length = f"{least}{witness['length']:,}" if weighted else format_count(witness["length"], "edge")
    lines = [f"witness: {witness['source']} and {witness['target']} are {length} apart"]
    if witness.get("path_file") is not None:
        lines.append(f"path: in {witness['path_file']}, one vertex a line")
    elif witness["path"] is not None:
        more = " (all with --path FILE or --json)" if len(witness["path"]) > MOST_IDS else ""
        lines.append(f"path: {vertices_text(witness['path'])}{more}")
    elif weighted or witness["length"] >= options.LONGEST_SHOWN_PATH:
        number = "" if weighted else f"of {witness['length'] + 1:,} vertices, "
        lines.append(f"path: {number}too long to show; write it with --path FILE")
    return lines


def _method_lines(result: dict[str, Any]) -> list[str]:
    """The number of BFS as papers count them, if the method does more, and the shares of vertices settled without
    BFS."""
    count, shares = (result.get("details", {}).get(name) for name in ("published_count", "removed"))
    lines = [] if count is None else [f"BFS as papers count them: {count:,} (sweeps left out, small components not)"]
    parts = [f"{word} {100 * share:.2f} %" for name, word in _REMOVED.items() if (share := (shares or {}).get(name))]
    if parts:
        lines.append("vertices settled without a BFS: " + ", ".join(parts))
    return lines
