"""What a run will probably take, beside the plan, which is what it may take at most.

A plan is a promise that holds for the worst graph of its size; a forecast is what usual graphs have been measured
to take, and may be wrong in both directions. Bytes read are known beforehand where the arena holds the graph: every
block once. Streamed, they are `reads` times the blocks, and depend on the graph: how many traversals a proof takes, and
how many levels of each meet how many blocks. A probe (runs/probe.py) measures the second and helps to guess the
first; without one, graphs count as being of small diameter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ..store.store import Store
from ..stream.plan import UNUSED_BYTES, MemoryPlan

# Without a probe: a graph of fewer arcs a vertex is expected to reach beyond 255 levels, one of no more than a tree
# has beyond 65,535.
_FEW_ARCS, _ARCS_OF_A_TREE = 8, 2
# Peaks of the same run differ by up to a fiftieth, and a prediction shall not be below any.
_CUSHION = 50
# Rounds of cluster growing for which the probe knows how many vertices they reach.
BALL_ROUNDS = 32


@dataclass(frozen=True)
class Probe:
    """What a short look at a graph gave; nothing of it is kept in a store.

    Four traversals show what no size does: how far a graph reaches, what a traversal reads at this very arena, and how
    much a proof has left after a few sweeps: a BFS from the hub (the vertex of the highest degree in the largest
    component), one from a vertex farthest from it, one from a vertex farthest from that, and one from the centre, of
    the smallest lower bound by these.

    Distances are in edges, and what is read is in times all blocks of the graph.
    lower_bound : largest eccentricity of the first three. longest : no distance is larger, as methods size columns.
    n_reached : vertices of the component. connected : whether there is no other with an edge. reads : of a BFS, on
    average over the first three. unsettled : vertices whose eccentricity may exceed the lower bound, by the distances
    to the four.
    evaluations : vertices that F-Diam is expected to evaluate after its double sweep, if each takes away the ball of
    its slack. spread_reads : of one such ball, level by level. balls : BALL_ROUNDS + 1 entries, vertices within
    0, 1, ... steps of the second source. seconds : wall time.
    """

    lower_bound: int
    longest: int
    n_reached: int
    connected: bool
    reads: float
    unsettled: int
    evaluations: float
    spread_reads: float
    balls: tuple[int, ...]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class CostInputs:
    """What a forecast is made from. probe : None where nobody looked at the graph."""

    store: Store
    plan: MemoryPlan
    probe: Probe | None = None

    @property
    def away(self) -> float:
        """Share of the blocks that the arena does not hold."""
        return 0.0 if self.plan.in_ram else 1 - self.plan.arena_blocks / self.plan.n_blocks

    @property
    def column(self) -> int:
        """Expected bytes of an entry of a column of distances."""
        n, m = self.store.n_vertices, self.store.n_arcs
        longest = max(0, n - 1)
        if self.probe is not None:
            longest = self.probe.longest
        elif m > _ARCS_OF_A_TREE * n:
            longest = min(longest, 1 << 15 if m < _FEW_ARCS * n else 0)
        return 1 if longest < (1 << 8) - 1 else 2 if longest < (1 << 16) - 1 else 4

    @property
    def tree(self) -> bool:
        """Whether the graph has no more edges than a tree, so that two sweeps find its diameter."""
        reached = self.store.n_vertices if self.probe is None else self.probe.n_reached
        return self.store.n_arcs <= 2 * max(0, reached - 1)

    @property
    def labels(self) -> int:
        """Bytes of labels of components, if there are several."""
        if self.probe is None or self.probe.connected:
            return 0
        n = self.store.n_vertices
        return 4 * (n - self.store.record.n_isolated - self.probe.n_reached) + n * 5 // 32

    @property
    def stored_bytes(self) -> int | None:
        """Encoded bytes of the edges; None where that is not known (a store behind a URL)."""
        return self.store.indices.stored_bytes

    @property
    def buffers(self) -> int:
        """Buffers as far as they are filled: of encoded blocks alone, where all are decoded to their places."""
        stored, decoded = self.stored_bytes, self.store.n_arcs * self.store.id_dtype.itemsize
        if not self.plan.in_ram or stored is None or decoded == 0:
            return self.plan.buffer_bytes
        return min(self.plan.buffer_bytes, self.plan.buffer_bytes * stored // decoded)


@dataclass(frozen=True)
class CostModel:
    """What a method has been measured to do.

    least_reads, usual_reads : how often it reads all edges when no block stays: on the easiest graphs, and (median)
    on graphs of small diameter. held : bytes that it holds beside program and arena. probed_reads : how often it reads
    all edges, by the probe. scratch : (store, plan) -> bytes on disk at worst. scratch_reads : expected bytes that it
    reads from there.
    """

    least_reads: float
    usual_reads: float
    held: Callable[[CostInputs], int]
    probed_reads: Callable[[CostInputs, Probe], float]
    scratch: Callable[[Store, MemoryPlan], int] = lambda store, plan: 0
    scratch_reads: Callable[[CostInputs], int] = lambda inputs: 0


@dataclass(frozen=True)
class Forecast:
    """Sizes in bytes. predicted_rss_bytes : probable peak of resident memory, where kernels need not be compiled,
    never above the plan. reads : how often
    all blocks are expected to be read; least_reads : at least. predicted_bytes_read, least_bytes_read : the same as
    encoded bytes of the store; None where its size is not known (a store behind a URL). scratch_bytes : of temporary
    files, at worst. vram_bytes : of a GPU that holds the whole graph; 0 where nobody asked. certain : whether the bytes
    read are known, because every block is read once. probed : whether the graph has been looked at."""

    predicted_rss_bytes: int
    reads: float
    least_reads: float
    predicted_bytes_read: int | None
    least_bytes_read: int | None
    scratch_bytes: int
    vram_bytes: int
    certain: bool
    probed: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return asdict(self)


def make_forecast(inputs: CostInputs, model: CostModel, on_gpu: bool = False) -> Forecast:
    """The forecast for a run, but for the memory of a GPU. on_gpu : whether the run has a GPU that
    holds the graph, to which every block goes once."""
    plan, stored = inputs.plan, inputs.stored_bytes
    reads, least = _reads(inputs, model, on_gpu)
    predicted = plan.base_bytes - UNUSED_BYTES + model.held(inputs) + plan.arena_bytes
    predicted += predicted // _CUSHION
    if plan.disk_bytes:
        predicted = plan.planned_rss_bytes
    return Forecast(predicted_rss_bytes=min(plan.planned_rss_bytes, predicted), reads=reads, least_reads=least,
                    predicted_bytes_read=None if stored is None else int(reads * stored) + model.scratch_reads(inputs),
                    least_bytes_read=None if stored is None else int(least * stored),
                    scratch_bytes=plan.disk_bytes or model.scratch(inputs.store, plan), vram_bytes=0,
                    certain=plan.in_ram, probed=inputs.probe is not None)


def _reads(inputs: CostInputs, model: CostModel, on_gpu: bool) -> tuple[float, float]:
    """How often all blocks are expected to be read, and at least."""
    first = 0.0 if inputs.plan.n_blocks == 0 else 1.0
    if inputs.plan.in_ram or on_gpu:
        return first, first
    usual, least = (first + inputs.away * max(0.0, many - 1) for many in (model.usual_reads, model.least_reads))
    if inputs.probe is None:
        return usual, least
    reads = max(first, model.probed_reads(inputs, inputs.probe))
    return reads, min(least, reads)


def planned_held(inputs: CostInputs) -> int:
    """Nearly what is planned for columns of the expected width: for methods whose widest phase is short."""
    return max(phase.at_width(inputs.column) for phase in inputs.plan.phases) * 17 // 20 + inputs.plan.buffer_bytes
