"""Opening a store: everything is checked that can be checked without reading the edges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StoreError
from .array_reader import ChunkedArray, LocalArray, ZarrArray
from .codec import ChunkCodec
from .layout import FORMAT_VERSION, PARTIAL_SUFFIX, StoreRecord, id_dtype

_CONVERT = "make one with: emdiam convert INPUT STORE"


class Store:
    """An opened store; made by open_store.

    path : str as given. record : StoreRecord. indptr : int64 ChunkedArray of n_vertices + 1.
    indices : id ChunkedArray of n_arcs. Close it, or use it as a context manager.
    """

    def __init__(self, path: str, record: StoreRecord, arrays: dict[str, ChunkedArray]) -> None:
        self.path, self.record, self._arrays = path, record, arrays
        self.indptr, self.indices = arrays["indptr"], arrays["indices"]

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.record.n_vertices

    @property
    def n_arcs(self) -> int:
        """Number of stored arcs, twice the number of edges."""
        return self.record.n_arcs

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """dtype of vertex ids in `indices`."""
        return self.indices.dtype

    @property
    def is_local(self) -> bool:
        """True if chunks are read directly from files."""
        return isinstance(self.indices, LocalArray)

    @property
    def digest(self) -> str:
        """Digest of the stored graph (equal for equal graphs in equal order and codec)."""
        return self.record.chunk_digest

    def array_names(self) -> list[str]:
        """Names of the stored arrays (without the virtual `data`)."""
        return sorted(self._arrays)

    def array(self, name: str) -> ChunkedArray:
        """The stored array `name`."""
        return self._arrays[name]

    def user_ids(self, ids: np.ndarray) -> list[int] | list[str]:
        """The user's ids of vertices `ids` (integers [k]); ints, or str for string ids."""
        ids = np.asarray(ids, dtype=np.int64)
        kind = self.record.id_kind
        if kind in ("identity", "offset"):
            return [int(v) + self.record.first_id for v in ids]
        if kind == "int":
            return [int(v) for v in _gather(self._arrays["vertex_id"], ids)]
        offsets, data = self._arrays["vertex_id_offsets"], self._arrays["vertex_id_bytes"]
        starts, ends = _gather(offsets, ids), _gather(offsets, ids + 1)
        return [
            _gather(data, np.arange(s, e)).tobytes().decode() for s, e in zip(starts, ends, strict=True)
        ]

    def close(self) -> None:
        """Close all files."""
        for array in self._arrays.values():
            array.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _gather(array: ChunkedArray, positions: np.ndarray) -> np.ndarray:
    """Items at `positions`, reading each chunk that holds one once."""
    out = np.empty(len(positions), array.dtype)
    chunks = positions // array.chunk_items
    buffer = np.empty((1, array.chunk_items), array.dtype)
    for chunk in np.unique(chunks):
        array.fetch(int(chunk), buffer)
        here = chunks == chunk
        out[here] = buffer[0, positions[here] - chunk * array.chunk_items]
    return out


def open_store(path: str | Path, *, evict_page_cache: bool = False) -> Store:
    """Open the store at `path` (a local folder, or a URL that zarr can read).

    Raises StoreError if it is missing, foreign, unfinished, of a newer version or damaged.
    """
    text = str(path)
    if "://" in text and not text.startswith("file://"):
        return _open_remote(text)
    local = Path(text.removeprefix("file://"))
    if not local.exists():
        partial = local.with_name(local.name + PARTIAL_SUFFIX)
        hint = f"{partial} is an unfinished conversion: run it again" if partial.exists() else _CONVERT
        raise StoreError("there is no such store", path=text, remedy=hint)
    if not local.is_dir():
        raise StoreError("this is a file, not a store", path=text, remedy=_CONVERT)
    attributes = _read_json(local / "zarr.json").get("attributes", {})
    record = _check_record(attributes, text)
    arrays: dict[str, ChunkedArray] = {}
    try:
        for name, dtype, length in _expected_arrays(record):
            arrays[name] = _open_array(local, name, dtype, length, record, evict_page_cache)
    except BaseException:
        for array in arrays.values():
            array.close()
        raise
    return Store(text, record, arrays)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text())
    except FileNotFoundError:
        raise StoreError("not a zarr group (zarr.json is missing)", path=path.parent, remedy=_CONVERT) from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"the metadata is damaged ({error})", path=path, remedy="convert again") from None
    if not isinstance(data, dict):
        raise StoreError("the metadata is damaged (not an object)", path=path, remedy="convert again")
    return data


