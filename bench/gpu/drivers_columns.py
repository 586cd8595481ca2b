"""Checks of the verbs of columns and of bounds on a device, on the distances of one subject."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from emdiam.gpu.vector import DeviceVector

from . import twins
from .setting import Skipped

if TYPE_CHECKING:
    from .verify import Subject

UNREACHED = twins.UNREACHED


def columns(subject: Subject, mapping: str) -> Iterator[bool]:
    """Every verb, against numpy."""
    found = subject.expected[subject.sources[0]]
    yield from _reads(subject.setting.device, found)
    yield from _writes(subject.setting.device, found, subject.expected[subject.sources[-1]])


def _reads(device: Any, values: np.ndarray) -> Iterator[bool]:
    """Verbs that leave the column as it is."""
    column, n = DeviceVector(device, device.array(values)), values.size
    reached, middle = values != UNREACHED, twins.eccentricity(values) // 2
    top = int(values[reached].max())
    yield column.count_where("!=", UNREACHED) == int(np.count_nonzero(reached))
    yield column.count(middle) == int(np.count_nonzero(values == middle))
    yield column.best_value() == top
    yield column.first_with(top) == int(np.argmax(np.where(reached, values, 0) == top))
    yield column.best_value(False) == int(values.min())
    yield np.array_equal(column.histogram(), np.bincount(values[reached]))
    ids = np.arange(0, n, 3)
    yield np.array_equal(column.take(ids), values[ids])
    yield np.array_equal(column.select("<=", middle), np.flatnonzero(values <= middle))
    bits = column.open_bitmap()
    yield np.array_equal(np.unpackbits(bits.view(np.uint8), bitorder="little")[:n].astype(bool), reached)


def _writes(device: Any, values: np.ndarray, other: np.ndarray) -> Iterator[bool]:
    """Verbs that change the column; each on a fresh one."""
    n, middle = values.size, twins.eccentricity(values) // 2
    there = other != UNREACHED

    def same(verb: Any, expected: np.ndarray, *args: Any) -> bool:
        column = DeviceVector(device, device.array(values))
        verb(column, *args)
        return np.array_equal(device.to_host(column.array), expected)

    put = values.copy()
    put[::5] = 7
    yield same(DeviceVector.put, put, np.arange(0, n, 5), 7)
    yield same(DeviceVector.fill_where, np.where(values > middle, UNREACHED, values).astype(np.uint32), ">", middle,
               UNREACHED)
    yield same(DeviceVector.fill_where, np.where(values < middle, 9, values).astype(np.uint32), "<", middle, 9)
    yield same(DeviceVector.recode, np.where(values == middle, 9, values).astype(np.uint32), [middle], 9)
    yield same(DeviceVector.recode_where_reached, np.where((values == middle) & there, 9, values).astype(np.uint32),
               DeviceVector(device, device.array(other)), [middle], 9)


def pivots(subject: Subject, mapping: str) -> Iterator[bool]:
    """Bounds folded after two BFS of one component, and what is chosen by them."""
    need_numba()
    from emdiam.gpu.device_column import DeviceColumn, DevicePivotBounds

    device, first = subject.setting.device, subject.sources[0]
    inside = subject.expected[first] != UNREACHED
    degrees, largest = np.diff(subject.rows[0]), subject.graph.n_vertices
    bounds = DevicePivotBounds(device, subject.graph, largest)
    lower, upper, far = np.zeros(inside.size, np.int64), np.full(inside.size, largest), np.zeros(inside.size, np.int64)
    open_ = inside.copy()
    for source in dict.fromkeys((first, int(np.flatnonzero(inside)[-1]))):
        found = twins.distances(*subject.rows, source)
        eccentricity, d = twins.eccentricity(found), found.astype(np.int64)
        limit = eccentricity // 2
        folded = bounds.fold(source, DeviceColumn(device, device.array(found)), eccentricity, limit)
        lower, upper = np.maximum(lower, np.maximum(d, eccentricity - d)), np.minimum(upper, eccentricity + d)
        far, open_[source] = np.maximum(far, d), False
        yield np.array_equal(device.to_host(bounds.lower.array)[inside], lower[inside])
        yield np.array_equal(device.to_host(bounds.upper.array)[inside], upper[inside])
        left = np.flatnonzero(open_)
        yield folded.unsettled == int(np.count_nonzero(upper[inside] > limit))
        yield folded.highest == int(upper[inside].max())
        keys = [(lower[v], far[v], -degrees[v], v) for v in left]
        yield folded.centre == int(min(keys)[3] if keys else -1)
        yield folded.periphery == int(max((upper[v], far[v], -v) for v in left)[2] * -1 if keys else -1)


def folds(subject: Subject, mapping: str) -> Iterator[bool]:
    """The steps that methods share, on the device against the same on the host."""
    need_numba()
    from emdiam.gpu.device_column import DeviceColumn
    from emdiam.traverse.ram_column import RamColumn

    device, n = subject.setting.device, subject.graph.n_vertices
    found = subject.expected[subject.sources[0]]
    eccentricity, degrees = twins.eccentricity(found), np.diff(subject.rows[0])
    kept: list[list[Any]] = []
    for make in (lambda a: RamColumn(a.copy()), lambda a: DeviceColumn(device, device.array(a))):
        distances = make(found)
        upper, lower, among = (make(np.where(found == UNREACHED, UNREACHED, value).astype(np.uint32))
                               for value in (n, 0, 1))
        upper.tighten_upper(distances, eccentricity, 0, n)
        lower.tighten_lower(distances, eccentricity, 0, n)
        results: list[Any] = [upper.part(0, n).copy(), lower.part(0, n).copy(), upper.largest(0, n)]
        for smallest in (True, False):
            results.append(among.ranked(lambda ids: degrees[ids], upper, 5, smallest=smallest, start=0, stop=n))
        results.append(upper.close_known(lower, eccentricity, eccentricity // 2, 0, n))
        results += [lower.part(0, n).copy(), upper.part(0, n).copy()]
        upper.open_at(distances, 5, 0, n)
        results += [upper.part(0, n), upper.open_bitmap()]
        kept.append(results)
    for host, gpu in zip(*kept, strict=True):
        yield np.array_equal(np.asarray(host), np.asarray(gpu))


def need_numba() -> None:
    """The engine's columns are compiled by numba. Raises Skipped without it."""
    if importlib.util.find_spec("numba") is None:
        raise Skipped("numba is not installed")
