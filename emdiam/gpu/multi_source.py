"""Bit-parallel multi-source BFS on a device: the host's loop around multi_source.cu and its levels.

Definition: bit i of a vertex is set once it has been reached from source i; an eccentricity is the last level at
which its bit reached a vertex. A level is pushed from a queue, or pulled by all vertices that lack a bit,
whichever has fewer arcs to look at; the host reads one small array a level. Work: O(n + m) words a level at
most, for all sources together. Bytes a vertex: 24 for each 64 sources, two queues, and 4 for marks.
Source: Then et al., PVLDB 2014 (MS-BFS); stopping at targets: Korf 2021, here for a batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .device import Device, DeviceArray
from .graph import DeviceGraph
from .kernel_file import UNREACHED, KernelFile, zeros
from .vector import column_addresses

WORD_BITS, MOST_BITS = 64, 512
# A pushed arc reads and writes at random, a pulled one reads, and stops early.
PUSH_COST = 2.0
# Words of the counts of a level (multi_source_levels.cu): vertices, arcs, arcs of vertices that have all bits
# now, bits that came to targets; then the bits that came to anything.
COUNTS = 4
Columns = Sequence[DeviceArray] | DeviceArray | None


def words_for(k: int) -> int:
    """Words of 64 bits a vertex for k sources: 1, 2, 4 and so on."""
    return 1 << (max(1, -(-k // WORD_BITS)) - 1).bit_length()


def check_batch(graph: DeviceGraph, sources: np.ndarray, targets: np.ndarray | None, most: int = MOST_BITS) -> None:
    """Raise ValueError for sources or targets that MultiSource.run does not take. most : sources of a batch."""
    n, k = graph.n_vertices, len(sources)
    if not 0 < k <= most:
        raise ValueError(f"{k} sources in a batch (1 to {most})")
    if int(np.min(sources)) < 0 or int(np.max(sources)) >= n:
        raise ValueError(f"a source is no vertex (0 to {n - 1})")
    if targets is not None and (len(targets) != -(-n // 64) or targets.dtype != np.uint64):
        raise ValueError(f"targets of {n} vertices are uint64[{-(-n // 64)}]")


class MultiSource:
    """Batches of BFS on one graph, which must be undirected; buffers are kept between them.

    mapping (None: the usual one), block : as for FrontierLauncher. push_cost : how many pulled arcs one
    pushed arc is worth; 0 pushes always, infinity pulls always. pushed, pulled : levels so far.
    Raises InputError for a mapping or a block that there cannot be.
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

        sources : int64[k], 1 to 512 vertices, repeats allowed. targets : bitmap uint64[ceil(n / 64)]: stop when
        every source has seen all of them; what is returned is then at least the largest distance to a target
        and at most the eccentricity. columns : on the device, one uint32[n] a source, or uint32[k * n] for all,
        with all bits set: gets the distances. Raises ValueError for sources, targets or columns that do not
        fit the graph, OverflowError for a distance that does not fit.
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
    """One batch: what is known of it between two levels."""

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
        """Every source gets its bit, as if a level before the first had reached it."""
        ids, k = self.graph.id_dtype, len(self.sources)
        self._launch("seed_bits", k, self.device.array(self.sources.astype(ids)), k, self.next)
        vertices = np.unique(self.sources).astype(ids)
        self.device.copy(vertices, self.following[: len(vertices)])
        self.device.fill(self.counts, 0)
        self.device.fill(self.counts[:1], len(vertices))

    def _settle(self, level: int) -> np.ndarray:
        """End a level, and make what it reached the frontier. Returns which bits came anywhere, bool[bits]."""
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
        """Put the bits of the frontier into `next` of its neighbours."""
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
