"""Vectorised steps of exact methods over columns, a piece of entries at a time.

A vertex is *open* in a column if it is not unreached there. All of these take time linear in the
entries looked at, `start` to `stop`, and need a few MiB beside the columns. What is written here is for
columns in RAM; where others live, their steps are registered for them (gpu/column_folds.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from .columns import Column

if TYPE_CHECKING:
    from ..engine.interface import Engine

_PIECE = 1 << 17
FOLD_BYTES = 12 * 8 * _PIECE
_DEGREE_BITS = 31
_MOST_DEGREE = (1 << _DEGREE_BITS) - 1


def _pieces(start: int, stop: int) -> Iterator[slice]:
    for begin in range(start, stop, _PIECE):
        yield slice(begin, min(begin + _PIECE, stop))


@singledispatch
def open_vertices(column: Column, start: int, stop: int) -> Iterator[np.ndarray]:
    """The open vertices, ascending, in pieces (int64)."""
    values = column.raw()
    for piece in _pieces(start, stop):
        ids = np.flatnonzero(values[piece] != column.unreached) + piece.start
        if len(ids):
            yield ids


def open_list(column: Column, start: int, stop: int) -> np.ndarray:
    """The open vertices, ascending, int64[k]."""
    return np.concatenate([np.empty(0, np.int64), *open_vertices(column, start, stop)])


@singledispatch
def open_bitmap(column: Column) -> np.ndarray:
    """The open vertices as a bitmap, uint64[ceil(n/64)]."""
    values = column.raw()
    bits = np.zeros((len(values) + 63) // 64 * 8, np.uint8)
    for piece in _pieces(0, len(values)):
        packed = np.packbits(values[piece] != column.unreached, bitorder="little")
        bits[piece.start // 8 : piece.start // 8 + len(packed)] = packed
    return bits.view(np.uint64)


@singledispatch
def open_at(column: Column, reached: Column, value: int, start: int, stop: int) -> None:
    """column[v] = value wherever `reached` is open."""
    values, other = column.raw(), reached.raw()
    for piece in _pieces(start, stop):
        values[piece][other[piece] != reached.unreached] = value


@singledispatch
def close(column: Column, start: int, stop: int) -> None:
    """No vertex is open any more."""
    column.raw()[start:stop] = column.unreached


@singledispatch
def tighten_upper(upper: Column, distances: Column, eccentricity: int, start: int, stop: int) -> None:
    """upper[v] = min(upper[v], eccentricity + d(v)) for vertices open in `upper`.

    Each of them must be open in `distances`, the distances from a vertex of that eccentricity."""
    values, away = upper.raw(), distances.raw()
    for piece in _pieces(start, stop):
        mine = values[piece].astype(np.int64)
        sums = away[piece].astype(np.int64) + eccentricity
        sums[mine == upper.unreached] = upper.unreached
        np.minimum(mine, sums, out=values[piece], casting="unsafe")


@singledispatch
def tighten_lower(lower: Column, distances: Column, eccentricity: int, start: int, stop: int) -> None:
    """lower[v] = max(lower[v], d(v), eccentricity - d(v)) wherever `distances` is open."""
    values, away = lower.raw(), distances.raw()
    for piece in _pieces(start, stop):
        d = away[piece].astype(np.int64)
        best = np.maximum(d, eccentricity - d)
        inside = away[piece] != distances.unreached
        np.maximum(best, values[piece], out=values[piece], where=inside, casting="unsafe")


@singledispatch
def largest(column: Column, start: int, stop: int) -> int:
    """Largest value of an open vertex, or -1."""
    values, best = column.raw(), -1
    for piece in _pieces(start, stop):
        some = values[piece][values[piece] != column.unreached]
        if len(some):
            best = max(best, int(some.max()))
    return best


@singledispatch
def close_at_most(upper: Column, bound: int, start: int, stop: int) -> None:
    """Close the vertices whose value is at most `bound`."""
    values = upper.raw()
    for piece in _pieces(start, stop):
        values[piece][values[piece] <= bound] = upper.unreached


@singledispatch
def close_known(lower: Column, upper: Column, bound: int, widest: int, start: int, stop: int) -> int:
    """Close in `upper` the vertices with lower = upper, and those with both upper <= `bound` and
    2 lower >= `widest`. Returns how many stay open."""
    low, up = lower.raw(), upper.raw()
    left = 0
    for piece in _pieces(start, stop):
        mine = low[piece].astype(np.int64)
        known = mine == up[piece]
        known |= (up[piece] <= bound) & (2 * mine >= widest)
        up[piece][known] = upper.unreached
        left += int(np.count_nonzero(up[piece] != upper.unreached))
    return left


@singledispatch
def contenders(
    among: Column, values: Column | None, most: int, smallest: bool, start: int, stop: int
) -> Iterator[np.ndarray]:
    """Open vertices of `among`, ascending, in pieces (int64), and with them all that `ranked` could choose."""
    return open_vertices(among, start, stop)


def ranked(
    engine: Engine, among: Column, values: Column | None, most: int, *, smallest: bool = False, start: int, stop: int
) -> np.ndarray:
    """At most `most` open vertices of `among`, the best first, int64[k].

    Best is the largest value (with `smallest`, the smallest; without `values` all are alike), then
    the largest degree, then the smallest vertex.
    """
    return best_of(engine.degrees, among, values, most, smallest=smallest, start=start, stop=stop)


def best_of(
    degrees: Callable[[np.ndarray], np.ndarray], among: Column, values: Column | None, most: int, *, smallest: bool,
    start: int, stop: int,
) -> np.ndarray:
    """As `ranked`, with a function that gives the degrees of vertices, int64[k]."""
    ids, keys = np.empty(0, np.int64), np.empty(0, np.int64)
    for more in contenders(among, values, most, smallest, start, stop):
        value = np.zeros(len(more), np.int64) if values is None else values.take(more).astype(np.int64)
        key = -value << _DEGREE_BITS if smallest else value << _DEGREE_BITS
        if most == 1:  # before the degrees are looked up, which costs more
            near = key == key.max()
            more, key = more[near], key[near]
        if len(ids) == most:  # the last of the list is to be beaten; its vertex is smaller
            near = key + _MOST_DEGREE > keys[-1]
            more, key = more[near], key[near]
        key += np.minimum(degrees(more), _MOST_DEGREE)
        if len(ids) == most:
            better = key > keys[-1]
            more, key = more[better], key[better]
        more, key = _first_largest(more, key, most)
        ids, keys = np.concatenate((ids, more)), np.concatenate((keys, key))
        order = np.lexsort((ids, -keys))[:most]
        ids, keys = ids[order], keys[order]
    return ids


def _first_largest(ids: np.ndarray, keys: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """At most `most` of the ids (ascending) with the largest keys, the smallest ids among equals."""
    if len(ids) <= most:
        return ids, keys
    if most == 1:
        at = int(keys.argmax())
        return ids[at : at + 1], keys[at : at + 1]
    last = np.partition(keys, len(keys) - most)[len(keys) - most]
    above, level = np.flatnonzero(keys > last), np.flatnonzero(keys == last)
    chosen = np.concatenate((above, level[: most - len(above)]))
    return ids[chosen], keys[chosen]
