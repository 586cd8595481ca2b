"""The vectorised steps over columns equal their plain loops, however columns are cut into pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.traverse import ram_column
from emdiam.traverse.columns import Column
from emdiam.traverse.ram_column import RamColumn

UNREACHED = 255
VALUES = st.lists(st.one_of(st.just(UNREACHED), st.integers(0, 30)), min_size=1, max_size=60)


@pytest.fixture(autouse=True, scope="module")
def small_pieces() -> Any:
    """Pieces of 8 entries, so that few entries make many of them."""
    patch = pytest.MonkeyPatch()
    patch.setattr(ram_column, "_PIECE", 8)
    yield
    patch.undo()


def column(values: list[int]) -> Column:
    return RamColumn(np.array(values, np.uint8))


def entries(values: list[int], start: int, stop: int) -> list[tuple[int, int]]:
    return [(v, x) for v, x in enumerate(values) if start <= v < stop and x != UNREACHED]


@st.composite
def cuts(draw: st.DrawFn, lists: int = 1) -> tuple[list[list[int]], int, int]:
    """Lists of one length, and a range in them."""
    first = draw(VALUES)
    more = [draw(st.lists(st.one_of(st.just(UNREACHED), st.integers(0, 30)), min_size=len(first),
                          max_size=len(first))) for _ in range(lists - 1)]
    start = draw(st.integers(0, len(first)))
    return [first, *more], start, draw(st.integers(start, len(first)))


@given(cuts())
def test_open_vertices(case: Any) -> None:
    (values,), start, stop = case
    c = column(values)
    inside = [v for v, _ in entries(values, start, stop)]
    assert [v for piece in c.open_vertices(start, stop) for v in piece.tolist()] == inside
    assert c.open_list(start, stop).tolist() == inside
    assert c.largest(start, stop) == max((x for _, x in entries(values, start, stop)), default=-1)
    bits = c.open_bitmap()
    assert bits.dtype == np.uint64 and len(bits) == -(-len(values) // 64)
    assert np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist() == [
        v for v, _ in entries(values, 0, len(values))]


@given(cuts(2), st.integers(0, 40))
def test_opening_and_closing(case: Any, value: int) -> None:
    (values, reached), start, stop = case
    c = column(values)
    c.open_at(column(reached), value, start, stop)
    want = [value if start <= v < stop and reached[v] != UNREACHED else x for v, x in enumerate(values)]
    assert c.raw().tolist() == want
    c.close_at_most(12, start, stop)
    want = [UNREACHED if start <= v < stop and x <= 12 else x for v, x in enumerate(want)]
    assert c.raw().tolist() == want
    c.close(start, stop)
    assert c.raw().tolist() == [UNREACHED if start <= v < stop else x for v, x in enumerate(want)]


@given(cuts(2), st.integers(30, 300))
def test_bounds_are_tightened(case: Any, eccentricity: int) -> None:
    """Sums beyond the dtype change nothing; vertices that are not open stay so."""
    (values, away), start, stop = case
    away = [min(x, 30) for x in away]
    upper = column(values)
    upper.tighten_upper(column(away), eccentricity, start, stop)
    assert upper.raw().tolist() == [
        min(x, eccentricity + d) if start <= v < stop and x != UNREACHED else x
        for v, (x, d) in enumerate(zip(values, away, strict=True))]
    lower = column([0 if x == UNREACHED else x for x in values])
    before = lower.raw().tolist()
    distances = [UNREACHED if v % 5 == 0 else d for v, d in enumerate(away)]
    lower.tighten_lower(column(distances), min(eccentricity, 60), start, stop)
    assert lower.raw().tolist() == [
        max(x, d, min(eccentricity, 60) - d) if start <= v < stop and d != UNREACHED else x
        for v, (x, d) in enumerate(zip(before, distances, strict=True))]


@given(cuts(2), st.integers(0, 30), st.integers(0, 60))
def test_known_vertices_are_closed(case: Any, bound: int, widest: int) -> None:
    (low, up), start, stop = case
    low = [min(x, 30) for x in low]
    c = column(up)
    left = c.close_known(column(low), bound, widest, start, stop)
    want = [UNREACHED if start <= v < stop and (a == b or (b <= bound and 2 * a >= widest)) else b
            for v, (a, b) in enumerate(zip(low, up, strict=True))]
    assert c.raw().tolist() == want
    assert left == len(entries(want, start, stop))


@settings(max_examples=300)
@given(cuts(2), st.integers(1, 20), st.booleans(), st.booleans(), st.randoms(use_true_random=False))
def test_ranking(case: Any, most: int, smallest: bool, with_values: bool, rng: Any) -> None:
    (among, values), start, stop = case
    degrees = np.array([rng.choice([1, 2, 3, 1 << 33]) for _ in among], np.int64)
    found = column(among).ranked(lambda ids: degrees[ids], column(values) if with_values else None, most,
                         smallest=smallest, start=start, stop=stop)
    sign = 1 if smallest else -1
    want = sorted((v for v, _ in entries(among, start, stop)),
                  key=lambda v: (sign * values[v] if with_values else 0, -degrees[v], v))
    assert found.tolist() == want[:most] and found.dtype == np.int64
