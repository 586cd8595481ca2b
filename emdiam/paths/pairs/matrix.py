"""The matrix of distances as a Zarr group: layout, writing and opening; and the result of a run of all pairs.

    distances    dtype[n, n], row v: distances from vertex v; chunks with a checksum each
    vertex_id    the user's ids of rows and columns: int64 or uint64[n]; of strings vertex_id_offsets, int64[n + 1], and
                 vertex_id_bytes, uint8, UTF-8

The attribute emdiam_all_pairs has the record. It is written last, and then NAME.partial is renamed: an unfinished
matrix does not open. Chunks without any path are written too, so that a missing chunk is detected.

The result is the stable contract of the command line and the Python interface.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...by_vertex import library
from ...decimals import Number
from ...durable import remove_folder, sync_path
from ...errors import InputError, StoreError
from ...shown import Shown
from ...store.layout import PARTIAL_SUFFIX
from ...store.metadata import read_json
from ...store.place import check_target, make_partial, put_in_place, remove_replaced
from ...units import MemoryFigures

if TYPE_CHECKING:  # the module defines kernels, which showing a result does not need
    from .arcs import Lengths

ATTRIBUTE = "emdiam_all_pairs"
FORMAT_VERSION = 1
# Default rows and columns of a chunk: 4 or 8 MiB.
CHUNK = 1024
# Largest average number of bytes of a string id.
_MOST_ID_BYTES = 1 << 16
_AGAIN = "make it again with: emdiam apsp STORE --out FILE"
_Span = tuple[int, int]


@dataclass(frozen=True)
class MatrixRecord:
    """The record of a matrix. unreachable : value for no path; None: infinity. largest_distance : of all pairs with a
    path. unreachable_pairs : number of ordered pairs without a path. digest : of the record."""

    format_version: int
    n_vertices: int
    dtype: str
    unreachable: int | None
    largest_distance: int | float | None
    unreachable_pairs: int
    method: str
    version: str
    store_digest: str
    digest: str = ""

    def sealed(self) -> MatrixRecord:
        """The record with its digest."""
        fields = {**asdict(self), "digest": ""}
        text = json.dumps(fields, sort_keys=True).encode()
        return MatrixRecord(**{**fields, "digest": hashlib.blake2b(text, digest_size=16).hexdigest()})


class MatrixWriter:
    """Writes one matrix. target : final folder; the writer fills NAME.partial beside it (and removes a stale one).
    chunk : rows and columns of a chunk. whole : whether all chunks have full size with padding until the end. force :
    replace the target at the end. Raises InputError."""

    def __init__(self, target: Path, n_vertices: int, lengths: Lengths, chunk: tuple[int, int], force: bool,
                 whole: bool = False) -> None:
        import zarr
        import zarr.codecs

        check_target(target, force)
        self.target, self.n_vertices, self.chunk, self._force = target, n_vertices, chunk, force
        self._lengths = lengths
        self._partial = target.with_name(target.name + PARTIAL_SUFFIX)
        self._claim: int | None = make_partial(self._partial)
        shape = tuple(-(-n_vertices // size) * size if whole else n_vertices for size in chunk)
        with self._refusing():
            self._group = zarr.open_group(self._partial, mode="w-", zarr_format=3)
            self._array: Any = self._group.create_array(
                "distances", shape=shape, dtype=lengths.output_dtype, chunks=chunk,
                fill_value=lengths.unreachable, compressors=[zarr.codecs.Crc32cCodec()],
                config={"write_empty_chunks": True})

    def read(self, rows: _Span, columns: _Span) -> np.ndarray:
        """The current entries of these rows and columns (first, last + 1). Raises StoreError."""
        with self._refusing():
            return np.asarray(self._array[slice(*rows), slice(*columns)]).view(self._lengths.dtype)

    def write(self, rows: _Span, columns: _Span, part: np.ndarray) -> None:
        """Write entries; whole chunks are not read first. Raises InputError."""
        with self._refusing():
            self._array[slice(*rows), slice(*columns)] = part.view(self._lengths.output_dtype)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """A context that turns OSError into InputError."""
        try:
            yield
        except OSError as error:
            raise InputError(f"the matrix cannot be written ({error.strerror or error})", path=self.target,
                             remedy="choose a place with more room") from None
        except ValueError as error:
            raise StoreError(f"the matrix is not as it was written ({error})", path=self._partial,
                             remedy=_AGAIN) from None

    def finish(self, record: MatrixRecord, ids: Sequence[Any]) -> None:
        """Write the ids of the vertices, then the record, sync to disk, and rename. Raises InputError."""
        with self._refusing():
            self._array.resize((self.n_vertices, self.n_vertices))
            for name, values in _id_arrays(ids):
                self._group.create_array(name, shape=values.shape, dtype=values.dtype,
                                         chunks=(max(1, len(values)),))[...] = values
            self._sync()
            self._group.attrs[ATTRIBUTE] = asdict(record.sealed())
            sync_path(self._partial / "zarr.json")
            sync_path(self._partial)
            put_in_place(self._partial, self.target, self._force)
            self._let_go()
            remove_replaced(self.target)

    def _sync(self) -> None:
        for folder, _, names in os.walk(self._partial):
            for name in names:
                sync_path(Path(folder) / name)
            sync_path(Path(folder))

    def abort(self) -> None:
        """Remove the unfinished matrix, if any."""
        if self._claim is not None:
            with suppress(OSError):
                remove_folder(self._partial, "zarr.json")
        self._let_go()

    def _let_go(self) -> None:
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None


def _id_arrays(ids: Sequence[Any]) -> Iterator[tuple[str, np.ndarray]]:
    """(name, array) of the arrays of the user's ids."""
    if len(ids) and isinstance(ids[0], str):
        texts = [text.encode() for text in ids]
        yield "vertex_id_offsets", np.cumsum([0, *map(len, texts)], dtype=np.int64)
        yield "vertex_id_bytes", np.frombuffer(b"".join(texts), np.uint8)
    else:
        large = any(int(one) > np.iinfo(np.int64).max for one in ids)
        yield "vertex_id", np.array(ids, np.uint64 if large else np.int64)


