"""Spread (traverse/spread.py) on a column on disk: a search from the seeds of each value, and one pass that lowers.

Searches do not look at the bounds, which are on disk, so that none is pruned; what they reach is put in order by pages,
and only pages that hold some of it are read, and written if a bound fell.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..progress import Tick, no_tick
from .buckets import Buckets, Fold, Ranges, put_smaller
from .columns import DiskColumn
from .disk import Disk
from .search import DiskSearch, Wanted


def spread(
    disk: Disk, seeds: np.ndarray | None, values: np.ndarray | int, limit: int, bound: DiskColumn,
    tick: Tick = no_tick,
) -> int:
    """See Engine.spread."""
    if limit >= bound.unreached:
        raise OverflowError(f"the limit {limit} does not fit the bound column ({bound.dtype})")
    lowered = 0

    def lower(first: int, least: np.ndarray) -> None:
        nonlocal lowered
        fell = int(np.count_nonzero(least != bound.part(first, first + len(least))))
        lowered += fell
        if fell:
            bound.set_part(first, least)

    buckets = Buckets(disk.scratch, Ranges(disk.n, disk.sizes.page), Fold(bound.part, put_smaller, lower), disk.key,
                      np.uint32, buffer_bytes=disk.sizes.buffer_bytes)
    for value, start in _groups(bound, seeds, values, limit):
        def found(vertices: np.ndarray, masks: np.ndarray, levels: np.ndarray, value: int = value) -> None:
            buckets.add(vertices, levels + value)

        search = DiskSearch(disk, start, 1, Wanted(limit - value), found)
        while not search.step(tick):
            tick()
    buckets.finish()
    return lowered


def _groups(
    bound: DiskColumn, seeds: np.ndarray | None, values: np.ndarray | int, limit: int
) -> Iterator[tuple[int, Iterator[tuple[np.ndarray, np.ndarray]]]]:
    """(value, pieces of seeds) of the values within the limit, smallest first; without the seeds that are below it, of
    which earlier spreads have seen to."""
    if seeds is None:
        if int(values) <= limit:
            yield int(values), _with_bound(bound, int(values))
        return
    order = np.argsort(values, kind="stable")
    of, ids = np.asarray(values, np.int64)[order], np.asarray(seeds, np.int64)[order]
    for value in np.unique(of[of <= limit]).tolist():
        some = np.unique(ids[of == value])
        some = some[bound.take(some) >= value]
        if len(some):
            yield value, iter([(some, np.ones(len(some), np.uint64))])


def _with_bound(bound: DiskColumn, value: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The vertices of exactly this bound, in pieces."""
    for start in range(0, len(bound), bound.piece):
        ids = np.flatnonzero(bound.part(start, start + bound.piece) == value) + start
        if len(ids):
            yield ids, np.ones(len(ids), np.uint64)
