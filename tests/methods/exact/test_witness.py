"""Labels of the traversal that met the longest pair prove it: no traversal is done again, and none is trusted."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from emdiam.errors import EmdiamError
from emdiam.methods import witness
from emdiam.methods.exact.pivots import PivotOptions, pivots
from emdiam.methods.witness import KeptLabels, check_witness
from emdiam.traverse.ram_column import RamColumn
from tests.helpers import naive
from tests.helpers.stores import CHUNK, engine_on, write_store

STREAMED: dict[str, Any] = {"arena_bytes": 8 * CHUNK * 4, "threads": 2}


@pytest.fixture(params=["on disk", "in memory"], autouse=True)
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where distances are kept: few of them stay in memory."""
    if request.param == "on disk":
        monkeypatch.setattr(witness, "_FEW_BYTES", 0)
        monkeypatch.setattr(witness, "_MOST_BYTES", 0)
    return str(request.param)


def some_graph() -> naive.Graph:
    graph = nx.gnm_random_graph(400, 900, seed=1)
    return naive.graph_of(400, list(graph.edges))


@pytest.mark.parametrize("options", [STREAMED, {}])
def test_no_traversal_is_done_again(tmp_path: Path, options: dict[str, Any]) -> None:
    graph = some_graph()
    with engine_on(write_store(tmp_path / "g.zarr", graph), **options) as engine:
        done, real = list[int](), engine.bfs
        engine.bfs = lambda source, **more: (done.append(source), real(source, **more))[1]
        result = pivots(engine, PivotOptions(batches=False, scratch=tmp_path))
        assert len(done) == result.traversals.bfs
    path = result.witness.path
    assert result.diameter_max_component == result.witness.length == len(path) - 1
    assert naive.distances(graph, path[0])[path[-1]] == result.witness.length
    assert all(w in graph[v] for v, w in itertools.pairwise(path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["g.zarr"]


def test_labels_are_not_trusted(tmp_path: Path, place: str) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", some_graph()), **STREAMED) as engine:
        run = engine.bfs(0)
        kept = KeptLabels(tmp_path)
        kept.put_away(0, run.distances)
        assert (place == "on disk") == bool([*tmp_path.glob("emdiam-*/labels.column")])
        assert kept.labels(1) is None and kept.labels(0) is None  # asked for once
        kept.put_away(0, run.distances)
        labels = kept.labels(0)
        assert labels is not None and (labels.raw() == run.distances.raw()).all()
        check_witness(engine, run.farthest, 0, run.eccentricity, labels=labels)
        labels.put([run.farthest], run.eccentricity + 1)
        with pytest.raises(EmdiamError, match="are not distances"):
            check_witness(engine, run.farthest, 0, run.eccentricity + 1, labels=labels)


def test_without_room_on_disk_a_traversal_is_done_again(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", some_graph()), **STREAMED) as engine:
        result = pivots(engine, PivotOptions(batches=False, scratch=tmp_path / "nowhere"))
    assert result.exact and result.witness.length == result.lower


@pytest.mark.parametrize(("spare", "in_memory"), [(0, False), (4 * 2000 - 1, False), (4 * 2000, True), (1 << 40, True)])
def test_distances_stay_in_memory_where_a_plan_leaves_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spare: int, in_memory: bool
) -> None:
    """Of 2,000 vertices, a byte each."""
    monkeypatch.setattr(witness, "_FEW_BYTES", 100)
    monkeypatch.setattr(witness, "_MOST_BYTES", 2000)
    kept, column = KeptLabels(tmp_path, spare), RamColumn(np.arange(2000).astype(np.uint8))
    kept.put_away(3, column)
    assert bool([*tmp_path.iterdir()]) != in_memory
    column.put([0], 77)
    labels = kept.labels(3)
    assert labels is not None and labels.gather([0, 1]).tolist() == [0, 1], "a copy"
    assert [*tmp_path.iterdir()] == []
    kept.put_away(3, RamColumn(np.zeros(2001, np.uint8)))
    assert [*tmp_path.iterdir()], "never more than so many bytes"
    assert kept.labels(3) is not None