class DistanceMatrix(Shown):
    """An open matrix of distances; made by open_matrix. record : its record. distances : zarr.Array, dtype[n, n];
    chunks are read on demand, and checked. ids : the user's ids of rows and columns."""

    shown: ClassVar[tuple[str, ...]] = (
        "path", "record.n_vertices", "record.dtype", "record.largest_distance", "record.unreachable_pairs",
        "record.method")

    def __init__(self, path: str, record: MatrixRecord, group: Any) -> None:
        self.path, self.record, self.distances = path, record, group["distances"]
        self.ids = _ids_of(group)


def _ids_of(group: Any) -> list[int] | list[str]:
    """The user's ids in a group."""
    if "vertex_id" in group:
        return np.asarray(group["vertex_id"][...]).tolist()
    ends, text = np.asarray(group["vertex_id_offsets"][...]).tolist(), bytes(group["vertex_id_bytes"][...])
    return [text[begin:end].decode() for begin, end in itertools.pairwise(ends)]


def open_matrix(path: str | Path) -> DistanceMatrix:
    """Open the matrix of distances at `path`, a folder written by `apsp`. Raises StoreError if it is missing, foreign,
    unfinished, or damaged; does not read the distances."""
    import zarr

    place = Path(path)
    try:
        attributes = read_json(place / "zarr.json").get("attributes")
    except FileNotFoundError:
        raise StoreError("there is no matrix of distances", path=place, remedy=_AGAIN) from None
    record = _record_of(attributes, place)
    try:
        group = zarr.open_group(place, mode="r")
        fault = _fault(place, record, group)
        if not fault:
            return DistanceMatrix(str(path), record, group)
    except (KeyError, ValueError, TypeError, OSError) as error:
        fault = f"{error!s:.200}"
    raise StoreError(f"the matrix is damaged ({fault})", path=place, remedy=_AGAIN)


def _record_of(attributes: Any, place: Path) -> MatrixRecord:
    """The record of a finished matrix. Raises StoreError."""
    data = attributes.get(ATTRIBUTE) if isinstance(attributes, dict) else None
    if not isinstance(data, dict):
        unfinished = place.name.endswith(PARTIAL_SUFFIX)
        raise StoreError("an unfinished matrix" if unfinished else "a zarr group, but no matrix of distances",
                         path=place, remedy=_AGAIN)
    if data.get("format_version") != FORMAT_VERSION:
        raise StoreError(f"the matrix has format version {data.get('format_version')!r:.80}, this program reads"
                         f" {FORMAT_VERSION}", path=place, remedy="upgrade emdiam, or make it again")
    try:
        record = MatrixRecord(**data)
    except TypeError as error:
        raise StoreError(f"the record of the matrix is damaged ({error!s:.200})", path=place, remedy=_AGAIN) from None
    if record.sealed().digest != record.digest:
        raise StoreError("the record of the matrix does not match its digest", path=place, remedy=_AGAIN)
    return record


