"""The slow twins of the orders, and stores of one graph in any order, made without `reorder`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from emdiam.store.layout import StoreRecord
from emdiam.store.writer import StoreWriter
from tests.helpers import naive
from tests.helpers.stores import CHUNK


def natural(graph: naive.Graph) -> list[int]:
    """Vertices (natural ranks) in the natural order."""
    return list(range(len(graph)))


def degree(graph: naive.Graph) -> list[int]:
    """By descending degree."""
    return sorted(range(len(graph)), key=lambda v: (-len(graph[v]), v))


def bfs(graph: naive.Graph) -> list[int]:
    """Components by size, a component by distance from its hub, isolated vertices last."""
    found: list[int] = []
    parts = [part for part in naive.components(graph) if len(part) > 1]
    for part in sorted(parts, key=lambda part: (-len(part), part[0])):
        distance = naive.distances(graph, min(part, key=lambda v: (-len(graph[v]), v)))
        found += sorted(part, key=lambda v: (distance[v], v))
    return found + [v for v, row in enumerate(graph) if not row]


TWINS = {"natural": natural, "degree": degree, "bfs": bfs}


def renumbered(graph: naive.Graph, order: Sequence[int]) -> naive.Graph:
    """The graph whose vertex i is the old vertex order[i]."""
    place = {old: new for new, old in enumerate(order)}
    return naive.graph_of(len(graph), [(place[v], place[w]) for v, row in enumerate(graph) for w in row])


def write_in_order(path: Path, graph: naive.Graph, order: Sequence[int], chunk: int = CHUNK) -> Path:
    """A reordered store (its order is called "degree", whatever it is); ids are ranks."""
    indptr, indices = naive.csr(renumbered(graph, order))
    writer = StoreWriter(path, n_vertices=len(graph), chunk_ids=chunk, force=path.exists())
    writer.append_degrees(np.diff(indptr))
    writer.append_neighbours(indices.astype(writer.id_dtype))
    writer.append_ids("natural_id", np.array(order, writer.id_dtype))
    writer.finish(StoreRecord(ordering="degree"))
    return path
