"""Reading a whole store and proving that it is the one that was written.

Every chunk: its checksum, and the digest over all checksums as StoreWriter computes it. The graph: offsets monotone and
as the record says, ids below n, rows strictly increasing, no loops, every edge in both directions. The last is shown by
fingerprints: a hash of the unordered pair of every arc, summed once over arcs that lead up and once over those that
lead down. The rows hold no arc twice, so the sums of a symmetric graph are equal, and those of another one differ but
for a chance of about 2^-64. Ids: vertex_id strictly increasing in the natural order, string offsets monotone and the
strings valid UTF-8; natural_id of a reordered store holds every rank once.

RAM: a few chunks, and one bit a vertex for a reordered store. I/O: every array once (small enough runs), offsets twice.
"""

from __future__ import annotations

import codecs
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ..checkpoint.records import State
from ..errors import DeviceError, InputError, StoppedEarly, StoreError
from ..progress import Listener, Meter
from ..sorting.presence import Presence
from ..sorting.runs import mix64
from .arc_runs import ArcRun, arc_runs
from .array_reader import pieces
from .codec import CRC_BYTES
from .info import count_degrees, offset_pieces
from .store import Store

_RUN_CHUNKS = 4
# Arcs whose temporaries are in memory at a time.
_SLICE = 1 << 14


def check_store(store: Store, progress: Listener | None = None) -> dict[str, int]:
    """Read and verify everything in the store; raises StoreError at the first fault.

    Returns {chunks, arcs}: how many were verified. progress : called with events of the phases
    "check NAME", one for every array, in chunks.
    """
    count_degrees(store)
    digest, meter = hashlib.blake2b(digest_size=16), Meter(progress)
    for name in store.array_names():
        digest.update(name.encode() + _check_array(store, name, meter))
    if digest.hexdigest() != store.record.chunk_digest:
        raise store.damaged("the chunks are not those of the store record")
    return {"chunks": sum(store.array(name).n_chunks for name in store.array_names()), "arcs": store.n_arcs}


