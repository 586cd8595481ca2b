"""A BFS under way that outlives a lost worker: its distances are copied now and then, and it goes on from there.

Every COPY_SECONDS at most, between two slices, every rank sends the pieces of its distances that have changed to its
holder (replicas.py); that level is the mark. After a loss all ranks forget distances beyond the mark, which are no more
than a slice or the level in flight where levels take longer than COPY_SECONDS, and the rank that was lost gets its
distances back. Distances up to a finished level never change, so copies that a loss cuts short do no harm.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import replicas, search_verbs
from .ranges import virtual_column
from .rank import Part
from .rank_group import Group, WorkersLost
from .recovery import Recovery
from .search import Search
from .search_verbs import How, new_search

COPY_SECONDS = 1.0
_FLIGHT = "flight"


class Flight:
    """A BFS on a group. how : arguments. key : of the new column for its distances, or None. tick : called now and
    then."""

    def __init__(self, group: Group, recovery: Recovery, how: How, key: int | None, tick: Callable[[], None]) -> None:
        self._group, self._recovery, self._how, self._key, self._tick = group, recovery, how, key, tick
        self._mark = -1  # the level that the copies have; -1: none
        self._copied = time.monotonic()
        self._level = 0

    def begin(self, dropped: list[int]) -> list[search_verbs.Step]:
        """The first levels. dropped : keys of columns that may be let go of. Raises WorkersLost."""
        return self._noted(self._group.everyone(search_verbs.begin_bfs, self._how, self._key, dropped,
                                                label="bfs-level-0", together=True, tick=self._tick))

    def step(self, label: str) -> list[search_verbs.Step]:
        """More levels. Raises WorkersLost where there is no mark to go back to."""
        try:
            if self._group.size > 1 and time.monotonic() - self._copied >= COPY_SECONDS:
                self._copy(fresh=self._mark < 0)
            return self._noted(self._group.everyone(
                search_verbs.step_bfs, self._key, label=label, together=True, tick=self._tick))
        except WorkersLost as loss:
            if self._mark < 0:
                raise
            return self._resume(loss)

    def _noted(self, steps: list[search_verbs.Step]) -> list[search_verbs.Step]:
        self._level = steps[0].level
        return steps

    def _copy(self, fresh: bool) -> None:
        self._group.everyone(copy_flight, fresh, label="copy", together=True, tick=self._tick)
        self._mark, self._copied = self._level, time.monotonic()

    def _resume(self, loss: WorkersLost) -> list[search_verbs.Step]:
        mark, self._mark = self._mark, -1  # until there are copies again
        lost = self._recovery.restore(loss, f"bfs level {self._level}")
        steps = self._group.everyone(resume_bfs, mark, self._how, lost, label=f"bfs-again-{mark}", together=True,
                                     tick=self._tick)
        if None in steps:
            raise loss  # a rank had its end already: the BFS begins again
        self._noted(steps)
        self._copy(fresh=True)
        return steps


# -- on the workers -------------------------------------------------------------------------------
def copy_flight(part: Part, fresh: bool) -> None:
    """Verb of all together: copy the distances of the search under way. fresh : all of them."""
    search, copies, size = part.search, part.copies, len(part.spec.addresses)
    assert search is not None, "a search is copied between two of its steps"
    if fresh:
        copies.sent.pop(_FLIGHT, None)
        copies.flight = {}
    changed = replicas.changed_pieces(copies, _FLIGHT, search.distances[part.own])
    found, _ = replicas.exchange(part, (part.rank - 1) % size, (part.rank + 1) % size, changed)
    for _, number, dtype, data in found:
        copies.flight[number] = dtype, data


def resume_bfs(part: Part, level: int, how: How, lost: list[int]) -> search_verbs.Step | None:
    """Verb of all together: go back to the end of `level`, with the ranks `lost` opened anew. None if a rank has no
    search any more."""
    own, copies, size = part.rank in lost, part.copies, len(part.spec.addresses)
    if own:
        part.search = new_search(part, how)
    search = part.search
    facts = np.array([0 if search is None or own else search.distances.dtype.itemsize, int(search is None)])
    width, ended = part.mail.swap({}, facts)[1].max(axis=0).tolist()
    behind = (part.rank + 1) % size
    pieces = [(_FLIGHT, number, dtype, data) for number, (dtype, data) in copies.flight.items()]
    back, _ = replicas.exchange(part, behind, (part.rank - 1) % size, iter(pieces if behind in lost else []))
    if ended or search is None:
        return None
    if own:
        _fill(part, search, f"u{width}", back)
    search.rewind(level)
    return search_verbs.Step(search.level, search.dense, None)


def _fill(part: Part, search: Search, dtype: str, pieces: list[Any]) -> None:
    """The distances of a search that was begun anew, in `dtype`, from its copies."""
    if search.distances.dtype != dtype:
        search.distances = virtual_column(len(search.distances), dtype, part.first, part.stop,
                                          int(np.iinfo(dtype).max))
    own = search.distances[part.own]
    for _, number, kind, data in pieces:
        values = replicas.unpacked(data, kind)
        begin = number * replicas.PIECE_ITEMS
        here = own[begin : begin + len(values)]
        here[:] = values
        here[values == np.iinfo(kind).max] = np.iinfo(dtype).max
