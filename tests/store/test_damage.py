"""Whatever happens to a store, it gives the data that was written or a StoreError, never others."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import StoreError
from emdiam.methods.exact.fdiam import fdiam
from emdiam.runs.opening import open_engine
from emdiam.store.check import check_store
from emdiam.store.layout import CODECS, FORMAT_VERSION
from emdiam.store.store import open_store
from tests.helpers.damage import CHUNK, edit_json, edit_record, make_store, read_store, replace_chunk, some_graph
from tests.helpers.open_files import open_files

NAMES = [f"vertex {v:03}" for v in range(300)]
ARRAYS = ["indices", "indptr", "vertex_id_offsets", "vertex_id_bytes"]
some = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
pytestmark = pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3")


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A whole store in every codec."""
    folder = tmp_path_factory.mktemp("whole")
    return {codec: make_store(folder / f"{codec}.zarr", some_graph(), codec=codec, ids=NAMES)
            for codec in CODECS}


@pytest.fixture
def store(tmp_path: Path, originals: dict[str, Path]) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(originals["lz4"], tmp_path / "g.zarr"))


def refusal(store: Path) -> str:
    """The sentence with which reading the store is refused; it names the store and a remedy."""
    with pytest.raises(StoreError) as error:
        read_store(store)
    text = str(error.value)
    assert str(error.value.path).startswith(str(store)) and "; " in text
    return text


@some
@given(codec=st.sampled_from(CODECS), name=st.sampled_from(ARRAYS), place=st.floats(0, 1, exclude_max=True),
       bit=st.integers(0, 7), in_data=st.booleans())
def test_no_flipped_bit_passes(
    tmp_path: Path, originals: dict[str, Path], codec: str, name: str, place: float, bit: int, in_data: bool
):
    """Anywhere in a shard: in a chunk, in its checksum, in the index, in the index's checksum."""
    shutil.rmtree(tmp_path / "g.zarr", ignore_errors=True)
    store = Path(shutil.copytree(originals[codec], tmp_path / "g.zarr"))
    path = store / name / "c" / "0"
    data = bytearray(path.read_bytes())
    index = 16 * 4096 + 4
    at = int(place * ((len(data) - index) if in_data else index)) + (0 if in_data else len(data) - index)
    data[at] ^= 1 << bit
    path.write_bytes(data)
    assert name in refusal(store)


@some
@given(codec=st.sampled_from(CODECS), name=st.sampled_from(ARRAYS), place=st.floats(0, 1, exclude_max=True))
def test_no_truncated_shard_passes(
    tmp_path: Path, originals: dict[str, Path], codec: str, name: str, place: float
):
    shutil.rmtree(tmp_path / "g.zarr", ignore_errors=True)
    store = Path(shutil.copytree(originals[codec], tmp_path / "g.zarr"))
    path = store / name / "c" / "0"
    os.truncate(path, int(place * path.stat().st_size))
    assert f"{name}/c/0" in refusal(store)


@pytest.mark.parametrize("name", ARRAYS)
def test_missing_and_empty_shards(store: Path, name: str):
    shard = store / name / "c" / "0"
    shard.write_bytes(b"")
    assert "shorter than its index" in refusal(store)
    shard.unlink()
    assert f"{name}/c/0: a shard file is missing; " in refusal(store)
    shard.mkdir()
    assert "cannot be read" in refusal(store)


def test_a_shard_that_shrinks_while_open(store: Path):
    with open_store(store) as opened:
        os.truncate(store / "indices" / "c" / "0", 100)
        with pytest.raises(StoreError, match="ends too early"):
            opened.indices.fetch(10, [np.empty(CHUNK, np.uint32)])


def test_bytes_put_before_the_chunks(store: Path):
    """The index still holds; the places it names do not."""
    shard = store / "indices" / "c" / "0"
    shard.write_bytes(b"12345678" + shard.read_bytes())
    assert "checksum mismatch" in refusal(store)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("chunk", [0, 1, -1])
