"""Matrices in files: arrays of Matrix Market, .npy and .npz in all shapes, MATLAB, AnnData, and matrices and lists of
edges whose two sides are numbered apart; METIS with arcs one way."""

from __future__ import annotations

import gzip
import inspect
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.io
from scipy import sparse

import emdiam
from emdiam.errors import BudgetError, InputError
from emdiam.formats import open_source
from emdiam.formats.objects import as_source
from emdiam.formats.source import with_two_sides
from emdiam.formats.weights import WeightChoice
from tests.formats.writers.reading import read_back
from tests.helpers.formats_naive import collect, fault_of, read_pairs, weight_ends

PATH = np.diag([1, 1, 1], 1) + np.diag([1, 1, 1], -1)
PAIRS = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]


def random_matrix(seed: int, n: int = 40) -> Any:
    return (np.random.default_rng(seed).random((n, n)) < 0.1) * np.random.default_rng(seed + 1).integers(1, 9, (n, n))


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["real", "integer", "complex"])
def test_arrays_of_matrix_market_are_as_scipy_writes_them(tmp_path: Path, symmetry: str, field: str) -> None:
    matrix = random_matrix(5)
    if symmetry != "general":
        matrix = np.tril(matrix, -1) + (np.tril(matrix, -1).T if symmetry == "symmetric" else -np.tril(matrix, -1).T)
    matrix = matrix * 1.0 if field == "real" else matrix * (1 + 1j) if field == "complex" else matrix
    scipy.io.mmwrite(tmp_path / "g.mtx", matrix, symmetry=symmetry)
    shown = np.tril(matrix) if symmetry != "general" else matrix
    expected = sorted((a + 1, b + 1) for a, b in np.argwhere(shown))
    for batch_bytes in (64, 1 << 16):
        assert sorted(read_pairs(tmp_path / "g.mtx", batch_bytes=batch_bytes)) == expected


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("array real general\n2 2\n1\n2\n3\n", "4 values but there are 3"),
        ("array real general\n1 2\n1\n2\n3\n", "1 x 2"),
        ("array real general\n2 2\n1\n2\n3\n4\n5\n", "more"),
        ("array real general\n2 2\n1\nx\n3\n4\n", "no number"),
        ("array real general\n2 2 2\n1\n", "two numbers"),
        ("array pattern general\n2 2\n", "coordinate"),
    ],
)
def test_arrays_of_matrix_market_that_are_wrong(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "g.mtx").write_text(f"%%MatrixMarket matrix {text}")
    assert (
        what in fault_of(tmp_path / "g.mtx").what if "1 2" not in text else "1 x 2" in fault_of(tmp_path / "g.mtx").what
    )


@pytest.mark.parametrize("banner", ["%MatrixMarket", "%%matrixmarket", "\n \n  %%MATRIXMARKET"])
@pytest.mark.parametrize("name", ["g.mtx", "g.edges", "g.txt"])
def test_banners_as_people_have_them(tmp_path: Path, banner: str, name: str) -> None:
    (tmp_path / name).write_text(f"{banner} Matrix Coordinate pattern symmetric\n% c\n\n3 3 2\n2 1\n\n3 2\n")
    assert read_pairs(tmp_path / name) == [(2, 1), (3, 2)]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<i4", ">i8", "<u8", "<f8", "<f4"])
def test_npy_in_every_shape(tmp_path: Path, order: str, dtype: str) -> None:
    pairs = np.array(PAIRS, dtype, order=order)
    for array in (pairs, np.array(pairs.T, order=order), np.array(PATH, dtype, order=order)):
        np.save(tmp_path / "g.npy", array)
        for batch_bytes in (64, 1 << 16):
            assert sorted(read_pairs(tmp_path / "g.npy", batch_bytes=batch_bytes)) == PAIRS
        (tmp_path / "h.npy.gz").write_bytes(gzip.compress((tmp_path / "g.npy").read_bytes()))
        assert sorted(read_pairs(tmp_path / "h.npy.gz")) == PAIRS
        np.savez_compressed(tmp_path / "g.npz", array)
        assert sorted(read_pairs(tmp_path / "g.npz", batch_bytes=64)) == PAIRS


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_npz_of_every_kind_is_as_scipy_reads_it(tmp_path: Path, kind: str) -> None:
    matrix = random_matrix(7)
    sparse.save_npz(tmp_path / "g.npz", sparse.bsr_array(matrix, blocksize=(4, 5)) if kind == "bsr"
                    else sparse.coo_array(matrix).asformat(kind))
    expected = sorted(map(tuple, np.argwhere(matrix).tolist()))
    for batch_bytes in (64, 1 << 16):
        assert sorted(read_pairs(tmp_path / "g.npz", batch_bytes=batch_bytes)) == expected
    report = emdiam.convert(tmp_path / "g.npz", tmp_path / "g.zarr", weights=True, directed=True)
    assert weight_ends(report.record) == (
        matrix[matrix > 0].min(),
        matrix.max(),
    )


