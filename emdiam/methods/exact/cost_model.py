"""Measured memory and reads of exact methods (docs/memory.md, last section).

Bytes a vertex follow from the width of a column and from the results of a probe. Reads are those of a BFS, as the probe
measured them, times the traversals of a proof.
"""

from __future__ import annotations

from ...store.store import Store
from ...stream.blocks import table_bytes
from ...stream.plan import MemoryPlan
from ...traverse.multi import WORD_BITS, batch_bytes
from ...traverse.workspace import column_bytes, workspace_bytes
from ..forecast import CostInputs, CostModel, Probe, planned_held
from .candidates import MANY_BOXED
from .pivot_columns import MOST_KEPT

# Blocks read by a BFS on the graphs of small diameter on which usual reads were measured, divided by all blocks.
USUAL_BFS_READS = 3.6
# BFS of a streamed proof by pivots: of a tree, if four sweeps settle all vertices, and else (the middle of 4 to 10).
_TREE_BFS, _SETTLED_BFS, _PIVOT_BFS = 3, 4, 7
# Passes of a proof by pivots over all edges of a graph in memory: BFS, components, BFS and check of the witness.
PIVOT_SCANS = _PIVOT_BFS + 3
# BFS of F-Diam beside those of evaluated vertices: the double sweep. On a tree: all its BFS.
_FDIAM_BFS, _FDIAM_TREE_BFS = 2, 7
# The ball of a vertex in the middle of a periphery meets about twice the blocks of one at the far end.
_INNER_BALL = 2


def shared_held(inputs: CostInputs) -> int:
    """Offsets and the memory to build them, the state of traversals, and buffers."""
    store = inputs.store
    return table_bytes(store) + workspace_bytes(store.n_vertices, store.id_dtype.itemsize) + inputs.buffers


def _pivots_held(inputs: CostInputs) -> int:
    """Bounds, the current column and that of the first BFS; then candidates with their distances, or a batch. If very
    many vertices are open, boxes leave few as candidates, on most graphs."""
    n, column = inputs.store.n_vertices, inputs.column
    columns = 5 * column * n
    if inputs.tree:
        return shared_held(inputs) + inputs.labels + columns
    open_vertices = (n // 2 if column == 1 else n) if inputs.probe is None else inputs.probe.unsettled
    candidates = min(open_vertices, MANY_BOXED) * (24 + 24 * column)
    batch = batch_bytes(n, WORD_BITS) if column == 1 and open_vertices > 1 else 0
    return shared_held(inputs) + inputs.labels + columns + min(inputs.plan.pool_bytes, max(candidates, batch))


def _fdiam_held(inputs: CostInputs) -> int:
    """The recorded bounds and those of chains."""
    return shared_held(inputs) + inputs.labels + 2 * inputs.column * inputs.store.n_vertices


def _pivots_reads(inputs: CostInputs, probe: Probe) -> float:
    """Traversals, and the scan that checks the witness."""
    settled = _SETTLED_BFS if probe.unsettled <= 1 else _PIVOT_BFS
    return (_TREE_BFS if inputs.tree else settled) * probe.reads + inputs.away


def _fdiam_reads(inputs: CostInputs, probe: Probe) -> float:
    """Evaluated vertices and their balls, which are spread level by level."""
    if inputs.tree:
        return _FDIAM_TREE_BFS * probe.reads + inputs.away
    balls = _INNER_BALL * probe.evaluations * probe.spread_reads * inputs.away
    return (_FDIAM_BFS + probe.evaluations) * probe.reads + balls + inputs.away


def bfs_cost(least_reads: float, usual_reads: float) -> CostModel:
    """A method whose number of BFS is the same on any graph, and follows from its usual reads on graphs of small
    diameter."""
    return CostModel(least_reads, usual_reads, planned_held,
                     lambda inputs, probe: usual_reads / USUAL_BFS_READS * probe.reads + inputs.away)


def _pivots_scratch(store: Store, plan: MemoryPlan) -> int:
    """Bytes of the columns for which half of the pool has no room."""
    kept = MOST_KEPT * store.n_vertices * column_bytes(store.n_vertices)
    return max(0, kept - plan.pool_bytes // 2)


# Reads are measured with an eighth of the blocks in the arena. Proofs by pivots read all
# edges 3 to 10 times for ten graphs with many arcs a vertex, and 6 to 173 times for thirteen others.
PIVOTS = CostModel(3, 30, _pivots_held, _pivots_reads, _pivots_scratch, most_reads=200, dense_reads=(7, 12))
FDIAM = CostModel(4, 120, _fdiam_held, _fdiam_reads)


def apsp_cost(n_batches: int) -> CostModel:
    """A BFS from every vertex, in n_batches batches: each has the reads of three scans, or of a BFS if that is
    more."""
    def reads(inputs: CostInputs, probe: Probe) -> float:
        return n_batches * max(3 * inputs.away, probe.reads)

    return CostModel(n_batches, 3 * n_batches, planned_held, reads)
