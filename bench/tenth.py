"""Section tenth: `exact` with an arena of one tenth of the raw CSR beside the same command with all blocks in memory,
both from an evicted page cache, in turns. Of each the fastest round counts. Seconds are the total that the command
tells: from opening the store to the checked witness, reordering included.
"""

from __future__ import annotations

from typing import Any

from .cold import LEAST_BLOCKS, blocks_of, cold_command, raw_csr_bytes
from .foreign import ForeignWatch
from .graphs import Graph, graphs_of
from .setting import Setting

TITLE = "exact with an arena of 1/10 of the raw CSR and in memory, page cache evicted"
SHARE = 10
# The ratio that is allowed; that of a graph that is reordered first.
MOST, MOST_REORDERED = 1.5, 2.5


def run(setting: Setting) -> list[dict[str, Any]]:
    """A row a graph."""
    return [_measure(setting, graph) for graph in graphs_of("tenth", setting.quick, setting.names, setting.large)
            if setting.cache.has(graph)]


def _measure(setting: Setting, graph: Graph) -> dict[str, Any]:
    path = setting.cache.store(graph)
    arena = max(raw_csr_bytes(path) // SHARE, LEAST_BLOCKS * blocks_of(path)[1])
    watch = ForeignWatch()
    rounds = [(cold_command(path, setting.threads, None), cold_command(path, setting.threads, arena))
              for _ in range(setting.effort.rounds)]
    in_ram = min((one for one, _ in rounds), key=lambda row: float(row["seconds"]))
    streamed = min((one for _, one in rounds), key=lambda row: float(row["seconds"]))
    return {
        "graph": graph.name, "arena_bytes": arena, "in_ram": in_ram, "streamed": streamed,
        "ratio": streamed["seconds"] / in_ram["seconds"], "working_ratio": _working(streamed) / _working(in_ram),
        "cpu_ratio": streamed["cpu_seconds"] / in_ram["cpu_seconds"],
        "most": MOST_REORDERED if streamed["reordered"] else MOST, "foreign_cores": watch.cores,
        "wrong": in_ram["answer"] != streamed["answer"]}


def _working(row: dict[str, Any]) -> float:
    """Seconds without those of kernels that were compiled or loaded."""
    return float(row["seconds"]) - float(row["kernel_seconds"])


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells."""
    header = ["graph", "answer", "s in RAM", "s streamed", "ratio", "allowed", "without kernels", "CPU s in RAM",
              "CPU s streamed", "CPU ratio", "MB read in RAM", "MB read streamed", "BFS in RAM", "BFS streamed",
              "foreign cores"]
    return header, [_cells(row) for row in rows]


def _cells(row: dict[str, Any]) -> list[str]:
    ram, away = row["in_ram"], row["streamed"]
    return [row["graph"], str(away["answer"]), f"{ram['seconds']:.2f}", f"{away['seconds']:.2f}", f"{row['ratio']:.2f}",
            f"{row['most']:.1f}", f"{row['working_ratio']:.2f}", f"{ram['cpu_seconds']:.2f}",
            f"{away['cpu_seconds']:.2f}", f"{row['cpu_ratio']:.2f}", f"{ram['bytes_read'] / 1e6:.0f}",
            f"{away['bytes_read'] / 1e6:.0f}", str(ram["bfs"]), str(away["bfs"]), f"{row['foreign_cores']:.2f}"]
