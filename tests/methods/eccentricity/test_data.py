"""All eccentricities of many random graphs against brute force, and of real graphs against other libraries."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse.csgraph

import emdiam
from bench.peers.csr import read_csr
from emdiam.methods.eccentricity import by_pairs
from emdiam.methods.eccentricity import eccentricities as module
from tests.conftest import ROOT
from tests.helpers import naive
from tests.helpers.stores import engine_on, write_store

from .test_eccentricities import check

DATA = ROOT.parent / "shared" / "data"
# Of fewer than 10^6 arcs.
FILES = ("p2p-Gnutella31.e", "cit-HepPh.csv.gz", "email-Enron.csv.gz", "git_edges.csv", "facebook_combined.txt",
         "wiki-Vote.txt", "MIT8.edgelist", "PGPgiantcompo.graph", "USPowerGrid.txt", "wing.graph", "internet.egr",
         "delaunay_n16.mtx.gz", "luxembourg_osm.mtx.gz", "USA-road-d.NY.gr.gz")
# So many sources are compared of a graph that is too large for a BFS from every vertex.
_COMPARED = 1 << 9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_random_graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """500 graphs a seed: sparse and dense, with and without pairs, small components by bounds or not."""
    rng = random.Random(seed)
    for number in range(500):
        with monkeypatch.context() as patch:
            patch.setattr(module, "SMALL", rng.choice([1, 4, 1024]))
            if rng.random() < 0.5:
                patch.setattr(module.AllEccentricities, "_many_left", lambda self: True)
                patch.setattr(by_pairs, "LEAST_COLUMNS", 1)
                patch.setattr(by_pairs, "ROUND", rng.choice([2, 8]))
            n = rng.randint(1, 120)
            m = rng.randint(0, 3 * n)
            reach = rng.choice([1, 3, n])
            tails = [rng.randrange(n) for _ in range(m)]
            graph = naive.graph_of(n, [(v, min(n - 1, max(0, v + rng.randint(-reach, reach)))) for v in tails])
            kind = rng.choice(["in-ram", "in-ram-dense", "streamed", "external"])
            with engine_on(write_store(tmp_path / f"{number}.zarr", graph), kind) as engine:
                check(engine, graph)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_real_graphs(tmp_path: Path, file: str) -> None:
    """igraph's eccentricities of every vertex where that takes seconds, else those of some by scipy; the sources."""
    igraph = pytest.importorskip("igraph")
    if not (DATA / file).exists():
        pytest.skip("the data are not here")
    emdiam.convert(DATA / file, tmp_path / "g.zarr")
    result = emdiam.eccentricities(tmp_path / "g.zarr", keep=True)
    assert result.exact and result.lower_bounds is not None
    csr = read_csr(tmp_path / "g.zarr")
    n = csr.shape[0]
    some = np.arange(n) if n < 10_000 else np.random.default_rng(1).choice(n, _COMPARED, replace=False)
    found = result.lower_bounds[some]
    for part, mine in zip(np.array_split(some, 1 + n // 32), np.array_split(found, 1 + n // 32), strict=True):
        if len(part):
            away = scipy.sparse.csgraph.dijkstra(csr, unweighted=True, indices=part)
            assert mine.tolist() == np.where(np.isfinite(away), away, 0).max(axis=1).astype(int).tolist()
    if n < 10_000:
        graph = igraph.Graph(n=n, edges=np.column_stack(csr.nonzero())).simplify()
        assert [int(e) for e in graph.eccentricity()] == result.lower_bounds.tolist()
