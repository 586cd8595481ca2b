"""Tables of pairs by distance against lists of them: ranges, rows that are joined, and any order of what is added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.traverse.distance_table import DistanceTable, distance_table_bytes

MOST = 8
# (row, distance, pairs)
ADDED = st.lists(st.tuples(st.integers(0, 9), st.sampled_from([1, 2, 7, 8, 9, 75, 79, 80, 81, 799, 5000]),
                           st.integers(1, 99)), max_size=30)


@pytest.fixture(autouse=True)
def _few_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emdiam.traverse.distance_table.MOST_VALUES", MOST)


def filled(added: Any, rows: int = 10, by_values: bool = False) -> DistanceTable:
    table = DistanceTable(rows, 3)
    for row, distance, pairs in added:
        if by_values:
            table.add_values(row, np.full(pairs, distance))
        else:
            table.add(distance, np.bincount([row], [pairs], rows).astype(np.int64))
    return table


@settings(deadline=None)
@given(added=ADDED, cut=st.integers(0, 30))
def test_tables_are_what_was_added(added: Any, cut: int) -> None:
    largest = max((distance for _, distance, _ in added), default=0)
    width = next(w for w in (1, 10, 100, 1000) if largest <= MOST or (largest // w < MOST and w > 1))
    joined = next(j for j in (1, 2, 4, 8) if -(-10 // j) * (min(largest, MOST) + 1) <= 3 * (MOST + 1))
    want = np.zeros((largest // width + 1, -(-10 // joined)), np.int64)
    for row, distance, pairs in added:
        want[distance // width, row // joined] += pairs
    whole, parts = filled(added), filled(added[:cut], by_values=True)
    parts.take(filled(added[cut:]))
    for table in (whole, parts, filled(reversed(added))):
        assert (table.width, table.largest) == (width, largest) and table.counts.tolist() == want.tolist()
        assert distance_table_bytes(10, largest + 1, 3) >= table.counts.nbytes
        total = table.total()
        assert total.counts.tolist() == want.sum(axis=1).tolist()
        assert total.counts @ np.arange(len(want)) * width + total.above == sum(d * pairs for _, d, pairs in added)
        assert total.histogram_width == (None if width == 1 else width)
        assert total.to_dict(0.5) == {i * width: round(n / 2) for i, n in enumerate(want.sum(axis=1).tolist()) if n}
        for row, left in zip(np.flatnonzero(want.any(axis=0)), table.without_each(), strict=True):
            there = [(d, pairs) for r, d, pairs in added if r // joined != row]
            assert left.counts.tolist() == (want.sum(axis=1) - want[:, row]).tolist()
            assert left.counts @ np.arange(len(want)) * width + left.above == sum(d * pairs for d, pairs in there)


def test_rows_of_counters_are_not_joined() -> None:
    table = DistanceTable(5, 5, np.float64)
    for distance in range(1, 101):
        table.add(distance, np.arange(5) / 4)
    assert table.width == 100 and table.counts.shape == (2, 5)
    one = table.row(3)
    assert one.counts.tolist() == [99 * 0.75, 0.75] and one.above == 0.75 * sum(range(1, 100))
