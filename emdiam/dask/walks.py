"""Walks over all ranks: chains, and paths down a column of distances. The owner of a vertex takes the steps from it.

Chains move in rounds: each rank follows the chains in its range as far as they stay in it, and sends chains that leave
it to the next owner. A path has one holder, which walks while rows have only vertices of its range. For a row with
other vertices, it asks their owners for all their distances (and ranks) at once, and passes the path on if the next
vertex is in another range: two rounds for a question and one for passing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..traverse.paths import follow_within, read_rows, start_walks, walk_down
from .alltoall import hand_over, range_ranks, ranks_of
from .rank import Rank

# Steps between two messages of the holder, and steps that go to the client at a time.
_PIECE, _STEPS = 1 << 14, 1 << 17
_NO_IDS = np.empty(0, np.int64)
# Messages of the holder: it asks, passes the path on, has reached the source, has _STEPS steps, or finds no neighbour.
_ASKS, _HANDS, _ENDS, _FULL, _LOST = 1, 2, 3, 4, 5


# -- chains -------------------------------------------------------------------------------------------
def follow_chains(rank: Rank, tips: np.ndarray) -> np.ndarray:
    """Chains from `tips` (vertices of degree 1), on all ranks together: the walks that end in this range, int64[k, 4]
    as in follow_within."""
    here = np.flatnonzero((tips >= rank.first) & (tips < rank.stop))
    walks = start_walks(tips[here])
    walks[:, 0] = here
    ended, left = list[np.ndarray](), 1
    while left:
        pending = follow_within(rank.core, walks)
        ended.append(walks[pending == 0])
        walks = walks[pending == 1]
        walks, left = hand_over(rank, walks, walks[:, 1])
    return np.concatenate(ended)


# -- paths --------------------------------------------------------------------------------------------
@dataclass
class PathStep:
    """An unfinished path on one rank after a call. at : the last vertex. length : steps so far. ended : whether `at` is
    the source. lost : whether no neighbour is nearer. pieces : vertices that this rank has found, by the number of
    their first step."""

    at: int
    length: int
    ended: bool = False
    lost: bool = False
    pieces: list[tuple[int, np.ndarray]] = field(default_factory=list)


def walk_some(rank: Rank, key: int, by_rank: bool, at: int, length: int) -> PathStep:
    """Continue from vertex `at`, which is step `length`, down the distances of a column, on all ranks together."""
    path, until = PathStep(at, length), length + _STEPS
    ranked = by_rank and not rank.store.is_natural
    ranks = range_ranks(rank) if ranked else np.empty(0, rank.store.id_dtype)
    holder = _owner(rank, at)
    while True:
        word = _walk_on(rank, rank.values[key], ranks, path, until) if rank.number == holder else 0
        row = read_rows(rank.core, np.array([path.at]))[0] if word == _ASKS else _NO_IDS
        table = rank.alltoall.share(np.array([word, path.at, path.length], np.int64))
        word, path.at, path.length = table[holder].tolist()
        if word == _HANDS:
            holder = _owner(rank, path.at)
        elif word == _ASKS:
            _step_among_others(rank, rank.values[key], ranked, row, path, rank.number == holder)
        else:
            path.ended, path.lost = word == _ENDS, word == _LOST
            return path


def _owner(rank: Rank, vertex: int) -> int:
    return int(np.searchsorted(rank.spec.ranges, vertex, side="right")) - 1


def _walk_on(rank: Rank, values: np.ndarray, ranks: np.ndarray, path: PathStep, until: int) -> int:
    """The holder walks as far as possible in its own range; return its message."""
    core = rank.core
    if path.lost:
        return _LOST
    if path.length >= until:
        return _FULL
    if not rank.first <= path.at < rank.stop:
        return _HANDS
    piece, state = np.empty(_PIECE, np.int64), np.array([path.at, -1, 0, -1], np.int64)
    while values[state[0]] > 0:
        end = walk_down(values, core.paging, core.offsets, ranks, np.array(core.span), piece, state)
        if state[2]:
            path.pieces.append((path.length, piece[: state[2]].copy()))
            path.length += int(state[2])
            path.at = int(state[0])
        if end == -2:
            return _LOST
        if end == -3:
            return _ASKS
        if end >= 0:
            core.pager.load(np.array([end]))
        elif path.length >= until:
            return _FULL
    return _ENDS


def _step_among_others(
    rank: Rank, values: np.ndarray, ranked: bool, row: np.ndarray, path: PathStep, holds: bool
) -> None:
    """One step of the holder to a neighbour in `row`, some of whose vertices are in other ranges. Other ranks answer
    (with an empty row)."""
    distances = rank.alltoall.ask(row, lambda ids: values[ids])
    keys = rank.alltoall.ask(row, lambda ids: ranks_of(rank, ids)) if ranked else row
    if not holds:
        return
    nearer = np.flatnonzero(distances.astype(np.int64) + 1 == int(values[path.at]))
    if len(nearer) == 0:
        path.lost = True
        return
    path.at = int(row[nearer[keys[nearer].argmin()]])
    path.pieces.append((path.length, np.array([path.at])))
    path.length += 1
