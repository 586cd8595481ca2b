"""Near-far: vertices below a split are relaxed; the others wait in a pile, which is split when no near vertex remains.

The split moves to delta above the shortest length in the pile, so that empty intervals cost nothing. The host reads two
numbers a round. Bytes a vertex on the device: 8 for the length, 4 and two ids for the pile, and the bytes of
QueueRounds. Source: papers/004, section 3.1, after Davidson, Baxter, Garland and Owens. Kernels: paths/near_far.cu.

Ortega: settles all vertices of the pile whose length is at most the length of every path that leaves the pile along the
lightest arc of a vertex. The host reads two numbers a round; 4 or 8 further bytes a vertex. Source: papers/004, section
4.1, after Ortega-Arranz, Torres, Llanos and Gonzalez-Escribano.

Sorted buckets: Delta-stepping that sorts the pile by buckets in every round and relaxes the first bucket. There are 32
buckets, the last one with all later lengths. The host reads their sizes each round. Source: papers/004, section 3.1,
after Davidson et al.

Workfront sweep: Bellman and Ford's algorithm from a queue, with its arcs divided evenly by merge path.

The host reads one number a round. Bytes a vertex on the device: 8 for the length, and the bytes of QueueRounds.
Source: papers/004, section 3.1, after Davidson, Baxter, Garland and Owens. Kernel: paths/workfront_sweep.cu.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...paths.paths import Paths, SearchOptions
from ..device import Device, DeviceArray
from ..kernel_file import KernelFile, zeros
from ..registry import USUAL
from .weighted_graph import NO_PATH, ROUND, QueueRounds, WeightedGraph, check_not_negative, negative_cycle

_FILE = "paths/near_far.cu"
SORTED_BUCKETS = 32


class _Pile:
    """The waiting vertices: ids[n], a second vector for the next pile, and marks of its members."""

    def __init__(self, run: QueueRounds, block: int | None) -> None:
        device, n, ids = run.device, run.weighted.n_vertices, run.weighted.graph.id_dtype
        self.vertices, self._spare = device.empty(n, ids), device.empty(n, ids)
        self.marks, self.size = zeros(device, n, np.uint32), 0
        self._run, self._least = run, device.empty(1, np.uint64)
        self._kernels = KernelFile(device, _FILE, run.macros, block)

    def least(self, entry: str, words: DeviceArray, *more: Any) -> np.uint64:
        """The least word of the pile by a kernel; NO_PATH for an empty pile."""
        device = self._run.device
        device.fill(self._least, NO_PATH)
        self._kernels.launch(entry, self.size, self.vertices, self.size, words, *more, self._least)
        return np.uint64(device.to_host(self._least)[0])

    def next_split(self, words: DeviceArray, done: np.uint64, delta: np.generic) -> np.uint64 | None:
        """The upper limit of words in the next rounds, above the shortest in the pile; None if all are below `done`."""
        weighted, least = self._run.weighted, self.least("near_far_least", words, done)
        if least == NO_PATH:
            return None
        if weighted.along_floats:
            beyond = weighted.word(float(weighted.length(least)) + float(delta))
        else:
            beyond = np.uint64(min(int(least) + int(delta), int(NO_PATH)))
        return max(beyond, least + np.uint64(1))

    def split(self, words: DeviceArray, done: np.uint64, split: np.uint64) -> int:
        """Move vertices below the split to the queue; return their number."""
        run = self._run
        run.device.fill(run.counts, 0)
        self._kernels.launch("near_far_split", self.size, self.vertices, self.size, words, done, split, self.marks,
                             run.queue, self._spare, run.counts)
        near, self.size = (int(count) for count in run.device.to_host(run.counts))
        self.vertices, self._spare = self._spare, self.vertices
        return near

    def lightest(self) -> DeviceArray:
        """The least weight of an arc of each vertex with arcs."""
        run, graph, weights = self._run, self._run.weighted.graph, self._run.weighted.weights
        found = run.device.empty(graph.n_vertices, weights.dtype)
        self._kernels.launch("lightest_arcs", graph.n_vertices, graph.offsets, graph.neighbours, weights,
                             graph.n_vertices, found)
        return found

    def sort(self, words: DeviceArray, delta: np.generic) -> int:
        """Sort by buckets, and move the first one to the queue; return its number of vertices."""
        run = self._run
        # Buckets start at the shortest length, so the first one is not empty for any delta.
        first = run.weighted.length(self.least("near_far_least", words, np.uint64(0)))
        counts = zeros(run.device, SORTED_BUCKETS, np.uint64)
        about = self.vertices, self.size, words, delta, first
        self._kernels.launch("sorted_counts", self.size, *about, counts)
        sizes = run.device.to_host(counts)
        starts = np.concatenate(([0, 0], np.cumsum(sizes[1:-1]))).astype(np.uint64)
        self._kernels.launch("sorted_places", self.size, *about, run.device.array(starts), self.marks, run.queue,
                             self._spare)
        self.vertices, self._spare = self._spare, self.vertices
        self.size -= int(sizes[0])
        run.device.fill(run.counts[1:], self.size)
        return int(sizes[0])


def near_far(device: Device, weighted: WeightedGraph, source: int | np.ndarray, options: SearchOptions | None = None,
             block: int | None = None) -> Paths:
    """Distances from `source`, or from the nearest of several distinct ones. options.delta : the step of the split;
    None: WeightedGraph.usual_delta.

    Raises InputError for negative weights and a delta that is not positive.
    """
    check_not_negative(weighted, "near-far")
    options = options or SearchOptions()
    delta = weighted.delta(options.delta)
    run = QueueRounds(device, weighted, (_FILE, "near_far_relax"), USUAL, block=block)
    run.begin(source)
    pile, words = _Pile(run, block), weighted.start(device, source)
    near = np.size(source)
    split = max(weighted.word(float(delta)) if weighted.along_floats else np.uint64(delta), np.uint64(1))
    while near:
        device.fill(run.counts[:1], 0)
        near, pile.size = (int(count) for count in run.relax(run.queue[:near], (
            words, run.rounds, ROUND, pile.marks, split, run.following, pile.vertices, run.counts)))
        run.swap()
        options.tick()
        while not near and pile.size:
            done, beyond = split, pile.next_split(words, split, delta)
            if beyond is None:
                break
            split, near = beyond, pile.split(words, done, beyond)
    first = int(np.ravel(source)[0])
    return Paths("near-far", first, weighted.distances(device.to_host(words)), run.relaxed, run.round)


def _by_pile(name: str, device: Device, weighted: WeightedGraph, source: int, options: SearchOptions,
             block: int | None, next_queue: Callable[[_Pile, DeviceArray], int]) -> Paths:
    """Rounds that put all lowered vertices into the pile, and take the next queue from it."""
    check_not_negative(weighted, name)
    run = QueueRounds(device, weighted, (_FILE, "near_far_relax"), USUAL, block=block)
    run.begin(source)
    pile, words, size = _Pile(run, block), weighted.start(device, source), 1
    while size:
        pile.size = int(run.relax(run.queue[:size], (
            words, run.rounds, ROUND, pile.marks, np.uint64(0), run.following, pile.vertices, run.counts))[1])
        size = next_queue(pile, words) if pile.size else 0
        options.tick()
    return Paths(name, source, weighted.distances(device.to_host(words)), run.relaxed, run.round)


def ortega(device: Device, weighted: WeightedGraph, source: int, options: SearchOptions | None = None,
           block: int | None = None) -> Paths:
    """Distances from `source`. Raises InputError for negative weights."""
    lightest: list[DeviceArray] = []

    def next_queue(pile: _Pile, words: DeviceArray) -> int:
        if not lightest:
            lightest.append(pile.lightest())
        bound = pile.least("shortest_leaving", words, weighted.graph.offsets, lightest[0])
        return pile.split(words, np.uint64(0), min(bound, NO_PATH - np.uint64(1)) + np.uint64(1))

    return _by_pile("ortega", device, weighted, source, options or SearchOptions(), block, next_queue)


def sorted_buckets(device: Device, weighted: WeightedGraph, source: int, options: SearchOptions | None = None,
                   block: int | None = None) -> Paths:
    """Distances from `source`. options.delta : width of a bucket; None: WeightedGraph.usual_delta.

    Raises InputError for negative weights and a delta that is not positive."""
    options = options or SearchOptions()
    delta = weighted.delta(options.delta)
    return _by_pile("sorted-buckets", device, weighted, source, options, block,
                    lambda pile, words: pile.sort(words, delta))


_KERNEL = ("paths/workfront_sweep.cu", "sweep_workfront")


def workfront_sweep(device: Device, weighted: WeightedGraph, source: int, options: SearchOptions | None = None,
                    mapping: str = USUAL, block: int | None = None) -> Paths:
    """Distances from `source`; weights may be negative.

    mapping : the load balancing (default: merge path). block : threads of a block. Raises InputError for a negative
    cycle that the source reaches.
    """
    run = QueueRounds(device, weighted, _KERNEL, mapping, block)
    words = weighted.start(device, source)
    run.begin(source)
    size, on_tick = 1, (options or SearchOptions()).tick
    while size:
        # Only with a negative cycle does round n still lower a vertex.
        if run.round >= weighted.n_vertices:
            raise negative_cycle()
        device.fill(run.counts, 0)
        size = int(run.relax(run.queue[:size], (words, run.rounds, ROUND, run.following, run.counts))[0])
        run.swap()
        on_tick()
    return Paths("workfront-sweep", source, weighted.distances(device.to_host(words)), run.relaxed, run.round)
