"""The steps of traverse/folds.py over columns on workers; importing this registers them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..traverse import folds
from ..traverse.columns import Column
from . import column_verbs as verbs
from .columns import WorkerColumn, ref


def _fold(column: WorkerColumn, name: str, start: int, stop: int, *args: Any) -> list[Any]:
    return column.group.everyone(verbs.fold_columns, name, column.key, start, stop, *args, label=name.replace("_", "-"))


@folds.open_vertices.register
def _open_vertices(column: WorkerColumn, start: int, stop: int) -> Iterator[np.ndarray]:
    for ids in column.group.everyone(verbs.open_ids, column.key, start, stop):
        if len(ids):
            yield ids


@folds.open_bitmap.register
def _open_bitmap(column: WorkerColumn) -> np.ndarray:
    return np.concatenate([np.empty(0, np.uint64), *column.group.everyone(verbs.open_range, column.key)])


@folds.open_at.register
def _open_at(column: WorkerColumn, reached: Column, value: int, start: int, stop: int) -> None:
    _fold(column, "open_at", start, stop, ref(reached), value)


@folds.close.register
def _close(column: WorkerColumn, start: int, stop: int) -> None:
    _fold(column, "close", start, stop)


@folds.tighten_upper.register
def _tighten_upper(upper: WorkerColumn, distances: Column, eccentricity: int, start: int, stop: int) -> None:
    _fold(upper, "tighten_upper", start, stop, ref(distances), eccentricity)


@folds.tighten_lower.register
def _tighten_lower(lower: WorkerColumn, distances: Column, eccentricity: int, start: int, stop: int) -> None:
    _fold(lower, "tighten_lower", start, stop, ref(distances), eccentricity)


@folds.largest.register
def _largest(column: WorkerColumn, start: int, stop: int) -> int:
    return max((value for value in _fold(column, "largest", start, stop) if value is not None), default=-1)


@folds.close_at_most.register
def _close_at_most(upper: WorkerColumn, bound: int, start: int, stop: int) -> None:
    _fold(upper, "close_at_most", start, stop, bound)


@folds.close_known.register
def _close_known(lower: WorkerColumn, upper: Column, bound: int, widest: int, start: int, stop: int) -> int:
    return sum(left for left in _fold(lower, "close_known", start, stop, ref(upper), bound, widest) if left is not None)


@folds.contenders.register
def _contenders(
    among: WorkerColumn, values: Column | None, most: int, smallest: bool, start: int, stop: int
) -> Iterator[np.ndarray]:
    """At most `most` of each range, by the whole rule of `ranked`."""
    keys = None if values is None else ref(values).key
    for ids in among.group.everyone(verbs.best_open, among.key, keys, most, smallest, (start, stop)):
        if len(ids):
            yield ids
