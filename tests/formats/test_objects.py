"""What Python programs hold graphs in: every kind gives the answer of the file that its edges came from."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import emdiam
from emdiam.errors import InputError
from emdiam.formats import objects
from emdiam.formats.objects import KINDS, as_source

GRAPH = nx.convert_node_labels_to_integers(nx.lollipop_graph(5, 30))
GRAPH.add_edges_from([(3, 35), (35, 36), (36, 2)])
EDGES = np.array([(v, u) if (u + v) % 3 else (u, v) for u, v in GRAPH.edges], np.int64)
SRC, DST = EDGES[:, 0].copy(), EDGES[:, 1].copy()


def matrix(index: Any, made: Callable[..., Any] = sp.coo_array) -> Any:
    """Unsorted, every third edge twice."""
    row, col = (np.concatenate([end, end[::3]])[::-1].astype(index) for end in (SRC, DST))
    return made((np.ones(len(row)), (row, col)), shape=(37, 37))


def compressed(index: Any) -> Any:
    """csr with rows that are not sorted, and an entry twice."""
    coo = matrix(index)
    order = np.argsort(coo.row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(coo.row, minlength=37))]).astype(index)
    made = sp.csr_array((coo.data, coo.col[order].astype(index), indptr), shape=(37, 37))
    assert made.indices.dtype == index and not made.has_canonical_format
    return made


def igraph(names: list[str] | None = None) -> Any:
    graph = pytest.importorskip("igraph").Graph(37, EDGES.tolist())
    if names is not None:
        graph.vs["name"] = names
    return graph


def networkit(weighted: bool = False) -> Any:
    graph = pytest.importorskip("networkit").Graph(37, weighted=weighted)
    for u, v in EDGES.tolist():
        graph.addEdge(u, v)
    return graph


def polars(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


TABLE = {"weight": np.ones(len(SRC)), "source": SRC, "target": DST, "day": np.zeros(len(SRC), int)}
HELD: dict[str, Callable[[], Any]] = {
    "array": lambda: EDGES, "uint8 array": lambda: EDGES.astype(np.uint8), "list": lambda: list(map(tuple, EDGES)),
    "tuple": lambda: (SRC, DST.tolist()), "pandas": lambda: pd.DataFrame(TABLE),
    "pandas index": lambda: pd.DataFrame(TABLE).set_index("weight")[::-1], "two columns": lambda: pd.DataFrame(EDGES),
    "polars": lambda: polars(TABLE), "polars lazy": lambda: polars(TABLE).lazy(), "pyarrow": lambda: pa.table(TABLE),
    "record batch": lambda: pa.RecordBatch.from_pydict(TABLE), "csr int32": lambda: compressed(np.int32),
    "csr int64": lambda: compressed(np.int64), "coo int64": lambda: matrix(np.int64),
    "lil": lambda: matrix(int).tolil(), "csc": lambda: sp.csc_matrix(matrix(np.int32)),
    "networkx": lambda: nx.Graph(EDGES.tolist()), "multigraph": lambda: nx.MultiDiGraph(EDGES.tolist()),
    "igraph": igraph, "networkit": networkit,
    "networkit weighted": lambda: networkit(True),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "edges.txt"
    path.write_text("".join(f"{u} {v}\n" for u, v in EDGES.tolist()))
    return path


@pytest.fixture(scope="module")
def answer(file: Path) -> Any:
    emdiam.convert(file, file.with_name("g.zarr"))
    return emdiam.diameter(file.with_name("g.zarr"))


def same(result: Any, answer: Any) -> bool:
    names = ("diameter", "n_vertices", "n_edges", "n_components", "witness", "traversals")
    return all(getattr(result, name) == getattr(answer, name) for name in names)


@pytest.mark.parametrize("kind", HELD)
def test_every_kind_gives_the_answer_of_its_file(kind: str, answer: Any, tmp_path: Path):
    """To the path of the witness, and to the last bit of the store; networkx would say the same."""
    assert answer.diameter == nx.diameter(GRAPH) and nx.is_path(GRAPH, answer.witness.path)
    assert same(emdiam.diameter(HELD[kind]()), answer)
    assert emdiam.convert(HELD[kind](), tmp_path / "g.zarr").record.chunk_digest == answer.store_digest


def test_files_and_stores_are_graphs_too(file: Path, answer: Any):
    path = file.with_name("g.zarr")
    for graph in (file, str(file), path, str(path)):
        assert same(emdiam.diameter(graph), answer)
    with emdiam.open(path) as store:
        assert same(emdiam.exact(store), answer)


@pytest.mark.parametrize("kind", ["networkx", "igraph", "pandas", "polars", "pyarrow", "list", "tuple"])
def test_names_are_strings(kind: str, tmp_path: Path):
    """In the witness, and as ids of the store, in the same order as those of a file."""
    names = [f"v{v}" for v in range(37)]
    src, dst = ([names[v] for v in end] for end in (SRC, DST))
    table = {"from": src, "to": dst, "weight": [1] * len(src)}
    made: dict[str, Callable[[], Any]] = {
        "networkx": lambda: nx.relabel_nodes(nx.DiGraph(EDGES.tolist()), dict(enumerate(names))),
        "igraph": lambda: igraph(names), "pandas": lambda: pd.DataFrame(table).astype({"from": "category"}),
        "polars": lambda: polars(table), "pyarrow": lambda: pa.table(table),
        "list": lambda: list(zip(src, dst, strict=True)), "tuple": lambda: (np.array(src), pd.Series(dst)),
    }
    graph = made[kind]()
    (tmp_path / "e.txt").write_text("".join(f"{u} {v}\n" for u, v in zip(src, dst, strict=True)))
    expected = emdiam.diameter(tmp_path / "e.txt")
    assert same(emdiam.diameter(graph), expected) and isinstance(expected.witness.source, str)


def test_nodes_that_are_no_ids_come_back_as_they_are():
    """Tuples, mixtures, numbers that are negative: no store has such ids, and the answer does."""
    for label in (lambda v: (v, "x"), lambda v: v - 5, lambda v: str(v) if v % 2 else v, lambda v: "\ud800" + str(v)):
        graph = nx.relabel_nodes(GRAPH, label)
        witness = emdiam.diameter(graph).witness
        assert nx.is_path(graph, witness.path) and len(witness.path) == witness.length + 1 == nx.diameter(GRAPH) + 1
    twice = igraph(["a"] * 37)
    assert nx.is_path(GRAPH, emdiam.diameter(twice).witness.path)


def test_vertices_without_an_edge_count_where_an_object_has_them():
    graph = nx.path_graph(4)
    graph.add_nodes_from([10, 11])
    removed = networkit()
    for v in range(7, 37):
        removed.removeNode(v)
    alone = pytest.importorskip("igraph").Graph(6, [(0, 1), (1, 2), (2, 3)])
    for held, n, parts in ((graph, 6, 3), (alone, 6, 3), (nx.to_scipy_sparse_array(graph), 6, 3), (removed, 7, 1)):
        result = emdiam.diameter(held)
        assert (result.n_vertices, result.n_components) == (n, parts)
    assert emdiam.diameter(graph).diameter_largest_component == 3
    gaps = networkit()
    gaps.removeNode(0)
    gaps.removeNode(30)
    result = emdiam.diameter(gaps)
    assert (result.n_vertices, result.n_components) == (35, 2)
    assert set(result.witness.path) <= set(range(37)) - {0, 30}


def test_approximations_plans_and_proofs_of_objects(tmp_path: Path, answer: Any):
    frame = pd.DataFrame(TABLE)
    rough = emdiam.approximate(frame, masters=6, seed=1)
    assert rough.lower <= answer.diameter <= rough.upper
    [planned] = emdiam.plan(igraph(), method="pivots", memory="4GiB", probe=None)
    assert planned.plan is not None and planned.plan.in_ram
    emdiam.exact(EDGES, certificate=tmp_path / "c.json")
    assert emdiam.verify(tmp_path / "c.json", nx.Graph(EDGES.tolist())).verified
    assert not emdiam.verify(tmp_path / "c.json", nx.path_graph(37)).verified


def test_objects_become_stores(tmp_path: Path, file: Path):
    """With their labels as ids, in any order; a store is written anew."""
    names = [f"v{v}" for v in range(37)]
    graph = nx.relabel_nodes(GRAPH, dict(enumerate(names)))
    graph.add_node("alone")
    emdiam.convert(graph, tmp_path / "a.zarr", order="degree")
    with emdiam.open(tmp_path / "a.zarr") as store:
        assert store.n_vertices == 38 and store.record.id_kind == "string" and store.record.n_isolated == 1
        assert sorted(store.user_ids(np.arange(38))) == sorted([*names, "alone"])
        hub = store.user_ids(store.neighbours(0))
        emdiam.convert(store, tmp_path / "b.zarr")
    assert sorted(hub) == sorted(graph[max(graph, key=graph.degree)])
    with emdiam.open(tmp_path / "b.zarr") as store:
        assert store.record.ordering == "natural" and "alone" in store.user_ids(np.arange(38))
    emdiam.convert(str(tmp_path / "b.zarr"), tmp_path / "c.zarr", codec="none")
    emdiam.convert(file.parent.glob("*.txt"), tmp_path / "d.zarr")
    emdiam.convert(7 * EDGES + 1, tmp_path / "e.zarr")
    digests = [emdiam.diameter(tmp_path / f"{name}.zarr").diameter_max_component for name in "abcde"]
    assert digests == [nx.diameter(GRAPH)] * 5
    report = emdiam.convert(pd.DataFrame(TABLE), tmp_path / "f.zarr")
    assert report.record.values_dropped == {"column weight": len(SRC), "column day": len(SRC)}
    offset = nx.relabel_nodes(nx.path_graph(3), {0: 7, 1: 5, 2: 6})
    assert emdiam.convert(offset, tmp_path / "g.zarr").record.id_kind == "offset"


@pytest.mark.parametrize(("options", "text"), [
    ({"format": "csv"}, "leave them out"), ({"ids": "string"}, "leave them out"), ({"resume": True}, "after a stop"),
])
def test_what_is_not_for_objects_is_refused(tmp_path: Path, options: dict[str, Any], text: str):
    with pytest.raises(InputError, match=text):
        emdiam.convert(EDGES, tmp_path / "g.zarr", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_store_has_no_format(tmp_path: Path, answer: Any, file: Path):
    with pytest.raises(InputError, match="leave them out"):
        emdiam.convert(file.with_name("g.zarr"), tmp_path / "g.zarr", format="csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("columns", "text"), [
    ({"p": [0, 1], "q": [1, 2], "w": [3, 4]}, "which columns are the ends of an edge is not clear .*p, q"),
    ({"source": [0, 1], "target": ["a", "b"]}, "no two id columns"),
    ({"source": [0.5, 1.0], "target": [1, 2]}, "no whole number in row 1 of column source: '0.5'"),
    ({"source": ["a", None], "target": ["b", "c"]}, "column source has no id in row 2"),
    ({"source": ["a", ""], "target": ["b", "c"]}, "column source has an empty id in row 2"),
    ({"source": [3, -1], "target": [1, 2]}, "an id is negative in row 2 of column source: '-1'"),
    ({"source": [], "target": []}, "has no vertices"),
])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_that_are_no_edges(columns: dict[str, Any], text: str, library: str):
    if library == "polars":
        pytest.importorskip("polars")
    table = {"pandas": pd.DataFrame, "polars": polars, "pyarrow": pa.table}[library](columns)
    with pytest.raises(InputError, match=text):
        emdiam.diameter(table)


@pytest.mark.parametrize("late", [7, None, 2.5, ["a"]])
def test_a_column_of_objects_is_of_one_kind_to_its_end(late: Any):
    """Also behind the rows that were looked at, and where a piece has the other kind alone."""
    frame = pd.DataFrame({"source": pd.Series(["a"] * 2000 + [late] * 3, dtype=object), "target": ["b"] * 2003})
    source = as_source(frame)
    for batch_bytes in (1 << 20, 6400):
        with pytest.raises(InputError, match="column source|objects that are no ids"):
            for _ in source.batches(batch_bytes):
                pass


def test_tables_are_read_in_pieces():
    asked: list[int] = []
    source = as_source(pd.DataFrame(TABLE))
    rows = source._rows  # type: ignore[attr-defined]
    source._rows = lambda begin, end, places: (asked.append(end - begin), rows(begin, end, places))[1]  # type: ignore
    batches = list(source.batches(80))
    assert [end for batch in batches for end in batch.src.tolist()] == SRC.tolist()
    assert [end for batch in batches for end in batch.dst.tolist()] == DST.tolist()
    assert max(asked) == 5 and sum(asked) == len(SRC)


def test_nothing_is_copied_whole():
    """1.6 MB of ids, in batches of 16 KiB; only a list of pairs becomes an array first. A copy of one column would be
    800 kB; threads of tests before may still allocate some."""
    src, dst = np.random.default_rng(1).integers(0, 10**6, (2, 100_000))
    columns = {"source": src, "day": dst[::-1].copy(), "target": dst, "km": np.ones(100_000)}
    held = {"array": np.stack([src, dst], axis=1), "tuple": (src, dst), "pandas": pd.DataFrame(columns),
            "pandas block": pd.DataFrame(np.stack([src, dst, src], axis=1), columns=["source", "target", "x"]),
            "pyarrow": pa.table(columns), "coo": sp.coo_array((src, (src, dst)), shape=(10**6, 10**6)),
            "csr": sp.csr_array((src, (src, dst)), shape=(10**6, 10**6))}
    for name, graph in held.items():
        tracemalloc.start()
        before = pa.total_allocated_bytes()
        n = sum(len(batch.src) for batch in as_source(graph).batches(1 << 14))
        peak = tracemalloc.get_traced_memory()[1] + pa.total_allocated_bytes() - before
        tracemalloc.stop()
        assert n > 99_000 and peak < 700_000, name


def test_no_library_is_asked_but_the_one_that_an_object_comes_from(monkeypatch: pytest.MonkeyPatch):
    def refuse(graph: Any) -> Any:
        raise AssertionError("asked")

    class Network(nx.Graph):
        """Of a class of the caller's."""

    for graph, package in ((EDGES, "numpy"), (EDGES.tolist(), "builtins"), (Network([(0, 1)]), "networkx")):
        here = {name: kind if name == package else refuse for name, kind in KINDS.items()}
        monkeypatch.setattr(objects, "KINDS", here)
        assert as_source(graph).info().n_entries
    monkeypatch.setattr(objects, "KINDS", {})
    with pytest.raises(InputError, match="^dict is not a kind of graph that emdiam knows"):
        as_source({})


