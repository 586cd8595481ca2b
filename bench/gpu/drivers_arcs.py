"""Checks of searches along arcs and against them, on one subject without a third of its arcs, and of their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from emdiam.gpu.bfs_whole import WholeBfs
from emdiam.gpu.graph import DeviceGraph, offsets_dtype
from emdiam.gpu.multi_source import WholeBatch

from . import twins
from .drivers_columns import need_numba
from .inputs import on_device

if TYPE_CHECKING:
    from .verify import Subject

UNREACHED = twins.UNREACHED
Rows = tuple[np.ndarray, np.ndarray]


def _arcs(subject: Subject) -> tuple[Rows, Rows]:
    """Rows of the arcs, and of their reverse."""
    offsets, heads = subject.rows
    tails = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    kept = (tails + 2 * heads) % 3 != 0
    return _rows(offsets.size - 1, tails[kept], heads[kept]), _rows(offsets.size - 1, heads[kept], tails[kept])


def _rows(n: int, tails: np.ndarray, heads: np.ndarray) -> Rows:
    order = np.lexsort((heads, tails))
    return np.concatenate(([0], np.cumsum(np.bincount(tails, minlength=n)))), heads[order]


def searches(subject: Subject, mapping: str) -> Iterator[bool]:
    """BFS among all vertices and among some, and batches, both ways."""
    device, sides = subject.setting.device, _arcs(subject)
    n, ids = subject.graph.n_vertices, subject.graph.id_dtype
    out, back = (DeviceGraph(on_device(device, offsets.astype(offsets_dtype(heads.size, ids.itemsize))),
                             on_device(device, heads.astype(ids))) for offsets, heads in sides)
    bits = np.zeros(-(-n // 64) * 64, bool)
    bits[0:n:5], bits[n:] = True, True
    bits[subject.sources] = False
    outside = device.array(np.packbits(bits, bitorder="little").view(np.uint32))
    for graph, rows in zip(out.both_ways(back), sides, strict=True):
        search, expected = WholeBfs(device, graph), [twins.distances(*rows, source) for source in subject.sources]
        for source, found in zip(subject.sources, expected, strict=True):
            yield np.array_equal(device.to_host(search.find(source).distances), found)
        inside = device.to_host(search.find(subject.sources[0], outside=outside).distances)
        yield np.array_equal(inside, twins.distances(*_without(rows, bits[:n]), subject.sources[0]))
        reach = WholeBatch(device, graph).run(np.array(subject.sources, np.int64))
        yield reach.tolist() == [twins.eccentricity(found) for found in expected]


def _without(rows: Rows, out: np.ndarray) -> Rows:
    """The rows without arcs to some vertices, bool[n]."""
    tails = np.repeat(np.arange(out.size), np.diff(rows[0]))
    kept = ~out[rows[1]]
    return _rows(out.size, tails[kept], rows[1][kept])


def bounds(subject: Subject, mapping: str) -> Iterator[bool]:
    """Bounds folded from distances, and what is chosen by them, against the same on the host."""
    need_numba()
    from emdiam.gpu.arc_bounds import DeviceArcBounds
    from emdiam.gpu.device_column import DeviceColumn
    from emdiam.traverse.arc_bounds import ArcBounds
    from emdiam.traverse.ram_column import RamColumn

    device, (_, back) = subject.setting.device, _arcs(subject)
    n, first = subject.graph.n_vertices, subject.sources[0]
    numbers = (twins.distances(*back, first) != UNREACHED).astype(np.uint32)
    both = ArcBounds(numbers, n, np.dtype(np.uint32)), DeviceArcBounds(device, numbers, n)
    for source in subject.sources:
        found = twins.distances(*back, source)
        far, some = twins.eccentricity(found), np.arange(0, n, 7)
        kept = []
        for one, column in zip(both, (RamColumn(found), DeviceColumn(device, device.array(found))), strict=True):
            one.fold(0, source, column, far)
            one.put(0, source, far)
            one.values(0, some)[some] = np.minimum(one.values(0, some)[some], 2 * far + 1)
            one.changed(0, some)
            kept.append([one.largest(0), one.n_above(0, far), one.above(0, far), one.first_largest(), *one.at(0, some),
                         one.central(1, [source]), one.extreme(0, far) if one.n_above(0, far) else -1])
        yield all(np.array_equal(host, gpu) for host, gpu in zip(*kept, strict=True))
