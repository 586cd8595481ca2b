"""python -m bench.gpu --predict: what the cost model says of a GPU, on a machine without one.

Nothing here was measured on a GPU. Rates and latencies are those that makers state (paging_model.TYPICAL, and
DEVICE_RATE for the device's own memory).

Paged BFS: the levels of a Kronecker graph of a smaller scale, from its vertex of the largest degree, are taken
from a BFS on this CPU, with blocks and pages of the size that the large graph has. A graph 2^k times as large is
taken for 2^k graphs like the small one: shares of vertices and arcs by level stay, each page is asked for as
much as a page of the small graph, and all bytes and seconds of pages are 2^k-fold. Two round trips a level are
added once. Each page counts with a call of its own; that neighbouring pages which are not copied go together, and
that kernels and copies overlap, is not in it, nor are pages that stay. The model's choice may go up; what a level up
looks at is what the model expects of it. Seconds of the CPU, 2^k-fold too, are those
of the fastest of three BFS; they flatter it, since the vertices of the small graph fit its caches.

Exact methods, resident: traversals and levels are those of the CPU engine on the small graph and are taken to
stay; arcs looked at, and seconds of the CPU, are 2^k-fold. Launches (with fills), round trips and bytes between host
and device are counted (counts.py) from the same method on a graph of COUNTED_SCALE, over the machine of fibres of the
tests, and are taken to stay too, but for the bytes, which grow as the graph does. Seconds on the device are at least
launches * a call + round trips * their time + levels * LEVEL + bytes / the copy rate + (arcs * a sector of 32 bytes +
traversals * n * STATE bytes) / DEVICE_RATE: a floor.
"""

from __future__ import annotations

import json
import time
import timeit
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from emdiam.gpu.paging_model import ALL_WAYS, COPY, SECTOR_BYTES, TYPICAL, UP, WAYS, LevelNeed, PageCosts, PageNeed

from . import inputs
from .counts import count_method
from .exact import METHODS, method_of
from .host_engine import BLOCK_ITEMS, HostGraph, memory_engine, n_threads
from .paged_levels import room_for
from .report_cells import figure, table_text
from .report_larger import predicted

PAGED_SCALE, EXACT_SCALE, EXACT_LESS, COUNTED_SCALE = 24, 22, 2, 12
# Seconds of a level within a launch: three barriers of a grid, reckoned.
LEVEL = 5e-6
SHARE = 1 / 8
DEVICE_RATE = 3.35e12
# Bytes that a traversal reads and writes for a vertex whatever it scans: distances cleared and written, offsets,
# and the bounds folded.
STATE = 4 + 4 + 4 + 16


def kronecker(scale: int) -> HostGraph:
    """The graph of the benchmark's class, with numpy."""
    offsets, neighbours = inputs.rows_of(np, *inputs.kronecker(np, scale))
    return HostGraph("kronecker", offsets.astype(np.int64), neighbours)


