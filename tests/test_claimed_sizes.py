"""Small files that claim to be large are refused before memory is taken for what they claim.

Memory is counted where it is asked for (tracemalloc, which numpy tells, and pyarrow's own count), not where it is used:
numpy gets 2^60 bytes from no system, and 2^35 from some.
"""

from __future__ import annotations

import gzip
import io
import json
import shutil
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
import zarr

import emdiam
from emdiam.batch.jobfile import _MOST_BYTES
from emdiam.cli.main import group
from emdiam.conversion.convert import ConvertOptions, convert
from emdiam.errors import EmdiamError, InputError, StoreError
from emdiam.paths.pairs.matrix import ATTRIBUTE, MatrixRecord, open_matrix
from tests.certificates.test_documents import seal
from tests.helpers import prover
from tests.helpers.damage import edit_json, edit_record
from tests.helpers.stores import CHUNK, odd_graphs, write_store

HUGE, LARGE = 1 << 60, 1 << 40
# What is read of a file at once, whatever it claims, is less.
MOST = 64 << 20
# Of a process that has run other tests.
MEMORY = "8GiB"


@contextmanager
def little_memory(most: int = MOST) -> Iterator[None]:
    """Asserts that little is asked for inside."""
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most and pa.total_allocated_bytes() - before < most
    finally:
        tracemalloc.stop()


def refusal(do: Callable[[], object], most: int = MOST) -> str:
    """The sentence with which it is refused, having asked for little memory."""
    with little_memory(most), pytest.raises(EmdiamError) as error:
        do()
    assert isinstance(error.value, InputError) and str(error.value).replace("\n", "").isprintable()
    return str(error.value)


def array(dtype: str, shape: str, data: bytes = b"") -> bytes:
    """The bytes of an .npy file."""
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({shape}), }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.ljust(117) + b"\n" + data


def archive(kind: str, n: int, m: int) -> bytes:
    """A sparse matrix of n rows and m entries, of which few are there."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
        members.writestr("format.npy", array("|S3", "", kind.encode()))
        members.writestr("shape.npy", array("<i8", "2,", struct.pack("<qq", n, n)))
        for name, length in (("indptr", n + 1), ("indices", m), ("row", m), ("col", m)):
            members.writestr(f"{name}.npy", array("<i8", f"{length},", bytes(64)))
    return file.getvalue()


BANNER = b"%%MatrixMarket matrix coordinate pattern symmetric\n"
INPUTS = {
    "all.mtx": BANNER + b"%d %d %d\n2 1\n" % (HUGE, HUGE, HUGE), "rows.mtx": BANNER + b"%d %d 1\n2 1\n" % (HUGE, HUGE),
    "entries.mtx": BANNER + b"9 9 %d\n2 1\n" % HUGE, "fewer.mtx": BANNER + b"%d %d 1\n2 1\n" % (LARGE, LARGE),
    "all.gr": b"p sp %d %d\na 1 2 3\n" % (HUGE, HUGE), "rows.gr": b"p sp %d 1\na 1 2 3\n" % HUGE,
    "rows.col": b"p edge %d 1\ne 1 2\n" % LARGE, "edges.col": b"p edge 9 %d\ne 1 2\n" % HUGE,
    "all.graph": b"%d %d\n2\n1\n" % (HUGE, HUGE), "rows.graph": b"%d 1\n2\n1\n" % HUGE,
    "edges.graph": b"2 %d\n2\n1\n" % HUGE, "all.egr": struct.pack("<ii", 2**31 - 1, 2**31 - 1) + bytes(64),
    "all.sg": struct.pack("<Bqq", 0, 2**47, 2**31) + bytes(64),
    "directed.wsg": struct.pack("<Bqq", 1, 2**47, 2**31) + bytes(64),
    "all.npz": archive("csr", HUGE - 2, HUGE - 1), "entries.npz": archive("csr", 7, HUGE - 1),
    "pairs.npz": archive("coo", HUGE - 2, HUGE - 1), "rows.npz": archive("coo", LARGE, 8),
}
INPUTS |= {f"{name}.gz": gzip.compress(INPUTS[name]) for name in ("all.mtx", "rows.mtx", "all.sg", "all.egr", "all.gr")}


@pytest.fixture(scope="module", autouse=True)
def everything_is_loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Modules that are imported, and kernels that are compiled, take memory once."""
    folder = tmp_path_factory.mktemp("loaded")
    for name in ("all.sg", "all.npz", "rows.mtx"):
        with pytest.raises(EmdiamError):
            read(folder, name, INPUTS[name])


