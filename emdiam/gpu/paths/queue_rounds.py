"""Rounds of relaxations from a queue: what workfront sweep, near-far, H-BF and delta-stepping share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import InputError
from ...paths.paths import Tick
from ..device import Device, DeviceArray
from ..kernel_file import KernelFile, zeros
from ..source import Define
from .weighted_graph import WeightedGraph

# A vertex is marked by the round in which it came to a queue last: no round has the number 0.
_MOST_ROUNDS = (1 << 32) - 2


class QueueRounds:
    """Relaxations of the arcs of one queue after another on one graph.

    kernel : its file and entry, of FRONTIER_PARAMETERS and the weights. defines : its macros beside those of graph and
    mapping. queue, following : ids[n], at hand and next. counts : uint64[2], of what a round brings; read by
    `relax`. relaxed : arcs tried, on the device. Bytes a vertex on the device: two ids, 4, and the sums of the mapping.
    """

    def __init__(self, device: Device, weighted: WeightedGraph, kernel: tuple[str, str], mapping: str,
                 block: int | None = None, defines: Mapping[str, Define] | None = None) -> None:
        graph, n = weighted.graph, weighted.n_vertices
        self.device, self.weighted, self.round = device, weighted, 0
        self._launcher = graph.launcher(device, mapping, block)
        self.macros = {**self._launcher.defines, **weighted.macros, **(defines or {})}
        # A second launch for rows that were left out has macros of its own.
        file, entry = kernel
        self._kernels = self._launcher.kernels(file, entry, **{**weighted.macros, **(defines or {})})
        self.rounds = zeros(device, n, np.uint32)
        self.queue, self.following = graph.queues(device)
        self.counts, self._relaxed = device.empty(2, np.uint64), zeros(device, 1, np.uint64)
        self._size, self._arcs = device.empty(1, np.uint64), KernelFile(device, "frontier.cu", graph.macros, block)
        device.fill(self.counts, 0)

    def begin(self, source: int) -> None:
        """Make the source the queue."""
        self.device.fill(self.queue[:1], source)

    def relax(self, queue: DeviceArray, arguments: tuple[Any, ...]) -> np.ndarray:
        """Relax the arcs of a queue of at least one vertex, and give the counts.

        arguments : of the kernel behind the weights; ROUND stands for the number of this round.
        """
        device = self.device
        self.round += 1
        if self.round > _MOST_ROUNDS:
            raise OverflowError("the rounds of relaxations do not fit 32 bits")
        device.fill(self._size, queue.size)
        self._arcs.launch("arcs_of_queue", queue.size, queue, self._size, self.weighted.graph.offsets, self._relaxed)
        words = [np.uint32(self.round) if one is ROUND else one for one in arguments]
        self._launcher.launch(self._kernels, queue, (self.weighted.weights, *words))
        return device.to_host(self.counts)

    def swap(self) -> None:
        """Make what follows the queue."""
        self.queue, self.following = self.following, self.queue

    @property
    def relaxed(self) -> int:
        """Arcs of all queues so far."""
        return int(self.device.to_host(self._relaxed)[0])


ROUND = object()


def tick(on_tick: Tick | None) -> None:
    """Between rounds: what it raises stops the search."""
    if on_tick is not None:
        on_tick()


def negative_cycle() -> InputError:
    """The error for rounds without end."""
    return InputError("there is a cycle of negative length, so that some distances are not finite",
                      remedy="--device cpu --method bellman-ford shows the cycle")


def check_not_negative(weighted: WeightedGraph, method: str) -> None:
    """Raise InputError for negative weights."""
    if weighted.facts.least < 0:
        raise InputError(f"{method} needs weights that are not negative",
                         remedy="use --method workfront-sweep or --method harish")
