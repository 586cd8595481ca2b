"""Choice of vertices by their natural rank, so that it does not depend on the order of the store.

All functions process the vertices in pieces: a few MiB beside their results.
Random choices have a key for every purpose and seed, so that no two of them share a stream.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np

from ...engine.interface import Engine
from ...hashing import draw
from ...traverse.columns import Column
from ...traverse.components import Component


def stream_key(seed: int, purpose: str) -> int:
    """A 64-bit key of a stream of hashes."""
    text = f"emdiam/{purpose}/{seed}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


_PIECE = 1 << 17
# The compiled hash takes one number; its Python source also takes arrays.
_draws = getattr(draw, "py_func", draw)


def members(column: Column, value: int) -> Iterator[np.ndarray]:
    """The vertices with exactly this value, ascending, in pieces (int64)."""
    for start in range(0, len(column), _PIECE):
        result = np.flatnonzero(column.part(start, start + _PIECE) == value)
        if len(result):
            yield result + start


def first_by_rank(engine: Engine, pieces: Iterable[np.ndarray], most: int = 1, after: int = -1) -> np.ndarray:
    """The `most` vertices of smallest rank above `after` among those in `pieces` (int64 each), by rank, int64[k]."""
    best, ranks = np.empty(0, np.int64), np.empty(0, np.int64)
    for ids in pieces:
        keys = engine.ranks(ids)
        wanted = keys > after
        if len(ranks) == most:
            wanted &= keys < ranks[-1]
        if wanted.any():
            best, ranks = np.concatenate((best, ids[wanted])), np.concatenate((ranks, keys[wanted]))
            order = np.argsort(ranks)[:most]
            best, ranks = best[order], ranks[order]
    return best


def hub_of(engine: Engine, labels: np.ndarray, component: Component) -> int:
    """The vertex of the largest degree in the component, ties by rank. labels : of components, id[n]."""
    degree = engine.degrees(np.array([component.hub]))[0]

    def alike() -> Iterator[np.ndarray]:
        for start in range(component.first, component.last + 1, _PIECE):
            stop = min(start + _PIECE, component.last + 1)
            ids = np.flatnonzero(labels[start:stop] == component.root) + start
            yield ids[engine.degrees(ids) == degree]

    return int(first_by_rank(engine, alike())[0])


def drawn(engine: Engine, reached: Column, key: int, most: int) -> np.ndarray:
    """At most `most` of the vertices reached in a column, drawn at random, int64[k].

    They are the vertices of smallest hash of (key, rank), in that order: with a smaller `most` the result is a prefix
    of it. They depend only on `key` (below 2^64) and on ranks.
    """
    best, hashes = np.empty(0, np.int64), np.empty(0, np.uint64)
    if most < 1:
        return best
    for start in range(0, len(reached), _PIECE):
        ids = np.flatnonzero(reached.part(start, start + _PIECE) != reached.unreached) + start
        result = _draws(np.uint64(key), engine.ranks(ids).astype(np.uint64))
        if len(hashes) == most:
            ids, result = ids[result < hashes[-1]], result[result < hashes[-1]]
        best, hashes = np.concatenate((best, ids)), np.concatenate((hashes, result))
        order = np.argsort(hashes, kind="stable")[:most]
        best, hashes = best[order], hashes[order]
    return best
