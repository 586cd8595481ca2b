"""Distances between all pairs of ten thousand random graphs of every kind, by every method in every way, beside scipy,
igraph and networkx."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emdiam.apsp.methods import METHODS
from emdiam.apsp.potentials import potentials
from emdiam.sssp.bellman_ford import NegativeCycle
from tests.helpers.many_graphs import MANY, WEIGHTS, by_igraph, by_networkx, by_scipy, drawn
from tests.helpers.pairs_ways import WAYS, pairs

# Every so many graphs networkx, which takes long, looks too.
_RARE = 7


def many(numbers: range, folder: Path) -> None:
    for number in numbers:
        graph = drawn(number)
        rows, want = graph.rows, by_scipy(graph.rows)
        if want is None:
            with pytest.raises(NegativeCycle):
                potentials(rows, 1 + number % 2, lambda: None)
            continue
        whole = rows.distance_dtype.kind != "f"
        others = [by_igraph(rows)] + ([by_networkx(rows)] if number % _RARE == 0 and rows.least_weight >= 0 else [])
        found = [pairs(rows, method, way, folder, 1 + number % 3)[0] for method, way in WAYS
                 if rows.least_weight >= 0 or METHODS[method].negative]
        for one in (*others, *found):
            assert np.array_equal(one, want) if whole else np.allclose(one, want, rtol=1e-12, atol=1e-9), number


def test_a_graph_of_every_kind(tmp_path: Path) -> None:
    """Each kind of weights, with directions and without."""
    pytest.importorskip("igraph")
    many(range(MANY, MANY + 2 * len(WEIGHTS)), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_ten_thousand_graphs(part: int, tmp_path: Path) -> None:
    pytest.importorskip("igraph")
    many(range(part * MANY // 20, (part + 1) * MANY // 20), tmp_path)
