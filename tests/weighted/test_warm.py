"""After the warm-up no kernel of weighted/ is compiled for anything that a run does."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from pathlib import Path
import numpy as np
from emdiam.sorting.scratch import Scratch
from emdiam.weighted.warm import exercise_weighted
from emdiam.weighted import collect, components, condense, heights, labels, sssp
from tests.helpers import weighted_naive as naive

def kernels():
    names = sorted(name for name in sys.modules if name.startswith(("emdiam.weighted", "emdiam.methods.exact.boxes")))
    found = {(name, key): value for name in names for key, value in vars(sys.modules[name]).items()
             if hasattr(value, "signatures")}
    return {key: sorted(map(str, value.signatures)) for key, value in found.items()}

exercise_weighted()
before = kernels()
graph = naive.large(300, 900, 1)
scratch = Scratch(Path(sys.argv[1]), Path(sys.argv[1]) / "x")
for arcs in (naive.in_ram(graph), naive.on_disk(graph, scratch, 16)):
    for dtype in (None, np.uint64):
        options = labels.PathOptions(arena_bytes=8 * 16 * 9, threads=2, dtype=dtype)
        with sssp.ShortestPaths(arcs, options) as paths:
            paths.distances([4])
            owner, distance = paths.grow(np.arange(300))
        for tall in (3, (1 << 32) - 2):
            heights.height_diameter(arcs, np.full(300, tall, np.uint32), options=options)
    collector = collect.ArcCollector(condense.condensed_packing(arcs, distance, 300), 64 << 20, scratch)
    condense.condense(arcs, owner, distance, collector, 0)
assert sum(map(len, before.values())) > 25
assert kernels() == before, [key for key, value in kernels().items() if value != before.get(key)]
"""


def test_the_warm_up_covers_every_kernel(tmp_path) -> None:
    done = subprocess.run([sys.executable, "-c", CODE, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
