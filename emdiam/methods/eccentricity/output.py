"""The table of all eccentricities in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...engine.interface import Components, Engine, max_degree_vertex
from ...vertex_tables import Piece, Values, write_vertices
from .bounds import Bounds


def write_table(path: Path, engine: Engine, bounds: Bounds, components: Components | None, intervals: bool) -> None:
    """A row for every vertex in the order of the store: id, eccentricity, component (the id of a vertex of it). With
    `intervals`: id, lower, upper, component. components : those that the first BFS did not reach. Raises InputError
    where it cannot be written."""
    write_vertices(path, _pieces(engine, bounds, components, intervals), "the table of eccentricities")


def _pieces(engine: Engine, bounds: Bounds, components: Components | None, intervals: bool) -> Iterator[Piece]:
    """The rows in pieces."""
    n, hub = engine.facts.n_vertices, max_degree_vertex(engine)
    for start, lower, upper in bounds.pieces():
        ids = np.arange(start, start + len(lower))
        columns: dict[str, Values] = {"id": engine.store.user_ids(ids)}
        if intervals:
            columns["lower"] = np.maximum(lower, 0)
            columns["upper"] = np.where(lower < 0, n - 1, upper)
        else:
            columns["eccentricity"] = lower
        columns["component"] = engine.store.user_ids(_members(engine, components, hub, ids))
        yield columns


def _members(engine: Engine, components: Components | None, hub: int, ids: np.ndarray) -> np.ndarray:
    """A vertex of the component of each of these consecutive vertices, int64[k]. hub : of that with all edges."""
    if components is None:
        labels = np.full(len(ids), hub)
    else:
        labels = np.asarray(components.labels[int(ids[0]) : int(ids[-1]) + 1], np.int64)
    isolated = engine.degrees(ids) == 0
    labels[isolated] = ids[isolated]
    return labels
