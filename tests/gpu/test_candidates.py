"""Candidates that a device lists, and their distances, against a plain twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.gpu.device_column import DeviceColumn
from emdiam.methods.exact.candidates import WORTH, Candidates
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
    assert found is not None and found.tolist() == naive_left(upper, columns, limit)
    assert Candidates(found, others).points.tolist() == columns[:, found].T.tolist()


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
    assert unsettled is not None and unsettled.tolist() == []


def test_columns_apart_and_devices_without_room_are_left_to_the_host() -> None:
    values = np.arange(5, dtype=np.uint32)
    device = open_device("shim-0", total=1 << 12)
    there, here = DeviceColumn(device, device.array(values)), RamColumn(values.copy())
    ids = np.array([1, 3])
    assert there.uncertified([there], 2) is None  # no room
    assert there.uncertified([there, here], 2) is here.uncertified([here], 2) is None
    assert DeviceColumn.points([there, here], ids) is RamColumn.points([here], ids) is None
    points = DeviceColumn.points([there, there], ids)
    assert points is not None and points.tolist() == [[1, 1], [3, 3]]
