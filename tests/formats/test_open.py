"""open_source: names, globs, detection, several inputs as one, and inputs that are none."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from emdiam.errors import InputError
from emdiam.formats import FORMATS, open_source
from emdiam.formats.source import EdgeSource
from tests.helpers.formats_naive import fault_of, pack_egr, read_pairs

MTX = b"%%%%MatrixMarket matrix coordinate pattern general\n%d %d 1\n1 2\n"


def write(folder, data: bytes, name: str):
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    return file


def test_it_is_an_edge_source(tmp_path):
    assert isinstance(open_source([write(tmp_path, b"1 2\n", "g.txt")]), EdgeSource)


def test_the_formats():
    assert FORMATS == (
        "edgelist",
        "csv",
        "attributes",
        "columns",
        "adjlist",
        "multiline-adjlist",
        "matrix",
        "sif",
        "lgl",
        "pycgr",
        "matrix-market",
        "dimacs",
        "metis",
        "graph-txt",
        "ecl",
        "gapbs",
        "galois",
        "adj",
        "csr",
        "bvgraph",
        "npz",
        "npy",
        "parquet",
        "arrow",
        "hdf5",
        "mat",
        "graphml",
        "gexf",
        "pajek",
        "leda",
        "dl",
        "ntriples",
        "gml",
        "dot",
        "json",
        "graph6",
    )


@pytest.mark.parametrize(
    "name, data, fmt",
    [
        *(
            (f"g.{suffix}", b"1 2\n", "edgelist")
            for suffix in (
                "txt",
                "e",
                "el",
                "wel",
                "edges",
                "edgelist",
                "tsv",
                "net",
                "dat",
                "csv",
                "xyz",
                "TXT",
            )
        ),
        ("g", b"1 2\n", "edgelist"),
        ("out.name", b"% sym unweighted\n1 2\n", "edgelist"),
        ("g.csv", b"src,dst\n1,2\n", "csv"),
        ("g.CSV", b"a,b\n1,2\n", "csv"),
        ("g.txt", b"# x\nFromNodeId\tToNodeId\n1\t2", "csv"),
        ("g.mtx", MTX % (2, 2), "matrix-market"),
        ("g.txt", MTX % (2, 2), "matrix-market"),
        ("g.gr", b"p sp 2 1\na 1 2 3\n", "dimacs"),
        ("g.txt", b"c\nc note\n\np sp 2 1\na 1 2 3\n", "dimacs"),
        ("g.col", b"p edge 2 1\ne 1 2\n", "dimacs"),
        ("g.graph", b"2 1\n2\n1\n", "metis"),
        ("g.egr", pack_egr(2, [[1], [0]]), "ecl"),
    ],
)
def test_detection_by_suffix_else_by_content(tmp_path, name, data, fmt):
    assert open_source([write(tmp_path, data, name)]).info().format == fmt


@pytest.mark.parametrize("fmt", ["metis", "METIS", "graph"])
def test_a_named_format_wins(tmp_path, fmt):
    assert read_pairs(write(tmp_path, b"3 1\n2\n1\n\n", "g.txt"), fmt=fmt) == [(1, 2), (2, 1)]


def test_an_unknown_format_lists_the_known_ones(tmp_path):
    error = fault_of(write(tmp_path, b"1 2\n", "g.txt"), fmt="xlsx")
    assert error.text == "xlsx" and all(name in error.remedy for name in FORMATS)


def test_an_unknown_kind_of_ids(tmp_path):
    assert "auto, int, string" in fault_of(write(tmp_path, b"1 2\n", "g.txt"), ids="float").remedy


@pytest.mark.parametrize(
    "data, what",
    [
        (b"1 2\0\0\0", "binary"),
    ],
)
def test_foreign_data_are_named(tmp_path, data, what):
    error = fault_of(write(tmp_path, data, "g.unknown"))
    assert what in error.what and "--format" in error.remedy


def test_globs_are_expanded_in_order(tmp_path):
    for name in ("b.txt", "a.txt", "c.txt.gz"):
        if not name.endswith("gz"):
            write(tmp_path, b"%d 0\n" % ord(name[0]), name)
    (tmp_path / "d.txt").mkdir()
    assert read_pairs(tmp_path / "*.txt") == [(97, 0), (98, 0)]
    assert read_pairs(tmp_path / "[b]*.txt", tmp_path / "a.txt") == [(98, 0), (97, 0)]
    write(tmp_path / "sub", b"5 6\n", "e.el")
    assert read_pairs(tmp_path / "**" / "*.el") == [(5, 6)]


def test_a_file_that_looks_like_a_glob(tmp_path):
    assert read_pairs(write(tmp_path, b"1 2\n", "g[1].txt")) == [(1, 2)]


@pytest.mark.parametrize(
    "pattern, what",
    [
        ("*.none", "no file matches"),
        ("missing.txt", "no such file"),
        ("folder", "no files in the folder"),
        ("file.txt/x", "cannot be read"),
    ],
)
def test_inputs_that_are_none(tmp_path, pattern, what):
    write(tmp_path, b"1 2\n", "file.txt")
    (tmp_path / "folder").mkdir()
    error = fault_of(tmp_path / pattern)
    assert what in error.what and str(tmp_path) in str(error)


def test_no_input_and_standard_input_twice():
    for inputs, what in (([], "no input"), (["-", "-"], "twice")):
        with pytest.raises(InputError, match=what):
            open_source(inputs)


def test_an_unreadable_file(tmp_path):
    file = write(tmp_path, b"1 2\n", "g.txt")
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("this user may read everything")
    assert "cannot be read" in fault_of(file).what


def test_several_files_are_one_graph(tmp_path):
    a, b = write(tmp_path, b"1 2\n", "a.txt"), write(tmp_path, b"src,dst\n3,4\n5,6\n", "b.csv")
    source = open_source([a, b])
    info = source.info()
    assert (
        info.size_bytes == 20 and info.format == "csv+edgelist" and info.n_entries is None and info.directed
    )
    assert read_pairs(a, b) == [(1, 2), (3, 4), (5, 6)]
    list(source.batches(100))
    assert source.position_bytes() == 20 and source.name == f"{a} and 1 more"


def test_declared_counts_add_up(tmp_path):
    a, b = write(tmp_path, MTX % (5, 5), "a.mtx"), write(tmp_path, MTX % (5, 5), "b.mtx")
    info = open_source([a, b]).info()
    assert (info.n_vertices, info.n_entries, info.format) == (5, 2, "matrix-market")


@pytest.mark.parametrize(
    "other, name, what",
    [
        (MTX % (6, 6), "b.mtx", "1..6"),
        (b"1 2\n", "b.txt", "no number of vertices"),
        (pack_egr(5, [[1], [0], [], [], []]), "b.egr", "0..4"),
    ],
)
def test_contradicting_counts(tmp_path, other, name, what):
    error = fault_of(write(tmp_path, MTX % (5, 5), "a.mtx"), write(tmp_path, other, name))
    assert what in error.what and error.path.endswith(name)


def test_contradicting_kinds_of_ids(tmp_path):
    a, b = write(tmp_path, b"1 2\n", "a.txt"), write(tmp_path, b"x y\n", "b.txt")
    assert "names" in fault_of(a, b).what
    assert read_pairs(a, b, ids="string") == [("1", "2"), ("x", "y")]


def test_the_second_file_names_its_own_faults(tmp_path):
    a, b = write(tmp_path, b"1 2\n", "a.txt"), write(tmp_path, b"1 2\n\n3\n", "b.txt")
    error = fault_of(a, b)
    assert error.path == str(b) and error.line == 3


def test_a_store_cannot_go_to_standard_output(tmp_path):
    ended = subprocess.run([sys.executable, "-m", "emdiam", "convert", "-", "-"], input="1 2\n", cwd=tmp_path,
                           capture_output=True, text=True, timeout=120)
    assert ended.returncode == 2 and "standard output" in ended.stderr and not list(tmp_path.iterdir())
