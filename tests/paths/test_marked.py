"""Labels with a mark: sums and buckets against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.jit import kernel
from emdiam.paths.bins import bucket_of, distances_of, longer_label, new_labels, none_of, scale_of, word_dtypes
from emdiam.paths.rows import WeightedRows

DELTAS = st.sampled_from([1e-3, 1.0, 7.5, 4096.0, 1e12, math.inf])


@kernel
def longer(label, cost):  # type: ignore[no-untyped-def]
    return longer_label(label, cost)


@kernel
def bucket(label, scale):  # type: ignore[no-untyped-def]
    return bucket_of(label, scale)


def rows_with(weight: int | float, dtype: type) -> WeightedRows:
    """One edge of this weight among three vertices."""
    return WeightedRows.from_edges(3, [0], [1], np.array([weight], dtype))


@settings(deadline=None)
@given(st.integers(0, (1 << 31) - 2), st.integers(0, (1 << 31) - 1))
def test_narrow_sums(distance: int, cost: int) -> None:
    found = int(longer(np.uint32(2 * distance + 1), np.uint32(cost)))
    assert found == min(2 * (distance + cost) + 1, (1 << 32) - 1)


@settings(deadline=None)
@given(st.integers(0, 1 << 62), st.integers(0, 1 << 61))
def test_wide_sums(distance: int, cost: int) -> None:
    assert int(longer(np.uint64(2 * distance + 1), np.int64(cost))) == 2 * (distance + cost) + 1


@settings(deadline=None)
@given(st.floats(0, 1e308), st.floats(0, 1e308))
def test_sums_of_floats(distance: float, cost: float) -> None:
    """Also those that are too large: they are no smaller than what a vertex without a path has."""
    word = np.uint64((int(np.float64(distance).view(np.uint64)) << 1) + 1)
    found = int(longer(word, np.float64(cost)))
    assert found & 1 and np.uint64(found >> 1).view(np.float64) == distance + cost
    assert (found > none_of(rows_with(cost, np.float64), np.dtype(np.uint64))) == math.isinf(distance + cost)


@settings(deadline=None)
@given(st.lists(st.integers(0, (1 << 31) - 2), min_size=2), DELTAS)
def test_buckets_of_whole_numbers(distances: list[int], delta: float) -> None:
    scale = scale_of(rows_with(1, np.uint32), delta)
    for dtype in (np.uint32, np.uint64):
        found = [int(bucket(dtype(2 * distance + 1), scale)) for distance in sorted(distances)]
        assert found == sorted(found) and found[0] >= 0
        for number, distance in zip(found, sorted(distances), strict=True):
            assert number == pytest.approx(distance / max(1, delta), abs=1)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1e30), min_size=2), DELTAS)
def test_buckets_of_floats(distances: list[float], delta: float) -> None:
    scale = scale_of(rows_with(1e30, np.float64), delta)
    words = [np.uint64((int(np.float64(distance).view(np.uint64)) << 1) + 1) for distance in sorted(distances)]
    found = [int(bucket(word, scale)) for word in words]
    assert found == sorted(found) and found[0] >= 0


@pytest.mark.parametrize(("dtype", "words"), [
    (np.uint8, [np.uint32, np.uint64]), (np.uint32, [np.uint32, np.uint64]), (np.int64, [np.uint32, np.uint64]),
    (np.float64, [np.uint64])])
def test_labels_of_a_search_and_their_distances(dtype: type, words: list[type]) -> None:
    rows = rows_with(9, dtype)
    assert [np.dtype(word) for word in words] == list(word_dtypes(rows))
    for word in words:
        labels = new_labels(rows, np.dtype(word), np.array([2]))
        found = distances_of(rows, labels)
        assert found is not None and found.dtype == rows.distance_dtype and found[2] == 0
        assert (found[:2] == (np.inf if dtype == np.float64 else np.iinfo(found.dtype).max)).all()


def test_distances_that_narrow_labels_may_not_hold() -> None:
    rows = rows_with((1 << 31) - 1, np.uint32)
    labels = new_labels(rows, np.dtype(np.uint32), np.array([0]))
    assert distances_of(rows, labels) is None
    assert word_dtypes(rows_with(1 << 31, np.uint32)) == (np.dtype(np.uint64),)
