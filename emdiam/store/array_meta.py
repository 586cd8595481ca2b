"""The metadata of a store's arrays: what it must be, and a check of what is found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StoreError
from .layout import MOST_SHARD_CHUNKS, NATURAL, StoreRecord, id_dtype

_REMEDY = "convert the graph again"
_IDS = (np.dtype(np.int64), np.dtype(np.uint64))
_DTYPES = {str(dtype): dtype for dtype in (*_IDS, np.dtype(np.uint32), np.dtype(np.uint8))}


@dataclass(frozen=True)
class ArrayMeta:
    """dtype, length (items), chunk_items, shard_items of a one-dimensional sharded array."""

    dtype: np.dtype[Any]
    length: int
    chunk_items: int
    shard_items: int

    @property
    def shard_chunks(self) -> int:
        """Chunks a shard."""
        return self.shard_items // self.chunk_items

    @classmethod
    def from_json(cls, meta: dict[str, Any], place: str | Path) -> ArrayMeta:
        """From the content of a zarr.json. Raises StoreError."""
        try:
            (length,), (shard_items,) = meta["shape"], meta["chunk_grid"]["configuration"]["chunk_shape"]
            (sharding,) = meta["codecs"]
            (chunk_items,) = sharding["configuration"]["chunk_shape"]
            found = cls(_DTYPES[meta["data_type"]], length, chunk_items, shard_items)
            keys = meta["chunk_key_encoding"]
            places = (sharding["name"], sharding["configuration"]["index_location"], keys["name"])
            separator = keys.get("configuration", {}).get("separator", "/")
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise _not_as_written(place, f"{error!r:.200}") from None
        if places != ("sharding_indexed", "end", "default"):
            raise _not_as_written(place, f"{places!r:.200}")
        if separator != "/":
            raise _not_as_written(place, "another separator")
        return found


@dataclass(frozen=True)
class ExpectedArray:
    """name, chunk_items and length (None: any) of an array of one of `dtypes`."""

    name: str
    dtypes: tuple[np.dtype[Any], ...]
    length: int | None
    chunk_items: int

    def check(self, meta: ArrayMeta, place: str | Path) -> ArrayMeta:
        """`meta`, if it is as expected. Raises StoreError."""
        sizes = (meta.length, meta.chunk_items, meta.shard_items)
        if not all(type(size) is int for size in sizes):
            raise _not_as_written(place, f"sizes {sizes!r:.200}")
        if meta.dtype not in self.dtypes or meta.length < 0 or self.length not in (None, meta.length):
            raise StoreError(f"the array holds {meta.length} of {meta.dtype}, the store record says "
                             f"{self.length} of {self.dtypes[0]}", path=place, remedy=_REMEDY)
        # The record has a valid chunk size. The index of a shard is read whole, so its length is bounded too.
        whole = meta.chunk_items == self.chunk_items and meta.shard_items % meta.chunk_items == 0
        if not whole or not 1 <= meta.shard_chunks <= MOST_SHARD_CHUNKS:
            raise StoreError(f"the array has chunks of {meta.chunk_items} items in shards of "
                             f"{meta.shard_items}, the store record says chunks of {self.chunk_items}",
                             path=place, remedy=_REMEDY)
        return meta


OPTIONAL_ARRAYS = ("vertex_id", "vertex_id_offsets", "vertex_id_bytes", "natural_id")
"""Arrays that some stores have and others have not."""


def expected_arrays(record: StoreRecord) -> list[ExpectedArray]:
    """The arrays that a store with this record has."""
    n, chunk = record.n_vertices, record.chunk_ids
    offsets = (np.dtype(np.int64),)
    arrays = [ExpectedArray("indptr", offsets, n + 1, chunk),
              ExpectedArray("indices", (id_dtype(n),), record.n_arcs, chunk)]
    if record.id_kind == "int":
        arrays.append(ExpectedArray("vertex_id", _IDS, n, chunk))
    elif record.id_kind == "string":
        arrays += [ExpectedArray("vertex_id_offsets", offsets, n + 1, chunk),
                   ExpectedArray("vertex_id_bytes", (np.dtype(np.uint8),), None, chunk)]
    if record.ordering != NATURAL:
        arrays.append(ExpectedArray("natural_id", (id_dtype(n),), n, chunk))
    return arrays


def _not_as_written(place: str | Path, why: str) -> StoreError:
    return StoreError(f"the metadata of the array is not as written ({why})", path=place, remedy=_REMEDY)
