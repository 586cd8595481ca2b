"""Boxes of candidates on a device: what is left of them and their members, against a table of lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.gpu.device import Device
from emdiam.gpu.device_column import DeviceBoxTable
from tests.simt.devices import DEVICES, SEEDS, open_device

TOP = 0xFFFFFFFF


def drawn_columns(rng: np.random.Generator, k: int, n: int, largest: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Upper bounds uint32[n], distances uint32[k, n], a tenth of both unreached, and a limit."""
    columns = rng.integers(0, largest + 1, (k, n)).astype(np.uint32)
    upper = rng.integers(0, 2 * largest + 2, n).astype(np.uint32)
    outside = rng.random(n) < 0.1
    upper[outside] = columns[:, outside] = TOP
    return upper, columns, int(rng.integers(0, 2 * largest + 1))


def naive_boxes(upper: np.ndarray, columns: np.ndarray, limit: int, q: np.ndarray) -> list[list[int]]:
    """The candidates of each box."""
    boxes: dict[tuple[int, ...], list[int]] = {}
    for v, bound in enumerate(upper.tolist()):
        if limit < bound < TOP:
            key = tuple(int(d) >> int(shift) for d, shift in zip(columns[:, v], q, strict=True))
            boxes.setdefault(key, []).append(v)
    return list(boxes.values())


def left_of(boxes: list[list[int]], columns: np.ndarray, limit: int) -> list[tuple[list[int], list[int]]]:
    """The largest distances and the candidates of boxes that are not certified against all others at once."""
    maxima = [columns[:, box].max(axis=1).astype(np.int64) for box in boxes]
    return [(most.tolist(), box) for most, box in zip(maxima, boxes, strict=True)
            if (most + np.max(maxima, axis=0) > limit).all()]


def check(device: Device, upper: np.ndarray, columns: np.ndarray, limit: int, q: np.ndarray, slots: int) -> None:
    """What is left of a table, and the members of some boxes; a table that is too small says so."""
    boxes, arrays = naive_boxes(upper, columns, limit, q), [device.array(column) for column in columns]
    table = DeviceBoxTable(device, device.array(upper), arrays, limit, q, slots)
    assert table.fill() == (2 * len(boxes) <= slots)
    if 2 * len(boxes) > slots:
        return
    points, counts = table.left()
    want = left_of(boxes, columns, limit)
    assert sorted(zip(points.tolist(), counts.tolist(), strict=True)) == sorted((most, len(box)) for most, box in want)
    # Boxes are in any order, and some look alike: those are open whose first distance is even.
    members = sorted(v for most, box in want if most[0] % 2 == 0 for v in box)
    is_open = points[:, 0] % 2 == 0
    found = table.members(is_open, len(members))
    assert found is not None and found.ids.tolist() == members
    assert not members or table.members(is_open, len(members) - 1) is None


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(SEEDS), st.integers(1, 5), st.integers(1, 300), st.integers(1, 60), st.integers(0, 1 << 32))
def test_random_columns(seed: int, k: int, n: int, largest: int, random: int) -> None:
    """From strips to boxes of one point."""
    rng, device = np.random.default_rng(random), open_device(f"shim-{seed}")
    upper, columns, limit = drawn_columns(rng, k, n, largest)
    check(device, upper, columns, limit, rng.choice([0, 1, 3, 63], k), int(rng.choice([64, 1024])))


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", DEVICES)
def test_strips_of_a_grid(name: str) -> None:
    """By the distances to one corner; about half of them are certified against all others."""
    side = 40
    x, y = np.divmod(np.arange(side * side), side)
    columns = np.stack([x + y, (side - 1 - x) + y]).astype(np.uint32)
    check(open_device(name), np.full(side * side, 4 * side, np.uint32), columns, 3 * side, np.array([0, 63]), 1024)


@pytest.mark.parametrize("most", [60, 300, 70_000])
def test_a_box_of_many_and_distances_of_each_width(most: int) -> None:
    """A count that takes two bytes, beside distances of one, two and four."""
    n = 700
    columns = np.stack([np.full(n, most), np.full(n, most - 1)]).astype(np.uint32)
    columns[:, 0] = 1
    check(open_device("shim-2"), np.full(n, 2 * most, np.uint32), columns, most, np.array([0, 63]), 1024)


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