def test_a_chunk_marked_as_missing(store: Path, name: str, chunk: int):
    with open_store(store) as opened:
        chunk %= opened.array(name).n_chunks
    replace_chunk(store, name, chunk, None)
    assert f"chunk {chunk} of the shard is missing" in refusal(store)


def test_a_sparse_index(store: Path):
    """A file of the right size with a hole in place of the index."""
    path = store / "indices" / "c" / "0"
    size = path.stat().st_size
    os.truncate(path, 5000)
    os.truncate(path, size)
    assert "checksum mismatch in the shard index" in refusal(store)


def test_chunks_out_of_order(store: Path):
    from crc32c import crc32c

    path = store / "indices" / "c" / "0"
    data = path.read_bytes()
    index = np.frombuffer(data[-(16 * 4096 + 4) : -4], "<u8").reshape(-1, 2).copy()
    for change in ([1, 0], [0, 0]):
        body = index[[*change, *range(2, 4096)]].tobytes()
        path.write_bytes(data[: -(16 * 4096 + 4)] + body + crc32c(body).to_bytes(4, "little"))
        assert "is not where it must be" in refusal(store)


@pytest.mark.parametrize(("offset", "size"), [(2**64 - 2, 100), (2**63, 2**63), (10**9, 50), (0, 4), (0, 2**40)])
def test_places_outside_the_shard(store: Path, offset: int, size: int):
    from crc32c import crc32c

    path = store / "indices" / "c" / "0"
    data = path.read_bytes()
    index = np.frombuffer(data[-(16 * 4096 + 4) : -4], "<u8").reshape(-1, 2).copy()
    with open_store(store) as opened:
        index[opened.indices.n_chunks - 1] = offset, size
    body = index.tobytes()
    path.write_bytes(data[: -(16 * 4096 + 4)] + body + crc32c(body).to_bytes(4, "little"))
    assert "is not where it must be" in refusal(store)


def _shape(meta: dict[str, Any]) -> None:
    meta["shape"] = [meta["shape"][0] + 1]


def _dtype(meta: dict[str, Any]) -> None:
    meta["data_type"] = "float32"


def _inner(size: Any) -> Callable[[dict[str, Any]], None]:
    def change(meta: dict[str, Any]) -> None:
        meta["codecs"][0]["configuration"]["chunk_shape"] = size
    return change


def _outer(size: Any) -> Callable[[dict[str, Any]], None]:
    def change(meta: dict[str, Any]) -> None:
        meta["chunk_grid"]["configuration"]["chunk_shape"] = size
    return change


def _index_first(meta: dict[str, Any]) -> None:
    meta["codecs"][0]["configuration"]["index_location"] = "start"


def _other_keys(meta: dict[str, Any]) -> None:
    meta["chunk_key_encoding"]["configuration"]["separator"] = "."


CHANGES = [_shape, _dtype, _inner([0]), _inner([128]), _inner([64, 1]), _inner(["64"]), _inner([64.0]), _inner(64),
           _outer([0]), _outer([100]), _outer([-64]), _outer([]), _index_first, _other_keys, dict.clear,
           lambda meta: meta.pop("codecs"), lambda meta: meta["codecs"].append({"name": "gzip"})]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["indices", "indptr"])
def test_changed_metadata_of_an_array(store: Path, name: str, change: Callable[[dict[str, Any]], Any]):
    edit_json(store / name / "zarr.json", change)
    assert name in refusal(store)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"x"', "\xff", "[" * 100_000])
@pytest.mark.parametrize("place", ["", "indices"])
def test_metadata_that_is_none(store: Path, place: str, text: str):
    (store / place / "zarr.json").write_bytes(text.encode("latin-1"))
    assert "the metadata is damaged" in refusal(store)


@pytest.mark.parametrize("name", ARRAYS)
def test_a_missing_array(store: Path, name: str):
    shutil.rmtree(store / name)
    assert f"the array {name} is missing" in refusal(store)


@pytest.mark.parametrize("changes", [
    {"n_vertices": 299}, {"n_edges": 1}, {"first_id": 5}, {"id_kind": "identity"}, {"codec": "none"},
    {"max_degree": 3}, {"record_digest": "0" * 32}, {"chunk_digest": ""},
])
def test_an_edited_record(store: Path, changes: dict[str, Any]):
    edit_record(store, **changes)
    assert "does not match its digest" in refusal(store)


