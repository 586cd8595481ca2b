"""What is made of pairs by ranges equals what is made of all at once, in memory and through a scratch file."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from emdiam.external.buckets import Buckets, Fold, Ranges, bitmap, smallest, united, widest
from emdiam.external.columns import WordFile
from emdiam.sorting.scratch import Scratch

N = 1000
# (keys in a range, bytes of the buffer): one range, in memory, and through a file.
WAYS = [(1024, 100), (128, 1 << 16), (128, 800), (64, 100)]


def through(scratch: Scratch, way: tuple[int, int], taker: Any, pairs: list[tuple[int, int]], value: Any) -> Buckets:
    """The pairs through buckets, in pieces."""
    buckets = Buckets(scratch, Ranges(N, way[0]), taker, np.uint32, value, buffer_bytes=way[1])
    for start in range(0, len(pairs), 37):
        some = pairs[start : start + 37]
        keys = np.array([key for key, _ in some], np.int64)
        buckets.add(keys, None if value is None else np.array([v for _, v in some], np.uint64))
    buckets.finish()
    return buckets


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n_pairs", [0, 1, 700])
def test_the_least_value_and_the_bits(scratch: Scratch, way: tuple[int, int], n_pairs: int) -> None:
    rng = random.Random(n_pairs)
    pairs = [(rng.randrange(N), rng.randrange(1 << 20)) for _ in range(n_pairs)]
    least, bits, masks = np.full(N, 99, np.uint32), np.zeros(N, bool), np.zeros(N, np.uint64)

    def put(first: int, values: np.ndarray) -> None:
        least[first : first + len(values)] = values

    def put_bits(first: int, words: np.ndarray) -> None:
        found = np.unpackbits(words.view(np.uint8), bitorder="little")[: N - first].astype(bool)
        bits[first : first + len(found)] = found

    def put_masks(first: int, values: np.ndarray) -> None:
        masks[first : first + len(values)] = values

    through(scratch, way, smallest(put, np.uint32, 1 << 21), pairs, np.uint32)
    through(scratch, way, bitmap(put_bits), pairs, None)
    made = through(scratch, way, united(put_masks), pairs, np.uint64)
    assert made.total == n_pairs
    for key in range(N):
        values = [v for k, v in pairs if k == key]
        assert bits[key] == bool(values) and masks[key] == np.bitwise_or.reduce(np.array(values, np.uint64))
        if values or any(k // way[0] == key // way[0] for k, _ in pairs):
            assert least[key] == min(values, default=1 << 21)
        else:
            assert least[key] == 99, "a range without a pair is left out"


def test_every_pair_is_written_and_read_once(scratch: Scratch) -> None:
    pairs = [(key % N, key) for key in range(5000)]
    through(scratch, (64, 800), smallest(lambda first, values: None, np.uint32, 0), pairs, np.uint32)
    assert scratch.bytes_written == scratch.bytes_read == 5000 * 8
    through(scratch, (1024, 800), smallest(lambda first, values: None, np.uint32, 0), pairs, np.uint32)
    assert scratch.bytes_written == 5000 * 8, "where all keys are in one range, nothing is written"


@pytest.mark.parametrize("way", WAYS)
def test_looking_up(scratch: Scratch, way: tuple[int, int]) -> None:
    column = WordFile(scratch, N, np.uint32, page=64)
    column[0:N] = np.arange(N, dtype=np.uint32)[::-1].copy()
    pairs = [(key * 7 % N, key) for key in range(300)]
    found: list[tuple[int, int]] = []
    through(scratch, way, Fold(lambda first, stop: column[first:stop], lambda part, first, keys, values: found.extend(
        zip(values.tolist(), part[keys.astype(np.int64) - first].tolist(), strict=True))), pairs, np.uint32)
    assert sorted(found) == [(key, N - 1 - key * 7 % N) for key in range(300)]


def test_ranges_are_as_wide_as_there_is_room() -> None:
    assert widest(1000, 4, 1 << 20) == Ranges(1000, 1024) and widest(1000, 4, 1 << 20).count == 1
    assert widest(1000, 4, 1024).width == 256 and widest(0, 4, 1).count == 1 and widest(10**9, 8, 1).width == 64
    assert Ranges(1000, 256).bounds(3) == (768, 1000)
