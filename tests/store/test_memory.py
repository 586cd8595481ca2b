"""A store in memory is the one that a folder would hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from emdiam.conversion.convert import ConvertOptions, graph_in_memory, write_graph
from emdiam.errors import StoreError
from emdiam.formats.in_memory import ArraySource
from emdiam.store.array_reader import read_slice
from emdiam.store.memory import MemoryArray
from emdiam.store.metadata import ArrayMeta
from emdiam.store.store import open_store


@pytest.mark.parametrize("codec", ["lz4", "none"])
@pytest.mark.parametrize("ids", ["plain", "gaps", "strings"])
def test_it_is_the_store_of_a_folder(tmp_path: Path, codec: str, ids: str) -> None:
    """Same records but for how they were made, same arrays, in several shards and chunks."""
    src, dst = np.random.default_rng(3).integers(0, 400, (2, 9000))
    if ids == "gaps":
        src, dst = src * 7, dst * 7
    if ids == "strings":
        src, dst = (np.array([f"v{i}" for i in end.tolist()], object) for end in (src, dst))
    source = ArraySource(src, dst)
    options = ConvertOptions(codec=codec, chunk_ids=64, threads=2, scratch=tmp_path)
    here = graph_in_memory(source, tmp_path, options)
    assert list(tmp_path.iterdir()) == [], "nothing is left, and nothing has a name"
    write_graph(source, tmp_path / "g.zarr", options=options)
    with open_store(tmp_path / "g.zarr") as there:
        assert here.record == there.record and here.digest == there.digest
        assert here.array_names() == there.array_names() and not here.is_local
        for name in there.array_names():
            mine, theirs = here.array(name), there.array(name)
            assert read_slice(mine, 0, mine.length).tolist() == read_slice(theirs, 0, theirs.length).tolist()
            assert mine.stored_bytes == theirs.stored_bytes
        assert here.user_ids(np.array([0, 399])) == there.user_ids(np.array([0, 399]))
        assert here.neighbours(17).tolist() == there.neighbours(17).tolist()


def test_damage_in_memory_is_noticed(tmp_path: Path) -> None:
    """As in files: the shards are checked when they are opened, the chunks when they are decoded."""
    store = graph_in_memory(ArraySource([0, 1], [1, 2]), tmp_path, ConvertOptions(codec="none", scratch=tmp_path))
    array = store.indices
    assert isinstance(array, MemoryArray)
    [data] = array._shards
    meta = ArrayMeta(array.dtype, array.length, array.chunk_items, array.shard_chunks)
    with pytest.raises(StoreError, match="checksum mismatch in the shard index"):
        MemoryArray("indices", meta, store.record, [data[:-1] + bytes([data[-1] ^ 1])])
    with pytest.raises(StoreError, match="not those of the store record"):
        MemoryArray("indices", meta, graph_in_memory(
            ArraySource([0], [1]), tmp_path, ConvertOptions(codec="none", scratch=tmp_path)).record, [data])
    wrong = MemoryArray("indices", meta, store.record, [bytes([data[0] ^ 1]) + data[1:]])
    with pytest.raises(StoreError, match="chunk 0 cannot be decoded"):
        read_slice(wrong, 0, 4)


def test_string_ids_are_those_of_pyarrow(tmp_path: Path) -> None:
    source = ArraySource(["ü", "b"], np.array(pa.array(["b", "a"]).to_pylist(), object))
    store = graph_in_memory(source, tmp_path, ConvertOptions(scratch=tmp_path))
    assert store.user_ids(np.arange(3)) == ["a", "b", "ü"]
