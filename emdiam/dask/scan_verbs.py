"""Scans as asked of a rank: steep arcs, arcs between clusters, random samples."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from ..traverse.chains import one_way
from .halo import block_by_block, bring, count_pass, ghost_groups, own_ranks, ranks_of, sweep_own
from .rank import Part
from .scan_kernels import crossing_arcs, sampled, steep_arcs

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
