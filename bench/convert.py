"""Section convert: edges a second from files to a store, each in a process of its own at 1 GiB.

Seconds are wall seconds of the whole process, start included; its peak is its own VmHWM. Real
graphs are read from their files, generated ones from their pairs as text and as Parquet. A first
conversion, not counted, compiles the parsers. The input files are in the page cache if they were
read before.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .foreign import ForeignWatch
from .graphs import Graph, graphs_of
from .setting import Setting

TITLE = "Conversion at --memory 1GiB, million pairs a second"
MEMORY = "1GiB"


def run(setting: Setting) -> list[dict[str, Any]]:
    """One row an input file."""
    _warm_up(setting)
    rows = []
    for graph in graphs_of("convert", setting.quick, setting.names):
        for path in _inputs(setting, graph):
            rows.append({"graph": graph.name, **_best_attempt(setting, path)})
    return rows


def _inputs(setting: Setting, graph: Graph) -> Iterator[Path]:
    if graph.file:
        if setting.cache.has(graph):
            yield setting.cache.input_of(graph)
    else:
        yield setting.cache.edge_file(graph, ".parquet")
        yield setting.cache.edge_file(graph, ".txt")


def _warm_up(setting: Setting) -> None:
    """Compile (and cache) what a conversion compiles."""
    folder = setting.cache.scratch("warm-up")
    folder.mkdir()
    edges = folder / "edges.txt"
    edges.write_text("1 2\n2 3\n")
    _convert(setting, edges)
    shutil.rmtree(folder)


def _best_attempt(setting: Setting, path: Path) -> dict[str, Any]:
    """The first quiet attempt, or the one with least foreign load."""
    done: list[dict[str, Any]] = []
    while len(done) < setting.effort.attempts:
        done.append(_convert(setting, path))
        if done[-1]["foreign_cores"] <= setting.effort.quiet_cores:
            return done[-1]
    return min(done, key=lambda row: float(row["foreign_cores"]))


def _convert(setting: Setting, path: Path) -> dict[str, Any]:
    """One conversion by the command line. Raises CalledProcessError with its message."""
    target = setting.cache.scratch("converted.zarr")
    command = [sys.executable, "-m", "emdiam", "convert", str(path), str(target), "--memory", MEMORY,
               "--threads", str(setting.threads), "--json", "--quiet"]
    watch, begin = ForeignWatch(), time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    seconds = time.perf_counter() - begin
    foreign = watch.cores
    report = json.loads(done.stdout)
    shutil.rmtree(target)
    return {
        "format": report["record"]["source_format"], "input_bytes": path.stat().st_size,
        "pairs": report["pairs_read"], "n_edges": report["record"]["n_edges"], "seconds": seconds,
        "pairs_per_second": report["pairs_read"] / seconds, "phase_seconds": report["seconds"],
        "memory_limit_bytes": report["memory_limit_bytes"], "peak_rss_bytes": report["peak_rss_bytes"],
        "scratch_bytes": report["scratch_bytes"], "foreign_cores": foreign,
    }


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells."""
    header = ["graph", "format", "input MB", "pairs", "edges", "seconds", "M pairs/s", "peak MiB",
              "foreign cores"]
    return header, [
        [row["graph"], row["format"], f"{row['input_bytes'] / 1e6:.1f}", f"{row['pairs']:,}",
         f"{row['n_edges']:,}", f"{row['seconds']:.2f}", f"{row['pairs_per_second'] / 1e6:.2f}",
         f"{row['peak_rss_bytes'] / 2**20:.0f}", f"{row['foreign_cores']:.2f}"]
        for row in rows
    ]
