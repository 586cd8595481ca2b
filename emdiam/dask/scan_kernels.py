"""Block kernels of passes over one range of rows, with the values of a group of heads (see ghosts.py).

values : of all vertices, right in this range. ghost : of vertices low, low + 1, ... A head outside of the group is left
to the pass of its own group, so that every arc is looked at once.
"""

from __future__ import annotations

import numpy as np

from ..hashing import draw
from ..jit import kernel
from ..stream.offsets import row_start
from ..traverse.atomics import atomic_add
from ..traverse.labels import OWNER_BITS


@kernel
def steep_arcs(chunks, position, turn, grain, ids, shift, first_vertex, group, row, hub, values, ghost,
               low):  # type: ignore[no-untyped-def]
    """Arcs into the group whose ends differ by more than 1 in `values`; as traverse.paths.count_steep_arcs."""
    steep = 0
    n_last = first_vertex[len(first_vertex) - 1]
    n_arcs = row_start(group, row, hub, n_last)
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= len(chunks):
            return steep
        for k in range(begin, min(begin + grain, len(chunks))):
            start_arc = chunks[k] << shift
            end_arc = min(start_arc + (1 << shift), n_arcs)
            base = position[k] - start_arc
            for v in range(first_vertex[chunks[k]], min(first_vertex[chunks[k] + 1], n_last - 1) + 1):
                mine = np.int64(values[v])
                start = max(row_start(group, row, hub, v), start_arc)
                end = min(row_start(group, row, hub, v + 1), end_arc)
                for p in range(base + start, base + end):
                    at = np.int64(ids[p]) - low
                    if 0 <= at < len(ghost) and abs(np.int64(ghost[at]) - mine) > 1:
                        steep += 1


@kernel
def crossing_arcs(chunks, position, turn, ids, shift, first_vertex, group, row, hub, labels, ghost, shifts, found,
                  taken):  # type: ignore[no-untyped-def]
    """Pack the arcs of one block (the next of `turn`) into the group, between different clusters, into `found`.

    As traverse.condense.crossing_arcs. taken : int64[3], arcs written, blocks taken (0 or 1), and the first vertex of
    the group; arcs written is -1 - v for a vertex v one end of whose arcs is in no cluster, as only rows that are not
    symmetric can have."""
    owner_mask = np.uint64(0xFFFFFFFF)
    distance_shift = np.uint64(OWNER_BITS)
    k = atomic_add(turn, 0, 1)
    taken[0] = taken[1] = 0
    if k >= len(chunks):
        return
    taken[1] = 1
    n_last = first_vertex[len(first_vertex) - 1]
    start_arc = chunks[k] << shift
    end_arc = min(start_arc + (1 << shift), row_start(group, row, hub, n_last))
    base = position[k] - start_arc
    count = 0
    for v in range(first_vertex[chunks[k]], min(first_vertex[chunks[k] + 1], n_last - 1) + 1):
        start = max(row_start(group, row, hub, v), start_arc)
        end = min(row_start(group, row, hub, v + 1), end_arc)
        mine = labels[v]
        own = mine & owner_mask
        weight = (mine >> distance_shift) + np.uint64(1)
        for p in range(base + start, base + end):
            at = np.int64(ids[p]) - taken[2]
            if 0 <= at < len(ghost):
                owner = ghost[at] & owner_mask
                if owner != own:
                    if own == owner_mask or owner == owner_mask:
                        taken[0] = -1 - v
                        return
                    far = weight + (ghost[at] >> distance_shift)
                    found[count] = ((own << shifts[0]) | (owner << shifts[1])) | far
                    count += 1
    taken[0] = count


@kernel
def nearer_neighbours(chunks, position, turn, ids, shift, first_vertex, group, row, hub, values, ghost, ranks, best,
                      span):  # type: ignore[no-untyped-def]
    """best[0][v - span[0]] = the neighbour in the group of smallest rank that is one nearer, where there is one better.

    One block (the next of `turn`) a call; a row that is cut is looked at in one block after the other, so the caller
    lets one thread in at a time. ranks : of the group, or length 0 where they are the vertices. best : neighbour (the
    vertex itself: none) and its rank, id[own] each, the second of length 0 where ranks are the vertices. span :
    int64[2], first vertex of the range and of the group. True if a block was taken."""
    k = atomic_add(turn, 0, 1)
    if k >= len(chunks):
        return False
    n_last = first_vertex[len(first_vertex) - 1]
    unreached = np.int64(np.iinfo(values.dtype).max)
    start_arc = chunks[k] << shift
    end_arc = min(start_arc + (1 << shift), row_start(group, row, hub, n_last))
    base = position[k] - start_arc
    for v in range(first_vertex[chunks[k]], min(first_vertex[chunks[k] + 1], n_last - 1) + 1):
        mine = np.int64(values[v])
        if mine == 0 or mine == unreached:
            continue
        i = v - span[0]
        start = max(row_start(group, row, hub, v), start_arc)
        end = min(row_start(group, row, hub, v + 1), end_arc)
        for p in range(base + start, base + end):
            w = np.int64(ids[p])
            at = w - span[1]
            if 0 <= at < len(ghost) and np.int64(ghost[at]) + 1 == mine:
                old = np.int64(best[0][i])
                if len(ranks):
                    if old == v or ranks[at] < best[1][i]:
                        best[0][i] = w
                        best[1][i] = ranks[at]
                elif old == v or w < old:
                    best[0][i] = w
    return True


@kernel
def sampled(span, key, threshold, everyone, isolated, ranks, out):  # type: ignore[no-untyped-def]
    """Write the vertices of span[0]..span[1]-1 with an edge whose hash lies below the threshold (all, if everyone) to
    `out`, as many as it has room for; returns how many there are. As traverse.clusters.sampled."""
    count = 0
    for v in range(span[0], span[1]):
        if (isolated[v >> 6] >> np.uint64(v & 63)) & np.uint64(1):
            continue
        rank = np.uint64(ranks[v - span[0]]) if len(ranks) else np.uint64(v)
        if everyone or draw(key, rank) < threshold:
            if count < len(out):
                out[count] = v
            count += 1
    return count
