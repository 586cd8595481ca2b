"""Bounds folded from traversals, in RAM, against the plain twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.traverse.ram_column import RamColumn
from tests.helpers import naive
from tests.helpers.bounds_twin import NaiveBounds, check_pivot_bounds
from tests.helpers.small_engine import engines
from tests.helpers.stores import graphs


@settings(max_examples=25, deadline=None)
@given(graphs(most=90), st.data())
def test_pivot_bounds(graph: naive.Graph, data: st.DataObject) -> None:
    largest = data.draw(st.integers(1, len(graph)))
    with engines() as make:
        bounds = make(graph).new_bounds(largest)
        check_pivot_bounds(
            NaiveBounds(graph, largest), bounds,
            lambda distances: RamColumn(np.array(distances, bounds.lower.dtype)), bounds.lower.unreached, data)
