"""Matrix Market and DIMACS: header, counts, ids, against naive twins."""

from __future__ import annotations

import io

import pytest
import scipy.io
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.formats import open_source
from tests.helpers.formats_naive import fault_of, naive_dimacs, naive_matrix_market, read_pairs

relaxed = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
BANNER = "%%MatrixMarket matrix coordinate "


def write(folder, text, name):
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


graphs = st.integers(1, 40).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(1, n), st.integers(1, n)), max_size=80))
)


@relaxed
@given(
    graph=graphs,
    field=st.sampled_from(["pattern", "real", "integer", "complex"]),
    last=st.booleans(),
    symmetry=st.sampled_from(["general", "symmetric", "skew-symmetric"]),
    batch_pairs=st.integers(1, 50),
)
def test_matrix_market_agrees_with_the_twin(tmp_path, graph, field, symmetry, last, batch_pairs):
    n, pairs = graph
    value = {"pattern": "", "real": " -1e-3", "integer": " 4", "complex": " 0 1.5"}[field]
    lines = [BANNER + f"{field} {symmetry}", "% note", "%", f"{n}  {n} {len(pairs)}"]
    text = "\n".join(lines + [f" {a}\t{b}{value}" for a, b in pairs]) + ("\n" if last else "")
    file = write(tmp_path, text, "g.mtx")
    info = open_source([file]).info()
    assert (info.n_vertices, info.first_id, info.n_entries) == (n, 1, len(pairs))
    assert info.directed == (symmetry == "general") and info.format == "matrix-market"
    assert read_pairs(file, batch_bytes=16 * batch_pairs) == naive_matrix_market(text)[1] == pairs


@relaxed
@given(graph=graphs, problem=st.sampled_from(["sp", "edge", "col", "max"]), batch_pairs=st.integers(1, 50))
def test_dimacs_agrees_with_the_twin(tmp_path, graph, problem, batch_pairs):
    n, pairs = graph
    letter, weight = ("a", " 17") if problem in ("sp", "max") else ("e", "")
    lines = ["c a note", "c", "", f"p {problem} {n} {len(pairs)}", "n 1 s", "c 1 2"]
    text = "\n".join(lines + [f"{letter} {a} {b}{weight}" for a, b in pairs])
    file = write(tmp_path, text, "g.gr")
    info = open_source([file]).info()
    assert (info.n_vertices, info.first_id, info.directed) == (n, 1, letter == "a")
    assert naive_dimacs(text) == (n, pairs)
    assert read_pairs(file, batch_bytes=16 * batch_pairs) == pairs


def test_what_scipy_writes(tmp_path):
    matrix = scipy.sparse.random(30, 30, 0.1, random_state=1, format="coo")
    text = io.BytesIO()
    scipy.io.mmwrite(text, matrix)
    file = write(tmp_path, text.getvalue(), "g.mtx")
    assert sorted(read_pairs(file)) == sorted(
        zip((matrix.row + 1).tolist(), (matrix.col + 1).tolist(), strict=True)
    )


