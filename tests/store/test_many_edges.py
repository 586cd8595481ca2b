"""A store of more than 2^33 arcs, whose offsets and counts fit into no 32 bits: written, checked, solved, proved.

Rows are computed as they are written, and so regular that 34 GB of them take 0.3 GB on disk: nothing is simulated.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from emdiam.store.check import check_store
from emdiam.store.store import open_store
from emdiam.stream.blocks import build_block_table, build_outline
from emdiam.stream.offsets import row_starts
from tests.conftest import Run
from tests.helpers import naive
from tests.helpers.blobs import Blobs
from tests.helpers.stores import CHUNK, engine_on

LARGE = Blobs(ring=92_700, reach=23_175)
LIMIT = "1GiB"


@pytest.mark.parametrize("blobs", [Blobs(10, 3), Blobs(80, 10, 1, 1), Blobs(64, 31, 2, 2), Blobs(90, 23)], ids=str)
def test_the_graph_is_what_it_says(blobs: Blobs):
    rows = [row.tolist() for row in blobs.rows()]
    assert naive.graph_of(len(rows), [(v, w) for v, row in enumerate(rows) for w in row]) == rows
    assert sum(map(len, rows)) == 2 * blobs.n_edges and len(rows) == blobs.n_vertices
    assert naive.diameters(rows)[1] == blobs.diameter
    first, last = blobs.ends
    assert naive.distances(rows, first)[last] == blobs.diameter


def test_the_same_at_small_size(tmp_path: Path, emdiam: Run):
    """What the test of many arcs does, with blocks of 64."""
    small = Blobs(ring=90, reach=23)
    golden(small, small.write(tmp_path / "g.zarr", chunk_ids=CHUNK), emdiam)
    with engine_on(tmp_path / "g.zarr", "streamed") as engine:
        run = engine.bfs(0)
        assert run.eccentricity == small.diameter and run.n_reached == small.n_vertices


@pytest.mark.slow
def test_more_than_2_to_the_33_arcs(tmp_path: Path, emdiam: Run):
    assert 2 * LARGE.n_edges > 1 << 33
    store = LARGE.write(tmp_path / "g.zarr")
    golden(LARGE, store, emdiam)
    answer = json.loads(emdiam("exact", store, "--memory", LIMIT, "--method", "fdiam", "--json", timeout=3600).stdout)
    assert answer["diameter"] == LARGE.diameter and answer["edges_scanned"] > 1 << 33


def golden(graph: Blobs, path: Path, emdiam: Run) -> None:
    """Read single rows, check all, find the diameter within the limit, and verify the certificate."""
    n, n_arcs = graph.n_vertices, 2 * graph.n_edges
    with open_store(path) as store:
        assert (store.n_vertices, store.n_arcs, store.record.n_edges) == (n, n_arcs, graph.n_edges)
        for vertex in (0, graph.tail, n // 2, n - graph.tail - 1, n - 1):
            assert np.array_equal(store.neighbours(vertex), graph.row(vertex)), vertex
        table, outline = build_block_table(store), build_outline(store)
        assert np.array_equal(table.first_vertex, outline.first_vertex) and table.n_blocks == store.indices.n_chunks
        starts = np.empty(2, np.int64)
        row_starts(table.offsets.group, table.offsets.row, table.offsets.hub, np.array([n - 1, n]), starts)
        assert starts.tolist() == [n_arcs - 1, n_arcs]
        check_store(store)
    exact = emdiam("exact", path, "--memory", LIMIT, "--certificate", "proof.json", "--json", timeout=3600)
    answer = json.loads(exact.stdout)
    assert answer["diameter"] == graph.diameter, exact.stderr
    assert {answer["witness"]["source"], answer["witness"]["target"]} == graph.ends
    assert answer["n_edges"] == graph.n_edges and answer["peak_rss_bytes"] < 1 << 30
    verified = emdiam("verify", "proof.json", path, "--memory", LIMIT, "--json", timeout=3600)
    report = json.loads(verified.stdout)
    assert report["verified"] and report["peak_rss_bytes"] < 1 << 30, verified.stderr
