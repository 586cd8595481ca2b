"""Arcs between clusters, by labels that are brought along arcs: every vertex sends its label to its neighbours, and in
each range of vertices the labels there meet those that came.

I/O, with m arcs and b the bytes of an id: one pass over the arcs; (b + 8) m written and read, where they do not fit the
buffer; 16 a vertex for the labels. Bytes: the buffer twice; 8 a vertex of a range.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..jit import kernel
from ..progress import Tick, no_tick
from ..traverse.labels import UNREACHED, WIDE_BITS
from ..traverse.paths import one_way
from .labels import GROUP
from .queues import Space
from .rows import Rows, pieces
from .takers import Fold

Push = Callable[[np.ndarray], None]
# part(first, stop): what vertices send, and what meets it, uint64[stop - first].
Part = Callable[[int, int], np.ndarray]


def push_meetings(
    rows: Rows, space: Space, part: Part, crossing: bool, bits: tuple[int, int], push: Push, tick: Tick = no_tick,
) -> None:
    """Hand packed arcs to `push`, as Engine.condense. part : labels where only arcs that are `crossing` between two
    clusters count, else new numbers of vertices."""
    shifts = np.array([bits[0] + bits[1], bits[1]], np.uint64)
    pack = pack_crossing if crossing else pack_renumbered

    def meet(here: np.ndarray, first: int, keys: np.ndarray, values: np.ndarray) -> None:
        for start, stop in pieces(len(keys)):
            heads, packed = keys[start:stop], np.empty(stop - start, np.uint64)
            count = pack(heads, first, here, values[start:stop], shifts, packed)
            if count < 0:
                raise one_way(int(heads[-1 - count]))
            if count:
                push(packed[:count])

    sources = ((np.arange(start, stop), part(start, stop)) for start, stop in pieces(rows.table.n_vertices))
    rows.bring(sources, space.buckets(Fold(part, meet)), tick=tick)


@kernel
def pack_crossing(heads, first, own, others, shifts, packed):
    """Pack the arcs from clusters of `others` to those of `heads` that are others; see push_meetings.

    Returns how many words; below 0: an end of an arc is in no cluster."""
    count = 0
    for i in range(len(heads)):
        here = own[np.int64(heads[i]) - first]
        if here == UNREACHED or others[i] == UNREACHED:
            return -1 - i
        group = here & GROUP
        other = others[i] & GROUP
        if group != other:
            weight = (here >> np.uint64(WIDE_BITS)) + (others[i] >> np.uint64(WIDE_BITS)) + np.uint64(1)
            packed[count] = (group << shifts[0]) | (other << shifts[1]) | weight
            count += 1
    return count


@kernel
def pack_renumbered(heads, first, own, others, shifts, packed):
    """Pack all arcs, by the new numbers of their ends, with the weight 1."""
    for i in range(len(heads)):
        packed[i] = (own[np.int64(heads[i]) - first] << shifts[0]) | (others[i] << shifts[1]) | np.uint64(1)
    return len(heads)
