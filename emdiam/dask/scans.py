"""Scans over all ranks: steep arcs, arcs between clusters, random samples, the diameter of a BFS tree.

The tree: parents are chosen in one scan, and heights folded upwards across ranges, as traverse/tree_diameter.py: the
parent of a vertex is its neighbour of smallest natural rank that is one nearer, and the diameter the largest (height
so far) + (height of the branch) + 1 met while branches fold into their parents, which does not depend on their order.
Each rank folds what has all its children, as far as parents are its own, and hands the branches over that leave its
range, round by round until none does: as many rounds as the way of a vertex to the source crosses borders at most.
Bytes a vertex of the range: two ids and a height as wide as the distances (parent; its rank in a reordered store while
parents are chosen, then the number of children); of others, groups of distances (and ranks) within the stated room. In
flight, and sent beside the halo: 16 bytes for every vertex whose parent another owns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..traverse.clusters import sample_span
from ..traverse.condense import ALL_ROWS, crossing_arcs, shifts_of
from ..traverse.labels import WIDE_BITS
from ..traverse.paths import one_way, steep_arcs
from ..traverse.tree_diameter import choose_parents, count_children, fold_branches, fold_leaves
from .alltoall import count_pass, halo, halos, hand_over, range_ranks, ranks_of, read_ranks
from .rank import Rank

CONDENSING = "condensing"


def count_steep(rank: Rank, key: int, size: int) -> int:
    """Arcs of this range whose ends differ by more than 1 in a column. size : vertices of a slab of a halo."""
    core, values, steep, slabs = rank.core, rank.values[key], 0, 0
    for low, slab in halos(rank, values, size):
        steep += core.sweep(core.blocks, steep_arcs, values, slab, low)
        slabs += 1
    count_pass(rank, slabs)
    return steep


def end_condensing(rank: Rank) -> None:
    """Let go of what a pass held."""
    rank.objects.pop(CONDENSING, None)


def condense_some(
    rank: Rank, key: int, slab: tuple[int, int], done: int, bits: tuple[int, int], limit: int
) -> tuple[np.ndarray, int]:
    """The packed arcs into the vertices of a slab (first, end) in the next blocks with `limit` arcs at most (one block
    at least), each once, uint64[k], by the labels in column `key`; and how many blocks are done, -1 for all. done :
    blocks before. All ranks together where that is 0: the labels of the slab are brought then."""
    core, table = rank.core, rank.core.table
    if not done:
        rank.objects.pop(CONDENSING, None)
        rank.objects[CONDENSING] = halo(rank, rank.values[key], *slab)
        count_pass(rank)
    blocks = rank.blocks[done : done + max(1, limit >> table.shift)]
    shifts = shifts_of(*bits, WIDE_BITS)
    pieces: list[np.ndarray] = []
    wrong = np.full(1, -1, np.int64)
    core.gather(blocks, crossing_arcs, rank.values[key], rank.objects[CONDENSING], slab[0], shifts, wrong, *ALL_ROWS,
                new_buffer=lambda: np.empty(1 << table.shift, np.uint64),
                take=lambda arcs: pieces.append(arcs.copy()))
    if wrong[0] >= 0:
        raise one_way(int(wrong[0]))
    packed = np.unique(np.concatenate(pieces)) if pieces else np.empty(0, np.uint64)
    done += len(blocks)
    return packed, done if done < len(rank.blocks) else -1


def sample_range(rank: Rank, key: int, threshold: int, everyone: bool) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of this range whose hash of (key, rank) lies below `threshold` (all with an edge, if everyone),
    and their natural ranks, int64[k] each."""
    taken = sample_span(rank.core, key, threshold, everyone, range_ranks(rank))
    return taken, ranks_of(rank, taken)


_PIECE = 1 << 17
_NO_BRANCHES = np.empty((0, 2), np.int64)


def tree_diameter(rank: Rank, key: int, size: int) -> tuple[int, int]:
    """(longest path of this range, -1), or (-1, vertex) for a vertex of this range that is reached and neither the
    source nor has a nearer neighbour. size : vertices of a slab of a halo. All ranks together."""
    parents = _parents(rank, key, size)
    values, children = rank.values[key][rank.span], np.zeros_like(parents)
    orphan = int(count_children(parents, values, children, rank.first, rank.first, rank.stop))
    if rank.alltoall.total(np.array([int(orphan >= 0)], np.int64))[0]:
        return -1, orphan
    _add_children(rank, parents, children)
    tree, longest, leaving = (parents, children, np.zeros(len(parents), values.dtype)), 0, [_NO_BRANCHES]

    def fold(kernel: Callable[..., tuple[int, int]], size: int, *args: Any) -> None:
        nonlocal longest
        out = np.empty((size, 2), np.int64)
        count, met = kernel(*args, out)
        leaving.append(out[:count].copy())
        longest = max(longest, int(met))

    for start in range(rank.first, rank.stop, _PIECE):
        stop = min(start + _PIECE, rank.stop)
        fold(fold_leaves, stop - start, *tree, rank.first, start, stop)
    while True:  # branches (parent, reach) that leave the range, int64[k, 2]
        branches, leaving = np.concatenate(leaving), [_NO_BRANCHES]
        incoming, moved = hand_over(rank, branches, branches[:, 0])
        if not moved:
            return longest, -1
        fold(fold_branches, len(incoming), incoming, *tree, rank.first)


def _parents(rank: Rank, key: int, size: int) -> np.ndarray:
    """Parent of every vertex of the range, id[stop - first]; itself for those without."""
    values, slabs = rank.values[key], 0
    parents = np.arange(rank.first, rank.stop, dtype=rank.store.id_dtype)
    best = parents, np.empty(0 if rank.store.is_natural else len(parents), parents.dtype)
    for low, slab in halos(rank, values, size):
        choose_parents(rank.core, values, (low, slab, read_ranks(rank, low, low + len(slab))), best)
        slabs += 1
    count_pass(rank, slabs)
    return parents


def _add_children(rank: Rank, parents: np.ndarray, children: np.ndarray) -> None:
    """Count the children that other ranks own."""
    ids, counts = np.unique(parents[(parents < rank.first) | (parents >= rank.stop)], return_counts=True)
    for names, amounts in rank.alltoall.tell(ids.astype(np.int64), counts.astype(np.int64))[0]:
        children[names - rank.first] += amounts.astype(children.dtype)
