"""Child process: one library, one task, one store; a JSON object on standard output."""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections.abc import Callable
from typing import Any

from ..rounds import Effort, Lap, measure, measure_paired
from .csr import read_csr
from .eccentricities import all_eccentricities

_LONG_SECONDS = 5.0  # a run that takes so long is not repeated


def _timed(task: Callable[[], Any], effort: Effort) -> tuple[Any, dict[str, Any]]:
    """The answer of a task that is run in rounds, and its timing."""
    answers: list[Any] = []

    def lap() -> Lap:
        begin = time.perf_counter()
        answers.append(task())
        seconds = time.perf_counter() - begin
        return Lap(seconds, seconds < _LONG_SECONDS)

    timing = measure_paired({"task": lap}, effort)["task"]
    return answers[-1], timing.to_dict()


def main() -> None:
    """Load the graph, run the task once untimed if it is a BFS, and time it in rounds."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers.child")
    parser.add_argument("library")
    parser.add_argument("task", choices=("bfs", "diameter", "eccentricities"))
    parser.add_argument("store")
    parser.add_argument("--sources", type=json.loads, default=[])
    parser.add_argument("--seconds", type=float, required=True, help="limit of all eccentricities")
    parser.add_argument("--effort", type=json.loads, required=True)
    given = parser.parse_args()
    module = importlib.import_module(f".{given.library}_peer", __package__)
    (load, task), effort = module.TASKS[given.task], Effort(**given.effort)
    begin = time.perf_counter()
    csr = read_csr(given.store)
    n_vertices, graph = csr.shape[0], load(csr)
    del csr
    found: dict[str, object] = {"load_seconds": time.perf_counter() - begin}
    if given.task == "bfs":
        task(graph, given.sources[0])
        found |= measure([lambda s=s: task(graph, s) for s in given.sources], effort).to_dict()
    elif given.task == "eccentricities":
        found |= all_eccentricities(task, graph, n_vertices, given.seconds, lambda asked: _timed(asked, effort))
    else:
        found["value"], timing = _timed(lambda: task(graph), effort)
        found |= timing
    print(json.dumps(found))


main()
