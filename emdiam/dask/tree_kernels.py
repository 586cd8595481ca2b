"""Kernels that fold the branches of a tree upwards within one range of vertices (see scans.py).

parents : of first, first + 1, ..., id[own]; itself where there is none. children : id[own], not folded yet. heights :
unsigned[own]."""

from __future__ import annotations

import numpy as np

from ..jit import kernel


@kernel
def count_children(parents, first, children):  # type: ignore[no-untyped-def]
    """children[p - first] += 1 for the parents p of first, first + 1, ... that are of the range and not themselves."""
    for i in range(len(parents)):
        p = np.int64(parents[i]) - first
        if p != i and 0 <= p < len(children):
            children[p] += 1


@kernel
def fold_upwards(ready, parents, children, heights, first, out):  # type: ignore[no-untyped-def]
    """From each vertex of `ready`, whose children are all folded, fold upwards as far as that holds in the range.

    What is folded becomes its own parent. out : int64[k, 2] receives (parent, reach) of the branches that leave it.
    Returns (how many, longest path met)."""
    count = 0
    longest = np.int64(0)
    for i in range(len(ready)):
        v = ready[i] - first
        while children[v] == 0 and np.int64(parents[v]) != v + first:
            reach = np.int64(heights[v]) + 1
            p = np.int64(parents[v]) - first
            parents[v] = v + first  # it is folded
            if p < 0 or p >= len(parents):
                out[count, 0] = p + first
                out[count, 1] = reach
                count += 1
                break
            longest = max(longest, reach + np.int64(heights[p]))
            heights[p] = max(np.int64(heights[p]), reach)
            children[p] -= 1
            v = p
    return count, longest


@kernel
def take_branches(branches, parents, children, heights, first, ready):  # type: ignore[no-untyped-def]
    """Fold branches (parent, reach), int64[k, 2], into their parents; those that have all their children then, into
    `ready`. Returns (how many of these, longest path met)."""
    count = 0
    longest = np.int64(0)
    for i in range(len(branches)):
        p = branches[i, 0] - first
        reach = branches[i, 1]
        longest = max(longest, reach + np.int64(heights[p]))
        heights[p] = max(np.int64(heights[p]), reach)
        children[p] -= 1
        if children[p] == 0 and np.int64(parents[p]) != p + first:
            ready[count] = p + first
            count += 1
    return count, longest
