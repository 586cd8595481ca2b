"""The diameter of a BFS tree over all ranks: parents chosen in one scan, heights folded upwards across ranges.

As traverse/tree_diameter.py: the parent of a vertex is its neighbour of smallest natural rank that is one nearer, and
the diameter the largest (height so far) + (height of the branch) + 1 met while branches fold into their parents, which
does not depend on their order. Each rank folds what has all its children, as far as parents are its own, and hands the
branches over that leave its range, round by round until none does: as many rounds as the way of a vertex to the source
crosses borders at most.
Bytes a vertex of the range: two ids and a height as wide as the distances (parent; its rank in a reordered store while
parents are chosen, then the number of children); of others, groups of distances (and ranks) within the stated room. In
flight, and sent beside the ghosts: 16 bytes for every vertex whose parent another owns.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np

from .halo import block_by_block, count_pass, ghost_groups, read_ranks, sweep_own
from .owner_exchange import Post
from .rank import Part
from .scan_kernels import nearer_neighbours
from .tree_kernels import count_children, fold_upwards, take_branches

_PIECE = 1 << 17
_NO_BRANCHES = np.empty((0, 2), np.int64)


@dataclass
class Branches:
    """A fold on one rank. parents, children, heights : see tree_kernels.py. out : branches (parent, reach) that
    leave the range, int64[k, 2]. longest : path met so far, in edges."""

    parents: np.ndarray
    children: np.ndarray
    heights: np.ndarray
    longest: int = 0
    out: list[np.ndarray] = field(default_factory=list)


def tree_diameter(part: Part, key: int, size: int) -> tuple[int, int]:
    """(longest path of this range, -1), or (-1, vertex) for a vertex of this range that is reached and neither the
    source nor has a nearer neighbour. size : vertices of a group of ghosts. All ranks together."""
    parents = _parents(part, key, size)
    orphan = _first_orphan(part, key, parents)
    if part.mail.total(np.array([int(orphan >= 0)], np.int64))[0]:
        return -1, orphan
    branches = Branches(parents, _children(part, parents), np.zeros(len(parents), part.values[key].dtype))
    _fold_own(part, branches)
    while True:
        incoming, moved = _hand_over(part, branches)
        if not moved:
            return branches.longest, -1
        _fold_incoming(part, branches, incoming)


def _parents(part: Part, key: int, size: int) -> np.ndarray:
    """Parent of every vertex of the range, id[own]; itself for those without."""
    core, values = part.core, part.values[key]
    table = core.table
    parents = np.arange(part.first, part.stop, dtype=part.store.id_dtype)
    best = parents, np.empty(0 if part.store.is_natural else len(parents), parents.dtype)
    lock, groups = threading.Lock(), 0
    for low, ghost in ghost_groups(part, values, size):
        ranks = read_ranks(part, low, low + len(ghost))
        span = np.array([part.first, low], np.int64)

        def run_one(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, ids: np.ndarray,
                    ghost: np.ndarray = ghost, ranks: np.ndarray = ranks, span: np.ndarray = span) -> bool:
            with lock:  # a row that is cut lies in two blocks
                return bool(nearer_neighbours(chunks, position, turn, ids, table.shift, table.first_vertex,
                                              *core.offsets, values, ghost, ranks, best, span))

        sweep_own(part, block_by_block(run_one))
        groups += 1
    count_pass(part, groups)
    return parents


def _first_orphan(part: Part, key: int, parents: np.ndarray) -> int:
    values = part.values[key][part.own]
    bare = parents == np.arange(part.first, part.stop, dtype=parents.dtype)
    found = np.flatnonzero(bare & (values != 0) & (values != np.iinfo(values.dtype).max))
    return int(found[0]) + part.first if len(found) else -1


def _children(part: Part, parents: np.ndarray) -> np.ndarray:
    """How many children each vertex of the range has, id[own]."""
    children = np.zeros(len(parents), parents.dtype)
    count_children(parents, part.first, children)
    ids, counts = np.unique(parents[(parents < part.first) | (parents >= part.stop)], return_counts=True)
    told, _ = Post(part.mail, part.spec.ranges).tell(ids.astype(np.int64), counts.astype(np.int64))
    for names, amounts in told:
        children[names - part.first] += amounts.astype(children.dtype)
    return children


def _fold_own(part: Part, branches: Branches) -> None:
    """Fold from every leaf of the range."""
    for start in range(0, len(branches.parents), _PIECE):
        leaves = np.flatnonzero(branches.children[start : start + _PIECE] == 0) + start + part.first
        _fold(part, branches, leaves)


def _fold(part: Part, branches: Branches, ready: np.ndarray) -> None:
    out = np.empty((len(ready), 2), np.int64)
    count, longest = fold_upwards(ready, branches.parents, branches.children, branches.heights, part.first, out)
    branches.longest = max(branches.longest, int(longest))
    branches.out.append(out[:count].copy())


def _fold_incoming(part: Part, branches: Branches, incoming: np.ndarray) -> None:
    """Take branches of others, and fold on from what has all its children now."""
    ready = np.empty(len(incoming), np.int64)
    count, longest = take_branches(incoming, branches.parents, branches.children, branches.heights, part.first, ready)
    branches.longest = max(branches.longest, int(longest))
    _fold(part, branches, ready[:count].copy())


def _hand_over(part: Part, branches: Branches) -> tuple[np.ndarray, bool]:
    """Give branches to the owners of their parents: (those that come here, whether any moved on any rank)."""
    out = np.concatenate([_NO_BRANCHES, *branches.out])
    branches.out = []
    owners = np.searchsorted(part.spec.ranges, out[:, 0], side="right") - 1
    letters = {rank: np.ascontiguousarray(out[owners == rank]).reshape(-1).view(np.uint8)
               for rank in part.mail.others if (owners == rank).any()}
    incoming, table = part.mail.swap(letters, np.array([len(out)], np.int64))
    mine = [letter.copy().view(np.int64).reshape(-1, 2) for letter in incoming.values() if len(letter)]
    return np.concatenate([_NO_BRANCHES, *mine]), bool(table[:, 0].any())
