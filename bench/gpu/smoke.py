"""Part smoke, the first: one kernel, one BFS and one diameter, in less than a minute.

Whatever keeps a machine from running kernels at all shows here, in a sentence; the other parts are started only if
all three are right.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from emdiam.gpu.cupy_device import check_device
from emdiam.gpu.variants.bounds_dal import diameter_by_bounds

from . import catalogue, inputs, twins
from .setting import Row, Setting

SCALE, SIDE = 10, 12
# One that launches for each level, and one whose grid waits for itself in a cooperative launch.
VARIANTS = ("frontier", "persistent")


def run(setting: Setting) -> Iterator[Row]:
    """Rows of `what`, how many results were wrong, and seconds with compiling."""
    tests: tuple[tuple[str, Callable[[Setting], int]], ...] = (
        ("first kernel", _kernel), ("BFS", _bfs), ("diameter", _diameter))
    for what, test in tests:
        yield from setting.cell({"what": what}, partial(_timed, setting, test))


def _timed(setting: Setting, test: Callable[[Setting], int]) -> Row:
    begin = time.perf_counter()
    return {"wrong": test(setting), "seconds": time.perf_counter() - begin}


def _kernel(setting: Setting) -> int:
    check_device(setting.device)
    return 0


def _bfs(setting: Setting) -> int:
    made = inputs.graph_of(setting, "kronecker", inputs.kronecker(setting.xp, SCALE))
    source = int(np.argmax(made.degrees))
    expected = twins.distances(*inputs.host_rows(setting, made.graph), source)
    results = (catalogue.search_on(setting.device, made.graph, name, "")(source) for name in VARIANTS)
    return sum(not catalogue.agrees(setting, found, expected) for found in results)


def _diameter(setting: Setting) -> int:
    made = inputs.graph_of(setting, "grid", inputs.grid(setting.xp, SIDE))
    found, _ = diameter_by_bounds(setting.device, made.graph, 0)
    return int(found != 2 * (SIDE - 1))
