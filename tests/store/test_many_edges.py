"""A store of more than 2^31 edges and 2^32 arcs, whose offsets, counts and bytes fit into no 32 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import emdiam
from emdiam.store.layout import StoreRecord
from emdiam.store.writer import StoreWriter

HALF = 46_400
TAIL = 3


def write_bipartite(path: Path) -> None:
    """The complete bipartite graph of two times HALF vertices, with a tail at vertices 0 and 1: 17 GB of neighbours,
    which are so regular that they take few bytes on disk."""
    n = 2 * HALF + 2 * TAIL
    left, right, tails = np.arange(HALF), np.arange(HALF, 2 * HALF), np.arange(2 * HALF, n)
    begins = [0, *tails[: TAIL - 1].tolist(), 1, *tails[TAIL:-1].tolist()]  # what each vertex of a tail hangs on
    degrees = np.concatenate([np.full(HALF, HALF), np.full(HALF, HALF), ([2] * (TAIL - 1) + [1]) * 2])
    degrees[:2] += 1
    writer = StoreWriter(path, n_vertices=n)
    writer.append_degrees(degrees)
    for vertex in range(2 * HALF):
        writer.append_neighbours((right if vertex < HALF else left).astype(writer.id_dtype))
        if vertex < 2:
            writer.append_neighbours(tails[vertex * TAIL : vertex * TAIL + 1].astype(writer.id_dtype))
    for number, vertex in enumerate(tails.tolist()):
        after = [] if number % TAIL == TAIL - 1 else [vertex + 1]
        writer.append_neighbours(np.array([begins[number], *after], writer.id_dtype))
    writer.finish(StoreRecord())


@pytest.mark.slow
def test_more_than_2_to_the_32_arcs(tmp_path: Path) -> None:
    write_bipartite(tmp_path / "g.zarr")
    result = emdiam.exact(tmp_path / "g.zarr", memory="1GiB")
    assert result.n_edges == HALF**2 + 2 * TAIL > 1 << 31
    assert result.edges_scanned > 1 << 32 and result.peak_rss_bytes < 1 << 30
    assert result.diameter == 2 * TAIL + 2 and len(result.witness.path) == 2 * TAIL + 3
    assert {result.witness.source, result.witness.target} == {2 * HALF + TAIL - 1, 2 * HALF + 2 * TAIL - 1}
