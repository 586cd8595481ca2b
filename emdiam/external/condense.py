"""Arcs between clusters, by labels that are brought along arcs: every vertex sends its label to its neighbours, and in
each range of vertices the labels there meet those that came.

I/O, with m arcs and b the bytes of an id: one pass over the arcs; (b + 8) m written and read, where they do not fit the
buffer; 16 a vertex for the labels. Bytes: the buffer twice; 8 a vertex of a range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..jit import kernel
from ..stream.pager import Tick
from ..traverse.chains import one_way
from ..traverse.label_vector import WIDE_BITS
from ..traverse.labels import UNREACHED
from .buckets import Buckets, Taker
from .queues import Space
from .rows import PIECE, Rows

Push = Callable[[np.ndarray], None]
# part(first, stop): what vertices send, and what meets it, uint64[stop - first].
Part = Callable[[int, int], np.ndarray]
_GROUP = np.uint64((1 << WIDE_BITS) - 1)


class _Meeting(Taker):
    """Packs what comes to a range with what is there. pack(own, others, shifts, out) : how many words; -1: an end of an
    arc is in no cluster."""

    def __init__(self, part: Part, pack: Callable[..., int], shifts: np.ndarray, push: Push) -> None:
        self._part, self._pack, self._shifts, self._push = part, pack, shifts, push
        self._first, self._own = 0, np.empty(0, np.uint64)

    def begin(self, first: int, stop: int) -> None:
        """See Taker."""
        self._first, self._own = first, self._part(first, stop)

    def take(self, keys: np.ndarray, values: np.ndarray) -> None:
        """See Taker."""
        for start in range(0, len(keys), PIECE):
            heads, packed = keys[start : start + PIECE], np.empty(min(PIECE, len(keys) - start), np.uint64)
            count = self._pack(heads, self._first, self._own, values[start : start + PIECE], self._shifts, packed)
            if count < 0:
                raise one_way(int(heads[-1 - count]))
            if count:
                self._push(packed[:count])

    def end(self) -> None:
        """See Taker."""
        self._own = np.empty(0, np.uint64)


def push_meetings(
    rows: Rows, space: Space, part: Part, crossing: bool, bits: tuple[int, int], push: Push, tick: Tick | None = None,
) -> None:
    """Hand packed arcs to `push`, as Engine.condense. part : labels where only arcs that are `crossing` between two
    clusters count, else new numbers of vertices."""
    shifts = np.array([bits[0] + bits[1], bits[1]], np.uint64)
    taker = _Meeting(part, pack_crossing if crossing else pack_renumbered, shifts, push)
    buckets = Buckets(space.scratch, space.ranges, taker, space.key, np.uint64, buffer_bytes=8 * space.room)
    rows.send(_sources(rows, part), buckets, tick=tick)
    buckets.finish()
    rows.counters.add(passes=1)


def _sources(rows: Rows, part: Part) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All vertices, and what they send."""
    for start in range(0, rows.table.n_vertices, PIECE):
        stop = min(start + PIECE, rows.table.n_vertices)
        yield np.arange(start, stop), part(start, stop)


@kernel
def pack_crossing(heads, first, own, others, shifts, packed):  # type: ignore[no-untyped-def]
    """Pack the arcs from clusters of `others` to those of `heads` that are others; see _Meeting."""
    count = 0
    for i in range(len(heads)):
        here = own[np.int64(heads[i]) - first]
        if here == UNREACHED or others[i] == UNREACHED:
            return -1 - i
        group = here & _GROUP
        other = others[i] & _GROUP
        if group != other:
            weight = (here >> np.uint64(WIDE_BITS)) + (others[i] >> np.uint64(WIDE_BITS)) + np.uint64(1)
            packed[count] = (group << shifts[0]) | (other << shifts[1]) | weight
            count += 1
    return count


@kernel
def pack_renumbered(heads, first, own, others, shifts, packed):  # type: ignore[no-untyped-def]
    """Pack all arcs, by the new numbers of their ends, with the weight 1."""
    for i in range(len(heads)):
        packed[i] = (own[np.int64(heads[i]) - first] << shifts[0]) | (others[i] << shifts[1]) | np.uint64(1)
    return len(heads)
