"""What runs along arcs answer, beside the matrix of distances (int64[n, n], -1 without a path)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from emdiam.distribution.directed import DirectedDistances
from emdiam.methods.directed.apsp import DirectedEccentricities
from emdiam.methods.result import DirectedResult


def check_longest(result: DirectedResult, matrix: np.ndarray) -> None:
    """The largest finite distance, and that its witness is one."""
    longest, strong = matrix.max(), matrix.min() >= 0
    assert result.exact and (result.lower, result.upper, result.largest_distance) == (longest,) * 3
    assert result.strongly_connected == strong == (result.n_strong_components == 1) and result.directed
    assert result.diameter == (longest if strong else None)
    witness = result.witness
    assert witness is not None and witness.path is not None and witness.length == longest == len(witness.path) - 1
    assert matrix[witness.source, witness.target] == longest
    assert all(matrix[a, b] == 1 for a, b in zip(witness.path, witness.path[1:], strict=False))


def check_eccentricities(result: DirectedEccentricities, matrix: np.ndarray) -> None:
    """Of a run that keeps them."""
    want = (matrix.T if result.direction == "in" else matrix).max(axis=1)
    assert result.exact and not result.unresolved and result.by_vertex() == dict(enumerate(want.tolist()))
    assert result.histogram == dict(sorted(Counter(want.tolist()).items()))
    assert result.periphery is not None
    assert result.periphery.ids == np.flatnonzero(want == want.max()).tolist()
    strong = matrix.min() >= 0
    assert result.strongly_connected == strong and result.radius == (want.min() if strong else None)
    assert (result.center is None) != strong
    assert result.center is None or result.center.ids == np.flatnonzero(want == want.min()).tolist()


def check_distances(result: DirectedDistances, matrix: np.ndarray) -> None:
    """Of all sources: pairs by distance, their mean, and components."""
    far = matrix[matrix > 0]
    assert result.method == "exact" and result.complete and result.samples == len(matrix)
    assert result.pairs == dict(sorted(Counter(far.tolist()).items()))
    assert result.unreachable_pairs == np.count_nonzero(matrix < 0)
    assert result.mean == (pytest.approx(far.mean()) if len(far) else None)
    arcs = scipy.sparse.csr_array(matrix == 1)
    weak, strong = (connected_components(arcs, connection=kind)[0] for kind in ("weak", "strong"))
    assert (result.n_components, result.connected) == (weak, weak == 1)
    assert (result.n_strong_components, result.strongly_connected) == (strong, strong == 1)
