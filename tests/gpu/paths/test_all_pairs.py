"""Every method for all pairs gives the distances of the textbook's three loops under every order of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.errors import DeviceRoomError, InputError
from emdiam.gpu.device import Device
from emdiam.gpu.paths import all_pairs
from emdiam.gpu.paths.all_pairs import ALL_PAIRS, device_all_pairs, streamed_squaring
from emdiam.gpu.paths.entries import TILES
from emdiam.gpu.paths.floyd_warshall import blocked_floyd_warshall, floyd_warshall, single_kernel_floyd_warshall
from emdiam.gpu.paths.matrix import adjacency_matrix, cell_dtype, distances_of, host_cells
from emdiam.gpu.paths.min_plus import MinPlus, Operand, largest_block, repeated_squaring, streamed_bytes
from emdiam.gpu.paths.weighted_graph import WeightFacts, upload_rows
from emdiam.paths.rows import WeightedRows
from tests.helpers.device_paths import all_distances, drawn_rows, odd_rows, random_arcs, rows_of_arcs
from tests.simt.devices import open_device

FEW_DEVICES = ("shim-0", "shim-1", "shim-2", "gpu")
# Sides of whole tiles of 32, one less and one more.
SIDES = (1, 2, 31, 32, 33, 64, 65, 97)
EIGHTHS = tuple(k / 8 for k in range(1, 40))  # whose sums are exact in every order
FEW = ("one", "no-edges", "loops and parallel", "zero cycle", "one way", "clique-and-path")


def equal(found: np.ndarray, want: np.ndarray | None) -> bool:
    """Whether they are the same numbers of the same type."""
    return want is not None and found.dtype == want.dtype and np.array_equal(found, want)


def sized(n: int, dtype: type = np.uint32, seed: int = 0) -> WeightedRows:
    """A random graph of n vertices, about three arcs out of each."""
    weights = EIGHTHS if np.dtype(dtype).kind == "f" else range(60)
    return rows_of_arcs(n, random_arcs(seed, n, 3 * n, weights), dtype)


@pytest.mark.thin(9)
@pytest.mark.parametrize("name", FEW_DEVICES)
@pytest.mark.parametrize("method", ALL_PAIRS)
@pytest.mark.parametrize("dtype", [np.uint32, np.float32, np.float64])
def test_every_method(dtype: type, method: str, name: str) -> None:
    device, odd = open_device(name), odd_rows(dtype)
    for rows in (*(odd[one] for one in FEW), sized(20 if method == "harish" else 40, dtype)):
        found = device_all_pairs(rows, device, method, tile=32)
        assert equal(found.distances, all_distances(rows)) and found.method == method


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FEW_DEVICES, "shim-6"])
@pytest.mark.parametrize("method", ALL_PAIRS)
def test_the_full_product(method: str, name: str) -> None:
    device = open_device(name)
    for dtype in (None, np.uint8, np.int64, np.uint32, np.float32, np.float64):
        for rows in odd_rows(dtype).values():
            for tile in TILES:
                assert equal(device_all_pairs(rows, device, method, tile=tile).distances, all_distances(rows))


@pytest.mark.thin(3)
@pytest.mark.parametrize("n", SIDES)
@pytest.mark.parametrize("tile", TILES)
def test_tiles_of_every_size(tile: int, n: int) -> None:
    """Several tiles, and what pads the last ones; both blocked forms, and products with lazy minima and without."""
    if tile == 64 and n not in (1, 65):
        return
    rows, device = sized(n, seed=n), open_device(f"shim-{n % 4}")
    want, weighted = all_distances(rows), upload_rows(device, rows)
    for run in (blocked_floyd_warshall, single_kernel_floyd_warshall):
        matrix = adjacency_matrix(device, weighted, pad=tile)
        assert run(device, matrix, tile) == -(-n // tile)
        assert equal(distances_of(host_cells(device, matrix), rows.distance_dtype), want)
    for lazy in (False, True) if n < 64 else ():
        found, rounds = repeated_squaring(device, adjacency_matrix(device, weighted, pad=tile), tile, lazy)
        assert equal(distances_of(host_cells(device, found), rows.distance_dtype), want)
        assert rounds <= n.bit_length() + 1


def test_the_single_launch_in_every_order() -> None:
    """Blocks that wait for each other's tiles, four tiles a side, on few and on many multiprocessors."""
    rows = sized(100, seed=3)
    want = all_distances(rows)
    for seed in range(4):
        device = open_device(f"shim-{seed}", n_sms=1 + 5 * (seed % 2))
        matrix = adjacency_matrix(device, upload_rows(device, rows), pad=32)
        single_kernel_floyd_warshall(device, matrix, 32)
        assert equal(distances_of(host_cells(device, matrix), rows.distance_dtype), want)


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(sorted(ALL_PAIRS)), drawn_rows((None, np.uint8, np.uint32), ids=(np.uint32,)), st.integers(0, 3))
def test_random_graphs(method: str, rows: WeightedRows, seed: int) -> None:
    assert equal(device_all_pairs(rows, open_device(f"shim-{seed}"), method, tile=32).distances,
                 all_distances(rows))


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(sorted(ALL_PAIRS)), st.integers(0, 1 << 16), st.sampled_from([np.int64, np.float32]),
       st.sampled_from([12, 40]), st.sampled_from([0.0, 2.0]), st.integers(0, 3))
