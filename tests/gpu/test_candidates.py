"""Candidates that a device lists, and their distances, against a plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.gpu.counting import CountingDevice, Counts
from emdiam.gpu.device_column import DeviceColumn, DeviceVertices
from emdiam.methods.exact.candidates import WORTH, Candidates
from emdiam.traverse.columns import ListedVertices
from emdiam.traverse.ram_column import RamColumn
from tests.gpu.test_boxes import TOP, drawn_columns
from tests.simt.devices import DEVICES, SEEDS, open_device


def naive_left(upper: np.ndarray, columns: np.ndarray, limit: int) -> list[int]:
    """What is left when passes drop what is certified against all that was left before, until one drops few."""
    left = [v for v, bound in enumerate(upper) if limit < bound < TOP]
    while left:
        largest = [max(int(column[v]) for v in left) for column in columns]
        stay = [v for v in left if all(int(column[v]) + most > limit
                                       for column, most in zip(columns, largest, strict=True))]
        few = (len(left) - len(stay)) * WORTH <= len(stay)
        left = stay
        if few:
            break
    return left


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(SEEDS), st.integers(1, 5), st.integers(1, 300), st.integers(1, 60), st.integers(0, 1 << 32))
def test_random_columns(seed: int, k: int, n: int, largest: int, random: int) -> None:
    """The same vertices as the twin, and their distances."""
    rng, device = np.random.default_rng(random), open_device(f"shim-{seed}")
    upper, columns, limit = drawn_columns(rng, k, n, largest)
    first, *others = (DeviceColumn(device, device.array(values)) for values in (upper, *columns))
    found = first.uncertified(others, limit)
    assert found is not None and found.ids.tolist() == naive_left(upper, columns, limit)
    assert Candidates(found, others, largest).points.tolist() == columns[:, found.ids].T.tolist()


@pytest.mark.parametrize("name", DEVICES[-2:])
def test_all_or_none_are_left(name: str) -> None:
    """One column in which all are near, one in which nobody is; more vertices than a block has threads."""
    device, n = open_device(name), 700
    upper = DeviceColumn(device, device.array(np.full(n, 9, np.uint32)))
    near, far = (DeviceColumn(device, device.array(np.full(n, d, np.uint32))) for d in (4, 5))
    for columns, left in (([near, far], 0), ([far, near], 0), ([far, far], n)):
        found = upper.uncertified(columns, 8)
        assert found is not None and len(found) == left
    unsettled = upper.uncertified([far], 9)
    assert unsettled is not None and unsettled.ids.tolist() == []


def test_columns_apart_and_devices_without_room_are_left_to_the_host() -> None:
    values = np.arange(5, dtype=np.uint32)
    device = open_device("shim-0", total=1 << 12)
    there, here = DeviceColumn(device, device.array(values)), RamColumn(values.copy())
    assert there.uncertified([there], 2) is None  # no room
    assert there.uncertified([there, here], 2) is here.uncertified([here], 2) is None
    vertices, points = DeviceVertices(device, np.array([1, 3])), np.zeros((2, 2), np.uint32)
    vertices.put_points([there, here], 3, points)
    assert points.tolist() == [[1, 1], [3, 3]] and vertices.values(here, 3).tolist() == [1, 3]
    assert vertices.above(here, 1).tolist() == [False, True]


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("largest", [250, 254, 255, 60_000, 65_535, 70_000])
def test_values_of_each_width(name: str, largest: int) -> None:
    """Of listed vertices: one column, several, and which are above a limit; before and after some are dropped, and of
    none. A value that is above what was said comes as one that is above it."""
    device, rng, n = open_device(name), np.random.default_rng(largest), 2500
    columns = rng.integers(0, largest + 1, (3, n)).astype(np.uint32)
    there, here = ([DeviceColumn(device, device.array(values)) for values in columns],
                   [RamColumn(values.copy()) for values in columns])
    ids = np.flatnonzero(rng.random(n) < 0.4)
    mine, want = DeviceVertices(device, ids), ListedVertices(ids)
    for chance in (0.5, 0.05, 0.0):
        found, expected = (np.zeros((len(ids), 3), np.uint32) for _ in range(2))
        mine.put_points(there, largest, found)
        want.put_points(here, largest, expected)
        assert found.tolist() == expected.tolist()
        assert mine.values(there[0], largest).tolist() == want.values(here[0], largest).tolist()
        assert mine.above(there[1], largest // 2).tolist() == want.above(here[1], largest // 2).tolist()
        assert (mine.values(there[2], 9) > 9).tolist() == (want.values(here[2], 9) > 9).tolist()
        mask = rng.random(len(ids)) < chance
        mine.keep(mask)
        want.keep(mask)
        ids = ids[mask]
        assert mine.ids.tolist() == want.ids.tolist() == ids.tolist()


def test_bytes_of_many_candidates() -> None:
    """A list of a third of the vertices comes as a bit a vertex and is not sent back; distances take a byte each, and
    answers a bit."""
    n, k, device = 6400, 4, CountingDevice(open_device("shim-1"))
    columns = np.random.default_rng(5).integers(90, 100, (k + 1, n)).astype(np.uint32)
    upper = np.where(np.arange(n) % 3 == 0, 190, 150).astype(np.uint32)
    first, *others = (DeviceColumn(device, device.array(values)) for values in (upper, *columns))
    device.counts, m = Counts(), -(-n // 3)
    found = first.uncertified(others[:k], 170)
    assert found is not None and len(found) == m
    listed = device.counts.host_bytes
    assert n // 8 <= listed <= n // 8 + 100
    candidates = Candidates(found, others[:k], 170)
    candidates.add(others[k], 170)
    assert device.counts.host_bytes - listed == m * (k + 1) + 8 * k
    before = device.counts.copy()
    candidates.shrink(first, 170)
    assert (device.counts - before).host_bytes == 4 * -(-m // 32)
    # Once some are gone, the others are sent with the next distances.
    candidates.keep(np.arange(m) % 2 == 0)
    before = device.counts.copy()
    candidates.add(others[0], 170)
    assert (device.counts - before).host_bytes == 5 * -(-m // 2)
