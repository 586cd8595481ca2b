"""A store is what its layout says, whoever reads it: emdiam, plain zarr, scipy, anndata, binsparse."""

from __future__ import annotations

import errno
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import zarr
import zarr.codecs
import zarr.codecs.numcodecs
from hypothesis import HealthCheck, given, settings

import emdiam
from emdiam.conversion.convert import convert
from emdiam.conversion.writing import ConvertOptions
from emdiam.errors import InputError
from emdiam.formats.weights import WeightChoice
from emdiam.store import metadata, writer
from emdiam.store.layout import CODECS, MOST_SHARD_CHUNKS, StoreRecord, id_dtype, shard_chunks
from emdiam.store.store import open_store
from emdiam.store.writer import StoreWriter
from tests.helpers import naive
from tests.helpers.damage import make_store, read_store, some_graph
from tests.helpers.stores import graphs

pytestmark = pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3")


def plain(path: Path) -> dict[str, np.ndarray]:
    """All arrays by plain zarr, without values and further names."""
    group = zarr.open_group(str(path), mode="r")
    return {name: array[:] for name, array in group.arrays()
            if name not in ("data", "values") and not (path / name).is_symlink()}


def matrix_of(graph: naive.Graph) -> scipy.sparse.csr_matrix:
    indptr, indices = naive.csr(graph)
    shape = (len(graph), len(graph))
    return scipy.sparse.csr_matrix((np.ones(len(indices), np.uint8), indices, indptr), shape=shape)


