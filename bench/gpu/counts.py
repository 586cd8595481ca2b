"""python -m bench.gpu.counts: launches, round trips and bytes between host and device of real runs, without a GPU.

The code that a GPU would run, over the machine of fibres of the tests (tests/simt) under a device that counts
(counting.py). What the host does depends on the graph and on counts that come back, hardly on how many multiprocessors
there are, so the counts are those of a GPU; seconds are not. A round trip is a call in which the host waits for the
device: a copy to the host, a copy from memory of the host that is not locked, or a plain wait. Uploading the graph is
not counted, and neither are buffers that are made once.

Allowed bytes (of `exact`): 1 % of the rows on the device (4 bytes a vertex, 4 an arc) and 64 KiB a traversal.

With --requests, what kernels ask of the device's memory (tests/simt/traffic.cpp): requests are those of warps, and
bytes moved those of the sectors of 32 bytes that they touch, which caches may have. One after another: loads and atomic
operations of the warp that makes the most, from barrier to barrier; of these a GPU has several on their way where they
do not depend on each other. At one place: the most atomic operations of a launch in one sector. They depend on the
number of multiprocessors.

Some steps of `exact` are chosen by seconds, here those of the machine of fibres. With --steady, by a clock that counts
levels and how often it is asked, at what a level and a launch with its copy take on a GPU: two trees are compared by
the same choices.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from emdiam.gpu.device import Device
from emdiam.gpu.engine import GpuEngine, engine_on_device
from emdiam.gpu.setting import OnDevice
from emdiam.gpu.vram import plan_vram
from emdiam.runs.registry import entry_of
from emdiam.store.array_reader import read_slice
from emdiam.store.store import open_store

from . import inputs
from .counting import CountingDevice, Counts
from .exact import method_of
from .host_engine import HostGraph, memory_engine
from .report_cells import Table, figure, table_text

USUAL = ("kronecker:18", "grid:512")
PATHS = ("bfs", "fold", "batch", "columns", "spread", "exact")
# Only where it is asked for, since it is not for graphs of many levels.
WIDE = "wide"
BATCH, FEW, MANY, SPREAD_LEVELS = 64, 8, 2048, 4
SHARE, A_TRAVERSAL = 0.01, 64 << 10
OFFSET = 4
# Bytes of a sector of the device's memory.
SECTOR = 32
# Seconds of a level, and between two looks at a steady clock.
LEVEL_SECONDS, STEP_SECONDS = 4e-6, 2e-5


def graph_named(text: str) -> HostGraph:
    """The graph that CLASS:SIZE (a class of inputs.SIZED) or the path of a store names."""
    name, _, size = text.partition(":")
    if name in inputs.SIZED and size.isdecimal():
        offsets, neighbours = inputs.rows_of(np, *inputs.SIZED[name](np, int(size)))
        return HostGraph(text, offsets.astype(np.int64), neighbours)
    with open_store(Path(text)) as store:
        offsets, neighbours = (read_slice(array, 0, array.length) for array in (store.indptr, store.indices))
        return HostGraph(Path(text).stem, offsets.astype(np.int64), neighbours.astype(np.uint32))


@contextmanager
def counted_engine(graph: HostGraph, device: Device,
                   method: str = "pivots") -> Iterator[tuple[GpuEngine, CountingDevice]]:
    """A GpuEngine for the method over the graph, resident on `device`, and what counts from here on."""
    counting: Any = CountingDevice(device)
    with memory_engine(graph) as cpu:
        setting = OnDevice(counting)
        plan = plan_vram(cpu.store, setting, entry_of(method).definition().device)
        with engine_on_device(cpu, setting, plan) as engine:
            counting.counts = Counts()
            yield engine, counting


def _bfs(engine: GpuEngine, hub: int) -> int:
    engine.bfs(hub)
    return 1


def _fold(engine: GpuEngine, hub: int) -> int:
    """A BFS whose distances are folded into bounds, as pivots do with each."""
    bounds, column = engine.new_bounds(engine.facts.n_vertices - 1), engine.new_column(engine.facts.n_vertices - 1)
    run = engine.bfs(hub, into=column)
    bounds.fold(hub, column, run.levels, run.levels)
    return 1


def _sources(engine: GpuEngine, count: int) -> np.ndarray:
    return np.random.default_rng(inputs.SEED).choice(engine.facts.n_vertices, count, replace=False)


def _batch(engine: GpuEngine, hub: int) -> int:
    engine.eccentricities(_sources(engine, BATCH))
    return 1


def _columns(engine: GpuEngine, hub: int) -> int:
    """A batch that writes all its distances."""
    columns = [engine.new_column(engine.facts.n_vertices - 1) for _ in range(FEW)]
    engine.eccentricities(_sources(engine, FEW), columns=columns)
    return 1


def _wide(engine: GpuEngine, hub: int) -> int:
    """A wide batch."""
    engine.wide_eccentricities(_sources(engine, min(MANY, engine.facts.n_vertices)), MANY)
    return 1


def _spread(engine: GpuEngine, hub: int) -> int:
    bound = engine.new_column(engine.facts.n_vertices - 1)
    seeds = _sources(engine, FEW)
    engine.spread(seeds, np.zeros(FEW, np.int64), SPREAD_LEVELS, bound)
    engine.core.counters.add(levels=SPREAD_LEVELS)
    return 1


def count_method(graph: HostGraph, method: str) -> Counts:
    """What a whole exact method asks of a device that holds the graph, over the machine of fibres."""
    from tests.simt.devices import open_device  # a development tool: the machine of fibres comes with the tests

    device = open_device("shim-0", total=1 << 32, step_limit=1 << 40, resident=2048)
    with counted_engine(graph, device, method) as (engine, counting):
        method_of(method)(engine)
        return counting.counts.copy()


def _exact(engine: GpuEngine, hub: int) -> int:
    done = method_of("pivots")(engine).traversals
    return done.bfs + done.multi_source + done.partial


RUNS: dict[str, Callable[[GpuEngine, int], int]] = {
    "bfs": _bfs, "fold": _fold, "batch": _batch, "columns": _columns, "spread": _spread, "exact": _exact,
    WIDE: _wide}


def steady_clock(engine: GpuEngine) -> Callable[[], float]:
    """A clock that counts levels, and how often it is asked."""
    asked = itertools.count()
    return lambda: LEVEL_SECONDS * engine.core.counters.snapshot().levels + STEP_SECONDS * next(asked)


def measure(graph: HostGraph, device: Device, paths: Sequence[str] = PATHS,
            requests: Callable[[], Any] | None = None, steady: bool = False) -> Iterator[dict[str, Any]]:
    """A row a path of the code, each over an engine that has done it once before (which makes its buffers), but for
    `exact`, which starts anew. requests : makes what a device of the tests counts requests for memory in
    (None: they are not counted). steady : whether steps are chosen by steady_clock, not by seconds."""
    for path in paths:
        with counted_engine(graph, device) as (engine, counting):
            if steady:
                engine.reporter.use_clock(steady_clock(engine))
            if path != "exact":
                RUNS[path](engine, graph.hub)
            counting.inner.traffic = traffic = None if requests is None else requests()
            before, levels = counting.counts.copy(), engine.core.counters.snapshot().levels
            begin = time.process_time()
            traversals = RUNS[path](engine, graph.hub)
            used = counting.counts - before
            row = row_of(graph, path, traversals, engine.core.counters.snapshot().levels - levels, used,
                         time.process_time() - begin)
            yield row if traffic is None else {**row, **{
                f"device_{name}": getattr(traffic, name) for name, _ in traffic._fields_}}


def row_of(graph: HostGraph, path: str, traversals: int, levels: int, used: Counts, seconds: float) -> dict[str, Any]:
    """The row of one path. seconds : of this CPU."""
    graph_bytes = OFFSET * (graph.n + 1) + graph.id_bytes
    return {**graph.key, "path": path, "traversals": traversals, "levels": levels, **used.to_dict(),
            "round_trips": used.round_trips, "trips_a_traversal": used.round_trips / max(1, traversals),
            "launches_a_level": (used.launches + used.fills) / max(1, levels), "host_bytes": used.host_bytes,
            "allowed_bytes": int(SHARE * graph_bytes) + A_TRAVERSAL * traversals, "graph_bytes": graph_bytes,
            "cpu_seconds": seconds}


def markdown(rows: Sequence[dict[str, Any]], title: str) -> str:
    """The table."""
    header = ("graph", "path", "traversals", "levels", "launches", "fills", "round trips", "KiB to host",
              "KiB from host", "launches and fills a level", "round trips a traversal", "KiB allowed", "CPU s")
    cells = [[row["class"], row["path"], *(figure(row[name]) for name in (
        "traversals", "levels", "launches", "fills", "round_trips")), figure(row["bytes_down"] / 1024),
        figure(row["bytes_up"] / 1024), figure(row["launches_a_level"]), figure(row["trips_a_traversal"]),
        figure(row["allowed_bytes"] / 1024) if row["path"] == "exact" else "-", figure(row["cpu_seconds"])]
        for row in rows]
    return "\n".join(table_text(Table(title, header, cells)))


def requests_markdown(rows: Sequence[dict[str, Any]]) -> str:
    """The table of requests for the device's memory."""
    header = ("graph", "path", "levels", "loads", "stores", "atomics", "MiB asked for", "MiB moved",
              "one after another", "of these a level", "at one place", "levels a barrier of the grid")
    cells = [[row["class"], row["path"], *(figure(row[name]) for name in (
        "levels", "device_loads", "device_stores", "device_atomics")), figure(row["device_bytes"] / 2**20),
        figure(row["device_sectors"] * SECTOR / 2**20), figure(row["device_chain"]),
        figure(row["device_chain"] / max(1, row["levels"])), figure(row["device_busiest"]),
        figure(row["levels"] / max(1, row["device_barriers"]))] for row in rows]
    return "\n".join(table_text(Table("Requests for the device's memory", header, cells)))


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.gpu.counts", description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("graphs", nargs="*", default=list(USUAL), metavar="GRAPH",
                      help=f"CLASS:SIZE ({', '.join(inputs.SIZED)}) or a store (default: {' '.join(USUAL)})")
    made.add_argument("--paths", default=",".join(PATHS), help=f"which of {', '.join(RUNS)} (default: all but {WIDE})")
    made.add_argument("--title", default="Counts", help="of the table")
    made.add_argument("--requests", action="store_true", help="count requests for the device's memory too; slower")
    made.add_argument("--steady", action="store_true", help="choose steps by a clock that counts, not by seconds")
    made.add_argument("--sms", type=int, default=2, help="multiprocessors that the device says it has (default: 2; "
                      "a system allows mappings for about 12)")
    made.add_argument("--out", type=Path, help="a file for the rows, as JSON")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    from tests.simt import runner  # a development tool: the machine of fibres comes with the tests
    from tests.simt.devices import open_device

    given = parser().parse_args(arguments)
    rows: list[dict[str, Any]] = []
    for text in given.graphs:
        graph = graph_named(text)
        device = open_device("shim-0", total=1 << 32, step_limit=1 << 40, resident=2048, n_sms=given.sms)
        for row in measure(graph, device, given.paths.split(","), runner.Traffic if given.requests else None,
                           given.steady):
            rows.append(row)
            print(markdown([row], ""), file=sys.stderr)
    if given.out is not None:
        given.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(markdown(rows, given.title))
    if given.requests:
        print(requests_markdown(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
