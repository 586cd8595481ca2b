"""Checks of drivers other than BFS on one subject of the part verify: (subject, mapping) -> right or wrong, once
for each result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.multi_source import MultiSource, WholeBatch, WideBatch
from emdiam.gpu.spread import Spreader, WholeSpread
from emdiam.gpu.variants.bounds_dal import DeviceBounds, diameter_by_bounds
from emdiam.gpu.variants.layouts import list_matrix, padded_lists

from . import drivers_arcs, drivers_columns, drivers_forced, drivers_paged, drivers_rows, drivers_weighted, twins

if TYPE_CHECKING:
    from .verify import Subject

UNREACHED = twins.UNREACHED
# A batch of more than one word of sources.
BATCH = 70
# Of wide batches of all widths.
WIDE = (500, 1000, 2000)
# Largest graphs whose lists are put into a matrix, and whose diameter is found by a BFS from every vertex.
MOST_MATRIX, MOST_DIAMETER = 1 << 24, 400


def _layouts(subject: Subject, mapping: str) -> Iterator[bool]:
    """Padded lists, and where it is small the matrix, hold the rows."""
    device, (offsets, neighbours) = subject.setting.device, subject.rows
    degrees = np.diff(offsets)
    made = [padded_lists(device, subject.graph)]
    if degrees.size * (int(degrees.max()) + 32) < MOST_MATRIX:
        made.append(list_matrix(device, subject.graph))
    for lists in made:
        starts = (np.arange(degrees.size) * lists.width if lists.starts is None
                  else device.to_host(lists.starts).astype(np.int64)[:-1])
        places = np.repeat(starts - offsets[:-1], degrees) + np.arange(neighbours.size)
        yield np.array_equal(device.to_host(lists.sizes).astype(np.int64), degrees)
        yield np.array_equal(device.to_host(lists.entries)[places].astype(np.int64), neighbours)


def _bounds(subject: Subject, mapping: str) -> Iterator[bool]:
    """Bounds after two BFS of one component are max(d, e - d) and e + d; the choice is the smallest best one."""
    device, first = subject.setting.device, subject.sources[0]
    near = subject.expected[first]
    inside = near != UNREACHED
    bounds = DeviceBounds(device, device.array(near))
    lower, upper = np.zeros(near.size, np.int64), np.full(near.size, UNREACHED, np.int64)
    for source in (first, int(np.flatnonzero(inside)[-1])):
        found = twins.distances(*subject.rows, source)
        eccentricity, d = twins.eccentricity(found), found.astype(np.int64)
        bounds.update(device.array(found), eccentricity)
        lower, upper = np.maximum(lower, np.maximum(d, eccentricity - d)), np.minimum(upper, eccentricity + d)
        yield np.array_equal(device.to_host(bounds.lower)[inside], lower[inside])
        yield np.array_equal(device.to_host(bounds.upper)[inside], upper[inside])
        candidates = np.flatnonzero(device.to_host(bounds.candidates))
        yield bounds.select(True) == (int(candidates[np.argmax(upper[candidates])]) if candidates.size else None)


def _diameter(subject: Subject, mapping: str) -> Iterator[bool]:
    """The diameter by bounds, on small graphs."""
    if subject.graph.n_vertices <= MOST_DIAMETER:
        start = subject.sources[0]
        found, _ = diameter_by_bounds(subject.setting.device, subject.graph, start)
        yield found == twins.diameter(*subject.rows, start)


def _multi_source(subject: Subject, mapping: str) -> Iterator[bool]:
    """Eccentricities and distances of a batch with repeats, a launch a level."""
    yield from _batch(subject, MultiSource(subject.setting.device, subject.graph, mapping))


def _whole(subject: Subject, mapping: str) -> Iterator[bool]:
    """The same in one launch."""
    yield from _batch(subject, WholeBatch(subject.setting.device, subject.graph))


def _batch(subject: Subject, search: MultiSource | WholeBatch) -> Iterator[bool]:
    device, n = subject.setting.device, subject.graph.n_vertices
    drawn = np.random.default_rng(1).choice(subject.sources, BATCH).astype(np.int64)
    columns = device.empty(n * BATCH, np.uint32)
    device.fill(columns, UNREACHED)
    reach = search.run(drawn, None, columns)
    found = device.to_host(columns).reshape(BATCH, n)
    for i, source in enumerate(drawn):
        expected = subject.expected[int(source)]
        yield int(reach[i]) == twins.eccentricity(expected) and np.array_equal(found[i], expected)


def _wide(subject: Subject, mapping: str) -> Iterator[bool]:
    """Eccentricities of wide batches, of every width."""
    for k in WIDE:
        drawn = np.random.default_rng(k).choice(subject.sources, k).astype(np.int64)
        reach = WideBatch(subject.setting.device, subject.graph).run(drawn)
        yield [*map(int, reach)] == [twins.eccentricity(subject.expected[int(source)]) for source in drawn]


def _spread(subject: Subject, mapping: str) -> Iterator[bool]:
    """Bounds after one spread, and how many were lowered, by a launch a value and by one for all."""
    device, n = subject.setting.device, subject.graph.n_vertices
    seeds, values = np.array(subject.sources, np.int64), np.arange(len(subject.sources), dtype=np.int64)
    before = np.full(n, UNREACHED, np.uint32)
    limit = max(2, twins.eccentricity(subject.expected[subject.sources[0]]) // 2)
    expected = twins.lowered(*subject.rows, before, seeds, values, limit)
    halves = twins.lowered(*subject.rows, before, seeds[:1], values[:1], limit)
    for spreader in (Spreader(device, subject.graph, mapping), WholeSpread(device, subject.graph)):
        bound = device.array(before)
        lowered = spreader.spread(bound, seeds, values, limit)
        yield np.array_equal(device.to_host(bound), expected)
        yield lowered == int(np.count_nonzero(expected != before))
        # In two halves: to a smaller limit, then on from what has that bound.
        bound = device.array(before)
        spreader.spread(bound, seeds[:1], values[:1], limit - 1)
        spreader.extend(bound, limit - 1, limit)
        yield np.array_equal(device.to_host(bound), halves)


Check = Callable[["Subject", str], Iterator[bool]]
_NONE = ("",)
DRIVERS: Mapping[str, tuple[tuple[str, ...], Check]] = {
    "layouts": (_NONE, _layouts), "sums": (_NONE, drivers_forced.sums), "bounds": (_NONE, _bounds),
    "diameter": (_NONE, _diameter), "columns": (_NONE, drivers_columns.columns),
    "pivot bounds": (_NONE, drivers_columns.pivots), "folds": (_NONE, drivers_columns.folds),
    "along arcs": (_NONE, drivers_arcs.searches), "bounds along arcs": (_NONE, drivers_arcs.bounds),
    "BFS-4K, forced": (_NONE, drivers_forced.four_k), "auto, forced": (tuple(MAPPINGS), drivers_forced.auto),
    "luo, forced": (tuple(MAPPINGS), drivers_forced.luo),
    "multi-source": (tuple(MAPPINGS), _multi_source), "spread": (tuple(MAPPINGS), _spread),
    "whole batches": (_NONE, _whole), "wide batches": (_NONE, _wide),
    "rows": (_NONE, drivers_rows.rows), "boxes": (_NONE, drivers_rows.boxes),
    "components": (_NONE, drivers_rows.components),
    "labels": (_NONE, drivers_paged.labels), "paging rates": (_NONE, drivers_paged.rates),
    "paged": (tuple(MAPPINGS), drivers_paged.paged), "ranges": (_NONE, drivers_paged.ranges),
    "searches": (_NONE, drivers_weighted.searches), "sweep": (tuple(MAPPINGS), drivers_weighted.sweep),
    "all pairs": (_NONE, drivers_weighted.all_pairs),
}
