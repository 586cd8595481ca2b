"""Frontiers over a graph with paged arcs: the same kernels, on the available pages.

For each frontier, as a bitmap: a kernel counts the active arcs of each block (paging.cu); the cost model chooses a way
for each page (paging_model.py); consecutive pages that are not copied form one group; and each group has its rows and
a launch. A level of a BFS may instead be one launch in which every unreached vertex reads its row in place until it
meets the frontier. Kernels process available arcs and skip others (Frontier, mapping.cuh), so a row that spans pages is
done in parts. Vertex state stays on the device. Work a frontier: as FrontierLauncher, n / 32, and O(pages) on the host,
which reads one small array.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..traverse.core import Core
from .device import Device, DeviceArray, Kernel
from .frontier import ArcRange, FrontierLauncher, LevelBfs
from .graph import DeviceGraph
from .kernel_file import KernelFile
from .page_cache import PageCache, pack_rows
from .paging_model import COPY, IN_PLACE, SECTOR_BYTES, UP, LevelNeed, PageCosts, PageNeed, PagingModel
from .source import Define

WORD = 32
# A page has long rows from this average number of arcs on. On an H200, pages with rows of 28 arcs reached 83 % of the
# bus rate with the mapping for long rows and 60 % with the other one; with rows of at most 19 arcs 80 and 90 %.
LONG_ROW = 24
# Counts of a level up: vertices, their arcs, scanned arcs (bfs_bitmaps.cu).
_COUNTS = 3


@dataclass(frozen=True)
class PagedGraph(DeviceGraph):
    """A graph with offsets on the device and paged arcs.

    neighbours : an empty vector of the ids' type. core : of the engine with the arcs. model : costs of the ways; ways :
    allowed ways (of ALL_WAYS of paging_model.py).
    """

    resident: ClassVar[bool] = False
    # A mapping without sums, whose grid is full for any rows; and for pages of long rows, a mapping that divides arcs
    # evenly, since all threads must share few rows.
    usual_mapping: ClassVar[str] = "dynamic-warps"
    long_mapping: ClassVar[str] = "multi-phase"
    core: Core
    pages: PageCache
    model: PagingModel
    ways: tuple[str, ...]

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return self.pages.n_arcs

    @property
    def launch_limits(self) -> tuple[int, int]:
        """The largest numbers of rows and arcs of a launch: those of a page."""
        return self.pages.items, self.pages.items

    def close(self) -> None:
        """Unlock the arena."""
        self.pages.close()

    def launcher(self, device: Device, mapping: str | None = None, block: int | None = None) -> FrontierLauncher:
        """See DeviceGraph.launcher."""
        return PagedLauncher(device, self, mapping, block)


@dataclass
class _Group:
    """Pages first..last of one launch. rows : upper bound of the frontier's rows in them; arcs : exact number."""

    way: str
    first: int
    last: int
    rows: int
    arcs: int


@dataclass(frozen=True)
class _Plan:
    """The way to bring the arcs of a frontier. arcs : number of active arcs. seconds : predicted. active : blocks with
    an active arc, bool[blocks]; sectors : of active rows in each page, int64[pages]."""

    groups: list[_Group]
    arcs: int
    seconds: float
    active: np.ndarray
    sectors: np.ndarray


