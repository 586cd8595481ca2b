"""Sorted runs of entries (entries.py), in RAM or compressed in a scratch file.

A run on disk is a sequence of blocks of at most `block_keys` keys; a block holds the differences of neighbouring keys
through blosc (lz4, byte shuffle), behind them the numbers that follow, and ends in its crc32c. Sorted keys of a graph
take 2 to 3 bytes so, and page-cache writes cost more time than the compression. The first key and the offset of every
block stay in RAM (16 bytes a block): a slice of a run is found without reading.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from crc32c import crc32c
from numcodecs import blosc

from .entries import Entries, Keys, keys_of
from .scratch import ScratchFile

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
