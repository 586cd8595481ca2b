"""Edges without a direction among those with one, where directions are kept; and weights of a matrix in one place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import emdiam
from emdiam.errors import InputError

ROWS = pd.DataFrame({"Source": ["p", "q", "r"], "Target": ["q", "r", "s"],
                     "Type": ["Directed", "Undirected", "Directed"], "Weight": [2, 3, 4]})
ARCS = {("p", "q"), ("q", "r"), ("r", "q"), ("r", "s")}


def text(separator: str) -> Callable[[pd.DataFrame, Path], Any]:
    def written(table: pd.DataFrame, folder: Path) -> Path:
        file = folder / "edges.txt"
        table.to_csv(file, sep=separator, index=False)
        return file
    return written


def parquet(table: pd.DataFrame, folder: Path) -> Path:
    table.to_parquet(folder / "edges.parquet")
    return folder / "edges.parquet"


TABLES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "commas": text(","), "semicolons": text(";"), "tabs": text("\t"), "blanks": text(" "), "Parquet": parquet,
    "pandas": lambda table, _: table, "pyarrow": lambda table, _: pa.table(table),
    "stream": lambda table, _: pa.table(table).to_reader(),
    "category": lambda table, _: table.astype({"Type": "category"}),
    "booleans": lambda table, _: table.rename(columns={"Type": "directed"}).assign(directed=[True, False, True]),
}


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("kind", TABLES)
def test_edges_without_a_direction_are_two_arcs(kind: str, weights: bool, tmp_path: Path):
    report = emdiam.convert(TABLES[kind](ROWS, tmp_path), tmp_path / "g.zarr", directed=True, weights=weights)
    assert any("1 edge without a direction by column" in note for note in report.notes)
    dropped = [note for note in report.notes if "dropped, since" in note]
    weight = [] if weights else ["dropped, since distances are numbers of edges: column Weight (3 values)"]
    with emdiam.open(tmp_path / "g.zarr") as store:
        assert kind == "blanks" or (dropped == weight and "edges: Source and Target" in store.record.reading)
        names = store.user_ids(np.arange(4))
        arcs = {(names[v], names[int(w)]) for v in range(4) for w in store.neighbours(v)}
    assert arcs == ARCS
    if weights:
        assert emdiam.exact(tmp_path / "g.zarr", weighted=True, directed=True).largest_distance == 9


@pytest.mark.parametrize("kind", [kind for kind in TABLES if kind != "booleans"])
def test_a_column_that_is_only_partly_about_directions_is_refused(kind: str, tmp_path: Path):
    mixed = ROWS.assign(Type=["knows", "Undirected", "Directed"])
    with pytest.raises(InputError, match="column Type says .* 'knows'"):
        emdiam.convert(TABLES[kind](mixed, tmp_path), tmp_path / "g.zarr", directed=True)
    assert emdiam.convert(TABLES[kind](mixed, tmp_path), tmp_path / "h.zarr").record.n_edges == 3
    film = ROWS.assign(Type=["acted", "directed", "directed"])  # no word for edges without a direction
    assert emdiam.convert(TABLES[kind](film, tmp_path), tmp_path / "f.zarr", directed=True).record.n_edges == 3


@pytest.mark.parametrize("suffix", [".graphml", ".graph"])
def test_directions_reach_the_readers_of_files_in_python(suffix: str, tmp_path: Path):
    """An edge without a direction is two arcs there too."""
    (tmp_path / f"g{suffix}").write_text({
        ".graphml": '<graphml><graph edgedefault="undirected"><node id="p"/><node id="q"/><node id="r"/>'
                    '<edge source="p" target="q"/><edge source="q" target="r"/></graph></graphml>',
        ".graph": "3 2\n2\n1 3\n2\n"}[suffix])
    result = emdiam.exact(tmp_path / f"g{suffix}", directed=True)
    assert (result.n_edges, result.largest_distance, result.strongly_connected) == (4, 2, True)


def test_edges_of_json_may_say_that_they_have_no_direction(tmp_path: Path):
    (tmp_path / "g.json").write_text('{"nodes": [{"key": "p"}, {"key": "q"}, {"key": "r"}], "edges": [{"source": "p",'
                                     ' "target": "q", "undirected": true}, {"source": "q", "target": "r"}]}')
    result = emdiam.exact(tmp_path / "g.json", directed=True)
    assert (result.n_edges, result.largest_distance, emdiam.diameter(tmp_path / "g.json").n_edges) == (3, 2, 2)


def test_arrows_are_no_neighbours(tmp_path: Path):
    (tmp_path / "g.txt").write_text("p -> q, r\nq -> p\nr -> p\n")
    for format in (None, "adjlist"):
        with pytest.raises(InputError):
            emdiam.convert(tmp_path / "g.txt", tmp_path / "g.zarr", format=format)


@pytest.mark.parametrize("mark", ["<-", "<--", "<->", "--", "<=", "←", "->", "-->", "=>", "→", "likes"])
def test_marks_that_are_no_arrow_to_the_second_are_no_arcs(mark: str, tmp_path: Path):
    (tmp_path / "g.txt").write_text(f"p {mark} q\nq {mark} r\n")
    if mark in ("->", "-->", "=>", "→", "likes"):
        assert emdiam.convert(tmp_path / "g.txt", tmp_path / "g.zarr", directed=True).first_pairs == (
            ("p", "q"), ("q", "r"))
    else:
        with pytest.raises(InputError, match="leave out directed"):
            emdiam.convert(tmp_path / "g.txt", tmp_path / "g.zarr", directed=True)
    assert emdiam.diameter(tmp_path / "g.txt").diameter == 2


TWICE = sp.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 2])), shape=(3, 3))
MARKET = "%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 2 1\n1 2 2\n2 3 4\n"


def matrix_file(folder: Path) -> Path:
    (folder / "g.mtx").write_text(MARKET)
    return folder / "g.mtx"


def archive(folder: Path) -> Path:
    sp.save_npz(folder / "g.npz", TWICE)
    return folder / "g.npz"


@pytest.mark.parametrize("made", [lambda _: TWICE, archive, matrix_file], ids=["scipy", "npz", "Matrix Market"])
def test_several_weights_in_one_place_of_a_matrix_are_asked_about(made: Callable[[Path], Any], tmp_path: Path):
    """Their sum, as in the matrix, or the least, as in a list."""
    graph = made(tmp_path)
    with pytest.raises(InputError, match="1 entry of the matrix .* sum .* least"):
        emdiam.exact(graph, weighted=True)
    assert emdiam.exact(graph).diameter == 2
    assert emdiam.exact(TWICE.tocsr(), weighted=True).diameter == 7  # scipy has added them
    assert emdiam.exact([(0, 1, 1.0), (0, 1, 2.0), (1, 2, 4.0)], weighted=True).diameter == 5


@pytest.mark.parametrize("graph", [
    {"p": [("q", 2)], "q": [("r", 3)]}, {"p": ["q"], "q": [None]}, [[1, 3], [0, 2], [1, 3], [0, 2]],
    [["source", "target"], ["p", "q"], ["q", "r"]], pd.DataFrame({"x": [0, 1, 1, 0], "z": [1, 0, 1, 0]}),
    np.where(np.eye(5, k=1) + np.eye(5, k=-1) > 0, 1, -1) + np.eye(5, dtype=int),
    pd.DataFrame([[0, 1, 0], [1, 0, 1], [0, 1, 0]], columns=["0", "1", "2"]),
], ids=["weights in tuples", "None", "rows of neighbours", "a header", "bits", "matrix of -1", "numbers as names"])
def test_objects_that_may_be_another_graph_are_refused(graph: Any):
    with pytest.raises(InputError):
        emdiam.diameter(graph)


@pytest.mark.parametrize("rows", ["#target\tsource\nb\ta\nc\tb\n", "# ToNodeId FromNodeId\n2 1\n3 2\n"])
def test_a_comment_that_names_heads_before_tails_is_asked_about(rows: str, tmp_path: Path):
    (tmp_path / "g.txt").write_text(rows)
    with pytest.raises(InputError, match="2,1"):
        emdiam.convert(tmp_path / "g.txt", tmp_path / "g.zarr", directed=True)
    emdiam.convert(tmp_path / "g.txt", tmp_path / "g.zarr", directed=True, columns=("2", "1"))
    assert emdiam.diameter(tmp_path / "g.txt").diameter == 2


@pytest.mark.parametrize("kind", [pa.string(), pa.string_view(), pa.large_string()])
def test_a_column_of_directions_may_have_a_dictionary(kind: pa.DataType, tmp_path: Path):
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["Undirected", "undirected"]).cast(kind))
    table = pa.table({"source": [1, 2, 3], "target": [2, 3, 4], "type": words})
    assert emdiam.diameter(table, directed=True).diameter == 3


@pytest.mark.parametrize("kind", ["commas", "tabs", "blanks", "Parquet", "pandas", "stream"])
@pytest.mark.parametrize(("name", "words"), [("direction", ["->", "<-"]), ("oneway", ["yes", "no"])])
def test_columns_that_say_which_way_are_refused(kind: str, name: str, words: list[str], tmp_path: Path):
    table = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], name: words})
    with pytest.raises(InputError, match="which way") as caught:
        emdiam.convert(TABLES[kind](table, tmp_path), tmp_path / "g.zarr", directed=True)
    assert "source,target" in str(caught.value.remedy)
    report = emdiam.convert(TABLES[kind](table, tmp_path), tmp_path / "g.zarr")
    assert (report.record.n_vertices, report.record.n_edges) == (3, 2)


def test_rows_of_osmnx_have_a_direction_each(tmp_path: Path):
    table = pd.DataFrame({"u": [1, 2, 2], "v": [2, 1, 3], "key": [0, 0, 0], "oneway": [False, False, True]})
    report = emdiam.convert(text(",")(table, tmp_path), tmp_path / "g.zarr", directed=True)
    assert report.record.n_edges == 3


@pytest.mark.parametrize("lines", ["# Undirected graph (each unordered pair once)\na\tb\nb\tc\n",
                                   "% sym unweighted\na;b\nb;c\n", "% sym unweighted\na b\nb c\n",
                                   "% sym weighted\nx a b\ny b c\n"])
def test_comments_that_say_undirected_count_for_all_separators(lines: str, tmp_path: Path):
    (tmp_path / "g.txt").write_text(lines)
    columns = "2,3" if "x a" in lines else None
    with pytest.raises(InputError, match="have no directions"):
        emdiam.convert(tmp_path / "g.txt", tmp_path / "g.zarr", directed=True, columns=columns)
    assert emdiam.convert(tmp_path / "g.txt", tmp_path / "g.zarr", columns=columns).record.n_edges == 2


_NODES = '<node id="a"/><node id="b"/>'
_OF_GRAPH = '<graphml><graph{}>' + _NODES + '<edge source="a" target="b"{}/></graph></graphml>'
_OF_GEXF = '<gexf><graph{}><nodes>' + _NODES + '</nodes><edges><edge source="a" target="b"{}/></edges></graph></gexf>'
_OF_JSON = '{{{} "nodes": ["a", "b"], "edges": [{{"source": "a", "target": "b" {}}}]}}'
WORDS: list[tuple[str, str, str, str, int | None]] = [
    ("graphml", _OF_GRAPH, ' edgedefault="Directed"', "", 1), ("graphml", _OF_GRAPH, "", ' directed="TRUE"', 1),
    ("graphml", _OF_GRAPH, ' edgedefault="directed"', ' directed="0"', 2), ("graphml", _OF_GRAPH, "", "", None),
    ("graphml", _OF_GRAPH, ' edgedefault="mixed"', "", None),
    ("gexf", _OF_GEXF, ' defaultedgetype="Directed"', "", 1), ("gexf", _OF_GEXF, "", "", 2),
    ("gexf", _OF_GEXF, "", ' type="dir"', None), ("gexf", _OF_GEXF, ' defaultedgetype="directed"', ' type="mutual"', 2),
    ("json", _OF_JSON, '"directed": "false",', "", None), ("json", _OF_JSON, '"directed": "maybe",', "", None),
    ("json", _OF_JSON, '"options": {"type": "undirected"},', "", None),
    ("json", _OF_JSON, '"type": "undirected",', "", None),
    ("json", _OF_JSON, "", ', "type": "Undirected"', None), ("json", _OF_JSON, "", ', "undirected": true', None),
    ("json", _OF_JSON, '"directed": false,', ', "directed": true', 1), ("json", _OF_JSON, "", ', "type": "road"', 1),
]


@pytest.mark.parametrize(("suffix", "text", "of_graph", "of_edge", "arcs"), WORDS)
def test_words_for_directions(suffix: str, text: str, of_graph: str, of_edge: str, arcs: int | None, tmp_path: Path):
    (tmp_path / f"g.{suffix}").write_text(text.format(of_graph, of_edge))
    if arcs is None:
        with pytest.raises(InputError, match="direct"):
            emdiam.convert(tmp_path / f"g.{suffix}", tmp_path / "g.zarr", directed=True)
        return
    emdiam.convert(tmp_path / f"g.{suffix}", tmp_path / "g.zarr", directed=True)
    with emdiam.open(tmp_path / "g.zarr", directed=True) as store:
        assert store.record.n_edges == arcs
