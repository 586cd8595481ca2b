"""Verification of a whole store: reads everything and proves that it is as written.

Chunks: the checksum of each, and the digest over all checksums as StoreWriter computes it. The graph: offsets monotone
and consistent with the record, ids below n, rows strictly increasing, no loops, every edge in both directions.
Fingerprints prove the last point: a hash of the unordered pair of every arc, and of its weight, is summed once over
arcs that lead up and once over arcs that lead down. No row contains an arc twice; so the two sums of a symmetric graph
are equal, and those of any other graph differ except with a probability of about 2^-64. With directions a hash of the
ordered pair proves the same of the rows out and the reverse rows. Weights: within the record's range, with its mean.
Ids: vertex_id strictly increasing in the natural order; string offsets monotone, and the strings valid UTF-8;
natural_id of a reordered store contains every rank once.

RAM: a few chunks, and one bit per vertex for a reordered store. I/O: every array once (in small runs), offsets twice.
"""

from __future__ import annotations

import codecs
import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..checkpoint.records import State
from ..distinct import distinct
from ..errors import StoreError
from ..hashing import mix64
from ..progress import Listener, Meter
from ..sorting.runs import Presence
from .arc_runs import ArcRun, arc_runs, count_degrees, offset_pieces, run_weights
from .array_reader import pieces
from .codec import CRC_BYTES
from .layout import REVERSE
from .private import blake2b
from .store import Store
from .weights import WeightSums

_RUN_CHUNKS = 4
# Arcs that are processed at a time, with their temporaries in memory.
_SLICE = 1 << 14


def check_store(store: Store, progress: Listener | None = None) -> dict[str, int]:
    """Read and verify everything in the store; raises StoreError at the first fault.

    Returns {chunks, arcs}, the numbers verified. progress : called with events of the phases "check NAME", one for each
    array, counted in chunks.
    """
    for rows in (store, store.reverse)[: 1 + store.directed]:
        count_degrees(rows)
    digest, meter, found = blake2b(digest_size=16), Meter(progress), dict[str, int]()
    for name in store.array_names():
        part, found[name] = _check_array(store, name, meter)
        digest.update(name.encode() + part)
    if digest.hexdigest() != store.record.chunk_digest:
        raise store.damaged("the chunks are not those of the store record")
    if store.directed and found["indices"] != found[f"{REVERSE}/indices"]:
        raise store.damaged("the reverse is that of another graph")
    return {"chunks": sum(store.array(name).n_chunks for name in store.array_names()), "arcs": store.n_arcs}


def _check_array(store: Store, name: str, meter: Meter) -> tuple[bytes, int]:
    """Verify the array; returns the digest of its chunk checksums, and the result of its check."""
    array, digest = store.array(name), blake2b(digest_size=16)
    meter.begin(f"check {name}", array.n_chunks, "chunks")

    def fetch(first: int, rows: Sequence[np.ndarray]) -> None:
        for i, data in enumerate(array.encoded(first, len(rows))):
            array.decode(first + i, data, rows[i])
            digest.update(data[-CRC_BYTES:])
        meter.update(first + len(rows))

    values = pieces(array, _RUN_CHUNKS, fetch=fetch)
    fingerprint = _CHECKS.get(name, _exhaust)(store, values)
    meter.end()
    return digest.digest(), fingerprint or 0


def _exhaust(store: Store, values: Iterator[np.ndarray]) -> None:
    """Read an array whose only checks are those of its chunks."""
    for _ in values:
        pass


