"""Active rows packed on the host: the arcs of a frontier within a range, one row after the other."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_starts
from ..traverse.atomics import atomic_add
from ..traverse.core import Core

_GRAIN = 256


def pack_rows(core: Core, vertices: np.ndarray, begin: int, end: int, out: np.ndarray) -> int:
    """Write the arcs of the rows of `vertices` that lie in [begin, end) to `out`, in the order of the vertices;
    how many. Blocks that are not in the arena are read, each once.

    vertices : id[k]. out : id[*], large enough. Raises StoreError for a damaged block.
    """
    first, last = np.empty(len(vertices), np.int64), np.empty(len(vertices), np.int64)
    row_starts(*core.offsets, vertices, first)
    row_starts(*core.offsets, vertices.astype(np.int64) + 1, last)
    np.clip(first, begin, end, out=first)
    np.clip(last, begin, end, out=last)
    places = np.concatenate(([0], np.cumsum(last - first)))
    shift, pager = core.table.shift, core.pager
    wanted = _blocks_of(first, last, shift)
    for part in range(0, len(wanted), pager.arena.n_slots):
        blocks = pager.load(wanted[part : part + pager.arena.n_slots])
        turn = np.zeros(1, np.int64)
        low, high = int(blocks[0]) << shift, (int(blocks[-1]) + 1) << shift
        core.everywhere(lambda turn=turn, low=low, high=high: copy_rows(  # type: ignore[misc]
            turn, _GRAIN, pager.arena.ids, pager.arena.slot_of, shift, first, last, low, high, places, out))
    return int(places[-1])


def _blocks_of(first: np.ndarray, last: np.ndarray, shift: int) -> np.ndarray:
    """Blocks that the rows lie in, ascending, int64."""
    rows = last > first
    low, high = first[rows] >> shift, (last[rows] - 1) >> shift
    spans = high - low
    blocks = [low, high]
    for start, length in zip(low[spans > 1].tolist(), spans[spans > 1].tolist(), strict=True):
        blocks.append(np.arange(start + 1, start + length))
    return np.unique(np.concatenate(blocks))


@kernel
def copy_rows(turn, grain, ids, slot_of, shift, first, last, low, high, places, out):
    """Threads share the rows. Copies what of each lies in arcs [low, high), whose blocks have slots."""
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= len(first):
            return
        for i in range(begin, min(begin + grain, len(first))):
            arc = max(first[i], low)
            end = min(last[i], high)
            while arc < end:
                block = arc >> shift
                stop = min(end, (block + 1) << shift)
                position = (np.int64(slot_of[block]) << shift) + arc - (block << shift)
                place = places[i] + arc - first[i]
                for k in range(stop - arc):
                    out[place + k] = ids[position + k]
                arc = stop