def read(folder: Path, name: str, data: bytes) -> None:
    """Convert an input."""
    (folder / name).write_bytes(data)
    convert([folder / name], folder / "g.zarr", options=ConvertOptions(memory_bytes=512 << 20))


@pytest.mark.parametrize("name", INPUTS)
def test_inputs(tmp_path: Path, name: str):
    """Some are only refused at their end: sorting has taken its part of the budget of 512 MiB by then."""
    assert len(INPUTS[name]) < 1 << 12
    refusal(lambda: read(tmp_path, name, INPUTS[name]), most=128 << 20)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_table_with_a_false_footer(tmp_path: Path):
    """A Parquet file of 9 rows, whose footer says 2^60 (a varint of nine bytes in place of one): refused, or read as
    the 9 that there are."""
    pyarrow.parquet.write_table(pa.table({"src": pa.array(range(9)), "dst": pa.array(range(1, 10))}),
                                tmp_path / "t.parquet", compression="none", use_dictionary=False)
    data = (tmp_path / "t.parquet").read_bytes()
    begin = len(data) - 8 - struct.unpack("<I", data[-8:-4])[0]
    footer = data[begin:-8]
    count = bytes([0x16, 18])  # field of type i64, zigzag 9
    assert footer.count(count) >= 1
    for place in (i for i in range(len(footer)) if footer.startswith(count, i)):
        false = footer[:place] + b"\x16" + b"\x80" * 8 + b"\x20" + footer[place + 2 :]
        made = data[:begin] + false + struct.pack("<I", len(false)) + b"PAR1"
        shutil.rmtree(tmp_path / "g.zarr", ignore_errors=True)
        with little_memory(128 << 20):
            try:
                read(tmp_path, "t.parquet", made)
            except InputError:
                continue
        with emdiam.open(tmp_path / "g.zarr") as opened:
            assert opened.record.n_edges == 9


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return write_store(tmp_path / "g.zarr", odd_graphs()["grid"])


def reshape(folder: Path, length: int) -> None:
    """Let the metadata of an array say that it has another length."""
    edit_json(folder / "zarr.json", lambda data: data.update(shape=[length]))


