"""One BFS, and one search along weights, by this package and by others."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from emdiam.paths.methods import shortest_paths
from emdiam.paths.paths import SearchOptions
from emdiam.paths.rows import WeightedRows

from ..commands import run_command
from ..papers.paper_004 import by_scipy, own_bfs, repeated
from ..programs import GAPBS_SSSP, Programs

DELTAS = (0.5, 2, 8)  # times 2 mean weights / mean degree, of which GAP's best one counts
_TRIAL = re.compile(r"^Trial Time:\s*([\d.]+)", re.MULTILINE)


def bfs(engine: Any, sources: list[int]) -> dict[str, Any]:
    """Median seconds of this package from the sources."""
    return {"solve": own_bfs(engine, sources)["median"]}


def weighted(rows: WeightedRows, threads: int) -> dict[str, Any]:
    """The default search of this package."""
    source, options = source_of(rows), SearchOptions(threads=threads)
    found = shortest_paths(rows, source, options=options)
    return {"solve": repeated(lambda: shortest_paths(rows, source, options=options)),
            "sum": float(found.distances[found.has_path].sum())}


def weighted_by_scipy(rows: WeightedRows) -> dict[str, Any]:
    """scipy's Dijkstra."""
    found = by_scipy(rows)
    return {"solve": found["median"], "sum": found["sum"]}


def weighted_by_gap(rows: WeightedRows, programs: Programs, folder: Path, threads: int, limit: float) -> dict[str, Any]:
    """GAP's Delta-stepping with the best of a few Deltas."""
    path = programs.path(GAPBS_SSSP)
    if path is None:
        return {"failure": "not built here", "again": True}
    file = folder / "peers.wsg"
    pairs = np.empty((rows.n_arcs, 2), np.int32)
    pairs[:, 0], pairs[:, 1] = rows.heads, rows.costs
    with open(file, "wb") as out:
        for part in (np.zeros(1, np.uint8), np.array([rows.n_arcs, rows.n_vertices]), rows.offsets, pairs):
            out.write(part.tobytes())
    usual = 2 * float(rows.costs.mean()) * rows.n_vertices / max(1, rows.n_arcs)
    found: list[float] = []
    for delta in sorted({max(1, round(usual * share)) for share in DELTAS}):
        done = run_command([path, "-f", file, "-d", str(delta), "-r", str(source_of(rows)), "-n", "5"], limit,
                           {**os.environ, "OMP_NUM_THREADS": str(threads)})
        if done.failure is not None:
            return {"failure": done.failure}
        found.append(float(np.median([float(one) for one in _TRIAL.findall(done.out)])))
    file.unlink()
    return {"solve": min(found)}


def source_of(rows: WeightedRows) -> int:
    """The vertex of the largest degree."""
    return int(np.argmax(np.diff(rows.offsets)))
