"""Boxes of candidates on a device: the candidates that are left, against those in RAM and against all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.gpu.box_table import DeviceBoxTable
from emdiam.gpu.device import Device
from emdiam.gpu.device_column import DeviceColumn
from emdiam.methods.exact.candidates import boxed_candidates
from emdiam.traverse.ram_column import RamColumn
from tests.simt.devices import DEVICES, SEEDS, open_device

pytestmark = pytest.mark.thin(2)

TOP = 0xFFFFFFFF


def at_ends(upper: np.ndarray, columns: np.ndarray, limit: int) -> set[int]:
    """Ends of pairs of candidates that no column certifies, a vertex with itself left out."""
    candidates = [v for v, bound in enumerate(upper) if limit < bound < TOP]
    return {v for v in candidates for w in candidates
            if v != w and min(int(column[v]) + int(column[w]) for column in columns) > limit}


def both(device: Device, upper: np.ndarray, columns: np.ndarray, limit: int, room: int, budget: int = 1 << 20,
         ) -> tuple[np.ndarray | None, np.ndarray | None]:
    """What boxed_candidates chooses on the device and in RAM."""
    there = [DeviceColumn(device, device.array(values)) for values in (upper, *columns)]
    ram = [RamColumn(values.copy()) for values in (upper, *columns)]
    found, want = (boxed_candidates(first, others, limit, budget, room) for first, *others in (there, ram))
    return found, want


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(SEEDS), st.integers(1, 5), st.integers(1, 300), st.integers(1, 60), st.integers(0, 1 << 32))
def test_random_columns(seed: int, k: int, n: int, largest: int, random: int) -> None:
    """The same vertices as in RAM, ascending, and all ends of open pairs among them."""
    rng = np.random.default_rng(random)
    columns = rng.integers(0, largest + 1, (k, n)).astype(np.uint32)
    upper = rng.integers(0, 2 * largest + 2, n).astype(np.uint32)
    outside = rng.random(n) < 0.1
    upper[outside] = columns[:, outside] = TOP
    limit = int(rng.integers(0, 2 * largest + 1))
    found, want = both(open_device(f"shim-{seed}"), upper, columns, limit, n)
    assert (found is None) == (want is None)
    if found is not None and want is not None:
        assert found.tolist() == want.tolist() and at_ends(upper, columns, limit) <= set(found.tolist())


@pytest.mark.parametrize("name", DEVICES)
def test_a_grid_is_proved_by_strips(name: str) -> None:
    side = 40
    x, y = np.divmod(np.arange(side * side), side)
    columns = np.stack([x + y, (side - 1 - x) + y, np.abs(x - side // 2) + np.abs(y - side // 2)]).astype(np.uint32)
    limit = 2 * side - 2
    upper = np.full(side * side, limit + 1, np.uint32)
    found, want = both(open_device(name), upper, columns, limit, side * side)
    assert found is not None and want is not None and found.tolist() == want.tolist()
    fewer = both(open_device(name), upper, columns, limit - 9, 3)
    assert fewer[0] is None and fewer[1] is None


def test_too_many_boxes_are_noticed() -> None:
    """As many vectors as vertices, more than half of the slots."""
    device, n = open_device("shim-3"), 700
    columns = np.stack([np.arange(n), np.arange(n)[::-1]]).astype(np.uint32)
    upper, q = device.array(np.full(n, 5000, np.uint32)), np.zeros(2, np.int64)
    arrays = [device.array(column) for column in columns]
    assert not DeviceBoxTable(device, upper, arrays, 100, q, 1024).fill()
    table = DeviceBoxTable(device, upper, arrays, 100, q + 1, 1024)
    assert table.fill()
    points, counts = table.left()
    assert counts.sum() <= n and points.shape[1] == 2
    members = table.members(np.ones(len(points), bool), n)
    assert members is not None and len(members) == counts.sum()
    assert DeviceBoxTable(device, upper, arrays, 5000, q, 1024).fill()
