"""Verbs of a rank on its range: columns (the verbs of traverse.columns.Column), rows, degrees, natural ranks.

Vertices in arguments and results are numbers of the whole graph, except in ask_column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..traverse.columns import PIECE_ITEMS, digests
from ..traverse.core import list_degree
from ..traverse.pivot_bounds import fold_range, list_between
from .plan import virtual_column
from .rank import Rank

Span = tuple[int, int]


@dataclass(frozen=True)
class Ref:
    """A reference to the column of a key."""

    key: int


@dataclass(frozen=True)
class Values:
    """A reference to the values of the column of a key in the range."""

    key: int


class ReachedByRanks:
    """A reference to the vertices that the last BFS reached, which the workers have."""


def new_column(rank: Rank, key: int, dtype: str, value: int) -> None:
    """Create a column filled with `value`."""
    rank.values[key] = virtual_column(rank.core.table.n_vertices, dtype, rank.first, rank.stop, value)


def ask_column(
    rank: Rank, key: int, method: str, args: tuple[Any, ...] = (), named: dict[str, Any] | None = None,
    span: Span | None = None
) -> Any:
    """Call a method of Column on this range, with vertices counted from the first one of the range. References among
    the arguments (Ref, Values, ReachedByRanks) are resolved. span : (first vertex, end); its part in this range becomes
    `start` and `stop`; if that is empty, the result is None."""
    options = {name: _meant(rank, value) for name, value in (named or {}).items()}
    if span is not None:
        low, high = _overlap(rank, span)
        if low >= high:
            return None
        options.update(start=low, stop=high)
    return getattr(rank.column(key), method)(*(_meant(rank, arg) for arg in args), **options)


def _meant(rank: Rank, arg: Any) -> Any:
    if isinstance(arg, Ref):
        return rank.column(arg.key)
    if isinstance(arg, Values):
        return rank.values[arg.key][rank.span]
    return rank.core.work.visited[rank.words] if isinstance(arg, ReachedByRanks) else arg


def _overlap(rank: Rank, span: Span) -> Span:
    """The part of a span in this range, counted from the first vertex of the range."""
    return max(span[0], rank.first) - rank.first, min(span[1], rank.stop) - rank.first


def get_values(rank: Rank, key: int, wanted: np.ndarray | slice) -> np.ndarray:
    """A copy of the values of vertices of this range."""
    return np.array(rank.values[key][wanted])


def set_values(rank: Rank, key: int, wanted: np.ndarray | slice, values: np.ndarray | int) -> None:
    """Overwrite the values of vertices of this range."""
    rank.values[key][wanted] = values


def best_vertex(rank: Rank, key: int, largest: bool, span: Span) -> tuple[int, int]:
    """Column.argbest within this range, and its value; (-1, -1) if there is none."""
    low, high = _overlap(rank, span)
    at = rank.column(key).argbest(largest, low, high) if low < high else -1
    return (-1, -1) if at < 0 else (at + rank.first, int(rank.values[key][at + rank.first]))


def best_open(rank: Rank, among: int, values: int | None, count: int, smallest: bool, span: Span) -> np.ndarray:
    """At most `count` open vertices of `among` in span and this range that Column.ranked may choose, ascending."""
    low, high = _overlap(rank, span)
    if low >= high:
        return np.empty(0, np.int64)
    by = None if values is None else rank.column(values)
    chosen = rank.column(among).ranked(lambda ids: rank.core.degrees(ids + rank.first), by, count, smallest=smallest,
                                       start=low, stop=high)
    return np.sort(chosen) + rank.first


def on_core(rank: Rank, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of traverse on the core of this rank."""
    return function(rank.core, *args)


def of_degree(rank: Rank, degree: int, start: int, limit: int) -> tuple[np.ndarray, int]:
    """At most `limit` vertices of this degree from `start` on, and the next start (the end of the range: no more)."""
    out = np.empty(limit, np.int64)
    begin = max(start, rank.first)
    if begin >= rank.stop:
        return out[:0], rank.stop
    count, after = list_degree(*rank.core.offsets, degree, begin, rank.stop, out)
    return out[:count].copy(), int(after)


def fold_bounds(rank: Rank, keys: list[int], about: np.ndarray) -> np.ndarray:
    """Call fold_pivot on this range; return its `out`, int64[threads, 8]. keys : of distances, lower, upper, far."""
    return fold_range(rank.core, [rank.values[key][: rank.stop] for key in keys], about, rank.first)


def unsettled_of(rank: Rank, key: int, limit: int) -> np.ndarray:
    """Vertices of this range with limit < value < unreached, ascending, int64[k]."""
    values = rank.values[key][rank.span]
    vertices: np.ndarray = list_between(values, limit, int(np.iinfo(values.dtype).max)) + rank.first
    return vertices


# -- checkpoints --------------------------------------------------------------------------------------
def piece_digests(rank: Rank, key: int) -> dict[int, bytes]:
    """A digest of the part in this range of each piece (traverse/columns.py) of a column."""
    values = rank.values[key]
    pieces = range(rank.first // PIECE_ITEMS, -(-rank.stop // PIECE_ITEMS) if rank.stop > rank.first else 0)
    return {i: digests(values[max(rank.first, i * PIECE_ITEMS) : min(rank.stop, (i + 1) * PIECE_ITEMS)])[0]
            for i in pieces}


def reached_words(rank: Rank, start: int, stop: int) -> np.ndarray:
    """Words start..stop-1 of this range's bitmap of the vertices that the last BFS reached, uint64[k]."""
    return rank.core.work.visited[start:stop].copy()


def set_reached(rank: Rank, start: int, words: np.ndarray) -> None:
    """Overwrite words of that bitmap from `start` on."""
    rank.core.work.visited[start : start + len(words)] = words