@pytest.mark.parametrize(
    ("array", "what"),
    [
        (np.zeros((4, 5)), "no list of edges"),
        (np.array([[0, 5], [1, 2]]), "2 x 2"),
        (np.array([[0, 5], [5, 0]]), "2 x 2"),
        (np.zeros((3, 3)) + 2, "3 x 3"),
        (np.zeros(4), "shape"),
        (np.array([["a", "b"]]), "no edges"),
        (np.array([[0.5, 1], [1, 2], [2, 3], [3, 4]]), "no whole number"),
        (np.full((5, 5), np.inf), "finite"),
        (np.array([[0, -1], [1, 2], [2, 3], [3, 4]]), "negative"),
    ],
)
def test_arrays_that_are_no_graph(tmp_path: Path, array: Any, what: str) -> None:
    np.save(tmp_path / "g.npy", array)
    np.savez(tmp_path / "g.npz", array)
    for name in ("g.npy", "g.npz"):
        error = fault_of(tmp_path / name)
        assert (what in error.what or "not one array" in error.what) and error.remedy


def test_npy_that_is_cut_short(tmp_path: Path) -> None:
    np.save(tmp_path / "g.npy", np.array(PAIRS))
    data = (tmp_path / "g.npy").read_bytes()
    for cut in (8, 40, len(data) - 3):
        (tmp_path / "g.npy").write_bytes(data[:cut])
        assert "cut short" in fault_of(tmp_path / "g.npy").what


def test_npz_with_columns_or_edge_index(tmp_path: Path) -> None:
    for arrays in (
        {"edge_index": np.array([[0, 1], [1, 2]]), "x": np.zeros((3, 4))},
        {"src": np.array([0, 1]), "dst": np.array([1, 2])},
        {"row": np.array([0, 1]), "col": np.array([1, 2]), "y": np.zeros(9)},
    ):
        np.savez(tmp_path / "g.npz", **arrays)
        assert read_pairs(tmp_path / "g.npz") == [(0, 1), (1, 2)]
    np.savez(tmp_path / "g.npz", a=np.zeros((4, 2)), b=np.zeros((4, 2)))
    assert "not one array" in fault_of(tmp_path / "g.npz").what


@pytest.mark.parametrize("compressed", [True, False])
def test_matlab_files(tmp_path: Path, compressed: bool) -> None:
    matrix = sparse.csc_matrix(PATH.astype(float))
    problem = {"Problem": {"A": matrix, "name": "x"}}
    for variables in ({"A": matrix, "local_info": np.zeros((4, 7))}, {"A": PATH}, problem):
        scipy.io.savemat(tmp_path / "g.mat", variables, do_compression=compressed)
        assert emdiam.exact(tmp_path / "g.mat").diameter == 3
    scipy.io.savemat(tmp_path / "g.mat", {"A": matrix, "B": matrix})
    assert "A (4, 4)" in fault_of(tmp_path / "g.mat").what
    scipy.io.savemat(tmp_path / "g.mat", {"A": np.zeros((1000, 1000))}, do_compression=True)
    with pytest.raises(BudgetError, match="read whole"):
        emdiam.convert(tmp_path / "g.mat", tmp_path / "g.zarr", memory="64MiB")