def _check_record(attributes: dict[str, Any], place: str) -> StoreRecord:
    data = attributes.get("emdiam")
    if not isinstance(data, dict):
        if place.rstrip("/").endswith(PARTIAL_SUFFIX):
            raise StoreError("an unfinished conversion", path=place, remedy="run the conversion again")
        raise StoreError("a zarr group, but not an emdiam store", path=place, remedy=_CONVERT)
    version = data.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise StoreError(f"the store has format version {version}, this program reads up to {FORMAT_VERSION}",
                         path=place, remedy="upgrade emdiam")
    try:
        record = StoreRecord.from_dict(data)
    except (KeyError, TypeError) as error:
        raise StoreError(f"the store record is damaged ({error})", path=place, remedy="convert again") from None
    if not record.complete:
        raise StoreError("an unfinished conversion", path=place, remedy="run the conversion again")
    if record.digest() != record.record_digest:
        raise StoreError("the store record does not match its digest", path=place, remedy="convert again")
    return record


def _expected_arrays(record: StoreRecord) -> list[tuple[str, np.dtype[Any] | None, int | None]]:
    arrays: list[tuple[str, np.dtype[Any] | None, int | None]] = [
        ("indptr", np.dtype(np.int64), record.n_vertices + 1),
        ("indices", id_dtype(record.n_vertices), record.n_arcs),
    ]
    if record.id_kind == "int":
        arrays.append(("vertex_id", None, record.n_vertices))
    elif record.id_kind == "string":
        arrays += [("vertex_id_offsets", np.dtype(np.int64), record.n_vertices + 1),
                   ("vertex_id_bytes", np.dtype(np.uint8), None)]
    return arrays


def _open_array(
    root: Path, name: str, dtype: np.dtype[Any] | None, length: int | None, record: StoreRecord, evict: bool
) -> ChunkedArray:
    folder = root / name
    if not (folder / "zarr.json").is_file():
        raise StoreError(f"the array {name} is missing", path=root, remedy="convert again")
    meta = _read_json(folder / "zarr.json")
    try:
        found = np.dtype(meta["data_type"])
        shape = meta["shape"]
        shard_items = meta["chunk_grid"]["configuration"]["chunk_shape"][0]
        sharding = meta["codecs"][0]
        chunk_items = sharding["configuration"]["chunk_shape"][0]
    except (KeyError, IndexError, TypeError) as error:
        raise StoreError(f"the metadata of {name} is not as written ({error!r})", path=folder,
                         remedy="convert again") from None
    if (dtype is not None and found != dtype) or (length is not None and shape != [length]):
        raise StoreError(f"the array {name} has {found}{shape}, the store record says {dtype}[{length}]",
                         path=folder, remedy="convert again")
    return LocalArray(folder, length=shape[0], chunk_items=chunk_items,
                      shard_chunks=shard_items // chunk_items, codec=ChunkCodec(record.codec, found),
                      evict=evict)


def _open_remote(url: str) -> Store:
    try:
        import zarr

        group = zarr.open_group(url, mode="r", zarr_format=3)
    except ImportError as error:
        raise StoreError(f"reading {url} needs a package that is missing ({error})",
                         remedy="pip install 'emdiam[remote]'") from None
    except Exception as error:  # network and zarr raise many types; all mean the same to a user
        raise StoreError(f"the store cannot be opened ({type(error).__name__}: {error})", path=url,
                         remedy="check the address and the server") from None
    record = _check_record(dict(group.attrs), url)
    arrays: dict[str, ChunkedArray] = {}
    for name, dtype, length in _expected_arrays(record):
        try:
            array = group[name]
        except Exception as error:  # as above
            raise StoreError(f"the array {name} cannot be opened ({error})", path=url) from None
        if (dtype is not None and array.dtype != dtype) or (length is not None and array.shape != (length,)):
            raise StoreError(f"the array {name} is not as the store record says", path=url)
        arrays[name] = ZarrArray(array, record.chunk_ids, f"{url}/{name}")
    return Store(url, record, arrays)
