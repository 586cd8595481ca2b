"""Every word of the shim gives what CUDA defines, under every order of threads, and on a GPU if there is one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.gpu.device import Device
from tests.simt import runner
from tests.simt.devices import DEVICES, open_device

PRIMITIVES = runner.HERE / "primitives.cu"
MASK32, MASK64 = 2**32 - 1, 2**64 - 1
RNG = np.random.default_rng(7)
SETTINGS = settings(max_examples=25, deadline=None)


def call(device: Device, entry: str, *arguments: np.ndarray | np.generic, grid: int = 1, block: int = 64,
         shared: int = 0, cooperative: bool = False) -> list[np.ndarray]:
    """Launch an entry of primitives.cu; the arrays as they are afterwards."""
    args = [device.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
    device.launch(device.kernel(PRIMITIVES, entry), grid, block, args, shared, cooperative)
    return [device.to_host(a) for a in args if not isinstance(a, np.generic)]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Device:
    return open_device(request.param)


def test_places(device: Device) -> None:
    (out,) = call(device, "places", np.zeros(8 * 3 * 80, np.uint32), grid=3, block=80)
    want = [[t, b, 80, 3, t % 32, t // 32, 3, (1 << t % 32) - 1] for b in range(3) for t in range(80)]
    assert out.reshape(-1, 8).tolist() == want


def shuffled(values: list[int], by: int, width: int) -> list[list[int]]:
    """What four shuffles give, by the definition of shfl in PTX."""
    rows = []
    for lane in range(32):
        first = lane // width * width
        up = lane - by if lane - by >= first else lane
        down = lane + by if lane + by < first + width else lane
        xor = lane ^ by if lane ^ by < first + width else lane
        rows.append([values[first + by % width], values[up], values[down], values[xor]])
    return rows


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
def test_shuffles(device: Device, width: int) -> None:
    values = RNG.integers(0, 2**32, 32, dtype=np.uint32)
    for by in (0, 1, 3, 7, 16, 31):
        _, out = call(device, "shuffles", values, np.zeros(128, np.uint32), np.int32(by), np.int32(width), block=32)
        assert out.reshape(-1, 4).tolist() == shuffled(values.tolist(), by, width)


def test_wide_shuffles(device: Device) -> None:
    values, real = RNG.integers(0, 2**63, 32, dtype=np.uint64), RNG.random(32)
    _, out, _, real_out = call(device, "wide_shuffles", values, np.zeros_like(values), real, np.zeros_like(real),
                               block=32)
    assert out.tolist() == [int(values[i ^ 5]) for i in range(32)]
    assert real_out.tolist() == [real[i + 3 if i < 29 else i] for i in range(32)]


@SETTINGS
@given(st.integers(0, 3), st.lists(st.integers(-5, 5), min_size=64, max_size=64))
def test_votes(seed: int, values: list[int]) -> None:
    _, out = call(open_device(f"shim-{seed}"), "votes", np.array(values, np.int32), np.zeros(640, np.uint32))
    for i, row in enumerate(out.reshape(-1, 10).tolist()):
        warp = values[i // 32 * 32 : i // 32 * 32 + 32]
        bits = [value & MASK32 for value in warp]
        assert row[0] == sum(1 << k for k, value in enumerate(warp) if value > 0)
        assert row[1:3] == [all(value > 0 for value in warp), any(value > 0 for value in warp)]
        assert row[3] == sum(1 << k for k, value in enumerate(warp) if value == values[i])
        assert row[4:7] == [sum(bits) & MASK32, min(warp) & MASK32, max(bits)]
        assert row[7:] == [np.bitwise_and.reduce(bits), np.bitwise_or.reduce(bits), np.bitwise_xor.reduce(bits)]


@pytest.mark.parametrize("width", [1, 2, 8, 16, 32])
def test_virtual_warps(device: Device, width: int) -> None:
    """Groups of lanes with masks of their own go through loops of different lengths."""
    values = RNG.integers(0, 1000, 64, dtype=np.uint32)
    _, out = call(device, "virtual_warps", values, np.zeros(64, np.uint32), np.uint32(width))
    for i, got in enumerate(out.tolist()):
        first, group = i // width * width, i % 32 // width
        even = sum(int(v) % 2 == 0 for v in values[first : first + width])
        assert got == sum(int(values[first]) + turn + even for turn in range(group + 1))


@SETTINGS
@given(st.lists(st.integers(0, MASK64), min_size=32, max_size=32))
def test_bits(values: list[int]) -> None:
    values[:4] = [0, 1, MASK64, 1 << 63]
    _, out = call(open_device("shim-0"), "bits", np.array(values, np.uint64), np.zeros(320, np.uint64), block=32)
    for x, row in zip(values, out.reshape(-1, 10).tolist(), strict=True):
        low = x & MASK32
        assert row[:2] == [low.bit_count(), x.bit_count()]
        assert row[2:4] == [(low & -low).bit_length(), (x & -x).bit_length()]
        assert row[4:6] == [32 - low.bit_length(), 64 - x.bit_length()]
        assert row[6:8] == [int(f"{low:032b}"[::-1], 2), int(f"{x:064b}"[::-1], 2)]
        assert row[8:] == [low * 0x9E3779B1 >> 32, x * 0x9E3779B97F4A7C15 >> 64]


ATOMICS: list[Callable[[int, int, int], int]] = [
    lambda old, v, e: old + v, lambda old, v, e: min(old, v), lambda old, v, e: max(old, v),
    lambda old, v, e: old & v, lambda old, v, e: old | v, lambda old, v, e: old ^ v, lambda old, v, e: v,
    lambda old, v, e: v if old == e else old,
    lambda old, v, e: 0 if old >= v else old + 1, lambda old, v, e: v if old == 0 or old > v else old - 1,
]


@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.uint64])
def test_atomics(device: Device, dtype: type) -> None:
    """Old values are returned, new ones stored; sums wrap."""
    info = np.iinfo(dtype)
    cells = RNG.integers(info.min, info.max, 640, dtype=dtype, endpoint=True)
    cells[:20], expected = info.max, dtype(cells[7])
    for value in (dtype(3), dtype(info.max), dtype(info.min), dtype(cells[101])):
        after, out = call(device, f"atomics_{dtype.__name__[0]}{info.bits}", cells,
                          np.zeros_like(cells), value, expected)
        for i in range(640):
            old, operation = int(cells[i]), i % 10
            if operation > 7 and dtype is not np.uint32:
                continue
            want = ATOMICS[operation](old, int(value), int(expected))
            assert int(out[i]) == old
            assert int(after[i]) == (want - info.min) % 2**info.bits + info.min


def test_atomics_under_contention(device: Device) -> None:
    zero = np.zeros(1, np.uint32)
    counter, ticket, wide, real, down = call(
        device, "contention", zero, np.zeros(256, np.uint32), zero.astype(np.uint64), np.zeros(1),
        zero.astype(np.int32), grid=4)
    assert (counter[0], wide[0], real[0], down[0]) == (256, 256 << 40, 128.0, -768)
    assert sorted(ticket) == list(range(256))


def test_votes_of_blocks(device: Device) -> None:
    values = np.array([1] * 96 + [0] * 96 + ([0] * 50 + [1] * 46), np.int32)
    _, out = call(device, "block_votes", values, np.zeros(3 * 288, np.int32), grid=3, block=96)
    want = [[96, 1, 1], [0, 0, 0], [46, 0, 1]]
    assert out.reshape(3, 96, 3).tolist() == [[row] * 96 for row in want]


@pytest.mark.parametrize(("entry", "dtype"), [("turn_static", np.uint32), ("turn_dynamic", np.uint16)])
def test_shared_memory_is_each_blocks_own(device: Device, entry: str, dtype: type) -> None:
    values = np.arange(6 * 96, dtype=dtype)
    _, out = call(device, entry, values, np.zeros_like(values), grid=6, block=96, shared=192)
    assert out.reshape(6, 96).tolist() == values.reshape(6, 96)[:, ::-1].tolist()


def test_sums_of_warps(device: Device) -> None:
    values = RNG.integers(0, 2**32, 128, dtype=np.uint32)
    _, out = call(device, "sums_of_warps", values, np.zeros(512, np.uint32), block=128)
    for warp in range(4):
        part = values[32 * warp : 32 * warp + 32]
        for lane, row in enumerate(out.reshape(4, 32, 4)[warp].tolist()):
            total, upto = int(part.sum(dtype=np.uint32)), int(part[: lane + 1].sum(dtype=np.uint32))
            assert row == [total, part.max(), part.min(), upto]


@pytest.mark.parametrize("block", [32, 96, 1024])
def test_sums_of_blocks(device: Device, block: int) -> None:
    values = RNG.integers(0, 2**40, 3 * block, dtype=np.uint64)
    _, out, totals = call(device, "sums_of_blocks", values, np.zeros_like(values), np.zeros(3, np.uint64), grid=3,
                          block=block)
    parts = values.reshape(3, block)
    assert totals.tolist() == parts.sum(axis=1).tolist()
    assert out.reshape(3, block).tolist() == (np.cumsum(parts, axis=1) - parts).tolist()


@pytest.mark.parametrize("entry", ["rounds_of_grid", "rounds_by_atomics"])
@pytest.mark.parametrize("grid", [1, 2, 5])
def test_grid_barrier(device: Device, entry: str, grid: int) -> None:
    """Blocks see each other's writes after it, and keep shared memory of their own over it."""
    *_, out = call(device, entry, np.zeros(1, np.uint32), np.zeros(grid, np.uint32), np.zeros(grid * 64, np.uint32),
                   np.uint32(7), grid=grid, shared=256, cooperative=True)
    mine = list(range(1, grid + 1))
    for _ in range(7):
        total = sum(mine)
        mine = [(total + block + 1) % 1000003 for block in range(grid)]
    assert out.reshape(grid, 64).tolist() == [[value] * 64 for value in mine]


def test_caches_and_vectors(device: Device) -> None:
    values, vectors = np.arange(64, dtype=np.uint64), np.arange(256, dtype=np.uint32)
    _, out, turned = call(device, "caches_and_vectors", values, np.zeros(128, np.uint64), vectors)
    assert out.reshape(-1, 2).tolist() == [[3 * i, 1 + min(7, max(i, 3))] for i in range(64)]
    assert turned.reshape(-1, 4).tolist() == vectors.reshape(-1, 4)[:, ::-1].tolist()


def test_lanes_that_are_together(device: Device) -> None:
    """Whatever __activemask groups, everybody gets a ticket of his own."""
    counter, ticket = call(device, "together", np.zeros(1, np.uint32), np.full(128, 999, np.uint32), grid=2)
    some = [i for i in range(128) if i % 64 % 3 == 0]
    assert counter[0] == len(some)
    assert sorted(ticket[some]) == list(range(len(some)))


def test_polling_makes_progress(device: Device) -> None:
    _, out = call(device, "ping_pong", np.zeros(1, np.uint32), np.zeros(8 * 64, np.uint32))
    assert out.tolist() == list(range(8 * 64))
