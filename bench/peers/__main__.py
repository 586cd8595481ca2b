"""Child process: one library, one task, one store; a JSON object on standard output."""

from __future__ import annotations

import argparse
import importlib
import json
import time

from ..rounds import Effort, measure
from .csr import largest_component, read_csr


def main() -> None:
    """Load the graph, run the task once untimed if it is a BFS, and time it."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers")
    parser.add_argument("library")
    parser.add_argument("task", choices=("bfs", "diameter"))
    parser.add_argument("store")
    parser.add_argument("--sources", type=json.loads, default=[])
    parser.add_argument("--effort", type=json.loads, required=True)
    given = parser.parse_args()
    module = importlib.import_module(f".{given.library}_peer", __package__)
    task, effort = module.TASKS[given.task], Effort(**given.effort)
    begin = time.perf_counter()
    csr = read_csr(given.store)
    graph = module.load(csr if given.task == "bfs" else largest_component(csr))
    found: dict[str, object] = {"load_seconds": time.perf_counter() - begin}
    if given.task == "bfs":
        task(graph, given.sources[0])
        timing = measure([lambda s=s: task(graph, s) for s in given.sources], effort)
    else:
        answers: list[int] = []
        timing = measure([lambda: answers.append(task(graph))], Effort(1, 1, effort.quiet_cores, 0.0))
        found["value"] = answers[-1]
    print(json.dumps({**found, **timing.to_dict()}))


main()
