"""Pivots that a certificate leaves out: the others prove as much."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.methods.exact.fewer_pivots import FewerPivots
from emdiam.progress import no_tick
from emdiam.traverse.ram_column import RamColumn
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs

GRID = odd_graphs()["grid"]
SETTINGS = settings(max_examples=30, deadline=None)


def least_limit(rows: np.ndarray) -> int:
    """The smallest limit that pivots with these distances (int[k, n]) prove for all pairs."""
    reach, n = rows.max(axis=1), rows.shape[1]
    bounds = (rows + reach[:, None]).min(axis=0)
    through = (rows[:, :, None] + rows[:, None, :]).min(axis=0)
    return max((min(through[x, y], bounds[x], bounds[y]) for x in range(n) for y in range(x)), default=0)


def chosen(rows: np.ndarray, first: int, limit: int, most_bytes: int = 1 << 30, wanted: bool = True) -> list[int]:
    fewer = FewerPivots(wanted, no_tick)
    fewer.begin(np.arange(rows.shape[1]), np.ascontiguousarray(rows[:first].T), first, most_bytes)
    for row in rows[first:]:
        fewer.add(RamColumn(row.copy()))
    return fewer.choose(rows.max(axis=1).tolist(), limit)


@SETTINGS
@given(graph=graphs(most=40), data=st.data())
def test_the_others_prove_as_much(graph: naive.Graph, data: st.DataObject) -> None:
    members = max(naive.components(graph), key=len)
    pivots = data.draw(st.lists(st.sampled_from(members), min_size=1, max_size=14))
    rows = np.array([[d for d in naive.distances(graph, p) if d >= 0] for p in pivots], np.uint8)
    first = data.draw(st.integers(1, len(pivots)))
    limit = least_limit(rows) + data.draw(st.integers(0, 1))
    kept = chosen(rows, first, limit)
    assert kept[:first] == list(range(first)) and len(set(kept)) == len(kept)
    assert least_limit(rows[kept]) <= limit


def test_half_of_the_later_ones_may_be_left_out() -> None:
    corners = [v for v in range(len(GRID)) if len(GRID[v]) == 2]
    pivots = [*corners, *(v for v in range(len(GRID)) if v not in corners)][:12]
    rows = np.array([naive.distances(GRID, p) for p in pivots], np.uint8)
    limit = least_limit(rows)
    assert limit == naive.diameters(GRID)[1] and len(chosen(rows, 4, limit)) == 8
    everything = list(range(12))
    for kept in (chosen(rows, 7, limit), chosen(rows, 4, limit, most_bytes=9), chosen(rows, 4, limit, wanted=False)):
        assert kept == everything
