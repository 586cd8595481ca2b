"""python -m bench.memory.least: does the least --memory that is named work? Every command and method on eight graphs.

The least budget is what the refusal of 1 MiB names, or `emdiam plan`, whichever is less. The command runs with exactly
that in a process of its own: it must not be refused, and its peak must not pass the budget. A run that its time limit
ends has kept to its budget until then, and no longer: with --unended what has not come to its end on a larger graph of
the same class runs on one of --vertices. Cells that are in --out already are not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from math import isqrt
from pathlib import Path
from typing import Any

from emdiam.units import format_size

from ..machine import facts
from .cells import (
    IN_RAM,
    OF_SMALL_GRAPHS,
    PLENTY,
    SUBJECTS,
    NoLeast,
    Subject,
    arguments,
    ends_itself,
    named_bytes,
    unproved,
)
from .eight import EIGHT
from .graphs import Files, Shape
from .kept import Kept
from .process import Ended, call

_HERE = Path(__file__).resolve().parents[1]
_NOTHING = "1MiB"
WORKED, STOPPED, REFUSED, ABOVE, FAILED, NONE = "worked", "stopped", "refused", "above", "failed", "none"
_EXIT_REFUSED, _EXIT_STOPPED = 2, 3
# What has no least budget of its own: all in memory, and commands that make no graph of these.
_WITHOUT = ("generate", IN_RAM)
_VERTICES, _PARTS_OF_BIPARTITE, _SMALL = 1 << 20, 6000, 1 << 11
_SIZES = (f"Graphs have {_VERTICES:,} vertices; the complete bipartite one {_PARTS_OF_BIPARTITE:,}; and where a matrix"
          f" of all distances is made, {_SMALL:,}. What the time limit ends there is done on fewer.\n")
_HEAD = ("graph", "commands and methods", "came to their end", "of these on fewer vertices", "were stopped", "refused",
         "above", "highest ratio", "of")


def subjects() -> list[Subject]:
    """What is measured: every command and method with a least budget."""
    return [subject for subject in SUBJECTS
            if subject.command not in _WITHOUT and not any(word in subject.setting for word in _WITHOUT)]


def shape_of(name: str, small: bool, vertices: int = _VERTICES) -> Shape:
    """One of the eight graphs. small : of so few vertices that all pairs of them have room."""
    wanted = vertices
    if small:
        wanted = min(_SMALL, vertices >> 5)
    elif name == "bipartite":  # whose edges are the square
        wanted = min(_PARTS_OF_BIPARTITE, 6 * isqrt(vertices))
    return Shape(f"{name}-{wanted}", f"{name} of {wanted:,} vertices", (name, "--vertices", str(wanted)), small=small)


def on_small(subject: Subject) -> bool:
    """Whether it is for graphs of few vertices."""
    return subject.command == "apsp" or subject.method in OF_SMALL_GRAPHS


def named(subject: Subject, files: Files, seconds: float) -> int:
    """The least budget that is named: by the refusal of a tiny one, or by `emdiam plan`. Raises NoLeast."""
    ended = call(arguments(subject, files, _NOTHING, seconds))
    refused = _named_in(subject, ended)
    if refused is None:
        raise NoLeast(ended.said or f"a budget of {_NOTHING} was not refused")
    if subject.setting or subject.command not in ("exact", "approx", "ecc"):
        return refused
    return min(refused, _planned(str(files.store))[subject.method or "eccentricities"])


@cache
def _planned(store: str) -> dict[str, int]:
    """The least budget that `emdiam plan` names for each method, after a look at the graph."""
    planned = call(["plan", store, "--json", "--quiet", "--memory", PLENTY])
    if planned.code != 0:
        raise NoLeast(planned.said)
    return {method["method"]: int(method["plan"]["minimum_bytes"]) for method in json.loads(planned.out)["methods"]
            if method["plan"] is not None}


def _named_in(subject: Subject, ended: Ended) -> int | None:
    """The budget that a refusal names; of a trade-off the largest of its cells."""
    said = [ended.said] if ended.code == _EXIT_REFUSED else []
    if subject.command == "tradeoff" and ended.out:
        said += [row["reason"] for row in json.loads(ended.out)["rows"] if row["status"] == FAILED]
    return max(filter(None, map(named_bytes, said)), default=None)


def measured(subject: Subject, files: Files, seconds: float, cold: bool) -> dict[str, Any]:
    """A cell. cold : without compiled kernels."""
    cell: dict[str, Any] = {"graph": files.shape.name, "subject": subject.name, "cold": cold}
    none = unproved(subject, files)
    if none:
        return {**cell, "status": NONE, "said": none}
    try:
        least = named(subject, files, seconds)
    except NoLeast as error:
        return {**cell, "status": FAILED, "said": str(error)}
    files.remove_written()  # a trade-off keeps its refused runs
    begin, kernels = time.monotonic(), os.environ.get("NUMBA_CACHE_DIR")
    with tempfile.TemporaryDirectory() as empty:
        if cold:
            os.environ["NUMBA_CACHE_DIR"] = empty
        try:
            ended = call(arguments(subject, files, least, seconds), None if ends_itself(subject) else 8 * seconds)
        finally:
            if cold:
                os.environ.pop("NUMBA_CACHE_DIR") if kernels is None else os.environ.update(NUMBA_CACHE_DIR=kernels)
    cell |= {"least_bytes": least, "peak_bytes": ended.peak_bytes, "ratio": round(ended.peak_bytes / least, 4),
             "exit_code": ended.code, "seconds": round(time.monotonic() - begin, 1), "said": ended.said}
    again = _named_in(subject, ended)
    if again is not None:
        return {**cell, "status": REFUSED, "named_then": again}
    stopped = ended.code in (None, _EXIT_STOPPED)
    status = FAILED if ended.code != 0 and not stopped else ABOVE if ended.peak_bytes > least else (
        STOPPED if stopped else WORKED)
    return {**cell, "status": status}


def markdown(cells: Sequence[dict[str, Any]]) -> str:
    """What became of the commands and methods, a row a graph, and each fault."""
    rows = []
    for name in [*EIGHT, "all"]:
        mine = [cell for cell in cells if name in ("all", cell["graph"].split("-")[0]) and cell["status"] != NONE]
        if mine:
            top = max(mine, key=lambda cell: cell.get("ratio", 0))
            counts = " | ".join(map(str, _counts(mine)))
            rows.append(f"| {name} | {counts} | {top.get('ratio', 0):.2f} | {top['subject']} |")
    lines = ["# Does the least --memory that is named work?\n", _SIZES, f"| {' | '.join(_HEAD)} |",
             "|---|" + "---:|" * (len(_HEAD) - 2) + "---|", *rows, ""]
    lines += [f"- {cell['graph']}, {cell['subject']}: {cell['status']}, {_sizes(cell)}{cell['said']}"
              for cell in faults(cells)]
    return "\n".join(lines)


def _counts(cells: Sequence[dict[str, Any]]) -> list[int]:
    """Pairs of a graph and a command; how many came to their end, only on fewer vertices than are usual, or were only
    stopped; cells that were refused, and above."""
    tried = {(cell["graph"].split("-")[0], cell["subject"]) for cell in cells}
    ended = {(*cell["graph"].split("-"), cell["subject"]) for cell in cells if cell["status"] == WORKED}
    usual = {(name, subject) for name, vertices, subject in ended
             if int(vertices) in (_VERTICES, _SMALL, _PARTS_OF_BIPARTITE)}
    pairs = {(name, subject) for name, _, subject in ended}
    return [len(tried), len(pairs), len(pairs - usual), len(tried - pairs),
            *(sum(cell["status"] == status for cell in cells) for status in (REFUSED, ABOVE))]


def faults(cells: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cells that were refused, passed their budget, or failed."""
    return [cell for cell in cells if cell["status"] in (REFUSED, ABOVE, FAILED)]


