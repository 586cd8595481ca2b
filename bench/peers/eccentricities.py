"""All eccentricities by another library: how long they would take is told by some vertices, before they are begun."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

# Vertices drawn for the pace, and by how many times these must exceed the limit for the rest to be left out.
SAMPLE, HOPELESS = 24, 2.0

Task = Callable[[Any, list[int]], list[int]]


def digest(eccentricities: np.ndarray) -> str:
    """SHA-256 of the eccentricities of all vertices, in their order in the store."""
    return hashlib.sha256(np.ascontiguousarray(eccentricities, "<i8").tobytes()).hexdigest()


def all_eccentricities(
    task: Task, graph: Any, n_vertices: int, seconds: float,
    timed: Callable[[Callable[[], Any]], tuple[Any, dict[str, Any]]],
) -> dict[str, Any]:
    """value (their digest), the timing that `timed` gives with its answer, cpu_seconds of a call, and the expected
    seconds; or a failure, if the pace of some vertices says that all would take much longer than `seconds`."""
    expected = expected_seconds(task, graph, n_vertices)
    if expected > HOPELESS * seconds:
        return {"failure": f"> {seconds:.0f} s", "expected_seconds": expected}
    begin = time.process_time()
    values, timing = timed(lambda: task(graph, list(range(n_vertices))))
    cpu_seconds = (time.process_time() - begin) / timing["n_calls"]
    return {"value": digest(np.array(values)), "expected_seconds": expected, "cpu_seconds": cpu_seconds, **timing}


def expected_seconds(task: Task, graph: Any, n_vertices: int) -> float:
    """Of all vertices, at the pace of some, in processor seconds, which others on the machine do not make more; what a
    call takes whatever it is asked for is not in it."""
    some = np.random.default_rng(0).permutation(n_vertices)[:SAMPLE].tolist()
    if len(some) < SAMPLE:
        return 0.0
    one, all_of_them = _seconds(task, graph, some[:1]), _seconds(task, graph, some)
    return max(0.0, all_of_them - one) / (SAMPLE - 1) * n_vertices


def _seconds(task: Task, graph: Any, vertices: list[int]) -> float:
    begin = time.process_time()
    task(graph, vertices)
    return time.process_time() - begin
