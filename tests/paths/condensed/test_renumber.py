"""Renumbering a weighted graph in RAM, and the largest weight of its components, against plain twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.paths.condensed.condense import largest_weights, renumber
from tests.helpers import weighted_naive as naive


@settings(deadline=None)
@given(n=st.integers(1, 20), data=st.data())
def test_renumbering_moves_every_arc(n: int, data: st.DataObject):
    vertex = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(vertex, vertex, st.integers(1, 9)), max_size=40))
    positions = np.array(data.draw(st.permutations(range(n))), np.int64)
    arcs = naive.in_ram((n, edges))
    moved = renumber(arcs, positions, data.draw(st.integers(1, 3)))
    expected = [(int(positions[a]), int(positions[b]), w) for a, b, w in edges]
    assert naive.triples_in(moved.pieces()) == naive.triples(expected)
    parts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), np.int64)
    largest = [max([w for a, _, w in naive.triples(edges) if parts[a] == part], default=0) for part in range(4)]
    assert largest_weights(arcs, parts, 4).tolist() == largest