def _sizes(cell: dict[str, Any]) -> str:
    if "least_bytes" not in cell:
        return ""
    return f"{format_size(cell['peak_bytes'])} of {format_size(cell['least_bytes'])}. "


def _worked(cells: Sequence[dict[str, Any]], name: str) -> set[str]:
    """What has come to its end on a graph of a class, of whatever size."""
    return {cell["subject"] for cell in cells
            if cell["graph"].split("-")[0] == name and cell["status"] == WORKED}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; 1 if a least budget does not work."""
    given = _parser().parse_args(arguments)
    kept = Kept.begun(given.out, machine=facts(), what=__doc__)
    cells = kept.cells
    done = {(cell["graph"], cell["subject"], cell["cold"]) for cell in cells}
    for name in given.graph or EIGHT:
        ended = _worked(cells, name) if given.unended else set()
        for subject in subjects():
            if given.only and subject.name not in given.only and subject.command not in given.only:
                continue
            if subject.name in ended:
                continue
            small = on_small(subject)
            files = Files(shape_of(name, small, given.vertices), given.work, round(2 * given.seconds))
            if (files.shape.name, subject.name, given.cold) in done:
                continue
            files.make("4GiB")
            cell = measured(subject, files, given.seconds, given.cold)
            files.remove_written()
            kept.add(cell)
            print(f"{cell['graph']}, {cell['subject']}: {cell['status']} {cell.get('ratio', '')} {_sizes(cell)}"
                  f"{cell['said']}", file=sys.stderr, flush=True)
    kept.show(markdown(cells))
    return 1 if faults(cells) else 0


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m bench.memory.least", description=__doc__)
    made.add_argument("--out", type=Path, metavar="FILE.json", required=True, help="where the figures are kept")
    made.add_argument("--work", type=Path, metavar="DIR", default=_HERE / ".cache" / "least",
                      help="folder for graphs, and for what commands write (default: bench/.cache/least)")
    made.add_argument("--graph", action="append", choices=tuple(EIGHT), default=[], help="this alone (again for more)")
    made.add_argument("--only", action="append", metavar="NAME", default=[],
                      help='this command alone, or method: "exact", "exact pivots" (again for more)')
    made.add_argument("--vertices", type=int, metavar="N", default=_VERTICES,
                      help=f"of all but the bipartite graph, and of what needs few (default: {_VERTICES})")
    made.add_argument("--seconds", type=float, metavar="S", default=10.0,
                      help="time limit of methods that have one (default: 10)")
    made.add_argument("--unended", action="store_true", help="leave out what has come to its end on such a graph")
    made.add_argument("--cold", action="store_true", help="let each run compile its kernels")
    return made


if __name__ == "__main__":
    raise SystemExit(main())
