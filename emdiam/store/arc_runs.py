"""All arcs of a store once, in storage order: runs of chunks with their rows.

This reads a whole graph without an engine: only `indptr` and `indices`, a few runs in memory at a time, read and
decoded on threads. Rows may be cut between runs. RAM: about 24 bytes per arc of a run, for one run per thread and one
more. I/O: both arrays once.

Also the figures of a store: counts, degrees, layout, size. RAM: a few chunks of row offsets. I/O: `indptr` once; of
`indices` only the sizes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import StoreError
from .array_reader import OFFSET_CHUNKS, ShardedArray, pieces
from .codec import file_fault
from .store import Store

if TYPE_CHECKING:
    from concurrent.futures import Future

RUN_ARCS = 1 << 17


class ArcRun(NamedTuple):
    """Chunks first to first + n_chunks - 1 of `indices`.

    rows : int64[k], the vertices with an arc in the run, ascending. starts : int64[k + 1], the positions of their first
    arcs in the run (starts[0] = 0), and the run's end. head, tail : whether the first row begins before the run, and
    the last one continues after it.
    """

    first: int
    n_chunks: int
    rows: np.ndarray
    starts: np.ndarray
    head: bool
    tail: bool


Work = Callable[[ArcRun, np.ndarray], None]
Tick = Callable[[int], None]


def arc_runs(store: Store, n_chunks: int) -> Iterator[ArcRun]:
    """The runs of all chunks, in order, at most `n_chunks` each. Raises StoreError if `indptr` does not rise from 0 to
    the number of arcs."""
    array = store.indices
    pieces = _rows_with_arcs(store)
    rows = ends = np.empty(0, np.int64)
    first, head = 0, False
    while first < array.n_chunks:
        count = array.run_length(first, n_chunks)
        low = first * array.chunk_items
        high = min(array.length, low + count * array.chunk_items)
        while not len(ends) or ends[-1] < high:
            more = next(pieces, None)
            if more is None:
                raise store.damaged(f"indptr ends before {high} of {array.length} arcs")
            rows, ends = np.concatenate((rows, more[0])), np.concatenate((ends, more[1]))
        k = int(np.searchsorted(ends, high)) + 1
        tail = bool(ends[k - 1] > high)
        starts = np.concatenate((np.zeros(1, np.int64), np.minimum(ends[:k], high) - low))
        yield ArcRun(first, count, rows[:k], starts, head, tail)
        rows, ends = rows[k - tail :], ends[k - tail :]
        first, head = first + count, tail
    if len(ends) or any(len(more[1]) for more in pieces):
        raise store.damaged(f"indptr goes beyond the {array.length} arcs")


def _rows_with_arcs(store: Store) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(vertices with an arc, ends of their rows), int64[k] each, in order."""
    vertex = 0
    for piece in offset_pieces(store.indptr):
        here = np.flatnonzero(piece[1:] > piece[:-1])
        yield here + vertex, piece[1:][here]
        vertex += len(piece) - 1


class Pauses(NamedTuple):
    """Moments of a scan when no run is in progress. begin : the first chunk to scan, 0 or a number passed to `at_rest`
    earlier. due : called before every run, returns whether to pause. at_rest : called in a pause with the number of
    completed chunks."""

    begin: int
    due: Callable[[], bool]
    at_rest: Callable[[int], None]


