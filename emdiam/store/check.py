"""Reading a whole store and proving that it is the one that was written.

Every chunk: its checksum, and the digest over all checksums as StoreWriter computes it. The graph:
offsets monotone and as the record says, ids below n, rows strictly increasing, no loops, every
edge in both directions. The last is shown by fingerprints: a hash of the unordered pair of every
arc, summed once over arcs that lead up and once over those that lead down. The rows hold no arc
twice, so the sums of a symmetric graph are equal, and those of another one differ but for a chance
of about 2^-64. Ids: vertex_id strictly increasing in the natural order, string offsets monotone
and the strings valid UTF-8; natural_id of a reordered store holds every rank once.

RAM: a few chunks, and one bit a vertex for a reordered store. I/O: every array once (small enough
runs), offsets twice.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DeviceError, InputError, StoppedEarly, StoreError
from ..phases import Meter
from ..progress import Listener
from ..sorting.presence import Presence
from .array_reader import ShardedArray
from .codec import CRC_BYTES
from .info import count_degrees, offset_pieces
from .store import Store

_RUN_CHUNKS = 4
_REMEDY = "the store is damaged: convert the graph again or restore it from a copy"


def check_store(store: Store, progress: Listener | None = None) -> dict[str, int]:
    """Read and verify everything in the store; raises StoreError at the first fault.

    Returns {chunks, arcs}: how many were verified. progress : called with events of the phases
    "check NAME", one for every array, in chunks.
    """
    count_degrees(store)
    run = _Check(store, Meter(progress))
    digest = hashlib.blake2b(digest_size=16)
    for name in store.array_names():
        digest.update(name.encode() + run.array(name))
    if digest.hexdigest() != store.record.chunk_digest:
        raise StoreError("the chunks are not those of the store record", path=store.path, remedy=_REMEDY)
    return {"chunks": run.chunks, "arcs": store.n_arcs}


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


class _Check:
    """Passes over the arrays one after another. `chunks` : verified so far."""

    def __init__(self, store: Store, meter: Meter) -> None:
        self._store, self._meter = store, meter
        self.chunks = 0

    def array(self, name: str) -> bytes:
        """Verify the array; returns the digest of its chunk checksums."""
        self._meter.begin(f"check {name}", self._store.array(name).n_chunks, "chunks")
        digest = hashlib.blake2b(digest_size=16)
        values = self._values(self._store.array(name), digest)
        if name == "indices":
            _check_rows(self._store, values)
        elif name == "vertex_id":
            _check_increasing(self._store, values)
        elif name == "vertex_id_offsets":
            _check_string_offsets(self._store)
            _exhaust(values)
        elif name == "vertex_id_bytes":
            _check_text(self._store, values)
        elif name == "natural_id":
            check_ranks(self._store, values)
        else:
            _exhaust(values)
        self._meter.end()
        return digest.digest()

    def _values(self, array: ShardedArray, digest: Any) -> Iterator[np.ndarray]:
        """The array in order, in pieces that are valid until the next; checksums go to `digest`."""
        buffer = np.empty((_RUN_CHUNKS, array.chunk_items), array.dtype)
        first = 0
        while first < array.n_chunks:
            count = array.run_length(first, _RUN_CHUNKS)
            for i, data in enumerate(array.encoded(first, count)):
                array.decode(first + i, data, buffer[i])
                digest.update(data[-CRC_BYTES:])
            begin = first * array.chunk_items
            first += count
            self.chunks += count
            self._meter.update(first)
            yield buffer.reshape(-1)[: min(count * array.chunk_items, array.length - begin)]


def _exhaust(values: Iterator[np.ndarray]) -> None:
    for _ in values:
        pass


@dataclass
class Fingerprints:
    """Wrapping sums (modulo 2^64) over the arcs that lead up and those that lead down."""

    up: int = 0
    down: int = 0

    def add(self, rows: np.ndarray, ids: np.ndarray) -> None:
        """rows, ids : uint64[k], the ends of the arcs, none a loop."""
        hashes = _mix(_mix(np.minimum(rows, ids)) ^ np.maximum(rows, ids))
        total = int(hashes.sum(dtype=np.uint64))
        up = int(hashes[rows < ids].sum(dtype=np.uint64))
        self.up = (self.up + up) % (1 << 64)
        self.down = (self.down + total - up) % (1 << 64)


    def join(self, other: Fingerprints) -> None:
        """Add the sums of another part of the arcs."""
        self.up = (self.up + other.up) % (1 << 64)
        self.down = (self.down + other.down) % (1 << 64)


def _mix(values: np.ndarray) -> np.ndarray:
    """A bijection of uint64 (the finaliser of MurmurHash3) that spreads every bit over all."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return values ^ (values >> np.uint64(33))


