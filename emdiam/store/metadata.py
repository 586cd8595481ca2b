"""The metadata of a store, which are not trusted: JSON objects, the record of a finished store, its arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..durable import read_at_most
from ..errors import StoreError
from .codec import INDEX_CODECS, file_fault
from .layout import FORMAT_VERSION, MOST_SHARD_CHUNKS, NATURAL, PARTIAL_SUFFIX, REVERSE, StoreRecord, id_dtype
from .weights import DTYPES as WEIGHT_DTYPES

CONVERT = "make one with: emdiam convert INPUT STORE"
_AGAIN = "convert again"
_AGAIN_ARRAY = "convert the graph again"
_IDS = (np.dtype(np.int64), np.dtype(np.uint64))
_DTYPES = {**{str(dtype): dtype for dtype in (*_IDS, np.dtype(np.uint32), np.dtype(np.uint8))}, **WEIGHT_DTYPES}
# Arrays that only some stores have.
OPTIONAL_ARRAYS = ("vertex_id", "vertex_id_offsets", "vertex_id_bytes", "natural_id", "data", f"{REVERSE}/indptr",
                   f"{REVERSE}/indices", f"{REVERSE}/data")
# Limit for one metadata file; ours have a few KiB, or more if there are many source files.
MOST_BYTES = 16 << 20


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in the file at `path`. Raises StoreError, FileNotFoundError."""
    try:
        text = read_at_most(path, MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError as error:
        raise file_fault("the metadata cannot be read", error, path) from None
    if text is None:
        raise _damaged("metadata", f"more than {MOST_BYTES:,} bytes", path)
    return as_object(text, path)


def as_object(text: bytes, path: str | Path) -> dict[str, Any]:
    """The JSON object in `text`, read from `path`. Raises StoreError."""
    if len(text) > MOST_BYTES:
        raise _damaged("metadata", f"more than {MOST_BYTES:,} bytes", path)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, too many digits, or too deep
        raise _damaged("metadata", str(error), path) from None
    if not isinstance(data, dict):
        raise _damaged("metadata", "not an object", path)
    return data


def group_text(attributes: Mapping[str, Any] = MappingProxyType({})) -> str:
    """The metadata of a Zarr v3 group."""
    return _text({"attributes": dict(attributes), "zarr_format": 3, "node_type": "group"})


def array_text(shape: Sequence[int], dtype: np.dtype[Any], chunks: Sequence[int], fill: int | float | None,
               codecs: list[dict[str, Any]]) -> str:
    """The metadata of a Zarr v3 array, as the package zarr writes them. chunks : the shape of the data in a file, which
    is a shard if the array is sharded."""
    return _text({
        "shape": list(shape), "data_type": str(dtype),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "NaN" if fill != fill else fill, "codecs": codecs, "attributes": {}, "zarr_format": 3,
        "node_type": "array", "storage_transformers": [],
    })


def sharding(chunk_items: int, codecs: list[dict[str, Any]]) -> dict[str, Any]:
    """The codec of a shard whose chunks have `codecs`."""
    return {"name": "sharding_indexed", "configuration": {
        "chunk_shape": [chunk_items], "codecs": codecs, "index_codecs": INDEX_CODECS, "index_location": "end"}}


def _text(metadata: dict[str, Any]) -> str:
    return json.dumps(metadata, indent=2, allow_nan=False)


def check_record(attributes: Any, place: str) -> StoreRecord:
    """The record in the group's attributes, which must describe a finished store. Raises StoreError."""
    if place.rstrip("/").endswith(PARTIAL_SUFFIX):
        raise StoreError("an unfinished conversion", path=place, remedy="run the conversion again")
    data = attributes.get("emdiam") if isinstance(attributes, dict) else None
    if not isinstance(data, dict):
        raise StoreError("a zarr group, but not an emdiam store", path=place, remedy=CONVERT)
    version = data.get("format_version")
    if type(version) is int and version > FORMAT_VERSION:
        raise StoreError(f"the store has format version {version}, this program reads up to {FORMAT_VERSION}",
                         path=place, remedy="upgrade emdiam")
    if type(version) is not int or version < 1:
        raise _damaged("store record", f"format version {version!r:.80}", place)
    try:
        record = StoreRecord.from_dict(data)
    except (KeyError, TypeError) as error:
        raise _damaged("store record", f"{error!s:.200}", place) from None
    if record.complete is not True:
        raise StoreError("an unfinished conversion", path=place, remedy="run the conversion again")
    if record.digest() != record.record_digest:
        raise StoreError("the store record does not match its digest", path=place, remedy=_AGAIN)
    fault = record.fault()
    if fault is not None:
        raise _damaged("store record", fault, place)
    return record


def _damaged(what: str, why: str, place: str | Path) -> StoreError:
    return StoreError(f"the {what} is damaged ({why})", path=place, remedy=_AGAIN)


class ArrayMeta(NamedTuple):
    """dtype, length (items), chunk_items, shard_chunks (chunks per shard) of a one-dimensional sharded array."""

    dtype: np.dtype[Any]
    length: int
    chunk_items: int
    shard_chunks: int


class ExpectedArray(NamedTuple):
    """name, chunk_items and length (None: any) of an expected array, whose dtype is among `dtypes`."""

    name: str
    dtypes: tuple[np.dtype[Any], ...]
    length: int | None
    chunk_items: int

    def read(self, data: dict[str, Any], place: str | Path) -> ArrayMeta:
        """The metadata in `data`, the content of a zarr.json, after comparing them with these. Raises StoreError."""
        try:
            (length,), (shard_items,) = data["shape"], data["chunk_grid"]["configuration"]["chunk_shape"]
            (sharding,), dtype = data["codecs"], _DTYPES[data["data_type"]]
            (chunk_items,) = sharding["configuration"]["chunk_shape"]
            keys = data["chunk_key_encoding"]
            places = (sharding["name"], sharding["configuration"]["index_location"], keys["name"])
            separator = keys.get("configuration", {}).get("separator", "/")
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise _not_as_written(place, f"{error!r:.200}") from None
        if places != ("sharding_indexed", "end", "default"):
            raise _not_as_written(place, f"{places!r:.200}")
        if separator != "/":
            raise _not_as_written(place, "another separator")
        sizes = (length, chunk_items, shard_items)
        if not all(type(size) is int for size in sizes):
            raise _not_as_written(place, f"sizes {sizes!r:.200}")
        if dtype not in self.dtypes or length < 0 or self.length not in (None, length):
            raise StoreError(f"the array holds {length} of {dtype}, the store record says {self.length} of"
                             f" {self.dtypes[0]}", path=place, remedy=_AGAIN_ARRAY)
        # The record's chunk size is valid. The index of a shard is read whole, so its length is bounded too.
        whole = chunk_items == self.chunk_items and shard_items % chunk_items == 0
        if not whole or not 1 <= shard_items // chunk_items <= MOST_SHARD_CHUNKS:
            raise StoreError(f"the array has chunks of {chunk_items} items in shards of {shard_items}, the store record"
                             f" says chunks of {self.chunk_items}", path=place, remedy=_AGAIN_ARRAY)
        return ArrayMeta(dtype, length, chunk_items, shard_items // chunk_items)


def expected_arrays(record: StoreRecord) -> list[ExpectedArray]:
    """The arrays of a store with this record."""
    n, chunk = record.n_vertices, record.chunk_ids
    offsets = (np.dtype(np.int64),)
    arrays = []
    for at in ("", f"{REVERSE}/")[: 1 + record.directed]:
        arrays += [ExpectedArray(f"{at}indptr", offsets, n + 1, chunk),
                   ExpectedArray(f"{at}indices", (id_dtype(n),), record.n_arcs, chunk)]
        if record.weights is not None:
            arrays.append(ExpectedArray(f"{at}data", (WEIGHT_DTYPES[record.weights.dtype],), record.n_arcs, chunk))
    if record.id_kind == "int":
        arrays.append(ExpectedArray("vertex_id", _IDS, n, chunk))
    elif record.id_kind == "string":
        arrays += [ExpectedArray("vertex_id_offsets", offsets, n + 1, chunk),
                   ExpectedArray("vertex_id_bytes", (np.dtype(np.uint8),), None, chunk)]
    if record.ordering != NATURAL:
        arrays.append(ExpectedArray("natural_id", (id_dtype(n),), n, chunk))
    return arrays


def _not_as_written(place: str | Path, why: str) -> StoreError:
    return StoreError(f"the metadata of the array is not as written ({why})", path=place, remedy=_AGAIN_ARRAY)
