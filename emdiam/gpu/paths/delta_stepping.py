"""Delta-stepping on a device: buckets of vertices by length, light arcs until a bucket is settled, then heavy ones.

There are N_BUCKETS buckets, and one more for vertices beyond them. The host reads two numbers a round. Bytes a vertex
on the device: 8 for the length, N_BUCKETS + 2 ids for the buckets and settled vertices, 8 for marks, and the bytes of
QueueRounds. Source: papers/004, section 3.1 (Meyer and Sanders; Davidson et al.). Kernels: paths/delta_stepping.cu.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...paths.paths import Paths, SearchOptions
from ..device import Device, DeviceArray
from ..kernel_file import KernelFile, zeros
from ..registry import USUAL
from .weighted_graph import NO_PATH, ROUND, QueueRounds, WeightedGraph, check_not_negative

N_BUCKETS = 8
_FILE = "paths/delta_stepping.cu"
_LIGHT, _HEAVY = np.uint32(0), np.uint32(1)


class _Buckets:
    """The buckets of one search; last : the bucket of vertices beyond the others."""

    def __init__(self, run: QueueRounds, words: DeviceArray, delta: np.generic, last: int,
                 block: int | None) -> None:
        device, n, ids = run.device, run.weighted.n_vertices, run.weighted.graph.id_dtype
        self._run, self._device, self._words, self._n = run, device, words, n
        self._delta, self._last, self._step = delta, np.uint32(last), 0
        self._base = run.weighted.length(run.weighted.word(0))
        self._vertices, self._fills = device.empty((last + 1) * n, ids), zeros(device, last + 1, np.uint64)
        self._bucket_of, self._settled = device.empty(n, np.uint32), device.empty(n, ids)
        device.fill(self._bucket_of, np.iinfo(np.uint32).max)
        self._steps, self._tail = zeros(device, n, np.uint32), device.empty(1, np.uint64)
        self._least, self._kernels = device.empty(1, np.uint64), KernelFile(device, _FILE, run.macros, block)
        # Without heavy arcs, settled vertices need not be listed.
        self._has_heavy = float(run.weighted.facts.largest) > float(delta)

    def put_source(self, source: int) -> None:
        """Put only the source into the first bucket."""
        self._device.fill(self._vertices[:1], source)
        self._device.fill(self._fills[:1], 1)
        self._device.fill(self._bucket_of[source : source + 1], 0)

    def _fill_of(self, bucket: int) -> int:
        return int(self._device.to_host(self._fills[bucket : bucket + 1])[0])

    def _of(self, bucket: int, size: int) -> DeviceArray:
        return self._vertices[bucket * self._n : bucket * self._n + size]

    def _counted(self, entry: str, items: int, *arguments: Any) -> int:
        """Launch a kernel that counts in its last argument; return the count."""
        self._device.fill(self._tail, 0)
        self._kernels.launch(entry, items, *arguments, self._tail)
        return int(self._device.to_host(self._tail)[0])

    def settle(self, bucket: int, options: SearchOptions) -> None:
        """Relax the arcs of a bucket until no length in it changes."""
        run, size = self._run, self._fill_of(bucket)
        if size:
            size = self._counted("delta_take", size, self._of(bucket, size), size, self._words, self._base, self._delta,
                                 np.uint32(bucket), self._last, run.queue)
        # Repeats only if a heavy arc leads back into this bucket by rounding.
        while size:
            settled = self._relax_light(bucket, size, options)
            size = self._relax(self._settled[:settled], bucket, _HEAVY) if settled else 0

    def _relax_light(self, bucket: int, size: int, options: SearchOptions) -> int:
        """Rounds over light arcs; return the number of settled vertices."""
        run, settled = self._run, 0
        self._step += 1
        while size:
            if self._has_heavy:
                settled += self._counted("delta_settle", size, run.queue[:size], size, self._steps,
                                         np.uint32(self._step), self._settled[settled:])
            size = self._relax(run.queue[:size], bucket, _LIGHT)
            options.tick()
        return settled

    def _relax(self, queue: DeviceArray, bucket: int, arcs: np.uint32) -> int:
        run = self._run
        self._device.fill(run.counts, 0)
        size = run.relax(queue, (self._words, self._base, self._delta, np.uint32(bucket), self._last, arcs, run.rounds,
                                 ROUND, run.following, run.counts, self._bucket_of, self._vertices, np.uint64(self._n),
                                 self._fills))[0]
        run.swap()
        return int(size)

    def move_on(self) -> bool:
        """Restart the buckets at the shortest length beyond them; return whether a vertex is beyond them."""
        last, run = int(self._last), self._run
        size = self._fill_of(last)
        if not size:
            return False
        self._device.fill(self._least, NO_PATH)
        beyond = self._of(last, size)
        self._kernels.launch("delta_least", size, beyond, size, self._words, self._base, self._delta, self._last,
                             self._least)
        least = np.uint64(self._device.to_host(self._least)[0])
        if least == NO_PATH:
            return False
        pile, base = run.queue[:size], run.weighted.length(least)
        self._device.copy(beyond, pile)
        self._device.fill(self._fills, 0)
        self._kernels.launch("delta_share_out", size, pile, size, self._words, self._base, base, self._delta,
                             self._last, self._bucket_of, self._vertices, self._n, self._fills)
        self._base = base
        return True


def delta_stepping(device: Device, weighted: WeightedGraph, source: int, options: SearchOptions | None = None,
                   n_buckets: int = N_BUCKETS, block: int | None = None) -> Paths:
    """Distances from `source`. options.delta : width of a bucket, infinity for a single one; None:
    WeightedGraph.usual_delta. n_buckets : number of buckets, without the one beyond them.

    Raises InputError for negative weights and a delta that is not positive.
    """
    check_not_negative(weighted, "delta-stepping")
    options = options or SearchOptions()
    delta, words = weighted.delta(options.delta), weighted.start(device, source)
    run = QueueRounds(device, weighted, (_FILE, "delta_relax"), USUAL, block=block)
    buckets = _Buckets(run, words, delta, n_buckets, block)
    buckets.put_source(source)
    there = True
    while there:
        for bucket in range(n_buckets):
            buckets.settle(bucket, options)
        there = buckets.move_on()
    return Paths("delta-stepping", source, weighted.distances(device.to_host(words)), run.relaxed, run.round)