def test_hdf5_files(tmp_path: Path) -> None:
    h5py, anndata = pytest.importorskip("h5py"), pytest.importorskip("anndata")
    for name in ("csr", "csc"):
        data = anndata.AnnData(np.zeros((4, 1)))
        data.obsp["connectivities"] = sparse.coo_matrix(PATH * 0.5).asformat(name)
        data.obsp["distances"] = sparse.csr_matrix((4, 4))
        data.write_h5ad(tmp_path / "g.h5ad")
        assert sorted(read_pairs(tmp_path / "g.h5ad", batch_bytes=64)) == PAIRS
    report = emdiam.convert(tmp_path / "g.h5ad", tmp_path / "g.zarr", weights=True)
    assert weight_ends(report.record) == (0.5, 0.5)
    with h5py.File(tmp_path / "g.mat", "w", userblock_size=512) as file:
        columns = sparse.csc_matrix(PATH)
        group = file.create_group("A")
        group.attrs["MATLAB_sparse"] = np.uint64(4)
        group["jc"], group["ir"], group["data"] = columns.indptr, columns.indices, columns.data
    data = (b"MATLAB 7.3 MAT-file".ljust(512)) + (tmp_path / "g.mat").read_bytes()[512:]
    (tmp_path / "g.mat").write_bytes(data)
    assert sorted(read_pairs(tmp_path / "g.mat")) == PAIRS
    with h5py.File(tmp_path / "no.h5", "w") as file:
        file["x"] = np.zeros(4)
    assert "without a graph" in fault_of(tmp_path / "no.h5").what


# Two sides.


def test_two_sides_of_a_matrix(tmp_path: Path) -> None:
    """2 rows, 3 columns: rows 1 and 2, columns 3 to 5."""
    matrix = sparse.csr_array(np.array([[1, 1, 0], [0, 1, 1]]))
    scipy.io.mmwrite(tmp_path / "g.mtx", matrix)
    expected = [(1, 3), (1, 4), (2, 4), (2, 5)]
    assert "--bipartite" in fault_of(tmp_path / "g.mtx").remedy
    assert sorted(read_pairs(tmp_path / "g.mtx", bipartite=True)) == expected
    report = emdiam.convert(tmp_path / "g.mtx", tmp_path / "g.zarr", bipartite=True)
    assert report.record.n_vertices == 5 and "columns 3 to 5" in " ".join(report.notes)
    assert emdiam.exact(tmp_path / "g.zarr").diameter == 4
    for kind in ("csr", "csc", "coo", "dia", "bsr"):
        sparse.save_npz(tmp_path / "g.npz", matrix.asformat(kind))
        assert "--bipartite" in fault_of(tmp_path / "g.npz").remedy
        assert sorted(read_pairs(tmp_path / "g.npz", bipartite=True)) == [(a - 1, b - 1) for a, b in expected]
    (tmp_path / "g.graph").write_text("2 1\n2\n1\n")
    assert "no two sides" in fault_of(tmp_path / "g.graph", bipartite=True).what


def test_metis_with_arcs_one_way(tmp_path: Path) -> None:
    (tmp_path / "g.graph").write_text("3 2\n2\n3\n\n")
    assert "--directed" in fault_of(tmp_path / "g.graph").remedy
    emdiam.convert(tmp_path / "g.graph", tmp_path / "g.zarr", directed=True)
    with emdiam.open(tmp_path / "g.zarr", directed=True) as store:
        assert store.record.n_edges == 2
    (tmp_path / "h.graph").write_text("3 2\n2\n1 3\n2\n")
    emdiam.convert(tmp_path / "h.graph", tmp_path / "h.zarr", directed=True)
    with emdiam.open(tmp_path / "h.zarr", directed=True) as store:
        assert store.record.n_edges == 4


