"""Graphs that come as rows of a store: the store is that of the general way, without a sort; others take that way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import emdiam
from emdiam.conversion import intake
from emdiam.conversion.convert import ConvertOptions, graph_in_memory, write_graph
from emdiam.errors import InputError
from emdiam.formats import in_memory
from emdiam.formats.objects import as_source
from emdiam.formats.weights import WeightChoice
from tests.helpers.damage import read_store


def some_graph(seed: int) -> nx.Graph:
    """With loops, attributes, isolated vertices and several components."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    graph = nx.gnp_random_graph(n, 0.4 * rng.random(), seed=seed)
    graph.add_edges_from([(v, v, {"w": 3}) for v in range(n) if rng.random() < 0.1])
    for one, other in list(graph.edges)[:3]:
        graph[one][other]["a"] = 1
    names = rng.permutation(3 * n)[:n].tolist()
    calls: tuple[Callable[[int], Any], ...] = (lambda v: v, lambda v: names[v], lambda v: f"n{names[v]}",
                                               lambda v: (names[v],))
    return nx.relabel_nodes(graph, {v: calls[seed % 4](v) for v in range(n)})


def csr(graph: nx.Graph) -> Any:
    """Its matrix, with sorted rows."""
    matrix = sp.csr_array(nx.to_scipy_sparse_array(graph, weight=None))
    matrix.sort_indices()
    return matrix


def igraph(graph: nx.Graph) -> Any:
    made = pytest.importorskip("igraph").Graph(len(graph), [
        (list(graph).index(one), list(graph).index(other)) for one, other in graph.edges])
    made.es["a"] = 1
    return made


def stored(graph: Any, place: Path, ready: bool) -> tuple[dict[str, Any], Any]:
    """The report and the store of a graph, by rows where these are ready, or by the general way."""
    source: Any = as_source(graph)
    assert source.rows() is not None
    if not ready:
        source.rows = lambda: None
    report = write_graph(source, place, options=ConvertOptions(force=True, chunk_ids=64))
    plain = {name: value for name, value in report.to_dict().items()
             if name not in ("seconds", "planned_rss_bytes", "peak_rss_bytes", "memory_limit_bytes", "sort",
                             "memory_limit_exceeded", "scratch_bytes")}
    return plain, read_store(place)


@pytest.mark.parametrize("kind", [lambda graph: graph, csr, lambda graph: csr(graph).tocsc(), igraph],
                         ids=["networkx", "csr", "csc", "igraph"])
@pytest.mark.parametrize("piece", [1 << 18, 16])
def test_the_store_is_that_of_the_general_way(kind: Callable[[nx.Graph], Any], piece: int, tmp_path: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    """Its arrays, and all that its record and the report say, in one piece and in many."""
    monkeypatch.setattr(in_memory, "_PIECE", piece)
    for seed in range(4):
        graph = kind(some_graph(seed))
        if piece < 100 and 2 * as_source(graph).info().n_entries > piece and not hasattr(graph, "indptr"):
            assert as_source(graph).rows() is None, "of many edges the general way needs less memory"
            continue
        with monkeypatch.context() as patch:
            patch.setattr(intake, "ArcSorter", None)
            said, arrays = stored(graph, tmp_path / "g.zarr", True)
        others, same = stored(graph, tmp_path / "g.zarr", False)
        assert said == others
        assert arrays.keys() == same.keys()
        for name in arrays:
            np.testing.assert_array_equal(arrays[name], same[name])


def changed(change: str) -> Any:
    """A matrix whose rows are not those of a store."""
    matrix = csr(nx.path_graph(20))
    if change == "unsorted":
        matrix.indices[1:3] = matrix.indices[1:3][::-1].copy()
    elif change == "twice":
        matrix.indices[2] = matrix.indices[1]
    elif change == "one way":
        matrix.indices[0] = 7
    elif change == "degrees alone are symmetric":
        return sp.csr_array((np.ones(3), ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
    return matrix


@pytest.mark.parametrize("piece", [1 << 18, 4])
@pytest.mark.parametrize("change", ["unsorted", "twice", "one way", "degrees alone are symmetric"])
def test_other_rows_take_the_general_way(change: str, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_memory, "_PIECE", piece)
    matrix = changed(change)
    assert as_source(csr(nx.path_graph(20))).rows() is not None
    assert as_source(matrix).rows() is None
    edges = nx.Graph(list(zip(*matrix.nonzero(), strict=True)))
    expected = max(nx.diameter(edges.subgraph(part)) for part in nx.connected_components(edges))
    assert emdiam.diameter(matrix).diameter_max_component == expected


def test_what_keeps_directions_weights_or_several_edges_takes_the_general_way() -> None:
    path = nx.path_graph(4)
    for graph in (nx.DiGraph(path), nx.MultiGraph(path), sp.coo_array(csr(path))):
        assert as_source(graph).rows() is None
    nx.set_edge_attributes(path, 2, "weight")
    for graph in (path, csr(path)):
        assert as_source(graph, WeightChoice()).rows() is None
    assert as_source(pytest.importorskip("igraph").Graph(2, [(0, 1), (1, 0)])).rows() is None


def test_indices_beyond_the_matrix_are_said_as_before() -> None:
    matrix = csr(nx.path_graph(4))
    matrix.indices[0] = 9
    with pytest.raises(InputError, match="a vertex id outside the declared 0..3"):
        graph_in_memory(as_source(matrix), Path(), ConvertOptions())
