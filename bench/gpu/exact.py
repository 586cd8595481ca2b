"""Part exact: seconds of exact methods on the device, graph resident, against the CPU engine on the same host.

Seconds are those of the method, of the second of two runs on the same engine (the first compiles and loads what it
needs); putting the graph on the device is `upload_seconds`. CPU: all threads of this process. `wrong` counts the
figures in which the two results differ: bounds, proof, components. What a method does next may depend on what a
traversal costs there, so the traversals of each are given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import product
from typing import Any

from . import inputs
from .host_engine import HostGraph, memory_engine, n_threads, need_engine
from .lazy import Lazy
from .setting import Row, Setting, TooSlow

# The usual method is timed on all graphs before the others are, for which time may be short.
TURNS = (("pivots",), ("fdiam", "bounding"))
METHODS = tuple(method for turn in TURNS for method in turn)
FIGURES = ("lower", "upper", "exact", "n_components", "diameter_largest_component")


class Limit:
    """A listener that raises TooSlow when the time of a run is over."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._end = seconds, float("inf")

    def restart(self) -> None:
        """Count the seconds from now."""
        self._end = time.monotonic() + self._seconds

    def __call__(self, event: Any) -> None:
        """See progress.Listener."""
        if time.monotonic() > self._end:
            raise TooSlow(f"stopped in {event.phase}; limit {self._seconds:g} s")


class Case:
    """One graph: its engines, and what they found. stack : what closes them."""

    def __init__(self, setting: Setting, graph: HostGraph, stack: ExitStack) -> None:
        from emdiam.gpu.engine import engine_on_device
        from emdiam.gpu.setting import OnDevice
        from emdiam.gpu.vram import plan_vram
        from emdiam.runs.registry import entry_of

        self.setting, self.graph = setting, graph
        self.limit = Limit(setting.sizes.exact_seconds)
        self._cpu = stack.enter_context(memory_engine(graph, setting.sizes.block_items))
        on_device = OnDevice(setting.device)
        plan = plan_vram(self._cpu.store, on_device, entry_of("pivots").definition().device)
        self._gpu = stack.enter_context(engine_on_device(self._cpu, on_device, plan))
        for engine in (self._cpu, self._gpu):
            engine.reporter.listener = self.limit

    def measure(self, method: str) -> dict[str, Any]:
        """Both engines by one method."""
        device, gpu = self._run(self._gpu, method)
        host, cpu = self._run(self._cpu, method)
        wrong = [name for name in FIGURES if device[name] != host[name]]
        return {**self.graph.key, "upload_seconds": self._gpu.upload_seconds, "gpu_seconds": gpu, "cpu_seconds": cpu,
                "cpu_threads": n_threads(), "speedup": cpu / gpu, "diameter": host["upper"],
                "traversals": _whole(host), "gpu_traversals": _whole(device),
                "partial": host["traversals"]["partial"], "edges_scanned": host["edges_scanned"],
                "gpu_stages": device["details"]["stage_seconds"], "wrong": len(wrong), "differ": ", ".join(wrong)}

    def _run(self, engine: Any, method: str) -> tuple[dict[str, Any], float]:
        """The result as a plain dict, and seconds. Raises TooSlow."""
        solve, seconds, found = method_of(method), 0.0, dict[str, Any]()
        for _ in range(2):
            self.limit.restart()
            begin = time.perf_counter()
            found = solve(engine).to_dict()
            seconds = time.perf_counter() - begin
        return found, seconds


def _whole(found: dict[str, Any]) -> int:
    """Traversals of a result that were not partial: BFS, and batches."""
    return int(found["traversals"]["bfs"] + found["traversals"]["multi_source"])


def method_of(name: str) -> Callable[[Any], Any]:
    """The function of an exact method."""
    from emdiam.methods.exact.bounding import bounding
    from emdiam.methods.exact.fdiam import fdiam
    from emdiam.methods.exact.pivots import pivots

    methods: dict[str, Callable[..., Any]] = {"pivots": pivots, "fdiam": fdiam, "bounding": bounding}
    return methods[name]


def run(setting: Setting, names: Sequence[str] = ()) -> Iterator[Row]:
    """Rows by class and method."""
    for methods, name in product(TURNS, names or tuple(setting.sizes.exact)):
        with ExitStack() as stack:
            lazy = Lazy(partial(_case, setting, name, stack))
            for method in methods:
                yield from setting.cell({"class": name, "method": method}, partial(_measure, lazy, method))
        del lazy  # and with it the graph on the device
        setting.forget()


def _case(setting: Setting, name: str, stack: ExitStack) -> Case:
    need_engine()
    return Case(setting, inputs.host_graph(setting, name, setting.sizes.exact[name]), stack)


def _measure(lazy: Lazy[Case], method: str) -> dict[str, Any]:
    return lazy.get().measure(method)