def test_a_store_that_is_not_there_is_no_file_of_edges(tmp_path: Path):
    for name, what in (("absent.txt", "file"), ("a.csv.gz", "file"), ("absent", "store"), ("absent.zarr", "store")):
        with pytest.raises(emdiam.StoreError, match=f"there is no such {what}"):
            emdiam.diameter(tmp_path / name)


def test_integers_among_floats_are_not_rounded(tmp_path):
    with pytest.raises(InputError, match="position 1 is an integer that no float is"):
        emdiam.exact([(0, 1, 0.5), (1, 2, 9999999999999999)], weighted=True)
    found = emdiam.exact([(0, 1, 0.5), (1, 2, 2**53)], weighted=True)
    assert found.lower <= 2**53 + 0.5 <= found.upper


@pytest.mark.parametrize("names", ["cba", [10, 5, 7], [0, 1, 2]])
def test_tables_whose_rows_and_columns_have_the_same_names_are_matrices(names):
    path = nx.path_graph(list(names))
    result = emdiam.diameter(nx.to_pandas_adjacency(path))
    assert (result.diameter, result.n_vertices) == (2, 3) and {result.witness.source, result.witness.target} == {
        names[0], names[-1]}


def test_tables_of_vertices_are_no_edges():
    for columns in ({"id": [1, 2], "degree": [3, 4]}, {"id": ["a", "b"], "label": ["x", "y"]}):
        with pytest.raises(InputError, match="may be a table of vertices"):
            emdiam.diameter(pd.DataFrame(columns))
    with pytest.raises(InputError, match="can be no ids"):
        emdiam.diameter(pd.DataFrame([[0, 1], [1, 0]], index=[1.5, 2.5], columns=[1.5, 2.5]))
