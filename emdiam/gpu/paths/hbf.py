"""H-BF: Bellman and Ford's algorithm from a queue, with the predecessor in the same 64 bits as the length.

Arcs are classified once for all sources: loops are skipped, a vertex with one incoming arc is written without an atomic
operation, and a dead end is not queued; no vertex is twice in a queue. Lengths of more than 32 bits and floats leave no
room for a predecessor: then a label is only the length, and the tree comes from the distances (Paths.add_tree). The
host reads one number a round. Bytes on the device: 8 a vertex for the label, 1 an arc, and the bytes of QueueRounds.
Source: papers/004, section 3.2 (Busato and Bombieri). Kernels: paths/hbf.cu.
"""

from __future__ import annotations

import numpy as np

from ...paths.paths import Paths, SearchOptions
from ...paths.rows import unreached
from ...progress import Tick
from ..device import Device, DeviceArray
from ..kernel_file import KernelFile, zeros
from ..registry import USUAL
from .weighted_graph import NO_PATH, ROUND, QueueRounds, WeightedGraph, check_not_negative

_FILE = "paths/hbf.cu"
_KERNEL = (_FILE, "hbf_relax")
# The largest length of a packed label, which also stands for longer ones; and the limit of ids in a packed label.
LONGEST = 0xFFFFFFFE
_MOST_VERTICES = 1 << 32


def classify_arcs(device: Device, weighted: WeightedGraph, block: int | None = None) -> DeviceArray:
    """The class of each arc, uint8[m]: useless (1), the only incoming arc (2), a dead end (4)."""
    graph, n = weighted.graph, weighted.n_vertices
    kinds, arcs_in = device.empty(graph.n_arcs, np.uint8), zeros(device, n, np.uint32)
    defines = {**graph.launcher(device, USUAL, block).defines, **weighted.macros, "PACKED_LABELS": 0}
    kernels = KernelFile(device, _FILE, defines, block)
    kernels.launch("count_arcs_in", n * device.warp, graph.offsets, graph.neighbours, n, arcs_in)
    kernels.launch("classify_arcs", n * device.warp, graph.offsets, graph.neighbours, n, arcs_in, kinds)
    return kinds


def hbf(device: Device, weighted: WeightedGraph, source: int, options: SearchOptions | None = None,
        mapping: str = USUAL, block: int | None = None, kinds: DeviceArray | None = None) -> Paths:
    """Distances from `source`, and predecessors if labels have room for them.

    mapping : one of HBF_MAPPINGS. kinds : from classify_arcs, to share them among sources; None: computed here. Raises
    InputError for negative weights.
    """
    check_not_negative(weighted, "h-bf")
    kinds = classify_arcs(device, weighted, block) if kinds is None else kinds
    on_tick, relaxed, rounds = (options or SearchOptions()).tick, 0, 0
    if not weighted.along_floats and weighted.n_vertices <= _MOST_VERTICES:
        run = QueueRounds(device, weighted, _KERNEL, mapping, block=block, defines={"PACKED_LABELS": 1})
        labels = _search(run, source, kinds, on_tick)
        lengths, before = labels >> np.uint64(32), (labels & np.uint64(0xFFFFFFFF)).astype(np.int64)
        there = labels != NO_PATH
        if not np.any(lengths[there] >= LONGEST):
            dtype = weighted.facts.distance_dtype
            distances = np.where(there, lengths.astype(dtype), np.array(unreached(dtype), dtype))
            before[~there] = before[source] = -1
            return Paths("h-bf", source, distances, run.relaxed, run.round, before)
        relaxed, rounds = run.relaxed, run.round
    # Lengths do not fit: again with all 64 bits.
    run = QueueRounds(device, weighted, _KERNEL, mapping, block=block, defines={"PACKED_LABELS": 0})
    labels = _search(run, source, kinds, on_tick)
    return Paths("h-bf", source, weighted.distances(labels), relaxed + run.relaxed, rounds + run.round)


def _search(run: QueueRounds, source: int, kinds: DeviceArray, on_tick: Tick) -> np.ndarray:
    """Run all rounds; return the final labels, uint64[n]."""
    run.begin(source)
    labels, size = run.weighted.start(run.device, source), 1
    if run.macros["PACKED_LABELS"]:
        run.device.fill(labels[source : source + 1], source)
    while size:
        run.device.fill(run.counts, 0)
        size = int(run.relax(run.queue[:size], (kinds, labels, run.rounds, ROUND, run.following, run.counts))[0])
        run.swap()
        on_tick()
    return run.device.to_host(labels)
