"""Ranges of new numbers, each with so few arcs that its rows are put in order in memory.

Cut by the degrees that rows will have under their new numbers: counted in bins of equal width, and where a bin alone
has too many arcs, number by number in it. Passes: one over `indptr`, a second where there are such bins.
RAM: 8 bytes a bin, of which there are 2^16 at most, and 8 bytes a number of a bin that has too many arcs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..store.arc_runs import ArcRun, arc_runs, run_chunks
from ..store.store import Store
from .renumbering import count_in_bins, count_numbers

_MOST_BIN_BITS = 16
# Ranges beyond which they are made larger.
MOST_RANGES = 1 << 12


@dataclass(frozen=True)
class Ranges:
    """bounds : int64[B + 1], range k has the numbers bounds[k] to bounds[k + 1] - 1. first : int32[bins], the range of
    the first number of each bin of 2^shift numbers. arcs : int64[B], of the rows of each range."""

    bounds: np.ndarray
    first: np.ndarray
    shift: int
    arcs: np.ndarray

    def __len__(self) -> int:
        return len(self.arcs)

    @property
    def lookup(self) -> tuple[np.ndarray, np.ndarray, int]:
        """As kernels take it."""
        return self.bounds, self.first, self.shift


def ranges_of(store: Store, new_of: np.ndarray, most_arcs: int) -> Ranges:
    """Ranges with at most `most_arcs` arcs and as many numbers, but for one with a single longer row, and unless that
    made more than MOST_RANGES. new_of : id_dtype[n], the new number of every vertex. Raises StoreError."""
    n = store.n_vertices
    most_arcs = max(most_arcs, 2 * (store.n_arcs + n) // MOST_RANGES, 1)
    shift = max(0, (n - 1).bit_length() - _MOST_BIN_BITS)
    bins = np.zeros((n + (1 << shift) - 1) >> shift, np.int64)
    _each_run(store, lambda run: count_in_bins(run.rows, run.starts, new_of, shift, bins))
    starts, arcs = np.arange(len(bins)) << shift, bins
    over = np.flatnonzero(bins > most_arcs)
    if shift and len(over):
        inside = np.zeros((len(over), 1 << shift), np.int64)
        place = np.full(len(bins), -1, np.int32)
        place[over] = np.arange(len(over))
        _each_run(store, lambda run: count_numbers(run.rows, run.starts, new_of, shift, place, inside))
        numbers = ((over << shift)[:, None] + np.arange(1 << shift)).reshape(-1)
        kept = np.flatnonzero(place < 0)
        starts, arcs = np.concatenate((starts[kept], numbers)), np.concatenate((bins[kept], inside.reshape(-1)))
        order = np.argsort(starts)[: np.count_nonzero(starts < n)]
        starts, arcs = starts[order], arcs[order]
    cuts = np.array(list(_cuts(starts, arcs, most_arcs)), np.int64)
    bounds = np.append(starts[cuts], n)
    first = np.searchsorted(bounds, np.arange(len(bins)) << shift, side="right") - 1
    of_range = np.add.reduceat(arcs, cuts) if len(cuts) else arcs
    return Ranges(bounds, first.astype(np.int32), shift, of_range)


def _each_run(store: Store, count: Callable[[ArcRun], None]) -> None:
    """Call `count` for runs of all rows; no neighbour is read."""
    for run in arc_runs(store, run_chunks(store)):
        count(run)


def _cuts(starts: np.ndarray, arcs: np.ndarray, most: int) -> Iterator[int]:
    """Positions at which ranges begin. starts, arcs : int64[k], of bins or single numbers, ascending."""
    ends, at = np.cumsum(arcs), 0
    while at < len(starts):
        yield at
        before = int(ends[at - 1]) if at else 0
        stop = min(np.searchsorted(ends, before + most, side="right"), np.searchsorted(starts, starts[at] + most))
        at = max(at + 1, int(stop))
