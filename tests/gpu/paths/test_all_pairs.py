"""Every method for all pairs gives the distances of the textbook's three loops under every order of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.errors import DeviceRoomError, InputError
from emdiam.gpu.device import Device
from emdiam.gpu.paths import all_pairs
from emdiam.gpu.paths.all_pairs import ALL_PAIRS, PairsSolver, streamed_squaring
from emdiam.gpu.paths.floyd_warshall import blocked_floyd_warshall, floyd_warshall, single_kernel_floyd_warshall
from emdiam.gpu.paths.min_plus import MinPlus, Operand, largest_block, repeated_squaring, streamed_bytes
from emdiam.gpu.paths.weighted_graph import Matrix, no_path
from emdiam.gpu.registry import TILES
from emdiam.paths.rows import WeightedRows
from tests.helpers.device_paths import all_distances, drawn_rows, odd_rows, random_arcs, rows_of_arcs, solved
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


def cells_of(rows: WeightedRows, side: int) -> np.ndarray:
    """Weights up to 2^28 as a matrix of `side` rows and columns, int32, without a path beyond the vertices."""
    cells, n = np.full((side, side), no_path(np.dtype(np.int32)), np.int32), rows.n_vertices
    cells[np.arange(n), np.arange(n)] = 0
    np.minimum.at(cells, (np.repeat(np.arange(n), np.diff(rows.offsets)), rows.heads.astype(int)), rows.costs)
    return cells


def matrix_of(device: Device, rows: WeightedRows, tile: int) -> Matrix:
    """The same on a device, in whole tiles, with a pitch that is longer than its rows."""
    n, side = rows.n_vertices, -(-rows.n_vertices // tile) * tile
    cells = np.hstack((cells_of(rows, side), np.full((side, tile), 7, np.int32)))
    return Matrix(device.array(cells.reshape(-1)), n, side + tile)


def distances_of(device: Device, matrix: Matrix) -> np.ndarray:
    """The distances in a matrix, uint64[n, n]."""
    n = matrix.n_vertices
    cells = device.to_host(matrix.cells).reshape(-1, matrix.pitch)[:n, :n]
    return np.where(cells < no_path(cells.dtype) // 2, cells.astype(np.uint64), np.uint64(0xFFFFFFFFFFFFFFFF))


@pytest.mark.thin(9)
@pytest.mark.parametrize("name", FEW_DEVICES)
@pytest.mark.parametrize("method", ALL_PAIRS)
@pytest.mark.parametrize("dtype", [np.uint32, np.float32, np.float64])
def test_every_method(dtype: type, method: str, name: str) -> None:
    device, odd = open_device(name), odd_rows(dtype)
    for rows in (*(odd[one] for one in FEW), sized(20 if method in ("harish", "ortega") else 40, dtype)):
        assert equal(solved(rows, device, method), all_distances(rows))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FEW_DEVICES, "shim-6"])
@pytest.mark.parametrize("method", ALL_PAIRS)
def test_the_full_product(method: str, name: str) -> None:
    device = open_device(name)
    for dtype in (None, np.uint8, np.int64, np.uint32, np.float32, np.float64):
        for rows in odd_rows(dtype).values():
            for tile in TILES:
                assert equal(solved(rows, device, method, tile), all_distances(rows))


@pytest.mark.thin(3)
@pytest.mark.parametrize("n", SIDES)
@pytest.mark.parametrize("tile", TILES)
def test_tiles_of_every_size(tile: int, n: int) -> None:
    """Several tiles, and what pads the last ones; both blocked forms, and products with lazy minima and without."""
    if tile == 64 and n not in (1, 65):
        return
    rows, device = sized(n, seed=n), open_device(f"shim-{n % 4}")
    want = all_distances(rows)
    for run in (blocked_floyd_warshall, single_kernel_floyd_warshall):
        matrix = matrix_of(device, rows, tile)
        assert run(device, matrix, tile) == (matrix, -(-n // tile))
        assert equal(distances_of(device, matrix), want)
    for lazy in (False, True) if n < 64 else ():
        found, rounds = repeated_squaring(device, matrix_of(device, rows, tile), tile, lazy=lazy)
        assert equal(distances_of(device, found), want)
        assert rounds <= n.bit_length() + 1


def test_the_single_launch_in_every_order() -> None:
    """Blocks that wait for each other's tiles, four tiles a side, on few and on many multiprocessors."""
    rows = sized(100, seed=3)
    want = all_distances(rows)
    for seed in range(4):
        device = open_device(f"shim-{seed}", n_sms=1 + 5 * (seed % 2))
        matrix = matrix_of(device, rows, 32)
        single_kernel_floyd_warshall(device, matrix, 32)
        assert equal(distances_of(device, matrix), want)


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(sorted(ALL_PAIRS)), drawn_rows((None, np.uint8, np.uint32), ids=(np.uint32,)), st.integers(0, 3))
def test_random_graphs(method: str, rows: WeightedRows, seed: int) -> None:
    assert equal(solved(rows, open_device(f"shim-{seed}"), method), all_distances(rows))


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(sorted(ALL_PAIRS)), st.integers(0, 1 << 16), st.sampled_from([np.int64, np.float32]),
       st.sampled_from([12, 40]), st.sampled_from([0.0, 2.0]), st.integers(0, 3))
