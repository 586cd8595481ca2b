"""Walks over all ranks: chains, and paths down a column of distances. The owner of a vertex takes the steps from it.

Chains move in rounds: each rank follows those that stand in its range as far as they stay there, and hands over those
that leave it. A path has one holder; it walks on while rows hold vertices of its own range alone. Where one holds
others, it asks their owners for all their distances at once (and ranks), and hands the path over if the next vertex is
another's: two rounds for a question and one for handing over.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..traverse.chains import follow_within, start_walks
from ..traverse.paths import read_rows, walk_down
from .exchange import hand_over, range_ranks, ranks_of
from .rank import Rank

PATH = "path"
# Steps between two looks at what the holder tells, and those that are told to the client at a time.
_PIECE, _STEPS = 1 << 14, 1 << 17
_NO_IDS = np.empty(0, np.int64)
# What a holder tells with each step: it asks, hands over, has come to the source, has _STEPS, or finds no way.
_ASKS, _HANDS, _ENDS, _FULL, _LOST = 1, 2, 3, 4, 5


# -- chains -------------------------------------------------------------------------------------------
def follow_chains(rank: Rank, tips: np.ndarray) -> np.ndarray:
    """Chains from `tips`, vertices of degree 1, on all ranks together: the walks that come to their end here,
    int64[k, 4] as of follow_within."""
    own = np.flatnonzero((tips >= rank.first) & (tips < rank.stop))
    walks = start_walks(tips[own])
    walks[:, 0] = own
    ended, left = list[np.ndarray](), 1
    while left:
        pending = follow_within(rank.core, walks)
        ended.append(walks[pending == 0])
        walks = walks[pending == 1]
        walks, left = hand_over(rank, walks, walks[:, 1])
    return np.concatenate(ended)




# -- paths --------------------------------------------------------------------------------------------
@dataclass
class PathWalk:
    """A path on its way. holder : rank that goes on. at : vertex it has come to. length : steps so far. lost : whether
    no neighbour was nearer."""

    holder: int
    at: int
    length: int = 0
    lost: bool = False


@dataclass(frozen=True)
class PathStep:
    """What one slice gave on one rank: pieces of the path by the number of their first step, the vertex the path has
    come to, whether it ended, whether there is no way on."""

    pieces: list[tuple[int, np.ndarray]] = field(default_factory=list)
    at: int = -1
    ended: bool = False
    lost: bool = False


def begin_path(rank: Rank, target: int) -> None:
    """A path that stands at `target`."""
    holder = int(np.searchsorted(rank.spec.ranges, target, side="right")) - 1
    rank.objects[PATH] = PathWalk(holder, target)


def walk_some(rank: Rank, key: int, by_rank: bool) -> PathStep:
    """Walk on, on all ranks together, down the distances of a column."""
    walk: PathWalk = rank.objects[PATH]
    until = walk.length + _STEPS
    ranked = by_rank and not rank.store.is_natural
    ranks = range_ranks(rank) if ranked else np.empty(0, rank.store.id_dtype)
    pieces: list[tuple[int, np.ndarray]] = []
    while True:
        what = _walk_on(rank, key, ranks, pieces, until) if rank.number == walk.holder else 0
        row = read_rows(rank.core, np.array([walk.at]))[0] if what == _ASKS else _NO_IDS
        table = rank.alltoall.share(np.array([what, walk.at, walk.length], np.int64))
        what, walk.at, walk.length = table[walk.holder].tolist()
        if what == _HANDS:
            walk.holder = int(np.searchsorted(rank.spec.ranges, walk.at, side="right")) - 1
        elif what == _ASKS:
            _step_among_others(rank, key, ranked, row, pieces)
        else:
            break
    if what != _FULL:
        rank.objects.pop(PATH)
    return PathStep(pieces, walk.at, what == _ENDS, what == _LOST)


def _walk_on(
    rank: Rank, key: int, ranks: np.ndarray, pieces: list[tuple[int, np.ndarray]], until: int
) -> int:
    """The holder walks as far as its own range lets it; what it tells."""
    walk, core, values = rank.objects[PATH], rank.core, rank.values[key]
    if walk.lost:
        return _LOST
    if walk.length >= until:
        return _FULL
    if not rank.first <= walk.at < rank.stop:
        return _HANDS
    path, state = np.empty(_PIECE, np.int64), np.array([walk.at, -1, 0, -1], np.int64)
    while values[state[0]] > 0:
        told = walk_down(values, core.paging, core.offsets, ranks, np.array(core.span), path, state)
        if state[2]:
            pieces.append((walk.length, path[: state[2]].copy()))
            walk.length += int(state[2])
            walk.at = int(state[0])
        if told == -2:
            return _LOST
        if told == -3:
            return _ASKS
        if told >= 0:
            core.pager.load(np.array([told]))
        elif walk.length >= until:
            return _FULL
    return _ENDS


def _step_among_others(
    rank: Rank, key: int, ranked: bool, row: np.ndarray, pieces: list[tuple[int, np.ndarray]]
) -> None:
    """One step of the holder to a neighbour in `row`, its row, some of which others own; others answer (row : none)."""
    walk, values = rank.objects[PATH], rank.values[key]
    distances = rank.alltoall.ask(row, lambda ids: values[ids])
    keys = rank.alltoall.ask(row, lambda ids: ranks_of(rank, ids)) if ranked else row
    if rank.number != walk.holder:
        return
    nearer = np.flatnonzero(distances.astype(np.int64) + 1 == int(values[walk.at]))
    if len(nearer) == 0:
        walk.lost = True
        return
    walk.at = int(row[nearer[keys[nearer].argmin()]])
    pieces.append((walk.length, np.array([walk.at])))
    walk.length += 1
