"""Weights from every input that has them, and what is refused, with its place and a remedy."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import InputError
from emdiam.formats import open_source
from emdiam.formats.digits import Digits
from emdiam.formats.objects import as_source
from emdiam.formats.source import EdgeSource
from emdiam.formats.weights import WeightChoice, common_kind

HUGE = "3.14159265358979323846264338327950288"


def read(source: EdgeSource, batch_bytes: int = 64) -> list[tuple[Any, Any, float]]:
    """Every (a, b, weight)."""
    found: list[tuple[Any, Any, float]] = []
    for batch in source.batches(batch_bytes):
        ends = (ids.tolist() if hasattr(ids, "tolist") else ids.to_pylist() for ids in (batch.src, batch.dst))
        found += zip(*ends, batch.weights.tolist(), strict=True)
    return found


def source_of(folder: Path, name: str, content: str | bytes, column: str = "", negative: bool = False,
              digits: Digits | None = None, **more: Any) -> EdgeSource:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_source([path], weights=WeightChoice(column, negative, digits or Digits()), **more)


ECL = struct.pack("<ii", 3, 4) + np.array([0, 1, 3, 4, 1, 0, 2, 1, 7, 7, 8, 8], "<i4").tobytes()
WSG = (struct.pack("<Bqq", 0, 4, 3) + np.array([0, 1, 3, 4], "<i8").tobytes()
       + np.array([1, 7, 0, 7, 2, 8, 1, 8], "<i4").tobytes())
CSR = [(0, 1, 7), (1, 0, 7), (1, 2, 8), (2, 1, 8)]
MTX = "%%MatrixMarket matrix coordinate {} {}\n3 3 2\n2 1 4\n3 2 5\n"

GOOD: list[tuple[str, str | bytes, str, list[Any], str, dict[str, int]]] = [
    ("a.txt", "1 2 3\n2 3 4 9\n4,5,6\n", "", [(1, 2, 3), (2, 3, 4), (4, 5, 6)], "int",
     {"lines with further fields": 1}),
    ("a.txt", f"1 2 3\n2 3 .1\n4\t5 1e-3\n4 5 {HUGE}\n7 8 {10**30}\n 1 2 -0\n", "",
     [(1, 2, 3), (2, 3, 0.1), (4, 5, 0.001), (4, 5, float(HUGE)), (7, 8, 1e30), (1, 2, 0)], "float64", {}),
    ("a.txt", "1\t2\t0,5\n2\t3\t1,25\n", "", [(1, 2, 0.5), (2, 3, 1.25)], "float64", {}),
    ("a.txt", "1 2 0,5\n2 3 1,25\n", "", [(1, 2, 0.5), (2, 3, 1.25)], "float64", {}),
    ("a.tsv", "p\tq\t0,5\nq\tr\t1,25\n", "", [("p", "q", 0.5), ("q", "r", 1.25)], "float64", {}),
    ("a.txt", "1 2 4 3\n2 3 0 4294967295\n", "4", [(1, 2, 3), (2, 3, 2**32 - 1)], "int",
     {"lines with further fields": 2}),
    ("b.txt", "a b 3\nb c 4.5 9\n", "", [("a", "b", 3), ("b", "c", 4.5)], "float64",
     {"lines with further fields": 1}),
    ("a.gr", "c x\np sp 3 2\na 1 2 7\na 2 3 9\n", "", [(1, 2, 7), (2, 3, 9)], "int", {}),
    ("a.mtx", MTX.format("real", "symmetric"), "", [(2, 1, 4), (3, 2, 5)], "float64", {}),
    ("a.mtx", MTX.format("integer", "general"), "", [(2, 1, 4), (3, 2, 5)], "int", {}),
    ("a.graph", "3 2 011\n1 2 10\n1 1 10 3 5\n1 2 6.5\n", "", [(1, 2, 10), (2, 1, 10), (2, 3, 5), (3, 2, 6.5)],
     "float64", {"vertex weights": 3}),
    ("a.egr", ECL, "", CSR, "int", {}),
    ("a.wsg", WSG, "", CSR, "int", {}),
    ("a.csv", "src,dst,weight\n1,2,3\n2,3,4\n", "", [(1, 2, 3), (2, 3, 4)], "int", {}),
    ("a.csv", "src,dst,len,x\n1,2, 3,a\n2,3,\"4.5\",b\n", "LEN", [(1, 2, 3), (2, 3, 4.5)], "float64",
     {"column x": 2}),
    ("a.csv", "src,dst,w\n2,3,5000000000\n4,5,1.\n9,9,.5\n8,8,1E3\n1,1,-0\n", "3",
     [(2, 3, 5e9), (4, 5, 1), (9, 9, 0.5), (8, 8, 1000), (1, 1, 0)], "float64", {}),
]


@pytest.mark.parametrize("batch_bytes", [1, 64, 1 << 20])
@pytest.mark.parametrize(("name", "content", "column", "want", "kind", "dropped"), GOOD)
def test_files(tmp_path: Path, name: str, content: str | bytes, column: str, want: list[Any], kind: str,
               dropped: dict[str, int], batch_bytes: int):
    source = source_of(tmp_path, name, content, column)
    assert source.info().weights
    assert read(source, batch_bytes) == want and (source.info().weights, source.info().dropped) == (kind, dropped)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(weights=st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr)
                        | st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,2})?", fullmatch=True),
                        min_size=1, max_size=20), batch_bytes=st.sampled_from([16, 1 << 16]))
def test_texts_are_read_as_python_reads_them(tmp_path: Path, weights: list[str], batch_bytes: int):
    text = "1 2 0.5\n" + "".join(f"1 2 {weight}\n" for weight in weights)
    found = [weight for *_, weight in read(
        source_of(tmp_path, "a.txt", text, negative=True, digits=Digits(rounds=True)), batch_bytes)]
    assert found == [0.5, *map(float, weights)]
    # As rows of METIS whose words fall into different blocks: a star, both directions of every edge.
    n = len(weights) + 1
    rows = [" ".join(f"{i + 2} {weight}" for i, weight in enumerate(["0.5", *weights]))]
    rows += [f"1 {weight}" for weight in ["0.5", *weights]]
    star = f"{n + 1} {n} 001\n" + "\n".join(rows) + "\n"
    source = source_of(tmp_path, "a.graph", star, negative=True, digits=Digits(rounds=True))
    found = [weight for a, _, weight in read(source, batch_bytes) if a == 1]
    assert found == [0.5, *map(float, weights)]


@pytest.mark.parametrize(("name", "content", "options", "what"), [
    ("a.txt", "1 2 3\n2 3 -4\n", {}, "line 2: a weight is negative: '2 3 -4'; .*--allow-negative"),
    ("a.txt", "1 2 3\n2 3\n", {}, "line 2: a line without a weight: '2 3'; give every edge a weight"),
    ("a.txt", "1 2 3\n2 3 nan\n", {}, "line 2: a weight is not finite"),
    ("a.txt", "1 2 3\n2 3 -inf\n", {"negative": True}, "line 2: a weight is not finite"),
    ("a.txt", "1 2 3\n\n2 3 1e999\n", {}, "line 3: a weight is not finite: '1e999'"),
    ("a.txt", "1 2 3\n2 3 5x\n", {}, "line 2: a weight is not a number"),
    ("a.txt", "1 2 3\n2 3 1e\n", {}, "line 2: a weight is not a number"),
    ("a.txt", "1 2 3\n2 3 ,,4\n", {}, "line 2: a line without a weight"),
    ("a.txt", "1 2 3\n2 3 4294967296\n", {}, r"line 2: a whole weight is outside 0\.\.4294967295; scale"),
    ("a.txt", "1 2 3\n2 3 -2147483649\n", {"negative": True}, r"line 2: a whole weight is outside -2147483648"),
    ("a.txt", "1 2 3\n", {"column": "len"}, "have no names, but numbers from 3 on"),
    ("a.txt", "1 2 3\n", {"column": "2"}, "have no names, but numbers from 3 on"),
    ("b.txt", "a b 3\nb c\n", {}, "line 2: a line without a weight"),
    ("a.gr", "p sp 3 1\na 1 2\n", {}, "line 2: a line without a weight"),
    ("a.gr", "p sp 3 1\na 1 2 3\n", {"column": "len"}, "format dimacs has no columns of weights to choose from"),
    ("a.col", "p edge 3 1\ne 1 2\n", {}, "a graph of kind edge has none; leave out --weights"),
    ("a.mtx", MTX.format("pattern", "general"), {}, "a general matrix of kind pattern has no weights"),
    ("a.mtx", MTX.format("real", "skew-symmetric"), {}, "a skew-symmetric matrix of kind real has no weights"),
    ("a.graph", "2 1\n2\n1\n", {}, "the header declares no weights of edges"),
    ("a.graph", "2 1 1\n2 -5\n1 5\n", {}, "line 2: a weight is negative: '-5'"),
    ("a.egr", ECL[:-16], {}, "the file has none; leave out --weights"),
    ("a.egr", ECL[:-4] + struct.pack("<i", -8), {}, r"byte 52: a weight is negative \(-8\); .*--allow-negative"),
    ("a.wsg", WSG[:-4] + struct.pack("<i", -8), {}, r"a weight is negative \(-8\)"),
    ("a.sg", WSG[:33] + WSG[33:49], {}, "the file has none|cut short"),
    ("a.csv", "src,dst,a,b\n1,2,3,4\n", {}, r"not one column of weights beside the ids \(a, b\); name one"),
    ("a.csv", "src,dst,a\n1,2,3\n", {"column": "4"}, r"no column 4 beside the ids \(a\)"),
    ("a.csv", "src,dst,w\n1,2,3\n2,3,-4\n", {}, "line 3: a weight is negative: '2,3,-4'"),
    ("a.csv", "src,dst,w\n1,2,3\n2,3,\n", {}, "line 3: a weight is missing"),
    ("a.csv", "src,dst,w\n1,2,3\n2,3,inf\n", {}, "line 3: a weight is not finite"),
    ("a.csv", "src,dst,w\n1,2,3\n2,3,1e400\n", {}, "line 3: a weight is not finite"),
    ("a.csv", "src,dst,w\n1,2,3\n2,3,abc\n", {}, "line 3: a weight is not a number"),
    ("a.csv", "src,dst,w\n1,2,3\n2,3,5000000000\n", {}, "line 3: a whole weight is outside"),
])
def test_files_that_are_refused(tmp_path: Path, name: str, content: str | bytes, options: dict[str, Any], what: str):
    with pytest.raises(InputError, match=what):
        read(source_of(tmp_path, name, content, **options))


@pytest.mark.parametrize(("values", "kind"), [
    (pa.array([1.5, 2]), "float64"), (pa.array([1, 2]), "int"), (pa.array([1, 2], pa.float32()), "float32"),
])
def test_parquet(tmp_path: Path, values: Any, kind: str):
    table = pa.table({"src": [1, 2], "dst": [2, 3], "w": values, "x": ["a", "b"]})
    pq.write_table(table, tmp_path / "a.parquet")
    source = open_source([tmp_path / "a.parquet"], weights=WeightChoice())
    assert [weight for *_, weight in read(source)] == values.to_pylist()
    assert (source.info().weights, source.info().dropped) == (kind, {"column x": 2})
    assert read(as_source(table, WeightChoice("w"))) == read(source)


@pytest.mark.parametrize(("columns", "what"), [
    ({"w": [1, None]}, "column w has no weight in row 2; give every edge a weight"),
    ({"w": ["a", "b"]}, r"not one column of weights beside the ids \(w: string\)"),
    ({"w": [1.0, float("nan")]}, "a weight is not finite in row 2 of column w"),
    ({"w": [1, -7]}, "a weight is negative in row 2 of column w: '-7'"),
    ({"w": [1, 7 << 40]}, "a weight is outside 0..4294967295 in row 2"),
    ({"a": [1, 7], "b": [2, 2]}, "not one column of weights"),
])
def test_tables_that_are_refused(tmp_path: Path, columns: dict[str, Any], what: str):
    table = pa.table({"src": [1, 2], "dst": [2, 3], **columns})
    pq.write_table(table, tmp_path / "a.parquet")
    for source in (lambda: open_source([tmp_path / "a.parquet"], weights=WeightChoice()),
                   lambda: as_source(table, WeightChoice())):
        with pytest.raises(InputError, match=what):
            read(source())


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize(("dtype", "kind"), [("float32", "float32"), ("int16", "int"), ("float64", "float64")])
def test_matrices(tmp_path: Path, layout: str, dtype: str, kind: str):
    matrix = sp.coo_matrix((np.array([1, 5, 2], dtype), ([0, 1, 2], [1, 2, 0])), shape=(4, 4)).asformat(layout)
    want = [(0, 1, 1), (1, 2, 5), (2, 0, 2)]
    source = as_source(matrix, WeightChoice())
    assert sorted(read(source)) == want and source.info().weights == kind
    if layout != "lil":
        sp.save_npz(tmp_path / "a.npz", matrix)
        source = open_source([tmp_path / "a.npz"], weights=WeightChoice())
        assert sorted(read(source)) == want and source.info().weights == kind


def network(*weights: Any) -> nx.Graph:
    graph = nx.path_graph(len(weights) + 1)
    for i, weight in enumerate(weights):
        if weight is not None:
            graph[i][i + 1]["weight"] = weight
    return graph


@pytest.mark.parametrize(("graph", "want", "kind"), [
    (np.array([[0, 1, 5], [1, 2, 7], [2, 3, 1], [3, 4, 1]]), [(0, 1, 5), (1, 2, 7), (2, 3, 1), (3, 4, 1)], "int"),
    (np.array([[0, 1, 0.5], [1, 2, 7]]), [(0, 1, 0.5), (1, 2, 7)], "float64"),
    (([0, 1], [1, 2], [0.5, 3]), [(0, 1, 0.5), (1, 2, 3)], "float64"),
    ([("a", "b", 1), ("b", "c", 2)], [("a", "b", 1), ("b", "c", 2)], "int"),
    (network(3, 4), [(0, 1, 3), (1, 2, 4)], "int"),
    (network(3, 2.5, 1 << 40), [(0, 1, 3), (1, 2, 2.5), (2, 3, 2**40)], "float64"),
])
def test_graphs_in_memory(graph: Any, want: list[Any], kind: str):
    source = as_source(graph, WeightChoice())
    assert read(source) == want and source.info().weights == kind


@pytest.mark.parametrize(("graph", "what"), [
    (sp.csr_matrix(np.eye(3, dtype=bool)), "are bool, not weights"),
    (sp.csr_matrix(np.array([[0, np.nan], [1, 0]])), "a weight is not finite, at position 0"),
    ([(0, 1)], "the entry at position 0 is no pair of ids with a weight"),
    (([0, 1, 2], [1, 2, 3]), "not a kind of graph"),
    (np.array([[0, 1, 5], [1, 2, 7]]), r"2 x 3 .* by rows, .* by columns; .* columns=\(1, 2\); .* \(a\[0\], a\[1\]\)"),
    (([0, 1], [1, 2], [0.5]), r"src has 2 ids and there are weights of shape \(1,\)"),
    (network(3, None), "edge number 1 of networkx has no attribute weight"),
    (network(3, 1 << 40), "the weight of edge number 1 is outside"),
    (network(3, 1 << 4000), "a weight is not finite, at position 1"),
    (network(3, "7"), "the weight of edge number 1 is no number"),
    (network(3, True), "the weight of edge number 1 is no number"),
    (network(3, -2), "a weight is negative, at position 1"),
])
def test_graphs_in_memory_that_are_refused(graph: Any, what: str):
    with pytest.raises(InputError, match=what):
        read(as_source(graph, WeightChoice()))


def test_igraph():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph([(0, 1), (1, 2)])
    with pytest.raises(InputError, match="have not one attribute of weights; they have none at all"):
        as_source(graph, WeightChoice())
    graph.es["len"] = [1, 2.5]
    assert read(as_source(graph, WeightChoice("len"))) == [(0, 1, 1), (1, 2, 2.5)]


def test_kinds_of_several_inputs(tmp_path: Path):
    assert [common_kind(kinds) for kinds in ([], ["int"], ["int", "float32"], ["float32", "float32"])] == [
        "", "int", "float64", "float32"]
    (tmp_path / "a.txt").write_text("1 2 3\n")
    (tmp_path / "b.txt").write_text("1 2 .5\n")
    source = open_source([tmp_path / "a.txt", tmp_path / "b.txt"], weights=WeightChoice())
    assert read(source) == [(1, 2, 3), (1, 2, 0.5)] and source.info().weights == "float64"


@pytest.mark.parametrize("text, name", [
    ("source,target,timestamp\n1,2,1082040961\n2,3,1082155839\n", "g.csv"),
    ("source,target,id\n1,2,7\n2,3,8\n", "g.csv"),
    ("source,target,year\n1,2,1999\n2,3,2000\n", "g.csv"), ("1 2 1082040961\n2 3 1082155839\n", "g.txt"),
    ("1 2 1082040961 3\n2 3 1082155839 4\n", "g.txt"), ("# src dst time weight\n1 2 9 5\n2 3 9 6\n", "g.txt"),
    ("# src\tdst\ttime\tweight\n1\t2\t9\t5\n2\t3\t9\t6\n", "g.txt"), ("# src dst time\n1 2 9\n2 3 9\n", "g.txt")])
def test_times_and_numbers_of_edges_are_no_weights_unless_one_says_so(tmp_path, text, name):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InputError, match="weights") as caught:
        list(open_source([file], weights=WeightChoice()).batches(1 << 20))
    assert "--weight" in caught.value.remedy
    source = open_source([file], weights=WeightChoice("3"))
    assert [len(batch.weights) for batch in source.batches(1 << 20)] == [2]


def test_the_column_of_weights_is_said(tmp_path):
    file = tmp_path / "g.csv"
    file.write_text("source,target,type,travel_time\n1,2,5,10\n2,3,5,20\n")
    assert open_source([file], weights=WeightChoice("travel_time")).info().reading.endswith("weights: travel_time")