@pytest.mark.parametrize(
    "text, what, line",
    [
        ("%%MatrixMarket matrix array real general\n2 2\n1\n", "demands 4 values but there are 1", 2),
        ("%%MatrixMarket matrix coordinate real\n2 2 1\n", "banner", 1),
        ("%%MatrixMarket matrix coordinate fancy general\n2 2 1\n", "banner", 1),
        ("%%MatrixMerket\n2 2 1\n1 1\n", "banner", 1),
        (BANNER + "pattern general\n2 3 1\n1 1\n", "2 x 3", 2),
        (BANNER + "pattern general\n2 2\n1 1\n", "three numbers", 2),
        (BANNER + "pattern general\n2 2 -1\n1 1\n", "whole numbers", 2),
        (BANNER + "pattern general\n% x\n2 2 3\n1 1\n2 2\n", "declares 3 entries but there are 2", 3),
        (BANNER + "pattern general\n2 2 1\n1 1\n2 2\n", "declares 1 entries but there are 2", 2),
        (BANNER + "pattern general\n2 2 1\n1 3\n", "outside 1..2", 3),
        (BANNER + "pattern general\n2 2 1\n0 1\n", "outside 1..2", 3),
        (BANNER + "pattern general\n2 2 1\n-1 1\n", "negative", 3),
        (BANNER + "real general\n2 2 1\n\n1 1\n", "fewer than 3 fields", 4),
        (BANNER + "complex general\n2 2 1\n1 1 1\n", "fewer than 4 fields", 3),
        (BANNER + "pattern general\n2 2 1\n1\n", "fewer than two ids", 3),
        (BANNER + "pattern general\n", "no header", None),
        (BANNER + "pattern general\n0 0 0\n", "without vertices", None),
    ],
)
def test_bad_matrix_market(tmp_path, text, what, line):
    error = fault_of(write(tmp_path, text, "g.mtx"), batch_bytes=16)
    assert what in error.what and error.line == line and error.remedy


@pytest.mark.parametrize(
    "text, what, line",
    [
        ("a 1 2 3\n", "starts with a line", 1),
        ("c x\np tsp 3 4\n", "starts with a line", 2),
        ("p sp 3\n", "starts with a line", 1),
        ("\x1c\n", "starts with a line", 1),
        ("p sp x 4\n", "whole numbers", 1),
        ("c only\n", "no header", None),
        ("p sp 3 2\na 1 2 1\n", "declares 2 edges but there are 1", 1),
        ("p sp 3 1\na 1 2 1\na 2 1 1\n", "declares 1 edges but there are 2", 1),
        ("p edge 3 3\ne 1 2\n", "declares 3 edges but there are 1", 1),
        ("p sp 3 1\na 1 4 1\n", "outside 1..3", 2),
        ("p sp 3 1\ne 1 2\n", "no known kind", 2),
        ("p sp 3 1\nc\na1 2\n", "no known kind", 3),
        ("p sp 3 1\na 1\n", "fewer than two ids", 2),
        ("p sp 3 1\na 1 x 4\n", "not an integer", 2),
    ],
)
def test_bad_dimacs(tmp_path, text, what, line):
    error = fault_of(write(tmp_path, text, "g.gr"), batch_bytes=16)
    assert what in error.what and error.line == line and error.remedy


@pytest.mark.parametrize("declared", [2, 4])
def test_colouring_files_may_declare_twice_or_half(tmp_path, declared):
    assert read_pairs(write(tmp_path, f"p edge 3 {declared}\ne 1 2\ne 2 3\n", "g.col")) == [(1, 2), (2, 3)]
    assert read_pairs(write(tmp_path, "p edge 3 1\ne 1 2\ne 2 1\n", "g.col")) == [(1, 2), (2, 1)]
    assert "declares 1 edges" in fault_of(write(tmp_path, "p edge 3 1\ne 1 2\ne 2 3\n", "g.col")).what


def test_pace_graphs_have_bare_pairs(tmp_path):
    file = write(tmp_path, "c x\np tw 3 2\n1 2\n2 3\n", "g.gr")
    assert read_pairs(file) == [(1, 2), (2, 3)] and not open_source([file]).info().directed


@pytest.mark.parametrize(
    "name, text", [("g.mtx", BANNER + "pattern general\n5 5 0\n"), ("g.gr", "p sp 5 0\n")]
)
def test_declared_vertices_without_edges_are_a_graph(tmp_path, name, text):
    file = write(tmp_path, text, name)
    assert read_pairs(file) == [] and open_source([file]).info().n_vertices == 5


def test_names_are_no_choice_for_formats_with_numbers(tmp_path):
    assert "integers" in fault_of(write(tmp_path, "p sp 5 0\n", "g.gr"), ids="string").what
