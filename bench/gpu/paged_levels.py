"""BFS on a paged graph level by level: what came by which way, in what time, and what the model had predicted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from emdiam.gpu.device import Device, DeviceArray
from emdiam.gpu.graph import offsets_dtype
from emdiam.gpu.paging_model import TYPICAL, PagingModel

from .setting import Skipped
from .twins import UNREACHED

if TYPE_CHECKING:
    from emdiam.gpu.paged import PagedGraph

PAGE_BYTES = 8 << 20
RING = 3
# Distances; three bitmaps of the search and its launcher.
VERTEX_BYTES = 4 + 3 / 8
# Small vectors, sums of sums, and what an allocator rounds up.
MARGIN = 1 << 20


@dataclass(frozen=True)
class Room:
    """Device memory of a paged BFS. limit, state, ring : bytes, of all, of what a vertex takes, and of pages that
    come and go with what stands beside them. page_shift : log2 of blocks a page; kept : pages that stay."""

    limit: int
    state: int
    ring: int
    page_shift: int
    kept: int


def room_for(n: int, n_arcs: int, share: float, block_items: int, id_bytes: int = 4) -> Room:
    """The largest pages, of at most 8 MiB, with which a BFS fits `share` of the bytes of the ids.

    Where not even the smallest ring fits, the limit is what the vertices and that ring take, and that share of the
    ids beside it.
    """
    offset = offsets_dtype(n_arcs, id_bytes).itemsize
    ids, state = int(share * n_arcs * id_bytes), int((VERTEX_BYTES + offset) * n) + MARGIN
    n_blocks = max(1, -(-n_arcs // block_items))
    most = max(0, (PAGE_BYTES // (block_items * id_bytes)).bit_length() - 1)
    rings = [ring_bytes(n_blocks, block_items, id_bytes, shift) for shift in range(most + 1)]
    fitting = [shift for shift, nbytes in enumerate(rings) if state + nbytes <= ids]
    if not fitting:
        ids += state + min(rings)
        fitting = [shift for shift, nbytes in enumerate(rings) if state + nbytes <= ids]
    shift = fitting[-1]
    page, n_pages = (block_items << shift) * id_bytes, -(-n_blocks >> shift)
    kept = min((ids - state - rings[shift]) // page, n_pages)
    return Room(ids, state, rings[shift], shift, int(kept))


def ring_bytes(n_blocks: int, block_items: int, id_bytes: int, shift: int) -> int:
    """Bytes of a ring with the rows of a page, arcs that were packed, sums, and counts of blocks and pages."""
    items, n_pages = block_items << shift, -(-n_blocks >> shift)
    return min(RING, n_pages) * items * id_bytes + 2 * items * id_bytes + 8 * (items + 1) + 8 * (n_blocks + 3 * n_pages)


@contextmanager
def opened_pages(device: Device, core: Any, page_shift: int, kept: int, ways: tuple[str, ...],
                 model: PagingModel | None = None) -> Iterator[PagedGraph]:
    """The graph of an engine's core in pages. model : None to measure one.

    Raises Skipped where the arena cannot be read in place and no other way is allowed, BudgetError for lack of room.
    """
    from emdiam.gpu.page_cache import PageCache, measure
    from emdiam.gpu.paged import PagedGraph
    from emdiam.gpu.paging_model import IN_PLACE, UP
    from emdiam.gpu.upload import upload_offsets

    pages = PageCache(device, core, page_shift, kept)
    try:
        allowed = tuple(way for way in ways if way not in (IN_PLACE, UP) or pages.in_order)
        if not allowed:
            raise Skipped("blocks of an arena that is smaller than the graph move, so none is read in place")
        if model is None:
            measure(device, core, pages)  # the first compiles
            model = measure(device, core, pages)
        yield PagedGraph(upload_offsets(device, core), device.empty(0, core.pager.arena.ids.dtype), core, pages,
                         model, allowed)
    finally:
        pages.close()


def pinned_rate(device: Device, nbytes: int, times: int = 3) -> float:
    """Bytes a second of the copy engine from locked memory of the host, the best of some copies; TYPICAL's where
    nothing can be copied."""
    host = np.ones(max(1, nbytes // 4), np.uint32)
    target, best = device.empty(len(host), np.uint32), float("inf")
    device.register(host)
    try:
        stream = device.stream()
        for _ in range(times):
            device.synchronize()
            begin = time.perf_counter()
            device.copy_behind(host, target, stream)
            device.wait_here(device.record(stream))
            best = min(best, time.perf_counter() - begin)
    finally:
        device.release(host)
    return host.nbytes / best if best else TYPICAL.copy_rate


class Levels:
    """A PagedBfs, stopped after each level to read clocks and counts."""

    def __init__(self, device: Device, graph: PagedGraph, seconds: float) -> None:
        from emdiam.gpu.paged import PagedBfs

        self._device, self._graph, self._seconds = device, graph, seconds
        self._search, self._distances = PagedBfs(device, graph), device.empty(graph.n_vertices, np.uint32)

    def run(self, source: int) -> tuple[DeviceArray, list[dict[str, Any]]]:
        """Distances, uint32[n] (the same vector at each call), and a row a level. Raises Skipped when the time of
        the cell is over."""
        device, started, rows = self._device, time.monotonic(), list[dict[str, Any]]()
        device.fill(self._distances, UNREACHED)
        device.fill(self._distances[source : source + 1], 0)
        levels, n_front = self._search.levels(source, self._distances), 1
        while n_front:
            found, row = self._level(levels)
            rows.append({"level": len(rows), "rows": n_front, "found": found, **row})
            n_front = found
            if time.monotonic() - started > self._seconds:
                raise Skipped(f"stopped after {len(rows)} levels and {self._seconds:g} s")
        return self._distances, rows

    def _level(self, levels: Iterator[int]) -> tuple[int, dict[str, Any]]:
        """Vertices reached, and what came."""
        counts, search = self._graph.pages.counts, self._search
        before, predicted = counts.copy(), search.predicted
        self._device.synchronize()
        begin = time.perf_counter()
        found = next(levels)
        seconds = time.perf_counter() - begin
        # The number of those that it reached comes to the host beside what the prediction has.
        predicted = search.predicted - predicted + self._graph.model.round_trip
        return found, {"seconds": seconds, "predicted_seconds": predicted, **(counts - before).to_dict()}
