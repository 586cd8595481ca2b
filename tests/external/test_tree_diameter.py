"""The diameter of a BFS tree on disk is that of the naive twin."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.external.tree_diameter import tree_diameter
from emdiam.traverse.ram_column import RamColumn
from tests.external.test_clustering import Verbs, verbs_on
from tests.helpers import naive
from tests.helpers.approx_twins import tree_diameter as twin
from tests.helpers.stores import graphs, odd_graphs, write_store

ODD = odd_graphs()


def diameter(verbs: Verbs, graph: naive.Graph, source: int) -> int:
    distances = np.array(naive.distances(graph, source)).astype(np.uint16)
    return tree_diameter(verbs._rows, verbs.space, RamColumn(distances), verbs.natural_ranks)


@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, name: str) -> None:
    with verbs_on(write_store(tmp_path / "g.zarr", ODD[name]), 64, 30) as verbs:
        source = len(ODD[name]) // 3
        assert diameter(verbs, ODD[name], source) == twin(ODD[name], source)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(most=200), room=st.integers(1, 300), seed=st.integers(0, 999))
def test_random_graphs(tmp_path: Path, graph: naive.Graph, room: int, seed: int) -> None:
    with verbs_on(write_store(tmp_path / "g.zarr", graph), 64, room) as verbs:
        source = random.Random(seed).randrange(len(graph))
        assert diameter(verbs, graph, source) == twin(graph, source)


def test_what_are_no_distances(tmp_path: Path) -> None:
    graph = naive.graph_of(4, [(0, 1), (1, 2), (2, 3)])
    with verbs_on(write_store(tmp_path / "g.zarr", graph), 64, 30) as verbs:
        wrong = RamColumn(np.array([0, 1, 3, 4], np.uint8))
        with pytest.raises(RuntimeError, match="no neighbour of vertex 2 is nearer"):
            tree_diameter(verbs._rows, verbs.space, wrong, verbs.natural_ranks)