@contextmanager
def blamed_on(store: Store, *passing: type[Exception]) -> Iterator[None]:
    """Around work on the store whose errors of our own, such as a distance that is none, may be due to the store:
    then it is read and verified, and the StoreError of what is wrong with it takes the place of the other.

    passing : further errors that say nothing of the store."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, (InputError, StoppedEarly, DeviceError, MemoryError, *passing)):
            check_store(store)
        raise


def _check_array(store: Store, name: str, meter: Meter) -> bytes:
    """Verify the array; returns the digest of its chunk checksums."""
    array, digest = store.array(name), hashlib.blake2b(digest_size=16)
    meter.begin(f"check {name}", array.n_chunks, "chunks")

    def fetch(first: int, rows: Sequence[np.ndarray]) -> None:
        for i, data in enumerate(array.encoded(first, len(rows))):
            array.decode(first + i, data, rows[i])
            digest.update(data[-CRC_BYTES:])
        meter.update(first + len(rows))

    values = pieces(array, _RUN_CHUNKS, fetch=fetch)
    _CHECKS.get(name, _exhaust)(store, values)
    meter.end()
    return digest.digest()


def _exhaust(store: Store, values: Iterator[np.ndarray]) -> None:
    """Read an array of which the chunks alone are looked at."""
    for _ in values:
        pass


def _fingerprints(rows: np.ndarray, ids: np.ndarray) -> list[np.uint64]:
    """Sums (modulo 2^64) of the hashes of the arcs that lead up, and of those that lead down. rows, ids : uint64[k],
    their ends, no loops."""
    hashes = mix64(mix64(np.minimum(rows, ids)) ^ np.maximum(rows, ids))
    up = rows < ids
    return [hashes[up].sum(), hashes[~up].sum()]


class ArcCheck:
    """Whether the rows of a scan (arc_runs.py), in runs that come in any order, are those of a graph: `add` every run,
    from any thread, then `finish`. Raises StoreError.

    resumed : what `state` was when all chunks before the first run had been added.
    """

    def __init__(self, store: Store, resumed: State | None = None) -> None:
        self._store, self._lock = store, threading.Lock()
        # By chunk, the last id before it, and the first one in it (n where a row begins there).
        self._before: dict[int, int] = {}
        self._behind: dict[int, int] = {}
        self._sums = np.zeros(2, np.uint64)
        if resumed is not None:
            self._sums[:], self._before = resumed["sums"], {resumed["chunk"]: resumed["last"]}

    def add(self, run: ArcRun, rows: np.ndarray, ids: np.ndarray) -> None:
        """Look at a run; rows : int64[k], the row of each arc. ids : id_dtype[k], as in scan_arcs."""
        sums = np.zeros(2, np.uint64)
        for begin in range(0, len(ids), _SLICE):
            here = slice(max(0, begin - 1), begin + _SLICE)
            row, one = rows[here], ids[here]
            wrong = one == row
            wrong[1:] |= (row[1:] == row[:-1]) & (one[1:] <= one[:-1])
            if wrong.any():
                raise self.not_ascending(int(row[np.argmax(wrong)]))
            new = slice(begin, begin + _SLICE)
            sums += _fingerprints(rows[new].astype(np.uint64), ids[new].astype(np.uint64))
        self.join(run, ids, sums)

    def join(self, run: ArcRun, ids: np.ndarray, sums: np.ndarray) -> None:
        """As `add`, of a run whose rows are known to ascend; sums : uint64[2], its fingerprints."""
        with self._lock:
            self._behind[run.first] = int(ids[0]) if run.head else self._store.n_vertices
            self._before[run.first + run.count] = int(ids[-1])
            for chunk, row in ((run.first, run.rows[0]), (run.first + run.count, run.rows[-1])):
                if chunk in self._before and chunk in self._behind:
                    if self._before.pop(chunk) >= self._behind.pop(chunk):
                        raise self.not_ascending(int(row))
            self._sums += sums

    def state(self, chunk: int) -> State:
        """What was seen of the chunks before this one, all of which were added, and none behind."""
        return {"chunk": chunk, "sums": self._sums.tolist(), "last": self._before.get(chunk, -1)}

    def finish(self) -> None:
        """All runs were added."""
        if self._sums[0] != self._sums[1]:
            raise self._store.damaged("an edge is stored in one direction only")

    def not_ascending(self, vertex: int) -> StoreError:
        """The error of such a row."""
        return self._store.damaged(f"the neighbours of vertex {vertex} do not ascend, or hold itself")


def _check_rows(store: Store, values: Iterator[np.ndarray]) -> None:
    """Ids below n, rows strictly increasing, no loops, both directions of every edge."""
    check = ArcCheck(store)
    for run, ids in zip(arc_runs(store, _RUN_CHUNKS), values, strict=True):
        rows = np.repeat(run.rows, np.diff(run.starts))
        strangers = np.flatnonzero(ids >= store.n_vertices)
        if strangers.size:
            raise store.damaged(f"a neighbour of vertex {int(rows[strangers[0]])} is no vertex")
        check.add(run, rows, ids)
    check.finish()


def _check_increasing(store: Store, values: Iterator[np.ndarray]) -> None:
    """The user's ids are distinct and increasing."""
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
    """Natural ranks, id_dtype[k] at a time: raises StoreError unless each of 0 to n - 1 is there once."""
    seen = Presence(store.n_vertices)
    for ranks in values:
        distinct = np.unique(ranks).astype(np.uint64)
        if int(distinct[-1]) >= store.n_vertices:
            raise store.damaged(f"natural_id holds {int(distinct[-1])}, which is no vertex")
        seen.add(distinct)
    n_seen = int(np.bitwise_count(seen.words).sum())
    if n_seen != store.n_vertices:
        raise store.damaged(f"natural_id holds {n_seen} of {store.n_vertices} vertices, the others twice")


_CHECKS: dict[str, Callable[[Store, Iterator[np.ndarray]], None]] = {
    "indices": _check_rows, "vertex_id": _check_increasing, "vertex_id_offsets": _check_string_offsets,
    "vertex_id_bytes": _check_text, "natural_id": check_ranks,
}
