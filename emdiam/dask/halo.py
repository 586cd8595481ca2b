"""Values of vertices that others own, for one pass over this rank's rows: brought in groups, and let go of.

A kernel that looks at the neighbours of its rows needs a value of any vertex. Every rank gives the values of its range
to all others, a group of consecutive vertices at a time, and scans its blocks once for each group, heads outside of
which it leaves out. A group is as large as the stated room allows (twice its values: as they come, and side by side),
so one pass where that holds all vertices; blocks in RAM make more of them cheap.
Bytes sent: (ranks - 1) n items in all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..stream.offsets import row_starts
from ..stream.pager import BlockKernel
from .rank import Part

_COPIES = 2
_LEAST = 64
_NO_FACTS = np.empty(0, np.int64)


def group_size(room_bytes: int, itemsize: int) -> int:
    """How many vertices a group has whose values fit into `room_bytes`; a multiple of 64, at least 64."""
    return max(_LEAST, room_bytes // (_COPIES * itemsize) // _LEAST * _LEAST)


def bring(part: Part, values: np.ndarray, low: int, high: int) -> np.ndarray:
    """values[low:high] of all ranks (values : any dtype[n], right in this range), a copy. One round."""
    ghost = np.empty(high - low, values.dtype)
    ranges = part.spec.ranges.tolist()
    spans = [(max(low, a), min(high, b)) for a, b in zip(ranges, ranges[1:], strict=False)]
    begin, end = spans[part.rank]
    letters: dict[int, np.ndarray] = {}
    if begin < end:
        ghost[begin - low : end - low] = values[begin:end]
        letters = dict.fromkeys(part.mail.others, values[begin:end].view(np.uint8))
    incoming, _ = part.mail.swap(letters, _NO_FACTS)
    for rank, theirs in incoming.items():
        begin, end = spans[rank]
        if begin < end:
            ghost[begin - low : end - low].view(np.uint8)[:] = theirs
    return ghost


def ghost_groups(part: Part, values: np.ndarray, size: int) -> Iterator[tuple[int, np.ndarray]]:
    """(first vertex, values) of all groups of `size` vertices in turn; all ranks take them together. One rank alone
    has them all."""
    n = part.core.table.n_vertices
    if not part.mail.others:
        yield 0, values
        return
    for low in range(0, n, size):
        yield low, bring(part, values, low, min(low + size, n))


def sweep_own(part: Part, kernel: BlockKernel) -> int:
    """Run a kernel over all blocks of this range; the sum of what it gives."""
    return part.core.pager.sweep(part.blocks, kernel) if len(part.blocks) else 0


def block_by_block(run_one: Callable[..., bool]) -> BlockKernel:
    """A kernel out of a function that takes one block a call: run_one(chunks, position, turn, ids) is called until
    it returns False."""
    def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
        while run_one(chunks, position, turn, ids):
            pass
        return 0

    return run


def own_arcs(part: Part) -> int:
    """Arcs of the rows of this range."""
    if part.first >= part.stop:
        return 0
    ends = np.empty(2, np.int64)
    row_starts(*part.core.offsets, np.array([part.first, part.stop], np.int64), ends)
    return int(ends[1] - ends[0])


def count_pass(part: Part, groups: int = 1) -> None:
    """Count so many passes over all rows: passes once for all ranks, arcs by each."""
    part.core.counters.add(passes=groups if part.rank == 0 else 0, edges_scanned=groups * own_arcs(part))


def own_ranks(part: Part) -> np.ndarray:
    """Natural rank of every vertex of this range, id[stop - first]; length 0 where it is the vertex itself. It is read
    once and kept. Raises StoreError for one that there is not."""
    kept: Any = part.objects.get("ranks")
    if kept is None:
        kept = part.objects["ranks"] = read_ranks(part, part.first, part.stop)
    ranks: np.ndarray = kept
    return ranks


def read_ranks(part: Part, first: int, stop: int) -> np.ndarray:
    """Natural rank of vertices first..stop-1 as own_ranks, read from the store."""
    from ..errors import StoreError
    from ..store.slices import read_slice

    store = part.store
    if store.is_natural:
        return np.empty(0, store.id_dtype)
    ranks = read_slice(store.array("natural_id"), first, stop)
    if len(ranks) and int(ranks.max()) >= store.n_vertices:
        raise StoreError(f"natural_id holds {int(ranks.max())}, which is no vertex", path=store.path,
                         remedy="the store is damaged: reorder the original again")
    return ranks


def ranks_of(part: Part, ids: np.ndarray) -> np.ndarray:
    """Natural ranks of vertices of this range, int64[k]."""
    ranks = own_ranks(part)
    return ids.astype(np.int64) if not len(ranks) else ranks[ids - part.first].astype(np.int64)
