"""Components and condensing of weighted graphs against networkx and plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import InputError
from emdiam.paths.arcs import arcs_of, components_of
from emdiam.paths.condensed.collect import ArcCollector, CondensedArcs
from emdiam.paths.condensed.condense import condense, condensed_packing, grow
from emdiam.paths.condensed.packed import Packing
from emdiam.paths.paths import SearchOptions
from emdiam.sorting.scratch import Scratch
from tests.helpers import weighted_naive as naive

many = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path, tmp_path / "g.zarr")
    yield made
    made.close()


def smallest_of_component(graph: naive.Graph) -> list[int]:
    """Smallest vertex of every vertex's component."""
    made = nx.Graph()
    made.add_nodes_from(range(graph[0]))
    made.add_edges_from((a, b) for a, b, _ in graph[1])
    return [min(nx.node_connected_component(made, v)) for v in range(graph[0])]


def grown(graph: CondensedArcs, masters: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Clusters, with an arena of 20 blocks of 9 arcs."""
    with closing(arcs_of(graph, 2000, SearchOptions())) as arcs:
        return grow(arcs, np.array(masters, np.int64))


@many
@given(graph=naive.graphs(), block_arcs=st.integers(1, 9))
def test_components(scratch: Scratch, graph: naive.Graph, block_arcs: int) -> None:
    want = smallest_of_component(graph)
    with closing(naive.on_disk(graph, scratch, block_arcs)) as disk:
        for arcs in (disk, naive.in_ram(graph)):
            found = components_of(arcs)
            assert found.roots[found.component].tolist() == want and found.roots.tolist() == sorted(set(want))


@pytest.mark.parametrize("order", ["up", "down", "random"])
def test_components_of_long_paths(order: str) -> None:
    n = 3000
    ids = {"up": np.arange(n), "down": np.arange(n)[::-1], "random": np.random.default_rng(1).permutation(n)}[order]
    edges = [(int(a), int(b), 1) for a, b in itertools.pairwise(ids)]
    assert not components_of(naive.in_ram((n, edges))).component.any()


@many
@given(graph=naive.graphs(weights=st.integers(1, 90)), block_arcs=st.integers(1, 9), on_disk=st.booleans(),
       most_ram=st.sampled_from([0, 1 << 20]), data=st.data())
def test_condense(scratch: Scratch, graph: naive.Graph, block_arcs: int, on_disk: bool, most_ram: int,
                  data: st.DataObject) -> None:
    n = graph[0]
    roots = set(smallest_of_component(graph))
    masters = sorted(roots | set(data.draw(st.lists(st.integers(0, n - 1), max_size=6))))
    nearest = [label for label in naive.nearest(graph, masters) if label is not None]
    assert len(nearest) == n
    want = naive.triples((nearest[a][1], nearest[b][1], nearest[a][0] + w + nearest[b][0])
                         for a, b, w in naive.triples(graph[1]))
    arcs: CondensedArcs = naive.on_disk(graph, scratch, block_arcs) if on_disk else naive.in_ram(graph)
    owner, distance = grown(arcs, masters)
    assert list(zip(distance.tolist(), owner.tolist(), strict=True)) == nearest
    packing = condensed_packing(arcs, distance, len(masters))
    ticks: list[int] = []
    made = condense(arcs, owner, distance, ArcCollector(packing, 64 << 20, scratch, block_arcs=block_arcs), most_ram,
                    lambda: ticks.append(1))
    assert naive.triples_in(made.pieces()) == want and made.n_vertices == len(masters)
    assert len(ticks) == len(list(arcs.pieces())) and made.in_ram == (8 * made.n_arcs <= most_ram)
    made.close()
    arcs.close()


def test_condensing_twice_never_shortens(scratch: Scratch) -> None:
    """Distances between masters in the graph of clusters of clusters are those of walks below."""
    graph = naive.grid(20, 2)
    level: CondensedArcs = naive.in_ram(graph)
    ids = np.arange(graph[0])
    for step in (5, 4):
        masters = list(range(0, level.n_vertices, step))
        owner, distance = grown(level, masters)
        packing = condensed_packing(level, distance, len(masters))
        level = condense(level, owner, distance, ArcCollector(packing, 64 << 20, scratch, block_arcs=64), 1 << 20)
        ids = ids[masters]
    real = naive.distances(graph, [int(ids[0])])
    for master, far in zip(ids.tolist(), grown(level, [0])[1].tolist(), strict=True):
        assert (real[master] or 0) <= far < 1 << 20


def test_a_component_without_a_master_is_an_error(scratch: Scratch) -> None:
    arcs = naive.in_ram((4, [(0, 1, 1), (2, 3, 1)]))
    owner, distance = grown(arcs, [0])
    collector = ArcCollector(Packing(2, 9), 64 << 20, scratch)
    with pytest.raises(ValueError, match="vertex 2 has no master"):
        condense(arcs, owner, distance, collector, 0)
    assert not scratch._files


def test_condensed_weights_that_do_not_fit() -> None:
    arcs = naive.in_ram((2, [(0, 1, 60)]))
    with pytest.raises(InputError, match="choose fewer masters"):
        condensed_packing(arcs, np.array([100], np.uint32), 1 << 29)
    assert condensed_packing(arcs, np.empty(0, np.uint32), 5) == Packing(5, 60)
