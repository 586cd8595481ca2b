"""What a run over workers would take at a size that nobody has measured, and what of it would break first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from emdiam.units import format_size

from .scaling_model import (
    COLUMN_BYTES,
    DENSE_PASSES,
    Costs,
    Forecast,
    Machines,
    Shape,
    between,
    enlarged,
    forecast_bfs,
    worker_memory,
)

# Verbs on columns that pivots ask of all workers for each traversal, and passes of these over the range.
VERBS = 8
_INDPTR_BYTES = 8
_UINT32_VERTICES = 2**32 - 1
_ADDRESSES = 2**47
_OPEN_FILES = 1024
_FREE = 0.5


@dataclass(frozen=True)
class Limit:
    """One thing that can break. load : need over what there is; from 1 on it breaks, or is what the time goes into.
    fatal : the run is refused or fails; otherwise it is slower than it might be."""

    name: str
    load: float
    fatal: bool
    why: str


@dataclass(frozen=True)
class Run:
    """bfs : one traversal. open_seconds : offsets and blocks read once. seconds, bytes : of the run, all workers."""

    bfs: Forecast
    open_seconds: float
    seconds: float
    bytes: float
    memory: dict[str, float]
    limits: list[Limit]


def forecast_run(shape: Shape, n_arcs: float, machines: Machines, costs: Costs, traversals: int) -> Run:
    """A run of so many BFS and what pivots do with each: verbs on columns of the ranges."""
    n = enlarged(shape, n_arcs)[0]
    bfs = forecast_bfs(shape, n_arcs, machines, costs)
    memory = worker_memory(shape, n_arcs, machines, costs.base_bytes)
    own = n / machines.workers
    arcs = memory["arena"] / max(memory["blocks"], 1.0) * n_arcs / machines.workers
    read = _INDPTR_BYTES * own + arcs * shape.bytes_per_arc
    opened = max(read / machines.disk, arcs * costs.decode_arc / machines.threads)
    folds = VERBS * (costs.step + machines.workers * costs.task + own * COLUMN_BYTES / 4 * costs.bitmap_byte)
    return Run(bfs, opened, opened + traversals * (bfs.total_seconds + folds),
               traversals * (bfs.payload_bytes + bfs.fact_bytes), memory,
               limits_of(shape, n_arcs, machines, costs))


def limits_of(shape: Shape, n_arcs: float, machines: Machines, costs: Costs) -> list[Limit]:
    """What can break, the nearest first: fatal ones by their load, then the others."""
    found = [*_memory_limits(shape, n_arcs, machines, costs), *_time_limits(shape, n_arcs, machines, costs)]
    return sorted(found, key=lambda limit: (not (limit.fatal and limit.load >= 1), -limit.load))


def _memory_limits(shape: Shape, n_arcs: float, machines: Machines, costs: Costs) -> list[Limit]:
    n = enlarged(shape, n_arcs)[0]
    memory = worker_memory(shape, n_arcs, machines, costs.base_bytes)
    have, workers = machines.memory_bytes, machines.workers
    return [
        Limit("vertex state", memory["need"] / have, True,
              f"{format_size(int(memory['need']))} a worker before the first block"),
        Limit("state of all n on each worker", memory["whole"] / (_FREE * have), True,
              f"bitmaps as long as the graph: {format_size(int(memory['whole']))} a worker, however many"),
        Limit("blocks in RAM", (memory["need"] + memory["blocks"]) / have, False,
              f"{format_size(int(memory['blocks']))} of decoded blocks a worker; beyond 1 they are read again"),
        Limit("32-bit ids", n / _UINT32_VERTICES, False,
              f"{n:.3g} vertices; from 4.29e9 on an id takes 8 bytes, in blocks and in queues"),
        Limit("a hub's row", shape.hub_share * workers, False,
              f"the largest row has {100 * shape.hub_share:.2g} % of the arcs, and one worker owns it"),
        Limit("address space", n * COLUMN_BYTES / _ADDRESSES, True,
              "columns are addressed as long as the graph, 2^47 bytes in all"),
        Limit("connections", 2 * (workers - 1) / _OPEN_FILES, True,
              f"{2 * (workers - 1)} sockets a worker; 1,024 open files are the usual limit"),
    ]


def _time_limits(shape: Shape, n_arcs: float, machines: Machines, costs: Costs) -> list[Limit]:
    """Loads are shares of the time of a BFS: 1 is half of it."""
    n = enlarged(shape, n_arcs)[0]
    bfs = forecast_bfs(shape, n_arcs, machines, costs)
    total = max(bfs.total_seconds, 1e-12)
    passes = DENSE_PASSES * n / 8 * costs.bitmap_byte
    why = {
        "network": f"{format_size(int(bfs.payload_bytes / machines.workers))} sent by a worker in a BFS",
        "latency": f"{bfs.rounds:,.0f} rounds of {machines.workers * (machines.workers - 1):,} messages",
        "bitmaps": f"a dense level passes over all n bits on each worker: {passes:.2g} s, however many workers",
        "scheduler": f"{bfs.steps:,.0f} verbs asked of {machines.workers} ranks",
        "disk": f"{format_size(int(bfs.read_bytes))} read by a worker in a BFS",
    }
    share = {part: bfs.seconds[part] / total for part in why}
    found = [Limit(part, 2 * share[part], False, f"{text} ({100 * share[part]:.0f} % of the time)")
             for part, text in why.items()]
    uneven = between(shape.balance, machines.workers)
    return [*found, Limit("balance", uneven / 2, False,
                          f"the fullest range of a level has {uneven:.1f} times the mean")]


def cannot_run(limits: Sequence[Limit]) -> bool:
    """Whether one of the limits ends the run."""
    return any(limit.fatal and limit.load > 1 for limit in limits)