def run_chunks(store: Store, most_arcs: int = RUN_ARCS) -> int:
    """The number of chunks of a run of at most `most_arcs` arcs, at least one."""
    return max(1, most_arcs // store.indices.chunk_items)


def scan_arcs(store: Store, threads: int, work: Work, tick: Tick | None = None, pauses: Pauses | None = None,
              n_chunks: int | None = None, ids: np.ndarray | None = None) -> None:
    """Call work(run, ids) for every run, on `threads` threads, in any order.

    ids : id_dtype[arcs of the run], the neighbours, each a valid vertex. tick : called with the number of chunks handed
    out. n_chunks : limit of a run; None: that of RUN_ARCS. As a parameter, ids : those of all arcs, if they are in
    memory and need not be read. The first error, from reading or from `work`, ends the scan. Raises StoreError.
    """
    from concurrent.futures import ThreadPoolExecutor

    pending: deque[Future[None]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="scan") as pool:
        try:
            for run in arc_runs(store, n_chunks or run_chunks(store)):
                if pauses is not None and run.first < pauses.begin:
                    continue
                if pauses is not None and pauses.due():
                    while pending:
                        pending.popleft().result()
                    pauses.at_rest(run.first)
                if ids is None:
                    store.indices.prefetch(run.first, run.n_chunks)
                pending.append(pool.submit(lambda run: work(run, run_ids(store, run, ids)), run))
                if len(pending) > threads:
                    pending.popleft().result()
                if tick is not None:
                    tick(run.first + run.n_chunks)
            while pending:
                pending.popleft().result()
        except BaseException:
            for waiting in pending:
                waiting.cancel()
            raise


def run_ids(store: Store, run: ArcRun, in_memory: np.ndarray | None = None) -> np.ndarray:
    """The neighbours of a run, id_dtype[arcs of the run]. in_memory : all neighbours, else they are read. Raises
    StoreError for an invalid one."""
    if in_memory is None:
        buffer = np.empty((run.n_chunks, store.indices.chunk_items), store.id_dtype)
        store.indices.fetch(run.first, list(buffer))
        ids = buffer.reshape(-1)[: run.starts[-1]]
    else:
        ids = in_memory[run.first * store.indices.chunk_items :][: run.starts[-1]]
    if int(ids.max()) >= store.n_vertices:
        raise store.damaged(f"indices hold {int(ids.max())}, which is no vertex")
    return ids


def run_weights(store: Store, run: ArcRun) -> np.ndarray | None:
    """The weights of the arcs of a run, [arcs of the run]; None in a store without weights. Raises StoreError for a
    weight outside the record's range."""
    if store.weights is None:
        return None
    buffer = np.empty((run.n_chunks, store.weights.chunk_items), store.weights.dtype)
    store.weights.fetch(run.first, list(buffer))
    weights = buffer.reshape(-1)[: run.starts[-1]]
    store.check_weights(weights)
    return weights


def scan_bytes(store: Store, threads: int) -> int:
    """Upper bound of the memory of scan_arcs: runs in flight, and pieces of `indptr`."""
    chunk = store.indices.chunk_items
    arcs = max(RUN_ARCS, chunk)
    return (threads + 2) * arcs * (3 * store.id_dtype.itemsize + 24) + 8 * chunk * 8 * 4


class DegreeCounts:
    """Counts over all vertices. histogram : int64[65], entry 0 the number of vertices of degree 0, entry k of degree
    2^(k-1) to 2^k - 1. least, largest : 0 without vertices."""

    def __init__(self) -> None:
        self.n_vertices = self.n_arcs = self.least = self.largest = 0
        self.histogram = np.zeros(65, np.int64)

    def add(self, degrees: np.ndarray) -> None:
        """Count the next vertices; degrees : int64[k] >= 0."""
        if not len(degrees):
            return
        least = int(degrees.min())
        self.least = min(self.least, least) if self.n_vertices else least
        self.largest = max(self.largest, int(degrees.max()))
        self.n_vertices += len(degrees)
        self.n_arcs += int(degrees.sum())
        # frexp's exponent is the bit length of an integer below 2^53.
        self.histogram += np.bincount(np.frexp(degrees)[1], minlength=65)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: min, mean, max, isolated and the histogram up to its last entry."""
        bins = [{"from": (1 << k) >> 1, "to": (1 << k) - 1, "vertices": int(count)}
                for k, count in enumerate(self.histogram)]
        last = max(np.flatnonzero(self.histogram), default=-1)
        return {
            "min": self.least, "mean": self.n_arcs / self.n_vertices if self.n_vertices else 0.0,
            "max": self.largest, "isolated": int(self.histogram[0]), "histogram": bins[: last + 1],
        }


def offset_pieces(indptr: ShardedArray) -> Iterator[np.ndarray]:
    """Row offsets in order as int64[k + 1] pieces; each begins with the last value of the previous piece. Raises
    StoreError if they are not monotone from 0."""
    last, done = 0, 0
    for values in pieces(indptr, OFFSET_CHUNKS):
        piece = np.concatenate((np.array([last]), values))
        if np.any(piece[1:] < piece[:-1]) or (done == 0 and piece[1] != 0):
            shard = indptr.shard_name(done // indptr.chunk_items // indptr.shard_chunks)
            raise StoreError("the offsets do not rise from 0", path=shard, remedy="convert the graph again")
        # The very first value is the 0 at the beginning of the first row.
        yield piece[1:] if done == 0 else piece
        last, done = int(piece[-1]), done + len(values)


def count_degrees(store: Store) -> DegreeCounts:
    """Degrees of all vertices, from the row offsets. Raises StoreError if they contradict the store record."""
    counts = DegreeCounts()
    for piece in offset_pieces(store.indptr):
        counts.add(np.diff(piece))
    record = store.record
    counted = (counts.n_vertices, counts.n_arcs, counts.largest, int(counts.histogram[0]))
    said = (record.n_vertices, record.n_arcs, record.max_degree, record.n_isolated)
    if counted != said:
        raise StoreError(f"the degrees are not those of the store record: vertices, arcs, largest degree "
                         f"and isolated vertices are {counted}, not {said}", path=store.path,
                         remedy="convert the graph again")
    return counts


def store_info(store: Store) -> dict[str, Any]:
    """The figures that `emdiam info` shows, JSON-ready. Sizes are bytes. Raises StoreError.

    Counts, origin, weights and digests as in StoreRecord; degree {min, mean, max, isolated, histogram by powers of
    two}; id_kind ("identity" or "offset": consecutive integers; "int" or "string": the store has a map), first_id,
    id_dtype, id_range (first and last user id; None without vertices); chunk_bytes, shard_bytes of `indices`, decoded;
    arrays {name: see _array_info}; n_files, bytes (of all files together) and bytes_per_edge, None unless the store is
    a local folder (the last also without edges).
    """
    record = store.record
    n_files, size = _files(Path(store.path.removeprefix("file://"))) if store.is_local else (None, None)
    chunk_bytes = record.chunk_ids * store.id_dtype.itemsize
    return {
        "path": store.path, "format_version": record.format_version,
        "n_vertices": record.n_vertices, "n_edges": record.n_edges, "n_arcs": record.n_arcs,
        "degree": count_degrees(store).to_dict(),
        "id_kind": record.id_kind, "first_id": record.first_id, "id_dtype": str(store.id_dtype),
        "id_range": _id_range(store), "ordering": record.ordering,
        "source": record.source, "source_format": record.source_format, "reading": record.reading,
        "directed": record.directed, "directed_input": record.directed_input, "symmetric": record.symmetric,
        "loops_dropped": record.loops_dropped, "duplicates_dropped": record.duplicates_dropped,
        "pairs_read": record.pairs_read, "reverse_dropped": record.reverse_dropped,
        "directions": record.directions, "values_dropped": record.values_dropped,
        "weights": None if record.weights is None else record.weights.to_dict(),
        "codec": record.codec, "chunk_ids": record.chunk_ids, "chunk_bytes": chunk_bytes,
        "shard_bytes": chunk_bytes * store.indices.shard_chunks,
        "arrays": {name: _array_info(store.array(name)) for name in store.array_names()},
        "decoded_bytes_per_arc": store.id_dtype.itemsize, "n_files": n_files, "bytes": size,
        "bytes_per_edge": size / record.n_edges if size is not None and record.n_edges else None,
        "digest": record.chunk_digest, "record_digest": record.record_digest,
    }


def _array_info(array: ShardedArray) -> dict[str, Any]:
    """Layout of an array: decoded_bytes without padding, stored_bytes encoded (None: unknown)."""
    return {
        "items": array.length, "dtype": str(array.dtype), "chunks": array.n_chunks,
        "chunk_items": array.chunk_items, "shards": array.n_shards, "shard_chunks": array.shard_chunks,
        "decoded_bytes": array.length * array.dtype.itemsize,
        "stored_bytes": array.stored_bytes,
    }


def _id_range(store: Store) -> list[int] | list[str] | None:
    n = store.n_vertices
    return store.ids_of_ranks(np.array([0, n - 1])) if n else None


def _files(folder: Path) -> tuple[int, int]:
    """(number, total size in bytes) of the files below `folder`."""
    try:
        sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    except OSError as error:
        raise file_fault("the files of the store cannot be counted", error, folder) from None
    return len(sizes), sum(sizes)
