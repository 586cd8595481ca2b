"""Workfront sweep: Bellman and Ford's algorithm from a queue, its arcs shared out evenly by merge path.

The host reads one number a round. Bytes a vertex on the device: 8 for the length, and what QueueRounds says.
Source: papers/004, section 3.1, after Davidson, Baxter, Garland and Owens. Kernel: paths/workfront_sweep.cu.
"""

from __future__ import annotations

from ...paths.paths import Paths, SearchOptions
from ..device import Device
from ..registry import USUAL
from .weighted_graph import ROUND, QueueRounds, WeightedGraph, negative_cycle

_KERNEL = ("paths/workfront_sweep.cu", "sweep_workfront")


def workfront_sweep(device: Device, weighted: WeightedGraph, source: int, options: SearchOptions | None = None,
                    mapping: str = USUAL, block: int | None = None) -> Paths:
    """Distances from `source`; weights may be negative.

    mapping, block : the load balancing, merge path if it is not given. Raises InputError for a negative cycle
    that the source reaches.
    """
    run = QueueRounds(device, weighted, _KERNEL, mapping, block)
    words = weighted.start(device, source)
    run.begin(source)
    size, on_tick = 1, (options or SearchOptions()).tick
    while size:
        # More rounds than there are vertices lower one only on a negative cycle.
        if run.round >= weighted.n_vertices:
            raise negative_cycle()
        device.fill(run.counts, 0)
        size = int(run.relax(run.queue[:size], (words, run.rounds, ROUND, run.following, run.counts))[0])
        run.swap()
        on_tick()
    return Paths("workfront-sweep", source, weighted.distances(device.to_host(words)), run.relaxed, run.round)