def test_columns_of_files_in_every_type(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet as pq

    for kind in (
        pa.int8(),
        pa.uint64(),
        pa.float32(),
        pa.float64(),
        pa.decimal128(20, 0),
        pa.dictionary(pa.int8(), pa.int64()),
    ):
        table = pa.table(
            {
                "src": pa.array([0, 1, 2], pa.int64()).cast(kind)
                if not pa.types.is_dictionary(kind)
                else pa.array([0, 1, 2]).dictionary_encode(),
                "dst": [1, 2, 3],
            }
        )
        pq.write_table(table, tmp_path / "g.parquet")
        pyarrow.feather.write_feather(table, tmp_path / "g.feather")
        with pa.ipc.new_stream(tmp_path / "g.arrows", table.schema) as stream:
            stream.write_table(table, max_chunksize=2)
        for name in ("g.parquet", "g.feather", "g.arrows"):
            assert read_pairs(tmp_path / name) == [(0, 1), (1, 2), (2, 3)], (kind, name)
    buffer = io.BytesIO((tmp_path / "g.feather").read_bytes()[:-20])
    (tmp_path / "g.feather").write_bytes(buffer.getvalue())
    assert "cut short" in fault_of(tmp_path / "g.feather").what
    lists = pa.table({"node": ["a", "b", "c", "d"], "neighbours": [["b"], ["c"], None, []]})
    pq.write_table(lists, tmp_path / "l.parquet")
    report = emdiam.convert(tmp_path / "l.parquet", tmp_path / "l.zarr")
    assert (report.record.n_vertices, report.record.n_edges, report.record.loops_dropped, report.pairs_read) == (
        4,
        2,
        0,
        2,
    )


def test_bad_values_of_float_columns_name_the_row(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for bad in (float("nan"), 1.5, -1.0, 2.0**60):
        pq.write_table(pa.table({"src": [1.0, bad], "dst": [2, 3]}), tmp_path / "g.parquet")
        error = fault_of(tmp_path / "g.parquet")
        assert "row 2 of column src" in error.what and error.remedy
    with pytest.raises(InputError):
        emdiam.exact(tmp_path / "g.parquet")


def test_columns_of_an_array(tmp_path: Path) -> None:
    rows = np.array([[0, 10, 1, 5], [1, 11, 2, 5], [2, 12, 3, 6], [3, 10, 9, 6], [4, 10, 9, 6]])
    for array in (rows, np.asfortranarray(rows)):
        np.save(tmp_path / "a.npy", array)
        np.savez(tmp_path / "a.npz", edges=array)
        assert "--columns" in fault_of(tmp_path / "a.npy").remedy
        for name in ("a.npy", "a.npz"):
            for batch_bytes in (64, 1 << 16):
                assert read_pairs(tmp_path / name, columns="3,1", batch_bytes=batch_bytes) == list(
                    zip(rows[:, 2].tolist(), rows[:, 0].tolist(), strict=True))
            options = {"columns": (1, 3), "weights": "4", "force": True}
            record = emdiam.convert(tmp_path / name, tmp_path / "g.zarr", **options).record
            assert (record.n_vertices, record.n_edges) == (6, 5)
            assert record.weights is not None and (record.weights.least, record.weights.largest) == (5, 6)
            assert "--weights=3" in fault_of(tmp_path / name, columns="1,2", weights=WeightChoice()).remedy
            assert "from 1 to 4" in fault_of(tmp_path / name, columns="1,5").remedy
            assert emdiam.exact(tmp_path / name, columns=(1, 3)).diameter == 5


def test_columns_of_an_archive(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", u=[1, 2, 3], v=[2, 3, 4], km=[0.5, 1, 2])
    assert "--columns u,v" in fault_of(tmp_path / "a.npz").remedy
    assert read_pairs(tmp_path / "a.npz", columns="v,u", batch_bytes=16) == [(2, 1), (3, 2), (4, 3)]
    assert "u, v, km" in fault_of(tmp_path / "a.npz", columns="u,x").remedy
    for weights in ("km", True):
        report = emdiam.convert(tmp_path / "a.npz", tmp_path / "g.zarr", columns="u,v", weights=weights, force=True)
        assert report.record.weights is not None and report.record.weights.name == "km"
    assert emdiam.exact(tmp_path / "g.zarr", weight="km").diameter == 3.5
    assert "no member mi" in fault_of(tmp_path / "a.npz", columns="u,v", weights=WeightChoice("mi")).what


SIDES = [("l1", "r1"), ("l2", "r1"), ("l2", "r3")]


@pytest.mark.parametrize("array", [[[0, 5], [1, 2]], [[4, 1, 7], [2, 4, 9]], [[4, 1, 7], [2, 4, 9], [2, 1, 3]]])
def test_a_small_array_has_a_pair_a_row_by_the_option_of_its_refusal(tmp_path: Path, array: list[list[int]]) -> None:
    np.save(tmp_path / "g.npy", array)
    with pytest.raises(InputError, match=re.escape('columns="1,2"')):
        emdiam.convert(tmp_path / "g.npy", tmp_path / "g.zarr")
    for weights in (False, len(array[0]) == 3):
        found = read_back(tmp_path / "g.npy", {"columns": "1,2", "weights": weights}, tmp_path)
        right = {(str(min(row[:2])), str(max(row[:2]))): row[2] if weights else None for row in array}
        assert found.edges == right


def test_a_source_of_two_sides_has_the_fields_of_a_source() -> None:
    """Its own: isinstance finds no others from Python 3.12 on."""
    sided = with_two_sides(as_source(np.array([[1, 2]])))
    for name in ("name", "rewindable", "info", "batches", "position_bytes"):
        inspect.getattr_static(sided, name)


def test_two_sides_of_tables_and_arrays(tmp_path: Path) -> None:
    table = pd.DataFrame({"kind": [9, 9, 9], "src": [1, 2, 2], "dst": [1, 1, 3]})
    pairs = table[["src", "dst"]].to_numpy()
    table.to_parquet(tmp_path / "a.parquet")
    table.to_feather(tmp_path / "a.feather")
    table.to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "a.txt").write_text("1 x 1\n2 x 1\n2 x 3\n")
    np.save(tmp_path / "a.npy", pairs)
    np.savez(tmp_path / "a.npz", src=pairs[:, 0], dst=pairs[:, 1])
    np.savez(tmp_path / "b.npz", edge_index=pairs.T)
    for name in ("a.parquet", "a.feather", "a.csv", "a.npz", "b.npz"):
        assert read_pairs(tmp_path / name, bipartite=True) == SIDES, name
    for name, columns in (("a.npy", "1,2"), ("a.txt", "1,3")):
        assert read_pairs(tmp_path / name, bipartite=True, columns=columns) == SIDES
    for graph, columns in ((table, None), (pa.table(table), "src,dst"), (pairs, (1, 2)), (tuple(pairs.T), None)):
        report = emdiam.convert(graph, tmp_path / "g.zarr", bipartite=True, columns=columns, force=True)
        assert report.first_pairs == tuple(SIDES) and report.record.n_vertices == 4
        assert "two sides numbered apart" in report.record.reading
    with pytest.raises(InputError, match="no two sides that are numbered apart"):
        emdiam.convert({1: [2]}, tmp_path / "h.zarr", bipartite=True)


def test_matrices_of_two_sides(tmp_path: Path) -> None:
    matrix = (np.random.default_rng(3).random((4, 6)) < 0.4) * 1.5
    want = sorted((a, 4 + b) for a, b in np.argwhere(matrix).tolist())
    for array in (matrix, np.asfortranarray(matrix)):
        np.save(tmp_path / "m.npy", array)
        assert sorted(read_pairs(tmp_path / "m.npy", bipartite=True, batch_bytes=64)) == want
        assert open_source([tmp_path / "m.npy"], bipartite=True).info().n_vertices == 10
        for graph in (array, sparse.csr_array(array), sparse.csc_array(array), sparse.coo_array(array)):
            assert sorted(collect(as_source(graph, bipartite=True))) == want
    with pytest.raises(InputError, match="square.*bipartite=True of emdiam.convert"):
        emdiam.exact(sparse.csr_array(matrix))
    with pytest.raises(InputError, match="may be a list of edges between two sides"):
        emdiam.convert(matrix[:, :2], tmp_path / "g.zarr", bipartite=True)
    np.save(tmp_path / "m.npy", matrix[:, :3])
    assert "matrix of both" in fault_of(tmp_path / "m.npy", bipartite=True).what


def test_two_sides_of_a_symmetric_matrix_have_both_halves(tmp_path: Path) -> None:
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n2 1\n3 2\n3 3\n")
    assert sorted(read_pairs(tmp_path / "g.mtx", bipartite=True)) == [(1, 5), (2, 4), (2, 6), (3, 5), (3, 6)]
