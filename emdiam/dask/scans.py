"""Scans over all ranks: steep arcs, arcs between clusters, random samples, the diameter of a BFS tree.

The tree: parents are chosen in one scan, and heights folded upwards across ranges, as traverse/tree_diameter.py: the
parent of a vertex is its neighbour of smallest natural rank that is one nearer, and the diameter the largest (height
so far) + (height of the branch) + 1 met while branches fold into their parents, which does not depend on their order.
Each rank folds what has all its children, as far as parents are its own, and hands the branches over that leave its
range, round by round until none does: as many rounds as the way of a vertex to the source crosses borders at most.
Bytes a vertex of the range: two ids and a height as wide as the distances (parent; its rank in a reordered store while
parents are chosen, then the number of children); of others, groups of distances (and ranks) within the stated room. In
flight, and sent beside the ghosts: 16 bytes for every vertex whose parent another owns.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np

from ..traverse.chains import one_way
from .exchange import Post, block_by_block, bring, count_pass, ghost_groups, own_ranks, ranks_of, read_ranks, sweep_own
from .rank import Part
from .scan_kernels import crossing_arcs, nearer_neighbours, sampled, steep_arcs
from .tree_kernels import count_children, fold_upwards, take_branches

CONDENSING = "condensing"


def count_steep(part: Part, key: int, size: int) -> int:
    """Arcs of this range whose ends differ by more than 1 in a column. size : vertices of a group of ghosts."""
    core, values, steep = part.core, part.values[key], 0
    table, groups = core.table, 0
    for low, ghost in ghost_groups(part, values, size):
        def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray,
                low: int = low, ghost: np.ndarray = ghost) -> int:
            found: int = steep_arcs(chunks, position, turn, grain, ids, table.shift, table.first_vertex, *core.offsets,
                                    values, ghost, low)
            return found

        steep += sweep_own(part, run)
        groups += 1
    count_pass(part, groups)
    return steep


@dataclass
class Condensing:
    """A pass for the arcs into one group. low : its first vertex. ghost : uint64[k], its labels. done : blocks."""

    low: int
    ghost: np.ndarray
    done: int = 0


def begin_condensing(part: Part, key: int, low: int, high: int) -> None:
    """Bring the labels, column `key`, of vertices low..high-1."""
    part.objects.pop(CONDENSING, None)
    part.objects[CONDENSING] = Condensing(low, bring(part, part.values[key], low, high))
    count_pass(part)


def end_condensing(part: Part) -> None:
    """Let go of what a pass held."""
    part.objects.pop(CONDENSING, None)


def condense_some(part: Part, key: int, bits: tuple[int, int], most: int) -> tuple[np.ndarray, bool]:
    """The packed arcs of the next blocks with `most` arcs at most (one block at least), each once, uint64[k], and
    whether there are more blocks."""
    core, labels, state = part.core, part.values[key], part.objects[CONDENSING]
    table = core.table
    blocks = part.blocks[state.done : state.done + max(1, most >> table.shift)]
    state.done += len(blocks)
    shifts = np.array([bits[0] + bits[1], bits[1]], np.uint64)
    pieces: list[np.ndarray] = []
    lock = threading.Lock()

    def run_one(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, ids: np.ndarray) -> bool:
        found, taken = np.empty(1 << table.shift, np.uint64), np.array([0, 0, state.low], np.int64)
        crossing_arcs(chunks, position, turn, ids, table.shift, table.first_vertex, *core.offsets, labels, state.ghost,
                      shifts, found, taken)
        if taken[0] < 0:
            raise one_way(-1 - int(taken[0]))
        if taken[0]:
            with lock:
                pieces.append(found[: taken[0]].copy())
        return bool(taken[1])

    if len(blocks):
        core.pager.sweep(blocks, block_by_block(run_one))
    packed = np.unique(np.concatenate(pieces)) if pieces else np.empty(0, np.uint64)
    return packed, state.done < len(part.blocks)


def sample_range(part: Part, key: int, threshold: int, everyone: bool) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of this range whose hash of (key, rank) lies below `threshold` (all with an edge, if everyone),
    and their natural ranks, int64[k] each."""
    choice = (np.array([part.first, part.stop]), np.uint64(key), np.uint64(threshold), everyone,
              part.core.table.isolated, own_ranks(part))
    taken = np.empty(sampled(*choice, np.empty(0, np.int64)), np.int64)
    sampled(*choice, taken)
    return taken, ranks_of(part, taken)


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
