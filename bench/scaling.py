"""python -m bench.scaling: measure BFS over worker processes, fit a cost model, and extrapolate it.

--fit runs on 1, 2 and 4 workers here and keeps costs, shapes and figures as JSON. --simulate takes them from such a
file and tells seconds, bytes and memory at another size, and what would break first there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store
from emdiam.units import format_size, parse_size

from .cache import Cache
from .graphs import Graph, known
from .machine import facts
from .scaling_fit import (
    COUNTED,
    WORKERS,
    Observation,
    bitmap_byte_seconds,
    cluster_of,
    fit_costs,
    known_costs,
    observe,
    overheads,
)
from .scaling_limits import Run, cannot_run, forecast_run
from .scaling_model import PARTS, Costs, Machines, Shape, directed, enlarged, traffic, with_levels
from .scaling_shapes import from_plain, level_arcs, measured_shape, to_plain
from .show import Table, show
from .sources import giant_sources

_HERE = Path(__file__).resolve().parent
_SOURCES = 4
# Graphs by name, with the power by which their levels grow with their size.
GRAPHS: dict[str, float] = {"kronecker-18-ef16": 0.0, "kronecker-20-ef16": 0.0, "watts-strogatz-2^17": 0.0,
                            "grid-800^2": 0.5, "cnr-2000": 0.0, "USA-road-d.NY": 0.5}
QUICK_GRAPHS: dict[str, float] = {"quick-rmat-12": 0.0, "quick-grid-40x50": 0.5}
# What the shapes stand for where they are enlarged.
SIMULATED = ("kronecker-20-ef16", "cnr-2000", "USA-road-d.NY")


def _graph(name: str) -> Graph:
    if name == "kronecker-18-ef16":
        return Graph(name, "", "kronecker", 2**18, {"edge_factor": 16})
    return known()[name]


# -- measuring ----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Prepared:
    """A graph, its shape, levels by source (scaling_shapes.level_arcs), and seconds to decode one of its arcs."""

    graph: Graph
    shape: Shape
    levels: dict[int, np.ndarray]
    decode: float


def fit(cache: Cache, graphs: dict[str, float], workers: Sequence[int], counted: int) -> dict[str, Any]:
    """Measure on so many workers, count on `counted`, and fit: {"costs", "shapes", "observations", "machine",
    "started"}."""
    kept: dict[str, Any] = {"machine": facts(), "started": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
    prepared = [_prepare(cache, _graph(name), stretch) for name, stretch in graphs.items() if cache.has(_graph(name))]
    seen: list[Observation] = []
    bases, spent = [], []
    for count in (*workers, counted):
        with cluster_of(count, processes=count != counted) as address:
            if count != counted:
                with open_store(cache.store(prepared[0].graph)) as store:
                    spent.append(overheads(store, address))
            for one in prepared:
                with open_store(cache.store(one.graph)) as store:
                    found, plan = observe(store, address, one.levels, one.shape, timed=count != counted)
                seen += found
                if count != counted:
                    bases.append(int(plan["base_bytes"]))
    micro = {"bitmap_byte": bitmap_byte_seconds(), "base_bytes": max(bases),
             "decode_arc": min(one.decode for one in prepared)}
    costs, crowd, ratios = fit_costs(seen, known_costs(spent), micro)
    shapes = {one.graph.name: _learned(one, [run for run in seen if run.graph == one.graph.name]) for one in prepared}
    levels = {one.graph.name: one.levels for one in prepared}
    observations = [{**asdict(run), "predicted": ratio, "payload_model": payload_of(
        with_levels(shapes[run.graph], levels[run.graph][run.source]), run.workers)}
        for run, ratio in zip(seen, ratios, strict=True)]
    return {**kept, "costs": asdict(costs), "crowd": crowd, "overheads": spent,
            "shapes": [to_plain(shape) for shape in shapes.values()], "observations": observations}


def _prepare(cache: Cache, graph: Graph, stretch: float) -> Prepared:
    """What the engine of this process tells of a graph."""
    with open_store(cache.store(graph)) as store, open_engine(store) as engine:
        loaded = engine.reporter.stats()
        decode = loaded.fetch_cpu_seconds / max(1, loaded.bytes_decoded) * store.id_dtype.itemsize
        sources, _ = giant_sources(engine, _SOURCES)
        shape = measured_shape(store, engine, sources[0], name=graph.name, stretch=stretch)
        return Prepared(graph, shape, {source: level_arcs(engine, source) for source in sources}, decode)


def _learned(one: Prepared, seen: Sequence[Observation]) -> Shape:
    """The shape with what the runs over workers have shown: bias, rounds a level, arcs scanned again."""
    expected = {source: sum(level.expected for level in directed(with_levels(one.shape, rows), one.shape.n_arcs)
                            if level.dense) for source, rows in one.levels.items()}
    dense = [run for run in seen if run.dense_levels and expected[run.source]]
    scanned = sum(run.arcs - run.sparse_arcs for run in dense)
    rounds, again = {}, {}
    for workers in sorted({run.workers for run in seen}):
        mine = [run for run in seen if run.workers == workers]
        rounds[workers] = sum(run.rounds for run in mine) / sum(run.levels for run in mine)
        again[workers] = sum(run.sparse_arcs for run in mine) / max(1.0, sum(run.row_arcs for run in mine))
    bias = max(1.0, scanned / sum(expected[run.source] for run in dense)) if dense else 1.0
    several = [run for run in seen if run.workers > 1]
    return replace(one.shape, bias=bias, rounds=rounds, again=again,
                   dense=any(run.dense_levels for run in several or seen))


def payload_of(shape: Shape, workers: int) -> float:
    """Payload bytes of a BFS with these levels, as the model has them."""
    return sum(traffic(shape, directed(shape, shape.n_arcs), shape.n_vertices, workers))


def bound_bytes(one: dict[str, Any], n_vertices: int) -> float:
    """Bytes that a BFS may send: (W - 1) (n / 8 for a dense level, 4 for each vertex found on a sparse one)."""
    return float((one["workers"] - 1) * (n_vertices / 8 * one["dense_levels"] + 4 * one["found_sparse"]))


# -- showing ------------------------------------------------------------------------------------
def costs_table(kept: dict[str, Any]) -> Table:
    """The costs, in units that people read."""
    small = ("byte", "sparse_arc", "dense_arc", "vertex", "bitmap_byte", "decode_arc")
    scale = dict.fromkeys(small, (1e9, "ns"))
    rows = [[name, f"{value * scale.get(name, (1e6, ''))[0]:,.3g} {scale.get(name, (1e6, 'us'))[1]}"]
            for name, value in kept["costs"].items() if not name.endswith("_bytes")]
    sizes = [["base", format_size(kept["costs"]["base_bytes"])], ["facts", f"{kept['costs']['fact_bytes']:.1f} B"]]
    return Table("Costs", ["a", "seconds"], [*rows, *sizes])


def observations_table(kept: dict[str, Any]) -> Table:
    """One row a graph and number of workers: means over the sources."""
    header = ["graph", "workers", "ms a BFS", "model", "rounds", "dense", "bytes", "model", "of the bound", "facts",
              "waits", "foreign cores"]
    sizes = {shape["name"]: shape["n_vertices"] for shape in kept["shapes"]}
    rows: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for one in kept["observations"]:
        rows.setdefault((one["graph"], one["workers"]), []).append(one)
    return Table("BFS over workers", header, [
        _observed(name, workers, found, sizes[name]) for (name, workers), found in sorted(rows.items())])


def _observed(name: str, workers: int, found: list[dict[str, Any]], n_vertices: int) -> list[str]:
    def mean(field: str) -> float:
        return float(sum(one[field] for one in found)) / len(found)

    bound = sum(bound_bytes(one, n_vertices) for one in found)
    sent = sum(one["payload_bytes"] for one in found)
    model = sum(one["predicted"] * one["seconds"] for one in found) / len(found)
    seconds, modelled = (f"{1e3 * mean('seconds'):,.1f}", f"{1e3 * model:,.1f}") if found[0]["timed"] else ("", "")
    return [name, str(workers), seconds, modelled, f"{mean('rounds'):,.0f}",
            f"{mean('dense_levels'):.1f}", f"{mean('payload_bytes'):,.0f}", f"{mean('payload_model'):,.0f}",
            f"{sent / bound:.2f}" if bound else "", f"{mean('fact_bytes'):,.0f}",
            f"{100 * mean('wait_seconds') / workers / mean('seconds'):.0f} %", f"{mean('foreign_cores'):.2f}"]


def show_run(console: Console, shape: Shape, n_arcs: float, run: Run, traversals: int) -> None:
    """One shape's forecast: time by part, bytes, memory of a worker, and what breaks first."""
    bfs = run.bfs
    console.print(f"\n{shape.name}: {enlarged(shape, n_arcs)[0]:.3g} vertices, {n_arcs / 2:.3g} edges, "
                  f"{bfs.levels:,.0f} levels ({bfs.dense_levels:,.0f} dense)", highlight=False)
    show(console, Table("Seconds a BFS", [*PARTS, "all", "bottleneck"], [
        [*(f"{bfs.seconds[part]:,.3g}" for part in PARTS), f"{bfs.total_seconds:,.4g}", bfs.bottleneck]]))
    console.print(f"bytes a BFS: {format_size(int(bfs.payload_bytes))} of vertices, {format_size(int(bfs.fact_bytes))} "
                  "of numbers", highlight=False)
    console.print(f"{traversals} traversals: {run.seconds:,.0f} s ({run.open_seconds:,.0f} s to open), "
                  f"{format_size(int(run.bytes))}", highlight=False)
    memory = run.memory
    show(console, Table("Memory of a worker", list(memory), [[format_size(int(value)) for value in memory.values()]]))
    show(console, Table("What breaks first" + (": refused" if cannot_run(run.limits) else ""),
                        ["limit", "load", "ends a run", "why"], [
        [limit.name, f"{limit.load:,.2g}", "yes" if limit.fatal else "no", limit.why] for limit in run.limits]))


