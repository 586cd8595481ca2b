"""Graphs that are made where they are measured, with numpy or, on a GPU, with CuPy.

Every class gives pairs (n, u, v), int64, of undirected edges; graph() makes rows of both directions without
loops and repetitions. Random numbers differ between numpy and CuPy, the distributions do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from emdiam.gpu.device import Device, DeviceArray
from emdiam.gpu.graph import DeviceGraph, offsets_dtype

from .host_engine import HostGraph
from .setting import Setting

Edges = tuple[int, Any, Any]
SEED = 1
PIECE = 1 << 24
# Graph500: share of the edges in the quadrants of the matrix.
A, B, C = 0.57, 0.19, 0.19
ISOLATED = 0.05
HUBS = 8


def kronecker(xp: ModuleType, scale: int, factor: int = 16) -> Edges:
    """Graph500's Kronecker graph, 2**scale vertices in random order, factor * 2**scale draws of an edge. Many
    vertices are isolated. O(scale * edges), 16 bytes an edge and the random numbers of 2**24 edges."""
    rng, n, m = xp.random.default_rng(SEED), 1 << scale, factor << scale
    u, v = xp.zeros(m, np.int64), xp.zeros(m, np.int64)
    for start in range(0, m, PIECE):
        part = slice(start, min(start + PIECE, m))
        for bit in range(scale):
            r = rng.random(part.stop - start, dtype=np.float32)
            u[part] |= (r >= A + B).astype(np.int64) << bit
            v[part] |= (((r >= A) & (r < A + B)) | (r >= A + B + C)).astype(np.int64) << bit
    order = xp.argsort(rng.random(n, dtype=np.float32)).astype(np.int64)
    return n, order[u], order[v]


def grid(xp: ModuleType, side: int) -> Edges:
    """side x side vertices, each joined to those right of it and below."""
    ids = xp.arange(side * side, dtype=np.int64).reshape(side, side)
    return (side * side, xp.concatenate((ids[:, :-1].ravel(), ids[:-1].ravel())),
            xp.concatenate((ids[:, 1:].ravel(), ids[1:].ravel())))


def triangulation(xp: ModuleType, side: int) -> Edges:
    """A grid with one diagonal in each square, by a coin: plane triangles, as Delaunay's."""
    n, u, v = grid(xp, side)
    ids = xp.arange(n, dtype=np.int64).reshape(side, side)
    rising = xp.random.default_rng(SEED).random((side - 1) ** 2, dtype=np.float32) < 0.5
    first = xp.where(rising, ids[1:, :-1].ravel(), ids[:-1, :-1].ravel())
    second = xp.where(rising, ids[:-1, 1:].ravel(), ids[1:, 1:].ravel())
    return n, xp.concatenate((u, first)), xp.concatenate((v, second))


def path(xp: ModuleType, n: int) -> Edges:
    """Vertices in a line."""
    ids = xp.arange(n, dtype=np.int64)
    return n, ids[:-1], ids[1:]


def star(xp: ModuleType, n: int) -> Edges:
    """Vertex 0 joined to all others."""
    ids = xp.arange(1, n, dtype=np.int64)
    return n, xp.zeros_like(ids), ids


def web(xp: ModuleType, n: int) -> Edges:
    """A web-like graph: of 8 links a page one half leads to near pages, the other to popular ones (density of
    a page's rank x: x**(-2/3), so degrees have exponent 2.5). The last 5 % of the vertices are isolated."""
    rng, pages = xp.random.default_rng(SEED), max(2, int(n * (1 - ISOLATED)))
    m = 4 * pages
    ids = xp.concatenate([xp.arange(pages, dtype=np.int64)] * 4)
    near = ids + 1 + (rng.random(m, dtype=np.float32) ** 4 * 200).astype(np.int64)
    # Chains of pages keep the web in one piece.
    near[:pages] = ids[:pages] + 1
    popular = (rng.random(m, dtype=np.float32).astype(np.float64) ** 3 * pages).astype(np.int64)
    last = np.int64(pages - 1)
    return n, xp.concatenate((ids, ids)), xp.concatenate((xp.minimum(near, last), xp.minimum(popular, last)))


def regular(xp: ModuleType, n: int) -> Edges:
    """Two random circles through all vertices: nearly each has 4 neighbours, and few are settled by any other."""
    rng, ids = xp.random.default_rng(SEED), xp.arange(n, dtype=np.int64)
    orders = [xp.argsort(rng.random(n, dtype=np.float32)).astype(np.int64) for _ in range(2)]
    return (n, xp.concatenate([order[ids] for order in orders]),
            xp.concatenate([order[(ids + 1) % n] for order in orders]))


def circuit(xp: ModuleType, side: int) -> Edges:
    """A circuit-like graph: a grid, and 8 rails that one half of the vertices are joined to, the first rail to
    the most (rows of 10**5 and more neighbours in a graph of low degree)."""
    n, u, v = grid(xp, side)
    rng = xp.random.default_rng(SEED)
    ids = xp.arange(n, dtype=np.int64)
    joined = ids[rng.random(n, dtype=np.float32) < 0.5]
    rail = n + (rng.random(int(joined.size), dtype=np.float32) ** 2 * HUBS).astype(np.int64)
    return n + HUBS, xp.concatenate((u, joined)), xp.concatenate((v, rail))


