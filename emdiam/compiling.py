"""Compilation of kernels in advance: for container images, for clusters, and for time measurements.

A kernel is compiled for the types of its arguments. So the methods run on small graphs for which different kernels are
called: of small and of large diameter (distances take one, two or four bytes), connected and with many components.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .conversion.convert import ConvertOptions
from .errors import StoppedEarly
from .generators.make import generate
from .progress import Event, Listener, silent
from .runs.registry import METHODS, entry_of
from .runs.task import execute, task_of
from .units import scratch_folder

# Class, vertices and parameters of each graph. Chunks are small, so that blocks can be paged; the first has enough
# arcs for dense levels (traverse/core.py), and the fourth takes batches of sources.
_GRAPHS: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("erdos-renyi", 1 << 12, {"average_degree": 16}), ("erdos-renyi", 1 << 12, {"average_degree": 1.5}),
    ("path", 600, {}), ("erdos-renyi", 5000, {"average_degree": 10}), ("barabasi-albert", 1 << 12, {}),
    ("path", 70_000, {}))
_CHUNK = 1 << 10
# The methods that new users call, and the graphs of _GRAPHS to run them on.
_USUAL, _USUAL_GRAPHS = ("pivots", "clusters"), _GRAPHS[:4]
# Limits of one run, compiling included: a BFS from each vertex of a long path would take hours, and leave little to
# compile.
_SECONDS, _LONG, _SECONDS_LONG = 30.0, 1 << 16, 5.0
_OF_SMALL = ("takafuji", "pennycuff-weninger")  # refuse the long path


@dataclass(frozen=True)
class WarmupReport:
    """The result of `warmup`.

    Attributes
    ----------
    kernels : int
        Kernels that were compiled; 0 if all existed.
    seconds : float
        Wall seconds.
    folder : str, optional
        Where they are kept; None if no folder can be written.
    """

    kernels: int
    seconds: float
    folder: str | None

    def to_dict(self) -> dict[str, Any]:
        """A plain dict for JSON."""
        return asdict(self)


def compile_kernels(everything: bool, progress: Listener | None) -> WarmupReport:
    """See emdiam.warmup."""
    from .jit import all_compiled, cache_folder, compiled_kernels

    begin, before, tell = time.perf_counter(), compiled_kernels(), progress or silent
    n_runs = (sum(2 * len(_methods(vertices)) for _, vertices, _ in _GRAPHS) if everything
              else len(_USUAL_GRAPHS) * len(_USUAL))
    with all_compiled(), tempfile.TemporaryDirectory(prefix="emdiam-", dir=scratch_folder(None)) as folder:
        for number, (store, method, options) in enumerate(_runs(Path(folder), everything)):
            # The events of the runs do not matter: one phase stands for all of them.
            event = Event("compile", number, n_runs, "runs")
            with suppress(StoppedEarly):
                execute(store, task_of(entry_of(method).family, options, method), partial(_tell, tell, event))
        tell(Event("compile", n_runs, n_runs, "runs", finished=True))
    where = cache_folder()
    return WarmupReport(compiled_kernels() - before, time.perf_counter() - begin, None if where is None else str(where))


def _tell(progress: Listener, event: Event, _inside: Event) -> None:
    """Send `event` in place of one from inside a run."""
    progress(event)


def _methods(vertices: int) -> list[str]:
    """All methods that accept a graph with this number of vertices."""
    return [method for method in METHODS if vertices < _LONG or method not in _OF_SMALL]


def _runs(folder: Path, everything: bool) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    """Stores, each with a method and its options; a store is written just before it is returned."""
    from .certificates.run import verify

    for number, (name, vertices, parameters) in enumerate(_GRAPHS if everything else _USUAL_GRAPHS):
        store, certificate = folder / f"{number}.zarr", folder / f"{number}.json"
        generate(name, store, vertices=vertices, parameters=parameters, options=ConvertOptions(chunk_ids=_CHUNK))
        limit = {"time_limit": _SECONDS if vertices < _LONG else _SECONDS_LONG}
        for method in _methods(vertices) if everything else _USUAL:
            yield store, method, {**limit, "certificate": certificate} if method == "pivots" else limit
            if everything:
                yield store, method, {**limit, "arena": 16 * _CHUNK}
        if certificate.exists():
            verify(certificate, store)
