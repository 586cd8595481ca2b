"""The pairs: what the tree of boxes says equals the comparison of all rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from emdiam.errors import BudgetError
from emdiam.verify import pairs as module
from emdiam.verify.pairs import prove_pairs

POINTS = st.one_of(*(
    arrays.arrays(dtype, st.tuples(st.integers(0, 40), st.integers(1, 6)), elements=st.integers(0, most))
    for dtype, most in ((np.uint8, 6), (np.uint8, 255), (np.uint16, 65535), (np.uint32, 2**32 - 1))))


def worst(points: np.ndarray) -> int:
    """Largest min_i of x_i + y_i over rows x != y; -1 without pairs."""
    wide = points.astype(np.int64)
    return max((int((wide[x] + wide[y]).min()) for x in range(len(wide)) for y in range(x)), default=-1)


@pytest.mark.parametrize("piece", [1, 2, 4096])
@settings(max_examples=100, deadline=None)
@given(points=POINTS, data=st.data())
def test_all_pairs(piece: int, points: np.ndarray, data: st.DataObject) -> None:
    most = worst(points)
    limit = max(0, data.draw(st.one_of(st.sampled_from([most - 1, most, most + 1]), st.integers(0, 600))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PIECE", piece)
        proof = prove_pairs(points, limit)
    assert (proof.unproved is None) == (most <= limit)
    if proof.unproved is not None:
        x, y = proof.unproved
        assert x != y
        assert int((points[x].astype(np.int64) + points[y].astype(np.int64)).min()) > limit


def test_equal_points_are_a_pair_only_if_there_are_two() -> None:
    one, two = np.array([[5, 9]], np.uint8), np.array([[5, 9], [5, 9]], np.uint8)
    assert prove_pairs(one, 0).unproved is None
    assert prove_pairs(two, 10).unproved is None
    assert set(prove_pairs(two, 9).unproved or ()) == {0, 1}


def test_without_columns_nothing_is_proved() -> None:
    assert prove_pairs(np.empty((1, 0), np.uint8), 5).unproved is None
    assert prove_pairs(np.empty((2, 0), np.uint8), 5).unproved == (0, 1)


def test_sums_do_not_wrap() -> None:
    for dtype in (np.uint8, np.uint16, np.uint32):
        top = int(np.iinfo(dtype).max) - 1
        points = np.full((2, 3), top, dtype)
        assert prove_pairs(points, 2 * top).unproved is None
        assert prove_pairs(points, 2 * top - 1).unproved is not None


def test_boxes_certify_many_pairs_at_once() -> None:
    """Ten thousand points near the limit take far fewer looks than there are pairs."""
    rng = np.random.default_rng(3)
    points = rng.integers(10, 14, (10_000, 4)).astype(np.uint8)
    points[:, 0] = rng.integers(3, 6, 10_000)
    proof = prove_pairs(points, 10)
    assert proof.unproved is None and proof.looked_at < 1000


def test_boxes_that_do_not_fit_are_refused_with_the_numbers() -> None:
    points = np.arange(3000, dtype=np.uint16).reshape(-1, 3)
    with pytest.raises(BudgetError, match="the pairs need .* more --memory"):
        prove_pairs(points, 5, room=1000)
    with pytest.raises(BudgetError):
        prove_pairs(points, 5, room=8000)
    assert prove_pairs(points, 10_000, room=1 << 20).unproved is None
