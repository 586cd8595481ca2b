"""The rows of one component in memory, against those of the graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emdiam.methods.exact import small_graph
from emdiam.methods.exact.small_graph import local_rows
from tests.helpers.stores import engine_on, odd_graphs, write_store


@pytest.mark.parametrize("kind", ["in-ram", "streamed", "external"])
@pytest.mark.parametrize(("vertices", "arcs"), [(1, 1), (7, 1 << 19), (1 << 12, 20), (1 << 12, 1 << 19)])
def test_rows_of_a_component(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, vertices: int,
                             arcs: int) -> None:
    """In pieces of every size; vertices are numbered anew."""
    monkeypatch.setattr(small_graph, "_AT_ONCE", vertices)
    monkeypatch.setattr(small_graph, "_ARCS_AT_ONCE", arcs)
    graph = odd_graphs()["path-and-star"]
    with engine_on(write_store(tmp_path / "g.zarr", graph), kind) as engine:
        for first, stop in ((0, 21), (21, len(graph)), (0, len(graph))):
            rows = local_rows(engine, np.arange(first, stop))
            assert [rows.heads[rows.offsets[v] : rows.offsets[v + 1]].tolist() for v in range(rows.n_vertices)] == [
                [u - first for u in row] for row in graph[first:stop]]
