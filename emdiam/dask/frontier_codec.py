"""Sets of vertices as messages: a bitmap of their range or delta-coded ids, whichever is smaller.

The first byte says which. Deltas of ascending ids are written in groups of 7 bits, lowest first, so that sets of one
in 127 vertices or denser take a byte an id, and none takes more than 5 bytes below 2^35 vertices. An empty set is an
empty message.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..traverse.atomics import count_ones, count_trailing_zeros

_DELTAS, _BITMAP = 1, 2


def encode_ids(ids: np.ndarray, first: int, stop: int) -> np.ndarray:
    """uint8[k] for distinct ascending ids, int64, in first..stop-1 (first a multiple of 64)."""
    if len(ids) == 0:
        return np.empty(0, np.uint8)
    coded = int(deltas_size(ids, first))
    bitmap = -(-(stop - first) // 64) * 8
    if bitmap <= coded:
        words = np.zeros(bitmap // 8, np.uint64)
        mark(ids, first, words)
        return _tagged(_BITMAP, words.view(np.uint8))
    out = np.empty(coded + 1, np.uint8)
    out[0] = _DELTAS
    write_deltas(ids, first, out)
    return out


def encode_words(words: np.ndarray, first: int) -> np.ndarray:
    """uint8[k] for the set bits of `words`, uint64[w], which stand for first.. (a multiple of 64)."""
    count, coded = words_size(words)
    if count == 0:
        return np.empty(0, np.uint8)
    if words.nbytes <= coded:
        return _tagged(_BITMAP, words.view(np.uint8))
    return encode_ids(list_words(words, first, count), first, first + 64 * len(words))


def decode_ids(message: np.ndarray, first: int) -> np.ndarray:
    """The ids of a message, int64[k], ascending."""
    if len(message) == 0:
        return np.empty(0, np.int64)
    if message[0] == _BITMAP:
        words = message[1:].copy().view(np.uint64)
        return list_words(words, first, int(np.bitwise_count(words).sum()))
    out = np.empty(int(count_deltas(message)), np.int64)
    read_deltas(message, first, out)
    return out


def add_to_words(message: np.ndarray, words: np.ndarray) -> None:
    """Set the bits of a message in `words`, uint64[w], which stand for the range it is of."""
    if len(message) and message[0] == _BITMAP:
        words |= message[1:].copy().view(np.uint64)
    elif len(message):
        mark(decode_ids(message, 0), 0, words)


def _tagged(kind: int, data: np.ndarray) -> np.ndarray:
    out = np.empty(len(data) + 1, np.uint8)
    out[0] = kind
    out[1:] = data
    return out


@kernel
def deltas_size(ids, first):  # type: ignore[no-untyped-def]
    """Bytes of the deltas of `ids`."""
    size = 0
    last = first
    for i in range(len(ids)):
        delta = ids[i] - last
        last = ids[i]
        size += 1
        while delta >= 128:
            delta >>= 7
            size += 1
    return size


@kernel
def write_deltas(ids, first, out):  # type: ignore[no-untyped-def]
    """Write the deltas of `ids` to out[1:]."""
    at = 1
    last = first
    for i in range(len(ids)):
        delta = ids[i] - last
        last = ids[i]
        while delta >= 128:
            out[at] = np.uint8(delta & 127 | 128)
            delta >>= 7
            at += 1
        out[at] = np.uint8(delta)
        at += 1


@kernel
def count_deltas(message):  # type: ignore[no-untyped-def]
    """How many ids a message of deltas holds."""
    count = 0
    for i in range(1, len(message)):
        count += message[i] < 128
    return count


@kernel
def read_deltas(message, first, out):  # type: ignore[no-untyped-def]
    """The ids of a message of deltas, int64[count_deltas]."""
    at = 0
    last = first
    delta = np.int64(0)
    shift = 0
    for i in range(1, len(message)):
        delta |= np.int64(message[i] & 127) << shift
        shift += 7
        if message[i] < 128:
            last += delta
            out[at] = last
            at += 1
            delta = np.int64(0)
            shift = 0


@kernel
def mark(ids, first, words):  # type: ignore[no-untyped-def]
    """Set the bits of `ids` in words that stand for first.. ."""
    for i in range(len(ids)):
        v = ids[i] - first
        words[v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@kernel
def words_size(words):  # type: ignore[no-untyped-def]
    """(set bits, bytes of their deltas)."""
    count = 0
    size = 0
    last = np.int64(0)
    for word in range(len(words)):
        bits = words[word]
        count += count_ones(bits)
        while bits:
            v = (word << 6) + count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            delta = v - last
            last = v
            size += 1
            while delta >= 128:
                delta >>= 7
                size += 1
    return count, size


@kernel
def list_words(words, first, count):  # type: ignore[no-untyped-def]
    """The set bits' vertices, ascending, int64[count]."""
    out = np.empty(count, np.int64)
    at = 0
    for word in range(len(words)):
        bits = words[word]
        while bits:
            out[at] = first + (word << 6) + count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            at += 1
    return out
