"""Scans over all ranks: steep arcs, arcs between clusters, random samples, the diameter of a BFS tree.

The diameter of a tree: one scan chooses parents, and heights are folded upwards across ranges, as in
trees/diameter.py. The parent of a vertex is its neighbour of smallest natural rank at distance one less. The
diameter is the largest (height so far) + (height of the branch) + 1 when a branch folds into its parent; it does not
depend on the order. Each rank folds vertices whose children are all folded, while their parents are in its range, and
sends branches that leave its range; rounds repeat until no branch leaves. The number of rounds is at most the largest
number of borders on a path to the source.
Bytes a vertex of the range: two ids and a height as wide as the distances (the parent; in a reordered store its rank
while parents are chosen, then the number of children); of other ranges, slabs of distances (and ranks) in the given
memory. Sent, in addition to the halo: 16 bytes for each vertex whose parent is in another range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..traverse.clusters import sample_span
from ..traverse.condense import ALL_ROWS, crossing_arcs, shifts_of
from ..traverse.labels import WIDE_BITS
from ..traverse.paths import one_way, steep_arcs
from ..trees.diameter import choose_parents, count_children, fold_branches, fold_leaves
from .alltoall import count_pass, halo, halos, hand_over, range_ranks, ranks_of, read_ranks
from .rank import Rank

CONDENSING = "condensing"


def count_steep(rank: Rank, key: int, size: int) -> int:
    """The number of arcs of this range whose ends differ by more than 1 in a column. size : vertices of a halo slab."""
    core, values, steep, slabs = rank.core, rank.values[key], 0, 0
    for low, slab in halos(rank, values, size):
        found = None if rank.rows is None else rank.rows.count_steep(values[rank.span], slab, low)
        steep += core.sweep(core.blocks, steep_arcs, values, slab, low) if found is None else found
        slabs += 1
    count_pass(rank, slabs)
    return steep


def end_condensing(rank: Rank) -> None:
    """Drop the state of a pass."""
    rank.objects.pop(CONDENSING, None)


def condense_some(
    rank: Rank, key: int, slab: tuple[int, int], done: int, bits: tuple[int, int], limit: int
) -> tuple[np.ndarray, int]:
    """The distinct packed arcs into the vertices of a slab (first, end) in the next blocks with at most `limit` arcs
    (at least one block), uint64[k], by the labels in column `key`; and the number of blocks done, -1 for all. done :
    blocks done before. If it is 0, all ranks call together, since the labels of the slab are exchanged."""
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
    """The vertices of this range whose hash of (key, rank) is below `threshold` (all vertices with an edge, if
    everyone), and their natural ranks, int64[k] each."""
    taken = sample_span(rank.core, key, threshold, everyone, range_ranks(rank))
    return taken, ranks_of(rank, taken)


_PIECE = 1 << 17
_NO_BRANCHES = np.empty((0, 2), np.int64)


def tree_diameter(rank: Rank, key: int, size: int) -> tuple[int, int]:
    """(longest path found in this range, -1), or (-1, vertex) for a reached vertex of this range that is not the source
    and has no nearer neighbour. size : vertices of a halo slab. All ranks together."""
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
    """The parent of every vertex of the range, id[stop - first]; the vertex itself without a parent."""
    values, slabs = rank.values[key], 0
    parents = np.arange(rank.first, rank.stop, dtype=rank.store.id_dtype)
    best = parents, np.empty(0 if rank.store.is_natural else len(parents), parents.dtype)
    for low, slab in halos(rank, values, size):
        choose_parents(rank.core, values, (low, slab, read_ranks(rank, low, low + len(slab))), best)
        slabs += 1
    count_pass(rank, slabs)
    return parents


def _add_children(rank: Rank, parents: np.ndarray, children: np.ndarray) -> None:
    """Count the children in other ranges."""
    ids, counts = np.unique(parents[(parents < rank.first) | (parents >= rank.stop)], return_counts=True)
    for names, amounts in rank.alltoall.tell(ids.astype(np.int64), counts.astype(np.int64))[0]:
        children[names - rank.first] += amounts.astype(children.dtype)
