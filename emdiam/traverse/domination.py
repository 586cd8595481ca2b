"""Sources whose closed neighbourhoods have as many open vertices as possible: a greedy dominating set.

Definition: a vertex is open while its bound is above a limit. A source whose eccentricity is below the limit settles
its neighbours too. So the count of a source is the number of open vertices in its closed neighbourhood that are in no
other source's. The greedy choice takes the largest count first (Johnson, STOC 1973: within ln(d + 1) of the best). Here
it chooses among few vertices: each vertex of a sample climbs some steps to the neighbour of the highest degree. Of the
tops with the largest counts come first, and are counted again when they are taken. Work: the rows of the sample
and of the vertices on its climb. All blocks are in memory.
"""

from __future__ import annotations

import numpy as np

from ..distinct import distinct
from ..jit import inlined, kernel
from ..stream.offsets import row_length, row_span
from .core import Core

# Vertices of the sample for each source, and the factor by which the least count falls from turn to turn.
SAMPLE = 8
_FALL = 0.75
_LONGEST = 1 << 16  # a climb stops at a vertex with more arcs


@inlined
def _arc(paging, p):
    """The head of arc p."""
    ids, slot_of, shift = paging
    block = p >> shift
    return np.int64(ids[((np.int64(slot_of[block]) - block) << shift) + p])


@kernel
def climb(paging, offsets, vertices, hops, tops):
    """tops[i] = the end of `hops` steps from vertices[i], each to the neighbour of the highest degree (ties: the
    smallest), never to a lower degree."""
    for i in range(len(vertices)):
        here = np.int64(vertices[i])
        degree = row_length(offsets, here)
        for _ in range(hops):
            start, end = row_span(offsets[0], offsets[1], offsets[2], here)
            if end - start > _LONGEST:
                break
            best = here
            for p in range(start, end):
                u = _arc(paging, p)
                length = row_length(offsets, u)
                if length > degree:
                    best, degree = u, length
            if best == here:
                break
            here = best
        tops[i] = here


@inlined
def _count(paging, offsets, v, bounds, limit, covered, take):
    """Number of open vertices in the closed neighbourhood of v not yet covered; with `take` they become covered."""
    none = np.int64(np.iinfo(bounds.dtype).max)
    start, end = row_span(offsets[0], offsets[1], offsets[2], v)
    count = 0
    for p in range(start - 1, end):
        u = v if p < start else _arc(paging, p)
        bit = np.uint64(1) << np.uint64(u & 63)
        if limit < np.int64(bounds[u]) < none and not covered[u >> 6] & bit:
            count += 1
            if take:
                covered[u >> 6] |= bit
    return count


@kernel
def count_open(paging, offsets, vertices, bounds, limit, covered, counts):
    """counts[i] = open vertices in the closed neighbourhood of vertices[i]."""
    for i in range(len(vertices)):
        counts[i] = _count(paging, offsets, np.int64(vertices[i]), bounds, limit, covered, False)


@kernel
def take_best(paging, offsets, tops, counts, bounds, limit, covered, taken, most):
    """Take `most` of the tops (int64[k], distinct, by falling counts), all with counts of at least a threshold, which
    falls; taken[i] = 1. Returns their number."""
    number = 0
    least = counts[0]
    while number < most:
        for i in range(len(tops)):
            if counts[i] < least or number == most:
                break
            if taken[i] == 0:
                counts_now = _count(paging, offsets, tops[i], bounds, limit, covered, False)
                if counts_now >= least:
                    _count(paging, offsets, tops[i], bounds, limit, covered, True)
                    taken[i] = 1
                    number += 1
        if least == 0:
            break
        least = np.int64(least * _FALL)
    return number


def dominating(
    core: Core, vertices: np.ndarray, hops: int, bounds: tuple[np.ndarray, int], most: int
) -> tuple[np.ndarray, np.ndarray]:
    """(sources, proposed): at most `most` vertices, and the vertices from which they were reached, int64[k] each.

    vertices : int64[m], distinct, in order of preference; the first is itself a source. bounds : of all vertices,
    unsigned[n], and the limit."""
    if not core.pager.everything_resident:
        return vertices[:most], vertices[1:most]
    sample = np.ascontiguousarray(vertices[: SAMPLE * most], np.int64)
    tops, values = np.empty_like(sample), bounds[0]
    climb(core.paging, core.offsets, sample, hops, tops)
    tops, first = np.unique(tops, return_index=True)
    covered = np.zeros((len(values) + 63) // 64, np.uint64)
    counts = np.empty(len(tops), np.int64)
    count_open(core.paging, core.offsets, tops, values, bounds[1], covered, counts)
    order = np.argsort(-counts, kind="stable")
    tops, counts, first = tops[order], counts[order], first[order]
    taken = np.zeros(len(tops), np.uint8)
    take_best(core.paging, core.offsets, tops, counts, values, bounds[1], covered, taken, most - 1)
    chosen = taken.view(bool)
    return distinct(np.append(tops[chosen], sample[0])), sample[first[chosen]]
