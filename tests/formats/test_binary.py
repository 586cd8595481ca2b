"""ECL .egr, GAPBS .sg/.wsg and SciPy .npz: layouts, and files that are short, long or nonsense."""

from __future__ import annotations

import gzip
import struct
import zipfile

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.formats import open_source
from tests.helpers.formats_naive import fault_of, pack_egr, pack_sg, read_pairs, row_pairs, symmetric_rows

relaxed = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
edge_sets = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=90)
    )
)


def write(folder, data: bytes, name: str):
    file = folder / name
    file.write_bytes(data)
    return file


def arc_rows(n, arcs):
    return [sorted(b for a, b in arcs if a == u) for u in range(n)]


@relaxed
@given(graph=edge_sets, weights=st.booleans(), packed=st.booleans(), batch_pairs=st.integers(1, 60))
def test_egr(tmp_path, graph, weights, packed, batch_pairs):
    n, edges = graph
    rows = arc_rows(n, edges)
    data = pack_egr(n, rows, weights=weights)
    file = write(tmp_path, gzip.compress(data) if packed else data, "g.egr" + ".gz" * packed)
    info = open_source([file]).info()
    assert (info.n_vertices, info.first_id, info.n_entries, info.format) == (n, 0, len(edges), "ecl")
    assert read_pairs(file, batch_bytes=16 * batch_pairs) == row_pairs(rows)


@relaxed
@given(graph=edge_sets, weights=st.booleans(), batch_pairs=st.integers(1, 60))
def test_directed_sg(tmp_path, graph, weights, batch_pairs):
    n, arcs = graph
    rows = arc_rows(n, arcs)
    file = write(tmp_path, pack_sg(rows, directed=True, weights=weights), "g.wsg" if weights else "g.sg")
    info = open_source([file]).info()
    assert (info.n_vertices, info.n_entries, info.directed, info.format) == (n, len(arcs), True, "gapbs")
    assert read_pairs(file, batch_bytes=16 * batch_pairs) == row_pairs(rows)


@relaxed
@given(graph=edge_sets, weights=st.booleans(), batch_pairs=st.integers(1, 60))
def test_undirected_sg(tmp_path, graph, weights, batch_pairs):
    rows = symmetric_rows(*graph)
    file = write(tmp_path, pack_sg(rows, weights=weights), "g.wsg" if weights else "g.sg")
    info = open_source([file]).info()
    assert not info.directed and info.both_directions
    assert read_pairs(file, batch_bytes=16 * batch_pairs) == row_pairs(rows)


