"""From clusters to the condensed graph: one scan over all arcs, keeping the lightest parallel edge.

An arc (u, w) with ends in clusters A and B joins A and B with the weight d(u) + 1 + d(w), where d is the distance to
the cluster's master. That is the length of a walk from master to master. Both directions of an edge are met, so that
condensed arcs have both directions too. They are sorted out of core (paths/condensed/collect.py) in the order in which
shortest paths read them later.
Bytes: 8 an arc in flight; the collector's budget. Source: Ajwani, Beckmann, Meyer, Veith (2012),
section 2 (parametrized approximation).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from .clusters import RamLabels
from .core import Core
from .paths import one_way
from .rows import buffered_walk, every_row

Push = Callable[[np.ndarray], None]


class RowChoice(NamedTuple):
    """A choice of rows: of clusters whose level is not below the least one. levels : uint8[K]. least : int64[1]; it may
    rise meanwhile, and rows below it are then left out sooner or later. Levels of length 0: all rows."""

    levels: np.ndarray
    least: np.ndarray


ALL_ROWS = RowChoice(np.empty(0, np.uint8), np.zeros(1, np.int64))


def push_condensed(
    core: Core, labels: RamLabels, bits: tuple[int, int], push: Push, tick: Tick = no_tick,
    choice: RowChoice = ALL_ROWS,
) -> None:
    """Pass the packed arcs between different clusters to `push`, in pieces and from several threads.

    bits : (bits of a cluster's number, bits of a weight). A packed arc is uint64, (A, B, weight) from the highest bits
    down. choice : for each edge only one arc is passed, from the end of higher level (ties: the smaller number), if
    that is among these rows; ALL_ROWS: all arcs. Blocks without a row that is chosen at the beginning are not read.
    """
    values, blocks = labels.packed.values, core.blocks
    if choice.least[0]:
        mark_chosen(values, labels.packed.bits, *choice, core.work.frontier)
        blocks = core.blocks_with(core.work.frontier)
    _push(core, blocks, values, (*bits, labels.packed.bits), push, tick, (crossing_arcs, *choice))


def push_renumbered(
    core: Core, places: np.ndarray, bits: tuple[int, int], push: Push, tick: Tick = no_tick
) -> None:
    """Pass all arcs to `push`, with places[v] (id[n]) in place of v and weight 1, as push_condensed does."""
    _push(core, core.blocks, places, (*bits, 0), push, tick, (renumbered_arcs,))


def _push(
    core: Core, blocks: np.ndarray, values: np.ndarray, bits: tuple[int, int, int], push: Push, tick: Tick,
    kernel: tuple[Any, ...],
) -> None:
    """kernel : the kernel, followed by its further arguments."""
    shifts, wrong = shifts_of(*bits), np.full(1, -1, np.int64)
    arcs = core.gather(blocks, kernel[0], values, values, 0, shifts, wrong, *kernel[1:], take=push, tick=tick,
                       new_buffer=lambda: np.empty(1 << core.table.shift, np.uint64))
    if wrong[0] >= 0:
        raise one_way(int(wrong[0]))
    core.counters.add(passes=1, edges_scanned=arcs)


def shifts_of(id_bits: int, weight_bits: int, owner_bits: int) -> np.ndarray:
    """uint64[3], in the form that kernels take: the shifts of both ends of a packed arc, and of the distance in a
    label."""
    return np.array([id_bits + weight_bits, weight_bits, owner_bits], np.uint64)


@inlined
def _pack_crossing(state, ids, v, begin, end, whole):
    labels, heads, low, shifts, wrong, packed, count, levels, least = state
    distance_shift = shifts[2]
    owner_mask = (np.uint64(1) << distance_shift) - np.uint64(1)
    mine = np.uint64(labels[v])
    own = mine & owner_mask
    chooses, level = len(levels) > 0, np.uint8(0)
    if chooses and own != owner_mask:
        level = levels[np.int64(own)]
        if level < least[0]:
            return 0, False
    weight = (mine >> distance_shift) + np.uint64(1)
    written = count[0]
    for p in range(begin, end):
        at = np.int64(ids[p]) - low
        if np.uint64(at) >= np.uint64(len(heads)):
            continue
        other = np.uint64(heads[at])
        owner = other & owner_mask
        if owner == own:
            continue
        if own == owner_mask or owner == owner_mask:
            wrong[0] = v
            break
        if chooses:
            over = levels[np.int64(owner)]
            if over > level or (over == level and owner < own):
                continue
        packed[written] = ((own << shifts[0]) | (owner << shifts[1])) | (weight + (other >> distance_shift))
        written += 1
    count[0] = written
    return end - begin, False


@inlined
def _pack_renumbered(state, ids, v, begin, end, whole):
    places, heads, low, shifts, _, packed, count = state
    own = np.uint64(places[v]) << shifts[0]
    written = count[0]
    for p in range(begin, end):
        at = np.int64(ids[p]) - low
        if np.uint64(at) < np.uint64(len(heads)):
            packed[written] = own | (np.uint64(heads[at]) << shifts[1]) | np.uint64(1)
            written += 1
    count[0] = written
    return end - begin, False


_walk_crossing = buffered_walk(every_row, _pack_crossing)
_walk_renumbered = buffered_walk(every_row, _pack_renumbered)


@kernel
def crossing_arcs(piece, layout, labels, heads, low, shifts, wrong, levels, least, packed, count):
    """Pack the arcs between different clusters to the vertices low, low + 1, ... whose labels are `heads`.

    labels : uint64[n], correct in the span. wrong : int64[1], set to a vertex with an arc to or from a vertex in no
    cluster; this happens only if rows are not symmetric. levels, least : a RowChoice. packed : uint64[k]. count : see
    buffered_walk. Returns arcs scanned. If heads are all labels, an arc is looked at once; else once for each part of
    them."""
    state = labels, heads, low, shifts, wrong, packed, count, levels, least
    return _walk_crossing(piece, layout, state, len(packed), count)


@kernel
def renumbered_arcs(piece, layout, places, heads, low, shifts, wrong, packed, count):
    """Pack all arcs, renumbered by places (id[n]); as crossing_arcs."""
    state = places, heads, low, shifts, wrong, packed, count
    return _walk_renumbered(piece, layout, state, len(packed), count)


@kernel
def mark_chosen(labels, owner_bits, levels, least, bitmap):
    """bitmap = the vertices of the clusters of a RowChoice."""
    bitmap[:] = np.uint64(0)
    mask = (np.uint64(1) << np.uint64(owner_bits)) - np.uint64(1)
    for v in range(len(labels)):
        owner = np.uint64(labels[v]) & mask
        if owner != mask and levels[np.int64(owner)] >= least[0]:
            bitmap[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
