"""Measured memory and reads of approximations (docs/memory.md, last section).

Clusters: `auto` takes more masters while growing needs more than MOST_ROUNDS rounds. With K random masters among n
vertices, the vertex farthest from all masters has a ball of about (n / K) ln n vertices without a master. So the balls
that a probe counted give the number of rounds. If streamed, the lower bound comes from labels that start with the
bounds of the clusters. On a deep graph that is given up after MOST_SCANS, and all arcs are put in the order of the
labels.
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
# Bytes a vertex, beside labels, for the order of the labels and for shortest paths in it.
_ORDERED_BYTES = 20
# From this distance on, labels are not correct after MOST_SCANS, and without a probe nothing can be predicted.
DEEP = 16
# Share of the blocks that a pass of growing reads.
_PASS_SHARE = 0.75
# A ball around an inner vertex has about twice the vertices of one at the far end.
_INNER_BALL = 2


def condensed_pool(store: Store) -> int:
    """Bytes of a packed arc of the condensed graph for every arc, twice more to sort them, and for a second
    level or another order of them."""
    return 3 * _ARC_BYTES * store.n_arcs


def _deep(inputs: CostInputs) -> bool:
    """Whether the lower bound of a streamed run is expected to need the order of the labels; True without a probe."""
    return not inputs.plan.in_ram and (inputs.probe is None or inputs.probe.lower_bound >= DEEP)


def _rooms(plan: MemoryPlan) -> tuple[int, int]:
    """Bytes of sort buffers, and of arcs in RAM, as in clusters.room_in."""
    share = plan.pool_bytes // 3
    return (LEAST_SORT_BYTES + share) // 2, LEAST_ARC_BYTES + share


def _clusters_held(inputs: CostInputs) -> int:
    """Labels, and the larger of two sorts: of the arcs between clusters, or of all arcs in the order of the labels."""
    store = inputs.store
    n, arcs = store.n_vertices, _ARC_BYTES * store.n_arcs
    ranks = 0 if store.is_natural else n * store.id_dtype.itemsize
    sorting, holding = _rooms(inputs.plan)
    condensing = min(sorting, int(_CROSSING * arcs))
    ordering = min(sorting, arcs) + min(holding, arcs) + _ORDERED_BYTES * n if _deep(inputs) else 0
    return shared_held(inputs) + ranks + _LABEL_BYTES * n + max(condensing, ordering)


def growing_rounds(inputs: CostInputs, probe: Probe) -> int:
    """Rounds of all attempts of `auto` to grow clusters, from the balls that the probe counted."""
    n = max(2, probe.n_reached)
    most, total = most_by_itself(n), 0
    masters = max(1, min(most, math.isqrt(_rooms(inputs.plan)[1] // _ARC_BYTES)))
    while True:
        needed = n / masters * math.log(n) / _INNER_BALL
        rounds = next((r for r, ball in enumerate(probe.balls) if ball >= needed), None)
        if rounds is not None:
            return total + rounds
        if masters == most:  # beyond the counted balls: as if they continued to grow by the same number
            return total + int(min(probe.lower_bound, BALL_ROUNDS * needed / probe.balls[-1]))
        total, masters = total + MOST_ROUNDS, min(most, GROWTH * masters)


def _clusters_reads(inputs: CostInputs, probe: Probe) -> float:
    """Growing, correcting labels, and three scans: to condense, to sort, to check."""
    passes = _PASS_SHARE * (growing_rounds(inputs, probe) + MOST_SCANS) + 3
    return 1 + inputs.away * passes


def _clusters_scratch(store: Store, plan: MemoryPlan) -> int:
    """Condensed arcs for which the pool has no room."""
    return max(0, condensed_pool(store) - plan.pool_bytes)


def _clusters_scratch_reads(inputs: CostInputs) -> int:
    """Arcs in the order of the labels, if there is no room for them."""
    arcs = _ARC_BYTES * inputs.store.n_arcs
    return arcs if _deep(inputs) and arcs > _rooms(inputs.plan)[1] else 0


def _sweep_held(inputs: CostInputs) -> int:
    """Distances, a tree with its heights, and distances of the next BFS."""
    n, ids = inputs.store.n_vertices, inputs.store.id_dtype.itemsize
    ranks = 0 if inputs.store.is_natural else n * ids
    return shared_held(inputs) + ranks + inputs.labels + (3 * inputs.column + 2 * ids) * n


def _sweep_reads(inputs: CostInputs, probe: Probe) -> float:
    """Two BFS, a scan for each of their trees, and a scan that checks the lower bound."""
    return 2 * probe.reads + 3 * inputs.away


# Reads are from docs/memory.md, measured with an eighth of the blocks in the arena. Spanning trees need only scans.
CLUSTERS = CostModel(4, 12, _clusters_held, _clusters_reads, _clusters_scratch, _clusters_scratch_reads)
SWEEP = CostModel(2, 12, _sweep_held, _sweep_reads)
SPANNING = CostModel(4, 8, lambda inputs: planned_held(inputs) + inputs.plan.pool_bytes,
                     lambda inputs, probe: 1 + 7 * inputs.away)
