"""Part weighted: seconds of shortest paths along weights, from one source and between all pairs, and the rate of
min-plus products.

Searches: a Kronecker graph and a grid, which stands for a road map, with weights of 1 to 255; GTEPS are arcs of the
vertices reached / seconds / 10**9, work the arcs tried over those. All distances are compared with those of the first
search. All pairs: a random graph; giga-operations a second are n**3 sums with their minima / seconds / 10**9, whatever
was left out. Products: one of square matrices that have a path for every pair.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from . import inputs
from .host_engine import need_engine
from .lazy import Lazy
from .setting import Row, Setting
from .timing import median_seconds
from .watch import Watched

LONGEST = 255
CLASSES = ("kronecker", "grid")
# Random graphs for all pairs have so many arcs a vertex.
DEGREE = 16
CELLS = ("int32", "int64", "float64")


class Weighted:
    """A graph with weights on the device, a source in its largest component, and what the first search found."""

    def __init__(self, setting: Setting, name: str) -> None:
        need_engine()
        from emdiam.gpu.paths.weighted_graph import WeightedGraph, WeightFacts

        xp, device = setting.xp, setting.device
        made = inputs.graph_of(setting, name, inputs.SIZED[name](xp, setting.sizes.weighted[name]))
        drawn = xp.random.default_rng(inputs.SEED).integers(1, LONGEST + 1, made.graph.n_arcs).astype(np.uint32)
        facts = WeightFacts(np.dtype(np.uint64), 1, LONGEST, (1 + LONGEST) / 2)
        self.graph = WeightedGraph(made.graph, inputs.on_device(device, drawn), facts)
        self.input, self.source = made, int(np.argmax(made.degrees))
        self.known: tuple[int, int] | None = None


def run(setting: Setting) -> Iterator[Row]:
    """Rows by class and search, by method for all pairs, and by type of cells, tile and laziness."""
    for name in CLASSES:
        yield from _searches(setting, name)
    rows = Lazy(partial(_random_rows, setting))
    for method in _names("all_pairs", "ALL_PAIRS", ("blocked",)):
        yield from setting.cell({"class": "matrix", "method": method}, partial(_all_pairs, setting, rows, method))
    for cell in CELLS:
        for tile in (32, 64):
            for lazy in (False, True):
                yield from setting.cell({"class": "product", "cells": cell, "tile": tile, "lazy": lazy},
                                        partial(_product, setting, cell, tile, lazy))


def _names(module: str, catalogue: str, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a catalogue of emdiam.gpu.paths; some that are in it where it cannot be imported."""
    from importlib import import_module

    try:
        return tuple(getattr(import_module(f"emdiam.gpu.paths.{module}"), catalogue))
    except ImportError:
        return otherwise


def _searches(setting: Setting, name: str) -> Iterator[Row]:
    """One class by all searches."""
    made = Lazy(partial(Weighted, setting, name))
    for method in _names("registry", "SEARCHES", ("near-far",)):
        if method not in ("harish-matrix", "harish-list-matrix"):
            yield from setting.cell({"class": name, "method": method}, partial(_search, setting, made, method),
                                    (method, ""))


def _search(setting: Setting, lazy: Lazy[Weighted], method: str) -> dict[str, Any]:
    """The first run compiles; the second is timed, if there is time."""
    weighted, limit = lazy.get(), min(setting.sizes.cell_seconds, max(setting.left(), 0.1))
    from emdiam.gpu.paths.registry import SEARCHES
    from emdiam.gpu.paths.weighted_graph import paired
    from emdiam.paths.paths import SearchOptions

    known = SEARCHES[method]
    graph = paired(setting.device, weighted.graph) if known.pairs else weighted.graph
    watched = Watched(setting.device, limit)
    seconds: list[float] = []
    for _ in range(2):
        watched.restart()
        start = time.perf_counter()
        found = known.search(watched, graph, weighted.source, SearchOptions())
        seconds.append(time.perf_counter() - start)
        if seconds[0] > limit / 2:
            break
    digest = int(found.largest_distance), zlib.crc32(found.distances.tobytes())
    weighted.known = weighted.known or digest
    arcs = int(weighted.input.degrees[found.has_path].sum())
    return {**weighted.input.key, "method": method, "seconds": seconds[-1], "gteps": arcs / seconds[-1] / 1e9,
            "work": found.relaxations / max(1, arcs), "rounds": found.rounds, "launches": watched.n_launches,
            "largest": digest[0], "wrong": int(digest != weighted.known)}


