"""Texts whose lines are no edges each, as small files; and what contradicts what they are."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import emdiam
from emdiam.formats import open_source
from emdiam.formats.weights import WeightChoice
from tests.helpers.formats_naive import fault_of, read_pairs

MATRIX = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])


def graph_of(folder, text: str, name: str = "g.txt", **options):
    (folder / name).write_text(text)
    report = emdiam.convert(folder / name, folder / "s.zarr", force=True, **options)
    return report.record.n_vertices, report.record.n_edges, report.record.source_format


@pytest.mark.parametrize("text, name, vertices, edges, fmt", [
    ("0: 1 2 3\n1: 0 4\n2: 0\n3: 0\n4: 1 5\n5: 4\n", "g.txt", 6, 5, "adjlist"),
    ("0,1,2,3\n1,0,4\n2,0\n3,0\n4,1,5\n5,4\n", "g.csv", 6, 5, "adjlist"),
    ("0 1 2 3\n1 4\n2\n3\n4 5\n5\n", "g.txt", 6, 5, "adjlist"),
    ("a b c d\nb a\nc a\nd a\n", "g.txt", 4, 3, "adjlist"),
    ("0 1 5\n1 0 2\n2 1 3\n3 2 4\n4 3 5\n5 4 0\n", "g.txt", 6, 6, "adjlist"),  # a cycle: all rows of one length
    ("0 1 0 0\n1 0 1 0\n0 1 0 1\n0 0 1 0\n", "g.txt", 4, 3, "matrix"),
    ("0,1,0\n1,0,1\n0,1,0\n", "g.csv", 3, 2, "matrix"),
    (",a,b,c\na,0,1,0\nb,1,0,0\nc,0,0,0\n", "g.csv", 3, 1, "matrix"),
    (";a;b\na;0;1\nb;1;0\n", "g.csv", 2, 1, "matrix"),
    ("A pp B\nB pp C D\n", "g.txt", 4, 3, "sif"), ("A pp B\nE\n", "g.sif", 3, 1, "sif"),
    ("x1\tknows\tx2\nx2\tlikes\tx3\n", "g.txt", 3, 2, "sif"),
    ("# a\nb\nc\n# c\nd\n", "g.lgl", 4, 3, "lgl"), ("# a\nb 1.0\nc 2.0\n# c\nd 1.5\n# e\n", "g.lgl", 5, 3, "lgl"),
    ("0 2\n1 {}\n2 {}\n1 1\n2 {}\n2 0\n3 0\n", "g.txt", 4, 3, "multiline-adjlist"),
    ("# pycgr\n3\n2\n0 49.1 6.1\n1 49.2 6.2\n2 49.3 6.3\n0 1 10.5 way 50 0\n1 2 7.5 way 50 1\n", "g.txt", 3, 2,
     "pycgr")])
def test_shapes(tmp_path, text, name, vertices, edges, fmt):
    assert graph_of(tmp_path, text, name) == (vertices, edges, fmt)


@pytest.mark.parametrize("text, formats", [
    ("0 1 0\n0 0 1\n1 0 0\n", ("matrix", "edgelist")), ("1 2 9\n2 5\n3 6\n", ("adjlist", "edgelist"))])
def test_lines_of_two_shapes_are_asked_about(tmp_path, text, formats):
    (tmp_path / "g.txt").write_text(text)
    error = fault_of(tmp_path / "g.txt")
    for fmt in formats:
        assert f"--format {fmt}" in error.remedy and read_pairs(tmp_path / "g.txt", fmt=fmt)


def test_texts_of_which_the_middle_may_be_the_other_end_are_asked_about(tmp_path):
    (tmp_path / "g.txt").write_text("a x p\nx b q\nb x a\n")
    error = fault_of(tmp_path / "g.txt")
    assert "--columns 1,2" in error.remedy and "--columns 1,3" in error.remedy
    assert read_pairs(tmp_path / "g.txt", columns="1,3") == [("a", "p"), ("x", "q"), ("b", "a")]


@pytest.mark.parametrize("text, name, line", [
    ("0 1 0 0\n1 0 1 0\n0 1 0 1\n0 0 1\n", "g.txt", 4), ("0 1 0 0\n1 0 x 0\n", "g.txt", 2),
    ("0 1 0\n1 0 1\n", "g.txt", None),
    (",a,b,c\na,0,1,0\nc,1,0,1\nb,0,1,0\n", "g.csv", 3)])
def test_faults_of_matrices(tmp_path, text, name, line):
    (tmp_path / name).write_text(text)
    error = fault_of(tmp_path / name, fmt="matrix")
    assert error.remedy and (line is None or error.line == line)


@pytest.mark.parametrize("fmt, text, line", [
    ("sif", "a pp b\na b\n", 2), ("lgl", "a\n# b\n", 1), ("lgl", "# a\nb 1 2\n", 2), ("lgl", "# a b\n", 1),
    ("multiline-adjlist", "0 2\n1 {}\n", 2), ("multiline-adjlist", "0\n", 1), ("adjlist", "0 1\n1 x\n", 2),
    ("pycgr", "2\n1\n0 1.0 2.0\n1 1.0 2.0\n", 4), ("pycgr", "1\n0\n0 1.0 2.0\n0 0 1\n", 4)])
def test_faults_of_lists(tmp_path, fmt, text, line):
    (tmp_path / "g.txt").write_text(text)
    error = fault_of(tmp_path / "g.txt", fmt=fmt)
    assert error.line == line and error.remedy


def test_weights_of_matrices_lists_and_other_columns(tmp_path):
    (tmp_path / "m.txt").write_text("0 7 0 0\n7 0 2.5 0\n0 2.5 0 1\n0 0 1 0\n")
    (tmp_path / "g.lgl").write_text("# a\nb 3\n# b\nc 4\n")
    (tmp_path / "c.txt").write_text("5 0 x 1\n6 1 y 2\n")
    for name, options, longest in (("m.txt", {}, 10.5), ("g.lgl", {}, 7), ("c.txt", {"columns": "2,4"}, 11)):
        weights = True if name != "c.txt" else "1"
        emdiam.convert(tmp_path / name, tmp_path / "s.zarr", force=True, weights=weights, **options)
        assert float(emdiam.exact(tmp_path / "s.zarr", weighted=True).diameter) == longest


def test_weights_of_multiline_lists(tmp_path):
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a b", "c", 3), ("c", "d", 2.5)], km=1)
    for delimiter in ("\t", ","):
        nx.write_multiline_adjlist(graph, tmp_path / "h.adjlist", delimiter=delimiter)
        for name, longest in ((True, 5.5), ("km", 2)):
            record = emdiam.convert(tmp_path / "h.adjlist", tmp_path / "s.zarr", force=True, weights=name).record
            assert (record.n_vertices, record.n_edges) == (3, 2)
            assert float(emdiam.exact(tmp_path / "s.zarr", weighted=True).diameter) == longest
    error = fault_of(tmp_path / "h.adjlist", weights=WeightChoice("mi"))
    assert error.what == "an edge without an attribute mi" and error.line == 5 and error.text.startswith("{")


@pytest.mark.parametrize("batch_bytes", [16, 1 << 16])
def test_what_networkx_writes(tmp_path, batch_bytes):
    for seed in range(8):
        graph = nx.gnm_random_graph(12, 16, seed=seed)
        for write, name in ((nx.write_adjlist, "g.adjlist"), (nx.write_multiline_adjlist, "h.adjlist")):
            write(graph, tmp_path / name)
            found = read_pairs(tmp_path / name, batch_bytes=batch_bytes)
            assert {frozenset(pair) for pair in found if pair[0] != pair[1]} == set(map(frozenset, graph.edges))
            assert {end for pair in found for end in pair} == set(graph)


def test_a_large_matrix_is_known_by_its_first_rows(tmp_path):
    graph = nx.gnm_random_graph(900, 2000, seed=1)
    np.savetxt(tmp_path / "g.txt", nx.to_numpy_array(graph), fmt="%d")
    source = open_source([tmp_path / "g.txt"])
    assert source.info().format == "matrix" and source.info().n_vertices == 900
    assert sum(len(batch.src) for batch in source.batches(1 << 12)) == 4000
