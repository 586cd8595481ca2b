"""StoreWriter: a new store, written as NAME.partial and renamed after its record is on disk.

Degrees and neighbours arrive as two independent append-only streams in vertex order, so that a row may be cut anywhere.
Until `finish` ends, nothing opens under the target's name: the record with `complete: true` is written last, fsynced,
and the folder renamed. NAME.partial has one writer at a time (place.py).
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from ..checkpoint.records import State
from ..durable import remove_folder, sync_path, write_whole
from ..errors import StoreError
from .array_writer import ArrayWriter
from .codec import ChunkCodec, bytes_codec
from .layout import (
    CHUNK_IDS,
    DIRECTED_VERSION,
    FORMAT_VERSION,
    NATURAL,
    PARTIAL_SUFFIX,
    REVERSE,
    WEIGHTED_VERSION,
    StoreRecord,
    check_chunk_ids,
    fill_value,
    id_dtype,
    shard_chunks,
)
from .metadata import array_text, group_text
from .place import check_target, claim, make_partial, put_in_place, remove_replaced
from .private import blake2b
from .weights import WeightForm, WeightSums

_GROUPS = ("", f"{REVERSE}/")
# Attributes by which AnnData and binsparse recognise a matrix.
_OF_A_MATRIX = ("encoding-type", "encoding-version", "shape", "binsparse")
# Binsparse's names of a matrix's arrays, made as links; without weights `values` is an array with a single one.
_LINKS = {"pointers_to_1": "indptr", "indices_1": "indices"}
_VALUES = "values"
# Errors of file systems without links.
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP)


def writer_bytes(threads: int, chunk_ids: int, weighted: bool = False) -> int:
    """Peak working memory of a StoreWriter in bytes: decoded and encoded chunks in flight."""
    per_array = (threads + 4) * chunk_ids * 8 * 2
    return (3 if weighted else 2) * per_array + (2 << 20)


class _Rows:
    """Offsets and neighbours of the rows in one direction, appended in order. group : "", or the reverse group's name
    with a slash."""

    def __init__(self, group: str, figures: tuple[int, int, int] = (0, 0, 0)) -> None:
        self.group = group
        self.offset, self.max_degree, self.n_isolated = figures

    @property
    def figures(self) -> list[int]:
        """The figures so far, which the constructor accepts."""
        return [self.offset, self.max_degree, self.n_isolated]

    def ends_after(self, degrees: np.ndarray) -> np.ndarray:
        """The end offsets of the next rows, which have these degrees."""
        if degrees.min() < 0:
            raise ValueError("a degree is negative")
        ends: np.ndarray = np.cumsum(degrees, dtype=np.int64)
        ends += self.offset
        self.offset = int(ends[-1])
        self.max_degree = max(self.max_degree, int(degrees.max()))
        self.n_isolated += int(np.count_nonzero(degrees == 0))
        return ends


class StoreWriter:
    """Writer of one store.

    Parameters
    ----------
    target : final folder; NAME.partial beside it is written first (a stale one is removed).
    n_vertices : number of rows that will be appended; determines the id dtype.
    force : replace an existing store at the end.
    codec, chunk_ids : see layout; chunk_ids must satisfy is_chunk_size.
    threads : threads that encode chunks.
    resumed : a `state` to continue from, with the NAME.partial of that moment. Raises StoreError if that folder has
    changed; it is not removed then.
    """

    _array_writer = ArrayWriter

    def __init__(
        self, target: Path, *, n_vertices: int, force: bool = False, codec: str = "lz4", chunk_ids: int = CHUNK_IDS,
        threads: int = 2, resumed: State | None = None,
    ) -> None:
        check_chunk_ids(chunk_ids)
        self.target, self.force = Path(target), force
        self._check_place()
        self.n_vertices, self.id_dtype = n_vertices, id_dtype(n_vertices)
        self._codec_name, self._chunk_ids = codec, chunk_ids
        ChunkCodec(codec, self.id_dtype)  # refuses an unknown codec before anything is written
        self.partial = self.target.with_name(self.target.name + PARTIAL_SUFFIX)
        self._arrays: dict[str, ArrayWriter] = {}
        self._weights: WeightSums | None = None
        self.edges_with_several = 0
        """To be known before `finish`: see WeightRecord."""
        self._rows: list[_Rows] = []
        # The rows' part of a resumed state, and the function that returns their state now (RowStream).
        self.rows_resumed: State | None = None
        self._rows_state: Callable[[], State] | None = None
        self._claim: int | None = None
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="encode")
        if resumed is not None:
            self._go_on(resumed)
            return
        try:
            self._take_place()
            self._begin_rows("")
        except BaseException:
            self.abort()
            raise

    def _check_place(self) -> None:
        """Raise InputError unless the store may be written at the target."""
        check_target(self.target, self.force)

    def _take_place(self) -> None:
        """Make and claim NAME.partial, an empty group."""
        self._claim = make_partial(self.partial)
        # After a power failure, the next writer recognises an unfinished store by this file.
        write_whole(self.partial / "zarr.json", group_text())

    def _go_on(self, state: State) -> None:
        """Continue NAME.partial from `state`."""
        if not (self.partial / "zarr.json").is_file():
            raise StoreError("the unfinished store is not there", path=self.partial)
        self._claim = claim(self.partial)
        try:
            self._renew_groups(_GROUPS[: len(state["figures"])])
            for name, part in state["arrays"].items():
                self._array(name, np.dtype(part["dtype"])).go_on_from(part)
            if state["weights"] is not None:
                self._weights = WeightSums.resumed(state["weights"])
            else:
                for name in (f"{group}{name}" for group in _GROUPS for name in ("data", _VALUES)):
                    # leftovers of `finish`, which makes them again
                    shutil.rmtree(self.partial / name, ignore_errors=True)
        except BaseException:
            self.leave()
            raise
        self._rows = [_Rows(group, figures) for group, figures in zip(_GROUPS, state["figures"], strict=False)]
        self.rows_resumed = state["rows"]

    def _renew_groups(self, groups: Sequence[str]) -> None:
        """Write the metadata of these groups again: a power failure may have kept the files' names and lost their
        content."""
        for group in groups:
            write_whole(self.partial / group / "zarr.json", group_text())

    def state(self) -> State:
        """Sync everything appended to disk, and return it, with the position in the rows, as a state."""
        state = {
            "arrays": {name: array.state() for name, array in self._arrays.items()},
            "figures": [rows.figures for rows in self._rows],
            "rows": self._rows_state and self._rows_state(),
            "weights": self._weights and self._weights.state(),
        }
        for rows in self._rows:
            sync_path(self.partial / rows.group)
        sync_path(self.partial.absolute().parent)
        return state

    def follow_rows(self, state: Callable[[], State]) -> None:
        """Include state(), which returns the State of the source of the rows, in `state` from now on."""
        self._rows_state = state

    def _array(self, name: str, dtype: np.dtype[Any]) -> ArrayWriter:
        """The array with this name, made on first use."""
        if name not in self._arrays:
            # Weights are in shards with the same items as the ids with which they are read.
            sharded = self.id_dtype if name.endswith("data") else dtype
            self._arrays[name] = self._array_writer(
                self.partial, name, ChunkCodec(self._codec_name, dtype), chunk_items=self._chunk_ids,
                shard_chunks=shard_chunks(sharded, self._chunk_ids), fill_value=fill_value(name, dtype),
                pool=self._pool)
        return self._arrays[name]

    def keep_directions(self) -> None:
        """Declare that arcs have directions, before anything else and not after resuming. Rows then come in both
        directions, the reverse ones with reverse=True."""
        self._add_group()
        self._begin_rows(f"{REVERSE}/")

    def _begin_rows(self, group: str) -> None:
        self._rows.append(_Rows(group))
        self._array(f"{group}indptr", np.dtype(np.int64)).append(np.zeros(1, np.int64))
        self._array(f"{group}indices", self.id_dtype)

    def _add_group(self) -> None:
        """Make the group of the reverse."""
        (self.partial / REVERSE).mkdir()
        write_whole(self.partial / REVERSE / "zarr.json", group_text())

    @property
    def n_arcs(self) -> int:
        """Arcs appended so far, in the rows out."""
        return self._arrays["indices"].length

    @property
    def weight_form(self) -> WeightForm | None:
        """The form of the arcs' weights, None without weights."""
        return None if self._weights is None else self._weights.form

    def keep_weights(self, form: WeightForm) -> None:
        """Declare that arcs have weights of this form: before the first arc, after keep_directions, and not after
        resuming."""
        self._weights = WeightSums(form)
        for rows in self._rows:
            self._array(f"{rows.group}data", form.dtype)

    def append_degrees(self, degrees: np.ndarray, *, reverse: bool = False) -> None:
        """Append the degrees of the next len(degrees) vertices, integers >= 0."""
        if len(degrees):
            rows = self._rows[reverse]
            self._arrays[f"{rows.group}indptr"].append(rows.ends_after(degrees))

    def append_neighbours(self, ids: np.ndarray, weights: np.ndarray | None = None, *, reverse: bool = False) -> None:
        """Append the next entries of `indices`, id_dtype[k], and in a weighted store their weights, [k] of its dtype,
        finite. A row may be cut anywhere."""
        group = self._rows[reverse].group
        self._arrays[f"{group}indices"].append(ids)
        if self._weights is not None:
            assert weights is not None
            if not reverse:
                self._weights.add(weights)
            self._arrays[f"{group}data"].append(weights)

    def append_ids(self, name: str, values: np.ndarray) -> None:
        """Append the next items of an array of ids; call it at least once, even if that is empty. name : vertex_id (the
        user's ids of the next vertices, int64 or uint64; id_kind "int"), vertex_id_offsets and vertex_id_bytes as in
        another store, or natural_id (natural ranks, id_dtype[k], for a record whose ordering is not natural)."""
        self._array(name, values.dtype).append(values)

    def append_vertex_strings(self, values: Any) -> None:
        """Append the user's ids of the next vertices, a pyarrow string array (id_kind "string")."""
        import pyarrow as pa

        if "vertex_id_offsets" not in self._arrays:
            self.append_ids("vertex_id_offsets", np.zeros(1, np.int64))
        text = self._array("vertex_id_bytes", np.dtype(np.uint8))
        binary = values.cast(pa.large_binary())
        _, offsets_buffer, data_buffer = binary.buffers()
        if not len(binary):
            return
        offsets = np.frombuffer(offsets_buffer, np.int64, len(binary) + 1, binary.offset * 8)
        data = np.empty(0, np.uint8)
        if data_buffer is not None:
            data = np.frombuffer(data_buffer, np.uint8)[offsets[0] : offsets[-1]]
        self.append_ids("vertex_id_offsets", offsets[1:] - offsets[0] + text.length)
        text.append(data)

    def finish(self, record: StoreRecord, before_rename: Callable[[StoreRecord], None] | None = None) -> StoreRecord:
        """Check the counts, complete the record, write it last and rename the folder to the target.

        before_rename : called with the record just before the renaming.
        """
        n, m, directed = self.n_vertices, self._arrays["indices"].length, len(self._rows) > 1
        self._check_lengths(n, m)
        if self._weights is not None:
            record.weights = self._weights.record(self.edges_with_several)
            record.format_version = FORMAT_VERSION if record.weights.is_late else WEIGHTED_VERSION
        ranked = self._arrays["natural_id"].length if "natural_id" in self._arrays else None
        if ranked != (None if record.ordering == NATURAL else n):
            raise RuntimeError(f"order {record.ordering}: {ranked} natural ranks written for {n} vertices")
        digest = blake2b(digest_size=16)
        for name in sorted(self._arrays):
            digest.update(name.encode() + self._arrays[name].close())
        self._pool.shutdown()
        record.n_vertices, record.n_arcs, record.n_edges = n, m, m if directed else m // 2
        _, record.max_degree, record.n_isolated = self._rows[0].figures
        if directed:
            record.format_version = max(record.format_version, DIRECTED_VERSION)
            record.directed, record.symmetric = True, False
            _, max_degree, n_isolated = self._rows[1].figures
            record.reverse = {"max_degree": max_degree, "n_isolated": n_isolated}
        record.codec, record.chunk_ids = self._codec_name, self._chunk_ids
        record.shard_chunks = shard_chunks(self.id_dtype, self._chunk_ids)
        record.chunk_digest = digest.hexdigest()
        record.shard_digests = {name: array.shard_digest for name, array in sorted(self._arrays.items())}
        record.complete = True
        record.record_digest = record.digest()
        self._complete(record)
        if before_rename is not None:
            before_rename(record)
        self._rename()
        return record

    def _check_lengths(self, n: int, m: int) -> None:
        """Raise RuntimeError unless all rows of n vertices and m arcs were written."""
        for rows in self._rows:
            n_arcs, n_offsets = (self._arrays[f"{rows.group}{name}"].length for name in ("indices", "indptr"))
            if n_offsets != n + 1 or rows.offset != n_arcs or n_arcs != m or (m % 2 and len(self._rows) == 1):
                raise RuntimeError(f"rows written {n_offsets - 1} of {n}, degrees sum to {rows.offset}, arcs {n_arcs}")
            n_weights = m if self._weights is None else self._arrays[f"{rows.group}data"].length
            if n_weights != m:
                raise RuntimeError(f"{n_weights} weights written for {m} arcs")

    def _complete(self, record: StoreRecord) -> None:
        for group in (rows.group for rows in self._rows):
            if record.weights is None:
                self._write_ones(f"{group}data", record.n_arcs)
                self._write_ones(f"{group}{_VALUES}", 1)
            links = _LINKS if record.weights is None else {**_LINKS, _VALUES: "data"}
            _link(self.partial / group, links)
        attributes = _attributes(record, self.id_dtype)
        if record.directed:
            write_whole(self.partial / REVERSE / "zarr.json",
                        group_text({name: attributes[name] for name in _OF_A_MATRIX}))
        write_whole(self.partial / "zarr.json", group_text(attributes))

    def _write_ones(self, name: str, n_items: int) -> None:
        """Make an array of ones by writing only its metadata."""
        dtype = np.dtype(np.uint8)
        (self.partial / name).mkdir(exist_ok=True)
        write_whole(self.partial / name / "zarr.json", array_text(
            (n_items,), dtype, (max(1, n_items),), 1, [bytes_codec(dtype)]))

    def _rename(self) -> None:
        put_in_place(self.partial, self.target, self.force)
        self._let_go()
        remove_replaced(self.target)

    def _let_go(self) -> None:
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

    def leave(self) -> None:
        """Stop, and keep NAME.partial for a writer that resumes from a `state`."""
        self._end(remove=False)

    def abort(self) -> None:
        """Stop and remove NAME.partial. Safe to call at any time before finish has returned."""
        self._end(remove=True)

    def _end(self, remove: bool) -> None:
        """Drop pending work and join the threads."""
        try:
            for array in self._arrays.values():
                array.abort()
            self._pool.shutdown(wait=True, cancel_futures=True)
            if remove and self._claim is not None and self.partial.exists():
                remove_folder(self.partial, "zarr.json")
        finally:
            self._let_go()


def _link(group: Path, links: Mapping[str, str]) -> None:
    """Add further names for arrays of a group, as links, which take no space; none if the file system has no links."""
    for name, array in links.items():
        (group / name).unlink(missing_ok=True)  # a leftover of `finish`
        try:
            os.symlink(array, group / name)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise


def _attributes(record: StoreRecord, ids: np.dtype[Any]) -> dict[str, Any]:
    """The group's attributes: AnnData's three, a binsparse description and our record."""
    n, m = record.n_vertices, record.n_arcs
    return {
        "encoding-type": "csr_matrix",
        "encoding-version": "0.1.0",
        "shape": [n, n],
        "binsparse": {"binsparse": {
            "version": "0.1.0", "format": "CSR", "shape": [n, n], "number_of_stored_values": m,
            "data_types": {"pointers_to_1": "int64", "indices_1": str(ids),
                           _VALUES: "iso[uint8]" if record.weights is None else record.weights.dtype},
        }},
        "emdiam": record.to_dict(),
    }