def _random_rows(setting: Setting) -> tuple[Any, np.ndarray]:
    """A random graph with weights, and its distances from vertex 0 by the plain twin."""
    need_engine()
    from emdiam.paths.rows import WeightedRows

    from .twins import lengths

    n, rng = setting.sizes.weighted["matrix"], np.random.default_rng(inputs.SEED)
    offsets = np.arange(n + 1, dtype=np.int64) * DEGREE
    heads = rng.integers(0, n, n * DEGREE).astype(np.uint32)
    weights = rng.integers(1, LONGEST + 1, n * DEGREE).astype(np.uint32)
    return WeightedRows(offsets, heads, weights), lengths(offsets, heads.astype(np.int64), weights, 0)


def distances_between_all(rows: Any, solver: Any, method: str) -> tuple[np.ndarray, int]:
    """The distances, float64[n, n] with infinity where there is no path, and the rounds; from rows in memory, as a
    command has a device find them. Along weights that are not negative."""
    from emdiam.paths.pairs.arcs import lengths_of
    from emdiam.paths.pairs.tiles import matrix_in_ram
    from emdiam.progress import no_tick

    n, rounds = rows.n_vertices, 0
    lengths = lengths_of(rows)[0]
    if method in ("harish", "ortega"):
        matrix = np.empty((n, n), lengths.dtype)
        solver.searches(method, rows, lengths.infinity, no_tick).fill(0, matrix)
    else:
        matrix = matrix_in_ram(rows, lengths)
        rounds = solver.solve(matrix, method, no_tick)
    found = matrix[:n, :n]
    return np.where(found > lengths.bound, np.inf, found.astype(np.float64)), rounds


def _all_pairs(setting: Setting, lazy: Lazy[tuple[Any, np.ndarray]], method: str) -> dict[str, Any]:
    """The whole of a method: the matrix is made, distances are found and copied to the host."""
    rows, want = lazy.get()
    from emdiam.gpu.paths.all_pairs import PairsSolver
    from emdiam.gpu.paths.floyd_warshall import TILE

    n, limit = rows.n_vertices, min(4 * setting.sizes.cell_seconds, max(setting.left(), 0.1))
    watched, seconds = Watched(setting.device, limit), list[float]()
    for _ in range(2):
        watched.restart()
        start = time.perf_counter()
        found, rounds = distances_between_all(rows, PairsSolver(watched), method)
        seconds.append(time.perf_counter() - start)
        if seconds[0] > limit / 2:
            break
    return {"n": n, "method": method, "seconds": seconds[-1], "giga_ops": n**3 / seconds[-1] / 1e9,
            "rounds": rounds, "tiles": -(-n // TILE), "wrong": int(not np.array_equal(found[0], want))}


def _product(setting: Setting, cell: str, tile: int, lazy: bool) -> dict[str, Any]:
    """One product alone, on the device."""
    need_engine()
    from emdiam.gpu.paths.min_plus import MinPlus, Operand

    device, side = setting.device, -(-setting.sizes.weighted["matrix"] // 64) * 64
    product = MinPlus(device, np.dtype(cell), tile, lazy)
    a, b, c = (Operand(device.empty(side * side, cell), side) for _ in range(3))
    device.fill(a.cells, 1)
    device.fill(b.cells, 2)
    shape = (side // tile,) * 3
    seconds = median_seconds(device, partial(product.product, a, b, c, shape), setting.sizes.repeats,
                             partial(device.fill, c.cells, 4))
    wrong = int(np.count_nonzero(device.to_host(c.cells) != 3))
    return {"n": side, "cells": cell, "tile": tile, "lazy": lazy, "seconds": seconds,
            "giga_ops": side**3 / seconds / 1e9, "wrong": wrong}
