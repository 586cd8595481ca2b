"""Section apsp: distances between all pairs by every method on matrices, and blocked Floyd-Warshall beside
scipy.sparse.csgraph.floyd_warshall; the peak of the min-plus product is that of its inner loop alone, on panels in the
first cache, on as many threads. on disk : tiles on disk with half of the matrix in memory; it has to be the same
matrix.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from emdiam.jit import kernel
from emdiam.paths.pairs.arcs import lengths_of
from emdiam.paths.pairs.disk_tiles import disk_layout
from emdiam.paths.pairs.matrix import MatrixWriter
from emdiam.paths.pairs.methods import METHODS, ROWS
from emdiam.paths.pairs.min_plus import ROWS as BLOCK_ROWS
from emdiam.paths.pairs.min_plus import block_columns, relax_block
from emdiam.paths.pairs.solve import PairsWork, in_ram, on_disk
from emdiam.paths.rows import WeightedRows
from emdiam.stream.threads import Threads

from .rounds import Lap, measure_paired
from .setting import Setting

TITLE = "all pairs, random directed graph of degree 16, weights 1 to 1000: seconds, and sums a second (1e9)"
_DEPTH, _TIMES = 64, 50_000
N_QUICK = 512
# Seconds from which one lap is enough.
_LONG = 15.0


def run(setting: Setting) -> list[dict[str, Any]]:
    """A row a method, scipy and the peak."""
    n = N_QUICK if setting.quick else 4096
    random = np.random.default_rng(1)
    ends, weights = random.integers(0, n, (2, 16 * n)), random.integers(1, 1001, 16 * n).astype(np.uint16)
    rows = WeightedRows.from_edges(n, *ends, weights, directed=True)
    threads = Threads(setting.threads, 0)
    kept = _Kept()
    try:
        names = [name for name, method in METHODS.items() if method.kind != ROWS]
        calls = {name: _timed(name, kept, partial(_in_ram, rows, name, threads)) for name in names}
        calls["blocked, on disk"] = _timed("blocked, on disk", kept, partial(_on_disk, rows, threads))
        calls["peak"] = _timed("peak", kept, partial(_peak, threads))
        if setting.peers:
            calls["scipy"] = _timed("scipy", kept, partial(_by_scipy, rows))
        small = WeightedRows.from_edges(128, *ends % 128, weights, directed=True)
        for name in names:  # kernels are loaded
            _in_ram(small, name, threads)
        calls["peak"]()
        timings = measure_paired(calls, setting.effort)
    finally:
        threads.close()
    del kept.matrices["peak"]
    wrong = not all(np.array_equal(one, kept.matrices["blocked"]) for one in kept.matrices.values())
    sums = {"peak": setting.threads * _TIMES * _DEPTH * BLOCK_ROWS * _block_width()}
    return [{"method": name, "n": n, "threads": setting.threads, **timing.to_dict(),
             "cpu_seconds": kept.cpu_seconds[name], "sums": sums.get(name, n**3), "wrong": wrong}
            for name, timing in timings.items()]


@dataclass
class _Kept:
    """The last matrix of each method, and the least processor seconds of its laps, over all threads."""

    matrices: dict[str, np.ndarray] = field(default_factory=dict)
    cpu_seconds: dict[str, float] = field(default_factory=dict)


def _timed(name: str, kept: _Kept, work: Callable[[], np.ndarray]) -> Callable[[], Lap]:
    """A lap of the work, whose matrix is kept; one, if it is long."""
    def lap() -> Lap:
        begin, cpu = time.perf_counter(), time.process_time()
        kept.matrices[name] = work()
        seconds = time.perf_counter() - begin
        kept.cpu_seconds[name] = min(kept.cpu_seconds.get(name, seconds * 64), time.process_time() - cpu)
        return Lap(seconds, seconds < _LONG)

    return lap


def _work(rows: WeightedRows, name: str, threads: Threads) -> PairsWork:
    return PairsWork(METHODS[name], rows, lengths_of(rows)[0], threads, lambda: None)


def _in_ram(rows: WeightedRows, name: str, threads: Threads) -> np.ndarray:
    return in_ram(_work(rows, name, threads))[0]


def _on_disk(rows: WeightedRows, threads: Threads) -> np.ndarray:
    """Tiles of which half of the matrix is in memory."""
    work, n = _work(rows, "blocked", threads), rows.n_vertices
    layout = disk_layout(n, work.lengths.dtype.itemsize, n * n * work.lengths.dtype.itemsize // 2)
    assert layout is not None
    with tempfile.TemporaryDirectory() as folder:
        chunk = layout.edge, layout.edge
        writer = MatrixWriter(Path(folder) / "matrix.zarr", n, work.lengths, chunk, force=False, whole=True)
        try:
            on_disk(work, writer)
            return writer.read((0, n), (0, n))
        finally:
            writer.abort()


def _by_scipy(rows: WeightedRows) -> np.ndarray:
    """As integers; what has no path as the largest one."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import floyd_warshall

    matrix = csr_array((rows.costs.astype(float), rows.heads.astype(np.int32), rows.offsets.astype(np.int32)),
                       shape=(rows.n_vertices,) * 2)
    found = floyd_warshall(matrix)
    return np.where(np.isinf(found), np.iinfo(np.int32).max, found).astype(np.int32)


def _block_width() -> int:
    return int(block_columns.py_func(4))


@kernel
def relax_again(block, rows, columns, depth, times):  # type: ignore[no-untyped-def]
    """The inner loop alone, on the same panels."""
    width = len(block) // 4
    for _ in range(times):
        relax_block((block, rows, columns), (0, 0, 0), width, depth)


def _peak(threads: Threads) -> np.ndarray:
    """_TIMES blocks on every thread at once."""
    def task() -> None:
        width = _block_width()
        relax_again(np.full(BLOCK_ROWS * width, 1 << 20, np.int32), np.ones(_DEPTH * BLOCK_ROWS, np.int32),
                    np.arange(_DEPTH * width, dtype=np.int32), _DEPTH, _TIMES)

    threads.everywhere(task)
    return np.empty(0)


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Header and cells. Shares are of processor seconds, which a loaded machine changes less."""
    rates = {row["method"]: row["sums"] / row["cpu_seconds"] for row in rows}
    header = ["method", "n", "seconds", "processor seconds", "1e9 sums a processor second", "of the peak",
              "times scipy", "foreign cores"]
    return header, [[
        row["method"], f"{row['n']:,}", f"{row['best']:.3f}", f"{row['cpu_seconds']:.3f}",
        f"{rates[row['method']] / 1e9:.1f}", f"{rates[row['method']] / rates['peak']:.2f}",
        f"{rates[row['method']] / rates['scipy']:.1f}" if "scipy" in rates and row["method"] != "peak" else "",
        f"{row['foreign_cores']:.2f}"] for row in rows]