def test_negative_weights(method: str, seed: int, dtype: type, n: int, least: float, device: int) -> None:
    """Potentials make weights negative without a cycle that is; a lower one makes such cycles too. Ortega's method
    refuses such weights."""
    arcs = random_arcs(seed, n, 3 * n, [float(k) for k in range(4)])
    rows = rows_of_arcs(n, [(a, b, w + (a * 7 % 11) - (b * 7 % 11) - least) for a, b, w in arcs], dtype)
    want = all_distances(rows)
    if method == "ortega" and rows.least_weight < 0:
        with pytest.raises(InputError, match="ortega needs weights that are not negative"):
            solved(rows, open_device(f"shim-{device}"), method)
    elif want is None:
        with pytest.raises(InputError, match="a way into a cycle of weight -"):
            solved(rows, open_device(f"shim-{device}"), method)
    else:
        assert equal(solved(rows, open_device(f"shim-{device}"), method), want)


def test_sums_of_floats_are_as_near_as_those_of_the_textbook() -> None:
    rows = rows_of_arcs(30, random_arcs(1, 30, 90, np.random.default_rng(1).random(99).tolist()), np.float64)
    want = all_distances(rows)
    assert want is not None
    for method in ALL_PAIRS:
        found = solved(rows, open_device("shim-2"), method)
        np.testing.assert_allclose(found, want, rtol=1e-14)


def test_cells_of_every_width() -> None:
    for weight in (1 << 20, 1 << 28, (1 << 32) - 1):
        rows = rows_of_arcs(9, [(v, v + 1, weight) for v in range(8)])
        for method in ALL_PAIRS:
            assert equal(solved(rows, open_device("shim-0"), method), all_distances(rows))


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
    """Copies and launches that are done as late as they may be: two blocks a side, and three, which are not whole."""
    for n, block in ((33, 32), (70, 32), (60, 64)):
        rows, device = sized(n, seed=n), open_device("shim-1", late=late)
        side = -(-n // 32) * 32
        cells = cells_of(rows, side)
        assert 0 < streamed_squaring(device, cells, tile=32, block=block) <= n.bit_length() + 1
        assert equal(distances_of(device, Matrix(device.array(cells.reshape(-1)), n, side)), all_distances(rows))


def test_a_matrix_that_does_not_fit_is_streamed_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the method that is taken where none is named."""
    rows = rows_of_arcs(129, random_arcs(0, 129, 4000, range(60)))
    monkeypatch.setattr(all_pairs, "_MARGIN", 0)
    want, resident = all_distances(rows), 4 * 192 * 192
    least = streamed_bytes(32, 4)
    assert least < resident and largest_block(least, 4, 32) == 32 and largest_block(least - 1, 4, 32) == 0
    for total, method in ((resident, "blocked"), (resident - 1, "lazy-minimum")):
        device = open_device("shim-0", total=total)
        assert PairsSolver(device).usual(resident) == method
        assert method == "blocked" or equal(solved(rows, device, method), want)
        assert device.peak_bytes() <= total
    for method in ALL_PAIRS:
        with pytest.raises(DeviceRoomError, match="takes .*are free on"):
            solved(rows, open_device("shim-0", total=1 << 10), method)


def test_memory_of_the_host_is_reckoned() -> None:
    """Streamed squaring has two matrices more, in blocks, which are no more than is said."""
    solver, made = PairsSolver(open_device("shim-0"), 32), list[int]()
    for p in (64, 192, 320):
        block = -(-p // 128) * 32
        made.append(2 * (-(-p // block) * block) ** 2 * 4)
        assert made[-1] <= solver.host_bytes("lazy-minimum", p, 4) and solver.host_bytes("blocked", p, 4) == 0


def test_odd_requests() -> None:
    device = open_device("shim-0")
    empty = WeightedRows(np.zeros(1, np.int64), np.zeros(0, np.uint32))
    assert all(solved(empty, device, method).shape == (0, 0) for method in ALL_PAIRS)
    matrix = matrix_of(device, sized(20), 32)
    with pytest.raises(InputError, match="there is no such tile"):
        blocked_floyd_warshall(device, matrix, 16)
    with pytest.raises(ValueError, match="32 rows of 64 cells are not whole tiles of 64"):
        single_kernel_floyd_warshall(device, matrix, 64)
    ticks: list[int] = []
    floyd_warshall(device, matrix, lambda: ticks.append(1))
    assert len(ticks) == 20
    for one in ALL_PAIRS.values():
        assert one.title and one.section.startswith("papers/")