def same_matrix(a: Any, b: Any) -> bool:
    return a.shape == b.shape and (a != b).nnz == 0


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of four chunks of 64 ids, two of 64 offsets."""
    monkeypatch.setattr("emdiam.store.layout.SHARD_BYTES", 4 * 64 * 4)


def pipeline(codec: str, dtype: np.dtype[Any]) -> dict[str, Any]:
    """The codecs of an array of a store, as zarr.create_array takes them."""
    checksum = zarr.codecs.Crc32cCodec()
    if codec == "none" or (codec == "pcodec" and dtype.itemsize == 1):
        return {"compressors": [checksum]}
    if codec == "pcodec":
        return {"serializer": zarr.codecs.numcodecs.PCodec(level=8), "compressors": [checksum]}
    lz4 = zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=dtype.itemsize)
    return {"compressors": [lz4, checksum]}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("kind", ["float64", "uint8", None])
def test_metadata_are_those_that_zarr_writes(tmp_path: Path, codec: str, kind: str | None):
    """Byte by byte: of a group, of its attributes, and of arrays of every kind, sharded or not."""
    more = ".0123456789123" if kind == "float64" else ""
    (tmp_path / "g.csv").write_text("".join(f"{edge}{more}\n" for edge in ("a,b,2", "b,c,3", "c,a,2")))
    report = convert([tmp_path / "g.csv"], tmp_path / "g", options=ConvertOptions(
        codec=codec, chunk_ids=64, directed=True, weights=kind and WeightChoice(), fmt="csv", header="none"))
    group = zarr.open_group(tmp_path / "g", mode="r")
    other = zarr.open_group(tmp_path / "other", mode="w", zarr_format=3)
    for name in ("", "reverse/"):
        for key, array in group[name].arrays() if name else group.arrays():
            if (tmp_path / "g" / name / key).is_symlink():  # another name of an array
                continue
            same = {"shape": array.shape, "dtype": array.dtype, "chunks": array.chunks, "shards": array.shards,
                    "fill_value": array.fill_value}
            other.create_array(f"{name}{key}", **same, **(
                {"compressors": None} if array.shards is None else pipeline(codec, array.dtype)))
        (other[name] if name else other).update_attributes((group[name] if name else group).attrs.asdict())
    files = sorted(path.relative_to(tmp_path / "other") for path in (tmp_path / "other").rglob("zarr.json"))
    assert files == sorted(path.relative_to(tmp_path / "g") for path in (tmp_path / "g").rglob("zarr.json"))
    # Groups; offsets, rows and weights both ways, or ones in two shapes; names.
    assert len(files) == 2 + 2 * (3 + (kind is None)) + 2
    for file in files:
        assert (tmp_path / "g" / file).read_text() == (tmp_path / "other" / file).read_text(), file
    assert kind == (None if report.record.weights is None else report.record.weights.dtype)


@pytest.mark.parametrize("codec", CODECS)
def test_zarr_and_the_direct_reader_agree(tmp_path: Path, codec: str, small_shards: None):
    graph = some_graph()
    path = make_store(tmp_path / "g.zarr", graph, codec=codec)
    indptr, indices = naive.csr(graph)
    ours, theirs = read_store(path), plain(path)
    assert sorted(ours) == sorted(theirs) == ["indices", "indptr"]
    for name, expected in (("indptr", indptr), ("indices", indices)):
        np.testing.assert_array_equal(ours[name], expected)
        np.testing.assert_array_equal(theirs[name], expected)
        assert ours[name].dtype == theirs[name].dtype
    with open_store(path) as store:
        assert store.indices.n_shards > 5 and store.indptr.n_shards > 1
        assert store.record.shard_chunks == store.indices.shard_chunks == 4
        assert len(list((path / "indices" / "c").iterdir())) == store.indices.n_shards


@pytest.mark.parametrize("codec", CODECS)
def test_chunks_of_1024(tmp_path: Path, codec: str):
    graph = some_graph(n=2500, edges=6000)
    ours = read_store(make_store(tmp_path / "g.zarr", graph, codec=codec, chunk=1024))
    np.testing.assert_array_equal(ours["indices"], naive.csr(graph)[1])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(60))
def test_any_graph_comes_back(tmp_path: Path, graph: naive.Graph):
    path = make_store(tmp_path / "g.zarr", graph, force=True)
    indptr, indices = naive.csr(graph)
    ours = read_store(path)
    assert ours["indptr"].tolist() == indptr.tolist() and ours["indices"].tolist() == indices.tolist()
    with open_store(path) as store:
        degrees = [len(row) for row in graph]
        assert (store.record.max_degree, store.record.n_isolated) == (max(degrees), degrees.count(0))


@pytest.mark.parametrize("codec", CODECS)
def test_plain_zarr_rebuilds_the_matrix(tmp_path: Path, codec: str):
    graph = some_graph()
    group = zarr.open_group(str(make_store(tmp_path / "g.zarr", graph, codec=codec)), mode="r")
    parts = (group["data"][:], group["indices"][:], group["indptr"][:])
    matrix = scipy.sparse.csr_matrix(parts, shape=group.attrs["shape"])
    assert same_matrix(matrix, matrix_of(graph))
    assert group.attrs["binsparse"]["binsparse"]["number_of_stored_values"] == matrix.nnz


@pytest.mark.parametrize("codec", CODECS)
def test_anndata_opens_it(tmp_path: Path, codec: str):
    anndata = pytest.importorskip("anndata")
    graph = some_graph()
    expected = matrix_of(graph)
    group = zarr.open_group(str(make_store(tmp_path / "g.zarr", graph, codec=codec)), mode="r")
    assert same_matrix(anndata.io.read_elem(group), expected)
    lazy = anndata.io.sparse_dataset(group)
    assert lazy.shape == expected.shape
    assert same_matrix(lazy[5:80], expected[5:80])
    assert same_matrix(lazy.to_memory(), expected)


def test_the_matrix_of_ones_takes_no_room(tmp_path: Path):
    path = make_store(tmp_path / "g.zarr", some_graph())
    assert [file.name for name in ("data", "values") for file in (path / name).iterdir()] == ["zarr.json"] * 2
    assert {name: (path / name).readlink() for name in ("pointers_to_1", "indices_1")} == {
        "pointers_to_1": Path("indptr"), "indices_1": Path("indices")}


# -- binsparse ------------------------------------------------------------------------------------
def every_kind(folder: Path) -> dict[str, Path]:
    """A store of every kind: codecs, ids, an order, weights of all dtypes, directions with weights, and no edges."""
    edges = [(a, b, 1 + (a * b) % 7) for a, row in enumerate(some_graph()) for b in row if a < b]
    pairs = [edge[:2] for edge in edges]
    words: Any = [(f"v{a}", f"v{b}") for a, b in pairs]
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "lz4": (pairs, {}), "pcodec": (pairs, {"codec": "pcodec", "chunk": 64}), "none": (pairs, {"codec": "none"}),
        "gaps": ([(3 * a, 3 * b) for a, b in pairs], {}), "words": (words, {}), "degree": (pairs, {"order": "degree"}),
        "whole": (edges, {"weights": True}), "directed": (edges, {"weights": True, "directed": True}),
        "wide": ([(a, b, w * 70_000) for a, b, w in edges], {"weights": True}),
        "decimal": ([(a, b, w / 8) for a, b, w in edges], {"weights": True}),
        "arcs": (pairs, {"directed": True}), "edgeless": ([(4, 4)], {})}
    for name, (graph, options) in kinds.items():
        emdiam.convert(graph, folder / f"{name}.zarr", **options)
    return {name: folder / f"{name}.zarr" for name in kinds}


def groups_of(path: Path) -> list[tuple[Path, Any]]:
    """The group of a store, and that of its reverse."""
    places = [path, *([path / "reverse"] if (path / "reverse").is_dir() else [])]
    return [(place, zarr.open_group(place, mode="r")) for place in places]


def test_every_kind_of_store_has_the_names_of_binsparse(tmp_path: Path):
    """By plain zarr: the arrays that the descriptor names, of the types and lengths that it says."""
    for name, path in every_kind(tmp_path).items():
        for place, group in groups_of(path):
            said = group.attrs["binsparse"]["binsparse"]
            n, m = said["shape"][0], said["number_of_stored_values"]
            assert (said["version"], said["format"]) == ("0.1.0", "CSR") and "structure" not in said
            sizes = {"pointers_to_1": n + 1, "indices_1": m, "values": m}
            for key, kind in said["data_types"].items():
                single = kind == "iso[uint8]"
                assert group[key].shape == (1 if single else sizes[key],)
                assert str(group[key].dtype) == kind.removeprefix("iso[").rstrip("]"), name
            assert group["values"][0] == 1 or (place / "values").readlink() == Path("data")


def test_binsparse_opens_every_kind_of_store(tmp_path: Path):
    """The matrix is that of AnnData's three, as CSR and by its levels; what is saved of it is the same again."""
    binsparse = pytest.importorskip("binsparse")
    conversions = pytest.importorskip("binsparse.conversions.scipy")
    for name, path in every_kind(tmp_path).items():
        for place, group in groups_of(path):
            expected = scipy.sparse.csr_matrix((group["data"][:], group["indices"][:], group["indptr"][:]),
                                               shape=group.attrs["shape"])
            found = binsparse.BinsparseTensor.parse(binsparse.ZarrBinsparseContainer(group))
            assert isinstance(found, binsparse.CSRMatrix) and found.version == "0.1.0"
            assert same_matrix(conversions.to_scipy(found), expected), name
            if place == path:
                tensor = binsparse.load_binsparse(path)
                assert same_matrix(conversions.to_scipy(tensor), expected)
                binsparse.save_binsparse(tensor, tmp_path / "again.npz")
                assert same_matrix(conversions.to_scipy(binsparse.load_binsparse(tmp_path / "again.npz")), expected)
                levels = binsparse.load_binsparse(path, alias=False).level
                assert levels.level.indices[0].tolist() == expected.indices.tolist()


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """There the store has the names of AnnData alone; any other fault of the disk is said."""
    def refuse(number: int) -> None:
        def symlink(*_: Any) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "symlink", symlink)

    refuse(errno.EPERM)
    path = make_store(tmp_path / "g.zarr", some_graph())
    assert not (path / "indices_1").exists() and read_store(path)["indices"].size
    refuse(errno.ENOSPC)
    with pytest.raises(OSError, match="No space left"):
        make_store(tmp_path / "h.zarr", some_graph())
    assert not (tmp_path / "h.zarr").exists()


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("graph", [[], [[]], [[]] * 130, [[1], [0]]], ids=["empty", "one", "no-edges", "edge"])
def test_small_graphs(tmp_path: Path, codec: str, graph: naive.Graph):
    path = make_store(tmp_path / "g.zarr", graph, codec=codec)
    indptr, indices = naive.csr(graph)
    for arrays in (read_store(path), plain(path)):
        assert arrays["indptr"].tolist() == indptr.tolist()
        assert arrays["indices"].tolist() == indices.tolist()
    with open_store(path) as store:
        record = store.record
        assert (record.n_vertices, record.n_edges) == (len(graph), len(indices) // 2)
        assert record.n_isolated == sum(not row for row in graph)


@pytest.mark.parametrize("codec", CODECS)
def test_integer_ids(tmp_path: Path, codec: str):
    graph = some_graph()
    ids = np.arange(len(graph), dtype=np.uint64) * 17 + np.uint64(1 << 63)
    path = make_store(tmp_path / "g.zarr", graph, codec=codec, ids=ids)
    np.testing.assert_array_equal(plain(path)["vertex_id"], ids)
    with open_store(path) as store:
        assert store.user_ids(np.array([299, 0, 0, 64])) == [int(ids[v]) for v in (299, 0, 0, 64)]


@pytest.mark.parametrize("codec", CODECS)
def test_string_ids(tmp_path: Path, codec: str):
    graph = some_graph()
    names = sorted((f"Knoten-{v}-äöü€😀"[: 3 + v % 17] + f"{v:04}" for v in range(299)), key=str.encode)
    names.insert(0, "")
    path = make_store(tmp_path / "g.zarr", graph, codec=codec, ids=names)
    with open_store(path) as store:
        assert store.user_ids(np.arange(300)) == names
        assert store.user_ids(np.array([250, 3])) == [names[250], names[3]]
    assert plain(path)["vertex_id_bytes"].tobytes().decode() == "".join(names)


def test_wide_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What a graph of 2^32 vertices has, on a small one."""
    for module in (writer, metadata):
        monkeypatch.setattr(module, "id_dtype", lambda n: np.dtype(np.uint64))
    graph = some_graph()
    path = make_store(tmp_path / "g.zarr", graph)
    for arrays in (read_store(path), plain(path)):
        assert arrays["indices"].dtype == np.uint64
        assert arrays["indices"].tolist() == naive.csr(graph)[1].tolist()
    assert zarr.open_group(str(path), mode="r")["indices"].fill_value == 2**64 - 1


def test_id_dtype_keeps_the_top_value_free():
    assert id_dtype(2**32 - 2) == np.uint32
    assert id_dtype(2**32 - 1) == np.uint64


def test_shards_have_64_mib_but_never_a_large_index():
    assert shard_chunks(np.dtype(np.uint32), 1 << 16) == 256
    assert shard_chunks(np.dtype(np.int64), 1 << 16) == 128
    assert shard_chunks(np.dtype(np.uint32), 64) == MOST_SHARD_CHUNKS
    assert shard_chunks(np.dtype(np.uint64), 1 << 26) == 1


def test_fill_values_are_no_data(tmp_path: Path):
    names = [f"{v:03}" for v in range(300)]
    group = zarr.open_group(str(make_store(tmp_path / "g.zarr", some_graph(), ids=names)), mode="r")
    assert group["indices"].fill_value == 2**32 - 1
    assert group["indptr"].fill_value == group["vertex_id_offsets"].fill_value == -1


def test_equal_graphs_have_equal_digests(tmp_path: Path):
    graph = some_graph()
    digests = set()
    for name, change in (("a", {}), ("b", {}), ("c", {"codec": "none"})):
        with open_store(make_store(tmp_path / name, graph, **change)) as store:
            digests.add(store.digest)
    assert len(digests) == 2


def test_writing_warns_of_nothing(tmp_path: Path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_store(make_store(tmp_path / "g.zarr", some_graph(), codec="pcodec"))


@pytest.mark.parametrize("ids", [np.array([2**32]), np.array([-1]), np.array([2**32], np.uint64)])
def test_an_id_that_does_not_fit_raises(tmp_path: Path, ids: np.ndarray):
    target = StoreWriter(tmp_path / "g.zarr", n_vertices=3)
    with pytest.raises(OverflowError, match="indices"):
        target.append_neighbours(ids)
    target.abort()


def test_rows_and_arcs_must_agree(tmp_path: Path):
    for degrees, arcs in (([1, 1], [1]), ([1], [1]), ([2, 1], [1, 1, 0]), ([1, 1, 0], [1, 0])):
        target = StoreWriter(tmp_path / "g.zarr", n_vertices=2)
        target.append_degrees(np.array(degrees))
        target.append_neighbours(np.array(arcs, np.uint32))
        with pytest.raises(RuntimeError, match="rows written"):
            target.finish(StoreRecord())
        target.abort()
    assert list(tmp_path.iterdir()) == []


def test_negative_degrees_are_refused(tmp_path: Path):
    target = StoreWriter(tmp_path / "g.zarr", n_vertices=2)
    with pytest.raises(ValueError, match="negative"):
        target.append_degrees(np.array([3, -1]))
    target.abort()


@pytest.mark.parametrize("options", [{"codec": "zip"}, {"chunk_ids": 100}, {"chunk_ids": 32}])
def test_unknown_layouts_are_refused_before_anything_is_written(tmp_path: Path, options: dict[str, Any]):
    with pytest.raises(InputError, match="codec|power of two"):
        StoreWriter(tmp_path / "g.zarr", n_vertices=3, **options)
    assert list(tmp_path.iterdir()) == []
