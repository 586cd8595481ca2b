"""Decoding a run at once gives what decoding one by one gives, and notices the same damage."""

from __future__ import annotations

import numpy as np
import pytest
from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.store import native_blosc
from emdiam.store.codec import ChunkCodec

CODEC = ChunkCodec("lz4", np.dtype(np.uint32))


def chunks(count: int, seed: int = 0, items: int = 1024) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [np.sort(rng.integers(0, 1 << (8 + 5 * (i % 4)), items)).astype(np.uint32) for i in range(count)]


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=100))
def test_checksum(data: bytes) -> None:
    buffer = np.frombuffer(data + b"x", np.uint8)
    assert native_blosc.checksum_at(buffer.ctypes.data, len(data)) == crc32c(data)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_run_comes_back(count: int) -> None:
    want = chunks(count)
    rows = np.zeros((count, 1024), np.uint32)
    pieces = [memoryview(CODEC.encode(chunk)) for chunk in want]
    assert native_blosc.decode_run(pieces, list(rows)) == (native_blosc.decoder_address() is not None)
    if native_blosc.decoder_address() is not None:
        assert rows.tolist() == [chunk.tolist() for chunk in want]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2), st.integers(0, 10**6), st.integers(0, 7))
def test_a_flipped_bit_is_noticed(which: int, place: int, bit: int) -> None:
    pieces = [bytearray(CODEC.encode(chunk)) for chunk in chunks(3)]
    pieces[which][place % len(pieces[which])] ^= 1 << bit
    rows = np.zeros((3, 1024), np.uint32)
    assert not native_blosc.decode_run([memoryview(p) for p in pieces], list(rows))


def test_other_lengths_are_refused() -> None:
    pieces = [memoryview(CODEC.encode(chunk)) for chunk in chunks(2, items=512)]
    assert not native_blosc.decode_run(pieces, list(np.zeros((2, 1024), np.uint32)))
    assert not native_blosc.decode_run([memoryview(b"short")], [np.zeros(1024, np.uint32)])


def test_without_a_decoder_chunks_go_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_blosc, "decoder_address", lambda: None)
    pieces = [memoryview(CODEC.encode(chunk)) for chunk in chunks(2)]
    assert not CODEC.decode_run(pieces, list(np.zeros((2, 1024), np.uint32)))
