"""Real digraphs: the largest finite distance beside igraph or scipy, and the count of the published main loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.csgraph import connected_components

import emdiam
from emdiam.runs.arcs import DIRECTED, component_counts
from emdiam.store.store import Store
from tests.conftest import ROOT
from tests.helpers.graph_diameter_twin import sources_of
from tests.helpers.tasks import solve_directed

DATA = ROOT.parent / "shared" / "data"
# File, largest finite distance.
GRAPHS = [("wiki-Vote.txt", 10), ("p2p-Gnutella31.e", 31), ("cit-HepPh.csv.gz", 49)]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not DATA.is_dir(), reason="the real graphs are not here")]


def arcs_of(store: Store) -> np.ndarray:
    """All arcs, int64[m, 2]."""
    indptr, indices = (np.concatenate([part.copy() for part in store.values(name)])
                       for name in ("indptr", "indices"))
    return np.column_stack([np.repeat(np.arange(store.n_vertices), np.diff(indptr)), indices.astype(np.int64)])


@pytest.mark.parametrize(("name", "longest"), GRAPHS)
def test_all_methods_agree(tmp_path: Path, name: str, longest: int) -> None:
    emdiam.convert(DATA / name, tmp_path / "g.zarr", directed=True)
    with emdiam.open(tmp_path / "g.zarr") as store:
        results = {method: solve_directed(store, method, {}) for method in DIRECTED}
        assert {result.largest_distance for result in results.values()} == {longest}
        arcs, n = arcs_of(store), store.n_vertices
        matrix = scipy.sparse.csr_matrix((np.ones(len(arcs)), tuple(arcs.T)), (n, n))
        for connection, count in (("strong", "n_strong_components"), ("weak", "n_components")):
            assert component_counts(store, {})[count] == connected_components(matrix, connection=connection)[0]
        bare = solve_directed(store, "graph-diameter", {"sweeps": 0})
        assert sources_of(n, list(map(tuple, arcs.tolist())), 0) == (bare.details["published_count"], longest)
