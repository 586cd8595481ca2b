"""BFS that chooses its way level by level: persistent, top-down with a mapping, or bottom-up over bitmaps.

Source: papers/004, sections 2.1 (direction optimization, after Beamer et al., SC 2012) and 5 (mappings); the rules are
data, see direction_table.py. Distances are uint32[n] on the device, all bits set for unreached. Graphs are undirected.

Also the host code of bfs_persistent.cu, a BFS with all its levels in one launch.
Source: papers/004, section 2.1, after Luo, Wong and Hwu (inter-block synchronisation).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .device import Device, DeviceArray
from .direction_table import PERSISTENT, DirectionTable, LevelSize, Rule, usual_table
from .frontier import FrontierLauncher
from .graph import DeviceGraph
from .kernel_file import KernelFile, check_block, start_distances, zeros
from .mappings import find_mapping

MOST_THREADS = 512
NO_LIMIT = (1 << 64) - 1


@dataclass(frozen=True)
class LevelsEnd:
    """The state at the end of a launch: vertices of the frontier, its distance, and the arcs of all earlier rows."""

    size: int
    level: int
    arcs: int


class PersistentLevels:
    """Launches of many levels on one graph, one block a multiprocessor.

    block : threads of a block, a multiple of 32 up to 512 (None: 512). solo : largest frontier for a single block, at
    most 512 (None: its number of threads). Raises InputError for an impossible block.
    """

    def __init__(self, device: Device, graph: DeviceGraph, block: int | None = None, solo: int | None = None) -> None:
        check_block(device, block, MOST_THREADS)
        self._device, self._graph = device, graph
        self._kernels = KernelFile(device, "bfs_persistent.cu", graph.macros, block)
        self._solo = self._kernels.block("persistent_levels") if solo is None else solo
        self._barrier = zeros(device, 1, np.uint32)
        self._tails, self.state = device.empty(3, np.uint64), device.empty(3, np.uint64)

    def run(self, queues: tuple[DeviceArray, DeviceArray], distances: DeviceArray, start: tuple[int, int],
            limit: int = NO_LIMIT, last: int = NO_LIMIT) -> LevelsEnd:
        """Run levels until the frontier is empty or has more than `limit` vertices, or its distance is `last`.

        queues : for levels of even and of odd distance (the neighbours' type, [n]). distances : uint32[n], set up to
        the frontier. start : number of vertices of the frontier, which are in the queue of its distance, and this
        distance. The host reads once, at the end: `state`, uint64[3] on the device: size, level, arcs.
        """
        self._device.copy(np.array([*start, 0], np.uint64), self.state)
        self._device.fill(self._tails, 0)
        self._kernels.launch_resident(
            "persistent_levels", self._device.n_sms, self._graph.offsets, self._graph.neighbours, *queues, distances,
            self._solo, limit, last, self.state, self._tails, self._barrier)
        return LevelsEnd(*(int(value) for value in self._device.to_host(self.state)))


def bfs_persistent(device: Device, graph: DeviceGraph, source: int, block: int | None = None, radius: int | None = None,
                   solo: int | None = None) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, in one launch for any number of levels.

    block, solo : see PersistentLevels. radius : stop at this distance; the result then has distances up to it and their
    largest. Two queues of n vertices. Work O(n + m). Raises InputError for an impossible block. Source: papers/004,
    section 2.1.
    """
    levels, n = PersistentLevels(device, graph, block, solo), graph.n_vertices
    distances = start_distances(device, n, source)
    queues = (device.empty(n, graph.id_dtype), device.empty(n, graph.id_dtype))
    device.fill(queues[0][0:1], source)
    end = levels.run(queues, distances, (1, 0), last=NO_LIMIT if radius is None else radius)
    return distances, end.level if end.size else end.level - 1


WORD = 32
# The persistent kernel returns when a frontier is this many times larger than the limit for choosing it: without the
# factor, searches with levels near the limit would alternate, and make the bitmap again each time.
PATIENCE = 4


@dataclass
class LevelState(LevelSize):
    """The state of a search. level : distance of the frontier. upwards : whether the last level went up. in_words :
    whether the frontier is a bitmap (else a queue). marked : whether the bitmap of visited vertices is up to date."""

    distances: DeviceArray
    level: int = 0
    upwards: bool = False
    in_words: bool = False
    marked: bool = True


class AutoBfs:
    """BFS on one graph, for any number of sources; buffers are made once.

    mapping : the load balancing of all top-down levels, instead of the table's. block : threads of a block, a multiple
    of 32 up to 256 (None: the default of each kernel). table : of directions (None: the package's). Device memory: two
    queues and four bitmaps of n vertices, the buffers of a FrontierLauncher for each mapping in use, and the distances
    of each run. Raises InputError for an impossible mapping or block.
    """

    def __init__(self, device: Device, graph: DeviceGraph, mapping: str | None = None, block: int | None = None,
                 table: DirectionTable | None = None) -> None:
        if mapping is not None:
            find_mapping(mapping)
        self._device, self._graph, self._block, self._fixed = device, graph, block, mapping
        self._table = table or usual_table()
        self._n, self._words = graph.n_vertices, -(-graph.n_vertices // WORD)
        self._launchers: dict[str, FrontierLauncher] = {}
        self._persistent = PersistentLevels(device, graph, block)
        self._bits = KernelFile(device, "bfs_bitmaps.cu", graph.macros, block)
        self._frontiers = KernelFile(device, "frontier.cu", graph.macros, block)
        self._queues = graph.queues(device)
        self._counts = zeros(device, 3, np.uint64)
        self._visited, self._isolated, self._frontier, self._next = (
            device.empty(self._words, np.uint32) for _ in range(4))
        self._bits.launch("isolated_words", self._n, graph.offsets, self._n, self._words,
                          self._isolated, self._counts[:1])
        self._largest = int(device.to_host(self._counts)[0])

    def run(self, source: int, radius: int | None = None) -> tuple[DeviceArray, int, bool]:
        """(distances, largest distance, whether it is the eccentricity) of a search from `source`.

        radius : stop at this distance; the third value is False if vertices at this distance were reached, since there
        may be farther ones. distances : uint32[n], owned by the caller. Work O(n + m), and at most n + m for each level
        up.
        """
        now, last = self._start(source), NO_LIMIT if radius is None else radius
        while now.rows and now.level < last:
            rule = self._rule(now)
            self._graph.scanned.arcs += self.step(now, rule, last)[1]
        complete = now.rows == 0
        return now.distances, now.level - complete, complete

    def _start(self, source: int) -> LevelState:
        """The state of a search that has reached its source."""
        distances = start_distances(self._device, self._n, source)
        self._device.copy(self._isolated, self._visited)
        self._bits.launch("start_search", 1, self._graph.offsets, self._graph.id_dtype.type(source), distances,
                          self._visited, self._queues[0], self._counts)
        arcs = int(self._device.to_host(self._counts)[1])
        return LevelState(1, arcs, 0, self._graph.n_arcs - arcs, self._n, distances)

    def _rule(self, now: LevelState) -> Rule:
        """The rule of the next level, if it goes down; sets `upwards`. The persistent kernel is tested first: a pass
        over all vertices costs more than its small frontiers."""
        rule = self._table.choose(now.rows, now.arcs, self._largest)
        now.upwards = (now.upwards or rule.way != PERSISTENT) and self._table.upwards(now.upwards, now)
        if rule.way != PERSISTENT and self._fixed is not None:
            return Rule(self._fixed)
        return rule

    def step(self, now: LevelState, rule: Rule, last: int) -> tuple[int, int]:
        """One step: a level, or several by the persistent kernel. Returns the arcs of the expanded rows, and the
        scanned arcs."""
        if now.upwards:
            return self._up(now)
        if now.in_words:
            self._device.fill(self._counts, 0)
            self._frontiers.launch("queue_of_words", self._words, self._frontier, self._words,
                              self._queues[now.level % 2], self._counts)
            now.in_words = False
        return self._many(now, rule, last) if rule.way == PERSISTENT else self._down(now, rule)

    def _mark(self, now: LevelState) -> None:
        """Bring the bitmap of visited vertices up to date."""
        if not now.marked:
            self._bits.launch("visited_words", self._n, now.distances, self._n, self._words,
                              self._isolated, self._visited)
            now.marked = True

    def _many(self, now: LevelState, rule: Rule, last: int) -> tuple[int, int]:
        """Several levels in one launch, until the frontier is too large for the rule or the search ends."""
        limit = NO_LIMIT if rule.most_rows is None else max(now.rows, int(PATIENCE * rule.most_rows))
        end = self._persistent.run(self._queues, now.distances, (now.rows, now.level), limit, last)
        reached = end.arcs - now.arcs
        now.level, now.rows, now.rows_before, now.arcs, now.marked = end.level, end.size, 0, 0, False
        if end.size and end.level < last:
            self._device.fill(self._counts, 0)
            self._frontiers.launch("arcs_of_queue", end.size, self._queues[end.level % 2], self._persistent.state[:1],
                              self._graph.offsets, self._counts[:1])
            now.arcs = int(self._device.to_host(self._counts)[0])
        now.arcs_left -= reached + now.arcs
        return end.arcs, end.arcs

    def _down(self, now: LevelState, rule: Rule) -> tuple[int, int]:
        """One level from a queue, with the rule's mapping."""
        self._mark(now)
        launcher, expanded = self._launcher(rule.way), now.arcs
        kernels = launcher.kernels("bfs_top_down.cu", "top_down_bits")
        here, there = self._queues[now.level % 2], self._queues[1 - now.level % 2]
        self._device.fill(self._counts, 0)
        launcher.launch(kernels, here[: now.rows], (
            self._visited, now.distances, np.uint32(now.level + 1), there, self._counts))
        self._advance(now)
        return expanded, expanded

    def _launcher(self, mapping: str) -> FrontierLauncher:
        """The launcher with this mapping, made at its first use."""
        if mapping not in self._launchers:
            self._launchers[mapping] = FrontierLauncher(self._device, self._graph, mapping, self._block)
        return self._launchers[mapping]

    def _up(self, now: LevelState) -> tuple[int, int]:
        """One bottom-up level."""
        self._mark(now)
        expanded = now.arcs
        if not now.in_words:
            self._device.fill(self._frontier, 0)
            self._frontiers.launch("words_of_queue", now.rows, self._queues[now.level % 2], now.rows, self._frontier)
        self._device.fill(self._counts, 0)
        self._bits.launch("bottom_up_words", self._n, self._graph.offsets, self._graph.neighbours,
                          self._words, self._visited, self._frontier, self._next, now.distances,
                          np.uint32(now.level + 1), self._counts)
        self._frontier, self._next = self._next, self._frontier
        now.in_words = True
        return expanded, self._advance(now)

    def _advance(self, now: LevelState) -> int:
        """Advance to the next level by the counts; return the third one, the arcs scanned by a level up."""
        now.level, now.rows_before = now.level + 1, now.rows
        now.rows, now.arcs, scanned = (int(value) for value in self._device.to_host(self._counts))
        now.arcs_left -= now.arcs
        return scanned


def bfs_auto(device: Device, graph: DeviceGraph, source: int, block: int | None = None, mapping: str | None = None,
             search: AutoBfs | None = None) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, each level in the way of the direction table.

    block, mapping : see AutoBfs. search : an existing AutoBfs of this graph; used if the other options are None. Raises
    InputError as AutoBfs does. Source: papers/004, sections 2.1 and 5.
    """
    if search is None or block is not None or mapping is not None:
        search = AutoBfs(device, graph, mapping, block)
    distances, eccentricity, _ = search.run(source)
    return distances, eccentricity