@pytest.mark.parametrize("n", [HUGE, LARGE])
@pytest.mark.parametrize("what", ["vertices", "arcs", "both", "ids"])
def test_stores(store: Path, what: str, n: int):
    """Of which record and metadata agree."""
    changes: dict[str, Any] = {}
    if what in ("vertices", "both"):
        changes |= {"n_vertices": n, "max_degree": n - 1}
        reshape(store / "indptr", n + 1)
    if what in ("arcs", "both"):
        changes |= {"n_arcs": n, "n_edges": n // 2, "n_vertices": max(n, 126)}
        reshape(store / "indices", n)
        reshape(store / "indptr", max(n, 126) + 1)
    if what == "ids":
        changes = {"id_kind": "string"}
        for name in ("vertex_id_offsets", "vertex_id_bytes"):
            shutil.copytree(store / "indptr", store / name)
        edit_json(store / "vertex_id_bytes" / "zarr.json", lambda data: data.update(shape=[n], data_type="uint8"))
        digests = json.loads((store / "zarr.json").read_text())["attributes"]["emdiam"]["shard_digests"]
        changes["shard_digests"] = {**digests, "vertex_id_offsets": digests["indptr"],
                                    "vertex_id_bytes": digests["indptr"]}
    edit_record(store, redo_digest=True, **changes)
    refusal(lambda: emdiam.exact(store, memory=MEMORY))


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where numbers are in a document of JSON."""
    for key in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        if type(node[key]) is int:
            yield (*path, key)
        yield from places(node[key], (*path, key))


def test_certificates(tmp_path: Path):
    """Every number in one made huge, the digest made to match. (What may be proved then, tests/fuzz knows.)"""
    graph = odd_graphs()["clique-and-path"]
    store = write_store(tmp_path / "g.zarr", graph)
    file = prover.write(tmp_path / "c.json", store, *prover.exact_proof(graph, 2, seed=2))
    whole = file.read_text()
    assert emdiam.verify(file, store, memory=MEMORY).verified
    for path in places(json.loads(whole)):
        document = json.loads(whole)
        node = document
        for key in path[:-1]:
            node = node[key]
        for value in (1 << 36, HUGE):
            node[path[-1]] = value
            file.write_bytes(seal(document))
            with little_memory(), suppress(InputError):
                emdiam.verify(file, store, memory=MEMORY)


def matrix(tmp_path: Path) -> Path:
    """Of all distances in a grid."""
    write_store(tmp_path / "g.zarr", odd_graphs()["grid"])
    emdiam.all_pairs(tmp_path / "g.zarr", out=tmp_path / "d.zarr", memory=MEMORY)
    open_matrix(tmp_path / "d.zarr")
    return tmp_path / "d.zarr"


@pytest.mark.parametrize("chunk", [1, 1024, HUGE])
def test_matrices_of_distances(tmp_path: Path, chunk: int):
    place = matrix(tmp_path)
    root = zarr.open_group(str(place))
    record = MatrixRecord(**root.attrs[ATTRIBUTE])
    root.attrs[ATTRIBUTE] = vars(replace(record, n_vertices=HUGE).sealed())

    def larger(data: dict[str, Any], sides: int) -> None:
        data["shape"] = [HUGE] * sides
        data["chunk_grid"]["configuration"]["chunk_shape"] = [chunk] * sides

    edit_json(place / "distances" / "zarr.json", lambda data: larger(data, 2))
    edit_json(place / "vertex_id" / "zarr.json", lambda data: larger(data, 1))
    assert "the matrix is damaged" in refusal(lambda: open_matrix(place))


def test_a_matrix_with_few_distances_and_many_ids(tmp_path: Path):
    place = matrix(tmp_path)
    edit_json(place / "vertex_id" / "zarr.json", lambda data: data.update(shape=[HUGE]))
    assert f"{HUGE} ids, the record says" in refusal(lambda: open_matrix(place))
    shutil.rmtree(place / "vertex_id")
    root = zarr.open_group(str(place))
    n = root["distances"].shape[0]
    root.create_array("vertex_id_offsets", shape=(n + 1,), dtype="int64", chunks=(n + 1,))
    root.create_array("vertex_id_bytes", shape=(HUGE,), dtype="uint8", chunks=(CHUNK,))
    with pytest.raises(StoreError, match=f"the ids have {HUGE} bytes"):
        open_matrix(place)


@pytest.mark.parametrize(("text", "sentence"), [
    (b"a = " + b"[" * 100_000, "nested too deep"), (b"#" * (_MOST_BYTES + 1), "at most 16,777,216 bytes"),
    (b'[[job]]\nname = "a"\ncommand = "exact"\nstore = "g"\nmemory = "%dTiB"\n' % HUGE, "a size is at most"),
])
def test_jobs(tmp_path: Path, text: bytes, sentence: str):
    (tmp_path / "jobs.toml").write_bytes(text)
    assert sentence in refusal(lambda: emdiam.batch.batch(tmp_path / "jobs.toml", group), most=64 << 20)
