"""Sorted runs of entries, in RAM or compressed in a scratch file.

A run on disk is a sequence of blocks of at most `block_keys` keys; a block holds the differences of neighbouring keys
through blosc (lz4, byte shuffle), behind them the numbers that follow, and ends in its crc32c. Sorted keys of a graph
take 2 to 3 bytes so, and page-cache writes cost more time than the compression. The first key and the offset of every
block stay in RAM (16 bytes a block): a slice of a run is found without reading.

Entries: keys, and what follows each of them through a sort.

An array of entries is uint64[k], keys alone, or uint64[2, k], keys and a number for each. Bit 0 of a key that a number
follows is not the caller's: it is the mark of a key that came with several numbers, of which it has the least.
Whatever is sorted, merged or kept on disk is either the one or the other, and the functions here are what differs.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from crc32c import crc32c
from numcodecs import blosc

from .scratch import ScratchFile

Keys = npt.NDArray[np.uint64]
Entries = npt.NDArray[np.uint64]

MARK_BITS = 1
_BLOCK = 1 << 15


def room_for(n: int, followed: bool) -> Entries:
    """An empty array of n entries; followed : by numbers."""
    return np.empty((2, n) if followed else n, np.uint64)


def keys_of(entries: Entries) -> Keys:
    """Their keys, with marks if numbers follow; a view."""
    return entries if entries.ndim == 1 else entries[0]


def sort_entries(entries: Entries) -> None:
    """Sort them by key, in their place; with numbers that takes 16 bytes an entry more."""
    if entries.ndim == 1:
        entries.sort()
        return
    order = np.argsort(entries[0])
    for row in entries:
        row[:] = row[order]


def distinct_in_place(entries: Entries, block: int = _BLOCK) -> int:
    """Move the entries of distinct keys to the front of sorted ones; returns their number.

    `block` entries are handled at a time, so that they stay in cache.
    """
    return unique_in_place(entries, block) if entries.ndim == 1 else _least_in_place(entries, block)


def unique_in_place(keys: Keys, block: int = _BLOCK) -> int:
    """Move the distinct keys of a sorted array to its front; returns their number.

    keys : uint64[k], sorted. `block` keys are handled at a time, so that they stay in cache.
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
    """The same of keys that numbers follow: the least number of each key, marked where there were others."""
    kept = 0
    for start in range(0, entries.shape[1], block):
        joined = least_of(entries[:, start : start + block])
        if kept and (entries[0, kept - 1] ^ joined[0, 0]) >> np.uint64(MARK_BITS) == 0:
            # The last key of the block before goes on in this one.
            joined[:, :1] = least_of(np.concatenate([entries[:, kept - 1 : kept], joined[:, :1]], axis=1))
            kept -= 1
        entries[:, kept : kept + joined.shape[1]] = joined
        kept += joined.shape[1]
    return kept


def least_of(entries: Entries) -> Entries:
    """The entries of distinct keys of sorted ones that numbers follow, uint64[2, k], as a copy."""
    keys, numbers = entries
    starts = starts_of_equal(keys >> np.uint64(MARK_BITS))
    if len(starts) == len(keys):
        return entries.copy()
    least, largest = np.minimum.reduceat(numbers, starts), np.maximum.reduceat(numbers, starts)
    marked = np.bitwise_or.reduceat(keys, starts) | (least != largest)
    return np.stack([marked, least])


def starts_of_equal(values: Keys) -> npt.NDArray[np.int64]:
    """Where equal neighbours begin, int64[r], 0 included, of at least one value."""
    return np.concatenate([np.zeros(1, np.int64), np.flatnonzero(values[1:] != values[:-1]) + 1])


INDEX_BYTES = 16
_CRC_BYTES = 4
_LEVEL = 5
_WRITE_BYTES = 1 << 20
_READ_BYTES = 4 << 20


def mix64(values: Keys) -> Keys:
    """A bijection of uint64 (the finaliser of splitmix64) that changes about half of the bits for any change."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@dataclass(frozen=True)
class RamRun:
    """A sorted run of distinct keys in RAM. entries : of n_keys; block_keys : sampling distance."""

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

    def read(self, low: int, high: int | None, out: Entries) -> int:
        """Copy the entries of keys in [low, high) (no upper end: None) to the front of `out`; their number."""
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
        """Decoded blocks number `start` to `end` - 1, a few MiB read at a time."""
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
        """Copy the entries of keys in [low, high) (no upper end: None) to the front of `out`; their number."""
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
    words = np.frombuffer(blosc.decompress(body), np.uint64)
    if not followed:
        return np.cumsum(words, dtype=np.uint64)
    entries = words.reshape(2, -1).copy()
    np.cumsum(entries[0], out=entries[0])
    return entries


def _encode(entries: Entries) -> bytes:
    """One block: differences and numbers, compressed, checksum. Runs in worker threads (blosc is in context mode
    there)."""
    keys, differences = keys_of(entries), np.array(entries, order="C")
    np.subtract(keys[1:], keys[:-1], out=keys_of(differences)[1:])
    data: bytes = blosc.compress(differences, b"lz4", _LEVEL, blosc.SHUFFLE)
    return data + crc32c(data).to_bytes(_CRC_BYTES, "little")


class RunWriter:
    """Appends one sorted run to `file`, which nothing else may append to meanwhile."""

    def __init__(self, file: ScratchFile, block_keys: int) -> None:
        self._file, self._block_keys, self._followed = file, block_keys, False
        self._firsts = array("Q")
        self._offsets = array("q", [file.size])
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._n_keys = 0

    def add(self, entries: Entries) -> None:
        """Append entries with sorted distinct keys, all above those before. Empty is allowed."""
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
        """Write what is left; returns the run."""
        self._flush()
        return DiskRun(
            self._file, np.array(self._firsts, np.uint64), np.array(self._offsets, np.int64),
            self._block_keys, self._n_keys, self._followed,
        )
