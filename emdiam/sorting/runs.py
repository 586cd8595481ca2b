"""Sorted runs of uint64 keys, in RAM or compressed in a scratch file.

A run on disk is a sequence of blocks of at most `block_keys` keys; a block holds the differences of neighbouring keys
through blosc (lz4, byte shuffle) and ends in its crc32c. Sorted keys of a graph take 2 to 3 bytes so, and page-cache
writes cost more time than the compression. The first key and the offset of every block stay in RAM (16 bytes a block):
a slice of a run is found without reading.
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

INDEX_BYTES = 16
_CRC_BYTES = 4
_LEVEL = 5
_WRITE_BYTES = 1 << 20
_READ_BYTES = 4 << 20


def unique_in_place(keys: Keys, block: int = 1 << 15) -> int:
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


def mix64(values: Keys) -> Keys:
    """A bijection of uint64 (the finaliser of splitmix64) that changes about half of the bits for any change."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@dataclass(frozen=True)
class RamRun:
    """A sorted run of distinct keys in RAM. keys : uint64[n_keys]; block_keys : sampling distance."""

    keys: Keys
    block_keys: int

    @property
    def n_keys(self) -> int:
        return len(self.keys)

    @property
    def firsts(self) -> Keys:
        """First key of every block."""
        return self.keys[:: self.block_keys]

    def read(self, low: int, high: int | None, out: Keys) -> int:
        """Copy the keys in [low, high) (no upper end: None) to the front of `out`; their number."""
        start = int(np.searchsorted(self.keys, np.uint64(low)))
        end = self.n_keys if high is None else int(np.searchsorted(self.keys, np.uint64(high)))
        out[: end - start] = self.keys[start:end]
        return end - start


@dataclass(frozen=True)
class DiskRun:
    """A sorted run of distinct keys in a scratch file.

    firsts : uint64[n_blocks]; offsets : int64[n_blocks + 1], bytes.
    """

    file: ScratchFile
    firsts: Keys
    offsets: npt.NDArray[np.int64]
    block_keys: int
    n_keys: int

    def blocks(self, start: int, end: int) -> Iterator[Keys]:
        """Decoded blocks number `start` to `end` - 1, a few MiB read at a time."""
        while start < end:
            reach = int(np.searchsorted(self.offsets, self.offsets[start] + _READ_BYTES, side="right")) - 1
            stop = min(end, max(start + 1, reach))
            base = int(self.offsets[start])
            data = self.file.read(base, int(self.offsets[stop]) - base).data
            for block in range(start, stop):
                yield _decode(data[int(self.offsets[block]) - base : int(self.offsets[block + 1]) - base])
            start = stop

    def read(self, low: int, high: int | None, out: Keys) -> int:
        """Copy the keys in [low, high) (no upper end: None) to the front of `out`; their number."""
        first = max(0, int(np.searchsorted(self.firsts, np.uint64(low), side="right")) - 1)
        end = len(self.firsts) if high is None else int(np.searchsorted(self.firsts, np.uint64(high)))
        used = 0
        for number, keys in enumerate(self.blocks(first, end), first):
            if number == first:
                keys = keys[int(np.searchsorted(keys, np.uint64(low))) :]
            if number == end - 1 and high is not None:
                keys = keys[: int(np.searchsorted(keys, np.uint64(high)))]
            out[used : used + len(keys)] = keys
            used += len(keys)
        return used


Run = RamRun | DiskRun


def _decode(data: memoryview) -> Keys:
    """The keys of one encoded block. Raises OSError if the scratch file was damaged."""
    body = data[:-_CRC_BYTES]
    if crc32c(body) != int.from_bytes(data[-_CRC_BYTES:], "little"):
        raise OSError("a block of the scratch file came back with a wrong checksum: the disk is faulty")
    return np.cumsum(np.frombuffer(blosc.decompress(body), np.uint64), dtype=np.uint64)


def _encode(keys: Keys) -> bytes:
    """One block: differences, compressed, checksum. Runs in worker threads (blosc is in context mode there)."""
    differences = np.empty_like(keys)
    differences[0] = keys[0]
    np.subtract(keys[1:], keys[:-1], out=differences[1:])
    data: bytes = blosc.compress(differences, b"lz4", _LEVEL, blosc.SHUFFLE)
    return data + crc32c(data).to_bytes(_CRC_BYTES, "little")


class RunWriter:
    """Appends one sorted run to `file`, which nothing else may append to meanwhile."""

    def __init__(self, file: ScratchFile, block_keys: int) -> None:
        self._file, self._block_keys = file, block_keys
        self._firsts = array("Q")
        self._offsets = array("q", [file.size])
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._n_keys = 0

    def add(self, keys: Keys) -> None:
        """Append sorted distinct keys, all above those before. Empty is allowed."""
        for start in range(0, len(keys), self._block_keys):
            part = keys[start : start + self._block_keys]
            data = _encode(part)
            self._firsts.append(int(part[0]))
            self._offsets.append(self._offsets[-1] + len(data))
            self._waiting.append(data)
            self._waiting_bytes += len(data)
            if self._waiting_bytes >= _WRITE_BYTES:
                self._flush()
        self._n_keys += len(keys)

    def _flush(self) -> None:
        if self._waiting:
            self._file.append(b"".join(self._waiting))
            self._waiting, self._waiting_bytes = [], 0

    def close(self) -> DiskRun:
        """Write what is left; returns the run."""
        self._flush()
        return DiskRun(
            self._file, np.array(self._firsts, np.uint64), np.array(self._offsets, np.int64),
            self._block_keys, self._n_keys,
        )
