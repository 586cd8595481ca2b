"""The verbs of a column on a device against those of Column, under every order of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.gpu import vector
from emdiam.gpu.device import Device
from emdiam.gpu.device_column import DeviceColumn
from emdiam.gpu.vector import PREDICATES, UNREACHED
from emdiam.traverse.ram_column import RamColumn
from tests.simt.devices import DEVICES, SEEDS, open_device

pytestmark = pytest.mark.thin(6)

SHIMS = tuple(f"shim-{seed}" for seed in SEEDS)
U = UNREACHED
# Ends of warps, words, blocks, tiles, and more than the threads of a launch on one multiprocessor.
SIZES = (1, 31, 33, 64, 65, 257, 2048, 2049, 4500)
KINDS = ("levels", "few", "large", "unreached", "ascending")


def column_of(kind: str, n: int, seed: int = 0) -> np.ndarray:
    """Values uint32[n]: distances with unreached vertices, few values, large ones, none, all different."""
    rng = np.random.default_rng(seed)
    values = {"levels": rng.integers(0, 20, n), "few": rng.choice([3, 200, U], n), "unreached": np.full(n, U),
              "large": rng.choice([0, 254, 255, 65534, 65535, U - 2, U - 1, U], n), "ascending": np.arange(n)}[kind]
    values[rng.random(n) < 0.1] = U
    return values.astype(np.uint32)


PYTHON = {"==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
          ">=": np.greater_equal}


def check_reading(device: Device, values: np.ndarray) -> None:
    """The verbs that change nothing."""
    mine, want, n = DeviceColumn(device, device.array(values)), RamColumn(values.copy()), len(values)
    reached = values != U
    bits = mine.open_bitmap()
    assert bits.dtype == np.uint64 and bits.shape == (-(-n // 64),)
    assert np.unpackbits(bits.view(np.uint8), bitorder="little").tolist() == reached.tolist() + [0] * (-n % 64)
    assert mine.count_where("!=", U) == reached.sum()
    for largest in (True, False):
        for start, stop in ((0, n), (n // 3, n - n // 4)):
            best = want.argbest(largest, start, stop)
            assert mine.argbest(largest, start, stop) == best
            assert mine.between(start, stop).best_value(largest) == (values[best] if best >= 0 else -1)
    for value in (3, 200, 65534, 65535, U - 1, U):
        assert mine.count(value) == want.count(value)
        assert mine.first_with(value) == want.first([value])
    assert mine.first_with([200, 7, U]) == want.first([200, 7, U])
    ids = np.random.default_rng(n).integers(0, n, 40)
    assert np.where((found := mine.take(ids)) == U, -1, found.astype(np.int64)).tolist() \
        == want.gather(ids).tolist()
    assert mine.raw().tolist() == values.tolist()


def check_selecting(device: Device, values: np.ndarray) -> None:
    mine, want = DeviceColumn(device, device.array(values)), RamColumn(values.copy())
    for predicate in PREDICATES:
        for value in (0, 3, 254, 65535, U - 1, U):
            found = mine.select(predicate, value)
            assert found.dtype == np.int64 and found.tolist() == want.select(predicate, value).tolist()
            assert mine.count_where(predicate, value) == len(found)
        for most in (0, 1, 33, 2100):
            assert mine.select(predicate, 5, most).tolist() == want.select(predicate, 5, most).tolist()


@pytest.mark.parametrize("most", [None, 0, 3, 700])
def test_selections_of_parts_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch, most: int | None) -> None:
    """Numbers of 32 bits count from the beginning of a part; bitmaps are read word by word."""
    values = column_of("few", 1000)
    monkeypatch.setattr(vector, "_MOST_SELECTED", 96)
    monkeypatch.setattr(vector, "_WORDS", 2)
    found = DeviceColumn(device := open_device("shim-0"), device.array(values)).select("!=", 3, most)
    assert found.tolist() == np.flatnonzero(values != 3)[:most].tolist()


@pytest.mark.parametrize("share", [0.01, 0.5])
def test_a_list_for_host_and_device(share: float) -> None:
    """The same vertices on both, whether the host gets a list or a bitmap; and none."""
    device, n = open_device("shim-3"), 4500
    chosen = np.random.default_rng(1).random(n) < share
    mine = DeviceColumn(device, device.array(np.where(chosen, 7, U).astype(np.uint32)))
    found, listed = mine.select_both("==", 7)
    assert listed is not None and found.tolist() == device.to_host(listed).tolist() == np.flatnonzero(chosen).tolist()
    assert mine.select_both("==", 8)[1] is None


def check_changing(device: Device, values: np.ndarray) -> None:
    """Each verb on the result of those before it."""
    mine, want, n = DeviceColumn(device, device.array(values)), RamColumn(values.copy()), len(values)
    rng = np.random.default_rng(n)
    other = column_of("levels", n, 1)
    within = rng.integers(0, 1 << 63, -(-n // 64)).astype(np.uint64)

    def same() -> None:
        assert mine.raw().tolist() == want.raw().tolist()

    ids = rng.integers(0, n, 20)
    mine.put(ids, 200)
    want.put(ids, 200)
    same()
    assert mine.recode([200, 3], 4) == want.recode([200, 3], 4)
    assert mine.recode([4, U, 7], 9, within) == want.recode([4, U, 7], 9, within)
    assert mine.recode([9], U, DeviceColumn(device, device.array(other)).reached_bits()) \
        == want.recode([9], U, packed(other != U))
    assert mine.recode([], 9) == 0
    same()
    assert mine.recode_where_reached(DeviceColumn(device, device.array(other)), [4, U], 11) \
        == want.recode_where_reached(RamColumn(other), [4, U], 11)
    same()
    above = int(np.count_nonzero((want.raw() > 12) & (want.raw() != U)))
    assert mine.fill_where(">", 12, U) == above
    want.recode(want.raw()[want.raw() > 12].tolist(), U)
    same()
    hits = int(np.count_nonzero(want.raw() < 5))
    assert mine.fill_where("<", 5, 1000) == hits
    want.put(want.select("<", 5), 1000)
    same()


def packed(flags: np.ndarray) -> np.ndarray:
    """Bitmap uint64[ceil(n/64)]."""
    bits = np.zeros(-(-len(flags) // 64) * 64, np.uint8)
    bits[: len(flags)] = flags
    return np.packbits(bits, bitorder="little").view(np.uint64)


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_verbs_of_columns(name: str, kind: str) -> None:
    device = open_device(name, n_sms=1) if name != "gpu" else open_device(name)
    n = SIZES[(DEVICES.index(name) + 3 * KINDS.index(kind)) % len(SIZES)]
    values = column_of(kind, n)
    check_reading(device, values)
    check_selecting(device, values)
    check_changing(device, values)


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(SHIMS), st.lists(st.sampled_from([0, 1, 3, 5, 200, 65535, U - 1, U]), min_size=1, max_size=150))
def test_random_columns(name: str, listed: list[int]) -> None:
    device, values = open_device(name), np.array(listed, np.uint32)
    check_reading(device, values)
    check_changing(device, values)
    for predicate in ("==", ">="):
        assert DeviceColumn(device, device.array(values)).select(predicate, 5).tolist() \
            == RamColumn(values).select(predicate, 5).tolist()


@pytest.mark.parametrize("name", DEVICES)
def test_histograms(name: str) -> None:
    """Bins in shared memory and beyond it, given and found ends, nothing reached."""
    device = open_device(name)
    for kind, n in (("levels", 300), ("unreached", 70), ("ascending", 5000)):
        values = column_of(kind, n)
        mine, want = DeviceColumn(device, device.array(values)), np.bincount(values[values != U], minlength=1)
        found = mine.histogram()
        assert found.dtype == np.int64 and found.tolist() == want.tolist()
        for largest in (0, 10, 6000):
            cut = [*want.tolist(), *[0] * 6001][: largest + 1]
            assert mine.histogram(largest).tolist() == cut


def test_numbers_beyond_the_values() -> None:
    """What no value can be is still smaller or larger than all."""
    device, values = open_device("shim-0"), column_of("large", 100)
    mine, want = DeviceColumn(device, device.array(values)), RamColumn(values.copy())
    for number in (-1, U + 1, 1 << 40):
        for predicate in PREDICATES:
            expected = np.flatnonzero(PYTHON[predicate](values.astype(np.int64), number)).tolist()
            assert mine.select(predicate, number).tolist() == expected
            assert mine.select(predicate, number, 3).tolist() == expected[:3]
            assert mine.count_where(predicate, number) == len(expected)
    assert mine.fill_where(">", U, U) == mine.fill_where("<", -4, 0) == 0
    assert mine.raw().tolist() == want.raw().tolist()
    assert mine.fill_where("!=", -1, 5) == np.count_nonzero(values != 5)
    assert set(mine.raw().tolist()) == {5}



def empty(device: Device) -> DeviceColumn:
    return DeviceColumn(device, device.array(np.zeros(1, np.uint32))[:0])


def test_no_vertices() -> None:
    device = open_device("shim-1")
    nothing = empty(device)
    assert nothing.open_bitmap().tolist() == []
    assert nothing.count_where("!=", U) == nothing.count(3) == nothing.fill_where(">", 1, U) == 0
    assert nothing.argbest() == nothing.argbest(False) == -1
    assert nothing.first_with(0) == -1
    assert nothing.histogram().tolist() == [0]
    assert nothing.take([]).tolist() == nothing.select(">=", 0).tolist() == []
    assert nothing.recode([1], 2) == nothing.recode_where_reached(empty(device), [1], 2) == 0
    assert nothing.recode([1], 2, np.empty(0, np.uint64)) == 0
    nothing.put([], 1)


def test_what_cannot_be_is_refused() -> None:
    device = open_device("shim-0")
    mine = DeviceColumn(device, device.array(np.zeros(5, np.uint32)))
    for ids in ([5], [0, -1]):
        with pytest.raises(IndexError, match="a column of 5 vertices has no vertex"):
            mine.take(ids)
        with pytest.raises(IndexError, match="a column of 5 vertices has no vertex"):
            mine.put(ids, 1)
    with pytest.raises(KeyError):
        mine.count_where("=", 3)
    with pytest.raises(OverflowError):
        mine.recode([U + 1], 0)