Make = Callable[[Setting], Edges]
# Class -> a function of numpy or CuPy, and of the size: log2 of the vertices, a side, or vertices.
SIZED: Mapping[str, Callable[[ModuleType, int], Edges]] = {
    "kronecker": kronecker, "web": web, "circuit": circuit, "triangulation": triangulation, "grid": grid,
    "regular": regular,
}
# The graphs that are timed.
TIMED: Mapping[str, Make] = {
    "kronecker": lambda s: kronecker(s.xp, s.sizes.kronecker_scale),
    "web": lambda s: web(s.xp, s.sizes.web_vertices),
    "circuit": lambda s: circuit(s.xp, s.sizes.circuit_side),
    "triangulation": lambda s: triangulation(s.xp, s.sizes.circuit_side),
    # Last, since its thousands of levels take the most time.
    "grid": lambda s: grid(s.xp, s.sizes.grid_side),
}
# The graphs that results are verified on.
VERIFIED: Mapping[str, Make] = {
    "grid": lambda s: grid(s.xp, round(s.sizes.verify_vertices**0.5)),
    "path": lambda s: path(s.xp, min(s.sizes.verify_vertices, 300)),
    "star": lambda s: star(s.xp, s.sizes.verify_vertices),
    "kronecker": lambda s: kronecker(s.xp, max(4, s.sizes.verify_vertices.bit_length() - 1)),
    "triangulation": lambda s: triangulation(s.xp, round(s.sizes.verify_vertices**0.5)),
    "web": lambda s: web(s.xp, s.sizes.verify_vertices),
    "circuit": lambda s: circuit(s.xp, round(s.sizes.verify_vertices**0.5)),
}


@dataclass(frozen=True)
class Input:
    """A graph on the device, and the degrees of its vertices on the host (int64[n])."""

    name: str
    graph: DeviceGraph
    degrees: np.ndarray

    @property
    def key(self) -> dict[str, Any]:
        """What tells rows of this graph from others: class, n, m (undirected edges)."""
        return {"class": self.name, "n": self.graph.n_vertices, "m": self.graph.neighbours.size // 2}

    def sources(self, reached: np.ndarray, count: int) -> list[int]:
        """Different vertices, at most `count`, drawn from those that are `reached` (a mask of all)."""
        found = np.flatnonzero(reached)
        drawn = np.random.default_rng(SEED).choice(found, min(count, found.size), replace=False)
        return [int(v) for v in drawn]


def rows_of(xp: ModuleType, n: int, u: Any, v: Any) -> tuple[Any, Any]:
    """Offsets uint64[n + 1] and neighbours uint32[m] of undirected edges, loops and repetitions dropped, rows
    ascending. Needs n <= 2**31; 32 bytes an edge."""
    keys = xp.concatenate(((u << 32) | v, (v << 32) | u))
    keys = keys[(keys >> 32) != (keys & 0xFFFFFFFF)]
    keys.sort()
    fresh = xp.ones(keys.size, bool)
    fresh[1:] = keys[1:] != keys[:-1]
    keys = keys[fresh]
    offsets = xp.searchsorted(keys, xp.arange(n + 1, dtype=np.int64) << 32)
    return offsets.astype(np.uint64), (keys & 0xFFFFFFFF).astype(np.uint32)


def on_device(device: Device, values: Any) -> DeviceArray:
    """Values of numpy are copied to the device; those of CuPy are there."""
    array: DeviceArray = device.array(values) if isinstance(values, np.ndarray) else values
    return array


def graph_of(setting: Setting, name: str, edges: Edges, dtype: DTypeLike = np.uint32) -> Input:
    """The edges as rows on the device, with ids of that type."""
    offsets, neighbours = rows_of(setting.xp, *edges)
    ids = neighbours.astype(dtype)
    graph = DeviceGraph(on_device(setting.device, offsets.astype(offsets_dtype(ids.size, ids.itemsize))),
                        on_device(setting.device, ids))
    degrees = np.diff(setting.device.to_host(graph.offsets).astype(np.int64))
    return Input(name, graph, degrees)


def host_graph(setting: Setting, name: str, size: int) -> HostGraph:
    """A class of SIZED in the host's memory; made on the device, where nothing of it stays."""
    offsets, neighbours = rows_of(setting.xp, *SIZED[name](setting.xp, size))
    if not isinstance(offsets, np.ndarray):
        offsets, neighbours = setting.device.to_host(offsets), setting.device.to_host(neighbours)
    setting.forget()
    return HostGraph(name, offsets.astype(np.int64), neighbours)


def host_rows(setting: Setting, graph: DeviceGraph) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and neighbours on the host, int64."""
    to_host = setting.device.to_host
    return to_host(graph.offsets).astype(np.int64), to_host(graph.neighbours).astype(np.int64)
