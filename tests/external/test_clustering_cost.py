"""What growing, condensing and trees write to scratch files and read from them: as docs/algorithms/external.md says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.external.test_clustering import verbs_on
from tests.helpers import naive
from tests.helpers.cluster_twins import grow_twin
from tests.helpers.stores import write_store

N, ROOM, ID = 1 << 12, 256, 4


@pytest.fixture(scope="module")
def graph() -> naive.Graph:
    """Random, and connected by a cycle."""
    pairs = np.random.default_rng(4).integers(0, N, (2 * N, 2)).tolist()
    return naive.graph_of(N, [*pairs, *((v, (v + 1) % N) for v in range(N))])


def near(real: int, formula: float) -> bool:
    return formula / 2 <= real <= 2 * formula


def test_growing_and_condensing(tmp_path: Path, graph: naive.Graph) -> None:
    n_arcs = sum(map(len, graph))
    with verbs_on(write_store(tmp_path / "g.zarr", graph), 512, ROOM) as verbs:
        scratch, masters = verbs.space.scratch, verbs.sample_vertices(3, 40)
        labels = verbs.grow_clusters(masters)
        assert labels is not None
        away = np.array([d for _, d in grow_twin(graph, masters.tolist())])
        degrees = np.array([len(row) for row in graph])
        levels = [(int((away == k).sum()), int(degrees[away == k].sum())) for k in range(away.max() + 1)]
        arcs = sum(a for _, a in levels if a > ROOM)
        vertices = sum(f for f, _ in levels if f > ROOM)
        assert near(scratch.bytes_written, 8 * arcs + 8 * vertices + 16 * N + 8 * N)
        # Once more the labels, which are looked at in the end.
        assert near(scratch.bytes_read, 8 * arcs + 4 * 8 * vertices + 16 * N + 2 * 8 * N)
        before = scratch.bytes_written, scratch.bytes_read
        verbs.condense(labels, (12, 12), lambda words: None)
        assert near(scratch.bytes_written - before[0], (ID + 8) * n_arcs)
        assert near(scratch.bytes_read - before[1], (ID + 8) * n_arcs + 16 * N)


def test_a_tree_and_its_diameter(tmp_path: Path, graph: naive.Graph) -> None:
    n_arcs = sum(map(len, graph))
    with verbs_on(write_store(tmp_path / "g.zarr", graph), 512, ROOM) as verbs:
        grown = verbs.grow_clusters(np.array([7]))
        assert grown is not None
        column, scratch = grown.take_column(), verbs.space.scratch
        before = scratch.bytes_written, scratch.bytes_read
        assert verbs.tree_diameter(column, 7) > 0
        formula = (ID + 8) * n_arcs + (24 + 24 + 16 + 24 + 24 + 16 + 16) * N
        assert near(scratch.bytes_written - before[0], formula)
        assert near(scratch.bytes_read - before[1], formula + 2 * 4 * N)


def test_a_forest(tmp_path: Path, graph: naive.Graph) -> None:
    """In each round arcs of vertices that take part; all others add up to less than one round more."""
    n_arcs = sum(map(len, graph))
    with verbs_on(write_store(tmp_path / "g.zarr", graph), 512, ROOM) as verbs:
        scratch = verbs.space.scratch
        forest = verbs.spanning_forest(5)
        rounds, per_vertex = forest.scans, 32 + 32 + 9 * 8 + 8 * 8
        assert forest.n_trees == 1 and rounds <= np.log2(N)
        assert (ID + 8) * n_arcs <= scratch.bytes_written <= 2 * rounds * ((ID + 8) * n_arcs + per_vertex * N)
        assert scratch.bytes_read <= 2 * scratch.bytes_written