def asked(graph: HostGraph, active: np.ndarray, block_items: int, page_shift: int) -> tuple[np.ndarray, ...]:
    """What the frontier `active`, bool[n], asks of each page, int64[pages] each: bytes of blocks with an active arc,
    bytes of active rows, sectors that these begin in or enter."""
    m, offsets, item = len(graph.neighbours), graph.offsets, graph.neighbours.itemsize
    of_arc = np.repeat(active, np.diff(offsets))
    blocks = np.arange(0, m, block_items)
    touched = np.add.reduceat(of_arc, blocks, dtype=np.int64) > 0
    block_bytes = np.where(touched, np.diff(np.append(blocks, m)) * item, 0)
    pages = np.arange(0, m, block_items << page_shift)
    begins = np.zeros(m, bool)
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    begins[:: SECTOR_BYTES // item] = True
    return (np.add.reduceat(block_bytes, np.arange(0, len(blocks), 1 << page_shift)),
            np.add.reduceat(of_arc, pages, dtype=np.int64) * item,
            np.add.reduceat(of_arc & begins, pages, dtype=np.int64))


def need_up(graph: HostGraph, distances: np.ndarray, level: int) -> LevelNeed:
    """What going up from that level would ask. distances : int64[n], -1 where unreached."""
    degrees = np.diff(graph.offsets)
    left = ((distances < 0) | (distances > level)) & (degrees > 0)
    share = int(degrees[distances == level].sum()) / max(1, len(graph.neighbours))
    return LevelNeed(int(left.sum()), int(degrees[left].sum()), share, graph.neighbours.itemsize)


def level_row(pages: tuple[np.ndarray, ...], ways: tuple[str, ...], times: int,
              up: LevelNeed | None = None) -> dict[str, Any]:
    """Seconds of a level by these ways, or up if that is less, and bytes by way: those of `pages`, `times` over."""
    seconds, came, before = 0.0, dict.fromkeys(ALL_WAYS, 0), COPY
    costs = PageCosts(TYPICAL, PageNeed(*pages), ways)
    for at, (block_bytes, row_bytes, sectors) in enumerate(zip(*(part.tolist() for part in pages), strict=True)):
        if row_bytes:
            before, cost = costs.cheapest(at, before)
            seconds += cost
            came[before] += {"copy": block_bytes, "gather": row_bytes}.get(before, sectors * SECTOR_BYTES)
    if up is not None and TYPICAL.seconds_up(up) < seconds:
        seconds, came = TYPICAL.seconds_up(up), {**dict.fromkeys(WAYS, 0), UP: round(up.bytes_up)}
    return {"seconds": seconds * times + 2 * TYPICAL.round_trip, **{way: came[way] * times for way in ALL_WAYS}}


def paged(scale: int, target: int = PAGED_SCALE, block_items: int = BLOCK_ITEMS) -> list[dict[str, Any]]:
    """A row for the model's choice and for each way alone, with its levels. The last row is of the CPU."""
    graph, times = kronecker(scale), 1 << (target - scale)
    room = room_for(graph.n * times, len(graph.neighbours) * times, SHARE, block_items)
    with memory_engine(graph, block_items) as engine:
        run = engine.bfs(graph.hub)  # compiles
        cpu = times * min(timeit.repeat(lambda: engine.bfs(graph.hub), repeat=3, number=1))
        assert run.distances is not None
        distances = run.distances.gather(np.arange(graph.n))
    fronts = [distances == level for level in range(run.levels + 1)]
    asking = [asked(graph, front, block_items, room.page_shift) for front in fronts]
    rows = []
    for name, ways in (("model", WAYS), *((way, (way,)) for way in WAYS)):
        levels = [{"level": k, "rows": int(front.sum()) * times, **level_row(
            pages, ways, times, need_up(graph, distances, k) if name == "model" else None)}
                  for k, (front, pages) in enumerate(zip(fronts, asking, strict=True))]
        seconds = sum(level["seconds"] for level in levels)
        rows.append({"way": name, "n": graph.n * times, "arcs": len(graph.neighbours) * times, "seconds": seconds,
                     "limit_bytes": room.limit, "held_bytes": room.state + room.ring, "cpu_seconds": cpu,
                     "cpu_threads": n_threads(), "speedup": cpu / seconds, "levels": levels})
    return rows


def exact(scale: int, target: int = EXACT_SCALE) -> list[dict[str, Any]]:
    """A row a method."""
    graph, times, rows = kronecker(scale), 1 << (target - scale), list[dict[str, Any]]()
    small = kronecker(min(scale, COUNTED_SCALE))
    with memory_engine(graph) as engine:
        for method in METHODS:
            for _ in range(2):  # the first compiles
                begin = time.perf_counter()
                found = method_of(method)(engine).to_dict()
                cpu = (time.perf_counter() - begin) * times
            counted, used = found["details"]["counters"], count_method(small, method)
            launches, host_bytes = used.launches + used.fills, used.host_bytes * graph.n // small.n * times
            floor = (launches * TYPICAL.call + used.round_trips * TYPICAL.round_trip + counted["levels"] * LEVEL
                     + host_bytes / TYPICAL.copy_rate + times * (
                         counted["edges_scanned"] * SECTOR_BYTES + counted["traversals"] * graph.n * STATE)
                     / DEVICE_RATE)
            rows.append({"method": method, "n": graph.n * times, "arcs": len(graph.neighbours) * times,
                         "traversals": counted["traversals"], "n_levels": counted["levels"],
                         "launches": launches, "round_trips": used.round_trips, "host_bytes": host_bytes,
                         "edges_scanned": counted["edges_scanned"] * times, "floor_seconds": floor,
                         "cpu_seconds": cpu, "cpu_threads": n_threads(), "most_speedup": cpu / floor})
    return rows


def write(out: Path, scale: int) -> str:
    """predicted.json and predicted.md in the folder `out`; the text of the second. scale : of the small graph of the
    paged BFS, at most PAGED_SCALE; that of exact methods is EXACT_LESS less."""
    kept = {"scale": scale, "model": asdict(TYPICAL), "device_rate": DEVICE_RATE, "paged": paged(scale),
            "exact": exact(min(scale - EXACT_LESS, EXACT_SCALE))}
    text = markdown(kept)
    out.mkdir(parents=True, exist_ok=True)
    (out / "predicted.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    (out / "predicted.md").write_text(text, encoding="utf-8")
    return text


def markdown(kept: dict[str, Any]) -> str:
    """The report, from what was kept alone."""
    rates = ", ".join(f"{name} {figure(value / 1e9)} GB/s" if name.endswith("rate") else
                      f"{name} {figure(value * 1e6)} us" for name, value in kept["model"].items())
    less = kept["scale"] - EXACT_LESS
    counted = min(less, COUNTED_SCALE)
    lines = ["# Predicted, not measured", "",
             "What the cost model says of a GPU; no GPU was there. `bench/gpu/predict.py` has the formulas. Profiles of"
             f" frontiers: Kronecker scale {kept['scale']} (exact methods: {less}) on this CPU, taken as often as the "
             f"large graph is larger. Launches and round trips: counted on Kronecker scale {counted}.", "",
             f"Typical rates and latencies of an H100 on PCIe 5, as stated by its makers: {rates}; memory of the "
             f"device {figure(kept['device_rate'] / 1e9)} GB/s.", ""]
    for table in predicted(kept):
        lines += table_text(table)
    return "\n".join(lines).rstrip() + "\n"
