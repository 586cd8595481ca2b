"""The edges of a run of rows with other numbers for their ends, and whether they are rows of a graph: compiled, for
orders that have loaded numba anyway. Without, reorder.py and ArcCheck (store/check.py) do the same in many steps, which
take three times the processor time."""

from __future__ import annotations

import numpy as np

from ..hashing import draw
from ..jit import kernel


@kernel
def edges_up(rows, starts, ids, new_of, sums, src, dst):  # type: ignore[no-untyped-def]
    """Write the new numbers of the ends of all arcs that lead up to src and dst, uint64[len(ids)]; returns how many
    these are, and a row that does not ascend or holds itself, -1 if there is none.

    rows, starts : of the run (store/arc_runs.py). new_of : id_dtype[n]. sums : uint64[2], the fingerprints of the arcs
    that lead up and of those that lead down are added, as ArcCheck takes them."""
    count, none = 0, np.uint64(0)
    total = up_only = none
    for k in range(len(rows)):
        one, place, before = np.uint64(rows[k]), np.uint64(new_of[rows[k]]), np.int64(-1)
        for p in range(starts[k], starts[k + 1]):
            other = np.uint64(ids[p])
            if other == one or np.int64(other) <= before:
                return count, rows[k]
            before = np.int64(other)
            # Without a branch, since nobody can foresee where an arc leads.
            up = np.uint64(one < other)
            fingerprint = draw(draw(min(one, other), none) ^ max(one, other), none)
            total += fingerprint
            up_only += fingerprint * up
            src[count], dst[count] = place, other
            count += np.int64(up)
    for i in range(count):
        dst[i] = new_of[np.int64(dst[i])]
    sums[0] += up_only
    sums[1] += total - up_only
    return count, -1
