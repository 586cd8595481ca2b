"""The probable cost of a run, while the plan has its largest possible memory.

A plan is a promise that holds for the worst graph of its size. A forecast is the measured cost of usual graphs,
and may be wrong in both directions. If the arena has room for the graph, bytes read are known in advance:
every block once. If the graph is streamed, they are `reads` times the blocks, and depend on the graph: on the number of
traversals of a proof, and on the blocks that their levels meet. A probe (runs/probe.py) measures the second and helps
to guess the first; without a probe, graphs count as having small diameter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ..store.store import Store
from ..stream.plan import UNUSED_BYTES, MemoryPlan

# Without a probe: a graph with fewer arcs a vertex than _FEW_ARCS is expected to have distances beyond 255, one with no
# more than a tree, beyond 65,535.
_FEW_ARCS, _ARCS_OF_A_TREE = 8, 2
# On all measured graphs with at least this number of arcs a vertex a proof reads little; with fewer, it varies widely.
_MANY_ARCS = 14
# Peaks of the same run differ by up to a fiftieth, and a prediction should not be below any of them.
_CUSHION = 50
# Rounds of cluster growing for which the probe counts the reached vertices.
BALL_ROUNDS = 32


@dataclass(frozen=True)
class Probe:
    """The result of a short look at a graph; it is not stored.

    Four traversals show what sizes do not: the distances of the graph, the reads of a traversal with this arena, and
    the vertices that a proof leaves open after a few sweeps. They start at the hub (the vertex of the highest degree in
    the largest component), at a vertex farthest from it, at a vertex farthest from that, and at the centre, which has
    the smallest lower bound from these.

    Distances are in edges; reads are in multiples of all blocks of the graph.
    lower_bound : largest eccentricity of the first three. longest : an upper bound on distances, by which methods size
    columns. n_reached : vertices of the component. connected : whether no other component has an edge. reads : of a
    BFS, on average over the first three. unsettled : vertices whose eccentricity may exceed the lower bound, by the
    distances to the four.
    evaluations : vertices that F-Diam is expected to evaluate after its double sweep, if each removes the ball of
    its slack. spread_reads : of one of these balls, level by level. balls : BALL_ROUNDS + 1 entries, vertices within
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
    """The input of a forecast. probe : None if the graph was not probed."""

    store: Store
    plan: MemoryPlan
    probe: Probe | None = None

    @property
    def away(self) -> float:
        """Share of the blocks that the arena has no room for."""
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
    def dense(self) -> bool:
        """Whether vertices with an arc have at least _MANY_ARCS on average."""
        return self.store.n_arcs >= _MANY_ARCS * (self.store.n_vertices - self.store.record.n_isolated)

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
        """Encoded bytes of the edges; None if not known (a store behind a URL)."""
        return self.store.indices.stored_bytes

    @property
    def buffers(self) -> int:
        """Bytes of buffers that are really used: if all blocks are decoded to their places, only those of encoded
        blocks."""
        stored, decoded = self.stored_bytes, self.store.n_arcs * self.store.id_dtype.itemsize
        if not self.plan.in_ram or stored is None or decoded == 0:
            return self.plan.buffer_bytes
        return min(self.plan.buffer_bytes, self.plan.buffer_bytes * stored // decoded)


@dataclass(frozen=True)
class CostModel:
    """Measured costs of a method.

    least_reads, usual_reads : how often it reads all edges if no block stays in memory: on the easiest graphs, and
    (median) on graphs of small diameter. extra_bytes : beside program and arena. probed_reads : how often it reads all
    edges, by the probe. scratch : (store, plan) -> bytes on disk at worst. scratch_reads : expected bytes that it reads
    from there. most_reads : the largest number on measured graphs, None if few were measured.
    dense_reads : usual and largest number for graphs with many arcs a vertex; None: the same as for others.
    """

    least_reads: float
    usual_reads: float
    extra_bytes: Callable[[CostInputs], int]
    probed_reads: Callable[[CostInputs, Probe], float]
    scratch: Callable[[Store, MemoryPlan], int] = lambda store, plan: 0
    scratch_reads: Callable[[CostInputs], int] = lambda inputs: 0
    most_reads: float | None = None
    dense_reads: tuple[float, float] | None = None

    def usual(self, inputs: CostInputs) -> tuple[float, float | None]:
        """How often all edges are read on graphs with a similar number of arcs a vertex: usually, and at most on
        measured graphs (None: not measured)."""
        if self.dense_reads is not None and inputs.dense:
            return self.dense_reads
        return self.usual_reads, self.most_reads


@dataclass(frozen=True)
class Forecast:
    """Sizes in bytes. predicted_rss_bytes : probable peak of resident memory without compilation of kernels, never
    above the plan. reads : how often all blocks are expected to be read; least_reads : at least. predicted_bytes_read,
    least_bytes_read : the same in encoded bytes of the store; None if its size is not known (a store behind a URL).
    scratch_bytes : of temporary files, at worst. vram_bytes : of a GPU that has the whole graph; 0 if not asked for.
    certain : whether the bytes read are known, because every block is read once. probed : whether a probe was used.
    most_reads : the largest number of reads on similar measured graphs; None if not known, or after a probe."""

    predicted_rss_bytes: int
    reads: float
    least_reads: float
    predicted_bytes_read: int | None
    least_bytes_read: int | None
    scratch_bytes: int
    vram_bytes: int
    certain: bool
    probed: bool
    most_reads: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return asdict(self)


def make_forecast(inputs: CostInputs, model: CostModel, on_gpu: bool = False) -> Forecast:
    """The forecast for a run, without the memory of a GPU. on_gpu : whether the run has a GPU with room for the graph,
    to which every block is copied once."""
    plan, stored = inputs.plan, inputs.stored_bytes
    least, reads, most = _reads(inputs, model, on_gpu)
    predicted = plan.base_bytes - UNUSED_BYTES + model.extra_bytes(inputs) + plan.arena_bytes
    predicted += predicted // _CUSHION
    if plan.disk_bytes:
        predicted = plan.planned_rss_bytes
    return Forecast(predicted_rss_bytes=min(plan.planned_rss_bytes, predicted), reads=reads, least_reads=least,
                    predicted_bytes_read=None if stored is None else int(reads * stored) + model.scratch_reads(inputs),
                    least_bytes_read=None if stored is None else int(least * stored),
                    scratch_bytes=plan.disk_bytes or model.scratch(inputs.store, plan), vram_bytes=0,
                    certain=plan.in_ram, probed=inputs.probe is not None, most_reads=most)


def _reads(inputs: CostInputs, model: CostModel, on_gpu: bool) -> tuple[float, float, float | None]:
    """How often all blocks are read at least, probably, and at most on similar measured graphs."""
    first = 0.0 if inputs.plan.n_blocks == 0 else 1.0
    if inputs.plan.in_ram or on_gpu:
        return first, first, None
    least, usual, most = (None if many is None else first + inputs.away * max(0.0, many - 1)
                          for many in (model.least_reads, *model.usual(inputs)))
    assert least is not None and usual is not None
    if inputs.probe is None:
        return least, usual, most
    reads = max(first, model.probed_reads(inputs, inputs.probe))
    return min(least, reads), reads, None


def planned_held(inputs: CostInputs) -> int:
    """Nearly the planned memory for columns of the expected width: for methods whose widest phase is short."""
    return max(phase.at_width(inputs.column) for phase in inputs.plan.phases) * 17 // 20 + inputs.plan.buffer_bytes
