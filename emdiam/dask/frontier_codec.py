"""Encodes sets of vertices as messages: a bitmap of their range or delta-coded ids, whichever is smaller.

The first byte names the form. Deltas of ascending ids are written in groups of 7 bits, lowest first: a set with at
least one in 127 vertices takes a byte an id, and no id takes more than 5 bytes below 2^35 vertices. An empty set is an
empty message.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..traverse.workspace import list_bits, set_bits

_DELTAS, _BITMAP = 1, 2
_LONGEST = 9  # bytes of a delta


def encode_ids(ids: np.ndarray, first: int, stop: int) -> np.ndarray:
    """uint8[k] for distinct ascending ids, int64, in first..stop-1 (first a multiple of 64)."""
    if len(ids) == 0:
        return np.empty(0, np.uint8)
    n_words = -(-(stop - first) // 64)
    out = np.empty(1 + min(_LONGEST * len(ids), 8 * n_words - 1), np.uint8)
    end = write_deltas(ids, first, out)
    if end:
        out[0] = _DELTAS
        return out[:end].copy()
    words = np.zeros(n_words, np.uint64)
    set_bits(words, ids - first, len(ids))
    return _bitmap(words)


def encode_words(words: np.ndarray, first: int) -> np.ndarray:
    """uint8[k] for the set bits of `words`, uint64[w], which stand for first.. (a multiple of 64)."""
    if int(np.bitwise_count(words).sum()) >= words.nbytes > 0:
        return _bitmap(words)
    return encode_ids(list_words(words, first), first, first + 64 * len(words))


def decode_ids(message: np.ndarray, first: int) -> np.ndarray:
    """The ids of a message, int64[k], ascending."""
    if len(message) == 0:
        return np.empty(0, np.int64)
    if message[0] == _BITMAP:
        return list_words(message[1:].copy().view(np.uint64), first)
    out = np.empty(int(np.count_nonzero(message[1:] < 128)), np.int64)
    read_deltas(message, first, out)
    return out


def add_to_words(message: np.ndarray, words: np.ndarray) -> None:
    """Set the bits of a message in `words`, uint64[w], which stand for the range it is of."""
    if len(message) and message[0] == _BITMAP:
        words |= message[1:].copy().view(np.uint64)
    elif len(message):
        ids = decode_ids(message, 0)
        set_bits(words, ids, len(ids))


def list_words(words: np.ndarray, first: int) -> np.ndarray:
    """The vertices of the set bits of `words`, which stand for first.., int64[k] ascending."""
    ids = np.empty(int(np.bitwise_count(words).sum()), np.int64)
    list_bits(words, ids)
    ids += first
    return ids


def _bitmap(words: np.ndarray) -> np.ndarray:
    return np.concatenate((np.array([_BITMAP], np.uint8), words.view(np.uint8)))


@kernel
def write_deltas(ids, first, out):
    """Write the deltas of `ids` to out[1:]; return their end, or 0 if they do not fit."""
    at = 1
    last = first
    for i in range(len(ids)):
        delta = ids[i] - last
        last = ids[i]
        while at < len(out) and delta >= 128:
            out[at] = np.uint8(delta & 127 | 128)
            delta >>= 7
            at += 1
        if at == len(out):
            return 0
        out[at] = np.uint8(delta)
        at += 1
    return at


@kernel
def read_deltas(message, first, out):
    """The ids of a message of deltas, int64[k] for k bytes below 128."""
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
