"""Layouts of weighted graphs hold what the rows hold; what runs on each is in test_searches.py."""

from __future__ import annotations

import numpy as np
import pytest

from emdiam.gpu.paths.harish import reverse_rows
from emdiam.gpu.paths.weighted_graph import PITCH, PairedGraph, adjacency_matrix, no_path, upload_rows
from emdiam.gpu.variants.bfs_directions import bfs_bottom_up
from emdiam.gpu.variants.bfs_topology import bfs_spmv
from emdiam.paths.rows import WeightedRows
from tests.helpers import naive
from tests.helpers.device_paths import arcs_of, random_arcs, rows_of_arcs
from tests.simt.devices import open_device, plain_distances

SEEDS = range(3)


def drawn(seed: int, dtype: type | None = np.uint32, ids: type = np.uint32) -> WeightedRows:
    """A random graph with loops and parallel arcs."""
    return rows_of_arcs(50, random_arcs(seed, 50, 150, range(9)), dtype, ids)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_reverse_has_every_arc_turned(seed: int) -> None:
    for dtype, ids in ((np.uint32, np.uint32), (np.float64, np.uint64)):
        rows, device = drawn(seed, dtype, ids), open_device(f"shim-{seed}")
        turned = reverse_rows(device, upload_rows(device, rows))
        offsets, tails, weights = (device.to_host(one) for one in (
            turned.graph.offsets, turned.graph.neighbours, turned.weights))
        back = WeightedRows(offsets.astype(np.int64), tails, weights)
        assert sorted((b, a, w) for a, b, w in arcs_of(back)) == sorted(arcs_of(rows))


def test_bfs_that_looks_for_predecessors_is_directed_on_the_reverse() -> None:
    """Matrix-vector products and bottom-up levels read the arcs that come in."""
    rows, device = drawn(4, None), open_device("shim-2")
    graph = [sorted({b for a, b, _ in arcs_of(rows) if a == v}) for v in range(50)]
    turned = reverse_rows(device, upload_rows(device, rows)).graph
    for search in (bfs_spmv, bfs_bottom_up):
        for source in (0, 17):
            found, _ = search(device, turned, source)
            assert plain_distances(device.to_host(found)) == naive.distances(graph, source)


@pytest.mark.parametrize("dtype", [np.uint32, np.float32])
def test_pairs_hold_heads_and_weights(dtype: type) -> None:
    rows, device = drawn(1, dtype), open_device("shim-1")
    weighted = upload_rows(device, rows, pairs=True)
    assert isinstance(weighted.graph, PairedGraph) and weighted.is_paired and weighted.graph.n_arcs == rows.n_arcs
    pairs = device.to_host(weighted.graph.neighbours).reshape(-1, 2)
    assert pairs[:, 0].tolist() == rows.heads.tolist()
    assert np.ascontiguousarray(pairs[:, 1]).view(dtype).tolist() == rows.costs.tolist()


@pytest.mark.parametrize("dtype", [np.uint32, np.float32, np.int64])
def test_the_matrix_has_the_lightest_arcs_and_a_pitch(dtype: type) -> None:
    rows, device = rows_of_arcs(50, random_arcs(6, 50, 400, range(1, 9)), dtype), open_device("shim-0")
    matrix = adjacency_matrix(device, upload_rows(device, rows))
    none = no_path(matrix.cells.dtype)
    want = np.full((matrix.rows, matrix.pitch), none, matrix.cells.dtype)
    for a, b, w in arcs_of(rows):
        want[a, b] = min(want[a, b], w)
    want[np.arange(50), np.arange(50)] = 0
    assert matrix.pitch == 64 and matrix.pitch % PITCH == 0 and matrix.rows == 50
    assert np.array_equal(device.to_host(matrix.cells).reshape(want.shape), want)
