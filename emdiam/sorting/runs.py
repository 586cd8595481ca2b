"""Sorted runs of entries, in RAM or compressed in a scratch file.

A run on disk is a sequence of blocks of at most `block_keys` keys. A block holds the differences of neighbouring keys,
then the numbers that follow the keys, both through blosc (lz4, byte shuffle), and ends with its crc32c. Sorted keys of
a graph take 2 to 3 bytes in this form, and uncompressed page-cache writes would take more time than the compression.
The first key and the offset of every block stay in RAM (16 bytes per block), to find a slice of a run without reading.

Entries are keys, each with a following number or without. An array of entries is uint64[k], keys alone, or uint64[2,
k], keys and a number for each. Bit 0 of a key with a number is reserved: it marks a key that came with several numbers;
the least is kept. Sorting, merging and storing work for both forms; the functions here hide the difference.

The set of ids that occur is a bitmap filled from sorted runs, with the rank of an id among them. If the ids of an input
fit the bitmap, edges are sorted by raw ids; relabelling by rank preserves every order, so it happens as the merged
edges stream by. RAM: 1 bit per id up to the largest seen, and 32 bits per 64 ids for the ranks.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt

from ..checkpoint.records import State
from ..compression import compress, crc32c, decompressed
from .scratch import ScratchFile

Keys = npt.NDArray[np.uint64]
Entries = npt.NDArray[np.uint64]

MARK_BITS = 1
_BLOCK = 1 << 15
_PIECE = 8


def room_for(n: int, followed: bool) -> Entries:
    """An empty array of n entries; followed : with numbers."""
    return np.empty((2, n) if followed else n, np.uint64)


def keys_of(entries: Entries) -> Keys:
    """The keys of entries, a view; with marks if numbers follow."""
    return entries if entries.ndim == 1 else entries[0]


def sort_entries(entries: Entries) -> None:
    """Sort entries by key, in place; takes 16 bytes per entry more with numbers, else up to 4.

    Long ascending pieces, such as slices of runs, or rows of a sorted source in both directions, are merged piece by
    piece (numpy's stable sort): 6 to 23 ns per key, instead of 57 to 77 for a sort that ignores them.
    """
    if entries.ndim == 1:
        entries.sort(kind="stable" if _has_long_pieces(entries) else None)
        return
    order = np.argsort(entries[0])
    for row in entries:
        row[:] = row[order]


def sort_parts(entries: Entries, front: int) -> None:
    """Sort entries; the ones before `front` may ascend, the others may not: rows of a sorted source in both directions.
    Sorting the second part alone and then merging takes 10 ns per key, instead of 18 for one sort."""
    parts = (entries[..., :front], entries[..., front:])
    if entries.ndim == 1 and 0 < front < len(entries) and _has_long_pieces(parts[0]):
        for part in parts:
            sort_entries(part)
    sort_entries(entries)


def _has_long_pieces(keys: Keys) -> bool:
    """Whether at most one key in 8 is less than the key before it."""
    most = len(keys) // _PIECE
    for start in range(0, len(keys), _BLOCK):
        part = keys[start : start + _BLOCK]
        most -= int(np.count_nonzero(part[1:] < part[:-1]))
        if most < 0:
            return False
    return True


def distinct_in_place(entries: Entries, block: int = _BLOCK) -> int:
    """Move the entries of distinct keys of sorted entries to the front; returns their number.

    `block` entries are processed at a time, so that they stay in cache.
    """
    return unique_in_place(entries, block) if entries.ndim == 1 else _least_in_place(entries, block)


def unique_in_place(keys: Keys, block: int = _BLOCK) -> int:
    """Move the distinct keys of a sorted array to its front; returns their number.

    keys : uint64[k], sorted. `block` keys are processed at a time, so that they stay in cache.
    """
    kept_total, last = 0, None
    for start in range(0, len(keys), block):
        part = keys[start : start + block]
        fresh = np.empty(len(part), bool)
        np.not_equal(part[1:], part[:-1], out=fresh[1:])
        fresh[0] = last is None or part[0] != last
        last = part[-1]
        n_fresh = int(np.count_nonzero(fresh))
        if kept_total != start or n_fresh != len(part):
            # Boolean indexing copies, so source and destination may overlap.
            keys[kept_total : kept_total + n_fresh] = part[fresh]
        kept_total += n_fresh
    return kept_total


def _least_in_place(entries: Entries, block: int) -> int:
    """The same for keys with numbers: keeps the least number of each key, and marks the key if there were others."""
    kept = 0
    for start in range(0, entries.shape[1], block):
        joined = least_of(entries[:, start : start + block])
        if kept and (entries[0, kept - 1] ^ joined[0, 0]) >> np.uint64(MARK_BITS) == 0:
            # The last key of the previous block continues in this one.
            joined[:, :1] = least_of(np.concatenate([entries[:, kept - 1 : kept], joined[:, :1]], axis=1))
            kept -= 1
        entries[:, kept : kept + joined.shape[1]] = joined
        kept += joined.shape[1]
    return kept


def least_of(entries: Entries) -> Entries:
    """The entries of distinct keys, from sorted entries with numbers, uint64[2, k]; a copy."""
    keys, numbers = entries
    starts = starts_of_equal(keys >> np.uint64(MARK_BITS))
    if len(starts) == len(keys):
        return entries.copy()
    least, largest = np.minimum.reduceat(numbers, starts), np.maximum.reduceat(numbers, starts)
    marked = np.bitwise_or.reduceat(keys, starts) | (least != largest)
    return np.stack([marked, least])


def starts_of_equal(values: Keys) -> npt.NDArray[np.int64]:
    """The first position of each group of equal neighbours, int64[r], beginning with 0; needs at least one value."""
    return np.concatenate([np.zeros(1, np.int64), np.flatnonzero(values[1:] != values[:-1]) + 1])


INDEX_BYTES = 16
_CRC_BYTES = 4
_LEVEL = 5
_WRITE_BYTES = 1 << 20
_READ_BYTES = 4 << 20


@dataclass(frozen=True)
class RamRun:
    """A sorted run of distinct keys in RAM. entries : n_keys of them; block_keys : sampling distance."""

    entries: Entries
    block_keys: int

    @property
    def n_keys(self) -> int:
        return self.entries.shape[-1]

    @property
    def followed(self) -> bool:
        """Whether numbers follow the keys."""
        return self.entries.ndim > 1

    @property
    def firsts(self) -> Keys:
        """First key of every block."""
        return keys_of(self.entries)[:: self.block_keys]

    def blocks(self, start: int, end: int) -> Iterator[Entries]:
        """Views of the blocks `start` to `end` - 1."""
        for block in range(start, end):
            yield self.entries[..., block * self.block_keys : (block + 1) * self.block_keys]

    def read(self, low: int, high: int | None, out: Entries) -> int:
        """Copy the entries of keys in [low, high) (None: no upper end) to the front of `out`; returns their number."""
        keys = keys_of(self.entries)
        start = int(np.searchsorted(keys, np.uint64(low)))
        end = self.n_keys if high is None else int(np.searchsorted(keys, np.uint64(high)))
        out[..., : end - start] = self.entries[..., start:end]
        return end - start


@dataclass(frozen=True)
class DiskRun:
    """A sorted run of distinct keys in a scratch file.

    firsts : uint64[n_blocks]; offsets : int64[n_blocks + 1], bytes. followed : whether numbers follow the keys.
    """

    file: ScratchFile
    firsts: Keys
    offsets: npt.NDArray[np.int64]
    block_keys: int
    n_keys: int
    followed: bool = False

    def blocks(self, start: int, end: int) -> Iterator[Entries]:
        """The decoded blocks `start` to `end` - 1, a few MiB read at a time."""
        while start < end:
            reach = int(np.searchsorted(self.offsets, self.offsets[start] + _READ_BYTES, side="right")) - 1
            stop = min(end, max(start + 1, reach))
            base = int(self.offsets[start])
            data = self.file.read(base, int(self.offsets[stop]) - base).data
            for block in range(start, stop):
                piece = data[int(self.offsets[block]) - base : int(self.offsets[block + 1]) - base]
                yield _decode(piece, self.followed)
            start = stop

    def read(self, low: int, high: int | None, out: Entries) -> int:
        """Copy the entries of keys in [low, high) (None: no upper end) to the front of `out`; returns their number."""
        first = max(0, int(np.searchsorted(self.firsts, np.uint64(low), side="right")) - 1)
        end = len(self.firsts) if high is None else int(np.searchsorted(self.firsts, np.uint64(high)))
        used = 0
        for number, entries in enumerate(self.blocks(first, end), first):
            if number == first:
                entries = entries[..., int(np.searchsorted(keys_of(entries), np.uint64(low))) :]
            if number == end - 1 and high is not None:
                entries = entries[..., : int(np.searchsorted(keys_of(entries), np.uint64(high)))]
            size = entries.shape[-1]
            out[..., used : used + size] = entries
            used += size
        return used


Run = RamRun | DiskRun


def _decode(data: memoryview, followed: bool) -> Entries:
    """The entries of one encoded block. Raises OSError if the scratch file was damaged."""
    body = data[:-_CRC_BYTES]
    if crc32c(body) != int.from_bytes(data[-_CRC_BYTES:], "little"):
        raise OSError("a block of the scratch file came back with a wrong checksum: the disk is faulty")
    words = decompressed(body).view(np.uint64)
    if not followed:
        return np.cumsum(words, dtype=np.uint64)
    entries = words.reshape(2, -1)
    np.cumsum(entries[0], out=entries[0])
    return entries


def _encode(entries: Entries) -> bytes:
    """One block: differences and numbers, compressed, checksum. Runs in worker threads."""
    keys, differences = keys_of(entries), np.array(entries, order="C")
    np.subtract(keys[1:], keys[:-1], out=keys_of(differences)[1:])
    data = compress(differences, _LEVEL)
    return b"".join((data, crc32c(data).to_bytes(_CRC_BYTES, "little")))


class RunWriter:
    """Appends one sorted run to `file`; nothing else may append to it meanwhile."""

    def __init__(self, file: ScratchFile, block_keys: int) -> None:
        self._file, self._block_keys, self._followed = file, block_keys, False
        self._firsts = array("Q")
        self._offsets = array("q", [file.size])
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._n_keys = 0

    def add(self, entries: Entries) -> None:
        """Append entries with sorted distinct keys, all above the earlier ones. May be empty."""
        size, self._followed = entries.shape[-1], entries.ndim > 1
        for start in range(0, size, self._block_keys):
            part = entries[..., start : start + self._block_keys]
            data = _encode(part)
            self._firsts.append(int(keys_of(part)[0]))
            self._offsets.append(self._offsets[-1] + len(data))
            self._waiting.append(data)
            self._waiting_bytes += len(data)
            if self._waiting_bytes >= _WRITE_BYTES:
                self._flush()
        self._n_keys += size

    def _flush(self) -> None:
        if self._waiting:
            self._file.append(b"".join(self._waiting))
            self._waiting, self._waiting_bytes = [], 0

    def close(self) -> DiskRun:
        """Write the rest; returns the run."""
        self._flush()
        return DiskRun(
            self._file, np.array(self._firsts, np.uint64), np.array(self._offsets, np.int64),
            self._block_keys, self._n_keys, self._followed,
        )


_WORDS = 1 << 14


class Presence:
    """A set of ids in [0, n_ids). Parts of the bitmap without ids are untouched memory."""

    def __init__(self, n_ids: int) -> None:
        self.n_ids = n_ids
        self.words = np.zeros(n_ids // 64 + 1, np.uint64)
        self.n_used = 0  # words up to the last one that is not 0; later ones are never read
        self._lock = Lock()

    def add_sources(self, keys: Keys, shift: int) -> None:
        """Add key >> shift of sorted keys. Thread-safe."""
        for start in range(0, len(keys), _BLOCK):
            ids = keys[start : start + _BLOCK] >> np.uint64(shift)
            fresh = np.flatnonzero(ids[1:] != ids[:-1])
            self.add(np.concatenate([ids[:1], ids[fresh + 1]]))

    def add(self, ids: Keys) -> None:
        """Add increasing uint64 ids, all below n_ids."""
        if not len(ids):
            return
        words = (ids >> 6).astype(np.int64)
        bits = np.uint64(1) << (ids & 63)
        starts = np.flatnonzero(np.diff(words, prepend=-1))
        together = np.bitwise_or.reduceat(bits, starts)
        with self._lock:
            self.words[words[starts]] |= together
            self.n_used = max(self.n_used, int(words[-1]) + 1)

    def state(self) -> State:
        """The set as a state: its size, and the words up to the last one that is not 0 (not copied)."""
        return {"n_ids": self.n_ids, "words": self.words[: self.n_used]}

    @classmethod
    def restored(cls, state: State) -> Presence:
        made = cls(state["n_ids"])
        made.n_used = len(state["words"])
        made.words[: made.n_used] = state["words"]
        return made

    def ids(self) -> Iterator[Keys]:
        """All ids in increasing order, uint64, some hundred thousand at a time, never an empty piece."""
        for start in range(0, self.n_used, _WORDS):
            part = self.words[start : min(start + _WORDS, self.n_used)]
            if part.any():
                bits = np.unpackbits(part.view(np.uint8), bitorder="little")
                yield (np.flatnonzero(bits) + 64 * start).astype(np.uint64)


class Ranks:
    """A finished set with running counts.

    n : number of ids in the set. first, last : the smallest and largest (0 and -1 of an empty set). contiguous :
    whether the ids are exactly first..last, so that no table is needed.
    """

    def __init__(self, presence: Presence) -> None:
        n_words = presence.n_used
        self._words = presence.words[:n_words]
        # Fewer than 2^32 ids fit the bitmap, so the count before a word fits 32 bits.
        self._before = np.empty(n_words, np.uint32)
        self.n, self.first, self.last = 0, 0, -1
        for start in range(0, n_words, _BLOCK):
            self._count(start, self._words[start : start + _BLOCK])
        if n_words:
            self.last = (n_words - 1) * 64 + int(self._words[-1]).bit_length() - 1
        self.contiguous = self.n == self.last - self.first + 1

    def _count(self, start: int, part: Keys) -> None:
        """Add the running counts of the words from `start`."""
        counts = np.bitwise_count(part).astype(np.uint64)
        if not self.n and counts.any():
            word = int(np.flatnonzero(counts)[0])
            bits = int(part[word])
            self.first = (start + word) * 64 + (bits & -bits).bit_length() - 1
        reached = np.cumsum(counts) + np.uint64(self.n)
        self._before[start : start + len(part)] = reached - counts
        self.n = int(reached[-1])

    def rank(self, ids: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.uint32]:
        """The rank of every id, which must be in the set: the number of smaller ids in the set, uint32[k]."""
        out = np.empty(len(ids), np.uint32)
        for start in range(0, len(ids), _BLOCK):
            part = ids[start : start + _BLOCK].astype(np.uint64)
            words = (part >> 6).astype(np.int64)
            below = self._words[words] & ((np.uint64(1) << (part & 63)) - np.uint64(1))
            np.add(self._before[words], np.bitwise_count(below), out=out[start : start + len(part)])
        return out
