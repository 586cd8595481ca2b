"""What a rank is asked of its range: columns (the verbs of traverse.columns.Column), rows, degrees, natural ranks.

Vertices in arguments and results are numbers of the whole graph. A Ref stands for the column of its key.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..stream.offsets import row_starts
from ..traverse.degrees import list_degree
from ..traverse.paths import all_edges_exist, read_rows
from ..traverse.pivot_bounds import fold_range, list_between
from .exchange import ranks_of
from .ranges import virtual_column
from .rank import Part, Ref


def new_column(part: Part, key: int, dtype: str, value: int) -> None:
    """A column filled with `value`."""
    part.values[key] = virtual_column(part.core.table.n_vertices, dtype, part.first, part.stop, value)


def ask_column(part: Part, key: int, method: str, *args: Any) -> Any:
    """A method of Column that takes no vertices; Refs among `args` are columns."""
    return getattr(part.column(key), method)(*(part.column(arg.key) if isinstance(arg, Ref) else arg for arg in args))


def gather_values(part: Part, key: int, ids: np.ndarray) -> np.ndarray:
    """Column.take of vertices of this range."""
    return part.values[key][ids]


def put_value(part: Part, key: int, ids: np.ndarray, value: int) -> None:
    """Column.put of vertices of this range."""
    part.values[key][ids] = value


def part_values(part: Part, key: int, start: int, stop: int) -> np.ndarray:
    """A copy of values start..stop-1 of this range."""
    return part.values[key][start:stop].copy()


def set_values(part: Part, key: int, start: int, values: np.ndarray) -> None:
    """Overwrite values from vertex `start` of this range."""
    part.values[key][start : start + len(values)] = values


def select_vertices(part: Part, key: int, predicate: str, value: int, most: int | None) -> np.ndarray:
    """Column.select."""
    return part.column(key).select(predicate, value, most) + part.first


def first_vertex(
    part: Part, key: int, wanted: Sequence[int], start: int, stop: int, labels: int | None, label: int
) -> int:
    """Column.first within this range; labels : key of the column that holds them."""
    low, high = max(start, part.first), min(stop, part.stop)
    if low >= high:
        return -1
    some = None if labels is None else part.values[labels][part.own]
    found = part.column(key).first(wanted, low - part.first, high - part.first, some, label)
    return found if found < 0 else found + part.first


def best_vertex(part: Part, key: int, largest: bool, start: int, stop: int) -> tuple[int, int]:
    """Column.argbest within this range, and its value; (-1, -1) if there is none."""
    low, high = max(start, part.first), min(stop, part.stop)
    at = part.column(key).argbest(largest, low - part.first, high - part.first) if low < high else -1
    return (-1, -1) if at < 0 else (at + part.first, int(part.column(key).raw()[at]))


def recode_reached(part: Part, key: int, old: Sequence[int], new: int) -> int:
    """Column.recode within what the last BFS reached."""
    return part.column(key).recode(old, new, part.core.work.visited[part.own_words])


def recode_within(part: Part, key: int, old: Sequence[int], new: int, words: np.ndarray) -> int:
    """Column.recode within a bitmap of this range."""
    return part.column(key).recode(old, new, words)


def fold_column(part: Part, name: str, key: int, start: int, stop: int, *args: Any) -> Any:
    """A fold of Column on what of start..stop-1 lies here, None if nothing; Refs among `args` are columns."""
    low, high = max(start, part.first) - part.first, min(stop, part.stop) - part.first
    if low >= high:
        return None
    given: list[Any] = [part.column(arg.key) if isinstance(arg, Ref) else arg for arg in args]
    return getattr(part.column(key), name)(*given, low, high)


def open_ids(part: Part, key: int, start: int, stop: int) -> np.ndarray:
    """Column.open_list of what of start..stop-1 lies here."""
    low, high = max(start, part.first) - part.first, min(stop, part.stop) - part.first
    if low >= high:
        return np.empty(0, np.int64)
    return part.column(key).open_list(low, high) + part.first


def best_open(
    part: Part, among: int, values: int | None, count: int, smallest: bool, span: tuple[int, int]
) -> np.ndarray:
    """The open vertices of `among` in span that Column.ranked may choose of this range, at most `count`, ascending."""
    low, high = max(span[0], part.first) - part.first, min(span[1], part.stop) - part.first
    if low >= high:
        return np.empty(0, np.int64)

    def degrees(ids: np.ndarray) -> np.ndarray:
        return part.core.degrees(ids + part.first)

    by = None if values is None else part.column(values)
    return np.sort(part.column(among).ranked(degrees, by, count, smallest=smallest, start=low, stop=high)) + part.first


_PIECE = 1 << 17


def degrees_of(part: Part, ids: np.ndarray) -> np.ndarray:
    """Degrees of vertices of this range, int64[k]."""
    return part.core.degrees(ids)


def rows_of(part: Part, ids: np.ndarray) -> list[np.ndarray]:
    """Rows of vertices of this range."""
    return read_rows(part.core, ids)


def of_degree(part: Part, degree: int, start: int, most: int) -> tuple[np.ndarray, int]:
    """At most `most` vertices of this degree from `start` on, and where to go on (the end of the range: no more)."""
    out = np.empty(most, np.int64)
    begin = max(start, part.first)
    if begin >= part.stop:
        return out[:0], part.stop
    count, after = list_degree(*part.core.offsets, degree, begin, part.stop, out)
    return out[:count].copy(), int(after)


def highest_degrees(part: Part, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(vertices, degrees) of at most `most` vertices of this range, highest degree first, smallest vertex first."""
    best, keys = np.empty(0, np.int64), np.empty(0, np.int64)
    starts = np.empty(_PIECE + 1, np.int64)
    for start in range(part.first, part.stop, _PIECE):
        stop = min(start + _PIECE, part.stop)
        row_starts(*part.core.offsets, np.arange(start, stop + 1), starts)
        degrees = np.diff(starts[: stop - start + 1])
        if len(keys) == most:  # the last of the list is to be beaten: what follows has larger numbers
            ids = np.flatnonzero(degrees > keys[-1])
            ids, degrees = ids + start, degrees[ids]
        elif most == 1:  # nothing to sort
            top = np.array([degrees.argmax()])
            ids, degrees = top + start, degrees[top]
        else:
            ids = np.arange(start, stop)
        best, keys = np.concatenate((best, ids)), np.concatenate((keys, degrees))
        order = np.argsort(-keys, kind="stable")[:most]
        best, keys = best[order], keys[order]
    return best, keys


def edges_exist(part: Part, tails: np.ndarray, heads: np.ndarray) -> bool:
    """Whether every (tails[i], heads[i]), tails of this range, is an edge."""
    return all_edges_exist(part.core, tails, heads)


def ranks_at(part: Part, ids: np.ndarray) -> np.ndarray:
    """Natural ranks of vertices of this range, int64[k]."""
    return ranks_of(part, ids)


def fold_part(part: Part, keys: list[int], about: np.ndarray) -> np.ndarray:
    """Verb: fold_pivot on this range; its `out`, int64[threads, 8]. keys : of distances, lower, upper, far."""
    return fold_range(part.core, [part.values[key][: part.stop] for key in keys], about, part.first)


def unsettled_of(part: Part, key: int, limit: int) -> np.ndarray:
    """Verb: vertices of this range with limit < value < unreached, ascending, int64[k]."""
    values = part.values[key][part.own]
    found: np.ndarray = list_between(values, limit, int(np.iinfo(values.dtype).max)) + part.first
    return found
