"""Checks of what only an engine needs: BFS on pages and on a range of the vertices, and the growth of labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import catalogue
from .host_engine import HostGraph, memory_engine, need_engine

if TYPE_CHECKING:
    from .verify import Subject

# So many arcs a block and so many blocks a page that a toy graph has several of both.
BLOCK_ITEMS, PAGE_SHIFT = 64, 1
# Levels of a search that are looked at, at most.
LEVELS = 20


def paged(subject: Subject, mapping: str) -> Iterator[bool]:
    """Distances with every way of paging alone, and with all; by words, and by queues."""
    from emdiam.gpu.paged import PagedBfs
    from emdiam.gpu.paging_model import COPY, GATHER, IN_PLACE, WAYS
    from emdiam.gpu.variants.bfs_frontier import FrontierBfs

    need_engine()
    setting, ids = subject.setting, subject.graph.id_dtype
    graph = HostGraph("paged", subject.rows[0], subject.rows[1].astype(ids))
    with memory_engine(graph, BLOCK_ITEMS, 1) as engine:
        for ways in ((COPY,), (GATHER,), (IN_PLACE,), WAYS):
            for make in (PagedBfs, FrontierBfs):
                with _opened(setting.device, engine, ways) as there:
                    search = make(setting.device, there, mapping)
                    for source in subject.sources:
                        found, levels, complete = search.run(source)
                        yield complete and catalogue.agrees(setting, (found, levels), subject.expected[source])


def rates(subject: Subject, mapping: str) -> Iterator[bool]:
    """The kernel that measures reading in place reads one id of each sector; and all rates are some."""
    need_engine()
    from emdiam.gpu.page_cache import STRIDE, measure, read_sectors
    from emdiam.gpu.paging_model import WAYS

    device, values = subject.setting.device, subject.rows[1].astype(subject.graph.id_dtype)
    items = 32 // values.itemsize
    n = values.size // items
    n -= n % STRIDE == 0
    if n > 0:
        total = device.array(np.zeros(1, np.uint64))
        read_sectors(device, device.array(values), n, total)
        yield int(device.to_host(total)[0]) == int(values[: n * items : items].sum(dtype=np.uint64))
    graph = HostGraph("rates", subject.rows[0], values)
    with memory_engine(graph, BLOCK_ITEMS, 1) as engine, _opened(device, engine, WAYS) as there:
        model = measure(device, engine.core, there.pages)
        yield min(model.copy_rate, model.place_rate, model.gather_rate, model.call, model.round_trip) > 0


def _opened(device: Any, engine: Any, ways: tuple[str, ...]) -> Any:
    """With the model of typical rates, so that every run takes the same ways."""
    from emdiam.gpu.paging_model import TYPICAL

    from .paged_levels import opened_pages

    return opened_pages(device, engine.core, PAGE_SHIFT, 1, ways, TYPICAL)


def ranges(subject: Subject, mapping: str) -> Iterator[bool]:
    """Levels down and up on two ranges that make the graph, from the bitmaps of each level, levels of a batch of one
    source, and steep arcs."""
    from emdiam.gpu.range_rows import RangeRows

    need_engine()
    graph = HostGraph("ranges", subject.rows[0], subject.rows[1].astype(subject.graph.id_dtype))
    n, middle = graph.n, graph.n // 128 * 64
    with memory_engine(graph, BLOCK_ITEMS) as engine:
        for first, stop in ((0, middle), (middle, n)):
            blocks = engine.core.table.blocks_between(first, stop)
            if not len(blocks):
                continue
            rows = RangeRows(subject.setting.device, replace(engine.core, part=(first, stop, blocks)))
            for distances in subject.expected.values():
                yield all(_level_is_right(rows, graph, (first, stop), distances, level)
                          for level in range(min(LEVELS, int(distances[distances < n].max()))))
            some, far = (next(iter(subject.expected.values())) * k for k in (1, 2))
            heads = graph.neighbours[graph.offsets[first] : graph.offsets[stop]]
            tails = np.repeat(far[first:stop], np.diff(graph.offsets[first : stop + 1]))
            yield rows.count_steep(far[first:stop], far[: n - 1], 0) == np.count_nonzero(
                (np.abs(far[heads].astype(np.int64) - tails) > 1) & (heads < n - 1))
            front, seen = np.array(_words(some == 1)), (some[first:stop, None] <= 1).astype(np.uint64)
            before, new = np.cumsum(np.bitwise_count(front)) - np.bitwise_count(front), np.zeros_like(seen)
            masks = np.ones((int(np.count_nonzero(some == 1)), 1), np.uint64)
            rows.pull_masks((front, before.astype(np.uint32)), masks, np.ones(1, np.uint64), seen, new)
            yield np.array_equal(new[:, 0] == 1, some[first:stop] == 2)
            rows.close()


def _level_is_right(rows: Any, graph: HostGraph, span: tuple[int, int], distances: np.ndarray, level: int) -> bool:
    """Whether a level, down and up, reaches on one range what these distances say."""
    n, (first, stop) = graph.n, span
    front, here = distances == level, slice(first, stop)
    inside = np.zeros(n, bool)
    inside[here] = front[here]
    heads = np.repeat(inside, np.diff(graph.offsets))
    want = np.zeros(n, bool)
    want[graph.neighbours[heads]] = True
    found = np.zeros(-(-n // 64), np.uint64)
    arcs = rows.go_down(_words(inside[here]), found)
    visited = np.ones(-(-(stop - first) // 64) * 64, bool)
    visited[: stop - first] = distances[here] <= level
    new, _ = rows.go_up(_words(visited), _words(front))
    return bool(np.array_equal(found, _words(want)) and arcs == np.count_nonzero(heads)
                and np.array_equal(new, _words(distances[here] == level + 1)))


def _words(bits: np.ndarray) -> np.ndarray:
    """A bitmap, uint64[ceil(k / 64)]."""
    padded = np.zeros(-(-len(bits) // 64) * 64, bool)
    padded[: len(bits)] = bits
    return np.packbits(padded, bitorder="little").view(np.uint64)


def labels(subject: Subject, mapping: str) -> Iterator[bool]:
    """Labels around all sources: the smallest (distance, owner) of a BFS from each."""
    need_engine()
    from emdiam.gpu.components import grow_labels

    device, n = subject.setting.device, subject.graph.n_vertices
    seeds = np.unique(subject.sources)[::-1].astype(np.int64)
    grown = np.full(n, np.iinfo(np.uint64).max, np.uint64)
    grown[seeds] = np.arange(len(seeds), dtype=np.uint64)
    want = np.full(n, np.iinfo(np.uint64).max, np.uint64)
    for owner, seed in enumerate(seeds.tolist()):
        found = subject.expected[seed]
        near = found != np.iinfo(np.uint32).max
        want[near] = np.minimum(want[near], found[near].astype(np.uint64) << np.uint64(32) | np.uint64(owner))
    whole, _ = grow_labels(device, subject.graph, grown, seeds)
    yield whole and np.array_equal(grown, want)
