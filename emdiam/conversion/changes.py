"""The arcs of a changed store in storage order, merged in one pass from three streams in this order: its own arcs, the
added and the removed ones.

RAM: ARC_BYTES an arc of a chunk of each. I/O: `indptr`, `indices` and `data` of each once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..distinct import distinct
from ..store.arc_runs import arc_runs, run_ids, run_weights
from ..store.store import Store

# Bytes per arc in the merge: rows, ids and weights as read, as keys, and merged.
ARC_BYTES = 160
_KEY_BITS = 63

Numbers = npt.NDArray[np.int64]
Weights = npt.NDArray[Any]


@dataclass(frozen=True)
class SortedArcs:
    """Arcs sorted by row, then by id: int64[k] each. weights : [k]; None without weights."""

    rows: Numbers
    ids: Numbers
    weights: Weights | None = None

    def of(self, places: slice | npt.NDArray[np.bool_]) -> SortedArcs:
        """Some of the arcs."""
        return SortedArcs(self.rows[places], self.ids[places], None if self.weights is None else self.weights[places])


_NONE = SortedArcs(np.empty(0, np.int64), np.empty(0, np.int64))


class ArcStream:
    """The arcs of a store, renumbered for another store in the same order.

    numbers : converts numbers; -1 for vertices that the other store does not have. weights : converts weights to the
    form of the other store. n_strange : arcs dropped so far because an end is not in the other store; strange : the
    first of them, in the store's own numbers.
    """

    def __init__(self, store: Store | None, numbers: Callable[[Numbers], Numbers],
                 weights: Callable[[Weights], Weights] | None = None) -> None:
        self._numbers, self._weights = numbers, weights
        self.n_strange = 0
        self.strange: tuple[int, int] | None = None
        self._more = iter(()) if store is None else self._read(store)
        self._arcs = next(self._more, _NONE)

    def _read(self, store: Store) -> Iterator[SortedArcs]:
        for run in arc_runs(store, 1):
            counts, own = np.diff(run.starts), run_ids(store, run).astype(np.int64)
            weights = None if self._weights is None else run_weights(store, run)
            if weights is not None and self._weights is not None:
                weights = self._weights(weights)
            arcs = SortedArcs(np.repeat(self._numbers(run.rows), counts), self._numbers(own), weights)
            strange = (arcs.rows < 0) | (arcs.ids < 0)
            if np.any(strange):
                if self.strange is None:
                    first = int(np.argmax(strange))
                    self.strange = int(np.repeat(run.rows, counts)[first]), int(own[first])
                self.n_strange += int(np.count_nonzero(strange))
                arcs = arcs.of(~strange)
            if len(arcs.rows):
                yield arcs

    @property
    def last(self) -> tuple[int, int] | None:
        """The last arc in memory; None after the end."""
        return (int(self._arcs.rows[-1]), int(self._arcs.ids[-1])) if len(self._arcs.rows) else None

    def take(self, bound: tuple[int, int]) -> SortedArcs:
        """Take the arcs in memory up to `bound`."""
        rows, ids = self._arcs.rows, self._arcs.ids
        begin, end = np.searchsorted(rows, [bound[0], bound[0] + 1]).tolist()
        stop = begin + int(np.searchsorted(ids[begin:end], bound[1], "right"))
        taken = self._arcs.of(slice(stop))
        self._arcs = self._arcs.of(slice(stop, None)) if stop < len(rows) else next(self._more, _NONE)
        return taken


@dataclass
class ChangeTally:
    """Counts of the changed arcs: added; removed; known : already in the graph, with their weights replaced; absent :
    to be removed, but not in the graph. an_absent : one of the absent arcs, in numbers of the new graph; strange : one
    with an unknown end, see ArcStream."""

    added: int = 0
    removed: int = 0
    known: int = 0
    absent: int = 0
    an_absent: tuple[int, int] | None = None
    strange: tuple[int, int] | None = None


def changed(streams: Sequence[ArcStream], n_vertices: int, tally: ChangeTally) -> Iterator[SortedArcs]:
    """The arcs of the first stream, with the arcs of the second and without those of the third; the second and the
    third may overlap."""
    while ends := [stream.last for stream in streams if stream.last is not None]:
        # The arcs up to the least of these ends are in memory, for every stream.
        bound = min(ends)
        yield _merged([stream.take(bound) for stream in streams], (n_vertices - 1).bit_length(), tally)


def _merged(parts: Sequence[SortedArcs], bits: int, tally: ChangeTally) -> SortedArcs:
    """The same for these parts. bits : of a vertex."""
    old, added, removed = parts
    if not len(added.rows) and not len(removed.rows):
        return old
    keys, more, less = _keys(parts, bits)
    if len(less):
        at, found = _find(keys, less)
        if not np.all(found):
            first = int(np.argmin(found))
            tally.an_absent = tally.an_absent or (int(removed.rows[first]), int(removed.ids[first]))
            tally.absent += int(np.count_nonzero(~found))
        stays = np.ones(len(keys), np.bool_)
        stays[at[found]] = False
        tally.removed += int(np.count_nonzero(found))
        old, keys = old.of(stays), keys[stays]
    if not len(more):
        return old
    at, found = _find(keys, more)
    tally.known += int(np.count_nonzero(found))
    tally.added += int(np.count_nonzero(~found))
    weights = old.weights
    if added.weights is not None:
        weights = added.weights[:0] if weights is None else weights  # if the store has no arcs here
        weights[at[found]] = added.weights[found]
        weights = np.insert(weights, at[~found], added.weights[~found])
    at, added = at[~found], added.of(~found)
    return SortedArcs(np.insert(old.rows, at, added.rows), np.insert(old.ids, at, added.ids), weights)


def _keys(parts: Sequence[SortedArcs], bits: int) -> list[npt.NDArray[np.uint64]]:
    """A key for every arc, in the order of the arcs. bits : of a vertex."""
    rows = [part.rows for part in parts]
    if 2 * bits > _KEY_BITS:  # rows are renumbered so that a row and an id fit a key
        known = distinct(np.concatenate(rows))
        rows = [np.searchsorted(known, one) for one in rows]
    return [(one << bits | part.ids).view(np.uint64) for one, part in zip(rows, parts, strict=True)]


def _find(keys: npt.NDArray[np.uint64], wanted: npt.NDArray[np.uint64]) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """The positions of `wanted` among the keys, or where they would be, and whether they occur. Both ascend."""
    at = np.searchsorted(keys, wanted)
    found = np.zeros(len(wanted), np.bool_)
    inside = at < len(keys)
    found[inside] = keys[at[inside]] == wanted[inside]
    return at, found
