"""Walks over all ranks: chains, and paths down a column of distances. The owner of a vertex takes the steps from it.

Chains move in rounds: each rank follows those that stand in its range as far as they stay there, and hands over those
that leave it. A path has one holder; it walks on while rows hold vertices of its own range alone. Where one holds
others, it asks their owners for all their distances at once (and ranks), and hands the path over if the next vertex is
another's: two rounds for a question and one for handing over.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from ..traverse.chains import follow_within, start_walks
from ..traverse.paths import read_rows, walk_down
from .exchange import Post, own_ranks, ranks_of
from .rank import Part
from .search import SLICE_SECONDS

CHAINS, PATH = "chains", "path"
_PIECE = 1 << 14
_NO_IDS = np.empty(0, np.int64)
# What a holder tells with each step: it asks, hands over, has come to the source, is late, or finds no way.
_ASKS, _HANDS, _ENDS, _LATE, _LOST = 1, 2, 3, 4, 5


# -- chains -------------------------------------------------------------------------------------------
def begin_chains(part: Part, tips: np.ndarray) -> None:
    """Put chains at those of `tips`, vertices of degree 1, that are of this range."""
    own = np.flatnonzero((tips >= part.first) & (tips < part.stop))
    walks = start_walks(tips[own])
    walks[:, 0] = own
    part.objects[CHAINS] = walks


def follow_some(part: Part) -> tuple[np.ndarray, bool]:
    """Walk on, on all ranks together: the walks that have come to their end here, int64[k, 4] as of follow_within,
    and whether all have."""
    until = time.perf_counter() + SLICE_SECONDS
    walks, ended = part.objects[CHAINS], list[np.ndarray]()
    while True:
        pending = follow_within(part.core, walks)
        ended.append(walks[pending == 0])
        walks, left, late = _hand_over(part, walks[pending == 1], time.perf_counter() >= until)
        if not left or late:
            break
    part.objects[CHAINS] = walks
    if not left:
        part.objects.pop(CHAINS)
    return np.concatenate(ended), not left


def _hand_over(part: Part, walks: np.ndarray, late: bool) -> tuple[np.ndarray, int, bool]:
    """Give walks to the owners of where they stand: (those that come here, how many move in all, whether the slice is
    over)."""
    owners = np.searchsorted(part.spec.ranges, walks[:, 1], side="right") - 1
    letters = {rank: np.ascontiguousarray(walks[owners == rank]).reshape(-1).view(np.uint8)
               for rank in part.mail.others if (owners == rank).any()}
    incoming, table = part.mail.swap(letters, np.array([len(walks), int(late and part.rank == 0)], np.int64))
    mine = [letter.copy().view(np.int64).reshape(-1, 4) for letter in incoming.values() if len(letter)]
    return np.concatenate([np.empty((0, 4), np.int64), *mine]), int(table[:, 0].sum()), bool(table[0, 1])


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


def begin_path(part: Part, target: int) -> None:
    """A path that stands at `target`."""
    holder = int(np.searchsorted(part.spec.ranges, target, side="right")) - 1
    part.objects[PATH] = PathWalk(holder, target)


def walk_some(part: Part, key: int, by_rank: bool) -> PathStep:
    """Walk on, on all ranks together, down the distances of a column."""
    walk, until = part.objects[PATH], time.perf_counter() + SLICE_SECONDS
    ranked = by_rank and not part.store.is_natural
    ranks = own_ranks(part) if ranked else np.empty(0, part.store.id_dtype)
    pieces: list[tuple[int, np.ndarray]] = []
    while True:
        what = _walk_on(part, key, ranks, pieces, until) if part.rank == walk.holder else 0
        row = read_rows(part.core, np.array([walk.at]))[0] if what == _ASKS else _NO_IDS
        table = part.mail.swap({}, np.array([what, walk.at, walk.length], np.int64))[1]
        what, walk.at, walk.length = table[walk.holder].tolist()
        if what == _HANDS:
            walk.holder = int(np.searchsorted(part.spec.ranges, walk.at, side="right")) - 1
        elif what == _ASKS:
            _step_among_others(part, key, ranked, row, pieces)
        else:
            break
    if what != _LATE:
        part.objects.pop(PATH)
    return PathStep(pieces, walk.at, what == _ENDS, what == _LOST)


def _walk_on(
    part: Part, key: int, ranks: np.ndarray, pieces: list[tuple[int, np.ndarray]], until: float
) -> int:
    """The holder walks as far as its own range lets it; what it tells."""
    walk, core, values = part.objects[PATH], part.core, part.values[key]
    if walk.lost:
        return _LOST
    if time.perf_counter() >= until:
        return _LATE
    if not part.first <= walk.at < part.stop:
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
        elif time.perf_counter() >= until:
            return _LATE
    return _ENDS


def _step_among_others(
    part: Part, key: int, ranked: bool, row: np.ndarray, pieces: list[tuple[int, np.ndarray]]
) -> None:
    """One step of the holder to a neighbour in `row`, its row, some of which others own; others answer (row : none)."""
    walk, values, post = part.objects[PATH], part.values[key], Post(part.mail, part.spec.ranges)
    distances = post.ask(row, lambda ids: values[ids])
    keys = post.ask(row, lambda ids: ranks_of(part, ids)) if ranked else row
    if part.rank != walk.holder:
        return
    nearer = np.flatnonzero(distances.astype(np.int64) + 1 == int(values[walk.at]))
    if len(nearer) == 0:
        walk.lost = True
        return
    walk.at = int(row[nearer[keys[nearer].argmin()]])
    pieces.append((walk.length, np.array([walk.at])))
    walk.length += 1