def _check_rows(store: Store, values: Iterator[np.ndarray]) -> None:
    """Ids below n, rows strictly increasing, no loops, both directions of every edge."""
    sums = Fingerprints()
    walk = _RowWalk(store.indptr)
    last_row, last_id = -1, -1
    for ids in values:
        for rows in walk.rows_of(len(ids)):
            here, ids = ids[: len(rows)].astype(np.uint64), ids[len(rows) :]
            strangers = np.flatnonzero(here >= store.n_vertices)
            if strangers.size:
                raise _fault(store, f"a neighbour of vertex {int(rows[strangers[0]])} is no vertex")
            wrong = here == rows
            wrong[1:] |= (rows[1:] == rows[:-1]) & (here[1:] <= here[:-1])
            wrong[0] |= int(rows[0]) == last_row and int(here[0]) <= last_id
            if wrong.any():
                row = int(rows[np.argmax(wrong)])
                raise not_ascending(store, row)
            sums.add(rows, here)
            last_row, last_id = int(rows[-1]), int(here[-1])
    if sums.up != sums.down:
        raise one_way_only(store)


class _RowWalk:
    """Which row each arc belongs to, in storage order."""

    def __init__(self, indptr: ShardedArray) -> None:
        self._pieces = offset_pieces(indptr)
        self._piece = np.zeros(1, np.int64)
        self._first_vertex = self._arc = 0

    def rows_of(self, count: int) -> Iterator[np.ndarray]:
        """Rows of the next `count` arcs as non-empty uint64[k] pieces, of `count` arcs together.

        The offsets are known to end at the number of arcs (count_degrees)."""
        stop = self._arc + count
        while self._arc < stop:
            while int(self._piece[-1]) <= self._arc:
                self._first_vertex += len(self._piece) - 1
                self._piece = next(self._pieces)
            end = min(stop, int(self._piece[-1]))
            low = int(np.searchsorted(self._piece, self._arc, side="right")) - 1
            high = int(np.searchsorted(self._piece, end, side="left"))
            ends = np.clip(self._piece[low : high + 1], self._arc, end)
            counts = ends[1:] - ends[:-1]
            first = self._first_vertex + low
            self._arc = end
            yield np.repeat(np.arange(first, first + len(counts), dtype=np.uint64), counts)


def _check_increasing(store: Store, values: Iterator[np.ndarray]) -> None:
    """The user's ids are distinct and increasing."""
    last: int | None = None
    for ids in values:
        if (last is not None and int(ids[0]) <= last) or np.any(ids[1:] <= ids[:-1]):
            raise _fault(store, "vertex_id is not strictly increasing")
        last = int(ids[-1])


def _check_string_offsets(store: Store) -> None:
    end = 0
    for piece in offset_pieces(store.array("vertex_id_offsets")):
        end = int(piece[-1])
    length = store.array("vertex_id_bytes").length
    if end != length:
        raise _fault(store, f"vertex_id_offsets end at {end} of {length} bytes")


def _check_text(store: Store, values: Iterator[np.ndarray]) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for data in values:
            decoder.decode(data.tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise _fault(store, f"vertex_id_bytes is not UTF-8 ({error.reason})") from None


def check_ranks(store: Store, values: Iterator[np.ndarray]) -> None:
    """Natural ranks, id_dtype[k] at a time: raises StoreError unless each of 0 to n - 1 is there once."""
    seen = Presence(store.n_vertices)
    for ranks in values:
        distinct = np.unique(ranks).astype(np.uint64)
        if int(distinct[-1]) >= store.n_vertices:
            raise _fault(store, f"natural_id holds {int(distinct[-1])}, which is no vertex")
        seen.add(distinct)
    n_seen = int(np.bitwise_count(seen.words).sum())
    if n_seen != store.n_vertices:
        raise _fault(store, f"natural_id holds {n_seen} of {store.n_vertices} vertices, the others twice")


def not_ascending(store: Store, vertex: int) -> StoreError:
    """The error of a row that is none."""
    return _fault(store, f"the neighbours of vertex {vertex} do not ascend, or hold itself")


def one_way_only(store: Store) -> StoreError:
    """The error of rows that are not symmetric."""
    return _fault(store, "an edge is stored in one direction only")


def _fault(store: Store, what: str) -> StoreError:
    return StoreError(what, path=store.path, remedy=_REMEDY)
