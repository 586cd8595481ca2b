"""What approximations have been measured to hold and to read (docs/memory.md, last section).

Clusters: `auto` takes more masters while growing needs more than MOST_ROUNDS rounds. With K masters at random among n
vertices the farthest vertex from one has a ball with about (n / K) ln n vertices and no master in it, so the balls
that a probe counted tell the rounds. Streamed, the lower bound comes from labels that start with what the clusters
know; where the graph is deep that is given up after MOST_SCANS, and all arcs are put in the order of the labels.
"""

from __future__ import annotations

import math

from ...store.store import Store
from ...stream.plan import MemoryPlan
from ..exact.cost_model import shared_held
from ..forecast import BALL_ROUNDS, CostInputs, CostModel, Probe, planned_held
from .cluster_bounds import MOST_SCANS
from .condensed import LEAST_ARC_BYTES, LEAST_SORT_BYTES
from .masters import GROWTH, MOST_ROUNDS, most_by_itself

_ARC_BYTES, _LABEL_BYTES = 8, 4
# Share of the arcs that lead from one cluster to another.
_CROSSING = 0.6
# Bytes a vertex, beside labels, of the order of the labels and of shortest paths in it.
_ORDERED_BYTES = 20
# From so large a distance on, labels are not mended in MOST_SCANS, and a forecast without a probe says nothing.
DEEP = 16
# Share of the blocks that a pass of growing has to look at.
_PASS_SHARE = 0.75
# A ball about a vertex inside has about twice the vertices of one about the far end.
_INNER_BALL = 2


def condensed_pool(store: Store) -> int:
    """A packed arc of the condensed graph for every arc, as much again to sort them, and for a second
    level or another order of them."""
    return 3 * _ARC_BYTES * store.n_arcs


def _deep(inputs: CostInputs) -> bool:
    """Whether the lower bound of a streamed run is expected to need the order of the labels; so it is where nobody
    looked at the graph."""
    return not inputs.plan.in_ram and (inputs.probe is None or inputs.probe.lower_bound >= DEEP)


def _rooms(plan: MemoryPlan) -> tuple[int, int]:
    """Bytes of sort buffers, and of arcs in RAM; as clusters.room_in has them."""
    share = plan.pool_bytes // 3
    return (LEAST_SORT_BYTES + share) // 2, LEAST_ARC_BYTES + share


def _clusters_held(inputs: CostInputs) -> int:
    """Labels, and the widest of two sorts: of the arcs between clusters, or of all arcs in the order of the labels."""
    store = inputs.store
    n, arcs = store.n_vertices, _ARC_BYTES * store.n_arcs
    ranks = 0 if store.is_natural else n * store.id_dtype.itemsize
    sorting, holding = _rooms(inputs.plan)
    condensing = min(sorting, int(_CROSSING * arcs))
    ordering = min(sorting, arcs) + min(holding, arcs) + _ORDERED_BYTES * n if _deep(inputs) else 0
    return shared_held(inputs) + ranks + _LABEL_BYTES * n + max(condensing, ordering)


def growing_rounds(inputs: CostInputs, probe: Probe) -> int:
    """Rounds of all attempts of `auto` to grow clusters, by the balls that the probe counted."""
    n = max(2, probe.n_reached)
    most, total = most_by_itself(n), 0
    masters = max(1, min(most, math.isqrt(_rooms(inputs.plan)[1] // _ARC_BYTES)))
    while True:
        needed = n / masters * math.log(n) / _INNER_BALL
        rounds = next((r for r, ball in enumerate(probe.balls) if ball >= needed), None)
        if rounds is not None:
            return total + rounds
        if masters == most:  # beyond the balls that were counted: as if they went on growing by the same length
            return total + int(min(probe.lower_bound, BALL_ROUNDS * needed / probe.balls[-1]))
        total, masters = total + MOST_ROUNDS, min(most, GROWTH * masters)


def _clusters_reads(inputs: CostInputs, probe: Probe) -> float:
    """Growing, mending labels, and three scans: to condense, to put in order, to check."""
    passes = _PASS_SHARE * (growing_rounds(inputs, probe) + MOST_SCANS) + 3
    return 1 + inputs.away * passes


def _clusters_scratch(store: Store, plan: MemoryPlan) -> int:
    """Condensed arcs that the pool has no room for."""
    return max(0, condensed_pool(store) - plan.pool_bytes)


def _clusters_scratch_reads(inputs: CostInputs) -> int:
    """Arcs in the order of the labels, where there is no room for them."""
    arcs = _ARC_BYTES * inputs.store.n_arcs
    return arcs if _deep(inputs) and arcs > _rooms(inputs.plan)[1] else 0


def _sweep_held(inputs: CostInputs) -> int:
    """Distances, a tree with its heights, and distances of the next BFS."""
    n, ids = inputs.store.n_vertices, inputs.store.id_dtype.itemsize
    ranks = 0 if inputs.store.is_natural else n * ids
    return shared_held(inputs) + ranks + inputs.labels + (3 * inputs.column + 2 * ids) * n


def _sweep_reads(inputs: CostInputs, probe: Probe) -> float:
    """Two BFS; a scan for each of their trees, and one that checks the lower bound."""
    return 2 * probe.reads + 3 * inputs.away


# Reads are of docs/memory.md, measured with an eighth of the blocks in the arena. Spanning trees come from scans alone.
CLUSTERS = CostModel(4, 12, _clusters_held, _clusters_reads, _clusters_scratch, _clusters_scratch_reads)
SWEEP = CostModel(2, 12, _sweep_held, _sweep_reads)
SPANNING = CostModel(4, 8, lambda inputs: planned_held(inputs) + inputs.plan.pool_bytes,
                     lambda inputs, probe: 1 + 7 * inputs.away)
