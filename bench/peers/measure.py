"""One program or library on one store: the seconds to solve that it tells, and the whole command that it takes."""

from __future__ import annotations

import importlib.util
import json
import statistics
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from ..commands import Finished, run_command
from ..papers.solving import timed
from ..programs import DIAMETERS, Programs
from ..rounds import Effort
from .run import ROOT, child_command, installed

# A run that takes so long is not repeated.
_LONG, _RUNS = 3.0, 3
_EFFORT = Effort(rounds=3, attempts=3, quiet_cores=1e9, least_seconds=0.05)
# What is not measured wherever it is installed, and why.
NOT_MEASURED = {
    "webgraph": "the Python bindings read graphs in BVGraph's format and write none; they have a BFS that gives a tuple"
                " of Python for each vertex, and no diameter",
    "lagraph": "the wheel has the C libraries of LAGraph and GraphBLAS (2022) and no function for Python",
}


def own(engine: Any, store: Path, threads: int, limit: float, most: int = _RUNS) -> dict[str, Any]:
    """emdiam: solve in this process with the graph loaded (median), and the command `emdiam exact`, the median of up to
    `most`; largest : the diameter of the component with the most vertices; stopped : why the command has no answer, as
    where the limit ended it."""
    solved = timed(engine, "pivots", limit)
    done = _repeated([sys.executable, "-m", "emdiam", "exact", str(store), "--threads", str(threads), "--json",
                      "--quiet"], limit, most=most)
    largest, diameter = solved["diameters"]
    found = {"diameter": diameter, "largest": largest, "solve": solved["median"], "traversals": solved["traversals"]}
    if done.failure is not None:
        return {**found, "stopped": done.failure}
    told = json.loads(done.out)
    return {**found, "diameter": told["diameter_max_component"], "in_command": told["seconds"], **_costs(done)}


def _repeated(words: list[str], limit: float, folder: Path | None = None, threads: int | None = None,
              most: int = _RUNS) -> Finished:
    """The run of median length of up to `most`; one if it is long or fails."""
    environment = None if threads is None else {"OMP_NUM_THREADS": str(threads)}
    runs: list[Finished] = []
    while len(runs) < most:
        runs.append(run_command(words, limit, environment, folder))
        if runs[-1].failure is not None:
            return runs[-1]
        if runs[-1].seconds > _LONG:
            break
    return sorted(runs, key=lambda one: one.seconds)[len(runs) // 2]


def _costs(done: Finished) -> dict[str, Any]:
    return {"seconds": done.seconds, "cpu_seconds": done.cpu_seconds, "peak_bytes": done.peak_bytes}


def library(name: str, task: str, store: Path, threads: int, limit: float,
            sources: list[int] | None = None) -> dict[str, Any]:
    """A library of Python in a child: diameter (for that task), solve, and the whole command with loading."""
    if not installed(name):
        return {"failure": "not installed", "again": True}
    words = child_command(name, task, store, limit, _EFFORT, sources or [])
    done = run_command(words, limit, {"OMP_NUM_THREADS": str(threads)}, ROOT)
    if done.failure is not None:
        return {"failure": done.failure, "seconds": done.seconds, "peak_bytes": done.peak_bytes}
    told = json.loads(done.out.splitlines()[-1])
    # Its rounds repeat the task: the command would have done it once.
    return {"diameter": told.get("value"), "solve": told["median"], **_costs(done),
            "seconds": max(0.0, done.seconds - (told["n_calls"] - 1) * told["median"])}


def program(programs: Programs, name: str, store: Path, threads: int, limit: float,
            most: int = _RUNS) -> dict[str, Any]:
    """One of DIAMETERS: the medians of up to `most` runs. The files that it reads are made before and not timed. Its
    answer is under `largest` if it is that of one component."""
    runs: list[dict[str, Any]] = []
    while len(runs) < most:
        runs.append(programs.diameter(DIAMETERS[name], store, threads, limit))
        if "failure" in runs[-1]:
            return runs[-1]
        if runs[-1]["seconds"] > _LONG:
            break
    middle = sorted(runs, key=lambda one: one["solve"])[len(runs) // 2]
    answer = "largest" if DIAMETERS[name].of_largest else "diameter"
    return {**{key: value for key, value in middle.items() if key not in ("bfs", "diameter")},
            answer: middle["diameter"], "traversals": middle["bfs"],
            "seconds": statistics.median(run["seconds"] for run in runs)}


def contradictions(found: dict[str, dict[str, Any]], known: tuple[int | None, ...] = (None, None)) -> str:
    """What answers contradict each other; "" for none. found : by tool; `diameter` over all components, `largest` of
    that with the most vertices. known : the same of both, `largest` first."""
    said = []
    for name, expected in (("largest", known[0]), ("diameter", known[1])):
        answers = {tool: one[name] for tool, one in found.items() if one.get(name) is not None}
        if len({*answers.values()} | ({expected} - {None})) > 1:
            said.append(f"{name} {answers}, known {expected}")
    return "; ".join(said)


def absent(name: str) -> tuple[str, str]:
    """Version, or that it is not installed, and why it is not measured."""
    found = metadata.version(name) if importlib.util.find_spec(name) is not None else "not installed"
    return found, NOT_MEASURED[name]
