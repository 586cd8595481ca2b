"""Chunk codecs: what goes in comes out, zarr reads the same bytes, and no damage passes."""

from __future__ import annotations

import numpy as np
import pytest
from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.errors import InputError, StoreError
from emdiam.store.codec import CRC_BYTES, ChunkCodec
from emdiam.store.layout import CODECS

DTYPES = ["uint8", "uint32", "int64", "uint64"]
CHUNK = 64


def chunk_of(dtype: str, seed: int = 1) -> np.ndarray:
    limits = np.iinfo(dtype)
    values = np.random.default_rng(seed).integers(limits.min, limits.max, CHUNK, dtype, endpoint=True)
    values[:2] = limits.min, limits.max
    return values


def checked(body: bytes) -> memoryview:
    """`body` with the checksum that belongs to it."""
    return memoryview(body + crc32c(body).to_bytes(CRC_BYTES, "little"))


def decoded(codec: ChunkCodec, data: bytes | memoryview, items: int = CHUNK) -> np.ndarray:
    out = np.full(items, 77, codec.dtype)
    codec.decode(memoryview(data), out)
    return out


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip(name: str, dtype: str):
    codec = ChunkCodec(name, np.dtype(dtype))
    for values in (chunk_of(dtype), np.zeros(CHUNK, dtype), np.arange(CHUNK, dtype=dtype)):
        np.testing.assert_array_equal(decoded(codec, codec.encode(values)), values)


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(CODECS), values=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=200))
def test_round_trip_of_anything(name: str, values: list[int]):
    codec = ChunkCodec(name, np.dtype(np.uint32))
    chunk = np.array(values, np.uint32)
    np.testing.assert_array_equal(decoded(codec, codec.encode(chunk), len(chunk)), chunk)


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(CODECS), dtype=st.sampled_from(DTYPES), place=st.floats(0, 1, exclude_max=True),
       bit=st.integers(0, 7))
def test_a_flipped_bit_is_noticed(name: str, dtype: str, place: float, bit: int):
    codec = ChunkCodec(name, np.dtype(dtype))
    data = bytearray(codec.encode(chunk_of(dtype)))
    data[int(place * len(data))] ^= 1 << bit
    with pytest.raises(StoreError, match="checksum mismatch"):
        decoded(codec, data)


@pytest.mark.parametrize("name", CODECS)
def test_every_truncation_is_noticed(name: str):
    codec = ChunkCodec(name, np.dtype(np.uint32))
    data = codec.encode(np.arange(CHUNK, dtype=np.uint32))
    for size in range(len(data)):
        with pytest.raises(StoreError):
            decoded(codec, data[:size])


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("items", [CHUNK // 2, CHUNK - 1, CHUNK + 1, 2 * CHUNK])
def test_a_whole_chunk_of_another_length_is_refused(name: str, items: int):
    """Its checksum holds; a decoder that fills what it can would leave the rest as it was."""
    codec = ChunkCodec(name, np.dtype(np.uint32))
    with pytest.raises(StoreError, match="wrong length"):
        decoded(codec, codec.encode(np.arange(items, dtype=np.uint32)))


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("body", [b"x", b"nonsense" * 3, b"\0" * 40])
def test_nonsense_with_a_good_checksum_is_refused(name: str, body: bytes):
    with pytest.raises((StoreError, RuntimeError)):
        decoded(ChunkCodec(name, np.dtype(np.uint32)), checked(body))


def test_an_unknown_codec_is_refused():
    with pytest.raises(InputError, match="lz4, pcodec or none"):
        ChunkCodec("zip", np.dtype(np.uint32))


def test_bytes_stay_plain_under_pcodec():
    values = np.arange(CHUNK, dtype=np.uint8)
    plain, under = (ChunkCodec(name, np.dtype(np.uint8)) for name in ("none", "pcodec"))
    assert plain.encode(values) == under.encode(values)
