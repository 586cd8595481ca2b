"""Opening a store, with every check that does not need to read the edges."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distinct import distinct
from ..errors import DeviceError, InputError, StoppedEarly, StoreError, closest, is_url
from ..shown import Shown
from .array_reader import LocalArray, ShardedArray, filled, pieces, read_slice
from .codec import file_fault
from .layout import NATURAL, PARTIAL_SUFFIX, REVERSE, StoreRecord
from .metadata import CONVERT, OPTIONAL_ARRAYS, ExpectedArray, as_object, check_record, expected_arrays, read_json

if TYPE_CHECKING:
    from .dask_arrays import DaskGraph

# Arrays of the rows of arcs out, with their counterparts for arcs in.
_PAIRS = tuple((name, f"{REVERSE}/{name}") for name in ("indptr", "indices", "data"))
# Decoded bytes per request from remote storage.
_FAR_BYTES = 4 << 20
# Names in a folder to compare with a missing name.
_MOST_NAMES = 1_000


class Store(Shown):
    """An opened store, as a context manager; `emdiam.open` makes it.

    Attributes
    ----------
    path : str
        The path as passed, without secrets of an address.
    n_vertices, n_arcs : int
        An edge is two arcs; with directions n_arcs is the number of arcs out.
    record : StoreRecord
        The record: ids, order, codec, numbers of edges.
    indptr, indices : ShardedArray
        Offsets of rows, int64[n_vertices + 1], and neighbours, dtype `id_dtype`.
    weights : ShardedArray, optional
        Weights of the arcs, in the order of `indices`.
    directed : bool
        Whether rows hold the arcs out of their vertex; `reverse` then has the arcs in.
    digest : str
        Equal for equal graphs in the same order and codec.
    is_natural : bool
        Whether vertices are numbered by increasing ids.
    is_local : bool
        Whether chunks are read from local files.
    """

    shown = ("path", "n_vertices", "record.n_edges", "record.id_kind", "record.ordering", "record.codec", "digest")

    def __init__(
        self, path: str, record: StoreRecord, arrays: dict[str, ShardedArray], address: str | None = None
    ) -> None:
        self.path, self.record, self._arrays = path, record, arrays
        # The address or path to open it again with, from any process and folder; may contain secrets and is never
        # shown.
        self.address = str(Path(path.removeprefix("file://")).absolute()) if address is None else address
        self.indptr, self.indices, self.weights = arrays["indptr"], arrays["indices"], arrays.get("data")
        self.n_vertices, self.n_arcs, self.id_dtype = record.n_vertices, record.n_arcs, self.indices.dtype
        self.digest, self.is_natural, self.directed = record.chunk_digest, record.ordering == NATURAL, record.directed
        self.is_local = isinstance(self.indices, LocalArray)

    @property
    def name(self) -> str:
        """The last part of its path, without .zarr."""
        return PurePosixPath(self.path).name.removesuffix(".zarr")

    @cached_property
    def reverse(self) -> Store:
        """The same graph with every arc reversed, read from the stored reverse rows; the store itself if it is
        undirected. Closed together with this store. Its record has the degrees of the reverse rows."""
        if not self.directed:
            return self
        figures = self.record.reverse
        assert figures is not None, "a store with directions has its reverse"
        record = replace(self.record, max_degree=figures["max_degree"], n_isolated=figures["n_isolated"],
                         reverse={name: getattr(self.record, name) for name in figures})
        swapped = {**self._arrays, **{name: self._arrays[other] for pair in _PAIRS for name, other in (pair, pair[::-1])
                                      if other in self._arrays}}
        return Store(self.path, record, swapped, self.address)

    @property
    def n_edges(self) -> int:
        """The number of edges; with directions, of arcs."""
        return self.n_arcs if self.directed else self.n_arcs // 2

    @property
    def unweighted(self) -> Store:
        """The same graph with all edges of length 1; the store itself if it has no weights. Closed together with this
        store."""
        if self.weights is None:
            return self
        arrays = {name: array for name, array in self._arrays.items() if not name.endswith("data")}
        return Store(self.path, replace(self.record, weights=None), arrays, self.address)

    @property
    def ahead_bytes(self) -> int:
        """See ShardedArray."""
        return self.indices.ahead_bytes

    def to_dict(self) -> dict[str, Any]:
        """A plain dict for JSON: the path and the store's record."""
        return {"path": self.path, **self.record.to_dict()}

    def array_names(self) -> list[str]:
        """Names of the stored arrays (`data` only in a weighted store)."""
        return sorted(self._arrays)

    def array(self, name: str) -> ShardedArray:
        return self._arrays[name]

    def damaged(self, what: str) -> StoreError:
        """The error for a damaged store. what : the fault, a clause."""
        return StoreError(what, path=self.path, remedy="the store is damaged: convert the graph again or restore it"
                          " from a copy")

    def values(self, name: str) -> Iterator[np.ndarray]:
        """The items of the array `name` in order, a chunk at a time, each valid until the next."""
        array, size = self._arrays[name], self._arrays[name].chunk_items
        far = max(1, _FAR_BYTES // (size * array.dtype.itemsize))
        for piece in pieces(array, 1 if self.is_local else far):
            for begin in range(0, len(piece), size):
                yield piece[begin : begin + size]

    def natural_pieces(self) -> Iterator[np.ndarray]:
        """The natural rank of every vertex, its position in increasing order of the user's ids: id_dtype[k] in order,
        each valid until the next. Raises StoreError for a rank out of range."""
        if self.is_natural:
            step = self.record.chunk_ids
            for begin in range(0, self.n_vertices, step):
                yield np.arange(begin, min(begin + step, self.n_vertices), dtype=self.id_dtype)
            return
        for ranks in self.values("natural_id"):
            self._check_ranks(ranks)
            yield ranks

    def natural_ids(self) -> np.ndarray | None:
        """The natural rank of every vertex, id_dtype[n]; None in a naturally ordered store, in which rank and vertex
        are equal. Raises StoreError."""
        return None if self.is_natural else filled(np.empty(self.n_vertices, self.id_dtype), self.natural_pieces())

    def _check_ranks(self, ranks: np.ndarray) -> None:
        if len(ranks) and int(ranks.max()) >= self.n_vertices:
            raise self.wrong_ranks(f"holds {int(ranks.max())}, which is no vertex")

    def wrong_ranks(self, what: str = "does not hold every vertex once") -> StoreError:
        """The error for invalid natural ranks."""
        return StoreError(f"natural_id {what}", path=self.path,
                          remedy="the store is damaged: reorder the original again")

    def check_weights(self, weights: np.ndarray) -> None:
        """Raise StoreError for a weight outside the record's range."""
        record = self.record.weights
        assert record is not None
        # NaN fails both comparisons.
        if len(weights) and not (weights.min() >= record.least and weights.max() <= record.largest):
            wrong = ~((weights >= record.least) & (weights <= record.largest))
            raise self.damaged(f"data hold {weights[np.argmax(wrong)]}, where weights are from {record.least} to"
                               f" {record.largest}")

    def weights_of(self, vertex: int) -> np.ndarray:
        """The weights of the arcs to `neighbours(vertex)`, [degree]; ones, uint8, in a store without weights. Raises
        like `neighbours`."""
        n_arcs = len(self.neighbours(vertex))
        if self.weights is None:
            return np.ones(n_arcs, np.uint8)
        begin = int(read_slice(self.indptr, vertex, vertex + 1)[0])
        weights = read_slice(self.weights, begin, begin + n_arcs)
        self.check_weights(weights)
        return weights

    def neighbours(self, vertex: int) -> np.ndarray:
        """The neighbours of a vertex (its number, from 0), ascending, id_dtype[degree]. Reads only the blocks that
        contain them. Raises StoreError, and ValueError if `vertex` is not the number of a vertex."""
        if not isinstance(vertex, int | np.integer):
            raise ValueError(f"neighbours takes the number of a vertex, from 0 to {self.n_vertices - 1:,},"
                             f" not {vertex!r}; store.user_ids shows the ids of numbers")
        if not 0 <= vertex < self.n_vertices:
            raise ValueError(f"{vertex} is no vertex of {self.n_vertices}")
        begin, end = read_slice(self.indptr, vertex, vertex + 2).tolist()
        if not 0 <= begin <= end <= self.n_arcs:
            raise StoreError(f"the row of vertex {vertex} is {begin} to {end}", path=self.path, remedy=CONVERT)
        row = read_slice(self.indices, begin, end)
        if len(row) and int(row.max()) >= self.n_vertices:
            raise StoreError(f"indices hold {int(row.max())}, which is no vertex", path=self.path, remedy=CONVERT)
        return row

    def to_dask(self, chunks: int | None = None) -> DaskGraph:
        """indptr, indices and the user's ids as dask arrays, read when they are computed; see dask_arrays.DaskGraph.
        chunks : chunks of the store in each chunk of dask, by default those of a shard. The arrays remain valid after
        this Store is closed. Raises InputError if dask is not installed."""
        from .dask_arrays import dask_graph

        return dask_graph(self, chunks)

    def user_ids(self, ids: np.ndarray) -> list[int] | list[str]:
        """The user's ids of the vertices `ids` (integers [k]); ints, or str for string ids."""
        ids = np.asarray(ids, dtype=np.int64)
        if not self.is_natural:
            ranks = _gather(self._arrays["natural_id"], ids)
            self._check_ranks(ranks)
            ids = ranks.astype(np.int64)
        return self.ids_of_ranks(ids)

    def ids_of_ranks(self, ids: np.ndarray) -> list[int] | list[str]:
        """The user's ids with the natural ranks `ids` (int64[k])."""
        kind = self.record.id_kind
        if kind in ("identity", "offset"):
            return [int(v) + self.record.first_id for v in ids]
        if kind == "int":
            return [int(v) for v in _gather(self._arrays["vertex_id"], ids)]
        offsets, data = self._arrays["vertex_id_offsets"], self._arrays["vertex_id_bytes"]
        starts, ends = _gather(offsets, ids), _gather(offsets, ids + 1)
        if np.any(starts < 0) or np.any(ends < starts) or np.any(ends > data.length):
            raise self.damaged("vertex_id_offsets do not rise within vertex_id_bytes")
        texts = [read_slice(data, s, e).tobytes() for s, e in zip(starts.tolist(), ends.tolist(), strict=True)]
        try:
            return [text.decode() for text in texts]
        except UnicodeDecodeError as error:
            raise self.damaged(f"vertex_id_bytes is not UTF-8 ({error.reason})") from None

    def close(self) -> None:
        for array in self._arrays.values():
            array.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _gather(array: ShardedArray, positions: np.ndarray) -> np.ndarray:
    """The items at `positions`; reads each chunk that contains any of them once."""
    out = np.empty(len(positions), array.dtype)
    chunks = positions // array.chunk_items
    buffer = np.empty((1, array.chunk_items), array.dtype)
    for chunk in distinct(chunks):
        array.fetch(int(chunk), list(buffer))
        here = chunks == chunk
        out[here] = buffer[0, positions[here] - chunk * array.chunk_items]
    return out


def open_store(path: str | Path, *, evict_page_cache: bool = False, directed: bool | None = False) -> Store:
    """Open the store at `path`: a local folder, or an address (http, https, s3, or another scheme of fsspec).

    directed : whether arcs must have directions; None: either. Raises StoreError if the store is missing, foreign,
    unfinished, damaged or of a newer version, and InputError if its directions contradict `directed`.
    """
    store = _open(str(path), evict_page_cache)
    try:
        check_directed(store, directed)
    except BaseException:
        store.close()
        raise
    return store


def check_weighted(store: Store, name: str = "") -> None:
    """Raise InputError if `store` has no weights, or if its weights have another name ("": any name will do)."""
    record = store.record.weights
    if record is None:
        raise InputError("this store has no weights", path=store.path, remedy=(
            f"leave {'--weight' if name else '--weighted'} out, or convert the graph with --weights"))
    if name and name != record.name:
        there = f"they are called {record.name}" if record.name else "they have no name"
        raise InputError(f"this store has no weights that are called {name}: {there}", path=store.path,
                         remedy="ask for the weights that it has with --weighted, or convert the graph again")


def check_directed(store: Store, directed: bool | None) -> None:
    """Raise InputError if the directions of `store` contradict `directed` (None: either will do)."""
    if directed is None or store.directed == directed:
        return
    if directed:
        raise InputError("the edges of this store have no directions", path=store.path,
                         remedy="leave --directed out, or convert the graph with --directed")
    raise InputError("the edges of this store have directions, and the command is for undirected graphs",
                     path=store.path, remedy="use --directed of emdiam exact, emdiam ecc or emdiam distances, or"
                     " convert the graph again without --directed")


@contextmanager
def blamed_on(store: Store, *passing: type[Exception]) -> Iterator[None]:
    """Look for damage in the store when work on it raises an unexpected error, such as an impossible distance: the
    store is then read and verified, and a StoreError about the damage replaces the error.

    passing : further types of errors that are not due to the store.
    """
    try:
        yield
    except Exception as error:
        if not isinstance(error, (InputError, StoppedEarly, DeviceError, MemoryError, *passing)):
            from .check import check_store

            check_store(store)
        raise


def _open(text: str, evict_page_cache: bool) -> Store:
    """The store, with or without directions."""
    if is_url(text):
        return _open_remote(text)
    local = Path(text.removeprefix("file://"))
    try:
        _check_place(local, text)
        record = check_record(read_json(local / "zarr.json").get("attributes"), text)
    except FileNotFoundError:
        raise StoreError("this folder is no store, not a zarr group (zarr.json is missing)", path=local,
                         remedy=CONVERT) from None
    except OSError as error:
        raise file_fault("the store cannot be opened", error, text) from None
    arrays: dict[str, ShardedArray] = {}
    try:
        for expected in expected_arrays(record):
            arrays[expected.name] = _open_array(local, expected, record, evict_page_cache)
        _check_others(local, arrays)
    except BaseException:
        for array in arrays.values():
            array.close()
        raise
    return Store(text, record, arrays)


def _check_place(local: Path, text: str) -> None:
    """Raise StoreError unless the folder exists, and OSError if that cannot be found out."""
    if not local.exists():
        partial = local.with_name(local.name + PARTIAL_SUFFIX)
        is_store = local.suffix in ("", ".zarr")
        hint = CONVERT if is_store else "check the name"
        if partial.exists():
            hint = f"{partial} is an unfinished conversion: run it again"
        elif (close := _closest_name(local)) is not None:
            hint = f"did you mean {quote(close)}?"
        raise StoreError(f"there is no such {'store' if is_store else 'file'}", path=text, remedy=hint)
    if not local.is_dir():
        command = f"emdiam convert {quote(text)} {quote((local.name.partition('.')[0] or 'graph') + '.zarr')}"
        raise StoreError("this is a file, not a store", path=text, remedy=f"if it has edges, convert it: {command}")


def _closest_name(missing: Path) -> str | None:
    """A file or folder with a similar name beside a missing file."""
    try:
        names = [entry.name for entry in islice(os.scandir(missing.parent), _MOST_NAMES)]
    except OSError:
        return None
    close = closest(missing.name, names)
    return None if close is None else str(missing.with_name(close))


def _check_others(local: Path, arrays: Mapping[str, ShardedArray]) -> None:
    """Raise StoreError if one of our arrays exists that the record does not name: the record of another store, with the
    same edges and other ids, would assign wrong names to vertices."""
    for name in OPTIONAL_ARRAYS:
        # Without weights `data` has metadata, but no shards.
        if name not in arrays and (local / name / ("c" if name.endswith("data") else "")).exists():
            raise StoreError(f"its record names no array {name}, so it is not the record of this store", path=local,
                             remedy="put its own zarr.json back, or convert again")


def _open_array(root: Path, expected: ExpectedArray, record: StoreRecord, evict: bool) -> LocalArray:
    folder = root / expected.name
    try:
        data = read_json(folder / "zarr.json")
    except FileNotFoundError:
        raise StoreError(f"the array {expected.name} is missing", path=root, remedy="convert again") from None
    return LocalArray(folder, expected.read(data, folder), record.codec, evict=evict,
                      seals=_seals(record, expected.name, root))


def _seals(record: StoreRecord, name: str, place: str | Path) -> str | None:
    """The digest of an array's shards; None in format version 1, which has no digests."""
    if record.format_version < 2:
        return None
    if name not in record.shard_digests:
        raise StoreError(f"the store record has no digest of the array {name}", path=place, remedy="convert again")
    return record.shard_digests[name]


def _open_remote(url: str) -> Store:
    from .remote import RemoteArray, open_objects

    objects = open_objects(url)
    group = bytes(objects.get("zarr.json")[0])
    record = check_record(as_object(group, objects.name("zarr.json")).get("attributes"), objects.place)

    def still_the_same() -> None:
        if bytes(objects.get("zarr.json")[0]) != group:
            raise StoreError("the store was replaced while it was read", path=objects.place, remedy="open it again")

    arrays: dict[str, ShardedArray] = {}
    for expected in expected_arrays(record):
        name, place = expected.name, objects.name(expected.name)
        meta = expected.read(as_object(bytes(objects.get(f"{name}/zarr.json")[0]), f"{place}/zarr.json"), place)
        arrays[name] = RemoteArray(objects, name, meta, record.codec, still_the_same,
                                   _seals(record, name, objects.place))
    return Store(objects.place, record, arrays, address=url)
