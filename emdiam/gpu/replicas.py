"""Multi-source BFS shared by several devices with copies of the whole graph.

A free device takes the next batch of sources, with one thread a device; the calling thread serves the first device. If
there are fewer batches than devices, batches are divided into whole words of 64 sources, except batches with targets:
their end depends on all sources. So results do not depend on the number of devices. Columns are on the first device;
distances of other devices are copied through the host, in pieces.
Memory of each further device: the graph, a MultiSource, and 4 bytes a vertex and source of a batch with columns.
Source: Then et al., PVLDB 2014 (MS-BFS), section 5.2: batches are independent.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .device import Device, DeviceArray
from .graph import DeviceGraph
from .kernel_file import UNREACHED
from .multi_source import WORD_BITS, MultiSource, WholeBatch, WideBatch

_PIECE = 1 << 20
# Called after each batch with its number of levels and its start (time.perf_counter).
Ended = Callable[[int, float], None]
Columns = Sequence[DeviceArray] | None


class Replicas:
    """One graph on several devices. graphs : the devices with their copies of the graph.

    A device gets its buffers with its first batch: of a WholeBatch, of a MultiSource for paged arcs, or of a WideBatch.
    """

    def __init__(self, graphs: Sequence[tuple[Device, DeviceGraph]]) -> None:
        self._graphs = list(graphs)
        self._searches: list[MultiSource | WholeBatch | None] = [None] * len(self._graphs)
        self._wide: list[WideBatch | None] = [None] * len(self._graphs)

    def __len__(self) -> int:
        return len(self._graphs)

    def arcs_scanned(self) -> int:
        """The number of arcs scanned by traversals of these graphs so far."""
        return sum(graph.scanned.arcs for _, graph in self._graphs)

    def eccentricities(self, sources: np.ndarray, targets: np.ndarray | None, columns: Columns, batch: int,
                       ended: Ended) -> np.ndarray:
        """Eccentricities of the sources (int64[k], any number) in their components, int32[k].

        batch : largest number of sources at a time, at most 512. targets, columns : as in MultiSource.run, the columns
        on the first device, uint32[n] a source. ended : called in this thread, in the order of batches. Raises as
        MultiSource.run does, and BudgetError if device memory is too small; an error ends the work of all devices.
        """
        return self._share(_Job(self, sources, targets, columns, batch), ended)

    def wide_eccentricities(self, sources: np.ndarray, bits: int, ended: Ended) -> np.ndarray:
        """As eccentricities, by wide batches of at most `bits` sources, on a resident graph."""
        return self._share(_Job(self, sources, None, None, bits, wide=True), ended)

    def _share(self, job: _Job, ended: Ended) -> np.ndarray:
        """Do a job on all devices."""
        if len(self) == 1:
            job.work(0, ended)
            return job.result
        with ThreadPoolExecutor(len(self) - 1, thread_name_prefix="device") as pool:
            others = [pool.submit(job.work, place) for place in range(1, len(self))]
            job.work(0, ended)
            for other in others:
                other.result()
        job.count(ended)
        return job.result

    def run_wide_on(self, place: int, sources: np.ndarray) -> np.ndarray:
        """One wide batch on device number `place`; one thread a device."""
        search = self._wide[place]
        if search is None:
            search = self._wide[place] = WideBatch(*self._graphs[place])
        return search.run(sources)

    def run_on(self, place: int, sources: np.ndarray, targets: np.ndarray | None, columns: Columns) -> np.ndarray:
        """One batch on device number `place`; one thread a device."""
        (device, graph), search = self._graphs[place], self._searches[place]
        if search is None:
            search = self._searches[place] = (WholeBatch if graph.resident else MultiSource)(device, graph)
        if place == 0 or columns is None:
            return search.run(sources, targets, columns)
        n, first = graph.n_vertices, self._graphs[0][0]
        local = device.empty(len(sources) * n, np.uint32)
        device.fill(local, UNREACHED)
        result = search.run(sources, targets, local)
        for number, column in enumerate(columns):
            for begin in range(0, n, _PIECE):
                end = min(begin + _PIECE, n)
                first.copy(device.to_host(local[number * n + begin : number * n + end]), column[begin:end])
        return result


class _Job:
    """The state of a call: taken parts of the sources, and completed batches."""

    def __init__(self, replicas: Replicas, sources: np.ndarray, targets: np.ndarray | None, columns: Columns,
                 batch: int, wide: bool = False) -> None:
        self._replicas, self._sources, self._targets, self._columns = replicas, sources, targets, columns
        self._is_wide = wide
        self.result = np.empty(len(sources), np.int32)
        self._batches = [slice(at, min(at + batch, len(sources))) for at in range(0, len(sources), batch)]
        size = batch
        if targets is None and len(self._batches) < len(replicas):
            size = -(-min(batch, len(sources)) // len(replicas) // WORD_BITS) * WORD_BITS
        # (batch, its part), in order.
        parts = [(number, slice(at, min(at + size, one.stop))) for number, one in enumerate(self._batches)
                 for at in range(one.start, one.stop, size)]
        self._waiting = iter(parts)
        self._open = [sum(number == one for one, _ in parts) for number in range(len(self._batches))]
        self._counted, self._stopped = 0, False
        self._lock = threading.Lock()
        self._begin = time.perf_counter()

    def work(self, place: int, ended: Ended | None = None) -> None:
        """Take parts until none remain, on device number `place`. ended : called for completed batches.

        After an error, which is raised here, no device takes another part.
        """
        try:
            while (taken := self._take()) is not None:
                number, part = taken
                self.result[part] = self._run(place, part)
                with self._lock:
                    self._open[number] -= 1
                if ended is not None:
                    self.count(ended)
        except BaseException:
            self._stopped = True
            raise

    def _run(self, place: int, part: slice) -> np.ndarray:
        """One part on device number `place`."""
        if self._is_wide:
            return self._replicas.run_wide_on(place, self._sources[part])
        columns = None if self._columns is None else self._columns[part]
        return self._replicas.run_on(place, self._sources[part], self._targets, columns)

    def _take(self) -> tuple[int, slice] | None:
        with self._lock:
            return None if self._stopped else next(self._waiting, None)

    def count(self, ended: Ended) -> None:
        """Report completed batches, in their order."""
        while self._counted < len(self._batches) and self._open[self._counted] == 0:
            now = time.perf_counter()
            ended(int(self.result[self._batches[self._counted]].max()) + 1, self._begin)
            self._begin = now
            self._counted += 1
