"""Graphs of Python programs, and binary files, that could be read as another graph: the right one, or a refusal."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

import emdiam
from emdiam.errors import InputError
from emdiam.formats.objects import as_source
from emdiam.formats.weights import WeightChoice

NEGATIVE = nx.Graph([(-5, -4), (-4, 10), (10, 20)])
TUPLES = nx.Graph([((0, 1), "x"), ("x", 3)])


def edges_of(graph: Any, weighted: bool = False, **how: Any) -> list[Any]:
    """The edges of a graph in memory, by its ids, as sorted tuples; with weights triples."""
    source = as_source(graph, WeightChoice() if weighted else None, **how)
    labels, found = source.info().labels, []
    for batch in source.batches(1 << 16):
        ends = [ids.tolist() if hasattr(ids, "tolist") else ids.to_pylist() for ids in (batch.src, batch.dst)]
        if labels is not None:
            names = labels.tolist() if hasattr(labels, "tolist") else labels.to_pylist()
            ends = [[names[end] for end in some] for some in ends]
        found += list(zip(*ends, *([batch.weights.tolist()] if weighted else []), strict=True))
    return sorted(found)


def refused(graph: Any, what: str, weighted: bool = False, **how: Any) -> None:
    with pytest.raises(InputError, match=what) as caught:
        edges_of(graph, weighted, **how)
    assert caught.value.remedy


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text().splitlines()))[1:]


# Vertices with names that are no ids of a store.


@pytest.mark.parametrize("ask", [
    lambda out: emdiam.shortest_paths(NEGATIVE, 1),
    lambda out: emdiam.shortest_paths(NEGATIVE, -5, target=2),
    lambda out: emdiam.shortest_paths(NEGATIVE, [-5]),
    lambda out: emdiam.approximate(NEGATIVE, method="spanning", root=2),
    lambda out: emdiam.distances(NEGATIVE, sources=[0, 1], targets=[2], out=out),
    lambda out: emdiam.distances(NEGATIVE, sources=[-5], targets=["10"], out=out),
])
def test_positions_are_no_names(ask: Callable[[Path], Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such vertex.*such as -5, -4, 10, 20"):
        ask(tmp_path / "d.csv")


def test_names_are_found_and_written(tmp_path: Path) -> None:
    assert emdiam.shortest_paths(NEGATIVE, -5, target=20, out=tmp_path / "s.csv").path == [-5, -4, 10, 20]
    assert sorted(rows_of(tmp_path / "s.csv"))[1] == ["-5", "0", ""]
    assert emdiam.approximate(NEGATIVE, method="spanning", root=-5).upper == 3
    assert emdiam.approximate(NEGATIVE, method="spanning", root="random").upper >= 3
    emdiam.distances(NEGATIVE, sources=[-5], targets=[10, 20], out=tmp_path / "d.csv")
    assert rows_of(tmp_path / "d.csv") == [["-5", "10", "2"], ["-5", "20", "3"]]
    emdiam.eccentricities(TUPLES, out=tmp_path / "e.csv")
    assert {row[0] for row in rows_of(tmp_path / "e.csv")} == {"(0, 1)", "x", "3"}
    (part,) = emdiam.exact(NEGATIVE, components=2).details["components"]
    assert part["vertex"] in (-4, 10)


@pytest.mark.parametrize("graph", [NEGATIVE, TUPLES, nx.Graph([(0.5, 1), (1, 2)]), nx.Graph([(1, "1"), ("1", 2)])])
def test_texts_of_names_are_ids_of_a_store(graph: Any, tmp_path: Path) -> None:
    report = emdiam.convert(graph, tmp_path / "g.zarr")
    assert "the ids are their texts" in " ".join(report.notes)
    with emdiam.open(tmp_path / "g.zarr") as store:
        names = store.user_ids(np.arange(store.n_vertices))
    assert set(names) in ({str(node) for node in graph}, {repr(node) for node in graph})
    assert emdiam.eccentricities(graph).by_vertex().to_dict() == nx.eccentricity(graph)


def test_names_that_are_ids_need_no_note(tmp_path: Path) -> None:
    for place, graph in enumerate((nx.path_graph(3), nx.Graph([("a", "b")]))):
        assert not emdiam.convert(graph, tmp_path / f"{place}.zarr").notes


def test_names_of_igraph_that_occur_twice_are_numbers(tmp_path: Path) -> None:
    graph = pytest.importorskip("igraph").Graph(4, [(0, 1), (1, 2), (2, 3)])
    graph.vs["name"] = ["a", "b", "a", "c"]
    assert emdiam.eccentricities(graph).by_vertex().to_dict() == {0: 3, 1: 2, 2: 2, 3: 3}
    assert "occur twice" in " ".join(emdiam.convert(graph, tmp_path / "g.zarr").notes)
    emdiam.convert(nx.path_graph(4), tmp_path / "old.zarr")
    for changes in (graph, NEGATIVE, TUPLES):
        with pytest.raises(InputError, match="can be no ids of a store"):
            emdiam.apply(tmp_path / "old.zarr", tmp_path / "new.zarr", remove=changes)
    assert emdiam.apply(tmp_path / "old.zarr", tmp_path / "new.zarr", remove=nx.path_graph(2)).removed == 1


@pytest.mark.parametrize("name", [0.5, True, [1], None, (1,), "1_0", "x", float("nan")])
def test_what_is_no_id_is_no_vertex(name: Any, tmp_path: Path) -> None:
    emdiam.convert(nx.path_graph(11), tmp_path / "g.zarr")
    for ask in (lambda: emdiam.shortest_paths(tmp_path / "g.zarr", name),
                lambda: emdiam.distances(tmp_path / "g.zarr", sources=[name], out=tmp_path / "d.csv")):
        with pytest.raises(InputError, match="there is no vertex|begin at a vertex"):
            ask()


def test_equal_numbers_are_one_id(tmp_path: Path) -> None:
    emdiam.convert(nx.path_graph(3), tmp_path / "g.zarr")
    for name in (2, 2.0, np.int64(2), "2"):
        assert emdiam.shortest_paths(tmp_path / "g.zarr", name, target=np.uint8(0)).path == [2, 1, 0]


# Kinds of ids and weights.

PATH = nx.path_graph(4)
KM = nx.Graph()
KM.add_edge(0, 1, km=2, minutes=9)
KM.add_edge(1, 2, km=3, minutes=8)
SEVERAL = nx.MultiGraph()
SEVERAL.add_edge(0, 1, weight=5)
SEVERAL.add_edge(0, 1, weight=3)


@pytest.mark.parametrize(("graph", "what"), [
    ((["a", 1, "x"], ["1", "b", 1]), "no string: '?1"),
    ((["a", 1.0], ["b", "c"]), "no string"),
    ((["a", "b"], ["b", float("nan")]), "no string"),
    (([True, 2], [3, 4]), "True, not a number"),
    ((pd.Series([1, None], dtype="Int64"), [2, 3]), "no id"),
    (np.array([["a", "b"], ["b", np.nan]]), "is nan, as programs write for a missing one"),
    ([("a", ""), ("", "b")], "empty"),
    ([("a", "nan"), ("nan", "b")], "is nan"),
    (np.array([["a", "b"], ["c", "d"]]), "2 x 2"),
    (np.array([["a", "b", "3"], ["b", "c", "4"]]), "2 x 3"),
    ([(np.ma.masked, 1), (1, 2)], "masked"),
    ([np.ma.masked_array([0, 1], mask=[0, 1]), (1, 2)], "masked"),
    ([("\ud800", "b")], "UTF-8"),
    ([((0, 1), (1, 1))], "no ids"),
    (np.array([[2.0**53, 1], [1, 2], [2, 3]]), r"beyond 2\^53"),
    ([(2**64, 1)], "outside"),
    (pd.DataFrame({"source": ["a", "nan"], "target": ["b", "c"]}), "is nan"),
])
def test_ids_of_mixed_or_missing_kinds_are_refused(graph: Any, what: str) -> None:
    refused(graph, what)


@pytest.mark.parametrize(("graph", "want"), [
    ([("a\0", "b"), ("a", "c")], [("a", "c"), ("a\0", "b")]),
    ((["a", "b"], ["1", "c"]), [("a", "1"), ("b", "c")]),
    (np.array([["a", "b"], ["b", "a"]]), [("a", "b"), ("b", "a")]),
    (np.array([list("abcd"), list("bcde")]), [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]),
    ([(2**63, 1), (1, 2)], [(1, 2), (2**63, 1)]),
    ([(0, 1.0), (2, np.int8(3))], [(0, 1), (2, 3)]),
    (np.array([[2.0**53 - 1, 1], [1, 2], [2, 3]]), [(1, 2), (2, 3), (2**53 - 1, 1)]),
    (np.matrix([[0, 1], [1, 2], [2, 3]]), [(0, 1), (1, 2), (2, 3)]),
    (memoryview(np.array([[0, 1], [1, 2], [2, 3]])), [(0, 1), (1, 2), (2, 3)]),
    ({"a": ["nan"]}, [("a", "nan")]),
    ({"a": iter(["b"])}, [("a", "b")]),
    ({"n0": {}, "n1": {}}, []),
    (nx.Graph([("a", "nan")]), [("a", "nan")]),
])
def test_ids_keep_their_kind(graph: Any, want: Any) -> None:
    assert edges_of(graph) == want


@pytest.mark.parametrize(("weights", "what"), [
    ([0.5, 9999999999999999], "integer that no float is"),
    (np.ma.masked_array([1, 2], mask=[0, 1]), "masked"),
    ([True, 2], "True, not a number"),
])
def test_weights_of_other_kinds_are_refused(weights: Any, what: str) -> None:
    refused(([0, 1], [1, 2], weights), what, weighted=True)
    refused(list(zip([0, 1], [1, 2], weights, strict=True)), what, weighted=True)


@pytest.mark.parametrize("weights", [[np.float32(0.1), 2.0], np.array([0.1, 2], np.float32), [0.1, 2]])
def test_weights_are_the_written_decimals(weights: Any) -> None:
    for graph in (([0, 1], [1, 2], weights), list(zip([0, 1], [1, 2], weights, strict=True))):
        assert edges_of(graph, weighted=True) == [(0, 1, 0.1), (1, 2, 2)]


# Views of networkx.


@pytest.mark.parametrize("view", [SEVERAL.edges, SEVERAL.edges(keys=True), KM.edges])
def test_keys_of_edges_are_no_weights(view: Any) -> None:
    refused(view, "without data has no weights", weighted=True)


@pytest.mark.parametrize("view", [SEVERAL.edges(keys=True, data="weight"), SEVERAL.edges(data="weight"),
                                  SEVERAL.edges(data=True)])
def test_data_of_views_are_weights(view: Any) -> None:
    assert edges_of(view, weighted=True) == [(0, 1, 3), (0, 1, 5)]


def test_views_have_the_named_weights() -> None:
    with pytest.raises(InputError, match="'km' of each edge, not the wanted weights"):
        emdiam.exact(KM.edges(data="km"), weight="minutes")
    assert emdiam.exact(KM.edges(data="km"), weight="km").diameter == 5
    assert emdiam.exact(KM.edges(data=True), weight="minutes").diameter == 17
    assert as_source(nx.DiGraph([(0, 1)]).in_edges).info().directed


@pytest.mark.parametrize("view", [KM.degree, KM.nodes, KM.nodes(data=True), KM.adj])
def test_views_without_edges_are_refused(view: Any) -> None:
    refused(view, "has no edges")


# Dicts and rows.


@pytest.mark.parametrize(("graph", "what"), [
    (dict(KM.edges), "keys of a dict may be edges"),
    ({(0, 1): {}, (1, 2): {}}, "keys of a dict may be edges"),
    (nx.to_pandas_adjacency(PATH).to_dict(), "may be a weight, or no edge"),
    ({"a": {"b": float("nan")}}, "may be a weight, or no edge"),
    ({"a": {"b": False}}, "may be a weight, or no edge"),
    ({"a": {"b": pd.NA}}, "may be a weight, or no edge"),
    ({"a": ["b", float("nan")]}, "None or NaN"),
    ({0: [(1, 2.5)], 1: [(2, 1.0)]}, "tuples unlike"),
    ({0: [[1, 5.0]]}, "no vertex, but a list"),
    ({"nodes": ["a"], "edges": [[0, 1]]}, "no vertex, but a list"),
    ({0: np.array([[1, 2]])}, "no vertex, but a list"),
    ({"src": [1], "dst": [2]}, "columns of a table"),
])
def test_dicts_that_are_no_lists_of_neighbours(graph: Any, what: str) -> None:
    refused(graph, what)


def test_dicts_of_neighbours() -> None:
    assert edges_of({"a": {"b": 3}, "b": {"c": 2}}, weighted=True) == [("a", "b", 3), ("b", "c", 2)]
    assert emdiam.exact(nx.to_dict_of_lists(nx.grid_2d_graph(2, 3))).diameter == 3
    assert emdiam.exact(nx.to_dict_of_dicts(PATH)).diameter == 3


@pytest.mark.parametrize("rows", [
    [[0, 2, 3], [2, 0, 4], [3, 4, 0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]], [np.array(row) for row in np.eye(3)],
])
def test_three_rows_of_three_may_be_a_matrix(rows: Any) -> None:
    refused(rows, "or a matrix with weights", weighted=True)
    assert len(edges_of(list(map(tuple, rows)), weighted=True)) == 3
    assert emdiam.exact(sp.csr_array(rows)).n_vertices == 3


def test_arrays_of_other_libraries_are_arrays(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["matrix"], file["pairs"] = [[0, 2, 3], [2, 0, 4], [3, 4, 0]], [[0, 1], [1, 2], [2, 3]]
        refused(file["matrix"], "3 x 3", weighted=True)
        assert edges_of(file["pairs"]) == [(0, 1), (1, 2), (2, 3)]


# Matrices.

FRACTIONS = np.array([[0, 1, 0.5, 7], [1, 2, 0.25, 8], [2, 3, 0.75, 9], [3, 4, 0.1, 10]])
RANDOM = np.random.default_rng(1).random((4, 4))


def test_fractions_beside_ids_are_no_certain_matrix(tmp_path: Path) -> None:
    refused(FRACTIONS, "4 x 4 may be")
    np.save(tmp_path / "g.npy", FRACTIONS)
    with pytest.raises(InputError, match="4 x 4 may be"):
        emdiam.exact(tmp_path / "g.npy")
    for matrix in (RANDOM, np.triu(RANDOM, 1), np.triu(RANDOM, 1) + np.triu(RANDOM, 1).T):
        assert as_source(matrix).info().n_vertices == 4


BAD = {"not finite": [np.nan, np.inf], "several are -1": [-1]}


@pytest.mark.parametrize(("what", "value"), [(what, value) for what, some in BAD.items() for value in some])
def test_values_for_no_edge_in_a_matrix_of_two_sides(what: str, value: float, tmp_path: Path) -> None:
    values = np.full((3, 4), value)
    values[0, 0] = 2
    refused(values, what, bipartite=True)
    scipy.io.savemat(tmp_path / "g.mat", {"A": np.where(np.eye(5, k=1), 1, value)})
    with pytest.raises(InputError, match=what):
        emdiam.exact(tmp_path / "g.mat")


def test_arrays_of_two_sides() -> None:
    refused(np.ma.masked_array([[1, 0, 1, 0]] * 3, mask=[[1, 0, 0, 0]] * 3), "masked", bipartite=True)
    refused(np.array([list("abcd")] * 3), "texts", bipartite=True)
    values = [[1, 0, 1, 0], [0, 0, 0, 1], [1, 1, 1, 1]]
    for array in (np.array(values), np.asfortranarray(values), np.array(values, bool)):
        assert edges_of(array, bipartite=True) == [(0, 3), (0, 5), (1, 6), (2, 3), (2, 4), (2, 5), (2, 6)]
    texts = np.array([["a", "b"], ["a", "c"], ["b", "c"]])
    assert edges_of(texts, bipartite=True) == [("la", "rb"), ("la", "rc"), ("lb", "rc")]


@pytest.mark.parametrize(("variable", "what"), [
    ([[1, 2], [3, 4]], "2 x 2"), ([[1, 2, 5], [2, 3, 6], [3, 4, 7]], "3 x 3"),
])
def test_small_arrays_of_matlab_may_be_edges(variable: Any, what: str, tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "g.mat", {"edges": variable})
    with pytest.raises(InputError, match=what) as caught:
        emdiam.exact(tmp_path / "g.mat")
    assert "sparse(a)" in str(caught.value)
    scipy.io.savemat(tmp_path / "g.mat", {"edges": [[1, 2], [2, 3]]})
    assert emdiam.exact(tmp_path / "g.mat").n_vertices == 3
    scipy.io.savemat(tmp_path / "g.mat", {"A": sp.csc_array(np.array(variable, float))})
    assert emdiam.exact(tmp_path / "g.mat").n_vertices == len(variable)


ARCS = np.array([[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 3], [0, 0, 0, 0]], float)


def arcs_in(file: Path, store: Path) -> list[Any]:
    emdiam.convert(file, store, directed=True, weights=True, force=True)
    with emdiam.open(store, directed=True) as opened:
        return [(v, int(w)) for v in range(opened.n_vertices) for w in opened.neighbours(v)]


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_directions_of_matrices_in_hdf5(kind: str, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    matrix, expected = sp.coo_array(ARCS).asformat(kind), [(0, 1), (1, 2), (2, 3)]
    for encoding in (f"{kind}_matrix", f"{kind}_matrix".encode()):
        with h5py.File(tmp_path / "g.h5ad", "w") as file:
            group = file.create_group("obsp/connectivities")
            group.attrs["encoding-type"], group.attrs["shape"] = encoding, (4, 4)
            group["indptr"], group["indices"], group["data"] = matrix.indptr, matrix.indices, matrix.data
        assert arcs_in(tmp_path / "g.h5ad", tmp_path / "g.zarr") == expected
    with h5py.File(tmp_path / "g.mat", "w") as file:
        group, columns = file.create_group("A"), sp.csc_array(ARCS)
        group.attrs["MATLAB_sparse"] = np.uint64(4)
        group["jc"], group["ir"], group["data"] = columns.indptr, columns.indices, columns.data
    assert arcs_in(tmp_path / "g.mat", tmp_path / "g.zarr") == expected


@pytest.mark.parametrize("name", ["indptr", "data"])
def test_damaged_sparse_matrices_are_refused(name: str) -> None:
    for damage in ((lambda array: array[::-1].copy()), (lambda array: array[:1])):
        matrix = sp.csr_array(nx.to_numpy_array(PATH))
        if name == "data" and damage(np.arange(3))[0]:
            continue
        setattr(matrix, name, damage(getattr(matrix, name)))
        refused(matrix, "damaged", weighted=True)


# Tables of pandas.

NAMES = ["a", "b", "c"]
CHAIN = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
COUNTS = pd.DataFrame({"red": [1, 2, 3], "blue": [2, 3, 4]}, index=["Ann", "Bob", "Cas"])
FRIENDS = pd.DataFrame({"person": [0, 1], "friend": [1, 2], "since": [5, 6]})
ENDS = pd.DataFrame({"u": [0, 1], "v": [1, 2], "w": [5, 6]})


@pytest.mark.parametrize(("values", "dtype", "what"), [
    ([[str(value) for value in row] for row in CHAIN], object, "values are object"),
    ([[str(value) for value in row] for row in CHAIN], "string", "values are"),
    ([[np.nan, 1, 0], [1, 0, 1], [0, 1, 0]], float, "missing"),
    ([[pd.NA, 1, 0], [1, 0, 1], [0, 1, 0]], "Int64", "missing"),
])
def test_matrices_of_pandas_without_numbers(values: Any, dtype: Any, what: str) -> None:
    refused(pd.DataFrame(values, NAMES, NAMES, dtype=dtype), what)


@pytest.mark.parametrize("dtype", [int, float, bool, "Int64", "boolean", "Float32", "uint8", {"a": bool, "b": float},
                                   pd.SparseDtype(int, 0)])
def test_matrices_of_pandas(dtype: Any) -> None:
    result = emdiam.exact(pd.DataFrame(CHAIN, NAMES, NAMES).astype(dtype))
    assert (result.n_edges, result.diameter) == (2, 2)


@pytest.mark.parametrize(("table", "what"), [
    (COUNTS, "names of rows"), (FRIENDS.set_index("person"), "the index person"),
    (FRIENDS.pivot_table("since", "person", "friend", fill_value=0), "the index person"),
    (pd.Series({"a": ["b", "c"], "b": ["d", "e"]}), "a Series"),
])
def test_an_index_that_may_be_an_end_is_not_dropped(table: Any, what: str) -> None:
    refused(table, what)


def test_an_index_with_an_end_is_read() -> None:
    indexed = ENDS.set_index("u")
    assert edges_of(indexed) == edges_of(indexed, columns=("u", "v")) == [(0, 1), (1, 2)]
    assert edges_of(FRIENDS.set_index("person").reset_index(), columns=("person", "friend")) == [(0, 1), (1, 2)]
    assert edges_of(FRIENDS.set_index("since"), columns=("person", "friend")) == [(0, 1), (1, 2)]
    assert edges_of(FRIENDS[["person", "friend"]][1:]) == [(1, 2)]
    assert edges_of(pd.Series([(0, 1), (1, 2)])) == edges_of(FRIENDS[["person", "friend"]].sort_values("friend"))
    levels = ENDS.set_index(["u", "v"])["w"]
    assert edges_of(levels, weighted=True) == [(0, 1, 5), (1, 2, 6)]
    assert edges_of(pd.Series({"a": ["b", "c"], "b": ["d"]}).to_dict()) == [("a", "b"), ("a", "c"), ("b", "d")]


def test_a_level_and_a_column_of_one_name() -> None:
    index = pd.MultiIndex.from_tuples([(0, 1, 0), (1, 2, 0)], names=["u", "v", "key"])
    table = pd.DataFrame({"key": [0, 0], "length": [1, 2]}, index=index)
    assert edges_of(table) == [(0, 1), (1, 2)]
    refused(table, "the same name: 'key'", weighted=True)
    assert edges_of(table.drop(columns="key"), weighted=True) == [(0, 1, 1), (1, 2, 2)]


def test_remedies_of_python() -> None:
    with pytest.raises(InputError, match="table.to_numpy"):
        emdiam.exact(pd.DataFrame([[0, 1, 5], [1, 2, 6], [2, 3, 7]]))
    assert edges_of(pd.DataFrame([[0, 1, 5], [1, 2, 6], [2, 3, 7]]), columns=("0", "1")) == [(0, 1), (1, 2), (2, 3)]
    with pytest.raises(InputError, match="say weighted=True without a name; in emdiam.convert weights=True"):
        emdiam.exact([(0, 1, 3)], weight="km")
    dask = pytest.importorskip("dask.dataframe")
    refused(dask.from_pandas(ENDS, 1), "computed first")
    assert edges_of(dask.from_pandas(ENDS, 1).compute()) == [(0, 1), (1, 2)]


# Columns of directions, and keys of partitions.


@pytest.mark.parametrize(("name", "words"), [
    ("directed", ["f", "true"]), ("directed", ["n", "n"]), ("directed", ["1", "-1"]), ("directed", [None, "true"]),
    ("Type", ["Directed", "U"]), ("Type", ["Directed", None]), ("Type", ["U", "U"]), ("Type", ["Directed", "0"]),
])
def test_unclear_words_for_directions_are_refused(name: str, words: list[Any], tmp_path: Path) -> None:
    table = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], name: words})
    table.to_csv(tmp_path / "e.csv", index=False)
    for graph in (table, tmp_path / "e.csv"):
        with pytest.raises(InputError, match=f"column {name} says"):
            emdiam.convert(graph, tmp_path / "g.zarr", directed=True)
        assert emdiam.exact(graph).n_edges == 2


@pytest.mark.parametrize(("name", "words", "arcs"), [
    ("directed", [0.0, 1.0], 3), ("directed", ["false", "true"], 3), ("directed", [1, 1], 2),
    ("Type", ["knows", "likes"], 2), ("Type", ["acted", "directed"], 2), ("Type", ["Undirected", "Directed"], 3),
])
def test_clear_words_for_directions(name: str, words: list[Any], arcs: int, tmp_path: Path) -> None:
    table = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], name: words})
    table.to_csv(tmp_path / "e.csv", index=False)
    for graph in (table, tmp_path / "e.csv"):
        assert emdiam.exact(graph, directed=True).n_edges == arcs


@pytest.mark.parametrize(("key", "columns"), [
    ("source", ["target", "rating"]), ("src", ["a", "b"]), ("u", ["v", "w"]), ("person_1", ["person_2", "age"]),
])
def test_keys_of_partitions_that_are_ends_are_refused(key: str, columns: list[str], tmp_path: Path) -> None:
    for value in range(2):
        (tmp_path / f"d/{key}={value}").mkdir(parents=True)
        pd.DataFrame([[1, 2], [3, 4]], columns=columns).to_parquet(tmp_path / f"d/{key}={value}/a.parquet")
    with pytest.raises(InputError, match=f"{key}, a key of the folder's partitions"):
        emdiam.exact(tmp_path / "d")
    assert emdiam.exact(tmp_path / "d", columns=columns).n_edges == 2


def test_keys_of_partitions_that_are_no_ends(tmp_path: Path) -> None:
    for key in ("year=2020", "source=web"):
        (tmp_path / f"{key[:4]}/{key}").mkdir(parents=True)
        pd.DataFrame({"src": [1, 2], "dst": [2, 3]}).to_parquet(tmp_path / f"{key[:4]}/{key}/a.parquet")
        assert emdiam.exact(tmp_path / key[:4]).n_edges == 2
