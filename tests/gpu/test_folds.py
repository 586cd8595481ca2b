"""Bounds on a device: every fold gives what it gives in RAM, and PivotBounds what a plain twin gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.gpu.device import Device
from emdiam.gpu.device_column import DeviceColumn, DevicePivotBounds
from emdiam.gpu.vector import UNREACHED, on_device
from emdiam.traverse.columns import Column
from emdiam.traverse.ram_column import RamColumn
from tests.helpers import naive
from tests.helpers.bounds_twin import NaiveBounds, check_pivot_bounds
from tests.helpers.stores import graphs
from tests.simt.devices import DEVICES, SEEDS, device_graph, open_device

TOP = UNREACHED
ENTRY = st.one_of(st.integers(0, 12), st.just(TOP))
COLUMN = st.lists(ENTRY, min_size=1, max_size=90)


def pair(device: Device, values: list[int]) -> tuple[Column, DeviceColumn]:
    """The same column in RAM and on the device."""
    host = np.array(values, np.uint32)
    return RamColumn(host.copy()), DeviceColumn(device, device.array(host))


def same(ram: Column, there: DeviceColumn) -> None:
    assert there.raw().tolist() == ram.raw().tolist()


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(SEEDS), COLUMN, st.data())
def test_folds(seed: int, values: list[int], data: st.DataObject) -> None:
    device, n = open_device(f"shim-{seed}"), len(values)
    others = data.draw(st.lists(ENTRY, min_size=n, max_size=n))
    start = data.draw(st.integers(0, n))
    stop, number = data.draw(st.integers(start, n)), data.draw(st.integers(0, 14))
    ram, there = pair(device, values)
    other_ram, other_there = pair(device, others)
    assert there.open_list(start, stop).tolist() == ram.open_list(start, stop).tolist()
    assert there.open_bitmap().tolist() == ram.open_bitmap().tolist()
    assert there.largest(start, stop) == ram.largest(start, stop)
    away = [number if d == TOP and v != TOP else d for v, d in zip(values, others, strict=True)]
    away_ram, away_there = pair(device, away)
    most, smallest = data.draw(st.integers(1, 5)), data.draw(st.booleans())
    for by_ram, by_there in ((None, None), (ram, there), (away_ram, away_there)):
        best = [among.ranked(lambda ids: ids % 3, by, most, smallest=smallest, start=start, stop=stop).tolist()
                for among, by in ((ram, by_ram), (there, by_there))]
        assert best[0] == best[1]
    ram.tighten_upper(away_ram, number, start, stop)
    there.tighten_upper(away_there, number, start, stop)
    same(ram, there)
    other_ram.open_at(ram, number, start, stop)
    other_there.open_at(there, number, start, stop)
    same(other_ram, other_there)
    lower_ram, lower_there = pair(device, [v % 7 for v in values])
    lower_ram.tighten_lower(ram, number, start, stop)
    lower_there.tighten_lower(there, number, start, stop)
    same(lower_ram, lower_there)
    left = [up.close_known(low, number, 9, start, stop)
            for low, up in ((lower_ram, ram), (lower_there, there))]
    assert left[0] == left[1]
    same(ram, there)
    ram.close_at_most(number, start, stop)
    there.close_at_most(number, start, stop)
    same(ram, there)
    other_ram.close(start, stop)
    other_there.close(start, stop)
    same(other_ram, other_there)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(SEEDS), graphs(most=90), st.data())
def test_pivot_bounds(seed: int, graph: naive.Graph, data: st.DataObject) -> None:
    device, n = open_device(f"shim-{seed}"), len(graph)
    largest = data.draw(st.integers(1, n))
    twin, there = NaiveBounds(graph, largest), DevicePivotBounds(device, device_graph(device, graph), largest)
    check_pivot_bounds(twin, there, lambda distances: pair(device, distances)[1], TOP, data)
    there.reset()
    assert there.upper.count(TOP) == n


@pytest.mark.parametrize("name", DEVICES)
def test_pivot_bounds_on_a_device(name: str) -> None:
    device, graph = open_device(name), naive.graph_of(6, [(i, i + 1) for i in range(5)])
    bounds = DevicePivotBounds(device, device_graph(device, graph), 5)
    column = pair(device, naive.distances(graph, 2))[1]
    folded = bounds.fold(2, column, 3, 3)
    assert (folded.unsettled, folded.centre, folded.periphery, folded.highest) == (5, 1, 5, 5)


def test_a_copy_in_ram_cannot_be_written_to() -> None:
    device = open_device("shim-0")
    with pytest.raises(ValueError, match="read-only"):
        pair(device, [1, 2])[1].raw()[0] = 3
    with pytest.raises(TypeError, match="this column is in RAM"):
        on_device(pair(device, [1])[0])
