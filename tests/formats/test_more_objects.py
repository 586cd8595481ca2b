"""Graphs in memory in further forms: arrays of two rows, dense matrices, dicts, generators, views, streams, levels of
an index, categories, lists of neighbours."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import emdiam
from emdiam.errors import InputError
from emdiam.formats.objects import as_source
from emdiam.formats.source import two_columns
from emdiam.formats.weights import WeightChoice

PATH = nx.path_graph(5)
DENSE = nx.to_numpy_array(PATH)
SRC, DST = [0, 1, 2, 3], [1, 2, 3, 4]
TABLE = pa.table({"source": SRC, "target": DST})


class Stream:
    """What only speaks the C stream of Arrow, as a relation of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return TABLE.__arrow_c_stream__(requested_schema)


KINDS: dict[str, Callable[[], Any]] = {
    "two rows": lambda: np.array([SRC, DST]),
    "two columns": lambda: np.array([SRC, DST]).T,
    "floats": lambda: np.array([SRC, DST], float),
    "dense": lambda: DENSE,
    "dense by columns": lambda: np.asfortranarray(DENSE),
    "dense bool": lambda: DENSE.astype(bool),
    "dense strided": lambda: np.repeat(DENSE, 2, 1)[:, ::2],
    "dict of lists": lambda: nx.to_dict_of_lists(PATH),
    "dict of dicts": lambda: nx.to_dict_of_dicts(PATH),
    "dict of sets": lambda: {"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"e"}},
    "generator": lambda: (pair for pair in zip(SRC, DST, strict=False)),
    "zip": lambda: zip(SRC, DST, strict=False),
    "set": lambda: set(zip(SRC, DST, strict=False)),
    "view": lambda: PATH.edges,
    "data view": lambda: PATH.edges(data=True),
    "view of a multigraph": lambda: nx.MultiGraph(PATH).edges,
    "view of arcs": lambda: nx.DiGraph(PATH).edges,
    "record batches": TABLE.to_reader,
    "stream": Stream,
    "sources in an index": lambda: pd.DataFrame({"source": SRC, "target": DST, "w": SRC}).set_index("source"),
    "levels of an index": lambda: pd.DataFrame(
        {"x": [1.5] * 4}, index=pd.MultiIndex.from_arrays([SRC, DST, [0] * 4], names=["u", "v", "key"])
    ),
    "levels without names": lambda: pd.DataFrame({"x": [1.5] * 4}, index=pd.MultiIndex.from_arrays([SRC, DST])),
    "categories": lambda: pd.DataFrame(
        {"source": pd.Categorical(list("abcd")), "target": pd.Categorical(list("bcde"))}
    ),
    "categories of numbers": lambda: pd.DataFrame({"source": pd.Categorical(SRC), "target": pd.Categorical(DST)}),
    "float columns": lambda: pd.DataFrame({"source": np.array(SRC, float), "target": DST}),
    "decimal columns": lambda: pa.table(
        {"source": pa.array(SRC, pa.decimal128(20, 0)), "target": pa.array(DST, pa.uint64())}
    ),
    "lists": lambda: pa.table({"node": [0, 1, 2, 3, 4], "neighbours": [[1], [2], [3], [4], []]}),
    "binary": lambda: pa.table(
        {"source": pa.array(list("abcd"), pa.binary()), "target": pa.array(list("bcde"), pa.binary())}
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_the_same_path(kind: str) -> None:
    assert emdiam.exact(KINDS[kind]()).diameter == 4


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_categories_of_polars(kind: str) -> None:
    polars = pytest.importorskip("polars")
    of = polars.Enum(list("abcde")) if kind == "Enum" else polars.Categorical
    table = polars.DataFrame({"source": list("abcd"), "target": list("bcde")}).with_columns(polars.all().cast(of))
    assert emdiam.exact(table).diameter == 4 and emdiam.exact(table.lazy()).diameter == 4


def test_zeros_that_fill_blocks_are_no_edges() -> None:
    blocks = sparse.bsr_array(nx.to_numpy_array(nx.path_graph(6)), blocksize=(2, 2))
    assert emdiam.exact(blocks).diameter == 5


def test_edges_of_a_generator_are_converted(tmp_path: Path) -> None:
    report = emdiam.convert(zip(SRC, DST, strict=False), tmp_path / "g.zarr")
    assert (report.record.n_vertices, report.record.n_edges) == (5, 4)


def decimals(*texts: str) -> pa.Array:
    """An Arrow column of decimals with a place behind the point."""
    return pa.array([Decimal(text) for text in texts], pa.decimal128(25, 1))


@pytest.mark.parametrize(
    ("graph", "what"),
    [
        (np.array([[0, 5], [1, 2]]), "2 x 2"),
        (np.array([[0, 1, 5], [1, 2, 6], [2, 3, 9]]), "3 x 3"),
        (np.zeros((4, 5)), "shape"),
        (np.array([[0, 1, 2], [1, 2, 3]]), "2 x 3"),
        (np.full((4, 4), np.nan), "not finite"),
        ({"src": [1], "dst": [2]}, "columns"),
        ({"a": "bc"}, "no list"),
        ({"0": [1], "1": [0, 2], "2": [1]}, "as JSON makes texts of numbers"),
        (((0, 1), (2, 3)), "may be edges, or sources and targets"),
        (np.ma.masked_array([[0, 1], [1, 2], [2, 3]], mask=[[0, 0], [0, 1], [0, 0]]), "masked"),
        ((np.ma.masked_array([0, 1], mask=[0, 1]), np.array([1, 2])), "masked"),
        (np.array([[16777217, 1], [2, 3], [3, 4]], np.float32), r"beyond 2\^24"),
        (np.array([[2049, 1], [2, 3], [3, 4]], np.float16), r"beyond 2\^11"),
        (enumerate([(0, 1), (1, 2)]), "no ids"),
        (pd.DataFrame({"userId": [1, 2], "movieId": [1, 3]}), "of two kinds"),
        (pd.DataFrame({"source": [1.0, np.nan], "target": [2.0, 3.0]}), "row 2"),
        (pd.DataFrame({"source": [1.0, 2.5], "target": [2.0, 3.0]}), "no whole number in row 2"),
        (np.array([[0.5, 1], [2, 3], [4, 5], [5, 6]]), "no whole number"),
        (pa.table({"source": decimals("1.0", "2.5"), "target": decimals("2.0", "3.0")}), "no whole number in row 2"),
        (pa.table({"source": decimals("1.0", f"{1 << 64}.0"), "target": decimals("2.0", "3.0")}), "an id is outside"),
        (pa.table({"node": [1, 2], "a": [[1], [2]], "b": [[1], [2]]}), "no two id columns"),
    ],
)
def test_what_may_be_several_graphs_or_none_is_refused(graph: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        emdiam.exact(graph)


@pytest.mark.parametrize(("array", "columns", "weights", "want"), [
    ([[0, 1], [0, 2]], (1, 2), None, [(0, 1), (0, 2)]),
    ([[0, 1], [0, 2]], (2, 1), None, [(1, 0), (2, 0)]),
    ([[0, 1, 5], [1, 2, 7]], (1, 2), WeightChoice(), [(0, 1, 5), (1, 2, 7)]),
    ([[0, 1, 5], [1, 2, 7]], (1, 3), WeightChoice(), [(0, 5, 1), (1, 7, 2)]),
    ([[0, 1, 5], [1, 2, 6], [2, 3, 9]], (1, 2), WeightChoice(), [(0, 1, 5), (1, 2, 6), (2, 3, 9)]),
])
def test_columns_say_that_rows_are_edges(array: Any, columns: Any, weights: Any, want: Any) -> None:
    with pytest.raises(InputError, match=r"columns=\(1, 2\)"):
        as_source(np.array(array), weights)
    (batch,) = as_source(np.array(array), weights, two_columns(columns)).batches(1 << 16)
    kept = [batch.src, batch.dst] + ([] if weights is None else [batch.weights])
    assert list(zip(*(values.tolist() for values in kept), strict=True)) == want


def test_the_other_forms_of_an_ambiguous_array() -> None:
    array = np.array([[0, 1, 2], [1, 2, 3]])
    assert emdiam.exact((array[0], array[1])).diameter == 3
    assert emdiam.exact((array[:, 0], array[:, 1], array[:, 2]), weighted=True).diameter == 5
    square = np.array([[0, 5], [0, 2]])
    assert emdiam.exact(sparse.csr_array(square)).diameter == 1
    assert emdiam.exact((square[0], square[1])).n_components == 2
    assert emdiam.exact((square[:, 0], square[:, 1])).diameter == 2


def test_convert_takes_columns_of_an_array(tmp_path: Path) -> None:
    array = np.array([[0, 1, 5], [1, 2, 7]])
    emdiam.convert(array, tmp_path / "g.zarr", columns=(1, 2), weights=True)
    assert emdiam.exact(tmp_path / "g.zarr", weighted=True).diameter == 12


@pytest.mark.parametrize("columns", [("1", "4"), ("1", "1"), ("a", "2"), ("0", "1")])
def test_columns_that_an_array_has_not(columns: tuple[str, str]) -> None:
    with pytest.raises(InputError, match="no such columns"):
        as_source(np.zeros((4, 3), int), None, columns)


def test_columns_leave_one_for_the_weights() -> None:
    with pytest.raises(InputError, match="has not one column of weights"):
        as_source(np.zeros((4, 2), int), WeightChoice(), ("1", "2"))


def test_small_arrays_whose_arcs_differ_are_refused() -> None:
    """As edges they are the same by rows and by columns, not with directions."""
    with pytest.raises(InputError, match="2 x 2"):
        as_source(np.array([[0, 1], [2, 0]]))


def test_small_arrays_that_every_reading_makes_the_same_graph() -> None:
    assert emdiam.exact(np.array([[0, 1], [1, 2]])).diameter == 2
    assert emdiam.exact(np.array([[0, 1], [1, 0]])).diameter == 1
    assert emdiam.exact(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])).diameter == 2


def test_weights_of_matrices_dicts_and_levels(tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 3), ("b", "c", 4)])
    for kind in (
        nx.to_numpy_array(graph),
        np.pad(nx.to_numpy_array(graph), 1)[1:-1, 1:-1] + 0.0,
        nx.to_dict_of_dicts(graph),
        graph.edges(data="weight"),
        pd.DataFrame(
            {"weight": [3, 4], "x": ["p", "q"]},
            index=pd.MultiIndex.from_tuples([("a", "b"), ("b", "c")], names=["u", "v"]),
        ),
    ):
        if isinstance(kind, np.ndarray):  # 3 x 3 with other values than 0 and 1 may be triples
            kind = np.pad(kind, ((0, 1), (0, 1)))
        report = emdiam.convert(kind, tmp_path / "g.zarr", weights=True, force=True)
        assert (float(report.record.weights.least), float(report.record.weights.largest)) == (3, 4)
