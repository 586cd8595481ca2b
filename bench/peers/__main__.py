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

_LONG_SECONDS = 5.0  # a run that takes so long is not repeated


def _lap(answers: list[int], task: Callable[[Any], int], graph: Any) -> Lap:
    """One timed run; its answer goes to the answers."""
    begin = time.perf_counter()
    answers.append(task(graph))
    seconds = time.perf_counter() - begin
    return Lap(seconds, seconds < _LONG_SECONDS)


def main() -> None:
    """Load the graph, run the task once untimed if it is a BFS, and time it in rounds."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers")
    parser.add_argument("library")
    parser.add_argument("task", choices=("bfs", "diameter"))
    parser.add_argument("store")
    parser.add_argument("--sources", type=json.loads, default=[])
    parser.add_argument("--effort", type=json.loads, required=True)
    given = parser.parse_args()
    module = importlib.import_module(f".{given.library}_peer", __package__)
    (load, task), effort = module.TASKS[given.task], Effort(**given.effort)
    begin = time.perf_counter()
    graph = load(read_csr(given.store))
    found: dict[str, object] = {"load_seconds": time.perf_counter() - begin}
    if given.task == "bfs":
        task(graph, given.sources[0])
        timing = measure([lambda s=s: task(graph, s) for s in given.sources], effort)
    else:
        answers: list[int] = []
        timing = measure_paired({"diameter": lambda: _lap(answers, task, graph)}, effort)["diameter"]
        found["value"] = answers[-1]
    print(json.dumps({**found, **timing.to_dict()}))


main()
