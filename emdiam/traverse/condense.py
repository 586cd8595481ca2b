"""From clusters to the condensed graph: one scan over all arcs, lightest parallel edge kept.

An arc (u, w) whose ends lie in clusters A and B joins A and B with the weight d(u) + 1 + d(w), d
being the distance to the cluster's master: the length of a walk from master to master. Both
directions of an edge are met, so that the condensed arcs come out in both directions too. They are
sorted out of core (weighted/collect.py) in the very order in which shortest paths read them later.
Bytes: 8 an arc in flight; the collector's budget. Source: Ajwani, Beckmann, Meyer, Veith (2012),
section 2 (parametrized approximation).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_start
from ..stream.pager import Tick
from .atomics import atomic_add
from .chains import one_way
from .clusters import Labels
from .core import Core
from .labels import OWNER_BITS

Push = Callable[[np.ndarray], None]


def push_condensed(
    core: Core, labels: Labels, bits: tuple[int, int], push: Push, tick: Tick | None = None
) -> None:
    """Hand the packed arcs between different clusters to `push`, in pieces and from several threads.

    bits : (bits of a cluster's number, bits of a weight); a packed arc is uint64, (A, B, weight)
    from the highest bits down.
    """
    _push(core, crossing_arcs, labels.raw, bits, push, tick)


def push_renumbered(
    core: Core, places: np.ndarray, bits: tuple[int, int], push: Push, tick: Tick | None = None
) -> None:
    """Hand all arcs, with places[v] (id[n]) in place of v and the weight 1, to `push`, as
    push_condensed does."""
    _push(core, renumbered_arcs, places, bits, push, tick)


def _push(
    core: Core, kernel: Callable[..., int], values: np.ndarray, bits: tuple[int, int], push: Push, tick: Tick | None
) -> None:
    table = core.table
    shifts = np.array([bits[0] + bits[1], bits[1]], np.uint64)

    def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
        arcs = 0
        while True:
            found = np.empty(1 << table.shift, np.uint64)
            taken = np.zeros(2, np.int64)
            scanned = int(kernel(chunks, position, turn, ids, table.shift, table.first_vertex, *core.offsets, values,
                                 shifts, found, taken))
            if scanned < 0:
                raise one_way(-1 - scanned)
            arcs += scanned
            if not taken[1]:
                return arcs
            if taken[0]:
                push(found[: taken[0]])

    arcs = core.pager.sweep(np.arange(table.n_blocks), run, tick) if table.n_blocks else 0
    core.counters.add(passes=1, edges_scanned=arcs)


@kernel
def crossing_arcs(chunks, position, turn, ids, shift, first_vertex, group, row, hub, labels, shifts, found,
                  taken):  # type: ignore[no-untyped-def]
    """Pack the arcs of one block (the next of `turn`) between different clusters into `found`.

    taken : int64[2], arcs written and blocks taken (0 or 1). Returns arcs scanned, or -1 - v for a vertex v one end of
    whose arcs is in no cluster, which only rows that are not symmetric can have."""
    owner_mask = np.uint64(0xFFFFFFFF)
    distance_shift = np.uint64(OWNER_BITS)
    k = atomic_add(turn, 0, 1)
    if k >= len(chunks):
        return 0
    taken[1] = 1
    n_vertices = first_vertex[len(first_vertex) - 1]
    n_arcs = row_start(group, row, hub, n_vertices)
    low = chunks[k] << shift
    high = min(low + (1 << shift), n_arcs)
    base = position[k] - low
    count = 0
    for v in range(first_vertex[chunks[k]], min(first_vertex[chunks[k] + 1], n_vertices - 1) + 1):
        start = max(row_start(group, row, hub, v), low)
        end = min(row_start(group, row, hub, v + 1), high)
        mine = labels[v]
        own = mine & owner_mask
        weight = (mine >> distance_shift) + np.uint64(1)
        for p in range(base + start, base + end):
            other = labels[ids[p]]
            owner = other & owner_mask
            if owner != own:
                if own == owner_mask or owner == owner_mask:
                    return -1 - v
                found[count] = ((own << shifts[0]) | (owner << shifts[1])) | (weight + (other >> distance_shift))
                count += 1
    taken[0] = count
    return high - low


@kernel
def renumbered_arcs(chunks, position, turn, ids, shift, first_vertex, group, row, hub, places, shifts, found,
                    taken):  # type: ignore[no-untyped-def]
    """Pack the arcs of one block (the next of `turn`), renumbered, into `found`; as crossing_arcs."""
    k = atomic_add(turn, 0, 1)
    if k >= len(chunks):
        return 0
    taken[1] = 1
    n_vertices = first_vertex[len(first_vertex) - 1]
    n_arcs = row_start(group, row, hub, n_vertices)
    low = chunks[k] << shift
    high = min(low + (1 << shift), n_arcs)
    base = position[k] - low
    count = 0
    for v in range(first_vertex[chunks[k]], min(first_vertex[chunks[k] + 1], n_vertices - 1) + 1):
        own = np.uint64(places[v]) << shifts[0]
        start = max(row_start(group, row, hub, v), low)
        end = min(row_start(group, row, hub, v + 1), high)
        for p in range(base + start, base + end):
            found[count] = own | (np.uint64(places[ids[p]]) << shifts[1]) | np.uint64(1)
            count += 1
    taken[0] = count
    return high - low