class PagedLauncher(FrontierLauncher):
    """A FrontierLauncher for a PagedGraph, with the same parameters. mapping : None chooses one of the graph's two
    mappings by the rows of each page.

    Additional device buffers, shared by launchers of a graph: n / 8 bytes, 8 bytes a block, 24 a page, the rows of a
    page, and the arcs of a page.
    """

    def __init__(self, device: Device, graph: PagedGraph, mapping: str | None = None,
                 block: int | None = None) -> None:
        super().__init__(device, graph, mapping or graph.usual_mapping, block)
        self._long = None if mapping else FrontierLauncher(device, graph, graph.long_mapping, block)
        if not self.mapping.needs_sums:
            self._make_sums(graph.launch_limits[0])  # packed rows need sums with any mapping
        self._paged, self._pages = graph, graph.pages
        asked = self._pages.n_blocks + 2 * self._pages.n_pages
        self._activity = graph.shared(device, "activity", asked, np.uint64)
        self._words = graph.shared(device, "words", -(-graph.n_vertices // WORD), np.uint32)
        self._rows = graph.shared(device, "rows", self._pages.items, graph.id_dtype)
        self._arcs = graph.shared(device, "arcs", self._pages.items, graph.id_dtype)
        self._tails = graph.shared(device, "tails", self._pages.n_pages, np.uint64)
        self._packed = np.empty(self._pages.items, graph.id_dtype)
        self._run = KernelFile(device, "paging.cu", graph.macros, block).launch

    def kernels(self, file: str | Path, entry: str, **macros: Define) -> list[Kernel]:
        """See FrontierLauncher.kernels; with two mappings, the last one is for long rows."""
        others = [] if self._long is None else self._long.kernels(file, entry, **macros)
        return [*super().kernels(file, entry, **macros), *others]

    def launch(self, kernels: Sequence[Kernel], queue: DeviceArray, arguments: Sequence[Any]) -> None:
        """See FrontierLauncher.launch; one launch for each group of pages with an active arc."""
        self.device.fill(self._words, 0)
        self._of_frontier.launch("words_of_queue", queue.size, queue, queue.size, self._words)
        self.launch_plan(self.plan(self._words), kernels, self._words, arguments)

    def launch_plan(self, plan: _Plan, kernels: Sequence[Kernel], words: DeviceArray, arguments: Sequence[Any]) -> None:
        """As `launch`, for the vertices of a bitmap, uint32[ceil(n / 32)], by a plan for them."""
        self.graph.scanned.arcs += plan.arcs
        self._pages.counts.pages_skipped += self._pages.n_pages - sum(one.last - one.first + 1 for one in plan.groups)
        if plan.groups:
            self.device.fill(self._tails, 0)
        for group in plan.groups:
            queue = self._rows_of(group, words)
            resident = self._bring(group, queue, plan)
            if self._long is not None and group.arcs >= LONG_ROW * group.rows:
                self._long.launch_range(kernels[-1:], queue, resident, arguments)
            else:
                self.launch_range(kernels, queue, resident, arguments)
            if group.way == COPY:
                self._pages.used(group.first)

    def plan(self, words: DeviceArray) -> _Plan:
        """The plan to bring the arcs of the vertices of a bitmap, uint32[ceil(n / 32)]."""
        arcs, rows, sectors = self._ask(words)
        groups, seconds = self._groups(arcs, rows, sectors)
        return _Plan(groups, int(arcs.sum()), seconds, arcs > 0, sectors)

    def _ask(self, words: DeviceArray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Active arcs of each block, int64[blocks]; active rows and their sectors, int64[pages]."""
        n_blocks, n_pages = self._pages.n_blocks, self._pages.n_pages
        self.device.fill(self._activity, 0)
        cuts = (0, n_blocks, n_blocks + n_pages, n_blocks + 2 * n_pages)
        self._run("page_activity", self.graph.n_vertices, words, self.graph.n_vertices, self.graph.offsets,
                  np.uint32(self._pages.block_shift), np.uint32(self._pages.page_shift),
                  *(self._activity[a:b] for a, b in itertools.pairwise(cuts)))
        asked = self.device.to_host(self._activity).astype(np.int64)
        return asked[: cuts[1]], asked[cuts[1] : cuts[2]], asked[cuts[2] :]

    def _groups(self, arcs: np.ndarray, rows: np.ndarray, sectors: np.ndarray) -> tuple[list[_Group], float]:
        """The groups of pages with their ways, in the order of pages, and the predicted seconds."""
        pages = np.flatnonzero(rows)
        if not len(pages):
            return [], 0.0
        of_page = self._pages.per_page(arcs)[pages]
        needs = PageNeed(self._pages.missing_bytes(arcs > 0)[pages], of_page * self._packed.itemsize, sectors[pages])
        costs = PageCosts(self._paged.model, needs, self._paged.ways)
        groups, seconds, last = list[_Group](), 0.0, _Group(COPY, 0, 0, 0, self._pages.items)
        for at, (page, n_rows, n_arcs) in enumerate(zip(pages.tolist(), rows[pages].tolist(), of_page.tolist(),
                                                        strict=True)):
            before = last.way if last.arcs + n_arcs <= self._pages.items else COPY
            way, cost = costs.cheapest(at, before)
            seconds += cost
            if way == COPY or way != before:
                last = _Group(way, page, page, n_rows, n_arcs)
                groups.append(last)
            else:
                last.last, last.rows, last.arcs = page, last.rows + n_rows, last.arcs + n_arcs
        return groups, seconds

    def _rows_of(self, group: _Group, words: DeviceArray) -> DeviceArray:
        """The vertices of the frontier with an arc in the group, in any order."""
        first, last = self._pages.vertices_of(group.first, group.last)
        begin, end = self._pages.range_of(group.first, group.last)
        tail = self._tails[group.first : group.first + 1]
        self._run("rows_of_range", last + 1 - first // WORD * WORD, words, self.graph.offsets, first,
                  last, begin, end, self._rows, tail)
        # A row that continues in the next page of a group was counted twice, so the number is read back; for a single
        # page it is known.
        k = group.rows if group.first == group.last else int(self.device.to_host(tail)[0])
        return self._rows[:k]

    def _bring(self, group: _Group, rows: DeviceArray, plan: _Plan) -> ArcRange:
        """The arcs of a group, available to later launches."""
        pages, counts = self._pages, self._pages.counts
        begin, end = pages.range_of(group.first, group.last)
        if group.way == COPY:
            part = pages.blocks_of(group.first)
            return ArcRange(pages.bring(group.first, np.flatnonzero(plan.active[part]) + part.start), begin, end)
        if group.way == IN_PLACE:
            counts.pages_in_place += 1
            counts.bytes_in_place += int(plan.sectors[group.first : group.last + 1].sum()) * SECTOR_BYTES
            return ArcRange(pages.in_place(begin, end), begin, end)
        k = pack_rows(self._paged.core, self.device.to_host(rows), begin, end, self._packed)
        counts.pages_gathered += 1
        counts.bytes_gathered += k * self._packed.itemsize
        self.device.copy(self._packed[:k], self._arcs[:k])
        return ArcRange(self._arcs[:k], begin, end, packed=True)


class PagedBfs(LevelBfs):
    """BFS on a PagedGraph without queues, for any number of sources; bitmaps are made once.

    mapping : of all top-down levels (None: as in PagedLauncher). predicted : predicted seconds of the levels so far.
    Device memory in addition to graph and launcher: 4 bytes a vertex for the distances, and n / 4. Raises InputError
    for an impossible mapping.
    """

    def __init__(self, device: Device, graph: PagedGraph, mapping: str | None = None,
                 block: int | None = None) -> None:
        super().__init__(device, graph, _COUNTS)
        self._paged, self.predicted = graph, 0.0
        self._launcher = PagedLauncher(device, graph, mapping, block)
        self._kernels = self._launcher.kernels("bfs_top_down.cu", "reach_words")
        self._bits = KernelFile(device, "bfs_bitmaps.cu", graph.macros, block)
        self._n_words = -(-graph.n_vertices // WORD)
        self._words = [device.empty(self._n_words, np.uint32) for _ in range(2)]
        # Shared with the launcher, which fills it for frontiers in queues.
        self._visited = graph.shared(device, "words", self._n_words, np.uint32)
        self._with_arcs = graph.n_vertices - graph.core.n_isolated

    def _start(self, source: int) -> None:
        here, _ = self._words
        self._device.fill(here, 0)
        self._device.fill(here[source // WORD : source // WORD + 1], 1 << source % WORD)
        self.reached, self._up = 1, False
        self._remaining_rows, self._remaining_arcs = self._with_arcs, self._graph.n_arcs

    def _expand(self, distances: DeviceArray, level: np.uint32, count: DeviceArray) -> None:
        here, there = self._words
        self._remaining_rows = max(0, self._remaining_rows - self.reached)
        if self._remaining_rows == 0:  # all vertices with arcs are reached, so the last frontier's arcs are not needed
            return
        plan = self._launcher.plan(here)
        self._remaining_arcs -= plan.arcs
        model, item = self._paged.model, self._graph.id_dtype.itemsize
        need = LevelNeed(self._remaining_rows, self._remaining_arcs, plan.arcs / max(1, self._graph.n_arcs), item)
        self._up = UP in self._paged.ways and model.seconds_up(need) < plan.seconds
        self.predicted += model.round_trip + (model.seconds_up(need) if self._up else plan.seconds)
        if self._up:
            self._go_up(distances, level, count)
        else:
            self._device.fill(there, 0)
            self._launcher.launch_plan(plan, self._kernels, here, (distances, level, there, count))
        self._words.reverse()

    def _go_up(self, distances: DeviceArray, level: np.uint32, count: DeviceArray) -> None:
        """A level in which unreached vertices search for the frontier."""
        (here, there), n = self._words, self._graph.n_vertices
        # Bits after the last vertex count as visited for the kernel; vertices without arcs find no neighbour.
        self._device.fill(there, 0)
        if n % WORD:
            self._device.fill(there[self._n_words - 1 :], (1 << WORD) - (1 << n % WORD))
        self._bits.launch("visited_words", n, distances, n, self._n_words, there, self._visited)
        self._bits.launch("bottom_up_words", n, self._graph.offsets, self._paged.pages.in_place(0, self._graph.n_arcs),
                          self._n_words, self._visited, here, there, distances, level, count)

    def _end_level(self) -> None:
        """Count the arcs scanned by a level up."""
        if self._up:
            arcs = int(self.counted[2])
            self._graph.scanned.arcs += arcs
            self._paged.pages.counts.bytes_up += arcs * self._graph.id_dtype.itemsize
            self._paged.pages.counts.levels_up += 1
            self._up = False
