"""Section monotone: `exact` with arenas from one twentieth to all of the blocks, page cache evicted, by default and
without batches: more memory shall not make a run slower, nor batches. Of each the fastest round counts.

rise : how much longer a run took than the one with the next smaller arena, at most. regret : how much longer the
default took than the faster of the two ways, at most. Both of wall seconds and of processor seconds.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from .cold import LEAST_BLOCKS, blocks_of, cold_run
from .foreign import ForeignWatch
from .graphs import Graph, graphs_of
from .setting import Setting

TITLE = "exact with arenas from 1/20 to all of the blocks, page cache evicted: seconds by default / without batches"
SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)
WAYS = ("default", "none")
_KINDS = ("seconds", "cpu_seconds")


def run(setting: Setting) -> list[dict[str, Any]]:
    """A row a graph; none for a graph of few blocks."""
    rows = []
    for graph in graphs_of("monotone", setting.quick, setting.names):
        if setting.cache.has(graph) and blocks_of(setting.cache.store(graph))[0] > LEAST_BLOCKS:
            rows.append(_measure(setting, graph))
    return rows


def _measure(setting: Setting, graph: Graph) -> dict[str, Any]:
    path = setting.cache.store(graph)
    n_blocks, block = blocks_of(path)
    for arena in (LEAST_BLOCKS * block, None):  # kernels are loaded
        cold_run(path, setting.threads, arena)
    watch = ForeignWatch()
    slots = {share: max(LEAST_BLOCKS, int(share * n_blocks)) for share in SHARES}
    found: dict[tuple[float, str], list[dict[str, Any]]] = {(share, way): [] for share in SHARES for way in WAYS}
    for turn in range(setting.effort.rounds):
        # All steps in each round, since the machine is not equally fast at all times; and to and fro, since the later
        # of two runs may find memory at hand.
        for share, way in (list(found), list(reversed(found)))[turn % 2]:
            arena = None if slots[share] >= n_blocks else slots[share] * block
            found[share, way].append(cold_run(path, setting.threads, arena, batches=way == "default"))
    steps: list[dict[str, Any]] = [
        {"share": share, "blocks": min(slots[share], n_blocks),
         **{way: min(found[share, way], key=lambda row: float(row["seconds"])) for way in WAYS}} for share in SHARES]
    answers = {step[way]["answer"] for step in steps for way in WAYS}
    return {"graph": graph.name, "n_blocks": n_blocks, "steps": steps, "foreign_cores": watch.cores,
            "wrong": len(answers) > 1, **{name: value for kind in _KINDS for name, value in _verdict(steps, kind)}}


def _verdict(steps: list[dict[str, Any]], kind: str) -> list[tuple[str, float]]:
    """The rise and the regret in seconds of this kind."""
    rise = max(after["default"][kind] / before["default"][kind] for before, after in pairwise(steps)) - 1
    regret = max(step["default"][kind] / min(step["default"][kind], step["none"][kind]) for step in steps) - 1
    return [(f"rise_{kind}", rise), (f"regret_{kind}", regret)]


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells."""
    header = ["graph", *(f"{share:.0%}" for share in SHARES), "rise", "regret", "rise, CPU", "regret, CPU",
              "foreign cores"]
    return header, [_cells(row) for row in rows]


def _cells(row: dict[str, Any]) -> list[str]:
    seconds = [f"{step['default']['seconds']:.2f} / {step['none']['seconds']:.2f}" for step in row["steps"]]
    shares = [f"{100 * row[f'{what}_{kind}']:.0f} %" for kind in _KINDS for what in ("rise", "regret")]
    return [row["graph"], *seconds, *shares, f"{row['foreign_cores']:.2f}"]