def _with_weights(hashes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Combine hashes of arcs, uint64[k], with the arcs' weights."""
    if weights is None:
        return hashes
    # -0.0 counts as 0.0.
    words = weights.astype(np.float64) + 0.0 if weights.dtype.kind == "f" else weights.astype(np.int64)
    return mix64(hashes ^ mix64(words.view(np.uint64)))


def _fingerprints(rows: np.ndarray, ids: np.ndarray, weights: np.ndarray | None) -> list[np.uint64]:
    """Sums (modulo 2^64) of the hashes of the arcs that lead up, and of those down. rows, ids : uint64[k], the arcs'
    ends, no loops. weights : [k]."""
    hashes = _with_weights(mix64(mix64(np.minimum(rows, ids)) ^ np.maximum(rows, ids)), weights)
    up = rows < ids
    return [hashes[up].sum(), hashes[~up].sum()]


def _directed_fingerprints(tails: np.ndarray, heads: np.ndarray, weights: np.ndarray | None) -> list[np.uint64]:
    """Sum (modulo 2^64) of the hashes of the arcs, different for an arc and its reverse; and 0."""
    return [_with_weights(mix64(mix64(tails) ^ heads), weights).sum(), np.uint64(0)]


class ArcCheck:
    """Checks that the rows of a scan (arc_runs.py), in runs that come in any order, form a valid graph: `add` every
    run, from any thread, then `finish`. Raises StoreError.

    resumed : a `state` made when all chunks before the first run had been added. turned : in a store with directions,
    whether the rows are the reverse rows.
    """

    def __init__(self, store: Store, resumed: State | None = None, turned: bool = False) -> None:
        self._store, self._lock, self._turned = store, threading.Lock(), turned
        # By chunk: the last id before it, and its first id (n if a row begins there).
        self._before: dict[int, int] = {}
        self._behind: dict[int, int] = {}
        self._sums = np.zeros(2, np.uint64)
        if resumed is not None:
            self._sums[:], self._before = resumed["sums"], {resumed["chunk"]: resumed["last"]}

    def add(self, run: ArcRun, rows: np.ndarray, ids: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Check a run. rows : int64[k], the row of each arc. ids : id_dtype[k], as in scan_arcs. weights : [k]."""
        sums = np.zeros(2, np.uint64)
        for begin in range(0, len(ids), _SLICE):
            here = slice(max(0, begin - 1), begin + _SLICE)
            row, one = rows[here], ids[here]
            wrong = one == row
            wrong[1:] |= (row[1:] == row[:-1]) & (one[1:] <= one[:-1])
            if wrong.any():
                raise self.not_ascending(int(row[np.argmax(wrong)]))
            new = slice(begin, begin + _SLICE)
            ends = rows[new].astype(np.uint64), ids[new].astype(np.uint64)
            here_weights = None if weights is None else weights[new]
            if self._store.directed:
                sums += _directed_fingerprints(*(ends[::-1] if self._turned else ends), here_weights)
            else:
                sums += _fingerprints(*ends, here_weights)
        self.join(run, ids, sums)

    def join(self, run: ArcRun, ids: np.ndarray, sums: np.ndarray) -> None:
        """Like `add`, for a run whose rows are known to ascend. sums : uint64[2], its fingerprints."""
        with self._lock:
            self._behind[run.first] = int(ids[0]) if run.head else self._store.n_vertices
            self._before[run.first + run.n_chunks] = int(ids[-1])
            for chunk, row in ((run.first, run.rows[0]), (run.first + run.n_chunks, run.rows[-1])):
                if chunk in self._before and chunk in self._behind:
                    if self._before.pop(chunk) >= self._behind.pop(chunk):
                        raise self.not_ascending(int(row))
            self._sums += sums

    def state(self, chunk: int) -> State:
        """The state after the chunks before this one, if exactly those have been added."""
        return {"chunk": chunk, "sums": self._sums.tolist(), "last": self._before.get(chunk, -1)}

    def finish(self) -> int:
        """Check the sums after all runs; with directions, return the sum of the hashes of all arcs."""
        if self._store.directed:
            return int(self._sums[0])
        if self._sums[0] != self._sums[1]:
            weighted = self._store.weights is not None
            raise self._store.damaged("an edge is stored in one direction only" if not weighted else
                                      "an edge is stored in one direction only, or with two weights")
        return 0

    def not_ascending(self, vertex: int) -> StoreError:
        """The error for a row that does not ascend or contains its own vertex."""
        return self._store.damaged(f"the neighbours of vertex {vertex} do not ascend, or hold itself")


def _check_rows(store: Store, values: Iterator[np.ndarray], turned: bool = False) -> int:
    """Check ids below n, rows strictly increasing, no loops, and both directions of every edge. turned, and the result
    : see ArcCheck."""
    check = ArcCheck(store, turned=turned)
    for run, ids in zip(arc_runs(store, _RUN_CHUNKS), values, strict=True):
        rows = np.repeat(run.rows, np.diff(run.starts))
        strangers = np.flatnonzero(ids >= store.n_vertices)
        if strangers.size:
            raise store.damaged(f"a neighbour of vertex {int(rows[strangers[0]])} is no vertex")
        check.add(run, rows, ids, run_weights(store, run))
    return check.finish()


def _check_weights(store: Store, values: Iterator[np.ndarray]) -> None:
    """Check the weights against the record."""
    record = store.record.weights
    assert record is not None
    sums = WeightSums(record.form)
    for weights in values:
        store.check_weights(weights)
        sums.add(weights)
    found = sums.record(record.edges_with_several)
    if found != record:
        raise store.damaged(f"weights are from {found.least} to {found.largest}, in the mean {found.mean}, where the"
                            f" record says {record.least} to {record.largest} and {record.mean}")


def _check_increasing(store: Store, values: Iterator[np.ndarray]) -> None:
    """Check that the user's ids are distinct and increasing."""
    last: int | None = None
    for ids in values:
        if (last is not None and int(ids[0]) <= last) or np.any(ids[1:] <= ids[:-1]):
            raise store.damaged("vertex_id is not strictly increasing")
        last = int(ids[-1])


def _check_string_offsets(store: Store, values: Iterator[np.ndarray]) -> None:
    end = 0
    for piece in offset_pieces(store.array("vertex_id_offsets")):
        end = int(piece[-1])
    length = store.array("vertex_id_bytes").length
    if end != length:
        raise store.damaged(f"vertex_id_offsets end at {end} of {length} bytes")
    _exhaust(store, values)


def _check_text(store: Store, values: Iterator[np.ndarray]) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for data in values:
            decoder.decode(data.tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise store.damaged(f"vertex_id_bytes is not UTF-8 ({error.reason})") from None


def check_ranks(store: Store, values: Iterator[np.ndarray]) -> None:
    """Raise StoreError unless the natural ranks, which come as id_dtype[k], contain each of 0 to n - 1 once."""
    seen = Presence(store.n_vertices)
    for ranks in values:
        named = distinct(ranks).astype(np.uint64)
        if int(named[-1]) >= store.n_vertices:
            raise store.damaged(f"natural_id holds {int(named[-1])}, which is no vertex")
        seen.add(named)
    n_seen = int(np.bitwise_count(seen.words).sum())
    if n_seen != store.n_vertices:
        raise store.damaged(f"natural_id holds {n_seen} of {store.n_vertices} vertices, the others twice")


_CHECKS: dict[str, Callable[[Store, Iterator[np.ndarray]], int | None]] = {
    "indices": _check_rows, "vertex_id": _check_increasing,
    "vertex_id_offsets": _check_string_offsets, "vertex_id_bytes": _check_text, "natural_id": check_ranks,
    "data": _check_weights, f"{REVERSE}/data": _check_weights,
    f"{REVERSE}/indices": lambda store, values: _check_rows(store.reverse, values, turned=True),
}
