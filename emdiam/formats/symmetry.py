"""A check in one pass, with 48 bytes of state, whether each edge is listed in both directions.

Each pair {u, v}, u < v, has a 128-bit hash. Listings u -> v add it, listings v -> u subtract it; loops are ignored. If
each pair is listed equally often in both directions the sums are zero; otherwise they are zero with probability 2^-128
for pairs that are independent of the hash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..hashing import draw, mix64
from ..jit import kernel
from .base import FileSource
from .source import EdgeBatch

_SEARCH_BATCH_BYTES = 1 << 20
_BUCKET_BITS = 16
_REMEDY = "list every edge at both its ends, or convert an edge list instead"
_SECOND_KEY = np.uint64(0xD1B54A32D192ED03)


@kernel
def _pair_hash(low, high):
    return draw(low, mix64(high) - np.uint64(1))


@kernel
def _add_pairs(src, dst, sums):
    """Add pairs to `sums`, uint64[4] = two hash sums, number of listings u -> v with u < v, and with u > v."""
    first, second, up, down = sums[0], sums[1], np.uint64(0), np.uint64(0)
    for i in range(src.shape[0]):
        a, b = np.uint64(src[i]), np.uint64(dst[i])
        if a < b:
            h = _pair_hash(a, b)
            first += h
            second += mix64(h ^ _SECOND_KEY)
            up += np.uint64(1)
        elif b < a:
            h = _pair_hash(b, a)
            first -= h
            second -= mix64(h ^ _SECOND_KEY)
            down += np.uint64(1)
    sums[0], sums[1] = first, second
    sums[2] += up
    sums[3] += down


@kernel
def _hash_pairs(src, dst, out):
    for i in range(src.shape[0]):
        a, b = np.uint64(src[i]), np.uint64(dst[i])
        out[i] = _pair_hash(min(a, b), max(a, b))


class Balance:
    """Running comparison of the two directions of a stream of pairs."""

    def __init__(self) -> None:
        self._sums = np.zeros(4, np.uint64)

    def add(self, src: Any, dst: Any) -> None:
        """Add int64/uint64[k] pairs."""
        _add_pairs(src, dst, self._sums)

    @property
    def symmetric(self) -> bool:
        """Whether each pair so far was listed equally often in both directions."""
        return bool(self._sums[2] == self._sums[3] and not self._sums[:2].any())


def find_one_way(batches: Callable[[], Iterable[EdgeBatch]]) -> tuple[int, int] | None:
    """A pair (u, v) listed more often than (v, u), or None. Two passes; memory: 1 MiB plus one bucket.

    The first pass keeps signed counts of the hashes in 2^16 buckets; the second collects the pairs of the first nonzero
    bucket.
    """
    sums = np.zeros(1 << _BUCKET_BITS, np.uint64)
    for src, dst, hashes in _hashed(batches()):
        signed = np.where(src < dst, hashes, np.uint64(0) - hashes)
        np.add.at(sums, hashes >> np.uint64(64 - _BUCKET_BITS), signed)
    buckets = np.flatnonzero(sums)
    if not len(buckets):
        return None
    wanted = np.uint64(buckets[0])
    listed: Counter[tuple[int, int]] = Counter()
    for src, dst, hashes in _hashed(batches()):
        here = hashes >> np.uint64(64 - _BUCKET_BITS) == wanted
        listed.update(zip(src[here].tolist(), dst[here].tolist(), strict=True))
    return next((pair for pair, times in listed.items() if times > listed[pair[::-1]]), None)


def _hashed(batches: Iterable[EdgeBatch]) -> Iterator[tuple[Any, Any, Any]]:
    """(src, dst, uint64 hash) of the pairs without loops."""
    for batch in batches:
        proper = batch.src != batch.dst
        src, dst = batch.src[proper], batch.dst[proper]
        hashes = np.empty(len(src), np.uint64)
        _hash_pairs(src, dst, hashes)
        yield src, dst, hashes


def checked_symmetric(source: FileSource, read: Callable[[int], Iterator[EdgeBatch]], batch_bytes: int,
                      remedy: str = _REMEDY) -> Iterator[EdgeBatch]:
    """The batches of `read(batch_bytes)`. Raises InputError at the end if an edge is listed in one direction only; a
    file is then read twice more to find such an edge."""
    balance = Balance()
    for batch in read(batch_bytes):
        balance.add(batch.src, batch.dst)
        yield batch
    if balance.symmetric:
        return
    pair = find_one_way(lambda: read(_SEARCH_BATCH_BYTES)) if source.rewindable else None
    example = f": vertex {pair[0]} lists {pair[1]} but not the other way round" if pair else ""
    raise source.error(f"the graph is not symmetric{example}",
                       remedy=remedy)