def _fault(place: Path, record: MatrixRecord, group: Any) -> str | None:
    """A sentence on the first contradiction to the record, or None. Reads no array that would be larger in memory than
    its files on disk."""
    n, array = record.n_vertices, group["distances"]
    n_ids = group["vertex_id"].shape[0] if "vertex_id" in group else group["vertex_id_offsets"].shape[0] - 1
    if array.shape != (n, n) or str(array.dtype) != record.dtype or n_ids != n:
        return f"{array.shape} of {array.dtype} and {n_ids} ids, the record says {n} of {record.dtype}"
    # Chunks are not compressed, so their bytes limit the number of distances.
    needed = -(-n // array.chunks[0]) * -(-n // array.chunks[1])
    sizes = [(Path(folder) / name).stat().st_size for folder, _, names in os.walk(place / "distances" / "c")
             for name in names]
    if len(sizes) != needed:
        return f"{needed - len(sizes)} of {needed} chunks are missing"
    if sizes and min(sizes) < array.chunks[0] * array.chunks[1] * array.dtype.itemsize:
        return f"chunks of {array.chunks} {array.dtype} have {min(sizes)} bytes"
    if "vertex_id_bytes" in group and group["vertex_id_bytes"].shape[0] > n * _MOST_ID_BYTES:
        return f"the ids have {group['vertex_id_bytes'].shape[0]} bytes"
    return None


@dataclass(repr=False)
class AllPairs(Shown, MemoryFigures):
    """The distances between all pairs of vertices, (from, to).

    Attributes
    ----------
    distances : array, optional
        [n, n], if there is no `out`.
    ids : list, optional
        Your names of the rows and columns, with `distances`.
    out : str, optional
        The Zarr group with the matrix.
    largest_distance : int or float
        Of pairs with a path.
    unreachable_pairs : int
        Pairs without a path.
    dtype, unreachable : str, int, optional
        Type of the distances, and the value for no path; None: infinity.
    method, device : str
        The method that was used.
    where, tiles, tile_edge : str, int
        "memory", "disk" (in tiles) or "strips" (of rows), their number, and their edge in rows.
    weight : str, optional
        Name of the weights.
    directions_dropped : bool
        As in Result.
    seconds : dict of float
        Wall seconds: total, load, solve.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "method", "n_vertices", "largest_distance", "unreachable_pairs", "dtype", "weight", "tiles", "where",
        "out")

    method: str
    n_vertices: int
    largest_distance: Number
    tiles: int
    out: str | None
    n_arcs: int
    unreachable_pairs: int
    dtype: str
    unreachable: int | None
    weighted: bool
    directed: bool
    where: str
    device: str
    tile_edge: int
    matrix_bytes: int
    disk_bytes: int
    memory_limit_bytes: int | None = None
    planned_rss_bytes: int | None = None
    peak_rss_bytes: int | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    version: str = ""
    store_digest: str = ""
    store_path: str = ""
    store_name: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    directions_dropped: bool = False
    weight: str | None = None
    distances: np.ndarray | None = None
    ids: list[Any] | None = None

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the distances, in memory, with your ids as index and columns, and infinity without a
        path. Raises InputError without pandas."""
        pd, ids = library("pandas"), self.ids
        matrix = self.distances
        if matrix is None or ids is None:
            stored = self.open()
            matrix, ids = np.asarray(stored.distances[...]), stored.ids
        if self.unreachable is not None and self.unreachable_pairs:
            matrix = np.where(matrix == self.unreachable, np.inf, matrix)
        names = pd.Index(list(ids), tupleize_cols=False)
        return pd.DataFrame(matrix, index=names, columns=names)

    def open(self) -> DistanceMatrix:
        """Open the written matrix. Raises InputError if the run wrote none, StoreError if it is missing now."""
        if self.out is None:
            raise InputError("no matrix was written", remedy="it is in `distances`, or give out=")
        return open_matrix(self.out)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict of these fields without distances and ids, with memory_limit_exceeded; ready for JSON."""
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("distances", "ids")}
        return {**plain, "memory_limit_exceeded": self.memory_limit_exceeded}