def broken(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + struct.pack("<i", value) + data[at + 4 :]


EGR = pack_egr(4, [[1, 2], [0], [0, 3], [2]])  # offsets at 8..28, neighbours at 28..52


@pytest.mark.parametrize(
    "data, what, byte",
    [
        (EGR[:-1], "cut short", 51),
        (EGR[:-4], "cut short", 48),
        (EGR[:20], "cut short", 20),
        (EGR[:6], "header", 6),
        (EGR + b"\0" * 4, "4 bytes follow", 52),
        (broken(EGR, 0, -4), "no ECL graph", 0),
        (broken(EGR, 16, 1), "not monotone", 16),
        (broken(EGR, 8, 1), "is 1, not 0", 8),
        (broken(EGR, 20, 99), "not monotone", 24),
        (broken(EGR, 24, 5), "last row offset is 5", 24),
        (broken(EGR, 24, 7), "larger than the 6 entries", 24),
        (broken(EGR, 32, 4), "neighbour 4 is outside 0..3", 32),
        (broken(EGR, 48, -1), "neighbour -1 is outside", 48),
    ],
)
def test_bad_egr_names_the_byte(tmp_path, data, what, byte):
    for batch_bytes in (16, 1 << 16):
        error = fault_of(write(tmp_path, data, "g.egr"), batch_bytes=batch_bytes)
        assert what in error.what and error.byte == byte and error.remedy


@pytest.mark.parametrize("cut", [7, 20, 40, 51])
def test_a_short_egr_inside_gzip(tmp_path, cut):
    """The archive is whole, its content is not."""
    assert "cut short" in fault_of(write(tmp_path, gzip.compress(EGR[:cut]), "g.egr.gz")).what


def test_weights_are_read_to_the_end_when_compressed(tmp_path):
    data = gzip.compress(pack_egr(2000, [[(u + 1) % 2000] for u in range(2000)], weights=True), 0)
    assert "cut short" in fault_of(write(tmp_path, data[:-100], "g.egr.gz")).what


SG = pack_sg([[1], [0, 2], [1]])


@pytest.mark.parametrize(
    "data, what",
    [
        (SG[:-1], "cut short"),
        (SG[:10], "header"),
        (SG + b"xx", "2 bytes follow"),
        (b"\2" + SG[1:], "no sense"),
        (pack_sg([[1], [2], []]), "not symmetric: vertex"),
        (pack_sg([[1], [0, 3], [1]]), "outside 0..2"),
        (SG[:1] + struct.pack("<q", -1) + SG[9:], "no sense"),
    ],
)
def test_bad_sg(tmp_path, data, what):
    assert what in fault_of(write(tmp_path, data, "g.sg")).what


def test_directed_sg_without_incoming_arrays(tmp_path):
    data = pack_sg([[1], [2], []], directed=True)
    assert read_pairs(write(tmp_path, data[: 17 + 4 * 8 + 2 * 4], "g.sg")) == [(0, 1), (1, 2)]


@relaxed
@given(
    graph=edge_sets,
    kind=st.sampled_from(["csr", "csc", "coo"]),
    wide=st.booleans(),
    packed=st.booleans(),
    array=st.booleans(),
    batch_pairs=st.integers(1, 60),
)
def test_npz(tmp_path, graph, kind, wide, packed, array, batch_pairs):
    n, arcs = graph
    rows, columns = np.array(sorted(arcs), np.int32).reshape(-1, 2).T
    build = scipy.sparse.coo_array if array else scipy.sparse.coo_matrix
    matrix = build((np.ones(len(rows)), (rows, columns)), shape=(n, n)).asformat(kind)
    for name in ("indptr", "indices", "row", "col"):
        if wide and hasattr(matrix, name):
            setattr(matrix, name, getattr(matrix, name).astype(np.int64))
    file = tmp_path / "g.npz"
    scipy.sparse.save_npz(file, matrix, compressed=packed)
    info = open_source([file]).info()
    assert (info.n_vertices, info.first_id, info.n_entries, info.format) == (n, 0, len(arcs), "npz")
    pairs = read_pairs(file, batch_bytes=16 * batch_pairs)
    assert sorted(pairs) == sorted(arcs) and (kind != "csr" or pairs == sorted(arcs))


def save(folder, **members):
    file = folder / "g.npz"
    np.savez(file, **members)
    return file


GOOD_NPZ = dict(
    format=b"csr", shape=(3, 3), indptr=np.array([0, 1, 2, 2]), indices=np.array([1, 2]), data=np.ones(2)
)


@pytest.mark.parametrize(
    "change, what",
    [
        (dict(format=b"lil"), "'lil'"),
        (dict(shape=(3, 4)), "not square"),
        (dict(shape=(3, 3, 3)), "not square"),
        (dict(indptr=np.array([0, 2, 1, 2])), "not monotone"),
        (dict(indptr=np.array([0, 1, 2])), "3 items for 3 rows"),
        (dict(indptr=np.array([0, 1, 2, 3])), "larger than"),
        (dict(indptr=np.array([0, 1, 1, 1])), "last row offset"),
        (dict(indices=np.array([1, 3])), "outside 0..2"),
        (dict(indices=np.array([1.0, 2.0])), "not a row of integers"),
        (dict(indices=np.array([1, -2])), "outside 0..2"),
        (dict(indices=np.array([[1, 2]])), "not a row of integers"),
        (dict(indices=np.array([1, 2**63], np.uint64)), "larger than 2^63"),
        (dict(indices=None), "no member indices"),
        (dict(format=np.array([{}], object)), "not as SciPy"),
    ],
)
def test_bad_npz(tmp_path, change, what):
    members = {name: value for name, value in {**GOOD_NPZ, **change}.items() if value is not None}
    error = fault_of(save(tmp_path, **members))
    assert what in error.what and error.path.endswith("g.npz") and error.remedy


@pytest.mark.parametrize("prefix", ["", "adj_", "adj_matrix."])
def test_rows_of_a_matrix_without_a_format(tmp_path, prefix):
    """As data sets of graph learning have it, beside features that are not square."""
    rows = {f"{prefix}{name}": value for name, value in GOOD_NPZ.items() if name != "format"}
    features = {f"attr_{name}": value for name, value in {**GOOD_NPZ, "shape": (3, 9)}.items() if name != "format"}
    pairs = read_pairs(save(tmp_path, **GOOD_NPZ))
    assert read_pairs(save(tmp_path, **rows)) == read_pairs(save(tmp_path, **rows, **features)) == pairs
    alone = {name: value for name, value in rows.items() if not name.endswith("shape")}
    assert read_pairs(save(tmp_path, **alone)) == pairs
    assert "no member format" in fault_of(save(tmp_path, **alone, **features)).what
    assert "no member format" in fault_of(save(tmp_path, **rows, **{**features, "attr_shape": (3, 3)})).what


def test_bad_coo(tmp_path):
    good = dict(format=b"coo", shape=(3, 3), row=np.array([0, 1]), col=np.array([1, 2]), data=np.ones(2))
    assert "outside" in fault_of(save(tmp_path, **{**good, "col": np.array([1, 3])})).what
    assert "2 and 3 items" in fault_of(save(tmp_path, **{**good, "col": np.array([1, 2, 2])})).what


def test_damaged_npz(tmp_path):
    """Cut short, a flipped bit (CRC), no archive at all, a foreign archive."""
    n = 2000
    scipy.sparse.save_npz(tmp_path / "g.npz", scipy.sparse.eye_array(n, format="csr"), compressed=False)
    data = (tmp_path / "g.npz").read_bytes()
    assert "cut short" in fault_of(write(tmp_path, data[:-50], "cut.npz")).what
    with zipfile.ZipFile(tmp_path / "g.npz") as archive:
        at = archive.getinfo("indices.npy").header_offset + 400
    flipped = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    assert fault_of(write(tmp_path, flipped, "flip.npz")).path.endswith("flip.npz")
    assert "not an .npz archive" in fault_of(write(tmp_path, b"not a zip file at all", "x.npz")).what
    with zipfile.ZipFile(tmp_path / "foreign.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert "no member format" in fault_of(tmp_path / "foreign.npz").what
    assert "decompress it first" in fault_of(write(tmp_path, gzip.compress(data), "g.npz.gz")).remedy


@pytest.mark.parametrize("arrays", [{"edge_index": [[0, 1, 2], [1, 2, 3]]}, {"src": [0, 1, 2], "dst": [1, 2, 3]}])
def test_a_number_of_vertices_beside_edges(tmp_path, arrays):
    """Vertices without an edge count; a number below the ends of the edges is refused."""
    for n in (9, 4, 3):
        np.savez(tmp_path / "g.npz", num_nodes=n, **arrays)
        fault = fault_of(tmp_path / "g.npz") if n == 3 else ""
        if fault:
            assert "declares 3 vertices, and an edge ends at 3" in str(fault)
        else:
            assert open_source([str(tmp_path / "g.npz")]).info().n_vertices == n
            assert sorted(read_pairs(tmp_path / "g.npz")) == [(0, 1), (1, 2), (2, 3)]
