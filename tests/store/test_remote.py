"""Stores read over HTTP: the same answers as from files, and every fault of a server is said."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from emdiam.errors import StoreError
from emdiam.methods.exact.fdiam import fdiam
from emdiam.methods.result import Result
from emdiam.runs.opening import open_engine
from emdiam.store.arc_runs import store_info
from emdiam.store.check import check_store
from emdiam.store.layout import CODECS, FORMAT_VERSION
from emdiam.store.store import Store, open_store
from tests.helpers.damage import CHUNK, edit_record, make_store, read_store, replace_chunk, some_graph
from tests.helpers.http_range import RangeServer, serving

pytest.importorskip("obstore")
GRAPH = some_graph()
NAMES = [f"vertex {v:03}" for v in range(300)]
ARRAYS = ["indices", "indptr", "vertex_id_offsets", "vertex_id_bytes"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RangeServer]:
    with serving(tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture
def store(server: RangeServer) -> Iterator[Path]:
    """The folder of a store that is served."""
    path = make_store(server.root / "g.zarr", GRAPH, ids=NAMES)
    server.ranges = True
    yield path
    shutil.rmtree(path)


def url_of(server: RangeServer, store: Path) -> str:
    return f"{server.url}/{store.name}"


def answer(store: Store, arena_bytes: int | None = None) -> Result:
    """What F-Diam says of the store."""
    with open_engine(store, memory_bytes=2 << 30, arena_bytes=arena_bytes) as engine:
        return fdiam(engine)


@pytest.mark.parametrize("codec", CODECS)
def test_the_same_arrays_as_from_files(
    server: RangeServer, codec: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("emdiam.store.layout.SHARD_BYTES", 4 * CHUNK * 4)
    path = make_store(server.root / f"{codec}.zarr", GRAPH, codec=codec, ids=np.arange(300) * 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        remote = read_store(url_of(server, path))
    local = read_store(path)
    assert sorted(local) == sorted(remote) == ["indices", "indptr", "vertex_id"]
    for name, values in local.items():
        assert_array_equal(remote[name], values)


@pytest.mark.parametrize("arena_bytes", [None, 4 * CHUNK * 4])
def test_the_same_answer_as_from_files(server: RangeServer, store: Path, arena_bytes: int | None):
    with open_store(store) as local, open_store(url_of(server, store)) as remote:
        assert local.is_local and not remote.is_local
        expected, found = answer(local, arena_bytes), answer(remote, arena_bytes)
    assert found.witness == expected.witness and found.witness is not None
    assert found.witness.source in NAMES
    for name in ("diameter_max_component", "n_components", "traversals", "store_digest", "exact"):
        assert getattr(found, name) == getattr(expected, name)


def test_a_fetch_is_one_range_and_an_index_is_read_once(server: RangeServer, store: Path):
    with open_store(url_of(server, store)) as remote:
        server.requests.clear()
        buffer = np.empty((3, CHUNK), np.uint32)
        n_bytes = remote.indices.fetch(2, list(buffer))
        remote.indices.fetch(2, list(buffer))
    shard, record = "/g.zarr/indices/c/0", "/g.zarr/zarr.json"
    assert [path for path, _ in server.requests] == [shard, record, shard, shard]
    index, _, first, again = (wanted for _, wanted in server.requests)
    assert index == f"bytes=-{16 * 4096 + 4 + 4}"
    assert first == again and first is not None
    start, last = map(int, first.removeprefix("bytes=").split("-"))
    assert last - start + 1 == n_bytes


def test_opening_reads_metadata_only(server: RangeServer, store: Path):
    server.requests.clear()
    open_store(url_of(server, store)).close()
    assert all(path.endswith("zarr.json") for path, _ in server.requests)
    assert len(server.requests) >= 5


def test_info_and_check(server: RangeServer, store: Path):
    with open_store(store) as local, open_store(url_of(server, store)) as remote:
        ours, theirs = store_info(local), store_info(remote)
        assert check_store(remote) == check_store(local)
    assert (theirs["n_files"], theirs["bytes"], theirs["bytes_per_edge"]) == (None, None, None)
    for name in ("degree", "n_edges", "id_range", "digest", "chunk_bytes", "shard_bytes"):
        assert theirs[name] == ours[name]


def refusal(url: str) -> str:
    """The sentence with which reading the store is refused."""
    with pytest.raises(StoreError) as error:
        read_store(url)
    assert str(error.value.path).startswith(url) and "; " in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", ARRAYS)
def test_a_missing_shard_is_no_data(server: RangeServer, store: Path, name: str):
    (store / name / "c" / "0").unlink()
    assert f"{name}/c/0: the object is missing (404 Not Found)" in refusal(url_of(server, store))


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("size", [0, 100, 16 * 4096 + 4, -1])
def test_a_truncated_shard_is_no_data(server: RangeServer, store: Path, name: str, size: int):
    path = store / name / "c" / "0"
    os.truncate(path, size if size >= 0 else path.stat().st_size + size)
    assert f"{name}/c/0" in refusal(url_of(server, store))


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("chunk", [0, 1])
def test_a_missing_chunk_is_no_data(server: RangeServer, store: Path, name: str, chunk: int):
    replace_chunk(store, name, chunk, None)
    assert f"chunk {chunk} of the shard is missing" in refusal(url_of(server, store))


@pytest.mark.parametrize("place", [0, 200, -1, -5, -70_000])
def test_a_flipped_bit_is_no_data(server: RangeServer, store: Path, place: int):
    path = store / "indices" / "c" / "0"
    data = bytearray(path.read_bytes())
    data[max(place, -len(data) + 3)] ^= 16
    path.write_bytes(data)
    assert "checksum mismatch" in refusal(url_of(server, store))


def test_a_shard_that_goes_away_in_the_middle(server: RangeServer, store: Path):
    with open_store(url_of(server, store)) as remote:
        with open_engine(remote, memory_bytes=2 << 30, arena_bytes=4 * CHUNK * 4) as engine:
            (store / "indices" / "c" / "0").unlink()
            with pytest.raises(StoreError, match="indices/c/0: the object is missing"):
                fdiam(engine)


def test_a_shard_that_shrinks_in_the_middle(server: RangeServer, store: Path):
    row = np.empty(CHUNK, np.uint32)
    with open_store(url_of(server, store)) as remote:
        remote.indices.fetch(0, [row])
        os.truncate(store / "indices" / "c" / "0", 50)
        with pytest.raises(StoreError, match="bytes came where|replaced while|too short"):
            remote.indices.fetch(0, [row])
        with pytest.raises(StoreError, match="ends before the bytes"):
            remote.indices.fetch(9, [row])


def test_a_chunk_of_fill_values_is_refused(server: RangeServer, store: Path):
    replace_chunk(store, "indices", 3, np.full(CHUNK, 2**32 - 1, np.uint32))
    with open_store(url_of(server, store)) as remote, pytest.raises(StoreError, match="no vertex"):
        answer(remote)


def test_a_server_without_ranges_is_said(server: RangeServer, store: Path):
    server.ranges = False
    text = refusal(url_of(server, store))
    assert "c/0: the server does not answer range requests; serve the store" in text


def test_a_server_that_has_gone(tmp_path: Path):
    make_store(tmp_path / "g.zarr", GRAPH)
    row = np.empty(CHUNK, np.uint32)
    with serving(tmp_path) as server:
        url = f"{server.url}/g.zarr"
        remote = open_store(url)
    with pytest.raises(StoreError, match="cannot be reached .*; check the server"):
        remote.indices.fetch(0, [row])
    with pytest.raises(StoreError, match="zarr.json: the server cannot be reached"):
        open_store(url)


def test_what_is_no_store(server: RangeServer, store: Path):
    assert "absent.zarr/zarr.json: the object is missing" in refusal(f"{server.url}/absent.zarr")
    shutil.rmtree(store / "indptr")
    assert "g.zarr/indptr/zarr.json: the object is missing" in refusal(url_of(server, store))
    edit_record(store, redo_digest=True, format_version=FORMAT_VERSION + 1)
    assert "upgrade emdiam" in refusal(url_of(server, store))
    edit_record(store, format_version=2)
    assert "does not match its digest" in refusal(url_of(server, store))
    (store / "zarr.json").write_text("{")
    assert "the metadata is damaged" in refusal(url_of(server, store))


def test_an_unknown_scheme_is_said():
    with pytest.raises(StoreError, match="nonsense://somewhere/g.zarr"):
        open_store("nonsense://somewhere/g.zarr")


def test_a_zip_and_a_memory_file_system(tmp_path: Path, store: Path):
    """Other places that fsspec knows take the same way."""
    import fsspec

    expected = read_store(store)
    memory = fsspec.filesystem("memory")
    memory.put(str(store), "/kept/g.zarr", recursive=True)
    shutil.make_archive(str(tmp_path / "g"), "zip", store)
    for url in ("memory://kept/g.zarr", f"zip://::file://{tmp_path}/g.zip"):
        found = read_store(url)
        for name, values in expected.items():
            assert_array_equal(found[name], values)
    memory.rm("/kept", recursive=True)