def test_a_record_of_another_shape(store: Path):
    edit_json(store / "zarr.json", lambda data: data["attributes"]["emdiam"].pop("codec"))
    assert "missing ['codec']" in refusal(store)
    edit_record(store, codec="lz4", colour="red")
    assert "unknown ['colour']" in refusal(store)


@pytest.mark.parametrize("version", [None, "1", 0, -1, 1.5])
def test_a_version_that_is_none(store: Path, version: Any):
    edit_record(store, format_version=version)
    assert "format version" in refusal(store)


def test_a_newer_version(store: Path):
    edit_record(store, redo_digest=True, format_version=FORMAT_VERSION + 1)
    version = f"format version {FORMAT_VERSION + 1}, this program reads up to {FORMAT_VERSION}; upgrade emdiam"
    assert version in refusal(store)


def test_an_unfinished_record(store: Path):
    edit_record(store, redo_digest=True, complete=False)
    assert "an unfinished conversion; run the conversion again" in refusal(store)


def test_what_is_no_store(tmp_path: Path, store: Path):
    for name in ("absent", "file", "folder", "foreign"):
        path = tmp_path / name
        if name == "file":
            path.write_text("x")
        elif name == "folder":
            path.mkdir()
        elif name == "foreign":
            zarr.open_group(str(path), mode="w", zarr_format=3).attrs["title"] = "something else"
        expected = {"absent": "no such store", "file": "a file, not a store", "folder": "not a zarr group",
                    "foreign": "not an emdiam store"}[name]
        text = refusal(path)
        assert expected in text and "emdiam convert" in text
    edit_json(store / "zarr.json", lambda data: data.update(attributes=[1]))
    assert "not an emdiam store" in refusal(store)


def test_a_partial_store_never_opens(store: Path):
    """Not even one whose record is down: it lacks the last step."""
    partial = store.rename(store.with_name("g.zarr.partial"))
    assert "an unfinished conversion" in refusal(partial)
    with pytest.raises(StoreError, match="g.zarr.partial is an unfinished conversion: run it again"):
        open_store(store)


def engine_refusal(store: Path) -> str:
    """The sentence with which a run on the store is refused."""
    with open_store(store) as opened, pytest.raises(StoreError) as error:
        with open_engine(opened, memory_bytes=2 << 30) as engine:
            fdiam(engine)
    return str(error.value)


@pytest.mark.parametrize("codec", CODECS)
def test_a_chunk_of_fill_values_is_refused_by_the_pager(
    tmp_path: Path, originals: dict[str, Path], codec: str
):
    """What other tools read, and might write back, where a chunk is missing."""
    store = Path(shutil.copytree(originals[codec], tmp_path / "g.zarr"))
    replace_chunk(store, "indices", 3, np.full(CHUNK, 2**32 - 1, np.uint32))
    assert zarr.open_group(str(store), mode="r")["indices"][3 * CHUNK] == 2**32 - 1
    assert "which is no vertex" in engine_refusal(store)
    with open_store(store) as opened, pytest.raises(StoreError, match="no vertex"):
        check_store(opened)


@pytest.mark.parametrize("chunk", [0, 2, -1])
def test_offsets_of_fill_values_are_refused(store: Path, chunk: int):
    with open_store(store) as opened:
        chunk %= opened.indptr.n_chunks
    replace_chunk(store, "indptr", chunk, np.full(CHUNK, -1, np.int64))
    assert "indptr is not valid" in engine_refusal(store)


def test_the_files_of_a_refused_store_are_closed(store: Path):
    shutil.rmtree(store / "vertex_id_bytes")
    files = open_files()
    for _ in range(3):
        refusal(store)
    assert not open_files() - files


def test_too_many_open_files_is_said(store: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*arguments: Any) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", refuse)
    text = refusal(store)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert os.strerror(errno.EMFILE) in text and f"may open {limit:,} files" in text and "ulimit -n" in text