def test_negative_weights(method: str, seed: int, dtype: type, n: int, least: float, device: int) -> None:
    """Potentials make weights negative without a cycle that is; a lower one makes such cycles too."""
    arcs = random_arcs(seed, n, 3 * n, [float(k) for k in range(4)])
    rows = rows_of_arcs(n, [(a, b, w + (a * 7 % 11) - (b * 7 % 11) - least) for a, b, w in arcs], dtype)
    want = all_distances(rows)
    if want is None:
        with pytest.raises(InputError, match="a cycle of negative length"):
            device_all_pairs(rows, open_device(f"shim-{device}"), method, tile=32)
    else:
        assert equal(device_all_pairs(rows, open_device(f"shim-{device}"), method, tile=32).distances, want)


def test_sums_of_floats_are_as_near_as_those_of_the_textbook() -> None:
    rows = rows_of_arcs(30, random_arcs(1, 30, 90, np.random.default_rng(1).random(99).tolist()), np.float64)
    want = all_distances(rows)
    assert want is not None
    for method in ALL_PAIRS:
        found = device_all_pairs(rows, open_device("shim-2"), method, tile=32).distances
        np.testing.assert_allclose(found, want, rtol=1e-14)


def test_cells_are_as_wide_as_distances_need() -> None:
    for weight, dtype in ((1 << 20, np.int32), (1 << 28, np.int64), ((1 << 32) - 1, np.int64)):
        rows = rows_of_arcs(9, [(v, v + 1, weight) for v in range(8)])
        assert cell_dtype(WeightFacts.of(rows), 9) == dtype
        for method in ALL_PAIRS:
            found = device_all_pairs(rows, open_device("shim-0"), method, tile=32).distances
            assert equal(found, all_distances(rows))
    with pytest.raises(OverflowError, match="may not fit 64 bits"):
        device_all_pairs(rows_of_arcs(9, [(0, 1, 1 << 58)], np.int64), open_device("shim-0"))
    with pytest.raises(OverflowError, match="do not fit float64"):
        device_all_pairs(rows_of_arcs(9, [(0, 1, 1e308)], np.float64), open_device("shim-0"))


# -- Products --------------------------------------------------------------------------------------------------
@pytest.mark.thin(3)
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_a_product_of_parts_of_matrices(dtype: type, lazy: bool) -> None:
    """Of other than square shapes, with pitches of their own, and what it says of changes."""
    rng, device = np.random.default_rng(2), open_device("shim-3")
    none = np.inf if dtype is np.float64 else (int(np.iinfo(dtype).max) - 1) // 2
    a, b, c = (np.where(rng.random(shape) < 0.4, rng.integers(0, 90, shape), none).astype(dtype)
               for shape in ((64, 96), (96, 160), (64, 128)))
    product = MinPlus(device, np.dtype(dtype), 32, lazy)
    cells = [device.array(one.reshape(-1)) for one in (a, b, c)]
    operands = [Operand(one, pitch) for one, pitch in zip(cells, (96, 160, 128), strict=True)]
    product.product(operands[0], operands[1], operands[2], (2, 3, 4))
    want = np.minimum(c, np.min(a[:, :, None].astype(float) + b[None, :, :128], axis=1))
    assert np.array_equal(np.minimum(device.to_host(cells[2]).reshape(c.shape), none), want)
    assert product.took_change() and not product.took_change()
    product.product(operands[0], operands[1], operands[2], (2, 3, 4))
    assert not product.took_change()


@pytest.mark.thin(2)
@pytest.mark.parametrize("late", range(4))
def test_streamed_blocks_wait_for_each_other(late: int) -> None:
    """Copies and launches that are done as late as they may be: two blocks a side, and three."""
    for n, block in ((33, 32), (70, 32), (60, 64)):
        rows = sized(n, seed=n)
        device: Device = open_device("shim-1", late=late)
        found = streamed_squaring(rows, device, tile=32, block=block)
        assert equal(found.distances, all_distances(rows)) and found.tiles == -(-n // block)


def test_a_matrix_that_does_not_fit_is_streamed_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of_arcs(129, random_arcs(0, 129, 4000, range(60)))
    monkeypatch.setattr(all_pairs, "_MARGIN", 0)
    want, resident = all_distances(rows), ALL_PAIRS["blocked"].bytes(rows)
    least = streamed_bytes(64, 4)
    assert least < resident and largest_block(least, 4) == 64 and largest_block(least - 1, 4) == 0
    for total, method in ((resident, "blocked"), (resident - 1, "lazy-minimum")):
        device = open_device("shim-0", total=total)
        found = device_all_pairs(rows, device)
        assert found.method == method and equal(found.distances, want) and device.peak_bytes() <= total
    for method in ("auto", *ALL_PAIRS):
        if method != "harish":
            with pytest.raises(DeviceRoomError, match="takes .*are free on"):
                device_all_pairs(rows, open_device("shim-0", total=least - 1), method)
    with pytest.raises(InputError, match="no such method for all pairs"):
        device_all_pairs(rows, open_device("shim-0"), "floyd")


def test_odd_requests() -> None:
    device = open_device("shim-0")
    empty = WeightedRows(np.zeros(1, np.int64), np.zeros(0, np.uint32))
    assert all(device_all_pairs(empty, device, method).distances.shape == (0, 0) for method in ALL_PAIRS)
    matrix = adjacency_matrix(device, upload_rows(device, sized(20)), pad=32)
    with pytest.raises(InputError, match="there is no such tile"):
        blocked_floyd_warshall(device, matrix, 16)
    with pytest.raises(ValueError, match="32 rows of 32 cells are not whole tiles of 64"):
        single_kernel_floyd_warshall(device, matrix, 64)
    ticks: list[int] = []
    floyd_warshall(device, matrix, lambda: ticks.append(1))
    assert len(ticks) == 20
    for one in ALL_PAIRS.values():
        assert one.title and one.section.startswith("papers/")
