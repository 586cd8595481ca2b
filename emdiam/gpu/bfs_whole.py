"""BFS in one launch for any levels, with a result of 64 bytes: the host code of bfs_whole.cu.

The kernel goes down from queues or up over bitmaps, and returns the eccentricity, the number of reached vertices and a
farthest vertex, so the host waits once a search.
Source: papers/004, section 2.1 (inter-block synchronisation after Luo, Wong and Hwu; direction optimization after
Beamer et al., SC 2012).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .device import Device, DeviceArray, blocks_for
from .direction_table import usual_table
from .graph import DeviceGraph
from .kernel_file import UNREACHED, KernelFile, check_block, zeros

WORD, MOST_THREADS = 32, 512
ENTRY = "whole_search"
# The whole grid shares rows of more arcs; largest frontier of a single block (SOLO_SLOTS of bfs_whole.cu), and of each
# block at the beginning of a window of levels.
WIDE_ROW, SOLO_ROWS, WINDOW_ROWS = 256, 512, 128
# Counts of a level (LEVEL_COUNTS of bfs_whole.cu).
_LEVEL_COUNTS = 18


@dataclass(frozen=True)
class DeviceTraversal:
    """The result of a search. distances : uint32[n] on the device, all bits set for unreached. levels : largest
    distance; complete : whether it is the eccentricity. n_reached : number of reached vertices; farthest : the smallest
    vertex at the largest distance. reached : bitmap of reached vertices on the device, uint64[ceil(n / 64)], valid
    until the next search."""

    distances: DeviceArray
    levels: int
    complete: bool
    n_reached: int
    farthest: int
    reached: DeviceArray


def wide_rows(device: Device, graph: DeviceGraph, wide_row: int) -> tuple[DeviceArray, DeviceArray, int]:
    """Buffers in which kernels collect rows of more than `wide_row` arcs, shared by all searches of the graph:
    vertices, their positions among pieces (WideRows of queue_rows.cuh), and wide_row."""
    most = graph.n_arcs // wide_row + 1
    return (graph.shared(device, "wide-rows", most, graph.id_dtype),
            graph.shared(device, "wide-starts", most, np.uint64), wide_row)


def wide_bytes(n_arcs: int, item: int) -> int:
    """Bytes of wide_rows. item : of an id."""
    return (item + 8) * (n_arcs // WIDE_ROW)


class WholeBfs:
    """BFS on one resident graph, for any number of sources; a DeviceBfs (graph.py).

    solo : largest frontier of a single block, at most SOLO_ROWS. window : most vertices a block in a frontier from
    which blocks do several levels before they wait for each other; 0: they wait after each level. turns : alpha and
    beta of the rule for directions (None: the package's); (0, 0): always down. block : threads of a block, a multiple
    of 32 up to 512; None: 512, or for larger graphs the number that fills a multiprocessor, since fewer blocks take
    less time to synchronise. wide_row : the whole grid shares rows of more arcs. Device memory: 5 bitmaps of n
    vertices, wide_bytes, and the queues of the graph. Raises InputError for an impossible block.
    """

    def __init__(self, device: Device, graph: DeviceGraph, solo: int = SOLO_ROWS, turns: tuple[int, int] | None = None,
                 block: int | None = None, wide_row: int = WIDE_ROW, window: int = WINDOW_ROWS) -> None:
        check_block(device, block, MOST_THREADS)
        self._device, self._graph, self._solo, self._window = device, graph, solo, window
        table = usual_table()
        self._turns = (round(table.alpha), round(table.beta)) if turns is None else turns
        self._n, self._words = graph.n_vertices, 2 * -(-graph.n_vertices // (2 * WORD))
        usual = MOST_THREADS
        if self._n > device.n_sms * MOST_THREADS:
            usual = KernelFile(device, "bfs_whole.cu", graph.macros).kernel(ENTRY).most_threads
        self._kernels = KernelFile(device, "bfs_whole.cu", graph.macros, block or usual)
        self._isolated, *self._bitmaps = (device.empty(self._words, np.uint32) for _ in range(4))
        self._reached = device.empty(max(1, self._words // 2), np.uint64)
        self._wide = wide_rows(device, graph, wide_row)
        self._counts, self._state = device.empty(3 * _LEVEL_COUNTS + 1, np.uint64), device.empty(8, np.uint64)
        self._barrier = zeros(device, 1, np.uint32)
        KernelFile(device, "bfs_bitmaps.cu", graph.macros).launch(
            "isolated_words", self._n, graph.incoming.offsets, self._n, self._words, self._isolated,
            zeros(device, 1, np.uint64))

    def find(self, source: int, radius: int | None = None, into: DeviceArray | None = None,
             outside: DeviceArray | None = None) -> DeviceTraversal:
        """A search from `source`. radius : stop at this distance; there may be farther vertices.

        into : uint32[n] for the distances (None: a new vector, owned by the caller). outside : bitmap of vertices to
        stay out of, uint32[2 * ceil(n / 64)], with bits set behind the last. One launch, and the host waits once.
        Work O(n + m), and at most n + m for each level up. Raises OverflowError for a distance that does not fit.
        """
        device, graph = self._device, self._graph
        distances = device.empty(self._n, np.uint32) if into is None else into
        last = UNREACHED - 1 if radius is None else min(radius, UNREACHED - 1)
        blocks = blocks_for(self._n, self._kernels.block(ENTRY), device)
        isolated, window = (self._isolated, self._window) if outside is None else (outside, 0)
        self._kernels.launch_resident(
            ENTRY, blocks, graph.offsets, graph.neighbours, graph.incoming.offsets, graph.incoming.neighbours, self._n,
            graph.n_arcs, self._words, isolated, source, last, self._solo, window, *self._turns,
            *graph.queues(device), *self._bitmaps, *self._wide, distances, self._reached, self._counts, self._state,
            self._barrier)
        levels, complete, n_reached, farthest, arcs = (int(value) for value in device.to_host(self._state)[:5])
        graph.scanned.arcs += arcs
        if radius is None and not complete:
            raise OverflowError(f"a distance above {UNREACHED - 1} does not fit uint32")
        return DeviceTraversal(distances, levels, bool(complete), n_reached, farthest, self._reached)

    def run(self, source: int, radius: int | None = None) -> tuple[DeviceArray, int, bool]:
        """See DeviceBfs.run."""
        found = self.find(source, radius)
        return found.distances, found.levels, found.complete


def bfs_whole(device: Device, graph: DeviceGraph, source: int, block: int | None = None,
              search: WholeBfs | None = None) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, in one launch. search : an existing WholeBfs of this
    graph; used if `block` is None. Raises InputError as WholeBfs does. Source: papers/004, section 2.1."""
    if search is None or block is not None:
        search = WholeBfs(device, graph, block=block)
    found = search.find(source)
    return found.distances, found.levels
