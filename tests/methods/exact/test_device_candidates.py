"""Candidates of columns on a device are those of columns in RAM, and so is what certifying them says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.gpu.device import Device
from emdiam.gpu.device_column import DeviceColumn
from emdiam.methods.exact.candidates import Candidates, boxed_candidates
from emdiam.traverse.columns import ListedVertices
from emdiam.traverse.ram_column import RamColumn
from tests.gpu.test_boxes import TOP, drawn_columns
from tests.simt.devices import DEVICES, SEEDS, open_device

pytestmark = pytest.mark.thin(2)
DRAWN = (st.sampled_from(SEEDS), st.integers(1, 5), st.integers(1, 300), st.integers(1, 60), st.integers(0, 1 << 32))


def at_ends(upper: np.ndarray, columns: np.ndarray, limit: int) -> set[int]:
    """Ends of pairs of candidates that no column certifies, a vertex with itself left out."""
    candidates = [v for v, bound in enumerate(upper) if limit < bound < TOP]
    return {v for v in candidates for w in candidates
            if v != w and min(int(column[v]) + int(column[w]) for column in columns) > limit}


def both(device: Device, upper: np.ndarray, columns: np.ndarray, limit: int, room: int, budget: int = 1 << 20,
         ) -> tuple[ListedVertices | None, ListedVertices | None]:
    """What boxed_candidates chooses on the device and in RAM."""
    there = [DeviceColumn(device, device.array(values)) for values in (upper, *columns)]
    ram = [RamColumn(values.copy()) for values in (upper, *columns)]
    found, want = (boxed_candidates(first, others, limit, budget, room) for first, *others in (there, ram))
    return found, want


@settings(max_examples=25, deadline=None)
@given(*DRAWN)
def test_boxes(seed: int, k: int, n: int, largest: int, random: int) -> None:
    """The same vertices as in RAM, ascending, and all ends of open pairs among them."""
    upper, columns, limit = drawn_columns(np.random.default_rng(random), k, n, largest)
    found, want = both(open_device(f"shim-{seed}"), upper, columns, limit, n)
    assert (found is None) == (want is None)
    if found is not None and want is not None:
        assert found.ids.tolist() == want.ids.tolist() and at_ends(upper, columns, limit) <= set(found.ids.tolist())


@pytest.mark.parametrize("name", DEVICES)
def test_a_grid_is_proved_by_strips(name: str) -> None:
    side = 40
    x, y = np.divmod(np.arange(side * side), side)
    columns = np.stack([x + y, (side - 1 - x) + y, np.abs(x - side // 2) + np.abs(y - side // 2)]).astype(np.uint32)
    limit = 2 * side - 2
    upper = np.full(side * side, limit + 1, np.uint32)
    found, want = both(open_device(name), upper, columns, limit, side * side)
    assert found is not None and want is not None and found.ids.tolist() == want.ids.tolist()
    fewer = both(open_device(name), upper, columns, limit - 9, 3)
    assert fewer[0] is None and fewer[1] is None


@settings(max_examples=25, deadline=None)
@given(*DRAWN)
def test_certificates(seed: int, k: int, n: int, largest: int, random: int) -> None:
    """Of the candidates that the device lists, all ends of open pairs among them, and of all in RAM."""
    device = open_device(f"shim-{seed}")
    upper, columns, limit = drawn_columns(np.random.default_rng(random), k, n, largest)
    first, *others = (DeviceColumn(device, device.array(values)) for values in (upper, *columns))
    found = first.uncertified(others, limit)
    assert found is not None and at_ends(upper, columns, limit) <= set(found.ids.tolist())
    there = Candidates(found, others, largest)
    in_ram = [RamColumn(values.copy()) for values in columns]
    here = Candidates(ListedVertices(np.flatnonzero((upper > limit) & (upper < TOP))), in_ram, largest)
    assert there.certify(first, limit) == here.certify(RamColumn(upper.copy()), limit)
    assert there.vertices.tolist() == here.vertices.tolist()
