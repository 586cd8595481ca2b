"""Renumbering a weighted graph in RAM, and the largest weight of its components, against plain twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.paths.condensed.components import largest_weights
from emdiam.paths.condensed.condense import renumber
from emdiam.paths.condensed.packed import Packing, RamArcs


@settings(deadline=None)
@given(n=st.integers(1, 20), data=st.data(), block=st.sampled_from([2, 16]))
def test_renumbering_moves_every_arc(n: int, data: st.DataObject, block: int):
    vertex = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(vertex, vertex, st.integers(1, 9)), max_size=40))
    positions = np.array(data.draw(st.permutations(range(n))), np.int64)
    tails, heads, weights = (np.array([edge[i] for edge in edges], np.int64) for i in range(3))
    packing = Packing(n, 9)
    arcs = RamArcs.from_edges(packing, tails, heads, weights, block_arcs=block)
    moved = renumber(arcs, positions, data.draw(st.integers(1, 3)))
    expected = RamArcs.from_edges(packing, positions[tails], positions[heads], weights, block_arcs=block)
    assert moved.keys.tolist() == expected.keys.tolist()
    assert moved.offsets.tolist() == expected.offsets.tolist()
    parts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), np.int64)
    largest = [max([w for a, b, w in zip(*packing.unpack(arcs.keys), strict=True) if parts[a] == part], default=0)
               for part in range(4)]
    assert largest_weights(arcs, parts, 4).tolist() == largest
