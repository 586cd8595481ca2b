"""Bit-parallel multi-source BFS on a device: the host code of multi_source.cu and its levels.

Bit i of a vertex is set when source i has reached it; an eccentricity is the last level at which the bit of the source
reached a vertex. A level is pushed from a queue, or pulled by all vertices that lack a bit, whichever scans fewer arcs;
the host reads one small array a level. Work: at most O(n + m) words a level, for all sources together. Bytes a vertex:
24 for each 64 sources, two queues, and 4 for marks.
Source: Then et al., PVLDB 2014 (MS-BFS); stopping at targets: Korf 2021, here for a batch.

WholeBatch does the same in one launch a batch (multi_source_whole.cu): a copy of the sources to the device, one
cooperative launch for all levels, and a copy of the eccentricities to the host. The memory is the same.

WideBatch (multi_source_wide.cu) has up to 2,048 sources, for graphs that balls fill quickly: the ball of a source grows
by 1 a level, and its eccentricity is the radius of the last growth (traverse/multi_wide.py does the same on the CPU). A
level scans all arcs of rows that are not in all balls. Bytes a vertex: b / 4 for b bits, shared with batches of other
widths, and a bit for marks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .bfs_whole import WIDE_ROW, wide_rows
from .device import Device, DeviceArray, blocks_for
from .graph import DeviceGraph
from .kernel_file import UNREACHED, KernelFile, zeros
from .vector import column_addresses

WORD_BITS, MOST_BITS = 64, 512
# A pushed arc reads and writes at random; a pulled one only reads, and a row stops early.
PUSH_COST = 2.0
# Words of the counts of a level (multi_source_levels.cu): vertices, arcs, arcs of vertices that got all bits, bits that
# reached targets; then a mask of the bits that reached any vertex.
COUNTS = 4
Columns = Sequence[DeviceArray] | DeviceArray | None


def words_for(k: int) -> int:
    """Words of 64 bits a vertex for k sources: 1, 2, 4 and so on."""
    return 1 << (max(1, -(-k // WORD_BITS)) - 1).bit_length()


def batch_bits(pool_bytes: int, n_vertices: int) -> int:
    """Sources of a batch, at most MOST_BITS, whose state fits the pool beside that of 64 sources."""
    words = pool_bytes // (24 * max(1, n_vertices))
    return WORD_BITS * max(1, min(MOST_BITS // WORD_BITS, 1 << max(0, words.bit_length() - 1)))


def check_batch(graph: DeviceGraph, sources: np.ndarray, targets: np.ndarray | None, most: int = MOST_BITS) -> None:
    """Raise ValueError for sources or targets that are invalid for MultiSource.run. most : largest number of
    sources."""
    n, k = graph.n_vertices, len(sources)
    if not 0 < k <= most:
        raise ValueError(f"{k} sources in a batch (1 to {most})")
    if int(np.min(sources)) < 0 or int(np.max(sources)) >= n:
        raise ValueError(f"a source is no vertex (0 to {n - 1})")
    if targets is not None and (len(targets) != -(-n // 64) or targets.dtype != np.uint64):
        raise ValueError(f"targets of {n} vertices are uint64[{-(-n // 64)}]")


class MultiSource:
    """Batches of BFS on one undirected graph, with reused buffers.

    mapping (None: the default), block : as in FrontierLauncher. push_cost : cost of a pushed arc in pulled arcs; 0
    always pushes, infinity always pulls. pushed, pulled : numbers of levels so far. Raises InputError for an impossible
    mapping or block.
    """

    def __init__(self, device: Device, graph: DeviceGraph, mapping: str | None = None,
                 block: int | None = None, push_cost: float = PUSH_COST) -> None:
        self.device, self.graph, self.push_cost = device, graph, push_cost
        self.launcher = graph.launcher(device, mapping, block)
        self.pushed = self.pulled = 0
        self.queues = graph.queues(device)
        self._marks, self._epoch = zeros(device, graph.n_vertices, np.uint32), 0

    def run(self, sources: np.ndarray, targets: np.ndarray | None = None, columns: Columns = None) -> np.ndarray:
        """Eccentricities of the sources in their components, int32[k].

        sources : int64[k], 1 to 512 vertices, repeats allowed. targets : bitmap uint64[ceil(n / 64)]: stop when every
        source has reached all of them; the results are then between the largest distance to a target and the
        eccentricity. columns : for the distances, on the device, uint32[n] a source, or uint32[k * n] for all, with all
        bits set. Raises ValueError for sources, targets or columns that do not fit the graph, OverflowError for a
        distance that does not fit.
        """
        check_batch(self.graph, sources, targets)
        return _Batch(self, np.asarray(sources, np.int64), targets, columns).run()

    def planes(self, words: int) -> list[DeviceArray]:
        """Three vectors of zeros, uint64[n * words]: front, next, seen."""
        planes = self.graph.planes(self.device, 3, words)
        for plane in planes:
            self.device.fill(plane, 0)
        return planes

    def fresh_marks(self) -> tuple[DeviceArray, np.uint32]:
        """uint32[n], and a value that no entry has."""
        self._epoch += 1
        if self._epoch > UNREACHED:
            self.device.fill(self._marks, 0)
            self._epoch = 1
        return self._marks, np.uint32(self._epoch)


class _Batch:
    """The state of a batch between levels."""

    def __init__(self, owner: MultiSource, sources: np.ndarray, targets: np.ndarray | None, columns: Columns) -> None:
        self.owner, self.device, self.graph, self.sources = owner, owner.device, owner.graph, sources
        self.words, self.targets = words_for(len(sources)), targets
        self._launch = KernelFile(owner.device, "multi_source_levels.cu", {**self.graph.macros, "WORDS": self.words},
                                  owner.launcher.block).launch
        self.addresses = None if columns is None else self.device.array(column_addresses(
            self.device, self.graph.n_vertices, columns, len(sources)))
        self.front, self.next, self.seen = owner.planes(self.words)
        self.queue, self.following = owner.queues
        self.bits = self.device.array(_ones(len(sources), self.words))
        self.counts = self.device.empty(COUNTS + self.words, np.uint64)
        self.target_bits = self.bits if targets is None else self.device.array(targets)
        self.missing = 0 if targets is None else int(np.bitwise_count(targets).sum()) * len(sources)
        self.size = self.arcs = 0
        self.open_arcs = self.graph.n_arcs

    def run(self) -> np.ndarray:
        """See MultiSource.run."""
        reach = np.zeros(len(self.sources), np.int32)
        self._seed()
        for level in range(UNREACHED):
            came = self._settle(level)
            if self.size == 0:
                return reach
            reach[came[: len(reach)]] = level
            if self.targets is not None and self.missing <= 0:
                return reach
            self._expand()
        raise OverflowError(f"a distance above {UNREACHED - 1} does not fit uint32")

    def _seed(self) -> None:
        """Set the bit of every source, as if a level before the first had reached it."""
        ids, k = self.graph.id_dtype, len(self.sources)
        self._launch("seed_bits", k, self.device.array(self.sources.astype(ids)), k, self.next)
        vertices = np.unique(self.sources).astype(ids)
        self.device.copy(vertices, self.following[: len(vertices)])
        self.device.fill(self.counts, 0)
        self.device.fill(self.counts[:1], len(vertices))

    def _settle(self, level: int) -> np.ndarray:
        """End a level, and make the reached vertices the frontier. Returns the bits that reached any vertex,
        bool[bits]."""
        items = min(self.graph.n_vertices, max(self.arcs, len(self.sources)))
        self._launch("settle_bits", self.words * max(items, self.size), self.queue, self.size, self.front,
                     self.following, self.next, self.seen, self.graph.offsets, self.bits, self.target_bits,
                     np.uint32(self.targets is not None), self.counts)
        counts = self.device.to_host(self.counts)
        self.size, self.arcs, closed, met = (int(value) for value in counts[:COUNTS])
        self.open_arcs -= closed
        self.missing -= met
        self.queue, self.following = self.following, self.queue
        self.front, self.next = self.next, self.front
        if self.addresses is not None and self.size:
            self._launch("write_levels", self.size, self.queue, self.size, self.front, self.addresses, np.uint32(level))
        return np.unpackbits(counts[COUNTS:].view(np.uint8), bitorder="little").astype(bool)

    def _expand(self) -> None:
        """OR the bits of the frontier into `next` of its neighbours."""
        n, owner = self.graph.n_vertices, self.owner
        self.device.fill(self.counts, 0)
        if self.graph.resident and self.open_arcs + n < owner.push_cost * self.arcs:
            owner.pulled += 1
            self._launch("pull_bits", self.words * n, self.graph.offsets, self.graph.neighbours, n, self.bits,
                         self.front, self.seen, self.next, self.following, self.counts)
            return
        owner.pushed += 1
        kernels = owner.launcher.kernels("multi_source.cu", "push_bits", WORDS=self.words)
        owner.launcher.launch(kernels, self.queue[: self.size], (
            self.front, self.seen, self.next, *owner.fresh_marks(), self.following, self.counts))


def _ones(k: int, words: int) -> np.ndarray:
    """The k lowest bits set, uint64[words]."""
    left = np.clip(k - WORD_BITS * np.arange(words), 0, WORD_BITS)
    return np.array([(1 << int(bits)) - 1 for bits in left], np.uint64)


# Counts of a level (LEVEL_COUNTS of multi_source_whole.cu), in addition to those of its words.
_COUNTS = 5


class WholeBatch:
    """Batches of BFS on one resident graph, with reused buffers.

    push_cost : cost of a pushed arc in pulled arcs; 0 always pushes, infinity always pulls. block : threads of a block,
    a multiple of 32 up to 256 (None: 256). wide_row : the whole grid shares the push of rows of more arcs.
    """

    def __init__(self, device: Device, graph: DeviceGraph, push_cost: float = PUSH_COST, block: int | None = None,
                 wide_row: int = WIDE_ROW) -> None:
        self.device, self._graph, self._push_cost, self._block = device, graph, push_cost, block
        self._wide = wide_rows(device, graph, wide_row)
        self._marks, self._epoch = zeros(device, graph.n_vertices, np.uint32), 1
        self._barrier = zeros(device, 1, np.uint32)

    def run(self, sources: np.ndarray, targets: np.ndarray | None = None, columns: Columns = None) -> np.ndarray:
        """See MultiSource.run."""
        device, graph, k, n = self.device, self._graph, len(sources), self._graph.n_vertices
        check_batch(graph, sources, targets)
        words = words_for(k)
        kernels = KernelFile(device, "multi_source_whole.cu", {**graph.macros, "WORDS": words}, self._block)
        counts, reach = device.empty(3 * (_COUNTS + words), np.uint64), device.empty(2 + 64 * words, np.uint64)
        # Sources and the addresses of their columns, in one copy.
        sent = device.array(np.concatenate([np.asarray(sources).astype(np.uint64), *(
            [] if columns is None else [column_addresses(device, n, columns, k)])]))
        missing = 0 if targets is None else int(np.bitwise_count(targets).sum()) * k
        if self._epoch + n + 1 > UNREACHED:  # each level has its own mark
            device.fill(self._marks, 0)
            self._epoch = 1
        kernels.launch_resident(
            "whole_batch", blocks_for(words * n, kernels.block("whole_batch"), device), graph.offsets, graph.neighbours,
            graph.incoming.offsets, graph.incoming.neighbours, n, graph.n_arcs, sent[:k], k,
            counts if targets is None else device.array(targets), np.uint32(targets is not None), missing,
            np.float64(self._push_cost), *graph.queues(device),
            *graph.planes(device, 3, words), self._marks,
            np.uint32(self._epoch), *self._wide, sent[-k:], np.uint32(columns is not None), counts,
            reach, self._barrier)
        levels, arcs, *found = device.to_host(reach).tolist()
        graph.scanned.arcs += arcs
        self._epoch += levels + 1
        return np.array(found[:k], np.int32)


# Sources of the widest batch, and words of a row of the narrowest.
MOST_WIDE_BITS, LEAST_WORDS = 2048, 8
# Assumed bytes a second of rows before a batch is measured: a third of the rate of a copy within an H100.
WIDE_RATE = 1e12


class WideBatch:
    """Wide batches on one undirected resident graph, with reused buffers.

    block : threads of a block, a multiple of 32 up to 256 (None: 256). wide_row : the whole grid shares rows of more
    arcs.
    """

    def __init__(self, device: Device, graph: DeviceGraph, block: int | None = None, wide_row: int = WIDE_ROW) -> None:
        self.device, self._graph, self._block = device, graph, block
        self._wide, self._full = wide_rows(device, graph, wide_row), device.empty(-(-graph.n_vertices // 32), np.uint32)
        self._barrier = zeros(device, 1, np.uint32)

    def run(self, sources: np.ndarray) -> np.ndarray:
        """Eccentricities of the sources in their components, int32[k]. sources : int64[k], 1 to 2,048 vertices, repeats
        allowed; else raises ValueError."""
        device, graph, k, n = self.device, self._graph, len(sources), self._graph.n_vertices
        check_batch(graph, sources, None, MOST_WIDE_BITS)
        words = max(LEAST_WORDS, words_for(k))
        kernels = KernelFile(device, "multi_source_wide.cu", {**graph.macros, "WORDS": words}, self._block)
        counts, reach = device.empty(1 + 3 * words, np.uint64), device.empty(2 + WORD_BITS * words, np.uint64)
        kernels.launch_resident(
            "wide_batch", blocks_for(words * n, kernels.block("wide_batch"), device), graph.offsets, graph.neighbours,
            n, device.array(np.asarray(sources).astype(np.uint64)), k, *graph.planes(device, 2, words), self._full,
            *self._wide, counts, reach, self._barrier)
        _, arcs, *found = device.to_host(reach).tolist()
        graph.scanned.arcs += arcs
        return np.array(found[:k], np.int32)
