"""Distances between all pairs of many random graphs of every kind, by every method in every way, beside scipy, igraph
and networkx.

A graph meets every method in memory, and two of the seven ways over files by turns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from emdiam.paths.negative_cycle import NegativeCycle
from emdiam.paths.pairs.johnson import potentials
from emdiam.paths.pairs.methods import METHODS
from tests.helpers.many_graphs import EVERY_KIND, by_igraph, by_networkx, by_scipy, campaign, drawn
from tests.helpers.pairs_ways import WAYS, pairs

# Every so many graphs networkx, which takes long, looks too.
_RARE = 7
IN_MEMORY = [way for way in WAYS if way[1] == "memory"]
FILES = [way for way in WAYS if way[1] != "memory"]


def ways_of(number: int) -> list[tuple[str, str]]:
    """(method, way): what the graph of this number meets. Numbers are taken apart otherwise than where graphs are
    drawn, so that all meet all."""
    first = number * 2 + number // len(FILES)
    return IN_MEMORY + [FILES[one % len(FILES)] for one in (first, first + 1)]


def many(numbers: Sequence[int], folder: Path, every_way: bool = False) -> None:
    for number in numbers:
        graph, ways = drawn(number), WAYS if every_way else ways_of(number)
        rows, want = graph.rows, by_scipy(graph.rows)
        if want is None:
            with pytest.raises(NegativeCycle):
                potentials(rows, 1 + number % 2, lambda: None)
            continue
        whole = rows.distance_dtype.kind != "f"
        others = [by_igraph(rows)] + ([by_networkx(rows)] if number % _RARE == 0 and rows.least_weight >= 0 else [])
        found = [pairs(rows, method, way, folder, 1 + number % 3)[0] for method, way in ways
                 if rows.least_weight >= 0 or METHODS[method].negative]
        for one in (*others, *found):
            assert np.array_equal(one, want) if whole else np.allclose(one, want, rtol=1e-12, atol=1e-9), number


@pytest.mark.slow
def test_a_graph_of_every_kind(tmp_path: Path) -> None:
    """Each kind of weights, with directions and without."""
    pytest.importorskip("igraph")
    many(EVERY_KIND, tmp_path, every_way=True)


@pytest.mark.slow
@campaign(10)
def test_many_graphs(numbers: range, tmp_path: Path) -> None:
    pytest.importorskip("igraph")
    many(numbers, tmp_path)