# -- the command line ---------------------------------------------------------------------------
def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.scaling", description=__doc__)
    what = made.add_mutually_exclusive_group(required=True)
    what.add_argument("--fit", action="store_true", help="measure here, fit and keep")
    what.add_argument("--simulate", action="store_true", help="extrapolate")
    what.add_argument("--show", action="store_true", help="tables of what was measured")
    made.add_argument("--quick", action="store_true", help="with --fit: small graphs on 1 and 2 workers")
    made.add_argument("--cache", type=Path, metavar="DIR", default=_HERE / ".cache")
    made.add_argument("--data", type=Path, metavar="DIR", default=_HERE.parents[1] / "shared" / "data")
    made.add_argument("--json", type=Path, metavar="FILE", help="(default: bench/results/DATE-scaling.json)")
    made.add_argument("--from", type=Path, metavar="FILE", dest="kept", help="figures (default: the newest there)")
    size = made.add_mutually_exclusive_group()
    size.add_argument("--edges", type=float, default=1e11, help="undirected edges (default: 1e11)")
    size.add_argument("--arcs", type=float, help="the same, each edge twice")
    made.add_argument("--workers", type=int, default=64)
    made.add_argument("--threads", type=int, default=8, help="of a worker (default: 8)")
    made.add_argument("--memory", type=parse_size, default=64 << 30, metavar="SIZE", help="of a worker (64GiB)")
    made.add_argument("--gbits", type=float, default=10.0, help="network of a worker, 10^9 bits a second (10)")
    made.add_argument("--disk", type=float, default=1e9, help="bytes a second of a worker (1e9)")
    made.add_argument("--traversals", type=int, default=20, help="of a run (20)")
    made.add_argument("--shape", action="append", default=[], help=f"(default: {', '.join(SIMULATED)})")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 0."""
    given = parser().parse_args(arguments)
    console = Console(width=200) if not sys.stdout.isatty() else Console()
    if given.fit:
        kept = fit(Cache(given.cache, given.data), QUICK_GRAPHS if given.quick else GRAPHS,
                   WORKERS[:2] if given.quick else WORKERS, 3 if given.quick else COUNTED)
        target = given.json or (None if given.quick else _HERE / "results" / time.strftime("%Y-%m-%d-scaling.json"))
        if target is not None:
            target.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    else:
        kept = json.loads((given.kept or newest()).read_text(encoding="utf-8"))
    if given.simulate:
        simulate(console, kept, given)
    else:
        show(console, costs_table(kept))
        show(console, observations_table(kept))
    return 0


def newest() -> Path:
    """The newest figures that are kept."""
    return max((_HERE / "results").glob("*-scaling.json"))


def simulate(console: Console, kept: dict[str, Any], given: argparse.Namespace) -> None:
    """Print the forecast of each shape."""
    costs = Costs(**{name: value for name, value in kept["costs"].items() if name != "copied"})  # of older figures
    machines = Machines(given.workers, given.threads, given.memory, given.gbits * 1e9 / 8, given.disk)
    n_arcs = given.arcs or 2 * given.edges
    shapes = {shape["name"]: from_plain(shape) for shape in kept["shapes"]}
    for name in given.shape or [name for name in SIMULATED if name in shapes] or list(shapes):
        show_run(console, shapes[name], n_arcs, forecast_run(shapes[name], n_arcs, machines, costs, given.traversals),
                 given.traversals)


if __name__ == "__main__":
    sys.exit(main())
